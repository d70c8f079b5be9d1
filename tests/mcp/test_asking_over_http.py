"""ask_user and wait_for_answer over `/mcp`, with the official client of both generations of the protocol."""

import pytest

from tests.actors import DeviceActor, Program
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.mcp.calling import QUESTION, Progress, calling, content, error_text, hold_to_the_end
from tests.mcp.conftest import Connect
from tests.mcp.tapping import Person


async def test_a_tap_on_the_phone_is_the_tools_result(connect: Connect, person: Person):
    async with connect() as client, calling(client, "ask_user", QUESTION | {"choices": ["Drop", "Keep"]}) as call:
        prompt = await person.sees()
        assert (prompt.payload["question"], prompt.payload["choices"]) == ("Drop table users?", ["Drop", "Keep"])
        await person.taps(prompt, 1)
        result = content(await call)
    assert result == {
        "status": "answered",
        "id": prompt.id,
        "choice": "Keep",
        "choice_index": 1,
        "answered_by": "Pixel",
        "answered_at": NOW,
        "comment": None,
        "receipt_verified": True,
        "verified": True,
        "confirm_number": None,
        "poll_after_s": None,
        "next_step": "The person tapped 'Keep'. Act on exactly that choice.",
    }


async def test_without_a_tap_the_call_returns_before_a_client_gives_up_at_60_seconds_and_tells_how_to_go_on(
    connect: Connect, person: Person, clock: FakeClock
):
    async with connect() as client, calling(client, "ask_user", QUESTION) as call:
        prompt = await person.sees()
        await hold_to_the_end(clock)
        result = content(await call)
        assert clock.now() == NOW + 50
        assert (result["status"], result["id"], result["choice"], result["poll_after_s"]) == (
            "pending",
            prompt.id,
            None,
            1,
        )
        assert "silence is never consent" in result["next_step"]
        assert "wait_for_answer" in result["next_step"]


async def test_waiting_goes_on_with_the_id_as_often_as_it_takes(connect: Connect, person: Person, clock: FakeClock):
    async with connect() as client:
        async with calling(client, "ask_user", QUESTION) as call:
            prompt = await person.sees()
            await hold_to_the_end(clock)
            asked = content(await call)
        async with calling(client, "wait_for_answer", {"id": asked["id"]}) as call:
            await hold_to_the_end(clock)
            assert content(await call)["status"] == "pending"
        async with calling(client, "wait_for_answer", {"id": asked["id"]}) as call:
            await clock.until_waited_for(clock.now() + 20)
            await person.taps(prompt)
            assert (content(await call)["status"], content(await call)["choice"]) == ("answered", "Approve")


async def test_progress_comes_every_20_seconds_and_always_increases(connect: Connect, person: Person, clock: FakeClock):
    progress = Progress()
    async with connect() as client, calling(client, "ask_user", QUESTION, progress_callback=progress.take) as call:
        await person.sees()
        await hold_to_the_end(clock)
        await call
    assert [seconds for seconds, _, _ in progress.reports] == [0, 20, 40]
    assert {total for _, total, _ in progress.reports} == {None}
    assert progress.reports[0][2] == "The question is on the person's phone"


async def test_an_expired_question_is_no_approval(connect: Connect, person: Person, clock: FakeClock):
    async with connect() as client:
        async with calling(client, "ask_user", QUESTION | {"expires_in": 60}) as call:
            await person.sees()
            await hold_to_the_end(clock)
            question_id = content(await call)["id"]
        async with calling(client, "wait_for_answer", {"id": question_id}) as call:
            await clock.until_waited_for(NOW + 60, 2)  # the chores wait for that too
            clock.advance_to(NOW + 60)
            result = content(await call)
    assert (result["status"], result["choice"]) == ("expired", None)
    assert "not approval" in result["next_step"]


async def test_a_withdrawn_question_is_no_approval(connect: Connect, person: Person, sender: Program):
    async with connect() as client, calling(client, "ask_user", QUESTION) as call:
        prompt = await person.sees()
        await sender.cancel(prompt.id)
        result = content(await call)
    assert (result["status"], result["choice"]) == ("cancelled", None)
    assert "not approval" in result["next_step"]


async def test_two_asks_at_once_are_two_questions_even_with_the_same_words(connect: Connect, person: Person):
    async with (
        connect() as one,
        connect() as other,
        calling(one, "ask_user", QUESTION) as first,
        calling(other, "ask_user", QUESTION) as second,
    ):
        prompts = [await person.sees(), await person.sees()]
        assert prompts[0].id != prompts[1].id
        await person.taps(prompts[0], 0)
        await person.taps(prompts[1], 1)
        results = [content(await first), content(await second)]
    assert {(result["id"], result["choice"]) for result in results} == {
        (prompts[0].id, "Approve"),
        (prompts[1].id, "Deny"),
    }


async def test_the_same_question_after_its_answer_is_asked_anew(connect: Connect, person: Person):
    async with connect() as client:
        for index in (0, 1):
            async with calling(client, "ask_user", QUESTION) as call:
                prompt = await person.sees()
                await person.taps(prompt, index)
                assert content(await call)["choice_index"] == index


async def test_cancel_question_withdraws_it_from_the_phone(connect: Connect, person: Person, sender: Program):
    async with connect() as client:
        question_id = await sender.ask_id()
        await person.sees()
        async with calling(client, "cancel_question", {"id": question_id}) as call:
            assert content(await call)["status"] == "cancelled"
    closed = await person.sees("interaction.closed")
    assert (closed.id, closed.payload["status"]) == (question_id, "cancelled")


async def test_cancel_question_after_the_tap_tells_the_choice(connect: Connect, phone: DeviceActor, sender: Program):
    question_id = await sender.ask_id()
    await phone.answer(question_id, 1)
    async with connect() as client, calling(client, "cancel_question", {"id": question_id}) as call:
        result = content(await call)
    assert (result["status"], result["choice"]) == ("answered", "Deny")


@pytest.mark.parametrize("tool", ["wait_for_answer", "cancel_question"])
async def test_a_question_that_is_not_the_callers_is_not_found(connect: Connect, phone: DeviceActor, tool: str):
    others = await (await phone.new_token("other")).ask_id()
    async with connect() as client, calling(client, tool, {"id": others}) as call:
        error = error_text(await call)
    assert error.startswith("not_found: ")
    assert error.endswith("Nothing was approved.")
