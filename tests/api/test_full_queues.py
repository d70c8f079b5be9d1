"""What senders hear when the queues of the devices they mean are full."""

from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from reflecto.core.rules.queue_room import QueueLimits
from reflecto.crypto.encoding import encode_base64
from reflecto.crypto.tokens import token_hash
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer, run_server

BOUNDS = QueueLimits(entries=4, relayed_entries=2, reserved_entries=2)
BLOB = encode_base64(b"\x01" + bytes(40))


@pytest.fixture
async def server(tmp_path: Path, clock: FakeClock) -> AsyncIterator[RunningServer]:
    """A server whose queues hold four entries, and two more for questions and closings."""
    async with run_server(tmp_path, clock, bounds=BOUNDS) as running:
        yield running


@pytest.fixture
async def tablet(server: RunningServer, phone: DeviceActor) -> DeviceActor:
    """A second phone; nothing waits for either."""
    tablet = await enroll(server, owner=phone, label="Tablet")
    await phone.ack(2)
    return tablet


async def entries(device: DeviceActor) -> list[dict[str, Any]]:
    """Return what waits for a device."""
    waiting: list[dict[str, Any]] = (await device.call("GET", "/v1/sync/entries")).json()["entries"]
    return waiting


async def types(device: DeviceActor) -> list[str]:
    """Return the types of what the server has for a device."""
    return [device.open(b64decode(entry["blob"])).type for entry in await entries(device)]


async def fill(sender: Program, device: DeviceActor) -> None:
    """Send one device all that its queue takes."""
    for _ in range(4):
        assert (await sender.send(device=device.id)).json()["warnings"] == []


def refusal(reply: httpx.Response) -> tuple[int, str, set[str]]:
    """Return status, code and the ids of the devices that are named."""
    error = reply.json()["error"]
    return reply.status_code, error["code"], {each["device_id"] for each in error["details"]["devices"]}


CALLS = [
    ("/v1/send", {"message": "Done"}),
    ("/v1/documents", {"filename": "a.txt", "content": "x"}),
    ("/v1/ring", {}),
]


@pytest.mark.parametrize(("path", "body"), CALLS)
async def test_a_full_device_is_named_in_a_warning_while_another_one_takes_it(
    sender: Program, phone: DeviceActor, tablet: DeviceActor, path: str, body: dict[str, Any]
):
    await fill(sender, phone)
    sent = await sender.call("POST", path, json=body)
    assert sent.is_success
    assert [each["device_id"] for each in sent.json()["delivered_to"]] == [tablet.id]
    (warning,) = sent.json()["warnings"]
    assert warning["code"] == "queue_full"
    assert phone.id in warning["message"]
    assert "Pixel" in warning["message"]


@pytest.mark.parametrize(("path", "body"), CALLS)
async def test_where_all_are_full_it_is_refused_with_when_to_come_back_and_no_quota_spent(
    server: RunningServer, sender: Program, phone: DeviceActor, tablet: DeviceActor, path: str, body: dict[str, Any]
):
    await fill(sender, phone)
    await fill(sender, tablet)
    first = await sender.call("POST", path, json=body)
    assert refusal(first) == (429, "queue_full", {phone.id, tablet.id})
    assert int(first.headers["retry-after"]) >= 1
    token = await server.services.store.find_token(token_hash(sender.token))
    assert token is not None
    spent = await server.services.quotas.tightest(token)
    assert spent is not None
    assert (spent.resource, spent.remaining) == ("token_burst", 600 - 8)


async def test_pushovers_clients_hear_it_in_pushovers_shape(server: RunningServer, sender: Program, phone: DeviceActor):
    await phone.ack(1)
    await fill(sender, phone)
    body = {"token": sender.token, "message": "Done"}
    refused = await server.http.post("/1/messages.json", json=body)
    assert (refused.status_code, refused.json()["errors"]) == (429, ["queue_full"])
    assert int(refused.headers["retry-after"]) >= 1


async def test_a_queue_full_of_messages_still_takes_questions_and_their_ends(
    sender: Program, phone: DeviceActor, tablet: DeviceActor
):
    await fill(sender, phone)
    await fill(sender, tablet)
    question = await sender.ask_id()
    assert (await phone.answer(question)).status_code == 200
    assert (await types(tablet))[4:] == ["interaction.closed"]


async def test_a_question_that_no_phone_takes_is_refused_and_its_repeat_is_still_found(
    sender: Program, phone: DeviceActor, tablet: DeviceActor
):
    await fill(sender, phone)
    await fill(sender, tablet)
    asked = await sender.ask(idempotency_key="first")
    await sender.cancel(asked.json()["id"])  # its end takes the place of its prompt
    assert (await sender.ask("Another?")).status_code == 201
    assert refusal(await sender.ask("One more?")) == (429, "queue_full", {phone.id, tablet.id})
    repeat = await sender.ask(idempotency_key="first")
    assert (repeat.status_code, repeat.json()["id"]) == (200, asked.json()["id"])
    assert (await tablet.ack(7)).status_code == 204
    assert (await sender.ask("One more?")).status_code == 201


async def test_acks_taps_withdrawals_and_unpairing_work_with_everything_full(
    sender: Program, phone: DeviceActor, tablet: DeviceActor
):
    first, second = await sender.ask_id("First?"), await sender.ask_id("Second?")
    for device in (phone, tablet):
        for _ in range(2):
            await sender.send(device=device.id)
    third = await sender.ask_id("Third?")
    fourth = await sender.ask_id("Fourth?")
    assert refusal(await sender.ask("Fifth?"))[:2] == (429, "queue_full")
    assert (await phone.answer(first)).status_code == 200
    assert (await sender.cancel(second)).status_code == 200
    assert (await sender.read(first)).json()["status"] == "answered"
    assert {(await sender.read(each)).json()["status"] for each in (third, fourth)} == {"pending"}
    assert (await phone.call("DELETE", f"/v1/devices/{tablet.id}")).status_code == 204
    assert (await phone.ack(8)).status_code == 204
    assert (await sender.send()).json()["warnings"] == []


async def test_relayed_entries_push_the_oldest_of_their_kind_out(
    phone: DeviceActor, tablet: DeviceActor, sender: Program
):
    await sender.send(device=phone.id)
    for number in range(3):
        blob = encode_base64(b"\x01" + bytes([number]) * 40)
        relayed = await tablet.call("POST", "/v1/relay", json={"to": [phone.id], "blobs": [blob]})
        assert relayed.status_code == 204
    assert [(entry["from"] == tablet.id, entry["seq"]) for entry in await entries(phone)] == [
        (False, 3),
        (True, 5),
        (True, 6),
    ]


async def test_a_relay_to_a_queue_full_of_other_things_is_refused(
    phone: DeviceActor, tablet: DeviceActor, sender: Program
):
    await fill(sender, phone)
    relayed = await tablet.call("POST", "/v1/relay", json={"to": [phone.id], "blobs": [BLOB]})
    assert refusal(relayed) == (429, "queue_full", {phone.id})


async def test_a_reminder_comes_once_there_is_room(
    server: RunningServer, clock: FakeClock, phone: DeviceActor, sender: Program
):
    await phone.ack(1)
    body = {"message": "Tea", "at": NOW + 3_600}
    assert (await sender.call("POST", "/v1/reminders", json=body)).status_code == 201
    await fill(sender, phone)
    clock.advance_to(NOW + 3_600)
    assert await server.services.reminders.fire_due() == 1
    assert await types(phone) == ["notification"] * 4
    await phone.ack(5)
    clock.advance(59)
    assert await server.services.reminders.fire_due() == 0
    clock.advance(1)
    await server.services.reminders.fire_due()
    (entry,) = await entries(phone)
    envelope = phone.open(b64decode(entry["blob"]))
    assert (envelope.type, envelope.payload["late"]) == ("reminder", True)


async def test_a_new_device_comes_in_although_the_others_cannot_be_told(
    server: RunningServer, sender: Program, phone: DeviceActor
):
    await phone.ack(1)
    await fill(sender, phone)
    assert (await enroll(server, owner=phone, label="Watch")).id
