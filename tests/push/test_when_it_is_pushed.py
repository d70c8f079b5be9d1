"""At once without a stream; with one only what it does not acknowledge in time; after a restart once."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from reflecto.bootstrap import PushOptions
from reflecto.crypto.envelopes import BoxKeys
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.push.conftest import subscribe
from tests.push.push_service import PushServiceOnLoopback
from tests.push.subscriber import Subscriber
from tests.running import RunningServer, run_server
from tests.sync_reader import open_sync

GRACE_SECONDS = 1.5


async def test_what_an_open_stream_acknowledges_in_time_is_not_pushed(
    phone: DeviceActor, subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    async with open_sync(phone) as stream:
        await stream.event()
        await sender.call("POST", "/v1/send", json={"message": "Seen"})
        assert (await stream.event()).id == 2
        await clock.until_waited_for(NOW + GRACE_SECONDS)
        await phone.ack(2)
        clock.advance(GRACE_SECONDS)
    await sender.call("POST", "/v1/send", json={"message": "Next"})
    assert (await push_service.next()).open(subscriber)["seq"] == 3
    assert push_service.waiting == 0


async def test_a_page_that_looks_connected_and_acknowledges_nothing_is_pushed_to_after_a_second_and_a_half(
    phone: DeviceActor, subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    async with open_sync(phone) as stream:
        await stream.event()
        await sender.ask_id()
        await stream.event()
        await clock.until_waited_for(NOW + GRACE_SECONDS)
        clock.advance(GRACE_SECONDS - 0.1)
        assert push_service.waiting == 0
        clock.advance(0.1)
        assert (await push_service.next()).open(subscriber)["seq"] == 2


async def test_each_entry_has_its_own_second_and_a_half(
    phone: DeviceActor, subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    async with open_sync(phone) as stream:
        await stream.event()
        await sender.call("POST", "/v1/send", json={"message": "First"})
        await clock.until_waited_for(NOW + GRACE_SECONDS)
        clock.advance(1)
        await sender.call("POST", "/v1/send", json={"message": "Second"})
        assert [event.id for event in await stream.events(2)] == [2, 3]
        clock.advance(0.5)
        assert (await push_service.next()).open(subscriber)["seq"] == 2
        await clock.until_waited_for(NOW + 1 + GRACE_SECONDS)
        assert push_service.waiting == 0
        clock.advance(1)
        assert (await push_service.next()).open(subscriber)["seq"] == 3


async def test_when_the_stream_has_gone_what_waited_for_it_goes_out_with_the_next(
    phone: DeviceActor, subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    async with open_sync(phone) as stream:
        await stream.event()
        await sender.call("POST", "/v1/send", json={"message": "First"})
        await stream.event()
        await clock.until_waited_for(NOW + GRACE_SECONDS)
    async with asyncio.timeout(BOUND_SECONDS):
        while (await phone.call("GET", "/v1/devices")).json()["devices"][0]["reachable"]:
            pass
    await sender.call("POST", "/v1/send", json={"message": "Second"})
    assert [(await push_service.next()).open(subscriber)["seq"] for _ in range(2)] == [2, 3]


async def test_what_was_queued_before_the_subscription_is_not_pushed(
    phone: DeviceActor, sender: Program, push_service: PushServiceOnLoopback
):
    for _ in range(3):
        await sender.call("POST", "/v1/send", json={"message": "Before"})
    subscriber = await subscribe(phone, push_service)
    await sender.call("POST", "/v1/send", json={"message": "After"})
    assert (await push_service.next()).open(subscriber)["seq"] == 5
    assert push_service.waiting == 0


@pytest.mark.usefixtures("subscriber")
async def test_a_slow_push_service_does_not_hold_up_the_sender(sender: Program, push_service: PushServiceOnLoopback):
    push_service.answer_next(None)
    sent = await sender.call("POST", "/v1/send", json={"message": "Hi"})
    assert sent.status_code == 200
    await push_service.next()
    assert push_service.open_requests == 1


class Restarts:
    """A server on one folder, started anew."""

    def __init__(self, folder: Path, clock: FakeClock, options: PushOptions) -> None:
        self._folder, self._clock, self._options = folder, clock, options
        self._keys = BoxKeys.generate()

    def run(self) -> AbstractAsyncContextManager[RunningServer]:
        """Start it."""
        return run_server(self._folder, self._clock, keys=self._keys, push=self._options)


async def leave_three_waiting(
    server: RunningServer, push_service: PushServiceOnLoopback
) -> tuple[DeviceActor, Subscriber]:
    """Enrol a phone and let three messages be pushed that it never fetches."""
    phone = await enroll(server)
    subscriber = await subscribe(phone, push_service)
    for _ in range(3):
        await phone.default_program().call("POST", "/v1/send", json={"message": "Hi", "priority": "low"})
        await push_service.next()
    return phone, subscriber


def at(server: RunningServer, phone: DeviceActor) -> DeviceActor:
    """The same phone, calling a restarted server."""
    return DeviceActor(server.http, phone.enrolled, phone.keys)


async def test_after_a_restart_a_device_with_something_waiting_is_woken_once(
    tmp_path: Path, clock: FakeClock, options: PushOptions, push_service: PushServiceOnLoopback
):
    restarts = Restarts(tmp_path, clock, options)
    async with restarts.run() as server:
        phone, subscriber = await leave_three_waiting(server, push_service)
    async with restarts.run() as server:
        await clock.until_waited_for(NOW + 5)
        assert push_service.waiting == 0
        clock.advance(5)
        push = await push_service.next()
        assert push.open(subscriber) == {"seq": 4}
        assert (push.headers["urgency"], push.headers["topic"]) == ("high", "wake")
        await at(server, phone).default_program().call("POST", "/v1/send", json={"message": "New"})
        assert (await push_service.next()).open(subscriber)["seq"] == 5
        assert push_service.waiting == 0


async def test_after_a_restart_a_device_whose_stream_came_back_is_not_woken(
    tmp_path: Path, clock: FakeClock, options: PushOptions, push_service: PushServiceOnLoopback
):
    restarts = Restarts(tmp_path, clock, options)
    async with restarts.run() as server:
        phone, subscriber = await leave_three_waiting(server, push_service)
    async with restarts.run() as server:
        await clock.until_waited_for(NOW + 5)
        async with open_sync(at(server, phone)) as stream:
            await stream.events(4)
            clock.advance(5)
            await at(server, phone).default_program().call("POST", "/v1/send", json={"message": "New"})
            await clock.until_waited_for(NOW + 5 + GRACE_SECONDS)
            clock.advance(GRACE_SECONDS)
            assert (await push_service.next()).open(subscriber)["seq"] == 5
    assert push_service.waiting == 0


async def test_after_a_restart_a_device_with_nothing_waiting_is_left_alone(
    tmp_path: Path, clock: FakeClock, options: PushOptions, push_service: PushServiceOnLoopback
):
    restarts = Restarts(tmp_path, clock, options)
    async with restarts.run() as server:
        phone, subscriber = await leave_three_waiting(server, push_service)
        await phone.ack(4)
    async with restarts.run() as server:
        clock.advance(5)
        await at(server, phone).default_program().call("POST", "/v1/send", json={"message": "New"})
        assert (await push_service.next()).open(subscriber)["seq"] == 5
        assert push_service.waiting == 0


async def test_a_question_asked_right_after_a_restart_does_not_wait_for_streams_to_come_back(
    tmp_path: Path, clock: FakeClock, options: PushOptions, push_service: PushServiceOnLoopback
):
    restarts = Restarts(tmp_path, clock, options)
    async with restarts.run() as server:
        phone, subscriber = await leave_three_waiting(server, push_service)
    async with restarts.run() as server:
        await at(server, phone).default_program().ask_id()
        opened = [(await push_service.next()).open(subscriber) for _ in range(2)]
        assert [each["seq"] for each in opened] == [4, 5]
        assert ["blob" in each for each in opened] == [False, True]
