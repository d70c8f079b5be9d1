"""`ask_user` with what the person has to see: details, a number, a word."""

from typing import Any, Final

import pytest

from reflecto.agents.asked_here import QUESTIONS_MAX, AskedHere
from reflecto.client.results import Question
from tests.actors import Program
from tests.fakes import FakeClock
from tests.mcp.calling import calling, content, error_text, hold_to_the_end
from tests.mcp.conftest import Connect
from tests.mcp.tapping import Person
from tests.mcp.test_stdio import SHORT_HOLD, started
from tests.running import RunningServer

ASKED: Final[dict[str, Any]] = {
    "question": "Run this on db1?",
    "details": [
        {"kind": "code", "language": "sql", "text": "DROP TABLE users;"},
        {"kind": "fields", "fields": [{"name": "Rows", "value": "48,112"}]},
    ],
    "source": {"app": "An agent", "where": "~/shop"},
    "danger": "high",
    "comment": "optional",
}


async def test_all_of_it_comes_to_the_phone_and_the_word_back_to_the_agent(connect: Connect, person: Person):
    async with connect() as client, calling(client, "ask_user", ASKED) as call:
        prompt = await person.sees()
        assert {name: prompt.payload[name] for name in ASKED} == ASKED
        await person.taps(prompt, 1, says="Back it up first")
        result = content(await call)
    assert (result["choice"], result["comment"], result["receipt_verified"], result["verified"]) == (
        "Deny",
        "Back it up first",
        True,
        True,
    )
    assert "said: 'Back it up first'" in result["next_step"]


async def test_a_number_is_in_the_result_at_once_and_only_with_it_the_answer_is_the_first_choice(
    connect: Connect, person: Person
):
    async with connect() as client:
        pending = content(await client.call_tool("ask_user", {"question": "Drop?", "confirm": "number"}))
        number = pending["confirm_number"]
        assert (pending["status"], len(number), number in pending["next_step"]) == ("pending", 2, True)
        prompt = await person.sees()
        assert set(prompt.payload) == {"question", "choices", "expires_at", "confirm"}
        async with calling(client, "wait_for_answer", {"id": pending["id"]}) as call:
            await person.taps(prompt, 0, number=number)
            result = content(await call)
    assert (result["choice"], result["confirm_number"], result["verified"]) == ("Approve", None, False)


async def test_beside_the_agent_a_later_call_still_knows_what_was_asked(
    server: RunningServer, sender: Program, person: Person
):
    async with started(server, sender.token, SHORT_HOLD) as client:
        pending = content(await client.call_tool("ask_user", ASKED | {"confirm": "number"}))
        prompt = await person.sees()
        async with calling(client, "wait_for_answer", {"id": prompt.id}) as call:
            assert content(await call)["confirm_number"] == pending["confirm_number"]
        await person.taps(prompt, 0, number=pending["confirm_number"], says="Go")
        async with calling(client, "wait_for_answer", {"id": prompt.id}) as call:
            result = content(await call)
    assert (result["choice"], result["comment"], result["verified"]) == ("Approve", "Go", True)


async def test_the_same_call_again_finds_a_question_only_with_the_same_details(
    connect: Connect, person: Person, clock: FakeClock
):
    async with connect() as client, calling(client, "ask_user", ASKED) as call:
        first = await person.sees()
        await hold_to_the_end(clock)
        assert content(await call)["status"] == "pending"
        async with calling(client, "ask_user", ASKED | {"danger": "normal"}):
            assert (await person.sees()).id != first.id


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"details": [{"kind": "film", "text": "x"}]}, "invalid_arguments"),
        ({"details": [{"kind": "text", "text": "x" * 50_000}]}, "invalid_details"),
        ({"confirm": "wink"}, "invalid_arguments"),
    ],
    ids=["kind", "size", "confirm"],
)
async def test_what_cannot_be_shown_asks_nobody(connect: Connect, wrong: dict[str, Any], told: str):
    async with connect() as client:
        result = await client.call_tool("ask_user", ASKED | wrong)
    assert error_text(result).startswith(told)


def test_only_the_newest_questions_are_remembered():
    asked = AskedHere()
    for number in range(QUESTIONS_MAX + 1):
        asked.keep(Question(f"int_{number}", "?", ("a", "b"), 1, replayed=False, deadline=1.0))

    assert asked.find("int_0") == "int_0"
    assert isinstance(asked.find("int_1"), Question)
