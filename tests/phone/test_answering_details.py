"""The phone in the terminal and the Python client on a real server: details, numbers, words, refusing, muting."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from reflecto import AsyncReflecto, InvalidReceipt, PermissionDenied, QuestionCancelled
from reflecto.client.results import Question
from reflecto.phone import effects
from reflecto.phone.muting import MutedBy
from tests.e2e.phones import make_codes
from tests.e2e.server_process import ServerProcess
from tests.phone.handset import Handset, enrol, running

GIVEN: dict[str, Any] = {
    "details": [{"kind": "code", "label": "run.sh", "text": "make ü\n"}, {"kind": "diff", "text": "-a\n+b\n"}],
    "source": {"app": "Claude Code", "where": "~/shop"},
    "danger": "high",
    "confirm": "number",
    "comment": "optional",
}


class World:
    """One owner with a phone in a terminal, and a program that asks."""

    def __init__(self, client: AsyncReflecto, handset: Handset) -> None:
        self.client, self.handset = client, handset

    async def ask(self, **given: Any) -> Question:
        asked = await self.client.create("Run this?" if given else "Go on?", **given)
        await self.handset.wait_for(effects.Opened, id=asked.id)
        return asked


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("data")) as server:
        yield server


@pytest.fixture
async def world(tmp_path: Path, shared_server: ServerProcess) -> AsyncIterator[World]:
    path = tmp_path / "phone" / "state.json"
    [code] = await asyncio.to_thread(make_codes, shared_server.data, 1, new_owner=True)
    held = await enrol(path, shared_server.url, code)
    assert held is not None
    async with AsyncReflecto(shared_server.url, held.token) as client, running(path) as handset:
        await handset.wait_for(effects.Connected)
        yield World(client, handset)


async def test_all_of_it_comes_to_the_phone_and_the_signed_answer_back_to_who_asked(world: World):
    asked = await world.ask(**GIVEN)
    (opened,) = world.handset.all(effects.Opened)
    assert (opened.says, opened.danger, opened.confirm, opened.comment) == (GIVEN["source"], "high", "number", True)
    assert [getattr(block, "text", None) for block in opened.details] == ["make ü\n", "-a\n+b\n"]
    assert asked.confirm_number is not None

    world.handset.phone.tap(asked.id, 0, asked.confirm_number, "Nicht am Freitag \U0001f343")

    answer = await world.client.wait(asked, 20)
    assert (answer.choice, answer.comment, answer.verified) == ("Approve", "Nicht am Freitag \U0001f343", True)
    assert answer.receipt is not None
    assert (answer.receipt.version, answer.receipt.number) == (2, asked.confirm_number)
    assert (await world.handset.wait_for(effects.Ended)).outcome == "sent"
    by_id = await world.client.wait(asked.id, 20)
    assert (by_id.choice, by_id.comment, by_id.verified) == ("Approve", answer.comment, False)


async def test_the_second_wrong_number_ends_the_question(world: World):
    asked = await world.ask(confirm="number")
    first, second, *_ = {"01", "02", "03"} - {asked.confirm_number}  # the same tap again would be no second try

    world.handset.phone.tap(asked.id, 0, first)
    assert (await world.handset.wait_for(effects.WrongNumber)).tries_left == 1
    assert world.handset.phone.state.open_questions()[0].id == asked.id
    world.handset.phone.tap(asked.id, 0, second)

    ended = await world.handset.wait_for(effects.Ended)
    assert (ended.outcome, ended.reason) == ("withdrawn", "wrong_number")
    with pytest.raises(QuestionCancelled) as cancelled:
        await world.client.wait(asked, 20)
    assert cancelled.value.reason == "wrong_number"


async def test_after_one_wrong_number_the_right_one_counts_and_other_choices_need_none(world: World):
    first, second = await world.ask(confirm="number"), await world.ask(confirm="number", danger="high")
    assert first.confirm_number is not None
    wrong = "07" if first.confirm_number != "07" else "70"

    world.handset.phone.tap(first.id, 0, wrong)
    await world.handset.wait_for(effects.WrongNumber)
    world.handset.phone.tap(first.id, 0, first.confirm_number)
    world.handset.phone.tap(second.id, 1)

    assert (await world.client.wait(first, 20)).choice == "Approve"
    assert (await world.client.wait(second, 20)).choice == "Deny"


async def test_who_would_have_shown_another_number_does_not_take_the_answer(world: World):
    asked = await world.ask(confirm="number")
    assert asked.confirm_number is not None
    world.handset.phone.tap(asked.id, 0, asked.confirm_number)
    await world.handset.wait_for(effects.Ended)

    other = Question(
        asked.id,
        asked.question,
        asked.choices,
        asked.expires_at,
        replayed=False,
        deadline=asked.deadline,
        confirm_number="xx",
        given=asked.given,
    )
    with pytest.raises(InvalidReceipt, match="another number"):
        await world.client.wait(other, 20)


async def test_a_question_is_refused_and_so_are_all_of_its_sender(world: World):
    asked = [await world.ask(danger="high"), await world.client.create("And?"), await world.client.create("This?")]
    await world.handset.wait_for(effects.Opened, 3)

    world.handset.phone.refuse(asked[0].id)
    with pytest.raises(QuestionCancelled) as cancelled:
        await world.client.wait(asked[0], 20)
    assert cancelled.value.reason == "dismissed"
    token_id = world.handset.phone.state.questions[0].token_id
    assert token_id is not None
    world.handset.phone.refuse_all(token_id)

    for each in asked[1:]:
        with pytest.raises(QuestionCancelled):
            await world.client.wait(each, 20)
    await world.handset.wait_for(effects.Ended, 3, reason="dismissed")


async def test_a_muted_sender_is_told_so_until_it_may_ask_again(world: World):
    asked = await world.ask()
    token_id = world.handset.phone.state.questions[0].token_id
    assert token_id is not None

    world.handset.phone.mute(MutedBy(token_id, "Default", "forever"))
    with pytest.raises(PermissionDenied) as muted:
        await asked_until_refused(world.client)
    assert (muted.value.code, muted.value.retry_after) == ("sender_muted", None)
    assert world.handset.phone.state.open_questions()[0].id == asked.id

    world.handset.phone.mute(MutedBy(token_id, "Default", None))
    again = await asked_until_taken(world.client)
    assert (await world.handset.wait_for(effects.Opened, id=again.id)).question == "May I?"


async def asked_until_refused(client: AsyncReflecto) -> None:
    """Ask, and withdraw, until the server has heard of the muting."""
    async with asyncio.timeout(20):
        while True:
            await client.cancel(await client.create("May I?"))


async def asked_until_taken(client: AsyncReflecto) -> Question:
    """Ask until the server has heard that the sender may ask again."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(PermissionDenied):
                return await client.create("May I?")
