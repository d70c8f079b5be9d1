"""Every client of ours works with a server whose address has a path, `https://example.org/home/reflecto`."""

import asyncio
import json
import threading
from pathlib import Path

import httpx
import pytest

from reflecto import AsyncReflecto, Reflecto
from reflecto.cli.main import main
from reflecto.phone.identity import read_invitation
from tests.e2e.conftest import StartServer
from tests.e2e.phones import Phone
from tests.e2e.server_process import ServerProcess
from tests.phone.handset import enrol

PATH = "/home/reflecto"
PUBLIC_URL = f"https://example.org{PATH}"


@pytest.fixture
def server(start_server: StartServer) -> ServerProcess:
    return start_server("--public-url", f"{PUBLIC_URL}/")


@pytest.fixture
def base(server: ServerProcess) -> str:
    """The address behind a proxy that leaves the path on."""
    return f"{server.ready['listening']}{PATH}"


@pytest.fixture
def phone(server: ServerProcess, base: str) -> Phone:
    return Phone.enrol(base, server.ready["code"])


def test_the_link_of_the_start_and_of_a_phones_invitation_name_the_path(server: ServerProcess, phone: Phone):
    assert server.ready["link"] == f"{PUBLIC_URL}/enroll#{server.ready['code']}"
    link = phone.call("POST", "/v1/invitations", {}).json()["url"]
    assert link.startswith(f"{PUBLIC_URL}/enroll#")
    assert read_invitation(link).url == PUBLIC_URL


def test_both_python_clients_ask_send_and_wait_there(base: str, phone: Phone):
    with Reflecto(base, phone.token) as reflecto:
        question = reflecto.create("Deploy?")
        threading.Thread(target=phone.answer, args=(question.id, 0)).start()
        assert reflecto.wait(question).choice == "Approve"

    async def send() -> str:
        async with AsyncReflecto(f"{base}/", phone.token) as client:
            return (await client.send("Done")).id

    assert asyncio.run(send()).startswith("msg_")


def test_the_commands_and_the_terminal_phone_work_there(
    base: str, phone: Phone, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("REFLECTO_CLIENT_CONFIG", str(tmp_path / "client.toml"))
    code = phone.call("POST", "/v1/invitations", {}).json()["code"]
    asyncio.run(enrol(tmp_path / "state.json", base, code))
    assert main(["login", "--url", f"{base}/enroll#{code}", "--token", phone.token]) == 0
    assert main(["send", "Done"]) == 0
    capsys.readouterr()
    assert main(["doctor", "--json", "--state", str(tmp_path / "state.json")]) == 0
    checks = {check["check"]: check["verdict"] for check in json.loads(capsys.readouterr().out)["checks"]}
    assert {name for name, verdict in checks.items() if verdict == "failed"} == set()
    assert checks["event stream"] == "ok"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/hooks/claude-code", {"hook_event_name": "SessionStart"}),
        ("/v1/send", {"message": "Done"}),
        ("/1/messages.json", {"message": "Done"}),
        ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    ],
)
def test_hooks_mcp_and_pushovers_path_are_found_there(base: str, phone: Phone, path: str, body: dict[str, object]):
    headers = {"authorization": f"Bearer {phone.token}", "accept": "application/json, text/event-stream"}
    pushover = {"token": phone.token, "user": "anyone"} if path.startswith("/1/") else {}
    with httpx.Client(trust_env=False, timeout=30) as http:
        assert http.post(base + path, json=body | pushover, headers=headers).status_code == 200
