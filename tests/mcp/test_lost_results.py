"""Results that do not reach the agent: a repeated call prompts once, and what nobody waits for is withdrawn."""

import pytest
from mcp import MCPError

from reflecto.agents.kept_questions import KEEP_SECONDS
from tests.actors import Program
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.mcp.calling import QUESTION, calling, content, hold_to_the_end
from tests.mcp.conftest import Connect
from tests.mcp.tapping import Person


async def no_further_prompt(person: Person, sender: Program) -> None:
    """Check that the next thing the phone gets is what is sent now."""
    await sender.call("POST", "/v1/send", json={"message": "over"})
    await person.sees("notification")


async def lose_a_result(connect: Connect, person: Person, clock: FakeClock) -> str:
    """Ask, disconnect in the middle of the call, and return the question's id once the server has noticed."""
    async with connect() as client, calling(client, "ask_user", QUESTION):
        question_id = (await person.sees()).id
        await clock.until_waited_for(clock.now() + 20)
    await clock.until_waited_for(clock.now() + KEEP_SECONDS)
    return question_id


async def test_a_client_that_disconnects_leaves_no_question_behind(connect: Connect, person: Person, clock: FakeClock):
    question_id = await lose_a_result(connect, person, clock)
    clock.advance(KEEP_SECONDS)
    closed = await person.sees("interaction.closed")
    assert (closed.id, closed.payload["status"]) == (question_id, "cancelled")


async def test_the_same_call_after_a_lost_result_finds_the_question_instead_of_prompting_twice(
    connect: Connect, person: Person, clock: FakeClock, sender: Program
):
    question_id = await lose_a_result(connect, person, clock)
    async with connect() as client, calling(client, "ask_user", QUESTION) as call:
        await clock.until_waited_for(NOW + 20)
        clock.advance(19)
        await no_further_prompt(person, sender)
        await sender.read(question_id)
        await person.phone.answer(question_id, 0)
        result = content(await call)
    assert (result["id"], result["choice"]) == (question_id, "Approve")


async def test_an_answer_given_between_the_two_calls_is_not_lost(
    connect: Connect, person: Person, clock: FakeClock, sender: Program
):
    question_id = await lose_a_result(connect, person, clock)
    await person.phone.answer(question_id, 1)
    async with connect() as client:
        async with calling(client, "ask_user", QUESTION) as call:
            result = content(await call)
        assert (result["id"], result["choice"]) == (question_id, "Deny")
        await no_further_prompt(person, sender)


async def test_an_answer_is_handed_over_once_and_the_call_after_that_asks_anew(
    connect: Connect, person: Person, clock: FakeClock
):
    question_id = await lose_a_result(connect, person, clock)
    await person.phone.answer(question_id, 0)
    async with connect() as client:
        async with calling(client, "ask_user", QUESTION) as call:
            assert content(await call)["id"] == question_id
        async with calling(client, "ask_user", QUESTION) as call:
            prompt = await person.sees()
            assert prompt.id != question_id
            await person.taps(prompt, 1)
            assert content(await call)["choice"] == "Deny"


@pytest.mark.parametrize(
    "other",
    [{"question": "Drop table orders?"}, {"choices": ["Drop", "Keep"]}, {"expires_in": 900}],
    ids=["question", "choices", "end"],
)
async def test_another_question_is_never_taken_for_the_lost_one(
    connect: Connect, person: Person, clock: FakeClock, other: dict[str, object]
):
    question_id = await lose_a_result(connect, person, clock)
    async with connect() as client, calling(client, "ask_user", QUESTION | other):
        assert (await person.sees()).id != question_id


async def test_another_callers_question_is_never_taken_for_the_lost_one(
    connect: Connect, person: Person, clock: FakeClock
):
    question_id = await lose_a_result(connect, person, clock)
    stranger = await person.phone.new_token("other agent")
    async with connect(stranger.token) as client, calling(client, "ask_user", QUESTION):
        assert (await person.sees()).id != question_id


async def test_a_client_that_gives_up_and_repeats_the_call_prompts_once(
    connect: Connect, person: Person, clock: FakeClock, sender: Program
):
    async with connect() as client:
        with pytest.raises(MCPError, match=r"[Tt]imed out"):
            await client.call_tool("ask_user", QUESTION, read_timeout_seconds=0.3)
        prompt = await person.sees()
        await clock.until_waited_for(NOW + KEEP_SECONDS)
        async with calling(client, "ask_user", QUESTION) as call:
            await clock.until_waited_for(NOW + 20)
            await no_further_prompt(person, sender)
            await person.taps(prompt)
            assert content(await call)["id"] == prompt.id


async def test_a_question_handed_out_as_pending_stays_when_its_client_goes(
    connect: Connect, person: Person, clock: FakeClock
):
    async with connect() as client, calling(client, "ask_user", QUESTION) as call:
        prompt = await person.sees()
        await hold_to_the_end(clock)
        await call
    async with connect() as client, calling(client, "wait_for_answer", {"id": prompt.id}):
        await clock.until_waited_for(clock.now() + 20)
    clock.advance(KEEP_SECONDS + 1)
    async with connect() as client, calling(client, "wait_for_answer", {"id": prompt.id}) as call:
        await person.taps(prompt)
        assert content(await call)["choice"] == "Approve"
