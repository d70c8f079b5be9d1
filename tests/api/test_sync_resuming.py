"""Coming back to a stream: nothing lost, nothing twice, wherever it was cut."""

import random

import pytest

from reflecto.contract.limits import SEQ_MAX
from tests.actors import DeviceActor, Program
from tests.builders import NOW
from tests.running import RunningServer
from tests.sync_reader import open_sync, put


@pytest.mark.parametrize("way", ["last_event_id", "after"])
async def test_a_cursor_resumes_behind_it(server: RunningServer, phone: DeviceActor, way: str):
    await put(server, phone, b"a", b"b", b"c")
    cursors = {way: 2}
    async with open_sync(phone, last_event_id=cursors.get("last_event_id"), after=cursors.get("after")) as stream:
        assert [event.id for event in await stream.events(2)] == [3, 4]


async def test_the_query_goes_before_the_header(server: RunningServer, phone: DeviceActor):
    await put(server, phone, b"a", b"b", b"c")
    async with open_sync(phone, last_event_id=1, after=3) as stream:
        assert (await stream.event()).id == 4


async def test_a_cursor_at_the_end_waits_for_what_comes(server: RunningServer, phone: DeviceActor):
    async with open_sync(phone, last_event_id=1) as stream:
        await stream.comment()
        await put(server, phone, b"a")
        assert (await stream.event()).id == 2


@pytest.mark.parametrize(
    "cursor", ["5", "999999", str(SEQ_MAX), str(2**63), "9" * 400, "abc", "-1", "1.5", "", "\u0663"]
)
async def test_a_cursor_this_server_never_issued_starts_over(server: RunningServer, phone: DeviceActor, cursor: str):
    await put(server, phone, b"a", b"b", b"c")
    async with open_sync(phone, after=cursor) as stream:
        assert [event.id for event in await stream.events(4)] == [1, 2, 3, 4]


async def test_a_cursor_from_before_a_restored_backup_starts_over(server: RunningServer, phone: DeviceActor):
    await put(server, phone, b"a")
    async with open_sync(phone, last_event_id=3) as stream:
        assert [event.id for event in await stream.events(2)] == [1, 2]
        await put(server, phone, b"b")
        assert (await stream.event()).id == 3


async def test_50_cuts_at_random_places_lose_nothing_and_repeat_nothing(server: RunningServer, phone: DeviceActor):
    dice = random.Random(20250810)  # noqa: S311  any sequence will do
    sent, received, cursor = 1, [], 0
    for cut in range(50):
        before = dice.randrange(4)
        await put(server, phone, *(b"%d" % (sent + number) for number in range(before)))
        sent += before
        by_header = dice.random() < 0.5
        async with open_sync(
            phone, last_event_id=cursor if by_header else None, after=None if by_header else cursor
        ) as stream:
            during = dice.randrange(4)
            await put(server, phone, *(b"%d" % (sent + number) for number in range(during)))
            sent += during
            events = await stream.events(dice.randint(0, sent - cursor))
        received += [event.id for event in events]
        cursor = received[-1] if received else 0
        if cut % 7 == 0 and cursor:
            assert (await phone.ack(cursor)).status_code == 204
    async with open_sync(phone, after=cursor) as stream:
        received += [event.id for event in await stream.events(sent - cursor)]
    assert received == list(range(1, sent + 1))


async def test_acknowledging_while_reading_disturbs_no_stream(server: RunningServer, phone: DeviceActor):
    await put(server, phone, *(b"%d" % number for number in range(100)))
    received = []
    async with open_sync(phone) as stream:
        for _ in range(101):
            received.append((await stream.event()).id)
            await phone.ack(received[-1])
    assert received == list(range(1, 102))
    assert await server.services.store.read_queue(phone.id, 0, 10, NOW) == []


async def test_two_streams_of_one_device_have_cursors_of_their_own(server: RunningServer, phone: DeviceActor):
    await put(server, phone, b"a", b"b")
    async with open_sync(phone, after=0) as page, open_sync(phone, after=2) as worker:
        assert [event.id for event in await page.events(3)] == [1, 2, 3]
        assert (await worker.event()).id == 3
        await put(server, phone, b"c")
        assert {(await stream.event()).id for stream in (page, worker)} == {4}


async def test_a_question_asked_while_the_phone_was_away_is_there_when_it_returns(phone: DeviceActor, sender: Program):
    async with open_sync(phone) as stream:
        cursor = (await stream.event()).id
    question = await sender.ask_id()
    async with open_sync(phone, last_event_id=cursor) as stream:
        assert (await stream.envelope()).id == question
