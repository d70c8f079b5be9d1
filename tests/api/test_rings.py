"""POST /v1/ring: every phone, for its time, and never late."""

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.api.sent import entries, waiting
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer


async def ring(sender: Program, **fields: object):
    return await sender.call("POST", "/v1/ring", json=fields)


async def test_every_phone_and_no_desktop_gets_it(server: RunningServer, phone: DeviceActor, sender: Program):
    second = await enroll(server, label="Second")
    desk = await enroll(server, label="phone", class_="desktop", type="web")  # its label makes it none
    reply = await ring(sender)
    assert reply.status_code == 200
    assert {each["device_id"] for each in reply.json()["delivered_to"]} == {phone.id, second.id}
    assert reply.json()["warnings"] == []
    for device in (phone, second):
        [envelope] = await waiting(server, device, "ring")
        assert (envelope.id, envelope.payload) == (reply.json()["id"], {"duration": 30, "expires_at": NOW + 60})
    assert await waiting(server, desk, "ring") == []


async def test_without_a_body_it_is_as_with_an_empty_object(server: RunningServer, phone: DeviceActor, sender: Program):
    for headers in ({}, {"Content-Type": "application/json"}):
        reply = await sender.call("POST", "/v1/ring", headers=headers)
        assert reply.status_code == 200, reply.text
        envelope = (await waiting(server, phone, "ring"))[-1]
        assert (envelope.id, envelope.payload) == (reply.json()["id"], {"duration": 30, "expires_at": NOW + 60})


@pytest.mark.parametrize(
    ("fields", "payload"),
    [
        ({"duration": 5}, {"duration": 5}),
        ({"duration": 120}, {"duration": 120}),
        ({"duration": 60.0}, {"duration": 60}),
        ({"message": "é" * 750}, {"duration": 30, "message": "é" * 750}),
    ],
)
async def test_for_how_long_and_with_which_words(
    server: RunningServer,
    phone: DeviceActor,
    sender: Program,
    fields: dict[str, object],
    payload: dict[str, object],
):
    assert (await ring(sender, **fields)).status_code == 200
    [envelope] = await waiting(server, phone, "ring")
    assert envelope.payload == payload | {"expires_at": NOW + 60}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"duration": 4}, "invalid_duration"),
        ({"duration": 121}, "invalid_duration"),
        ({"duration": 10.5}, "invalid_duration"),
        ({"duration": "10"}, "invalid_duration"),
        ({"message": ""}, "invalid_message"),
        ({"message": "é" * 751}, "message_too_long"),
    ],
)
async def test_what_is_out_of_bounds_is_refused(sender: Program, fields: dict[str, object], code: str):
    reply = await ring(sender, **fields)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, code)


async def test_a_phone_that_comes_after_60_seconds_never_hears_of_it(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    clock.advance_to(NOW + 0.9)
    await ring(sender)
    assert (await entries(server, phone))[-1].expires_at == NOW + 60
    clock.advance_to(NOW + 59.999)
    assert len(await waiting(server, phone, "ring")) == 1
    clock.advance_to(NOW + 60)
    assert await waiting(server, phone, "ring") == []


async def test_it_needs_a_phone_the_scope_and_high_priority(server: RunningServer, phone: DeviceActor):
    sender, test_token = phone.default_program(), await phone.new_token(test=True)
    no_scope, capped = await phone.new_token(scopes=["send", "ask"]), await phone.new_token(priority_cap="default")
    refusals = [(await ring(each)).json()["error"]["code"] for each in (no_scope, capped)]
    assert refusals == ["scope_denied", "priority_capped"]
    assert (await ring(capped)).json()["error"]["message"] == "Token's priority_cap is 'default'; requested 'high'"
    trial = await ring(test_token)
    assert (trial.status_code, trial.json()["delivered_to"]) == (200, [])
    assert [each["code"] for each in trial.json()["warnings"]] == ["test_token"]
    assert await waiting(server, phone, "ring") == []

    await enroll(server, label="Desk", class_="desktop", type="web")
    await phone.call("DELETE", "/v1/devices/self")
    nobody = await ring(sender)
    assert (nobody.status_code, nobody.json()["error"]["code"]) == (409, "no_phone_device")


async def test_a_stopped_ring_is_silent_on_all_other_devices_and_a_repeat_changes_nothing(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    fold = await enroll(server, owner=phone, label="Fold")
    desk = await enroll(server, owner=phone, label="desk", class_="desktop")
    stranger = await enroll(server, await server.invite(new_owner=True))
    rang = (await sender.call("POST", "/v1/ring", json={})).json()["id"]
    assert (await desk.call("POST", f"/v1/rings/{rang}/stop")).status_code == 204
    for device in (phone, fold):
        [stopped] = await waiting(server, device, "ring.stopped")
        assert (stopped.id, stopped.payload) == (rang, {"by": "desk"})
    assert await waiting(server, desk, "ring.stopped") == []
    assert await waiting(server, stranger, "ring.stopped") == []
    for device in (desk, fold):
        assert (await device.call("POST", f"/v1/rings/{rang}/stop")).status_code == 204
    assert len(await waiting(server, phone, "ring.stopped")) == 1
    assert await waiting(server, desk, "ring.stopped") == []


async def test_a_relayed_ring_is_stopped_by_its_id_alone(server: RunningServer, phone: DeviceActor):
    fold = await enroll(server, owner=phone, label="Fold")
    relayed = "msg_" + "a" * 32  # the server never saw it
    assert (await fold.call("POST", f"/v1/rings/{relayed}/stop")).status_code == 204
    [stopped] = await waiting(server, phone, "ring.stopped")
    assert (stopped.id, stopped.payload) == (relayed, {"by": "Fold"})
    server.clock.advance(180)  # no ring sounds so long
    assert await waiting(server, phone, "ring.stopped") == []


async def test_what_is_no_ring_or_no_device_stops_nothing(server: RunningServer, phone: DeviceActor, sender: Program):
    fold = await enroll(server, owner=phone, label="Fold")
    for ring_id in ("nothing", "int_" + "a" * 32, "msg_" + "A" * 32):
        assert (await phone.call("POST", f"/v1/rings/{ring_id}/stop")).status_code == 404
    assert (await sender.call("POST", f"/v1/rings/msg_{'a' * 32}/stop")).status_code == 401
    assert await waiting(server, fold, "ring.stopped") == []


async def test_a_device_stops_60_rings_a_minute(server: RunningServer, phone: DeviceActor):
    for number in range(60):
        assert (await phone.call("POST", f"/v1/rings/msg_{number:032x}/stop")).status_code == 204
    refused = await phone.call("POST", f"/v1/rings/msg_{'a' * 32}/stop")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    server.clock.advance(60)
    assert (await phone.call("POST", f"/v1/rings/msg_{'a' * 32}/stop")).status_code == 204
