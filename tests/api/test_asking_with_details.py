"""POST /v1/interactions with details, source, danger, confirm and comment: what they may be, and where they go."""

import json
from typing import Any, Final

import pytest

from reflecto.contract.devices import ANSWER_V2
from reflecto.contract.envelopes import Envelope
from reflecto.contract.limits import DETAILS_MAX_BYTES, QUESTION_BODY_MAX_BYTES
from reflecto.crypto.answers import question_digest
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.running import RunningServer
from tests.sync_reader import drain

CHOICES: Final = ["Approve", "Deny"]
COMMAND: Final = {"kind": "code", "language": "sh", "text": "rm -rf build\n"}
WHERE: Final = {"kind": "fields", "fields": [{"name": "Folder", "value": "~/shop"}]}
EVERYTHING: Final[dict[str, Any]] = {
    "details": [
        COMMAND,
        WHERE,
        {"kind": "diff", "label": "src/app.py", "text": "--- a\n+++ b\n"},
        {"kind": "text", "text": "Fusionner ? 🚀 \u0000\u2028"},
    ],
    "source": {"app": "Claude Code", "host": "laptop-17", "where": "~/shop", "session": "b7c2"},
    "danger": "high",
    "confirm": "hold",
    "comment": "optional",
}


@pytest.fixture
async def phone(server: RunningServer) -> DeviceActor:
    """The owner's first phone, which shows all that a question may bring."""
    return await enroll(server, features=[ANSWER_V2])


def code_block(text: str, **fields: Any) -> dict[str, Any]:
    """Return a block of code."""
    return {"kind": "code", "text": text} | fields


async def prompt_of(phone: DeviceActor, behind: int = 1) -> Envelope:
    """Return what the phone got behind the entry that brought its token."""
    (prompt,) = await drain(phone, 1, after=behind)
    return prompt


async def test_the_prompt_carries_each_field_as_it_was_given(phone: DeviceActor, sender: Program):
    question = await sender.ask_id("Run it?", **EVERYTHING)
    prompt = await prompt_of(phone)
    assert (prompt.id, prompt.source) == (question, {"token": "Default", "token_id": sender.id, "colour": "teal"})
    assert prompt.payload == {"question": "Run it?", "choices": CHOICES, "expires_at": NOW + 600} | EVERYTHING


@pytest.mark.parametrize(
    "given",
    [
        {"details": []},
        {"source": {}},
        {"danger": "normal"},
        {"confirm": "tap"},
        {"comment": "none"},
        {"details": [WHERE], "source": {"host": "laptop-17"}},
        EVERYTHING,
    ],
    ids="+".join,
)
async def test_what_was_given_is_in_prompt_and_digest_also_where_it_says_what_goes_without_saying(
    phone: DeviceActor, sender: Program, given: dict[str, Any]
):
    question = await sender.ask_id("Run it?", **given)
    assert (await prompt_of(phone)).payload == {
        "question": "Run it?",
        "choices": CHOICES,
        "expires_at": NOW + 600,
    } | given
    state = (await sender.read(question)).json()
    assert state["digest"] == question_digest("Run it?", CHOICES, **given)
    assert state.keys().isdisjoint(EVERYTHING)


async def test_a_question_with_none_of_them_is_what_it_was(phone: DeviceActor, sender: Program):
    question = await sender.ask_id("Run it?", tether=60)
    assert (await prompt_of(phone)).payload == {"question": "Run it?", "choices": CHOICES, "expires_at": NOW + 600}
    assert "digest" not in (await sender.read(question)).json()


@pytest.mark.parametrize("changed", EVERYTHING, ids=str)
async def test_without_a_key_each_field_tells_one_question_from_another(sender: Program, changed: str):
    first = await sender.ask_id("Run it?", **EVERYTHING)
    again = await sender.ask("Run it?", **EVERYTHING, tether=5, expires_in=60)
    assert (again.status_code, again.json()["id"]) == (200, first)
    others = {"details": [WHERE], "source": {}, "danger": "normal", "confirm": "tap", "comment": "none"}
    for other in (EVERYTHING | {changed: others[changed]}, {k: v for k, v in EVERYTHING.items() if k != changed}):
        different = await sender.ask("Run it?", **other)
        assert (different.status_code, different.json()["id"] == first) == (201, False)


async def test_under_a_key_other_details_are_a_mismatch(sender: Program):
    first = await sender.ask_id("Run it?", details=[COMMAND], idempotency_key="run")
    again = await sender.ask("Run it?", details=[WHERE], idempotency_key="run")
    assert (again.status_code, again.json()["id"]) == (200, first)
    assert again.headers["idempotency-mismatch"] == "true"


async def test_the_order_of_members_makes_no_other_question(sender: Program):
    first = await sender.ask_id("Run it?", details=[COMMAND])
    again = await sender.ask("Run it?", details=[dict(reversed(COMMAND.items()))])
    assert (again.status_code, again.json()["id"]) == (200, first)


def filled(size: int, letter: str = "x") -> list[dict[str, Any]]:
    """Return details of exactly so many bytes as canonical JSON."""
    rest = size - len(json.dumps([code_block("")], separators=(",", ":")))
    count, left = divmod(rest, len(letter.encode()))
    return [code_block(letter * count + "y" * left)]


@pytest.mark.parametrize("letter", ["x", "é", "🚀"])
async def test_details_of_48_kib_arrive_whole_and_one_byte_more_is_refused(
    server: RunningServer, phone: DeviceActor, sender: Program, letter: str
):
    whole = filled(DETAILS_MAX_BYTES, letter)
    await sender.ask_id("Run it?", details=whole)
    assert (await prompt_of(phone)).payload["details"] == whole
    refused = await sender.ask("And this?", details=filled(DETAILS_MAX_BYTES + 1, letter))
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (400, "invalid_details")
    assert error["details"] == {"bytes": DETAILS_MAX_BYTES + 1, "max": DETAILS_MAX_BYTES}
    assert len(await server.services.store.list_pending(sender.id, NOW)) == 1


async def test_the_same_48_kib_may_come_escaped_in_320_kib(phone: DeviceActor, sender: Program):
    details = filled(DETAILS_MAX_BYTES, "x")
    escaped = "".join(f"\\u{ord(char):04x}" for char in details[0]["text"])
    body = f'{{"question": "Run it?", "details": [{{"kind": "code", "text": "{escaped}"}}]}}'.encode()
    assert 6 * (DETAILS_MAX_BYTES - 50) < len(body) < QUESTION_BODY_MAX_BYTES
    headers = {"content-type": "application/json"}
    asked = await sender.call("POST", "/v1/interactions", content=body, headers=headers)
    assert asked.status_code == 201
    assert (await prompt_of(phone)).payload["details"] == details
    padded = body + b" " * (QUESTION_BODY_MAX_BYTES + 1 - len(body))
    refused = await sender.call("POST", "/v1/interactions", content=padded, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "payload_too_large")
    assert refused.json()["error"]["details"] == {"size": len(padded), "max": QUESTION_BODY_MAX_BYTES}


@pytest.mark.parametrize(
    "details",
    [
        None,
        {},
        "text",
        [None],
        ["text"],
        [[]],
        [{}],
        [{"text": "no kind"}],
        [{"kind": "html", "text": "<b>"}],
        [{"kind": 1, "text": ""}],
        [{"kind": "code"}],
        [{"kind": "code", "text": None}],
        [{"kind": "code", "text": 1}],
        [code_block("", label=None)],
        [code_block("", language=7)],
        [code_block("", label="é" * 101)],
        [code_block("", language="é" * 21)],
        [code_block("", size=1)],
        [code_block("", note="nobody would see it, and it would be signed")],
        [code_block("", fields=[])],
        [{"kind": "fields"}],
        [{"kind": "fields", "fields": {}}],
        [{"kind": "fields", "fields": [{"name": "a"}]}],
        [{"kind": "fields", "fields": [{"value": "a"}]}],
        [{"kind": "fields", "fields": [{"name": "a", "value": 1}]}],
        [{"kind": "fields", "fields": [{"name": "a", "value": True}]}],
        [{"kind": "fields", "fields": [{"name": "é" * 31, "value": ""}]}],
        [{"kind": "fields", "fields": [{"name": "a", "value": "é" * 251}]}],
        [{"kind": "fields", "fields": [{"name": "a", "value": "b", "more": "c"}]}],
        [{"kind": "fields", "fields": [{"name": "a", "value": "b"}] * 21}],
        [{"kind": "fields", "fields": [], "label": "Where"}],
        [COMMAND] * 13,
    ],
)
async def test_details_of_another_form_are_refused_and_nothing_is_stored(
    server: RunningServer, sender: Program, details: Any
):
    refused = await sender.ask("Run it?", details=details)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_details")
    assert set(refused.json()["error"]) == {"code", "message"}
    assert await server.services.store.list_pending(sender.id, NOW) == []


async def test_details_at_every_bound_are_taken(phone: DeviceActor, sender: Program):
    table = {"kind": "fields", "fields": [{"name": "é" * 30, "value": "é" * 250}] * 20}
    details = [code_block("", label="é" * 100, language="é" * 20), *[table] * 3, *[code_block("x")] * 8]
    assert len(details) == 12
    await sender.ask_id("Run it?", details=details)
    assert (await prompt_of(phone)).payload["details"] == details


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"source": None}, "invalid_source"),
        ({"source": []}, "invalid_source"),
        ({"source": "me"}, "invalid_source"),
        ({"source": {"app": None}}, "invalid_source"),
        ({"source": {"host": 1}}, "invalid_source"),
        ({"source": {"app": "é" * 51}}, "invalid_source"),
        ({"source": {"session": "x" * 101}}, "invalid_source"),
        ({"source": {"user": "ana"}}, "invalid_source"),
        *(({"danger": each}, "invalid_danger") for each in (None, "", "low", "High", 1, ["high"])),
        *(({"confirm": each}, "invalid_confirm") for each in (None, "", "press", "NUMBER", True, 2)),
        *(({"comment": each}, "invalid_comment") for each in (None, "", "required", True, {"text": "a"})),
        ({"details": 1, "source": 1, "danger": 1}, "invalid_details"),
        ({"confirm": 1, "comment": 1}, "invalid_confirm"),
    ],
)
async def test_another_field_out_of_bounds_is_named(sender: Program, fields: dict[str, Any], code: str):
    refused = await sender.ask("Run it?", **fields)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)


async def test_a_source_at_its_bounds_is_taken(phone: DeviceActor, sender: Program):
    source = dict.fromkeys(("app", "host", "where", "session"), "é" * 50)
    await sender.ask_id("Run it?", source=source)
    assert (await prompt_of(phone)).payload["source"] == source


async def test_what_was_given_is_sealed_in_the_store_and_its_digest_too(server: RunningServer, sender: Program):
    question = await sender.ask_id("Run it?", **EVERYTHING)
    kept = await server.services.store.find_interaction(question, NOW)
    digest = question_digest("Run it?", CHOICES, **EVERYTHING)
    assert kept is not None
    for told in (b"rm -rf build", b"laptop-17", digest.encode(), bytes.fromhex(digest)):
        for column in (kept.sealed, kept.repeat_mark, kept.content_mark):
            assert told not in column
