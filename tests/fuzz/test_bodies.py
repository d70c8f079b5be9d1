import json
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, TypeVar
from urllib.parse import urlencode

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.types import Message

from reflecto.api.bodies import message_of, read_fields
from reflecto.api.foreign import NTFY_HEADERS, NTFY_HEADERS_NOT_TAKEN, in_our_words
from reflecto.api.http import Call
from reflecto.contract.api_error import ApiError
from reflecto.contract.limits import PICTURE_MAX_BYTES, SEND_BODY_MAX_BYTES
from reflecto.contract.messages import SendRequest
from reflecto.contract.tokens import PRIORITIES
from reflecto.core.messages import check_message

R = TypeVar("R")

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=frontier"
TEXT = "text/plain"
FORMS = (JSON, URLENCODED, MULTIPART, TEXT, "", "text/plain; charset=utf-8", "multipart/form-data")
NAMES = [field.decode() for field in (b"message", b"title", b"tags", b"actions", b"device", b"markdown", b"ttl")]

# Text that UTF-8 can carry: no lone surrogates; and no NUL, which no text has.
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
something = anything.filter(bool)


def read(body: bytes, content_type: str) -> SendRequest:
    """Read a body that came in one piece."""
    return finish(read_chunks([body], content_type))


def finish(work: Coroutine[Any, Any, R]) -> R:
    """Drive a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("it waits for something")


async def read_chunks(chunks: list[bytes], content_type: str) -> SendRequest:
    """Read a body that came in pieces."""
    messages: list[Message] = [
        {"type": "http.request", "body": chunk, "more_body": index < len(chunks) - 1}
        for index, chunk in enumerate(chunks)
    ]

    async def receive() -> Message:
        return messages.pop(0)

    async def send(_message: Message) -> None:
        raise AssertionError("reading answers nothing")

    headers = [(b"content-type", content_type.encode())] if content_type else []
    call = Call({"type": "http", "headers": headers, "query_string": b""}, receive, send)
    fields, typed = await read_fields(call, SendRequest)
    return message_of(SendRequest, fields, typed=typed)


def refusal(body: bytes, content_type: str) -> ApiError | None:
    """Return why the body is refused; anything but an ApiError is a failure of the server."""
    try:
        read(body, content_type)
    except ApiError as error:
        return error
    return None


@given(st.binary(max_size=400), st.sampled_from(FORMS))
@example(b"--frontier\r\nContent-Disposition: form-data; name=\r\n\r\n", MULTIPART)
@example(b"--frontier--", MULTIPART)
@example(b"message=%ff", URLENCODED)
@example(b"\xff\xfem\x00", TEXT)
@example(b"[" * 100_000, JSON)
@example(b'{"message": NaN}', JSON)
@example(b'{"message": "\\ud800"}', JSON)
def test_any_bytes_in_any_form_are_a_message_or_a_refusal_with_a_code(body: bytes, content_type: str):
    error = refusal(body, content_type)
    assert error is None or error.spec.status in {400, 413}


@given(
    st.lists(st.sampled_from([b"message", b"title", b"=", b"&", b"%", b"%00", b"+", b";", b"\xc3", b"a"]), max_size=30)
)
def test_whatever_looks_like_a_form_is_a_message_or_a_refusal_with_a_code(pieces: list[bytes]):
    error = refusal(b"".join(pieces), URLENCODED)
    assert error is None or error.spec.status == 400


@given(
    st.lists(
        st.binary(max_size=60)
        | st.sampled_from(
            [
                b"\r\n",
                b"--frontier",
                b"\r\n--frontier--\r\n",
                b'; name="message"',
                b"Content-Disposition: form-data",
                b"Content-Transfer-Encoding: base64",
            ]
        ),
        max_size=20,
    )
)
def test_whatever_looks_like_multipart_is_a_message_or_a_refusal_with_a_code(pieces: list[bytes]):
    error = refusal(b"--frontier\r\n" + b"".join(pieces), MULTIPART)
    assert error is None or error.spec.status == 400


@given(something)
@pytest.mark.parametrize("content_type", [TEXT, "", "text/plain; charset=utf-8"])
def test_plain_text_is_the_message_to_the_letter(content_type: str, text: str):
    assert read(text.encode(), content_type) == SendRequest(message=text)


@given(something.filter(lambda text: "=" not in text))
def test_what_curl_sends_as_text_is_the_message_though_it_announces_a_form(text: str):
    assert read(text.encode(), URLENCODED).message == text


fields_as_text = st.fixed_dictionaries(
    {"message": something},
    optional={
        "title": something,
        "priority": st.sampled_from(PRIORITIES),
        "url": something,
        "device": something,
        "markdown": st.sampled_from(["true", "false"]),
        "ttl": st.integers(0, 10**9).map(str),
    },
)


def typed(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the same as JSON would carry it."""
    values: dict[str, Any] = dict(fields)
    if "markdown" in values:
        values["markdown"] = values["markdown"] == "true"
    if "ttl" in values:
        values["ttl"] = int(values["ttl"])
    return values


def as_multipart(fields: Mapping[str, str]) -> tuple[bytes, str]:
    """Return a multipart body as a client makes it, and its type."""
    request = httpx.Request("POST", "http://x", files={name: (None, value) for name, value in fields.items()})
    return request.read(), request.headers["content-type"]


@given(fields_as_text)
def test_the_same_message_comes_out_of_every_form(fields: dict[str, str]):
    in_json = read(json.dumps(typed(fields)).encode(), JSON)
    assert read(urlencode(fields).encode(), URLENCODED) == in_json
    assert read(*as_multipart(fields)) == in_json


@given(fields_as_text, st.data())
def test_a_field_given_twice_is_refused_in_every_form(fields: dict[str, str], data: st.DataObject):
    name = data.draw(st.sampled_from(sorted(fields)))
    twice = [*fields.items(), (name, fields[name])]
    error = refusal(urlencode(twice).encode(), URLENCODED)
    assert error is not None
    assert error.spec.code == "invalid_body"
    in_json = "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in twice) + "}"
    error = refusal(in_json.encode(), JSON)
    assert error is not None
    assert error.spec.code == "invalid_json"


@given(st.lists(something.filter(lambda tag: "," not in tag), min_size=1, max_size=8))
def test_tags_of_a_form_are_split_at_commas_and_may_repeat(tags: list[str]):
    joined = urlencode({"message": "m", "tags": ",".join(tags)}).encode()
    repeated = urlencode([("message", "m"), *(("tags", tag) for tag in tags)]).encode()
    assert read(joined, URLENCODED).tags == tuple(tags)
    assert read(repeated, URLENCODED).tags == tuple(tags)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(NAMES) | anything, json_values, max_size=6))
def test_any_json_object_is_a_message_or_a_refusal_with_a_code(fields: dict[str, Any]):
    error = refusal(json.dumps(fields).encode(), JSON)
    assert error is None or error.spec.status == 400


@given(st.dictionaries(st.sampled_from(NAMES), json_values.map(json.dumps) | anything, max_size=6))
def test_any_form_is_a_message_or_a_refusal_with_a_code(fields: dict[str, str]):
    error = refusal(urlencode(fields).encode(), URLENCODED)
    assert error is None or error.spec.status == 400


def in_multipart(value: bytes) -> bytes:
    return b'--frontier\r\nContent-Disposition: form-data; name="message"\r\n\r\n' + value + b"\r\n--frontier--\r\n"


@given(st.binary(min_size=1).filter(lambda body: not is_text(body)))
@example("Über".encode("latin-1"))
@example("text".encode("utf-16-le"))
def test_what_is_not_utf_8_is_refused_and_never_guessed(body: bytes):
    for form, content_type in ((body, TEXT), (in_multipart(body), MULTIPART)):
        error = refusal(form, content_type)
        assert error is not None, content_type
        assert error.spec.code == "invalid_body"


def is_text(body: bytes) -> bool:
    try:
        return b"\0" not in body and bool(body.decode())
    except UnicodeDecodeError:
        return False


@pytest.mark.parametrize(
    "charset", ["unicode_escape", "raw_unicode_escape", "utf-16", "utf-7", "latin-1", "hex", "nonsense"]
)
def test_a_charset_the_client_names_changes_nothing(charset: str):
    for form, content_type in ((b"\\ud800 +AGE-", TEXT), (in_multipart(b"\\ud800 +AGE-"), MULTIPART)):
        assert read(form, f"{content_type}; charset={charset}").message == "\\ud800 +AGE-"


@given(something, st.data())
def test_it_does_not_matter_how_a_body_is_cut_on_its_way(text: str, data: st.DataObject):
    body = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=5)))
    chunks = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert finish(read_chunks(chunks, TEXT)).message == text


@pytest.mark.parametrize("content_type", [form for form in FORMS if not form.startswith("multipart")])
def test_an_endless_body_is_left_unread_once_it_is_too_large(content_type: str):
    chunks = [b"x" * 4096] * (SEND_BODY_MAX_BYTES // 4096 + 100)
    with pytest.raises(ApiError) as caught:
        finish(read_chunks(chunks, content_type))
    assert caught.value.spec.status == 413
    assert caught.value.details == {"size": SEND_BODY_MAX_BYTES + 4096, "max": SEND_BODY_MAX_BYTES}


PART = b'--frontier\r\nContent-Disposition: form-data; name="%b"\r\n\r\n'
PICTURE = b'--frontier\r\nContent-Disposition: form-data; name="attachment"; filename="cat.jpg"\r\n\r\n'
END = b"\r\n--frontier--\r\n"
CHUNK = b"\xff" * 65_536


def test_a_picture_and_a_field_that_nobody_knows_are_thrown_away_as_they_come():
    for opening in (PICTURE, PART % b"attachment_base64"):
        chunks = [PART % b"message" + b"Motion\r\n", opening, *[CHUNK] * (PICTURE_MAX_BYTES // 65_536), END]
        assert finish(read_chunks(chunks, MULTIPART)).message == "Motion"


@pytest.mark.parametrize(
    ("opening", "size", "bound"),
    [
        (PART % b"message", SEND_BODY_MAX_BYTES, SEND_BODY_MAX_BYTES),
        (PICTURE, PICTURE_MAX_BYTES + SEND_BODY_MAX_BYTES, PICTURE_MAX_BYTES + SEND_BODY_MAX_BYTES),
    ],
)
def test_an_endless_part_is_left_unread_once_it_is_too_large(opening: bytes, size: int, bound: int):
    chunks = [opening, *[CHUNK] * (size // 65_536 + 20), END]
    with pytest.raises(ApiError) as caught:
        finish(read_chunks(chunks, MULTIPART))
    assert caught.value.spec.status == 413
    assert caught.value.details is not None
    assert caught.value.details["max"] == bound


@pytest.mark.parametrize(
    "body",
    [
        PART % b"message" + b"cut off before its end",
        PART % b"message" + b"no last boundary\r\n--frontier\r\n",
        b"--another\r\n\r\nx\r\n--another--\r\n",
        (PART % b"message").replace(b"\r\n\r\n", b"\r\nContent-Transfer-Encoding: base64\r\n\r\n") + b"eA==" + END,
        (PART % b"x" + b"\r\n") * 65 + PART % b"message" + b"x" + END,
    ],
)
def test_a_form_that_is_not_whole_or_not_a_form_is_refused(body: bytes):
    with pytest.raises(ApiError) as caught:
        read(body, MULTIPART)
    assert caught.value.spec.code == "invalid_body"


header_names = st.sampled_from([*chain.from_iterable(NTFY_HEADERS.values()), *NTFY_HEADERS_NOT_TAKEN])
header_values = st.one_of(
    st.binary(max_size=80),
    st.lists(
        st.sampled_from([b"=?", b"?=", b"utf-8", b"?q?", b"?B?", b"=FF", b"w5w=", b" ", b"u=1", b"5", b"yes", b"\xff"]),
        max_size=12,
    ).map(b"".join),
)


@given(st.lists(st.tuples(header_names, header_values), max_size=5), st.sampled_from(["", TEXT, "text/markdown"]))
@example([(b"title", b"=?utf-8?q?" * 6_000)], TEXT)
@example([(b"title", b"?= " * 20_000)], TEXT)
def test_any_headers_beside_text_are_fields_or_a_refusal_with_a_code(
    headers: list[tuple[bytes, bytes]], media_type: str
):
    fields, caveats = in_our_words({"message": "Done"}, media_type, headers, typed=True)
    json.dumps([fields, [caveat.message for caveat in caveats]], ensure_ascii=False).encode()  # no lone surrogate
    with suppress(ApiError):
        check_message(message_of(SendRequest, fields, typed=True))
