"""POST /v1/send in every form a body may have, and as curl really sends it."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.actors import DeviceActor, Program
from tests.api.sent import latest, waiting
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS
from tests.running import RunningServer

TEXT = '50% + a&b = ä\U0001f600 "quoted"\n'
FIELDS = {"message": TEXT, "title": "T & T", "priority": "high", "tags": "nas,nightly", "markdown": "true", "ttl": "60"}
EXPECTED = {"message": TEXT, "title": "T & T", "priority": "high", "tags": ["nas", "nightly"], "markdown": True}
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


async def sent(
    server: RunningServer, phone: DeviceActor, sender: Program, body: bytes, content_type: str | None
) -> dict[str, Any]:
    """Send a raw body and return the payload that arrived."""
    headers = {} if content_type is None else {"content-type": content_type}
    reply = await sender.call("POST", "/v1/send", content=body, headers=headers)
    assert reply.status_code == 200, reply.text
    assert reply.json()["warnings"] == []
    return await latest(server, phone)


async def test_the_envelope_names_token_time_and_id(server: RunningServer, phone: DeviceActor, sender: Program):
    reply = await sender.send("Done")
    [envelope] = await waiting(server, phone)
    assert (envelope.id, envelope.ts, envelope.source) == (
        reply.json()["id"],
        NOW,
        {"token": "Default", "token_id": sender.id, "colour": "teal"},
    )
    assert envelope.payload == {"message": "Done"}
    assert reply.json() == {
        "id": envelope.id,
        "delivered_to": [{"device_id": phone.id, "type": "android"}],
        "warnings": [],
    }


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=utf-8"])
async def test_json(server: RunningServer, phone: DeviceActor, sender: Program, content_type: str):
    fields = {**EXPECTED, "ttl": 60, "device": "all", "something_else": {"is": "ignored"}}
    for body in (json.dumps(fields), json.dumps(fields, ensure_ascii=False)):
        assert await sent(server, phone, sender, body.encode(), content_type) == EXPECTED


async def test_a_form_urlencoded_and_multipart(server: RunningServer, phone: DeviceActor, sender: Program):
    for options in ({"data": FIELDS}, {"files": {name: (None, value) for name, value in FIELDS.items()}}):
        reply = await sender.call("POST", "/v1/send", **options)
        assert reply.status_code == 200, reply.text
        assert await latest(server, phone) == EXPECTED


@pytest.mark.parametrize("content_type", [None, "text/plain", "text/plain; charset=utf-8", "TEXT/PLAIN"])
async def test_plain_text_is_the_message_to_the_byte(
    server: RunningServer, phone: DeviceActor, sender: Program, content_type: str | None
):
    for text in (TEXT, "{message: not JSON here}", "message=not a form here", " \n"):
        assert await sent(server, phone, sender, text.encode(), content_type) == {"message": text}


@pytest.mark.parametrize(
    "text",
    [
        "Backup done",
        "50% done + 3 left",
        "a=b&c=d",
        "https://example.org/?q=1&page=2",
        "subject=Backup done",
        "=",
        "&",
        "Message=done",  # field names are lower-case
    ],
)
async def test_text_that_curl_announces_as_a_form_is_text(
    server: RunningServer, phone: DeviceActor, sender: Program, text: str
):
    form = "application/x-www-form-urlencoded"
    assert await sent(server, phone, sender, text.encode(), form) == {"message": text}


@pytest.mark.parametrize(
    ("body", "payload"),
    [
        ("message=a+b%2Bc%26d", {"message": "a b+c&d"}),
        ("x=1&message=Done", {"message": "Done"}),
        ("message=Done&title=", {"message": "Done"}),
        ("message=Done&tags=&url=&url_title=&actions=&device=&markdown=&ttl=&priority=", {"message": "Done"}),
        ("message=Done&tags=a&tags=b,c", {"message": "Done", "tags": ["a", "b", "c"]}),
        ("message=Done&markdown=1", {"message": "Done", "markdown": True}),
        ("message=Done&markdown=0", {"message": "Done"}),
        ("message=Done&markdown=TRUE", {"message": "Done", "markdown": True}),
        (
            'message=Done&actions=[{"label":"Open","url":"https://x.example/"}]',
            {"message": "Done", "actions": [{"label": "Open", "url": "https://x.example/"}]},
        ),
        ("message=%F0%9F%98%80", {"message": "\U0001f600"}),
    ],
)
async def test_what_a_form_says(
    server: RunningServer, phone: DeviceActor, sender: Program, body: str, payload: dict[str, Any]
):
    assert await sent(server, phone, sender, body.encode(), "application/x-www-form-urlencoded") == payload


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b"", None, 400, "invalid_message"),
        (b"", "application/x-www-form-urlencoded", 400, "invalid_message"),
        (b"title=T", "application/x-www-form-urlencoded", 400, "invalid_message"),
        (b"message=", "application/x-www-form-urlencoded", 400, "invalid_message"),
        (b"message=a&message=b", "application/x-www-form-urlencoded", 400, "invalid_body"),
        (b"message=%FF", "application/x-www-form-urlencoded", 400, "invalid_body"),
        (b"message=a&ttl=soon", "application/x-www-form-urlencoded", 400, "invalid_ttl"),
        (b"message=a&ttl=nan", "application/x-www-form-urlencoded", 400, "invalid_ttl"),
        (b"message=a&markdown=maybe", "application/x-www-form-urlencoded", 400, "invalid_markdown"),
        (b"message=a&actions=nothing", "application/x-www-form-urlencoded", 400, "invalid_action"),
        (b"message=a&actions=" + b"[" * 3_000, "application/x-www-form-urlencoded", 400, "invalid_action"),
        (b"message=a&actions=[1e999]", "application/x-www-form-urlencoded", 400, "invalid_action"),
        (
            b'message=a&actions=[{"label":"\\ud800","url":"https://x.example/"}]',
            "application/x-www-form-urlencoded",
            400,
            "invalid_action",
        ),
        (b"message=a&priority=HIGH", "application/x-www-form-urlencoded", 400, "invalid_priority"),
        (b"\xff\xfe", "text/plain", 400, "invalid_body"),
        ("Done".encode("utf-16"), None, 400, "invalid_body"),
        (b"no boundary", "multipart/form-data", 400, "invalid_body"),
        (b"{}", "application/json", 400, "invalid_message"),
        (b'{"message": 5}', "application/json", 400, "invalid_message"),
        (b'{"message": "a", "tags": "a,b"}', "application/json", 400, "invalid_tags"),
        (b'{"message": "a", "ttl": "60"}', "application/json", 400, "invalid_ttl"),
        (b'{"message": "a", "markdown": 1}', "application/json", 400, "invalid_markdown"),
        (b'{"message": "\\ud800"}', "application/json", 400, "invalid_json"),
        (b"Done", "image/png", 415, "unsupported_media_type"),
        (b"<x/>", "application/xml", 415, "unsupported_media_type"),
    ],
)
async def test_what_cannot_be_read_is_refused_and_nothing_is_sent(
    server: RunningServer,
    phone: DeviceActor,
    sender: Program,
    body: bytes,
    content_type: str | None,
    status: int,
    code: str,
):
    headers = {} if content_type is None else {"content-type": content_type}
    reply = await sender.call("POST", "/v1/send", content=body, headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert await waiting(server, phone) == []


async def test_the_token_as_the_last_segment_of_the_path(server: RunningServer, phone: DeviceActor, sender: Program):
    reply = await server.http.post(f"/v1/send/{sender.token}", content=b"From a webhook")
    assert reply.status_code == 200, reply.text
    assert await latest(server, phone) == {"message": "From a webhook"}
    for wrong in ("rfk_live_" + "b" * 32, "nonsense", phone.token):
        refused = await server.http.post(f"/v1/send/{wrong}", content=b"x")
        assert (refused.status_code, refused.json()) == (401, {"error": "invalid_token"})
    # The path decides: a right token in the header does not help a wrong one there.
    assert (await sender.call("POST", f"/v1/send/{phone.token}", content=b"x")).status_code == 401
    assert len(await waiting(server, phone)) == 1


async def curl(*arguments: str) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        "curl", "--silent", "--show-error", "--noproxy", "*", *arguments, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(process.communicate(), BOUND_SECONDS)
    reply: dict[str, Any] = json.loads(out)
    return reply


@needs_curl
async def test_curl_in_all_the_ways_people_write_it(
    server: RunningServer, phone: DeviceActor, sender: Program, tmp_path: Path
):
    url = f"http://127.0.0.1:{server.port}/v1/send"
    bearer = ("-H", f"Authorization: Bearer {sender.token}")
    file = tmp_path / "message.txt"
    file.write_text(TEXT, "utf-8")
    ways: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        ((url, *bearer, "-d", "Backup done"), {"message": "Backup done"}),
        ((url, *bearer, "-d", "message=a+b", "-d", "title=T"), {"message": "a b", "title": "T"}),
        ((url, *bearer, "--data-urlencode", f"message={TEXT}"), {"message": TEXT}),
        ((url, *bearer, "--data-binary", f"@{file}"), {"message": TEXT}),
        ((url, *bearer, "--form-string", f"message={TEXT}", "-F", "title=T"), {"message": TEXT, "title": "T"}),
        ((url, *bearer, "--json", '{"message": "json"}'), {"message": "json"}),
        ((f"{url}/{sender.token}", "--form-string", "message=webhook"), {"message": "webhook"}),
        ((url, *bearer, "-X", "POST", "-H", "Content-Type:", "-d", "no type"), {"message": "no type"}),
    ]
    for arguments, payload in ways:
        reply = await curl(*arguments)
        assert reply["warnings"] == [], arguments
        assert await latest(server, phone) == payload, arguments


async def test_a_body_beyond_the_bound_is_refused_whatever_its_length_is_said_to_be(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    path = "/v1/send"

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(70):
            yield b"x" * 1_000

    announced = await sender.call("POST", path, content=b"x" * 70_000, headers={"content-type": "text/plain"})
    assert announced.status_code == 413
    assert announced.headers["connection"] == "close"
    # The reply must get there although the client is still sending.
    chunked = await sender.call("POST", path, content=chunks(), headers={"content-type": "text/plain"})
    assert chunked.status_code == 413
    assert await waiting(server, phone) == []
