"""Enrolling: codes and links as people paste them, and what goes wrong."""

import asyncio
import json
import stat
from pathlib import Path

import httpx
import pytest

from reflecto.crypto.answers import SIGNING_KEY_BYTES, is_signing_key
from reflecto.crypto.encoding import decode_base64
from reflecto.phone.identity import (
    EnrolmentError,
    Invitation,
    UnreachableError,
    UnusableInvitationError,
    enroll,
    enrolled,
    is_exposed,
    read_invitation,
    read_server_url,
)
from reflecto.phone.state_file import StateFile
from tests.phone.builders import id_of
from tests.phone.handset import enrol
from tests.phone.scripted_server import Handler, Request, refusal, reply, scripted_server

CODE = "CM9VPXYPMWYKEFNH"


@pytest.mark.parametrize(
    ("text", "invitation"),
    [
        ("CM9V-PXYP-MWYK-EFNH", Invitation(CODE, None)),
        (" cm9v pxyp mwyk efnh ", Invitation(CODE, None)),
        ("http://127.0.0.1:8787/enroll#CM9V-PXYP-MWYK-EFNH", Invitation(CODE, "http://127.0.0.1:8787")),
        ("https://r.example/sub/enroll/#cm9vpxypmwykefnh", Invitation(CODE, "https://r.example/sub")),
        ("https://r.example/#CM9V-PXYP-MWYK-EFNH", Invitation(CODE, "https://r.example")),
    ],
)
def test_a_code_or_a_link_is_read_as_people_paste_it(text: str, invitation: Invitation):
    assert read_invitation(text) == invitation


@pytest.mark.parametrize(
    "text",
    [
        "",
        "CM9V",
        "CM9V-PXYP-MWYK-EFNU",
        "https://r.example/enroll",
        "https://r.example/enroll#",
        "ftp://r.example/enroll#CM9V-PXYP-MWYK-EFNH",
        "https:///enroll#CM9V-PXYP-MWYK-EFNH",
        "https://me:secret@r.example/enroll#CM9V-PXYP-MWYK-EFNH",
        "http://r.example:99999/enroll#CM9V-PXYP-MWYK-EFNH",
        "https://r.example/?a=b#CM9V-PXYP-MWYK-EFNH",
    ],
)
def test_what_is_neither_is_refused_before_anything_is_sent(text: str):
    with pytest.raises(UnusableInvitationError):
        read_invitation(text)


def test_a_server_s_address_loses_its_last_slash_only():
    assert read_server_url("https://r.example/sub/ ") == "https://r.example/sub"


@pytest.mark.parametrize(
    ("url", "exposed"),
    [
        ("http://192.0.2.7:8787", True),
        ("http://r.example", True),
        ("https://r.example", False),
        ("http://127.0.0.1:8787", False),
        ("http://[::1]:8787", False),
        ("http://localhost", False),
    ],
)
def test_plain_http_to_another_machine_counts_as_exposed(url: str, exposed: bool):  # noqa: FBT001
    assert is_exposed(url) == exposed


def replying(raw: bytes, seen: list[Request] | None = None) -> Handler:
    async def handle(request: Request, writer) -> None:
        if seen is not None:
            seen.append(request)
        writer.write(raw)

    return handle


ENROLLED = {
    "owner_id": id_of("own", 1),
    "device_id": id_of("dev", 1),
    "device_token": "rfd_live_" + "a" * 32,
    "server_key": "fFa5VqOOdgYLsW1r3BAJqYBGLtGPKwIkyTEpVT94bEQ=",
    "default_token": {"id": id_of("tok", 1), "label": "Default", "token": "rfk_live_" + "b" * 32},
}


def enrolling(handler: Handler, path: Path) -> None:
    async def main() -> None:
        async with scripted_server(handler) as url:
            await enrol(path, url, CODE, "Laptop")

    asyncio.run(main())


@pytest.mark.parametrize("host", ["xn--a", "a..b", "a" * 300])
def test_a_name_that_is_none_is_out_of_reach(tmp_path: Path, host: str):
    with pytest.raises(UnreachableError, match=r"is not a usable URL|cannot be reached"):
        asyncio.run(enrol(tmp_path / "s.json", f"http://{host}", CODE, "Laptop"))


def test_only_public_keys_leave_the_phone(tmp_path: Path):
    seen: list[Request] = []

    enrolling(replying(reply(201, ENROLLED), seen), tmp_path / "s.json")

    sent = json.loads(seen[0].body)
    with StateFile(tmp_path / "s.json") as store:
        state = store.load()
    assert state.identity is not None
    assert (seen[0].method, seen[0].path) == ("POST", "/v1/enroll")
    assert set(sent) >= {"code", "public_key", "signing_key", "label", "type", "class"}
    assert (sent["code"], sent["label"], sent["type"], sent["class"]) == (CODE, "Laptop", "cli", "phone")
    assert sent["signing_key"] == enrolled(state.identity, founded=True).signing_key
    signing_key = decode_base64(sent["signing_key"], length=SIGNING_KEY_BYTES)
    assert signing_key is not None
    assert is_signing_key(signing_key)
    assert state.identity.box_secret.encode() not in seen[0].body
    assert state.identity.signing_seed.encode() not in seen[0].body


def test_token_and_keys_are_on_the_disk_before_anything_is_shown(tmp_path: Path):
    enrolling(replying(reply(201, ENROLLED)), tmp_path / "s.json")

    assert stat.S_IMODE((tmp_path / "s.json").stat().st_mode) == 0o600
    with StateFile(tmp_path / "s.json") as store:
        assert [held.token for held in store.load().tokens] == ["rfk_live_" + "b" * 32]


@pytest.mark.parametrize(
    ("raw", "kind", "says"),
    [
        (refusal(403, "invalid_code"), EnrolmentError, "no"),
        (refusal(429, "rate_limit_exceeded", Retry_After="60"), EnrolmentError, r"try again in 60 s"),
        (
            reply(502, b"<h1>Bad gateway</h1>", content_type="text/html"),
            UnreachableError,
            "HTTP 502; is that a Reflecto",
        ),
        (reply(301, b"", Location="https://elsewhere.example/"), UnreachableError, "HTTP 301"),
        (reply(201, {"ok": True}), UnreachableError, "not a Reflecto server's"),
        (reply(201, b'{"x": ' + b"[" * 3_000 + b"]" * 3_000 + b"}"), UnreachableError, "not a Reflecto server's"),
        (reply(403, b'{"error": {"details": ' + b'{"x":' * 3_000 + b"1" + b"}" * 3_002), UnreachableError, "HTTP 403"),
        (reply(201, ENROLLED | {"server_key": "AAAA"}), EnrolmentError, "the server's key"),
        (
            reply(201, ENROLLED | {"server_key": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}),
            EnrolmentError,
            "the server's key",
        ),
    ],
)
def test_a_failed_enrolment_says_why_and_keeps_nothing(
    tmp_path: Path, raw: bytes, kind: type[EnrolmentError], says: str
):
    with pytest.raises(kind, match=says):
        enrolling(replying(raw), tmp_path / "s.json")

    assert not (tmp_path / "s.json").exists()


def test_a_server_that_is_not_there_is_said_to_be_out_of_reach():
    async def main() -> None:
        async with httpx.AsyncClient(trust_env=False) as http:
            await enroll(http, Invitation(CODE, None), "http://127.0.0.1:1", "Laptop")

    with pytest.raises(UnreachableError, match="cannot be reached"):
        asyncio.run(main())


def test_a_reply_that_is_lost_is_asked_for_again_under_the_same_key(tmp_path: Path):
    seen: list[Request] = []
    whole = reply(201, ENROLLED)

    async def lose_the_first(request: Request, writer) -> None:
        seen.append(request)
        writer.write(whole if len(seen) == 2 else b"")

    enrolling(lose_the_first, tmp_path / "s.json")
    assert len(seen) == 2
    assert len({(each.headers["idempotency-key"], each.body) for each in seen}) == 1
    assert (tmp_path / "s.json").exists()


def test_a_server_that_breaks_off_each_time_is_out_of_reach(tmp_path: Path):
    seen: list[Request] = []
    with pytest.raises(UnreachableError):
        enrolling(replying(b"", seen), tmp_path / "s.json")
    assert len(seen) == 3
