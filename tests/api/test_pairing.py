"""Pairing a further device over HTTP: both ways to the end, and what the server refuses on them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reflecto.contract.ids import new_id
from reflecto.crypto import pairing as rules
from reflecto.crypto.encoding import encode_base64
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.pairing.ends import CODE, DeviceEnd, PhoneEnd
from tests.running import RunningServer
from tests.sync_reader import drain, open_sync

NONCE = encode_base64(b"n" * 32)


async def by_link(server: RunningServer, phone: DeviceActor, **fields: Any) -> tuple[PhoneEnd, DeviceEnd]:
    """Return both ends once the device has claimed the invitation in a link."""
    inviting = await PhoneEnd.invite_by_link(phone)
    joining = DeviceEnd.of_link(server.http, inviting.link(), **fields)
    await joining.ask_to_join()
    return inviting, joining


async def test_a_device_joins_by_link_and_is_one_of_the_owners(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    inviting, joining = await by_link(server, phone)
    state = await inviting.meet()
    assert (state["status"], state["claim"]["label"], state["claim"]["class"]) == (
        "claimed", "Firefox on laptop", "desktop",
    )  # fmt: skip
    assert (await inviting.approve()).status_code == 204
    laptop, approval = await joining.join()
    assert (laptop.id, laptop.owner_id) == (joining.claimed["device_id"], phone.owner_id)
    assert {device.device_id: device.public_key for device in approval.devices} == {
        each.id: encode_base64(each.keys.box.public) for each in (phone, laptop)
    }
    sent = await sender.call("POST", "/v1/send", json={"message": "Hi", "device": laptop.id})
    assert sent.json()["delivered_to"] == [{"device_id": laptop.id, "type": "web"}]
    (envelope,) = await drain(laptop, 1)
    assert envelope.payload == {"message": "Hi"}


async def test_a_device_joins_by_typed_code_once_both_screens_show_the_same_digits(
    server: RunningServer, phone: DeviceActor
):
    inviting = await PhoneEnd.invite_by_code(phone)
    joining = DeviceEnd.of_code(server.http, CODE.lower().replace("-", " "), label="Tablet", device_class="phone")
    await joining.ask_to_join(by_code=True)
    await inviting.meet()
    assert (await inviting.greet()).status_code == 204
    on_device = await joining.digits()
    assert on_device == await inviting.digits()
    assert len(on_device) == 6
    assert (await inviting.approve()).status_code == 204
    tablet, _ = await joining.join(was="revealed")
    assert (await tablet.call("POST", "/v1/tokens", json={"label": "CI"})).status_code == 201


async def test_the_owners_other_devices_are_told_who_joined(server: RunningServer, phone: DeviceActor):
    tablet = await enroll(server, label="Tablet")
    inviting, _ = await by_link(server, phone, label="Chrome on desk")
    await inviting.meet()
    await inviting.approve()
    for device, before in ((phone, 2), (tablet, 0)):
        notice = (await drain(device, before + 1))[-1]
        assert (notice.type, notice.source) == ("notification", {"server": "Reflecto"})
        assert "Chrome on desk" in notice.payload["message"]


async def test_before_the_approval_the_claim_token_opens_nothing(server: RunningServer, phone: DeviceActor):
    inviting, joining = await by_link(server, phone)
    headers = {"authorization": f"Bearer {joining.claimed['claim_token']}"}
    for path in ("/v1/devices", "/v1/sync/entries", "/v1/tokens", inviting.path):
        assert (await server.http.get(path, headers=headers)).status_code == 401
    assert len((await phone.call("GET", "/v1/devices")).json()["devices"]) == 1


@asynccontextmanager
async def waiting(clock: FakeClock, poll: Any, instant: float) -> AsyncIterator[Any]:
    """Run a long poll until it waits; the block changes what it waits for."""
    task = asyncio.create_task(poll)
    await clock.until_waited_for(instant)
    yield task
    await task


async def test_both_ends_hear_at_once_of_what_the_other_did(
    server: RunningServer, phone: DeviceActor, clock: FakeClock
):
    inviting = await PhoneEnd.invite_by_link(phone)
    joining = DeviceEnd.of_link(server.http, inviting.link())
    async with waiting(clock, inviting.read(wait=25, was="open"), NOW + 25) as read:
        await joining.ask_to_join()
    assert read.result()["status"] == "claimed"
    await inviting.meet()
    async with waiting(clock, joining.outcome(wait=25, was="claimed"), NOW + 25) as outcome:
        await inviting.approve()
    assert outcome.result()["status"] == "approved"


async def test_a_poll_ends_after_its_time_with_things_as_they_are(phone: DeviceActor, clock: FakeClock):
    inviting = await PhoneEnd.invite_by_link(phone)
    async with waiting(clock, inviting.read(wait=25, was="open"), NOW + 25) as read:
        clock.advance(25)
    assert read.result() == {
        "pairing_id": inviting.pairing.pairing_id, "status": "open", "expires_at": NOW + 600, "claim": None,
    }  # fmt: skip
    assert (await inviting.read(wait=25, was="claimed"))["status"] == "open"
    for wait in ("61", "-1", "soon"):
        assert (await phone.call("GET", inviting.path, params={"wait": wait})).status_code == 400


async def test_a_rejected_device_is_told_and_does_not_join(server: RunningServer, phone: DeviceActor):
    inviting, joining = await by_link(server, phone)
    assert (await inviting.reject()).status_code == 204
    assert (await inviting.reject()).status_code == 204
    outcome = await joining.outcome(wait=10, was="claimed")
    assert (outcome["status"], outcome["admission"]) == ("rejected", None)
    await inviting.meet()
    refused = await inviting.approve()
    assert (refused.status_code, refused.json()["error"]["details"]) == (409, {"status": "rejected"})
    assert len((await phone.call("GET", "/v1/devices")).json()["devices"]) == 1


async def test_an_invitation_is_for_one_device_and_its_lost_reply_can_be_asked_for_again(
    server: RunningServer, phone: DeviceActor
):
    inviting, joining = await by_link(server, phone)
    first = joining.claimed
    await joining.ask_to_join()
    assert joining.claimed["device_id"] == first["device_id"]
    assert joining.claimed["claim_token"] != first["claim_token"]
    stale = await server.http.get(
        f"{inviting.path}/outcome", headers={"authorization": f"Bearer {first['claim_token']}"}
    )
    assert stale.status_code == 401
    second = DeviceEnd.of_link(server.http, inviting.link())
    refused = await second.call("POST", "claim", json=second.body())
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "pairing_closed")
    await inviting.meet()
    await inviting.approve()
    late = await joining.call("POST", "claim", json=joining.body())
    assert (late.status_code, late.json()["error"]["details"]) == (409, {"status": "approved"})
    assert (await joining.join())[0].id == first["device_id"]


async def test_an_approval_may_be_sent_again_and_adds_one_device(server: RunningServer, phone: DeviceActor):
    inviting, joining = await by_link(server, phone)
    await inviting.meet()
    body = inviting.proved((await inviting.approval()).text())
    for _ in range(3):
        assert (await phone.call("POST", f"{inviting.path}/approve", json=body)).status_code == 204
    assert len((await phone.call("GET", "/v1/devices")).json()["devices"]) == 2
    other = await phone.call("POST", f"{inviting.path}/approve", json=inviting.proved("{}"))
    assert other.status_code == 409
    assert (await joining.join())[0].owner_id == phone.owner_id


@pytest.mark.parametrize("by_code", [False, True])
async def test_steps_out_of_order_are_refused_by_name(server: RunningServer, phone: DeviceActor, *, by_code: bool):
    inviting = await PhoneEnd.invite_by_code(phone)
    joining = DeviceEnd.of_code(server.http)
    approve = {"approval": "{}", "proof": NONCE, "signature": encode_base64(bytes(64))}

    async def refused(step: str, body: dict[str, Any], status: str) -> None:
        call = (
            joining.call
            if step == "reveal"
            else lambda method, step, **o: phone.call(method, f"{inviting.path}/{step}", **o)
        )
        reply = await call("POST", step, json=body)
        assert reply.status_code == 409, (step, reply.text)
        assert reply.json()["error"]["details"] == {"status": status}

    await refused("greet", {"nonce": NONCE}, "open")
    await refused("approve", approve, "open")
    await joining.ask_to_join(by_code=by_code)
    await refused("reveal", {"nonce": NONCE}, "claimed")
    await refused(*(("approve", approve) if by_code else ("greet", {"nonce": NONCE})), "claimed")
    if by_code:
        await inviting.meet()
        await inviting.greet()
        await inviting.greet()
        await refused("greet", {"nonce": NONCE}, "greeted")
        await refused("approve", approve, "greeted")


async def test_only_the_phone_that_invited_sees_and_decides(server: RunningServer, phone: DeviceActor):
    tablet = await enroll(server, label="Tablet")
    stranger = await enroll(server, await server.invite(new_owner=True))
    inviting, _ = await by_link(server, phone)
    approve = {"approval": "{}", "proof": NONCE, "signature": encode_base64(bytes(64))}
    for device in (tablet, stranger):
        assert (await device.call("GET", inviting.path)).status_code == 404
        assert (await device.call("DELETE", inviting.path)).status_code == 404
        assert (await device.call("POST", f"{inviting.path}/greet", json={"nonce": NONCE})).status_code == 404
        assert (await device.call("POST", f"{inviting.path}/approve", json=approve)).status_code == 404


async def test_desktops_and_senders_do_not_invite(server: RunningServer, phone: DeviceActor, sender: Program):
    laptop = await enroll(server, label="Laptop", type="web", class_="desktop")
    assert (await laptop.call("POST", "/v1/pairings", json={})).status_code == 403
    assert (await sender.call("POST", "/v1/pairings", json={})).status_code == 401
    assert (await server.http.post("/v1/pairings", json={})).status_code == 401
    assert phone.id


@pytest.mark.parametrize("pairing_id", ["", "par_", "par_" + "A" * 32, "dev_" + "0" * 32, 7, None])
async def test_an_id_of_another_form_is_refused(phone: DeviceActor, pairing_id: Any):
    refused = await phone.call("POST", "/v1/pairings", json={"pairing_id": pairing_id})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_pairing_id")


async def test_a_code_in_use_cannot_be_used_by_somebody_else(server: RunningServer, phone: DeviceActor):
    await PhoneEnd.invite_by_code(phone)
    stranger = await enroll(server, await server.invite(new_owner=True))
    body = {"pairing_id": rules.PairingSecret.of_code(CODE).pairing_id}
    refused = await stranger.call("POST", "/v1/pairings", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "pairing_closed")


async def test_eight_invitations_may_be_open_and_ended_ones_do_not_count(phone: DeviceActor, clock: FakeClock):
    opened = [await PhoneEnd.invite_by_link(phone) for _ in range(8)]
    refused = await phone.call("POST", "/v1/pairings", json={})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_many_pairings")
    await opened[0].reject()
    assert (await phone.call("POST", "/v1/pairings", json={})).status_code == 201
    clock.advance(600)
    assert (await phone.call("POST", "/v1/pairings", json={})).status_code == 201


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("public_key", "AAAA", "invalid_public_key"),
        ("public_key", encode_base64(bytes(32)), "invalid_public_key"),
        ("signing_key", encode_base64(bytes(31)), "invalid_signing_key"),
        ("label", " ", "invalid_label"),
        ("label", "x" * 61, "invalid_label"),
        ("type", "toaster", "invalid_type"),
        ("class", "server", "invalid_class"),
        ("app_build", -1, "invalid_app_build"),
        ("proof", "", "invalid_proof"),
        ("proof", encode_base64(bytes(31)), "invalid_proof"),
        ("commitment", "", "invalid_proof"),
        ("commitment", encode_base64(bytes(33)), "invalid_proof"),
    ],
)
async def test_a_claim_with_a_field_that_is_none_is_refused_and_the_invitation_stays_open(
    server: RunningServer, phone: DeviceActor, field: str, value: Any, code: str
):
    inviting = await PhoneEnd.invite_by_link(phone)
    joining = DeviceEnd.of_link(server.http, inviting.link())
    refused = await joining.call("POST", "claim", json=joining.body() | {field: value})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    assert (await inviting.read())["status"] == "open"


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("approval", "", "invalid_approval"),
        ("approval", "x" * 32_769, "invalid_approval"),
        ("approval", {}, "invalid_approval"),
        ("proof", "AAAA", "invalid_proof"),
        ("signature", "AAAA", "invalid_signature"),
    ],
)
async def test_an_approval_with_a_field_that_is_none_is_refused(
    server: RunningServer, phone: DeviceActor, field: str, value: Any, code: str
):
    inviting, _ = await by_link(server, phone)
    body = {"approval": "{}", "proof": NONCE, "signature": encode_base64(bytes(64))} | {field: value}
    refused = await phone.call("POST", f"{inviting.path}/approve", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)


async def test_an_invitation_ends_after_ten_minutes_for_both_ends(
    server: RunningServer, phone: DeviceActor, clock: FakeClock
):
    inviting, joining = await by_link(server, phone)
    clock.advance(599)
    await inviting.meet()
    clock.advance(1)
    assert (await phone.call("GET", inviting.path)).status_code == 404
    assert (await joining.call("GET", "outcome")).status_code == 404
    assert (await inviting.approve()).status_code == 404
    late = DeviceEnd.of_link(server.http, inviting.link())
    assert (await late.call("POST", "claim", json=late.body())).status_code == 404


async def test_an_approval_in_the_last_second_can_be_fetched_for_ten_minutes_more(
    server: RunningServer, phone: DeviceActor, clock: FakeClock
):
    inviting, joining = await by_link(server, phone)
    clock.advance(599)
    await inviting.meet()
    await inviting.approve()
    clock.advance(599)
    laptop, _ = await joining.join()
    clock.advance(1)
    assert (await joining.call("GET", "outcome")).status_code == 404
    assert (await laptop.call("GET", "/v1/devices")).status_code == 200


async def test_unpairing_takes_the_pairing_with_the_devices_keys_along(server: RunningServer, phone: DeviceActor):
    inviting, joining = await by_link(server, phone)
    await inviting.meet()
    await inviting.approve()
    laptop, _ = await joining.join()
    assert (await phone.call("DELETE", f"/v1/devices/{laptop.id}")).status_code == 204
    assert (await joining.call("GET", "outcome")).status_code == 404
    assert (await laptop.call("GET", "/v1/devices")).status_code == 401


async def test_the_33rd_device_is_refused(server: RunningServer, phone: DeviceActor):
    for _ in range(31):
        await enroll(server)
    inviting, _ = await by_link(server, phone)
    await inviting.meet()
    refused = await inviting.approve()
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_many_devices")


async def test_an_address_that_guesses_wrong_five_times_waits_a_minute(
    server: RunningServer, phone: DeviceActor, clock: FakeClock
):
    inviting = await PhoneEnd.invite_by_link(phone)
    joining = DeviceEnd.of_link(server.http, inviting.link())

    async def guess(pairing_id: str) -> int:
        return (await server.http.post(f"/v1/pairings/{pairing_id}/claim", json=joining.body())).status_code

    assert [await guess(new_id("par")) for _ in range(5)] == [404] * 5
    assert await guess(inviting.pairing.pairing_id) == 429
    clock.advance(60)
    assert await guess("nonsense") == 404
    assert await guess(inviting.pairing.pairing_id) == 201


async def test_wrong_claim_tokens_count_as_wrong_tokens(server: RunningServer, phone: DeviceActor):
    inviting, _ = await by_link(server, phone)
    wrong = {"authorization": "Bearer rfd_live_" + "a" * 32}
    replies = [await server.http.get(f"{inviting.path}/outcome", headers=wrong) for _ in range(21)]
    assert [reply.status_code for reply in replies] == [401] * 20 + [429]
    assert (await server.http.get(f"{inviting.path}/outcome")).status_code == 401


async def test_the_new_devices_stream_opens_with_its_token(server: RunningServer, phone: DeviceActor, sender: Program):
    inviting, joining = await by_link(server, phone)
    await inviting.meet()
    await inviting.approve()
    laptop, _ = await joining.join()
    async with open_sync(laptop) as stream:
        await sender.call("POST", "/v1/send", json={"message": "Hi"})
        assert (await stream.envelope()).payload == {"message": "Hi"}
