"""GET /v1/interactions/{id}?wait=N: woken by what happens, not by looking again.

The server's own chores wait until `NOW` + 1 and + 60; polls here wait until other instants, to be told apart.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.actors import DeviceActor, Program
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.running import RunningServer


class Poll:
    """A long poll that has begun to wait on the server."""

    def __init__(self, task: "asyncio.Task[httpx.Response]") -> None:
        self._task = task

    @property
    def is_waiting(self) -> bool:
        """Tell whether the reply is not there yet."""
        return not self._task.done()

    async def reply(self) -> httpx.Response:
        """Return the reply."""
        async with asyncio.timeout(BOUND_SECONDS):
            return await self._task


@asynccontextmanager
async def polling(
    clock: FakeClock, sender: Program, question: str, seconds: int, until: float, count: int = 1
) -> AsyncIterator[list[Poll]]:
    """Begin `count` long polls of `seconds` each, which wait on the server until `until` at most."""
    tasks = [asyncio.create_task(sender.read(question, wait=seconds)) for _ in range(count)]
    try:
        await clock.until_waited_for(until, count)
        yield [Poll(task) for task in tasks]
    finally:
        for task in tasks:
            task.cancel()


async def test_an_answer_wakes_the_poll_while_the_clock_stands_still(
    phone: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id()
    async with polling(clock, sender, question, 50, NOW + 50) as (poll,):
        assert poll.is_waiting
        await phone.answer(question, 1)
        reply = await poll.reply()
    assert (reply.status_code, reply.json()["status"], reply.json()["choice"]) == (200, "answered", "Deny")
    assert "retry-after" not in reply.headers
    assert clock.now() == NOW


async def test_every_poll_on_a_question_is_woken(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id()
    async with polling(clock, sender, question, 50, NOW + 50, count=8) as polls:
        await phone.answer(question)
        replies = [await poll.reply() for poll in polls]
    assert {reply.json()["status"] for reply in replies} == {"answered"}


async def test_an_answer_to_another_question_wakes_nobody(phone: DeviceActor, sender: Program, clock: FakeClock):
    question, other = await sender.ask_id("This?"), await sender.ask_id("That?")
    async with polling(clock, sender, question, 50, NOW + 50) as (poll,):
        await phone.answer(other)
        await sender.read(other)
        assert poll.is_waiting
        clock.advance(50)
        assert (await poll.reply()).json()["status"] == "pending"


async def test_a_withdrawal_wakes_the_poll(sender: Program, clock: FakeClock):
    question = await sender.ask_id()
    async with polling(clock, sender, question, 50, NOW + 50) as (poll,):
        await sender.cancel(question)
        assert (await poll.reply()).json()["status"] == "cancelled"


async def test_a_simulated_answer_wakes_the_poll(phone: DeviceActor, clock: FakeClock):
    tester = await phone.new_token(test=True)
    question = await tester.ask_id()
    async with polling(clock, tester, question, 50, NOW + 50) as (poll,):
        await tester.simulate(question, "Deny")
        assert (await poll.reply()).json()["choice"] == "Deny"


async def test_revoking_the_token_wakes_its_polls(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id()
    async with polling(clock, sender, question, 50, NOW + 50) as (poll,):
        await phone.revoke(sender)
        assert (await poll.reply()).json()["status"] == "cancelled"


async def test_expiry_ends_the_poll_at_its_instant(sender: Program, clock: FakeClock):
    question = await sender.ask_id(expires_in=75)
    clock.advance(30)
    async with polling(clock, sender, question, 60, NOW + 75) as (poll,):
        clock.advance_to(NOW + 74.999)
        await sender.read(question)
        assert poll.is_waiting
        clock.advance_to(NOW + 75)
        assert (await poll.reply()).json()["status"] == "expired"


async def test_a_poll_without_news_ends_after_its_seconds_with_the_pending_state(sender: Program, clock: FakeClock):
    question = await sender.ask_id()
    clock.advance(0.5)
    async with polling(clock, sender, question, 60, NOW + 60.5) as (poll,):
        clock.advance_to(NOW + 60.499)
        await sender.read(question)
        assert poll.is_waiting
        clock.advance_to(NOW + 60.5)
        reply = await poll.reply()
    assert (reply.status_code, reply.json()["status"]) == (200, "pending")
    assert int(reply.headers["retry-after"]) >= 1


async def test_the_end_of_the_server_ends_the_poll_with_the_pending_state(
    server: RunningServer, sender: Program, clock: FakeClock
):
    question = await sender.ask_id()
    async with polling(clock, sender, question, 50, NOW + 50) as (poll,):
        server.services.hub.close()
        reply = await poll.reply()
        assert (reply.status_code, reply.json()["status"]) == (200, "pending")
        later = await sender.read(question, wait=60)  # nobody waits on a server that stops
        assert later.json()["status"] == "pending"


@pytest.mark.parametrize("wait", [0, None])
async def test_without_a_wait_the_state_comes_at_once(sender: Program, wait: int | None):
    question = await sender.ask_id()
    assert (await sender.read(question, wait)).json()["status"] == "pending"


async def test_an_ended_question_is_not_waited_for(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    await phone.answer(question)
    assert (await sender.read(question, wait=60)).json()["status"] == "answered"


async def test_polls_are_not_charged_to_the_quotas(sender: Program):
    first = await sender.ask("First?")
    for _ in range(20):
        await sender.read(first.json()["id"])
    second = await sender.ask("Second?")
    spent = int(first.headers["x-ratelimit-remaining"]) - int(second.headers["x-ratelimit-remaining"])
    assert spent == 1


async def test_a_poll_ends_with_404_when_its_owner_disconnects(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id()
    async with polling(clock, sender, question, 50, NOW + 50) as (poll,):
        await phone.call("DELETE", "/v1/owner")
        assert (await poll.reply()).status_code == 404
