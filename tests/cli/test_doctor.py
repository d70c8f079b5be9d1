"""`reflecto doctor`: each thing that can be wrong is found, with what to do about it."""

import asyncio
import contextlib
import datetime as dt
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from reflecto.cli import examine_server
from reflecto.cli.examine_phone import check_long_poll, check_stream
from reflecto.cli.examine_server import check_server, check_url
from reflecto.cli.findings import Finding
from reflecto.cli.main import main
from reflecto.phone.state import PhoneState
from reflecto.phone.state_file import StateFile
from tests.cli.front import Front, make_certificate
from tests.client.asker_server import TOKEN, Reply, replying
from tests.client.sending_server import SendingServer, not_from_reflecto
from tests.e2e.phones import Phone
from tests.e2e.server_process import ServerProcess
from tests.phone.handset import enrol

Output = pytest.CaptureFixture[str]
HOLD_SECONDS = 1


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("doctor") / "data") as process:
        yield process


@pytest.fixture
def owner(server: ServerProcess) -> Phone:
    return Phone.of_new_owner(server, "Pixel")


@pytest.fixture(autouse=True)
def no_settings(client_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is configured, and no phone is in this terminal."""
    assert not client_file.exists()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("NO_PROXY", "*")


def invite(owner: Phone) -> str:
    reply = owner.call("POST", "/v1/invitations", {})
    assert reply.status_code == 201, reply.text
    return str(reply.json()["code"])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "phone" / "state.json"


def load(state: Path) -> PhoneState:
    return StateFile(state).load()


def examined(capsys: Output, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Run it with --json and return its exit code and the checks by name."""
    code = main(["doctor", "--json", *arguments])
    captured = capsys.readouterr()
    assert captured.err == ""
    report = json.loads(captured.out)
    assert report["ok"] == (code == 0)
    return code, {check["check"]: check for check in report["checks"]}


def verdicts(checks: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: check["verdict"] for name, check in checks.items()}


def test_where_all_is_well_each_check_says_so_and_the_phone_gets_nothing(
    server: ServerProcess, owner: Phone, state: Path, capsys: Output
):
    asyncio.run(enrol(state, server.url, invite(owner)))
    options = ["--url", server.url, "--token", owner.token, "--state", str(state)]
    code, checks = examined(capsys, *options)
    assert code == 0
    assert verdicts(checks) == {
        "configuration": "ok",
        "url": "ok",
        "server": "ok",
        "store": "ok",
        "clock": "ok",
        "token": "ok",
        "phone": "warning",  # paired, and not connected now
        "event stream": "ok",
        "long poll": "skipped",
    }
    assert "--full" in checks["long poll"]["advice"]
    assert load(state).cursor == 0

    assert main(["doctor", *options]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    lines = captured.out.splitlines()
    assert lines[0] == f"✓ configuration  {server.url}, and a token for it"
    assert any(line.startswith("! phone          none is connected now; ") for line in lines)
    assert owner.token not in captured.out


def test_without_settings_it_says_how_to_make_them(capsys: Output):
    code, checks = examined(capsys)
    assert code == 1
    assert verdicts(checks) == {"configuration": "failed"}
    assert "reflecto login" in checks["configuration"]["advice"]


def test_without_a_token_the_server_is_examined_all_the_same(server: ServerProcess, capsys: Output):
    code, checks = examined(capsys, "--url", server.url)
    assert code == 1
    assert verdicts(checks) | {"event stream": "skipped"} == {
        "configuration": "failed",
        "url": "ok",
        "server": "ok",
        "store": "ok",
        "clock": "ok",
        "event stream": "skipped",
        "long poll": "skipped",
    }


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("reflecto.example", "failed"),
        ("https://user:pw@reflecto.example", "failed"),
        ("http://reflecto.example", "warning"),
        ("http://127.0.0.1:1", "ok"),
        ("https://reflecto.example", "ok"),
    ],
)
def test_the_url_s_form_and_whether_it_can_be_overheard(url: str, verdict: str):
    [finding] = check_url(url)
    assert finding.verdict == verdict


def test_a_name_that_is_not_found(monkeypatch: pytest.MonkeyPatch):
    def nothing(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    [finding] = check_server("https://reflecto.example")
    assert (finding.check, finding.verdict) == ("dns", "failed")
    assert "reflecto.example is not found: Name or service not known" in finding.message


def test_a_name_is_shown_with_its_addresses(server: ServerProcess):
    first, *_ = check_server(server.url.replace("127.0.0.1", "localhost"))
    assert (first.check, first.verdict) == ("dns", "ok")
    assert "127.0.0.1" in first.message


def test_behind_a_proxy_of_the_environment_names_are_the_proxy_s_to_look_up(
    server: ServerProcess, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("http_proxy", server.url)
    first, second, *_ = check_server("http://reflecto.example")
    assert [first.verdict, second.verdict] == ["skipped", "skipped"]


def test_nobody_listens(capsys: Output):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    code, checks = examined(capsys, "--url", f"http://127.0.0.1:{port}", "--token", TOKEN)
    assert code == 1
    assert verdicts(checks) == {"configuration": "ok", "url": "ok", "server": "failed", "token": "skipped"}
    assert str(port) in checks["server"]["advice"]


def test_a_certificate_that_is_trusted_is_told_with_its_days(
    server: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    authority, context = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    with Front(server.port, tls=context) as front:
        tls, health, *_ = check_server(front.url)
        assert (tls.check, tls.verdict, health.verdict) == ("tls", "ok", "ok")
        assert "good for" in tls.message
        monkeypatch.setattr(examine_server, "CERTIFICATE_MIN_DAYS", 100_000)  # 2099 is near then
        tls, *_ = check_server(front.url)
        assert (tls.verdict, "renew" in tls.advice) == ("warning", True)


@pytest.mark.parametrize(
    ("fields", "trusted", "says", "advice"),
    [
        ({}, "another", "self-signed certificate", "SSL_CERT_FILE"),
        ({"expires": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)}, "its own", "expired", "renew it"),
        ({"address": "127.0.0.9"}, "its own", "IP address mismatch", "use the name"),
    ],
)
def test_a_certificate_that_is_not_trusted_says_why(
    server: ServerProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fields: dict[str, Any],
    trusted: str,
    says: str,
    advice: str,
):
    authority, context = make_certificate(tmp_path, **fields)
    if trusted == "its own":
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    with Front(server.port, tls=context) as front:
        [finding] = check_server(front.url)
    assert (finding.check, finding.verdict) == ("tls", "failed")
    assert says in finding.message
    assert advice in finding.advice


def test_https_where_there_is_none(server: ServerProcess):
    [finding] = check_server(server.url.replace("http:", "https:"))
    assert (finding.check, finding.verdict) == ("tls", "failed")
    assert "is it https" in finding.advice


@pytest.mark.parametrize(
    ("reply", "says", "advice"),
    [
        (Reply(200, b"<html>It works!</html>"), "not from Reflecto", "is the URL right"),
        (Reply.json(200, {"status": "ok"}), "not from Reflecto", "is the URL right"),
        (Reply(200, b'{"version": ' + b"[" * 3_000 + b"]" * 3_000 + b"}"), "not from Reflecto", "is the URL right"),
        (Reply(404, b""), "status 404", "is the URL right"),
        (not_from_reflecto(502), "a proxy replies with status 502", "start it"),
        (Reply(301, b"", {"Location": "https://r.example/"}), "a redirect to https://r.example/", "make it the URL"),
    ],
)
def test_somebody_else_answers(sending: SendingServer, reply: Reply, says: str, advice: str):
    sending.faults["GET"].append(replying(reply))
    [finding] = check_server(sending.url)
    assert (finding.check, finding.verdict) == ("server", "failed")
    assert says in finding.message
    assert advice in finding.advice


def test_a_store_that_cannot_be_written(sending: SendingServer):
    healthy = Reply.json(200, {"status": "ok", "version": "0.1.0"})
    sending.faults["GET"] += [replying(healthy), replying(Reply.error(503, "unavailable"))]
    [store] = [finding for finding in check_server(sending.url) if finding.check == "store"]
    assert (store.verdict, "disk" in store.advice) == ("failed", True)


def test_settings_of_the_database_that_may_lose_something_are_warnings_with_what_to_do(sending: SendingServer):
    healthy = Reply.json(200, {"status": "ok", "version": "0.1.0"})
    ready = Reply.json(200, {"status": "ready", "concerns": ["fsync_off", "of_a_newer_server"]})
    sending.faults["GET"] += [replying(healthy), replying(ready)]
    fsync, newer = [finding for finding in check_server(sending.url) if finding.check == "database"]
    assert (fsync.verdict, fsync.advice) == ("warning", "set fsync = on")
    assert (newer.verdict, "of_a_newer_server" in newer.message) == ("warning", True)


def test_another_version_and_another_clock_are_warnings(sending: SendingServer):
    sending.faults["GET"].append(replying(Reply.json(200, {"status": "ok", "version": "9.0.0"})))
    found = {finding.check: finding for finding in check_server(sending.url)}  # its clock is in January 2027
    assert (found["server"].verdict, "9.0.0" in found["server"].message) == ("warning", True)
    assert (found["clock"].verdict, "remind --at" in found["clock"].advice) == ("warning", True)
    sending.clock_offset_seconds = None
    assert {finding.check: finding.verdict for finding in check_server(sending.url)}["clock"] == "skipped"


@pytest.mark.parametrize(
    ("token", "verdict", "says"),
    [("rfk_live_" + "b" * 32, "failed", "does not know it"), ("mistyped", "failed", "must be a sender token")],
)
def test_a_wrong_token_is_told_with_how_to_get_another(
    server: ServerProcess, capsys: Output, token: str, verdict: str, says: str
):
    code, checks = examined(capsys, "--url", server.url, "--token", token)
    assert code == 1
    assert checks["token"]["verdict"] == verdict
    assert says in checks["token"]["message"]
    assert "reflecto tokens create" in checks["token"]["advice"]
    assert "phone" not in checks


def test_a_test_token_and_one_without_the_scope_to_ask_are_told_apart(
    server: ServerProcess, owner: Phone, capsys: Output
):
    narrow = owner.call("POST", "/v1/tokens", {"label": "Narrow", "scopes": ["send"]}).json()["token"]
    test = owner.create_token("Told apart", test=True)["token"]
    for token in (narrow, test):
        code, checks = examined(capsys, "--url", server.url, "--token", token)
        assert code == 0
        assert checks["token"]["verdict"] in {"warning", "ok"}
    assert "test token" in checks["token"]["message"]


def test_a_phone_that_is_connected_is_named_and_without_one_it_says_how_to_pair(server: ServerProcess, capsys: Output):
    phone = Phone.of_new_owner(server, "Ann\u202e's phone")
    entries = phone.entries()
    next(entries)  # its stream is open
    _, checks = examined(capsys, "--url", server.url, "--token", phone.token)
    assert (checks["phone"]["verdict"], checks["phone"]["message"]) == (
        "ok",
        "connected: Ann‹U+202E›'s phone",  # noqa: RUF001
    )
    entries.close()
    assert phone.call("DELETE", "/v1/devices/self").status_code == 204
    code, checks = examined(capsys, "--url", server.url, "--token", phone.token)
    assert (code, checks["phone"]["verdict"]) == (1, "failed")
    assert "reflecto invite" in checks["phone"]["advice"]


def test_a_proxy_that_buffers_the_stream_is_told_with_how_to_stop_it(server: ServerProcess, owner: Phone, state: Path):
    with Front(server.port, buffers=b"GET /v1/sync") as front:
        asyncio.run(enrol(state, front.url, invite(owner)))
        [finding] = check_stream(load(state), first_byte_seconds=0.5)
    assert (finding.verdict, "buffers" in finding.message) == ("failed", True)
    assert "proxy_buffering off" in finding.advice


def test_the_phone_of_another_server_is_not_used(
    server: ServerProcess, owner: Phone, state: Path, sending: SendingServer, capsys: Output
):
    asyncio.run(enrol(state, server.url, invite(owner)))
    _, checks = examined(capsys, "--url", sending.url, "--token", TOKEN, "--state", str(state))
    assert checks["event stream"]["verdict"] == "skipped"
    assert "rfd_live_" not in str(sending.received)


def test_a_phone_that_was_removed_is_not_used(server: ServerProcess, owner: Phone, state: Path):
    asyncio.run(enrol(state, server.url, invite(owner)))
    identity = load(state).identity
    assert identity is not None
    assert owner.call("DELETE", f"/v1/devices/{identity.device_id}").status_code == 204
    [finding] = check_stream(load(state))
    assert (finding.verdict, "was removed" in finding.message) == ("skipped", True)


def hold(url: str, token: str | None, state: Path | None) -> Finding:
    identity = load(state).identity if state else None
    [finding] = check_long_poll(url, token, identity, wanted=True, hold_seconds=HOLD_SECONDS)
    return finding


def test_a_reply_may_be_held_back_and_no_phone_is_asked(server: ServerProcess, owner: Phone, state: Path):
    asyncio.run(enrol(state, server.url, invite(owner)))
    before = owner.call("GET", "/v1/tokens").json()
    assert hold(server.url, owner.token, state).verdict == "ok"
    assert hold(server.url, owner.create_token("Try", test=True)["token"], None).verdict == "ok"
    labels = [token["label"] for token in owner.call("GET", "/v1/tokens").json()["tokens"]]
    assert "reflecto doctor" not in labels
    assert len(labels) == len(before["tokens"]) + 1
    assert load(state).questions == ()


def test_a_proxy_that_the_server_does_not_trust_is_told_of(
    server: ServerProcess, monkeypatch: pytest.MonkeyPatch, capsys: Output
):
    _, checks = examined(capsys, "--url", server.url, "--token", TOKEN)
    assert "proxy" not in checks

    class Forwarding(httpx.Client):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options | {"headers": {"X-Forwarded-For": "203.0.113.9"}})

    monkeypatch.setattr(httpx, "Client", Forwarding)
    _, checks = examined(capsys, "--url", server.url, "--token", TOKEN)
    assert checks["proxy"]["verdict"] == "warning"
    assert "trusted_proxies" in checks["proxy"]["advice"]


def test_a_proxy_that_cuts_it_is_told_with_how_long_to_wait(server: ServerProcess, owner: Phone):
    token = owner.create_token("Try", test=True)["token"]
    with Front(server.port, cuts=b"GET /v1/interactions") as front:
        finding = hold(front.url, token, None)
    assert finding.verdict == "failed"
    assert re.match(r"cut after \d s of 1: ", finding.message), finding.message
    assert "proxy_read_timeout" in finding.advice


def test_without_a_phone_or_a_test_token_a_long_poll_is_not_tried(server: ServerProcess, owner: Phone):
    finding = hold(server.url, owner.token, None)
    assert (finding.verdict, "reflecto invite" in finding.advice) == ("skipped", True)


def test_on_a_terminal_no_finding_shares_its_line_with_the_word_that_it_is_at_work(server: ServerProcess):
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "reflecto.cli.main", "doctor", "--url", server.url]
    env = os.environ | {"TERM": "xterm"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        shown = read_terminal(ours)
        assert process.wait(30) == 1  # no token
    assert "Checking" in shown
    # What a terminal shows of a line is what stands behind the last return to its start.
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in shown.split("\r\n")]
    findings = [re.sub(r"\x1b\[\d*m", "", line) for line in lines if line.strip()]
    assert len(findings) > 5
    assert all(re.match(r"[✓!✗-] |  ", line) for line in findings), findings


def read_terminal(descriptor: int) -> str:
    """Return all that a terminal shows until its program ends; its end is an EIO."""
    text = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(descriptor, 4096):
            text += chunk
    os.close(descriptor)
    return text.decode()


@pytest.mark.parametrize(("app", "verdict"), [("current", None), ("stale", "warning"), ("missing", "warning")])
def test_a_web_app_that_is_older_than_its_sources_is_named(app: str, verdict: str | None, sending: SendingServer):
    sending.health_app = app
    findings = {finding.check: finding for finding in check_server(sending.url)}
    found = findings.get("app")
    assert (found.verdict if found else None) == verdict
    assert found is None or "make setup" in found.advice
