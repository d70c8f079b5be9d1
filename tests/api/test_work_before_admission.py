"""What a request costs before it is refused: nobody's body is read for nothing, and none is walked in full length."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflecto.agents import shown
from reflecto.agents.claude_code import read_call
from reflecto.api import long_bodies, pushover_fields
from reflecto.api.operations import hooks
from reflecto.contract import json_text
from reflecto.contract.json_bodies import UnusableJsonError
from reflecto.contract.limits import DETAILS_MAX_BYTES, JSON_VALUES_MAX, QUESTION_MAX_CHARS, SELECTOR_NAMES_MAX
from reflecto.contract.visibility import visible
from reflecto.core import targets
from reflecto.core.pushover import TAGS_READ, tags_of
from tests.actors import DeviceActor, Program
from tests.api.limited import assert_limited, limited
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.running import RunningServer

HOOK = "/hooks/claude-code"
HUGE = 4_000_000
NO_BREAK_SPACE = "\u00a0"
WRONG = "rfk_live_" + "b" * 32


async def test_bodies_of_which_nothing_comes_take_no_room_from_others(server: RunningServer, sender: Program):
    head = b"POST /1/messages.json HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    waiting = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(16)]
    try:
        async with asyncio.timeout(BOUND_SECONDS):
            for reader, writer in waiting:
                writer.write(head)
                assert b"100 Continue" in await reader.readline()
        fields = {"token": sender.token, "message": "m", "attachment_base64": "A" * 100_000}
        assert (await server.http.post("/1/messages.json", data=fields)).json()["status"] == 1
    finally:
        for _, writer in waiting:
            writer.close()


async def test_what_has_come_of_large_bodies_is_bounded_and_counted_until_they_end(
    server: RunningServer, sender: Program, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pushover_fields, "HELD_MAX_BYTES", 100_000)
    fields = {"token": sender.token, "message": "m", "attachment_base64": "A" * 150_000}
    for _ in range(3):
        assert (await server.http.post("/1/messages.json", data=fields)).status_code == 200
    refused = await server.http.post("/1/messages.json", data={**fields, "attachment_base64": "A" * 200_000})
    assert (refused.status_code, refused.json()["errors"]) == (503, ["unavailable"])
    assert "retry-after" in refused.headers
    assert (await server.http.post("/1/messages.json", data=fields)).status_code == 200


async def reply_to_a_head(server: RunningServer, token: str, path: str = HOOK) -> bytes:
    """Announce a body of 4 MB, send none of it, and return the reply that comes nevertheless."""
    head = f"POST {path} HTTP/1.1\r\nHost: reflecto\r\nAuthorization: Bearer {token}\r\nContent-Length: {HUGE}\r\n\r\n"
    async with asyncio.timeout(BOUND_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head.encode())
        status = await reader.readline()
        writer.close()
    return status


async def test_an_unknown_token_is_refused_before_the_body_comes(server: RunningServer):
    assert b" 401 " in await reply_to_a_head(server, WRONG)


async def test_a_token_that_may_neither_ask_nor_send_is_refused_before_the_body_comes(
    server: RunningServer, phone: DeviceActor
):
    narrow = await phone.new_token(scopes=["ring"])
    assert b" 403 " in await reply_to_a_head(server, narrow.token)


@pytest.mark.parametrize("layer", ["token_burst", "token_monthly", "receiver_daily"])
async def test_a_token_with_nothing_left_is_refused_before_the_body_comes(tmp_path: Path, clock: FakeClock, layer: str):
    layers: dict[str, Any] = {layer: 1}
    async with limited(tmp_path, clock, **layers) as world:
        assert (await world.sender.send()).status_code == 200
        assert b" 429 " in await reply_to_a_head(world.server, world.sender.token)


async def test_a_hook_that_is_refused_for_its_limit_counts_nothing(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=1) as world:
        await world.sender.send()
        for _ in range(3):
            assert_limited(await world.sender.call("POST", HOOK, json={}), "token_burst", retry_after=60)
        clock.advance(60)
        assert (await world.sender.send()).status_code == 200


class Work:
    """Counts the characters that a function is given."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self._work = work
        self.chars = 0

    def __call__(self, text: str, **options: Any) -> Any:
        self.chars += len(text)
        return self._work(text, **options)


# What a person may see is looked at once, to know how much of it can be shown; the 30 are for the shorter texts around.
LOOKED_AT_MAX = DETAILS_MAX_BYTES + 30 * QUESTION_MAX_CHARS
UGLY = NO_BREAK_SPACE * 1_900_000
GROWING = "\x01" * 49_000  # nearly what can be shown, and twelve times that once it is written out
LINES = "\u00a0\n" * 10_000
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467" * 4_800
OPTIONS = [{"label": "a"}, {"label": "b"}]
PATCH = "\n".join(["*** Begin Patch", "*** Add File: a", "+" + LINES.replace("\n", "\n+"), "*** End Patch"])
EVENTS: dict[str, dict[str, Any]] = {
    "a field": {"tool_input": {"command": UGLY}},
    "a field nobody knows": {"tool_input": {"x": UGLY}},
    "a name": {"tool_input": {UGLY: 1}},
    "a list": {"tool_input": {"x": [UGLY]}},
    "the tool": {"tool_name": UGLY},
    "the folder": {"cwd": UGLY},
    "the subagent": {"agent_type": UGLY},
    "a question": {"questions": [{"question": UGLY, "options": OPTIONS}]},
    "a header": {"questions": [{"question": "q", "header": UGLY, "options": OPTIONS}]},
    "a label": {"questions": [{"question": "q", "options": [{"label": UGLY}, *OPTIONS]}]},
    "a description": {"questions": [{"question": "q", "options": [{"label": "c", "description": UGLY}, *OPTIONS]}]},
    "a notice": {"hook_event_name": "Notification", "message": UGLY},
    "a notice's title": {"hook_event_name": "Notification", "title": UGLY, "message": "m"},
    "a last message": {"hook_event_name": "Stop", "last_assistant_message": UGLY},
    "a subagent's end": {"hook_event_name": "SubagentStop", "agent_type": UGLY},
    "a folder's end": {"hook_event_name": "Stop", "cwd": UGLY},
    "a growing field": {"tool_input": {"command": GROWING}},
    "a growing folder": {"cwd": GROWING},
    "growing lines": {"tool_input": {"command": LINES}},
    "signs of several characters": {"tool_input": {"command": FAMILY}},
    "a file": {"tool_name": "Write", "tool_input": {"file_path": "/a", "content": GROWING}},
    "an edit": {"tool_name": "Edit", "tool_input": {"file_path": "/a", "old_string": LINES, "new_string": FAMILY}},
    "a patch": {"tool_name": "apply_patch", "tool_input": {"command": PATCH}},
    "many fields": {"tool_input": {f"{number}": UGLY[:60_000] for number in range(30)}},
    "many short fields": {"tool_input": {f"{UGLY[:100]}{number}": UGLY[:80] for number in range(9_000)}},
    "many fields of many lines": {"tool_input": {f"{number}": LINES for number in range(30)}},
    "many lists": {"tool_input": {f"{UGLY[:100]}{number}": [UGLY[:400]] for number in range(3_000)}},
    "many folders": {"hook_event_name": "Stop", "cwd": "a/" * 1_000_000},
}


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_an_event_is_clipped_before_it_is_walked(event: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    walked = Work(visible)
    monkeypatch.setattr(shown, "visible", walked)
    whole = {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {}, "cwd": "/a"} | event
    if "questions" in event:
        asked = {"tool_input": {"questions": event["questions"]}}
        whole |= {"hook_event_name": "PreToolUse", "tool_name": "AskUserQuestion"} | asked
    read_call(whole)
    assert walked.chars < LOOKED_AT_MAX


def test_a_clipped_event_says_how_much_of_it_is_not_shown():
    event = {"hook_event_name": "PermissionRequest", "tool_name": "Write", "cwd": "/a", "tool_input": {"content": UGLY}}
    prompt = read_call(event).prompts[0]
    seen = sum(str(block.get("text")).count("\u2039U+00A0\u203a") for block in prompt.given["details"])
    assert seen > 3_000
    assert prompt.question == f"Use Write? {1_900_000 - seen:,} characters are left out."
    assert prompt.plain is not None
    plain = prompt.plain.question
    assert len(plain) <= QUESTION_MAX_CHARS
    left_out = 1_900_000 - plain.count("\u2039U+00A0\u203a")
    assert plain.startswith(f"NOT WHOLE: {left_out:,} of 1,900,011 characters are left out.\n")


async def test_a_long_body_is_worked_on_outside_the_event_loop(sender: Program, monkeypatch: pytest.MonkeyPatch):
    threads: list[bool] = []

    def read(event: Any, skipped: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return read_call(event, skipped)

    monkeypatch.setattr(hooks, "read_call", read)
    for length in (10, long_bodies.INLINE_MAX_BYTES):
        event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "x" * length}}
        assert (await sender.call("POST", HOOK, json=event)).json() == {}
    assert threads == [True, False]


TOO_MANY = "[" + "[]," * JSON_VALUES_MAX + "0]"
BODIES: list[tuple[str, str]] = [
    ("/v1/send", '{"message": "m", "x": %s}'),
    ("/v1/interactions", '{"question": "q", "x": %s}'),
    ("/v1/documents", '{"filename": "a.txt", "content": "c", "x": %s}'),
    ("/v1/reminders", '{"message": "m", "x": %s}'),
    (HOOK, '{"hook_event_name": "Stop", "x": %s}'),
    ("/mcp", '{"jsonrpc": "2.0", "id": 1, "method": "ping", "x": %s}'),
]


@pytest.mark.parametrize(("path", "body"), BODIES)
async def test_json_of_too_many_values_is_refused_before_any_parser_makes_them(
    sender: Program, path: str, body: str, monkeypatch: pytest.MonkeyPatch
):
    parsed: list[str] = []
    monkeypatch.setattr(json, "loads", lambda text, **_: parsed.append(text))
    refused = await sender.call("POST", path, content=body % TOO_MANY, headers={"content-type": "application/json"})
    monkeypatch.undo()
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_json")
    assert "more than 10,000 values" in refused.json()["error"]["message"]
    assert parsed == []


async def test_a_relay_of_too_many_values_is_refused_too(phone: DeviceActor):
    refused = await phone.call("POST", "/v1/relay", content=f'{{"to": [], "blobs": {TOO_MANY}}}')
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_json")


def test_what_stands_inside_a_text_is_no_value():
    content = '[{,"' * JSON_VALUES_MAX
    assert json_text.parse_strictly(json.dumps({"content": content}).encode()) == {"content": content}


def test_numbers_of_many_digits_inside_a_text_are_none():
    content = "1e300 " * JSON_VALUES_MAX
    assert json_text.parse_strictly(json.dumps({"content": content}).encode()) == {"content": content}


def test_a_large_number_stays_as_short_as_it_was_written():
    # As a whole number it has 309 digits, and 10,000 of those take a while.
    assert [type(each) for each in json_text.parse_strictly(b'{"x": [1e308, 1e18, 600.0]}')["x"]] == [float, int, int]


def test_the_key_given_twice_is_found_among_many_in_one_pass():
    class Name(str):
        __slots__ = ()
        compared = 0

        def __eq__(self, other: object) -> bool:
            Name.compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    names = [Name(number) for number in range(2_000)]
    with pytest.raises(UnusableJsonError, match="'1999' twice"):
        json_text.unique_pairs([(name, 0) for name in [*names, Name(1_999)]])
    assert Name.compared < 10_000


@pytest.mark.parametrize("path", ["/v1/send", "/v1/documents", "/v1/reminders"])
async def test_a_selector_of_countless_names_is_refused_before_devices_are_looked_at(
    sender: Program, clock: FakeClock, path: str, monkeypatch: pytest.MonkeyPatch
):
    looked = Work(str.casefold)
    monkeypatch.setattr(targets, "_fold", looked)
    fields = {"message": "m", "filename": "a.txt", "content": "c", "at": int(clock.now()) + 600}
    for selector in (",".join(map(str, range(SELECTOR_NAMES_MAX + 1))), "a" * 4_097):
        refused = await sender.call("POST", path, json=fields | {"device": selector})
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_device")
    assert looked.chars == 0


async def test_of_countless_names_from_a_client_of_pushovers_the_first_are_looked_for(
    phone: DeviceActor, sender: Program, monkeypatch: pytest.MonkeyPatch
):
    looked = Work(targets._fold)  # noqa: SLF001 -- what a look at a device costs
    monkeypatch.setattr(targets, "_fold", looked)
    fields = {"token": sender.token, "user": "u", "message": "m", "device": ",".join(map(str, range(10_000)))}
    sent = await phone.http.post("/1/messages.json", data=fields)
    assert (sent.status_code, sent.json()["status"]) == (200, 1)
    assert looked.chars < 10_000


async def test_a_name_that_is_said_often_is_looked_for_once(sender: Program):
    sent = await sender.send(device=",".join(["nobody"] * 500))
    assert [warning["code"] for warning in sent.json()["warnings"]] == ["unknown_device"]


async def test_of_a_query_only_as_many_fields_count_as_any_call_has(sender: Program):
    padding = "&".join(["a"] * 63)
    asked = await sender.ask_id()
    assert (await sender.call("GET", f"/v1/interactions/{asked}?{padding}&wait=x")).status_code == 400
    assert (await sender.call("GET", f"/v1/interactions/{asked}?{padding}&a&wait=x")).status_code == 200


@pytest.mark.parametrize("given", ["a," * 160_000, ["a"] * 9_000])
def test_of_countless_tags_of_an_emergency_the_first_are_looked_at(given: object):
    assert tags_of(given) == ["a"] * TAGS_READ


async def test_an_emergency_of_countless_tags_is_sent_with_a_warning(sender: Program):
    fields = {"token": sender.token, "message": "m", "priority": 2, "retry": 60, "expire": 60, "tags": "a," * 160_000}
    sent = await sender.http.post("/1/messages.json", json=fields)
    assert [warning["code"] for warning in sent.json()["warnings"]] == ["tags_trimmed"]
