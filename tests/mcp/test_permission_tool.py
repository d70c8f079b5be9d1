"""`approve_tool_use`, which `claude -p --permission-prompt-tool` calls: one text that allows or denies, whatever."""

import json
from typing import Any

from tests.actors import DeviceActor, Program
from tests.fakes import FakeClock
from tests.mcp.calling import calling
from tests.mcp.conftest import Connect
from tests.mcp.tapping import Person

INPUT = {"command": "npm publish", "description": "Publish"}
ASKED = {"tool_name": "Bash", "input": INPUT, "tool_use_id": "toolu_1", "something_new": 1}


def decision_of(result: Any) -> Any:
    """Return the one text as JSON, as Claude Code reads it."""
    (block,) = result.content
    assert (block.type, result.structured_content, result.is_error) == ("text", None, False)
    return json.loads(block.text)


async def test_a_tap_on_allow_runs_it_with_the_input_that_was_shown(connect: Connect, person: Person):
    async with connect() as client, calling(client, "approve_tool_use", ASKED) as call:
        prompt = await person.sees()
        assert (prompt.payload["question"], prompt.payload["source"]["app"]) == ("Run a command?", "Claude Code")
        assert "npm publish" in [block.get("text") for block in prompt.payload["details"]]
        assert prompt.payload["choices"] == ["Allow", "Deny"]
        await person.taps(prompt, 0)
        assert decision_of(await call) == {"behavior": "allow", "updatedInput": INPUT}


async def test_a_tap_on_deny_says_so_in_words(connect: Connect, person: Person):
    async with connect() as client, calling(client, "approve_tool_use", ASKED) as call:
        await person.taps(await person.sees(), 1)
        decision = decision_of(await call)
    assert (decision["behavior"], "denied" in decision["message"]) == ("deny", True)


async def test_the_word_with_a_denial_is_what_the_agent_reads(connect: Connect, person: Person):
    async with connect() as client, calling(client, "approve_tool_use", ASKED) as call:
        await person.taps(await person.sees(), 1, says="Publish a beta first")
        decision = decision_of(await call)
    assert (decision["behavior"], "says: Publish a beta first" in decision["message"]) == ("deny", True)


async def test_a_phone_that_does_not_know_details_is_asked_in_one_text(
    connect: Connect, person: Person, phone: DeviceActor
):
    assert (await phone.call("PATCH", "/v1/devices/self", json={"features": []})).status_code == 200
    async with connect() as client, calling(client, "approve_tool_use", ASKED) as call:
        prompt = await person.sees()
        assert "npm publish" in prompt.payload["question"]
        assert "details" not in prompt.payload
        await person.taps(prompt, 0)
        assert decision_of(await call) == {"behavior": "allow", "updatedInput": INPUT}


async def test_silence_is_a_denial_with_words_and_leaves_nothing_on_the_phone(
    connect: Connect, person: Person, clock: FakeClock
):
    async with connect() as client, calling(client, "approve_tool_use", ASKED) as call:
        await person.sees()
        await clock.until_waited_for(clock.now() + 20)
        clock.advance(600)
        decision = decision_of(await call)
    assert decision["behavior"] == "deny"
    assert "silence is not consent" in decision["message"]


async def test_what_was_withdrawn_is_denied(connect: Connect, person: Person, sender: Program):
    async with connect() as client, calling(client, "approve_tool_use", ASKED) as call:
        await sender.cancel((await person.sees()).id)
        assert decision_of(await call)["behavior"] == "deny"


async def test_where_nobody_can_be_asked_it_is_denied_with_the_reason(connect: Connect, sender: Program):
    for number in range(10):
        await sender.ask_id(f"Question {number}?")
    async with connect() as client:
        decision = decision_of(await client.call_tool("approve_tool_use", ASKED))
    assert decision["behavior"] == "deny"
    assert "already waiting" in decision["message"]
