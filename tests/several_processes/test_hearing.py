"""What happens at one process is heard at the other."""

import asyncio

from reflecto.core.ports.wakeups import News
from tests.actors import DeviceActor, Program, enroll
from tests.fakes import BOUND_SECONDS
from tests.several_processes.conftest import Two
from tests.sync_reader import open_sync


async def test_what_is_asked_at_one_reaches_the_stream_at_the_other_and_the_tap_there_wakes_the_asker(
    two: Two, phone: DeviceActor, sender: Program
):
    elsewhere = two.at_b(phone)
    async with open_sync(elsewhere, after=1) as stream, asyncio.timeout(BOUND_SECONDS):
        await stream.comment()
        asked = await sender.ask_id("Deploy?")
        assert (await stream.envelope()).id == asked
        waiting = asyncio.create_task(sender.read(asked, wait=60))
        while not two.a.services.hub.count_waits():
            await asyncio.wait([waiting], timeout=0.01)
        assert (await elsewhere.answer(asked, 1)).status_code == 200
        state = (await waiting).json()
    assert (state["status"], state["choice"]) == ("answered", "Deny")


async def test_a_device_removed_at_one_loses_its_stream_at_the_other(two: Two, phone: DeviceActor):
    tablet = two.at_b(await enroll(two.a, owner=phone, label="Tablet"))
    async with open_sync(tablet) as stream:
        assert (await phone.call("DELETE", f"/v1/devices/{tablet.id}")).status_code == 204
        await stream.end()
    assert (await tablet.call("GET", "/v1/devices")).status_code == 401


async def test_a_token_revoked_at_one_is_dead_at_the_other_with_the_next_request(two: Two, phone: DeviceActor):
    program = two.at_b(await phone.new_token())
    assert (await program.send()).status_code == 200
    assert (await phone.revoke(program)).status_code == 204
    assert (await program.send()).status_code == 401


async def test_a_token_made_at_one_works_at_the_other_at_once(two: Two, phone: DeviceActor):
    for _ in range(10):
        assert (await two.at_b(await phone.new_token()).send()).status_code == 200


async def test_a_call_cancelled_at_one_ends_at_the_other(two: Two):
    cancelled = asyncio.Event()
    hub_a, hub_b = two.a.services.hub, two.b.services.hub
    with hub_b.open_call("token\nsession\n1", cancelled.set):
        hub_a.tell(News(cancelled_calls=["token\nsession\n1"]))
        async with asyncio.timeout(BOUND_SECONDS):
            await cancelled.wait()


async def test_who_has_a_stream_at_the_other_is_reachable_and_gets_what_nobody_keeps(
    two: Two, phone: DeviceActor, sender: Program
):
    async with open_sync(two.at_b(phone), after=1) as stream:
        await until_reachable(sender, is_reachable=True)
        sent = await sender.send("Now", ttl=0)
        assert [each["device_id"] for each in sent.json()["delivered_to"]] == [phone.id]
        assert (await stream.envelope()).payload["message"] == "Now"
    await until_reachable(sender, is_reachable=False)
    assert (await sender.send("Nobody is there", ttl=0)).json()["delivered_to"] == []


async def until_reachable(sender: Program, *, is_reachable: bool) -> None:
    """Return once the owner's only device is, or is no more."""
    async with asyncio.timeout(BOUND_SECONDS):
        while True:
            (listed,) = (await sender.call("GET", "/v1/devices")).json()["devices"]
            if listed["reachable"] is is_reachable:
                return


async def test_each_says_when_it_can_store(two: Two):
    for server in two:
        reply = await server.http.get("/readyz")
        assert (reply.status_code, reply.json()["status"]) == (200, "ready")
        assert "no_synchronous_standby" in reply.json()["concerns"]
