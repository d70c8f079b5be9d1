"""JSON from outside: whatever it is, each reader says so in its own way, and none falls over."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import httpx
import pytest

from reflecto.agents.hook_call import UnusableEventError, parse_event
from reflecto.agents.hook_settings import UnusableSettingsError, add_hooks, installed_events
from reflecto.cli.connection import read_client_file
from reflecto.client.errors import ApiError as RefusedError
from reflecto.client.errors import BrokenContract
from reflecto.client.protocol import HttpReply
from reflecto.client.replies import decode, raise_refusal
from reflecto.config import ConfigError, load_settings
from reflecto.contract.api_error import ApiError
from reflecto.contract.json_bodies import UnusableJsonError, check_values
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.question_states import InteractionState
from reflecto.contract.sync import SyncEntry
from reflecto.contract.wire import parse_object
from reflecto.crypto.envelopes import seal, shared_key
from reflecto.phone.inbox import Unopened, advance
from reflecto.phone.keyring import Keyring
from reflecto.phone.replies import read_refusal
from reflecto.phone.state import PhoneState
from reflecto.phone.state_file import StateError, StateFile
from tests.phone.builders import BOX, NOW, SERVER_BOX, identity

DEPTHS: Final = (500, 900, 980, 3_000, 200_000)  # around what Python's own limit leaves, and far beyond
UGLY: Final = {
    **{f"{depth} arrays": b"[" * depth + b"]" * depth for depth in DEPTHS},
    **{f"{depth} objects": b'{"error":' * depth + b"1" + b"}" * depth for depth in DEPTHS},
    **{f"{depth} arrays in a field": b'{"error":{"x":' + b"[" * depth + b"]" * depth + b"}}" for depth in DEPTHS},
    "arrays that do not end": b"[" * 100_000,
    "a whole number of 5,000 digits": b'{"error":' + b"9" * 5_000 + b"}",
    "a number that no float holds": b'{"error":1e999}',
    "NaN": b'{"error":NaN}',
    "Infinity": b'{"error":-Infinity}',
    "half a pair of surrogates": b'{"error":"\\ud800"}',
    "not UTF-8": b'{"error":"\xff"}',
    "UTF-16": '{"error":1}'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a NUL": b"{}\x00",
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "a text": b'"error"',
    "cut off": b'{"error":{"code":"x"',
}


T = TypeVar("T")
E = TypeVar("E", bound=Exception)


def result_or(error: type[E], work: Callable[[], T]) -> T | E:
    """Return what `work` returns or how it refuses; any other exception fails the test."""
    try:
        return work()
    except error as refused:
        return refused


def each_ugly(test: Any) -> Any:
    return pytest.mark.parametrize("raw", UGLY.values(), ids=UGLY)(test)


@each_ugly
def test_the_one_reader_has_one_error(raw: bytes):
    found = result_or(UnreadableJsonError, lambda: read_json(raw, dict[str, Any]))
    assert isinstance(found, dict) or found.__suppress_context__  # the context could quote a secret
    for text in (raw, raw.decode("latin-1")):
        with pytest.raises(UnreadableJsonError):
            read_json(text, InteractionState)


def test_half_a_pair_of_surrogates_in_the_text_itself_is_refused_too():
    with pytest.raises(UnreadableJsonError):
        read_json('"\ud800"', str)


@each_ugly
def test_opening_an_envelope_never_fails(raw: bytes):
    key = shared_key(BOX.public, SERVER_BOX.secret)
    keyring = Keyring(identity())
    entry = SyncEntry(7, "server", base64.b64encode(seal(key, raw)).decode(), 2**40)
    assert keyring.unseal(entry) == Unopened(7, "what is inside is not an envelope")
    wrapped = b'{"type":"notification","id":"x","ts":1,"source":{},"payload":{"message":"m","tags":' + raw + b"}}"
    entry = SyncEntry(8, "server", base64.b64encode(seal(key, wrapped)).decode(), 2**40)
    step = advance(PhoneState(), keyring.unseal(entry), NOW)
    assert step.state.cursor == 8  # it goes on behind it, whatever is in it
    assert len(step.effects) == 1


@each_ugly
def test_a_refusal_in_another_form_is_none(raw: bytes):
    refusal = read_refusal(httpx.Response(400, content=raw))
    assert refusal is None or isinstance(refusal.code, str)


@each_ugly
def test_the_client_says_that_the_reply_is_not_from_reflecto(raw: bytes):
    with pytest.raises(BrokenContract):
        decode(HttpReply(200, {}, raw), InteractionState)
    with pytest.raises(RefusedError) as raised:
        raise_refusal(HttpReply(400, {}, raw))
    assert raised.value.status == 400


@each_ugly
def test_a_request_is_refused_or_read(raw: bytes):
    found = result_or(ApiError, lambda: parse_object(raw))
    assert isinstance(found, dict) or found.spec.code == "invalid_json"


@each_ugly
def test_a_hook_s_input_is_refused_or_read(raw: bytes):
    found = result_or(UnusableEventError, lambda: parse_event(raw))
    assert isinstance(found, dict) or "the hook's input" in str(found)


@each_ugly
def test_an_agent_s_settings_are_refused_or_changed(raw: bytes):
    text = raw.decode("latin-1")
    found = result_or(UnusableSettingsError, lambda: installed_events(text, "claude-code"))
    added = result_or(UnusableSettingsError, lambda: add_hooks(text, "claude-code", {"Stop": {"hooks": []}}))
    assert isinstance(found, list) == isinstance(added, str)


@each_ugly
def test_a_state_file_is_refused_or_read(raw: bytes, tmp_path: Path):
    path = tmp_path / "state.json"
    path.write_bytes(raw)
    found = result_or(StateError, StateFile(path).load)
    assert isinstance(found, PhoneState) or str(path) in str(found)


def in_toml(depth: int) -> str:
    return f"url = {'[' * depth}{']' * depth}\n"


READERS_OF_TOML: Final[dict[str, tuple[Callable[[Path], object], type[Exception]]]] = {
    "the server's settings": (lambda path: load_settings({}, environ={}, config_file=path), ConfigError),
    "the client's file": (lambda path: read_client_file(path, is_required=True), click.UsageError),
}


@pytest.mark.parametrize("depth", DEPTHS[:-1])
@pytest.mark.parametrize(("read", "error"), READERS_OF_TOML.values(), ids=READERS_OF_TOML)
def test_settings_that_are_nested_too_deeply_are_named(
    read: Callable[[Path], object], error: type[Exception], depth: int, tmp_path: Path
):
    path = tmp_path / "file.toml"
    path.write_text(in_toml(depth))
    path.chmod(0o600)
    with pytest.raises(error):
        read(path)


def test_what_is_readable_is_read_as_it_was():
    assert read_json(b'{"id":"x","n":1.5,"list":[1,"\\u00e9"]}', dict[str, Any]) == json.loads(
        '{"id":"x","n":1.5,"list":[1,"\u00e9"]}'
    )


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"a": "[,{" * 10_000}),
        json.dumps({"a": '\\",[' * 10_000}),
        json.dumps({"a": "\\" * 20_001, "b": "," * 20_000}),
        json.dumps([0] * 9_999),
    ],
    ids=["marks in a text", "quotes in a text", "backslashes before the end of a text", "as many as there may be"],
)
def test_what_stands_in_texts_counts_as_no_value(text: str):
    check_values(text)


@pytest.mark.parametrize(
    "text", [json.dumps([0] * 10_002), json.dumps(["\\"] * 5_001), json.dumps([{}] * 5_001), '"' * 30_000]
)
def test_more_values_than_there_may_be_are_refused_with_the_bound(text: str):
    with pytest.raises(UnusableJsonError, match="has more than 10,000 values"):
        check_values(text)
