"""Bodies nobody should send: a 4xx with a code, never a 5xx, and nothing stored."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable

import httpx
import pytest

from reflecto.contract.limits import JSON_BODY_MAX_BYTES, QUESTION_BODY_MAX_BYTES
from tests.actors import DeviceActor, Program
from tests.builders import NOW, enrolment_body
from tests.fakes import BOUND_SECONDS
from tests.running import RunningServer
from tests.sync_reader import drain

QUESTION = json.dumps({"question": "Deploy?"})

NOT_JSON = {
    "empty": b"",
    "blank": b"  \n",
    "cut short": b'{"question": "Deploy?"',
    "two values": b"{}{}",
    "trailing text": QUESTION.encode() + b"x",
    "a comment": b'{"question": "Deploy?" /* now */}',
    "a trailing comma": b'{"question": "Deploy?",}',
    "single quotes": b"{'question': 'Deploy?'}",
    "an array": b'["question"]',
    "an array of objects": b"[" + QUESTION.encode() + b"]",
    "a string": b'"Deploy?"',
    "a number": b"7",
    "null": b"null",
    "true": b"true",
    "invalid UTF-8": b'{"question": "\xff\xfe"}',
    "a cut UTF-8 character": b'{"question": "\xf0\x9f\x9a"}',
    "an overlong encoding": b'{"question": "\xc0\xaf"}',
    "an encoded surrogate": b'{"question": "\xed\xa0\x80"}',
    "latin-1": '{"question": "Café?"}'.encode("latin-1"),
    "UTF-16": QUESTION.encode("utf-16"),
    "UTF-16 without a mark": QUESTION.encode("utf-16-le"),
    "UTF-32": QUESTION.encode("utf-32"),
    "two byte order marks": b"\xef\xbb\xbf" * 2 + QUESTION.encode(),
    "NaN": b'{"question": "Deploy?", "expires_in": NaN}',
    "infinity": b'{"question": "Deploy?", "expires_in": Infinity}',
    "minus infinity": b'{"question": "Deploy?", "x": -Infinity}',
    "a number beyond double": b'{"question": "Deploy?", "expires_in": 1e999}',
    "a duplicate key": b'{"question": "Deploy?", "question": "Delete?"}',
    "a duplicate key by escape": b'{"question": "Deploy?", "quest\\u0069on": "Delete?"}',
    "a duplicate key within": b'{"question": "Deploy?", "x": {"a": 1, "a": 2}}',
    "a lone surrogate": b'{"question": "\\ud800"}',
    "a lone low surrogate": b'{"question": "\\udc00 Deploy?"}',
    "surrogates in the wrong order": b'{"question": "\\ude80\\ud83d"}',
    "a raw control character": b'{"question": "Deploy\x00?"}',
    "a raw line break": b'{"question": "Deploy\n?"}',
    "deep arrays": b'{"question": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "deep and unfinished": b"[" * 60_000,
    "an escape that is none": b'{"question": "\\x41"}',
    "a short escape": b'{"question": "\\u12"}',
    "a leading zero": b'{"question": "Deploy?", "expires_in": 0600}',
    "a plus sign": b'{"question": "Deploy?", "expires_in": +600}',
    "a hex number": b'{"question": "Deploy?", "expires_in": 0x100}',
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
    "a form": b"question=Deploy%3F",
}


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON)
async def test_what_is_not_one_strict_json_object_is_refused(server: RunningServer, sender: Program, body: bytes):
    refused = await sender.call("POST", "/v1/interactions", content=body)
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] == "invalid_json"
    assert await server.services.store.list_pending(sender.id, NOW) == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (NOT_JSON["a duplicate key"], "has the key 'question' twice"),
        (NOT_JSON["a duplicate key within"], "has the key 'a' twice"),
        (NOT_JSON["latin-1"], "is not UTF-8"),
        (NOT_JSON["an array"], "is not an object"),
        (NOT_JSON["a form"], "is not JSON"),
        (b'{"question": "Deploy?", "x": [%b0]}' % (b"0," * 10_000), "has more than 10,000 values"),
        (b'{"question": "Deploy?", "x": [0%b]}' % (b",1e308" * 5_000), "has more than 10,000 values"),
        (b'{"question": "Deploy?", "x": [0%b]}' % (b",1E+00300" * 5_000), "has more than 10,000 values"),
    ],
)
async def test_a_refusal_of_json_says_what_it_is(sender: Program, body: bytes, why: str):
    refused = await sender.call("POST", "/v1/interactions", content=body)
    message = f"The body must be one JSON object in UTF-8; this one {why}"
    assert (refused.status_code, refused.json()["error"]) == (400, {"code": "invalid_json", "message": message})


MARKED: list[tuple[str, str, bytes]] = [
    ("/v1/send", "application/json", b'{"message": "Backup done"}'),
    ("/v1/send", "text/plain", b"Backup done"),
    ("/v1/send", "", b"Backup done"),
    ("/v1/send", "application/x-www-form-urlencoded", b"Backup done"),
    ("/v1/send", "application/x-www-form-urlencoded", b"message=Backup+done"),
    ("/v1/interactions", "application/json", QUESTION.encode()),
    ("/v1/documents", "application/json", b'{"filename": "a.txt", "content": "Backup done"}'),
    ("/hooks/claude-code", "application/json", b'{"hook_event_name": "Stop", "last_assistant_message": "Backup done"}'),
]


@pytest.mark.parametrize(("path", "content_type", "body"), MARKED)
async def test_the_byte_order_mark_of_windows_is_no_part_of_a_body(
    phone: DeviceActor, sender: Program, path: str, content_type: str, body: bytes
):
    headers = {"content-type": content_type} if content_type else {}
    sent = await sender.call("POST", path, content=b"\xef\xbb\xbf" + body, headers=headers)
    assert sent.status_code in {200, 201}, sent.text
    (received,) = [envelope for envelope in await drain(phone, 2) if envelope.type != "token.created"][-1:]
    assert "\ufeff" not in str(received.payload)


async def test_the_mark_before_a_field_of_a_form_is_none_of_it(phone: DeviceActor, sender: Program):
    assert (await sender.call("POST", "/v1/send", files={"message": (None, b"\xef\xbb\xbfDone")})).status_code == 200
    assert (await drain(phone, 2))[-1].payload["message"] == "Done"


NUL_IN_LABELS = ["\0", "a\0b", "CI\0"]


@pytest.mark.parametrize("label", NUL_IN_LABELS)
async def test_a_label_with_a_nul_is_refused_wherever_one_is_given(
    server: RunningServer, phone: DeviceActor, label: str
):
    refused = [
        await server.http.post("/v1/enroll", json=enrolment_body(await server.invite(), label=label)),
        await phone.call("PATCH", "/v1/devices/self", json={"label": label}),
        await phone.call("POST", "/v1/tokens", json={"label": label}),
    ]
    assert [(each.status_code, each.json()["error"]["code"]) for each in refused] == [(400, "invalid_label")] * 3


COMPRESSED: list[tuple[str, str]] = [
    ("POST", "/v1/send"),
    ("POST", "/v1/interactions"),
    ("POST", "/v1/documents"),
    ("POST", "/v1/reminders"),
    ("POST", "/hooks/claude-code"),
    ("POST", "/mcp"),
]


@pytest.mark.parametrize(("method", "path"), COMPRESSED)
@pytest.mark.parametrize("encoding", ["gzip", "br", "Deflate"])
async def test_a_compressed_body_is_refused_as_what_it_is(sender: Program, method: str, path: str, encoding: str):
    body = gzip.compress(QUESTION.encode())
    refused = await sender.call(method, path, content=body, headers={"content-encoding": encoding})
    message = "Send the body uncompressed, without Content-Encoding"
    assert (refused.status_code, refused.json()["error"]) == (
        415,
        {"code": "unsupported_media_type", "message": message},
    )


async def test_devices_are_told_so_too(phone: DeviceActor):
    for method, path in (("POST", "/v1/relay"), ("PATCH", "/v1/devices/self"), ("POST", "/v1/sync/ack")):
        refused = await phone.call(method, path, content=b"x", headers={"content-encoding": "gzip"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize("encodings", [["identity"], [""], ["Identity", "identity"], ["identity, identity"]])
async def test_an_encoding_that_changes_nothing_may_be_named(
    server: RunningServer, sender: Program, encodings: list[str]
):
    headers = [("authorization", f"Bearer {sender.token}"), *(("content-encoding", each) for each in encodings)]
    assert (await server.http.post("/v1/send", content=b"Done", headers=headers)).status_code == 200


@pytest.mark.parametrize("encodings", [["identity", "gzip"], ["gzip", "identity"], ["identity, gzip"], ["", "gzip"]])
async def test_every_encoding_counts(server: RunningServer, sender: Program, encodings: list[str]):
    headers = [("authorization", f"Bearer {sender.token}"), *(("content-encoding", each) for each in encodings)]
    refused = await server.http.post("/v1/send", content=gzip.compress(b"Done"), headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "number", ["1" + "0" * 400, "-" + "9" * 5_000, "18446744073709551616", "1e300", "-0.0", "6e1000"]
)
async def test_a_huge_number_is_refused_and_stops_nothing(sender: Program, number: str):
    body = b'{"question": "Deploy?", "expires_in": %b}' % number.encode()
    refused = await sender.call("POST", "/v1/interactions", content=body)
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] in {"invalid_json", "invalid_expires_in"}


@pytest.mark.parametrize("written", ["600.0", "6e2", "0.6e3", "600.00e0", "6000e-1"])
async def test_a_whole_number_may_be_written_in_any_way(sender: Program, written: str):
    body = b'{"question": "Deploy?", "expires_in": %b}' % written.encode()
    asked = await sender.call("POST", "/v1/interactions", content=body)
    assert (asked.status_code, asked.json()["expires_at"]) == (201, NOW + 600)


async def test_an_escaped_pair_of_surrogates_is_one_character(sender: Program):
    asked = await sender.call("POST", "/v1/interactions", content=b'{"question": "\\ud83d\\ude80\\u0000"}')
    assert asked.status_code == 201
    assert (await sender.read(asked.json()["id"])).json()["question"] == "🚀\0"


@pytest.mark.parametrize("media_type", ["application/json", "APPLICATION/JSON", "application/json; charset=utf-8", ""])
async def test_json_by_any_spelling_or_no_type_at_all_is_read(sender: Program, media_type: str):
    headers = {"content-type": media_type} if media_type else {}
    asked = await sender.call("POST", "/v1/interactions", content=QUESTION, headers=headers)
    assert asked.status_code == 201


@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/problem+json",
        "json",
        "*/*",
        "é",
    ],
)
async def test_another_type_is_415_even_if_it_holds_json(server: RunningServer, sender: Program, media_type: str):
    headers = {b"authorization": f"Bearer {sender.token}".encode(), b"content-type": media_type.encode("latin-1")}
    refused = await server.http.post("/v1/interactions", content=QUESTION, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (415, "unsupported_media_type")
    assert await server.services.store.list_pending(sender.id, NOW) == []


Calls = dict[str, Callable[[bytes], Awaitable[httpx.Response]]]


@pytest.fixture
async def json_calls(server: RunningServer, phone: DeviceActor, sender: Program) -> Calls:
    """Every call of questions, devices and tokens that takes JSON."""
    tester = await phone.new_token(test=True)
    question, simulated = await sender.ask_id(), await tester.ask_id()
    return {
        "create": lambda body: sender.call("POST", "/v1/interactions", content=body),
        "simulate": lambda body: tester.call("POST", f"/v1/interactions/{simulated}/simulate", content=body),
        "answer": lambda body: phone.call("POST", f"/v1/interactions/{question}/answer", content=body),
        "ack": lambda body: phone.call("POST", "/v1/sync/ack", content=body),
        "patch": lambda body: phone.call("PATCH", "/v1/devices/self", content=body),
        "token": lambda body: phone.call("POST", "/v1/tokens", content=body),
        "enroll": lambda body: server.http.post("/v1/enroll", content=body),
    }


async def test_every_call_that_takes_json_refuses_the_same_bodies(json_calls: Calls):
    for name, call in json_calls.items():
        for kind in ("empty", "an array", "invalid UTF-8", "UTF-16", "NaN", "a duplicate key", "deep arrays"):
            if (name, kind) == ("patch", "empty"):  # it needs no field
                continue
            refused = await call(NOT_JSON[kind])
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_json"), (name, kind)


async def test_a_call_that_needs_no_field_needs_no_body(server: RunningServer, phone: DeviceActor, sender: Program):
    for caller, method, path in (
        (sender, "POST", "/v1/ring"),
        (phone, "PATCH", "/v1/devices/self"),
        (phone, "POST", "/v1/pairings"),
    ):
        with_none = await caller.call(method, path)
        with_empty = await caller.call(method, path, json={})
        assert with_none.status_code == with_empty.status_code < 300, (path, with_none.text)
        blank = await caller.call(method, path, content=b" ")
        assert (blank.status_code, blank.json()["error"]["code"]) == (400, "invalid_json")
        described = (await server.http.get("/openapi.json")).json()["paths"][path][method.lower()]
        assert described["requestBody"]["required"] is False


async def test_a_body_that_announces_too_much_is_413_before_it_is_read(json_calls: Calls):
    for name, call in json_calls.items():
        most = QUESTION_BODY_MAX_BYTES if name == "create" else JSON_BODY_MAX_BYTES
        refused = await call(b"x" * (most + 1))
        assert refused.status_code == 413, name
        assert refused.json()["error"]["code"] == "payload_too_large"
        assert refused.json()["error"]["details"] == {"size": most + 1, "max": most}
        assert refused.headers["cache-control"] == "no-store"


async def test_the_largest_body_that_may_be_is_read(sender: Program):
    padding = QUESTION_BODY_MAX_BYTES - len(json.dumps({"question": "Deploy?", "x": ""}))
    body = json.dumps({"question": "Deploy?", "x": "x" * padding}).encode()
    assert len(body) == QUESTION_BODY_MAX_BYTES
    assert (await sender.call("POST", "/v1/interactions", content=body)).status_code == 201
    assert (await sender.call("POST", "/v1/interactions", content=body + b" ")).status_code == 413


async def test_an_endless_chunked_body_is_413_after_the_limit_and_the_connection_ends(
    server: RunningServer, sender: Program
):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = (
        f"POST /v1/interactions HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {sender.token}\r\n"
        "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    writer.write(head.encode())
    async with asyncio.timeout(BOUND_SECONDS):
        for _ in range(81):
            writer.write(b"1000\r\n" + b" " * 4_096 + b"\r\n")
            await writer.drain()
        reply = await reader.read()  # until the server has closed
    writer.close()
    status, _, rest = reply.partition(b"\r\n")
    headers, _, body = rest.partition(b"\r\n\r\n")
    assert status.startswith(b"HTTP/1.1 413 ")  # its words are those of the Python that runs it
    assert b"connection: close" in headers.lower()
    assert b"cache-control: no-store" in headers.lower()
    error = json.loads(body)["error"]
    assert (error["code"], error["details"]["max"]) == ("payload_too_large", QUESTION_BODY_MAX_BYTES)
    assert QUESTION_BODY_MAX_BYTES < error["details"]["size"] <= 81 * 4_096


async def test_a_client_that_leaves_in_the_middle_of_its_body_stores_nothing(server: RunningServer, sender: Program):
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = (
        f"POST /v1/interactions HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {sender.token}\r\n"
        f"content-length: {len(QUESTION)}\r\n\r\n{QUESTION[:-1]}"
    )
    writer.write(head.encode())
    writer.close()
    await writer.wait_closed()
    assert (await sender.ask("Another?")).status_code == 201
    assert len(await server.services.store.list_pending(sender.id, NOW)) == 1
