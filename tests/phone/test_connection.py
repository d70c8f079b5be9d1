"""The wire: which replies are a definite word, and which only mean to try again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
import pytest

from reflecto.phone.connection import Connection, NoReplyError, RevokedError
from reflecto.phone.lifecycle import Verdict, WrongNumber
from tests.phone.builders import ANSWER, OTHER_PHONE, id_of, identity
from tests.phone.scripted_server import STREAM_HEAD, Request, event, refusal, reply, scripted_server

T = TypeVar("T")
QUESTION_ID = id_of("int", 1)
HTML = reply(404, b"<h1>Not here</h1>", content_type="text/html")
ACCEPTED = reply(200, {"id": QUESTION_ID, "status": "answered", "choice_index": 1, "answered_at": 1754800010})
INVALID_TOKEN = reply(401, {"error": "invalid_token"})


def with_connection(raw: bytes, call: Callable[[Connection], Awaitable[T]], seen: list[Request] | None = None) -> T:
    """Run `call` against a server that gives this one reply and ends the connection."""

    async def handle(request: Request, writer: asyncio.StreamWriter) -> None:
        if seen is not None:
            seen.append(request)
        writer.write(raw)

    async def main() -> T:
        async with scripted_server(handle) as url, httpx.AsyncClient(trust_env=False) as http:
            return await call(Connection(http, identity(url), silence_max_seconds=0.2))

    return asyncio.run(main())


def answering(raw: bytes) -> Verdict | WrongNumber:
    return with_connection(raw, lambda connection: connection.send_answer(QUESTION_ID, ANSWER))


def streaming(raw: bytes, cursor: int = 0, seen: list[Request] | None = None) -> list[int]:
    async def read(connection: Connection) -> list[int]:
        async with connection.open_stream(cursor) as stream:
            return [entry.seq async for entry in stream.entries]

    return with_connection(raw, read, seen)


def test_an_answer_is_the_choice_the_phone_s_clock_and_the_signature():
    seen: list[Request] = []
    with_connection(ACCEPTED, lambda connection: connection.send_answer(QUESTION_ID, ANSWER), seen)

    assert seen[0].path == f"/v1/interactions/{QUESTION_ID}/answer"
    assert seen[0].headers["authorization"] == "Bearer rfd_live_" + "a" * 32
    assert seen[0].body == b'{"choice_index":1,"answered_at":1754800010,"signature":"c2lnbmVk"}'


@pytest.mark.parametrize(
    ("raw", "verdict"),
    [
        (ACCEPTED, Verdict(QUESTION_ID, "accepted", 1)),
        (
            refusal(
                409,
                "already_answered",
                {"choice_index": 0, "answered_by": {"device_id": OTHER_PHONE, "label": "Pixel"}},
            ),
            Verdict(QUESTION_ID, "answered", 0, "Pixel", OTHER_PHONE),
        ),
        (refusal(409, "already_answered"), Verdict(QUESTION_ID, "answered")),
        (refusal(409, "already_answered", {"choice_index": "0", "answered_by": 7}), Verdict(QUESTION_ID, "answered")),
        (refusal(409, "interaction_closed", {"status": "expired"}), Verdict(QUESTION_ID, "expired")),
        (refusal(409, "interaction_closed", {"status": "cancelled"}), Verdict(QUESTION_ID, "cancelled")),
        (refusal(404, "not_found"), Verdict(QUESTION_ID, "refused", code="not_found")),
        (refusal(400, "invalid_choice"), Verdict(QUESTION_ID, "refused", code="invalid_choice")),
    ],
)
def test_a_definite_reply_ends_the_sending_of_an_answer(raw: bytes, verdict: Verdict):
    assert answering(raw) == verdict


@pytest.mark.parametrize(
    ("raw", "wait"),
    [
        (HTML, None),
        (reply(502, b"gateway"), None),
        (reply(301, b"", Location="https://elsewhere.example/"), None),
        (reply(401, b"<h1>Log in</h1>"), None),
        (reply(401, {"error": "invalid_token", "error_description": "expired"}), None),  # OAuth's
        (reply(404, {"error": "not_found"}), None),
        (reply(404, {"error": "Not Found", "status": 404}), None),
        (reply(404, {"error": {"code": "no_such_route", "message": "no"}}), None),
        (reply(404, {"error": {"code": "not_found", "message": "no"}, "request_id": "7"}), None),
        (reply(403, {"error": {"code": "not_found", "message": "no"}}), None),
        (reply(200, b"<h1>Sign in</h1>", content_type="text/html"), None),
        (reply(200, {"ok": True}), None),
        (reply(200, {"id": "int_of_another", "status": "answered", "choice_index": 1, "answered_at": 1}), None),
        (refusal(503, "unavailable", Retry_After="7"), 7.0),
        (refusal(500, "internal_error"), None),
        (refusal(429, "rate_limit_exceeded", Retry_After="3"), 3.0),
        (b"", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", None),
    ],
)
def test_anything_else_means_to_try_again_and_not_that_the_answer_was_lost(raw: bytes, wait: float | None):
    with pytest.raises(NoReplyError) as failed:
        answering(raw)

    assert failed.value.retry_after_seconds == wait


def test_a_revoked_device_is_told_from_a_proxy_that_wants_a_password():
    with pytest.raises(RevokedError):
        answering(INVALID_TOKEN)
    with pytest.raises(RevokedError):
        streaming(INVALID_TOKEN)
    with pytest.raises(RevokedError):
        with_connection(INVALID_TOKEN, lambda connection: connection.acknowledge(7))
    with pytest.raises(NoReplyError):
        streaming(reply(401, b"<h1>Log in</h1>"))
    with pytest.raises(NoReplyError, match="HTTP 200, not from a Reflecto server"):
        streaming(reply(200, b"<h1>Sign in</h1>", content_type="text/html"))


def test_a_stream_resumes_behind_the_cursor():
    seen: list[Request] = []

    assert streaming(STREAM_HEAD + event(8, "AA==") + b": quiet\n\n" + event(9, "AA=="), 7, seen) == [8, 9]
    streaming(STREAM_HEAD, 0, seen)

    assert seen[0].headers["last-event-id"] == "7"
    assert "last-event-id" not in seen[1].headers


@pytest.mark.parametrize(
    "raw",
    [
        reply(200, {"hello": "world"}),
        HTML,
        refusal(503, "unavailable"),
        STREAM_HEAD + b"event: message\ndata: not json\n\n",
        STREAM_HEAD + b'event: message\ndata: {"seq": 1}\n\n',
        STREAM_HEAD + b'event: message\ndata: {"x": ' + b"[" * 3_000 + b"]" * 3_000 + b"}\n\n",
        b"",
    ],
)
def test_what_is_no_stream_means_to_try_again(raw: bytes):
    with pytest.raises(NoReplyError):
        streaming(raw)


def test_events_of_another_kind_are_passed_over():
    assert streaming(STREAM_HEAD + b"event: hello\ndata: x\n\n" + event(3, "AA==")) == [3]


def test_a_stream_without_a_heartbeat_is_given_up():
    async def handle(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + b": hello\n\n")
        await asyncio.Event().wait()

    async def main() -> None:
        async with (
            scripted_server(handle) as url,
            httpx.AsyncClient(trust_env=False) as http,
            Connection(http, identity(url), silence_max_seconds=0.1).open_stream(0) as stream,
        ):
            async for _ in stream.entries:
                pass

    with pytest.raises(NoReplyError, match="nothing was heard"):
        asyncio.run(main())


def test_the_server_s_clock_is_read_from_the_head_of_its_reply():
    async def read(connection: Connection) -> float | None:
        async with connection.open_stream(0) as stream:
            return stream.server_time

    dated = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nDate: Sun, 10 Aug 2025 04:26:40 GMT\r\n\r\n")
    assert with_connection(dated, read) == 1754800000.0
    assert with_connection(STREAM_HEAD, read) is None
    assert with_connection(dated.replace(b"Aug", b"Foo"), read) is None


def test_a_sequence_number_the_server_never_gave_is_nothing_to_acknowledge():
    with_connection(refusal(400, "invalid_seq"), lambda connection: connection.acknowledge(900))
    with pytest.raises(NoReplyError):
        with_connection(refusal(503, "unavailable"), lambda connection: connection.acknowledge(7))
