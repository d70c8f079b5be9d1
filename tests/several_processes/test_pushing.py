"""Of two processes one pushes to a device, whichever queued something, and the other goes on where it left off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from reflecto.bootstrap import PushOptions
from reflecto.crypto.envelopes import BoxKeys
from reflecto.crypto.webpush import VapidKeys
from reflecto.store.postgres import push_lines
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.databases import Databases
from tests.fakes import FakeClock
from tests.postgres import connected
from tests.push.conftest import subscribe
from tests.push.push_service import CREATED, Held, PushServiceOnLoopback, reply
from tests.push.subscriber import Subscriber
from tests.running import run_server
from tests.several_processes.conftest import Two, until

RUN_OUT = "UPDATE push_subscriptions SET claimed_until = clock_timestamp() - interval '1 s'"


@pytest.fixture
def push() -> PushOptions:
    """How both push."""
    return PushOptions(VapidKeys.generate(), "mailto:me@example.org", allow_private=True)


@pytest.fixture
async def push_service() -> AsyncIterator[PushServiceOnLoopback]:
    """The push service."""
    async with PushServiceOnLoopback.run() as service:
        yield service


@pytest.fixture
async def subscriber(phone: DeviceActor, push_service: PushServiceOnLoopback) -> Subscriber:
    """The phone's subscription; everything queued before is behind it."""
    return await subscribe(phone, push_service)


@pytest.fixture
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes look all the time for what another one has left."""
    monkeypatch.setattr(push_lines, "LOOK_SECONDS", 0.05)


async def test_what_is_asked_at_either_is_pushed_once(
    two: Two, subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    await sender.ask_id("At A?")
    await two.at_b(sender).ask_id("At B?")
    await sender.send("At A")
    assert [(await push_service.next()).open(subscriber)["seq"] for _ in range(3)] == [2, 3, 4]
    await asyncio.gather(*(asker.send("Both at once") for asker in (sender, two.at_b(sender))))
    assert [(await push_service.next()).open(subscriber)["seq"] for _ in range(2)] == [5, 6]
    await two.at_b(sender).send("Last")
    assert (await push_service.next()).open(subscriber)["seq"] == 7
    assert push_service.waiting == 0


async def test_what_is_asked_at_one_waits_for_the_push_that_the_other_is_making(
    two: Two, subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    slow = Held(CREATED)
    push_service.answer_next(slow)
    await sender.ask_id("At A?")
    assert (await push_service.next()).open(subscriber)["seq"] == 2
    await two.at_b(sender).ask_id("At B?")
    assert push_service.open_requests == 1
    slow.release.set()
    assert (await push_service.next()).open(subscriber)["seq"] == 3
    assert push_service.waiting == 0


@pytest.mark.usefixtures("looks_often")
async def test_what_a_process_that_is_gone_was_pushing_another_pushes(
    two: Two,
    subscriber: Subscriber,
    sender: Program,
    push_service: PushServiceOnLoopback,
    connection: "asyncpg.Connection[Any]",
):
    push_service.answer_next(None)  # A hangs in the middle of its push
    await sender.ask_id()
    await push_service.next()
    assert await connection.execute(RUN_OUT) == "UPDATE 1"
    assert (await push_service.next()).open(subscriber)["seq"] == 2
    await two.at_b(sender).send("Next")
    assert (await push_service.next()).open(subscriber)["seq"] == 3
    assert push_service.waiting == 0


@pytest.mark.usefixtures("looks_often")
async def test_what_a_process_that_stops_had_to_push_again_another_pushes(
    two: Two, subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    push_service.answer_next(reply(503))
    await sender.ask_id()
    await push_service.next()
    await clock.until_waited_for(NOW + 2)
    two.a.uvicorn.stop()
    assert (await push_service.next()).open(subscriber)["seq"] == 2
    await two.at_b(sender).send("Next")
    assert (await push_service.next()).open(subscriber)["seq"] == 3
    assert push_service.waiting == 0


async def test_two_that_start_on_a_backlog_push_it_once(
    tmp_path: Path,
    clock: FakeClock,
    databases: Databases,
    push: PushOptions,
    push_service: PushServiceOnLoopback,
):
    keys, database = BoxKeys.generate(), await databases.of(tmp_path)
    async with run_server(tmp_path, clock, database=database, keys=keys, push=push) as server:
        phone = await enroll(server)
        subscriber = await subscribe(phone, push_service)
        push_service.answer_next(reply(503))
        await phone.default_program().send("Nobody gets this")
        await push_service.next()
        await clock.until_waited_for(NOW + 2)
    async with connected(database) as connection:
        await connection.execute("UPDATE push_subscriptions SET process_id = NULL, claimed_until = NULL")  # long ago
    async with AsyncExitStack() as stack:
        runs = [run_server(tmp_path, clock, database=database, keys=keys, push=push) for _ in range(2)]
        a, b = await asyncio.gather(*(stack.enter_async_context(each) for each in runs))
        for server in (a, b):
            assert (await server.http.get("/readyz")).status_code == 200
        await clock.until_waited_for(NOW + 5)
        clock.advance(5)
        assert (await push_service.next()).open(subscriber) == {"seq": 2}
        for server in (a, b):
            await DeviceActor(server.http, phone.enrolled, phone.keys).default_program().send("Next")
        assert [(await push_service.next()).open(subscriber)["seq"] for _ in range(2)] == [3, 4]
        assert push_service.waiting == 0
    databases.give_back(tmp_path)


async def test_what_was_pushed_before_a_restart_is_not_pushed_again(
    tmp_path: Path, clock: FakeClock, databases: Databases, push: PushOptions, push_service: PushServiceOnLoopback
):
    keys, database = BoxKeys.generate(), await databases.of(tmp_path)
    async with run_server(tmp_path, clock, database=database, keys=keys, push=push) as server:
        phone = await enroll(server)
        subscriber = await subscribe(phone, push_service)
        await phone.default_program().send("Once")
        await push_service.next()
        async with connected(database) as connection:
            await until(connection, "SELECT process_id IS NULL AND since_seq = 2 FROM push_subscriptions")
    async with run_server(tmp_path, clock, database=database, keys=keys, push=push) as server:
        assert (await server.http.get("/readyz")).status_code == 200
        clock.advance(5)
        await DeviceActor(server.http, phone.enrolled, phone.keys).default_program().send("Next")
        assert (await push_service.next()).open(subscriber)["seq"] == 3
        assert push_service.waiting == 0
    databases.give_back(tmp_path)
