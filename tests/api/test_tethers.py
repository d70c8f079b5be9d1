"""`tether`: a question that nobody waits for any more ends by itself.

The server's own chores wait until `NOW` + 1 and + 60; polls here wait until other instants, to be told apart.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflecto.core.ports.store import Store
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS, FakeClock, FaultyStore
from tests.running import RunningServer, run_server
from tests.sync_reader import open_sync


async def ends_with(sender: Program, question: str) -> tuple[str, Any]:
    """Return status and reason of a question."""
    state = (await sender.read(question)).json()
    return state["status"], state.get("reason")


def faulty(stores: list[FaultyStore]) -> Callable[[Store], FaultyStore]:
    """Return what puts a store for the test to steer in front of a real one, and into `stores`."""

    def wrap(store: Store) -> FaultyStore:
        stores.append(FaultyStore(store))
        return stores[-1]

    return wrap


async def test_it_ends_as_abandoned_that_long_after_it_was_asked(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id(tether=20)
    clock.advance(19.999)
    other = await sender.ask_id("Still there?", tether=5)
    clock.advance(0.001)
    assert await ends_with(sender, question) == ("cancelled", "abandoned")
    assert await ends_with(sender, other) == ("pending", None)
    late = await phone.answer(question)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "interaction_closed")
    assert late.json()["error"]["details"] == {"status": "cancelled"}


async def test_the_prompt_leaves_the_phone_though_nobody_asks(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with open_sync(phone, after=1) as stream:
        question = await sender.ask_id(tether=20)
        assert (await stream.envelope()).type == "interaction"
        clock.advance(20)
        clock.advance(1)
        closed = await stream.envelope()
    assert (closed.type, closed.id) == ("interaction.closed", question)
    assert (closed.payload["status"], closed.payload["reason"]) == ("cancelled", "abandoned")
    found = await server.services.store.find_interaction(question, clock.now())
    assert found is not None
    assert (found.status, found.ended_at) == ("cancelled", NOW + 20)


async def test_a_tap_in_time_wins_and_stays(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id(tether=20)
    clock.advance(19.999)
    assert (await phone.answer(question, 1)).status_code == 200
    clock.advance(30)
    assert await ends_with(sender, question) == ("answered", None)


@pytest.mark.parametrize("again", ["read", "ask"])
async def test_every_request_for_it_begins_the_time_anew(
    phone: DeviceActor,  # noqa: ARG001 -- its owner's phone
    sender: Program,
    clock: FakeClock,
    again: str,
):
    fields: dict[str, Any] = {"tether": 20, "idempotency_key": "deploy-42"}
    question = await sender.ask_id(**fields)
    for _ in range(5):
        clock.advance(19)
        reply = await (sender.read(question) if again == "read" else sender.ask(**fields))
        assert reply.status_code == 200
    clock.advance(19.999)
    assert await ends_with(sender, question) == ("pending", None)


async def test_another_tokens_request_is_no_wait(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id(tether=20)
    other = await phone.new_token()
    clock.advance(19)
    assert (await other.read(question)).status_code == 404
    clock.advance(1)
    assert await ends_with(sender, question) == ("cancelled", "abandoned")


async def test_plain_reads_write_at_most_every_quarter(tmp_path: Path, clock: FakeClock):
    stores: list[FaultyStore] = []
    async with run_server(tmp_path, clock, wrap_store=faulty(stores)) as server:
        sender = (await enroll(server)).default_program()
        question = await sender.ask_id(tether=40)
        for _ in range(30):  # three seconds apart: a write at 12, 24, … 84
            clock.advance(3)
            await sender.read(question)
        assert stores[0].calls.count("hold_tether") == 7
        clock.advance(30)
        assert await ends_with(sender, question) == ("pending", None)


async def test_a_wait_counts_until_its_end(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id(tether=20)
    poll = asyncio.create_task(sender.read(question, wait=50))
    await clock.until_waited_for(NOW + 50)
    clock.advance(50)
    assert (await poll).json()["status"] == "pending"
    clock.advance(19.999)
    assert (await phone.answer(question)).status_code == 200


async def test_who_is_killed_while_waiting_has_gone_at_that_instant(
    server: RunningServer, sender: Program, clock: FakeClock
):
    question = await sender.ask_id(tether=20)
    poll = asyncio.create_task(sender.read(question, wait=50))
    await clock.until_waited_for(NOW + 50)
    clock.advance(10)
    async with asyncio.timeout(BOUND_SECONDS):
        with server.services.hub.watch(question) as changed:
            poll.cancel()
            await changed.wait()
    found = await server.services.store.find_interaction(question, clock.now())
    assert found is not None
    assert found.awaited_until == NOW + 10
    clock.advance(20)
    assert await ends_with(sender, question) == ("cancelled", "abandoned")


async def test_a_second_waiter_still_counts_when_the_first_goes(tmp_path: Path, clock: FakeClock):
    stores: list[FaultyStore] = []
    noted_again = asyncio.Event()

    async def note() -> None:
        noted_again.set()

    async with run_server(tmp_path, clock, wrap_store=faulty(stores)) as server, asyncio.timeout(BOUND_SECONDS):
        sender = (await enroll(server)).default_program()
        question = await sender.ask_id(tether=5)
        stays, goes = [asyncio.create_task(sender.read(question, wait=seconds)) for seconds in (40, 50)]
        await clock.until_waited_for(NOW + 40)
        await clock.until_waited_for(NOW + 50)
        stores[0].before["hold_tether"] = note
        goes.cancel()
        await noted_again.wait()
        await clock.until_waited_for(NOW + 40)
        found = await server.services.store.find_interaction(question, clock.now())
        assert found is not None
        assert found.awaited_until == NOW + 40
        clock.advance(40)
        assert (await stays).json()["status"] == "pending"


async def test_repeats_do_not_compare_the_tether(sender: Program):
    question = await sender.ask_id(idempotency_key="deploy-42", tether=20)
    again = await sender.ask(idempotency_key="deploy-42", tether=60)
    assert (again.status_code, again.json()["id"]) == (200, question)
    assert "idempotency-mismatch" not in again.headers
    plain = await sender.ask_id("Merge?", tether=20)
    assert (await sender.ask("Merge?")).json()["id"] == plain


async def test_after_a_time_without_a_server_the_tether_begins_anew(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock) as server:
        sender = (await enroll(server)).default_program()
        question = await sender.ask_id(tether=20)
        clock.advance(15)
    clock.advance(40)
    async with run_server(tmp_path, clock) as server:
        back = Program(server.http, sender.token)
        clock.advance(19.999)
        assert await ends_with(back, question) == ("pending", None)
        clock.advance(20)
        assert await ends_with(back, question) == ("cancelled", "abandoned")


async def test_what_a_killed_server_had_noted_ahead_is_no_wait(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock) as server:
        sender = (await enroll(server)).default_program()
        question = await sender.ask_id(tether=20)
        await server.services.store.hold_tether(question, NOW + 595, clock.now())
    async with run_server(tmp_path, clock) as server:
        back = Program(server.http, sender.token)
        assert await ends_with(back, question) == ("pending", None)
        clock.advance(20)
        assert await ends_with(back, question) == ("cancelled", "abandoned")


async def test_a_second_server_on_the_store_ends_no_wait_of_the_first(tmp_path: Path, clock: FakeClock):
    stores: list[FaultyStore] = []
    noted_again = asyncio.Event()

    async def note() -> None:
        noted_again.set()

    async with run_server(tmp_path, clock, wrap_store=faulty(stores)) as server, asyncio.timeout(BOUND_SECONDS):
        sender = (await enroll(server)).default_program()
        question = await sender.ask_id(tether=20)
        poll = asyncio.create_task(sender.read(question, wait=50))
        await clock.until_waited_for(NOW + 50)
        stores[0].before["hold_tether"] = note
        async with run_server(tmp_path, clock):
            await noted_again.wait()
            await clock.until_waited_for(NOW + 50)
            clock.advance(50)
            assert (await poll).json()["status"] == "pending"


async def test_what_was_seen_ended_does_not_come_back_with_the_next_server(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock) as server:
        sender = (await enroll(server)).default_program()
        question = await sender.ask_id(tether=20)
        clock.advance(20)
        assert await ends_with(sender, question) == ("cancelled", "abandoned")
    async with run_server(tmp_path, clock) as server:
        assert await ends_with(Program(server.http, sender.token), question) == ("cancelled", "abandoned")


async def test_a_test_tokens_question_is_abandoned_too(phone: DeviceActor, clock: FakeClock):
    tester = await phone.new_token(test=True)
    question = await tester.ask_id(tether=5)
    clock.advance(5)
    assert await ends_with(tester, question) == ("cancelled", "abandoned")


async def test_withdrawing_what_was_abandoned_changes_nothing(sender: Program, clock: FakeClock):
    question = await sender.ask_id(tether=5)
    clock.advance(5)
    reply = await sender.cancel(question)
    assert (reply.status_code, reply.json()["reason"]) == (200, "abandoned")
