"""What one owner's push services do, or do not, is no other owner's trouble."""

import asyncio
from collections.abc import AsyncIterator
from typing import Self

import pytest

from reflecto.push.slots import FairSlots
from tests.actors import DeviceActor, enroll
from tests.fakes import BOUND_SECONDS
from tests.push.conftest import subscribe
from tests.push.push_service import PushServiceOnLoopback, reply
from tests.running import RunningServer

DEVICES_OF_THE_HOG = 32
SLOTS = 64


async def own(server: RunningServer, services: list[PushServiceOnLoopback]) -> DeviceActor:
    """Return the first phone of a new owner with a device at each of these push services."""
    first = await enroll(server, await server.invite(new_owner=True))
    await subscribe(first, services[0], f"/{first.id}")
    for service in services[1:]:
        device = await enroll(server, owner=first)
        await subscribe(device, service, f"/{device.id}")
    return first


@pytest.fixture
async def hog(server: RunningServer, dead_service: PushServiceOnLoopback) -> DeviceActor:
    """An owner with as many devices as one may have, each at a push service that takes all and answers none."""
    dead_service.answer_next(*[None] * 1_000)
    return await own(server, [dead_service] * DEVICES_OF_THE_HOG)


@pytest.fixture
async def dead_service() -> AsyncIterator[PushServiceOnLoopback]:
    """A second push service."""
    async with PushServiceOnLoopback.run() as service:
        yield service


async def test_an_owner_s_push_does_not_wait_for_those_of_another_that_hang(
    server: RunningServer, hog: DeviceActor, dead_service: PushServiceOnLoopback, push_service: PushServiceOnLoopback
):
    other = await own(server, [push_service])
    for round_number in (1, 2):  # the second message of the hog waits behind its first
        await hog.default_program().send("Into the void")
        for _ in range(DEVICES_OF_THE_HOG if round_number == 1 else 0):
            await dead_service.next()
        await other.default_program().send("Hi")
        assert (await push_service.next()).path == f"/{other.id}"  # and the clock has not moved
    assert dead_service.open_requests == DEVICES_OF_THE_HOG


async def test_of_one_owner_the_devices_that_can_be_reached_are_reached_while_the_others_hang(
    server: RunningServer, dead_service: PushServiceOnLoopback, push_service: PushServiceOnLoopback
):
    dead_service.answer_next(*[None] * 1_000)
    owner = await own(server, [dead_service] * (DEVICES_OF_THE_HOG - 1) + [push_service])
    await owner.default_program().send("Hi")
    await push_service.next()


async def test_where_a_push_service_refuses_or_ends_the_subscription_the_slot_is_given_back(
    server: RunningServer, push_service: PushServiceOnLoopback
):
    owner = await own(server, [push_service])
    program = owner.default_program()
    for _ in range(SLOTS + 1):
        push_service.answer_next(reply(400))
        await program.send("Refused")
        await push_service.next()


class Crowd:
    """Sends that hang in slots of their own until the test ends them."""

    def __init__(self, count: int) -> None:
        self.slots = FairSlots(count)
        self.under_way: list[str] = []
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}

    async def send(self, owner_id: str, service: str = "https://push.example") -> None:
        """Begin a send; it hangs once it has a slot."""

        async def hang() -> None:
            async with self.slots.take(owner_id, service):
                self.under_way.append(owner_id)
                try:
                    await asyncio.Event().wait()
                finally:
                    self.under_way.remove(owner_id)

        self._tasks.setdefault(owner_id, []).append(asyncio.create_task(hang()))
        await self.settle()

    async def end(self, owner_id: str, index: int = 0) -> None:
        """End one of the owner's sends, under way or waiting."""
        task = self._tasks[owner_id].pop(index)
        task.cancel()
        async with asyncio.timeout(BOUND_SECONDS):
            await asyncio.gather(task, return_exceptions=True)
        await self.settle()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        left = [task for tasks in self._tasks.values() for task in tasks]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def settle(self) -> None:
        """Let everyone who has a slot begin."""
        for _ in range(3):
            ready = asyncio.Event()
            asyncio.get_running_loop().call_soon(ready.set)
            await ready.wait()


async def test_an_owner_may_have_as_many_under_way_as_are_free():
    async with Crowd(8) as crowd:
        for _ in range(20):
            await crowd.send("hog", "https://dead.example")
        assert len(crowd.under_way) == 4
        for owner_id in ("a", "b", "c"):
            await crowd.send(owner_id)
        assert crowd.under_way[4:] == ["a", "b", "c"]
        await crowd.end("hog")
        assert crowd.under_way.count("hog") == 3  # only one slot would be free for the next


async def test_a_slot_is_left_for_whoever_comes_next_however_many_hang():
    async with Crowd(8) as crowd:
        hogs = [f"hog {number}" for number in range(6)]
        for owner_id in hogs * 9:
            await crowd.send(owner_id, f"https://{owner_id}.example")
        assert len(crowd.under_way) < 8
        await crowd.send("late")
        assert crowd.under_way[-1] == "late"


async def test_a_push_service_that_hangs_for_everybody_leaves_room_for_the_others():
    async with Crowd(8) as crowd:
        for number in range(30):
            await crowd.send(f"owner {number}", "https://dead.example")
        assert len(crowd.under_way) == 6
        await crowd.send("elsewhere", "https://alive.example")
        assert crowd.under_way[-1] == "elsewhere"


async def test_owners_who_wait_take_turns_and_their_own_sends_keep_their_order():
    async with Crowd(2) as crowd:
        await crowd.send("first")
        for _ in range(2):
            for owner_id in ("a", "b"):
                await crowd.send(owner_id)
        assert crowd.under_way == ["first", "a"]
        served = []
        for owner_id in ("first", "a", "b"):
            await crowd.end(owner_id)
            served.append(sorted(crowd.under_way))
        assert served == [["a", "b"], ["a", "b"], ["a", "b"]]


async def test_a_send_that_is_cancelled_while_it_waits_takes_no_slot_and_loses_none():
    async with Crowd(2) as crowd:
        await crowd.send("hog")
        for _ in range(2):
            await crowd.send("hog")
        assert crowd.under_way == ["hog"]
        await crowd.end("hog", 2)
        await crowd.end("hog", 1)
        await crowd.end("hog", 0)
        assert crowd.under_way == []
        for owner_id in ("a", "b"):
            await crowd.send(owner_id)
        assert crowd.under_way == ["a", "b"]
