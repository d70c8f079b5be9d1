"""What falls due, and what begins at one process and goes on at another, happens once."""

import asyncio
from typing import Any

import asyncpg
import pytest

from reflecto.bootstrap import PushOptions
from reflecto.crypto.webpush import VapidKeys
from tests.actors import DeviceActor, Program, enroll
from tests.api.sent import waiting
from tests.api.test_emergencies import acknowledge, raise_alarm, read
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.pairing.ends import DeviceEnd, PhoneEnd
from tests.push.push_service import PushServiceOnLoopback
from tests.several_processes.conftest import Two, until
from tests.sync_reader import drain, open_sync


@pytest.fixture
def push() -> PushOptions:
    """Senders of emergencies may be called back on loopback."""
    return PushOptions(VapidKeys.generate(), callback_allow_private=True)


async def test_a_reminder_set_at_one_comes_once_though_both_look(
    two: Two, phone: DeviceActor, sender: Program, clock: FakeClock
):
    reply = await sender.call("POST", "/v1/reminders", json={"message": "Stand-up", "at": NOW + 60})
    assert reply.status_code == 201
    clock.advance(60)
    await asyncio.gather(*(server.services.reminders.fire_due() for server in two))
    assert [each.payload["message"] for each in await waiting(two.b, phone, "reminder")] == ["Stand-up"]
    assert (await two.at_b(sender).call("GET", "/v1/reminders")).json()["reminders"] == []


async def test_each_round_of_an_emergency_sounds_once_and_its_sender_is_called_back_once(
    two: Two, phone: DeviceActor, sender: Program, clock: FakeClock, connection: "asyncpg.Connection[Any]"
):
    async with PushServiceOnLoopback.run() as called:
        raised = await raise_alarm(sender, callback=f"{called.url}/ack")
        for round_seq in (4, 5):  # behind its token, the message and the first ring
            clock.advance(60)
            await asyncio.gather(*(server.services.emergencies.sound_due() for server in two))
            await until(connection, "SELECT last_seq >= $1 FROM devices", round_seq)
        assert (await acknowledge(two.at_b(phone), raised)).status_code == 204
        await asyncio.gather(*(server.services.emergencies.call_back_due() for server in two))
        assert (await called.next()).path == "/ack"
        await until(connection, "SELECT called_back_at IS NOT NULL FROM emergencies")
        assert called.waiting == 0
        assert (await read(two.at_b(sender), raised))["called_back"] == 1
        assert await connection.fetchval("SELECT last_seq FROM devices") == 5


async def test_a_wait_at_one_keeps_the_question_whose_asker_has_left_the_other_and_it_ends_once(
    two: Two,
    phone: DeviceActor,
    sender: Program,
    clock: FakeClock,
    connection: "asyncpg.Connection[Any]",
):
    async with open_sync(phone, after=1) as stream:
        question = await sender.ask_id(tether=20)
        assert (await stream.envelope()).id == question
        stays = asyncio.create_task(two.at_b(sender).read(question, wait=40))
        await clock.until_waited_for(NOW + 40)
        goes = asyncio.create_task(sender.read(question, wait=50))
        await clock.until_waited_for(NOW + 50)
        goes.cancel()
        await until(connection, "SELECT awaited_until = $1 FROM interactions", NOW + 40)  # B has noted its wait again
        clock.advance(30)
        await asyncio.gather(*(server.services.interactions.tethers.settle_due() for server in two))
        assert (await sender.read(question)).json()["status"] == "pending"
        clock.advance(10)
        assert (await stays).json()["status"] == "pending"
        clock.advance(20)
        await asyncio.gather(*(server.services.interactions.tethers.settle_due() for server in two))
        assert (await two.at_b(sender).read(question)).json()["reason"] == "abandoned"
        closed = await stream.envelope()
        assert (closed.type, closed.payload["reason"]) == ("interaction.closed", "abandoned")
        await sender.send("Nothing else came")
        assert (await stream.envelope()).payload["message"] == "Nothing else came"


async def test_a_question_that_expired_is_told_once_by_whichever_process_sees_it(
    two: Two, phone: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id(expires_in=60)
    clock.advance(60)
    await asyncio.gather(*(server.services.interactions.settle_expired() for server in two))
    await two.at_b(sender).send("Nothing else came")
    found = await drain(two.at_b(phone), 3, after=1)
    assert [(each.type, each.id) for each in found[:2]] == [("interaction", question), ("interaction.closed", question)]
    assert found[2].payload["message"] == "Nothing else came"


async def test_a_device_joins_at_one_process_by_an_invitation_made_and_approved_at_the_other(
    two: Two, phone: DeviceActor
):
    inviting = await PhoneEnd.invite_by_link(phone)
    joining = DeviceEnd.of_link(two.b.http, inviting.link())
    async with asyncio.timeout(BOUND_SECONDS):
        meeting = asyncio.create_task(inviting.meet())
        while not two.a.services.hub.count_waits():
            await asyncio.wait([meeting], timeout=0.01)
        await joining.ask_to_join()
        assert (await meeting)["status"] == "claimed"  # the wait at A heard what came to B
        joined = asyncio.create_task(joining.join())
        while not two.b.services.hub.count_waits():
            await asyncio.wait([joined], timeout=0.01)
        assert (await inviting.approve()).status_code == 204
        laptop, _ = await joined
    assert laptop.owner_id == phone.owner_id


async def test_a_setup_code_made_at_one_is_redeemed_once_at_either(two: Two):
    code = await two.a.invite()
    joined = await asyncio.gather(*(enroll(server, code=code) for server in two), return_exceptions=True)
    assert [isinstance(each, DeviceActor) for each in joined].count(True) == 1
