"""`reflecto tokens`: made, listed and revoked by the phone in this terminal."""

import asyncio
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from reflecto.cli.main import main
from reflecto.phone.state_file import StateFile
from reflecto.store.sqlite.database import DATABASE_NAME
from tests.e2e.phones import HTTP, bearer, make_codes
from tests.e2e.server_process import ServerProcess
from tests.phone.handset import enrol
from tests.phone.scripted_server import Request, refusal, reply, scripted_server

Output = pytest.CaptureFixture[str]
TOKEN = re.compile(r"rfk_(live|test)_[A-Za-z0-9]{32}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("tokens") / "data") as process:
        yield process


@pytest.fixture
def state(server: ServerProcess, tmp_path: Path) -> Path:
    """The state file of an owner's first phone."""
    path = tmp_path / "first" / "state.json"
    [code] = make_codes(server.data, 1, new_owner=True)
    asyncio.run(enrol(path, server.url, code))
    return path


def run(capsys: Output, state: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(["tokens", *arguments, "--state", str(state)]) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def status(server: ServerProcess, token: str) -> int:
    reply = HTTP.get(f"{server.url}/v1/devices", headers=bearer(token))
    return reply.status_code


def test_a_new_token_is_printed_alone_and_works_until_it_is_revoked(server: ServerProcess, state: Path, capsys: Output):
    out, err = run(
        capsys, state, "create", "Backup on nas", "--scope", "send", "--scope", "files", "--priority-cap", "low"
    )
    token = out.strip()
    assert (out, err) == (f"{token}\n", "")
    assert TOKEN.fullmatch(token)
    assert status(server, token) == 200

    listed, _ = run(capsys, state, "list")
    assert re.search(
        r"^Backup on nas +low +send,files +\d{4}-\d\d-\d\d \d\d:\d\d +tok_[0-9a-f]{32}$", listed, re.MULTILINE
    )
    assert re.search(r"^Default +none +all +never +tok_", listed, re.MULTILINE)
    assert token not in listed

    assert run(capsys, state, "revoke", "Backup on nas") == ("", "")
    assert status(server, token) == 401


def test_json_has_what_scripts_need(state: Path, capsys: Output):
    made = json.loads(run(capsys, state, "create", "Try", "--test", "--json")[0])
    assert made["label"] == "Try"
    assert made["token"].startswith("rfk_test_")
    [listed] = [
        token for token in json.loads(run(capsys, state, "list", "--json")[0])["tokens"] if token["id"] == made["id"]
    ]
    assert (listed["test"], listed["scopes"], listed["priority_cap"]) == (
        True,
        ["send", "ask", "ring", "remind", "files"],
        None,
    )
    assert json.loads(run(capsys, state, "revoke", made["id"], "--json")[0]) == {"id": made["id"], "revoked": True}


def test_a_label_that_two_have_is_not_enough_to_revoke_one(server: ServerProcess, state: Path, capsys: Output):
    tokens = [run(capsys, state, "create", label)[0].strip() for label in ("CI", "CI 2")]
    with closing(sqlite3.connect(server.data / DATABASE_NAME)) as store, store:  # of before names were unique
        store.execute("UPDATE tokens SET label = 'CI' WHERE label = 'CI 2'")
    out, err = run(capsys, state, "revoke", "CI", code=2)
    assert (out, "2 tokens are called 'CI'" in err) == ("", True)
    assert [status(server, token) for token in tokens] == [200, 200]
    for token_id in re.findall(r"tok_[0-9a-f]{32}", err):
        run(capsys, state, "revoke", token_id)
    assert [status(server, token) for token in tokens] == [401, 401]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["revoke", "nobody's"], "no live token has the id or the label"),
        (["create", "x" * 61], "LABEL must be"),
        (["create", " "], "LABEL must be"),
        (["create", "x", "--scope", "everything"], "Invalid value for '--scope'"),
    ],
)
def test_bad_input_exits_2(state: Path, capsys: Output, arguments: list[str], says: str):
    out, err = run(capsys, state, *arguments, code=2)
    assert out == ""
    assert says in err


def test_without_a_phone_it_says_how_to_come_by_one(tmp_path: Path, capsys: Output):
    for as_json in ([], ["--json"]):
        shown = "".join(run(capsys, tmp_path / "none.json", "list", *as_json, code=2))
        assert "only a phone may make tokens" in shown
        assert "reflecto invite" in shown


def test_a_phone_that_runs_does_not_stand_in_the_way(state: Path, capsys: Output):
    with StateFile(state):
        assert "Default" in run(capsys, state, "list")[0]


def test_a_phone_that_was_removed_exits_6(server: ServerProcess, state: Path, tmp_path: Path, capsys: Output):
    identity = StateFile(state).load().identity
    assert identity is not None
    invited = HTTP.post(f"{server.url}/v1/invitations", headers=bearer(identity.device_token), content="{}").json()
    removed = tmp_path / "state.json"
    asyncio.run(enrol(removed, server.url, invited["code"]))
    its = StateFile(removed).load().identity
    assert its is not None
    HTTP.delete(f"{server.url}/v1/devices/self", headers=bearer(its.device_token))
    _, err = run(capsys, removed, "list", code=6)
    assert err == "Error: the server does not know this phone any more\n"


def at(state: Path, url: str, folder: Path) -> Path:
    """Return a state file of the same phone at another address."""
    moved = folder / "moved.json"
    phone = StateFile(state).load()
    assert phone.identity is not None
    with StateFile(moved) as store:
        store.save(msgspec.structs.replace(phone, identity=msgspec.structs.replace(phone.identity, url=url)))
    return moved


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"", 10),
        (reply(502, b"Bad gateway", content_type="text/html"), 9),
        (refusal(503, "unavailable"), 9),
        (refusal(503, "outcome_unknown"), 10),
        (refusal(409, "too_many_tokens"), 7),
        (refusal(403, "scope_denied"), 7),
        (reply(201, {"hello": "world"}), 9),
        (reply(201, b'{"x": ' + b"[" * 3_000 + b"]" * 3_000 + b"}"), 9),
    ],
)
def test_what_comes_back_instead_of_a_token_has_the_exit_code_of_the_page(
    state: Path, tmp_path: Path, answer: bytes, code: int
):
    async def handle(_request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    async def play() -> int:
        async with scripted_server(handle) as url:
            command = ["tokens", "create", "CI", "--state", str(at(state, url, tmp_path))]
            return await asyncio.to_thread(main, command)

    assert asyncio.run(play()) == code


@pytest.mark.parametrize(("knows_keys", "code"), [(True, 0), (False, 10)])
def test_a_token_whose_reply_is_lost_is_asked_for_again_where_the_server_knows_repeats(
    state: Path, tmp_path: Path, *, knows_keys: bool, code: int
):
    posted: list[Request] = []
    made = {"id": "tok_" + "1" * 32, "label": "CI", "token": "rfk_live_" + "a" * 32}

    async def handle(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path == "/healthz":
            writer.write(reply(200, {"status": "ok"} | ({"repeats": "Idempotency-Key"} if knows_keys else {})))
            return
        posted.append(request)
        writer.write(b"" if len(posted) == 1 else reply(201, made))

    async def play() -> int:
        async with scripted_server(handle) as url:
            command = ["tokens", "create", "CI", "--state", str(at(state, url, tmp_path))]
            return await asyncio.to_thread(main, command)

    assert asyncio.run(play()) == code
    assert len(posted) == (2 if knows_keys else 1)
    assert len({(each.headers["idempotency-key"], each.body) for each in posted}) == 1


def test_without_a_server_it_exits_5(state: Path, tmp_path: Path, capsys: Output):
    _, err = run(capsys, at(state, "http://127.0.0.1:1", tmp_path), "create", "CI", code=5)
    assert "cannot be reached" in err


def test_on_a_terminal_it_says_that_it_is_shown_once(state: Path):
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "reflecto.cli.main", "tokens", "create", "Once", "--state", str(state)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True, timeout=30)
    os.close(theirs)
    assert TOKEN.fullmatch(ran.stdout.strip())
    said = os.read(ours, 1000).decode()
    assert "shown this once" in said
    assert ran.stdout.strip() not in said
    os.close(ours)
