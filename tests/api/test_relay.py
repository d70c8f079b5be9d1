"""`POST /v1/relay`: what devices of one owner send each other."""

import asyncio
from typing import Any

import pytest

from reflecto.contract.ids import new_id
from reflecto.contract.pairing import RelayRequest
from reflecto.crypto.encoding import decode_base64, encode_base64
from reflecto.crypto.envelopes import open_blob, seal, shared_key
from tests.actors import DeviceActor, Program, enroll
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import drain, open_sync

BLOB = encode_base64(b"\x01" + bytes(40))


async def relay(sender: DeviceActor, to: Any, blobs: Any) -> tuple[int, str | None]:
    """Send; return status and error code."""
    sent = await sender.call("POST", "/v1/relay", json={"to": to, "blobs": blobs})
    return sent.status_code, sent.json()["error"]["code"] if sent.content else None


async def waiting(device: DeviceActor) -> list[dict[str, Any]]:
    """Return what waits for a device."""
    read = await device.call("GET", "/v1/sync/entries")
    entries: list[dict[str, Any]] = read.json()["entries"]
    return entries


@pytest.fixture
async def laptop(server: RunningServer, phone: DeviceActor) -> DeviceActor:
    """A desktop of the same owner, with nothing waiting on either."""
    laptop = await enroll(server, label="Laptop", type="web", class_="desktop")
    await phone.ack(2)
    return laptop


async def test_a_desktops_blob_reaches_the_phone_as_it_was_sealed_for_it(phone: DeviceActor, laptop: DeviceActor):
    listed = (await laptop.call("GET", "/v1/devices")).json()["devices"]
    (phone_key,) = [each["public_key"] for each in listed if each["device_id"] == phone.id]
    raw_key = decode_base64(phone_key, length=32)
    assert raw_key is not None
    blob = seal(shared_key(raw_key, laptop.keys.box.secret), b'{"type": "dismiss"}')
    async with open_sync(phone) as stream:
        assert await relay(laptop, [phone.id], [encode_base64(blob)]) == (204, None)
        event = await stream.event()
    assert event.data["from"] == laptop.id
    assert open_blob(shared_key(laptop.keys.box.public, phone.keys.box.secret), event.blob) == b'{"type": "dismiss"}'


async def test_each_device_gets_its_own_blob(server: RunningServer, phone: DeviceActor, laptop: DeviceActor):
    tablet = await enroll(server, label="Tablet")
    await laptop.ack(1)
    await phone.ack(3)
    blobs = [encode_base64(b"\x01" + bytes([number]) * 40) for number in range(3)]
    assert await relay(phone, [laptop.id, tablet.id, laptop.id], blobs) == (204, None)
    assert [entry["blob"] for entry in await waiting(laptop)] == [blobs[0], blobs[2]]
    assert [(entry["blob"], entry["from"]) for entry in await waiting(tablet)] == [(blobs[1], phone.id)]
    assert await waiting(phone) == []


async def test_a_strangers_or_unknown_device_gets_nothing_and_nobody_else_either(
    server: RunningServer, phone: DeviceActor, laptop: DeviceActor
):
    stranger = await enroll(server, await server.invite(new_owner=True))
    before = await waiting(stranger)
    for other in (stranger.id, new_id("dev"), "phone", "", "*"):
        assert await relay(laptop, [phone.id, other], [BLOB, BLOB]) == (404, "not_found")
    assert await waiting(phone) == []
    assert await waiting(stranger) == before


@pytest.mark.parametrize(
    ("to_count", "blobs"),
    [
        (0, []), (1, []), (0, [BLOB]), (1, [BLOB, BLOB]), (2, [BLOB]), (33, [BLOB] * 33), (1, [""]), (1, ["AQ=="]),
        (1, ["not base64!"]), (1, [BLOB + "\n"]), (1, [encode_base64(b"\x02" + bytes(40))]), (1, [7]), (1, BLOB),
        (1, [encode_base64(b"\x01" + bytes(65_536))]), (1, None),
    ],
)  # fmt: skip
async def test_what_is_not_one_wire_blob_for_each_device_is_refused(
    phone: DeviceActor, laptop: DeviceActor, to_count: int, blobs: Any
):
    assert await relay(laptop, [phone.id] * to_count, blobs) == (400, "invalid_relay")
    assert await waiting(phone) == []


async def test_32_blobs_of_64_kib_pass_at_once(phone: DeviceActor, laptop: DeviceActor):
    largest = encode_base64(b"\x01" + bytes(65_535))
    assert await relay(laptop, [phone.id] * 32, [largest] * 32) == (204, None)
    async with open_sync(phone) as stream:
        assert {event.data["blob"] for event in await stream.events(32)} == {largest}


async def test_a_body_beyond_that_is_too_large(phone: DeviceActor, laptop: DeviceActor):
    assert await relay(laptop, [phone.id], ["A" * 3_145_728]) == (413, "payload_too_large")


async def test_a_removed_device_is_no_target_any_more(phone: DeviceActor, laptop: DeviceActor):
    await laptop.call("DELETE", "/v1/devices/self")
    assert await relay(phone, [laptop.id], [BLOB]) == (404, "not_found")


async def test_senders_do_not_relay(server: RunningServer, phone: DeviceActor, sender: Program):
    body = {"to": [phone.id], "blobs": [BLOB]}
    assert (await sender.call("POST", "/v1/relay", json=body)).status_code == 401
    assert (await server.http.post("/v1/relay", json=body)).status_code == 401


async def test_a_device_relays_600_times_a_minute(
    server: RunningServer, phone: DeviceActor, laptop: DeviceActor, clock: FakeClock
):
    sending = await server.services.devices.authenticate(laptop.token)
    request = RelayRequest(to=(phone.id,), blobs=(BLOB,))
    await asyncio.gather(*(server.services.relay.relay(sending, request) for _ in range(600)))
    clock.advance(6)
    refused = await laptop.call("POST", "/v1/relay", json={"to": [phone.id], "blobs": [BLOB]})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "54")
    assert await relay(phone, [laptop.id], [BLOB]) == (204, None)
    clock.advance(54)
    assert await relay(laptop, [phone.id], [BLOB]) == (204, None)


async def test_entries_wait_three_days_like_any_other(phone: DeviceActor, laptop: DeviceActor, clock: FakeClock):
    await relay(laptop, [phone.id], [BLOB])
    (entry,) = await waiting(phone)
    assert entry["expires_at"] == int(clock.now()) + 259_200
    clock.advance(259_200)
    assert await waiting(phone) == []


async def test_the_relayed_blob_is_in_order_with_what_the_server_sends(
    phone: DeviceActor, laptop: DeviceActor, sender: Program
):
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    await relay(laptop, [phone.id], [BLOB])
    assert [(entry["seq"], entry["from"]) for entry in await waiting(phone)] == [(3, "server"), (4, laptop.id)]
    assert (await drain(phone, 1, after=2))[0].payload == {"message": "Hi"}
