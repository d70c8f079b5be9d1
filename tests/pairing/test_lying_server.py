"""A server that changes what passes through it is caught, whichever end it lies to."""

import copy
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from reflecto.crypto import pairing as rules
from reflecto.crypto.encoding import encode_base64
from reflecto.crypto.envelopes import BoxKeys
from tests.actors import DeviceActor
from tests.builders import DeviceKeys
from tests.pairing.ends import CODE, DeviceEnd, PhoneEnd, Tamper, public
from tests.running import RunningServer

Change = Callable[[dict[str, Any]], None]


def lying(change: Change) -> Tamper:
    """Return what makes `change` in a reply."""

    def tamper(reply: dict[str, Any]) -> dict[str, Any]:
        changed = copy.deepcopy(reply)
        change(changed)
        return changed

    return tamper


def in_claim(**fields: Any) -> Tamper:
    """A lie about the new device."""
    return lying(lambda state: state["claim"].update(fields))


def fresh_key() -> str:
    return encode_base64(DeviceKeys().box.public)


def fresh_signing_key() -> str:
    return encode_base64(DeviceKeys().signing_key)


async def meet(server: RunningServer, phone: DeviceActor) -> tuple[PhoneEnd, DeviceEnd]:
    """Let a device claim an invitation by link."""
    inviting = await PhoneEnd.invite_by_link(phone)
    joining = DeviceEnd.of_link(server.http, inviting.link())
    await joining.ask_to_join()
    return inviting, joining


@pytest.mark.parametrize(
    "lie",
    [
        in_claim(public_key=fresh_key()),
        in_claim(signing_key=fresh_signing_key()),
        in_claim(label="Pixel"),
        in_claim(type="android"),
        in_claim(**{"class": "phone"}),
        in_claim(proof=encode_base64(bytes(32))),
    ],
    ids=["encryption key", "signing key", "label", "type", "class", "proof"],
)
async def test_the_phone_notices_a_lie_about_the_new_device(server: RunningServer, phone: DeviceActor, lie: Tamper):
    inviting, _ = await meet(server, phone)
    with pytest.raises(rules.PairingLieError):
        await inviting.meet(lie)


async def test_the_phone_notices_the_claim_of_another_invitation(server: RunningServer, phone: DeviceActor):
    earlier, _ = await meet(server, phone)
    replayed = (await earlier.read())["claim"]
    inviting = await PhoneEnd.invite_by_link(phone)
    with pytest.raises(rules.PairingLieError):
        inviting.check(await inviting.read() | {"claim": replayed})


async def test_the_phone_notices_a_claim_moved_to_an_invitation_with_the_same_secret(
    server: RunningServer, phone: DeviceActor
):
    earlier, joining = await meet(server, phone)
    other = await PhoneEnd.invite_by_link(phone)
    other.pairing = rules.PairingSecret(other.pairing.pairing_id, earlier.pairing.secret)
    replayed = joining.body()
    claimed = await server.http.post(f"{other.path}/claim", json=replayed)
    assert claimed.status_code == 201
    with pytest.raises(rules.PairingLieError):
        await other.meet()


def in_list(**fields: Any) -> Tamper:
    """A lie about the phone in the list of the owner's devices."""
    return lying(lambda reply: reply["devices"][0].update(fields))


async def test_the_phone_does_not_list_itself_with_keys_that_are_not_its_own(server: RunningServer, phone: DeviceActor):
    inviting, _ = await meet(server, phone)
    await inviting.meet()
    for field in ("public_key", "signing_key"):
        with pytest.raises(rules.PairingLieError, match="Pixel"):
            await inviting.approve(in_list(**{field: fresh_key()}))


def in_admission(**fields: Any) -> Tamper:
    """A lie about the outcome."""
    return lying(lambda state: state["admission"].update(fields))


@pytest.mark.parametrize(
    "lie",
    [
        in_admission(server_key=fresh_key()),
        in_admission(owner_id="own_" + "0" * 32),
        in_admission(proof=encode_base64(bytes(32))),
        in_admission(signature=encode_base64(bytes(64))),
        lying(
            lambda state: state["admission"].update(approval=state["admission"]["approval"].replace("Pixel", "Fold"))
        ),
        lying(lambda state: state["admission"].update(approval=state["admission"]["approval"] + " ")),
    ],
    ids=["server key", "owner", "proof", "signature", "device list", "form of the list"],
)
async def test_the_new_device_notices_a_lie_about_the_approval(server: RunningServer, phone: DeviceActor, lie: Tamper):
    inviting, joining = await meet(server, phone)
    await inviting.meet()
    assert (await inviting.approve()).status_code == 204
    with pytest.raises(rules.PairingLieError):
        await joining.join(lie)
    _, approval = await joining.join()
    assert {device.device_id for device in approval.devices} == {phone.id, joining.claimed["device_id"]}


async def test_the_new_device_notices_the_approval_of_another_pairing(server: RunningServer, phone: DeviceActor):
    first, second = await meet(server, phone), await meet(server, phone)
    for inviting, _ in (first, second):
        await inviting.meet()
        assert (await inviting.approve()).status_code == 204
    other = (await first[1].outcome())["admission"]
    with pytest.raises(rules.PairingLieError):
        await second[1].join(lambda state: state | {"admission": other})


def forge(what: str, approval: rules.Approval) -> rules.Approval:
    """Return the list as a fooled phone might sign it."""
    by_phone, by_device = approval.devices
    swap = msgspec.structs.replace
    devices = {
        "keys swapped": (by_phone, swap(by_device, public_key=fresh_key())),
        "class swapped": (by_phone, swap(by_device, device_class="phone")),
        "left out": (by_phone,),
        "listed twice": (by_phone, swap(by_device, label="Twin"), by_device),
        "phone's keys swapped": (swap(by_phone, signing_key=fresh_signing_key()), by_device),
        "phone left out": (by_device,),
    }
    return swap(approval, devices=devices[what])


@pytest.mark.parametrize(
    "what",
    ["keys swapped", "class swapped", "left out", "listed twice", "phone's keys swapped", "phone left out"],
)
async def test_the_new_device_checks_the_list_even_where_the_phone_was_fooled(
    server: RunningServer, phone: DeviceActor, what: str
):
    inviting, joining = await meet(server, phone)
    await inviting.meet()
    text = forge(what, await inviting.approval()).text()
    approved = await phone.call("POST", f"{inviting.path}/approve", json=inviting.proved(text))
    assert approved.status_code == 204
    with pytest.raises(rules.PairingLieError):
        await joining.join()


@pytest.mark.parametrize("text", ["[]", '{"x": ' + "[" * 3_000 + "]" * 3_000 + "}"])
async def test_the_new_device_takes_no_approval_that_is_no_list(server: RunningServer, phone: DeviceActor, text: str):
    inviting, joining = await meet(server, phone)
    await inviting.meet()
    await phone.call("POST", f"{inviting.path}/approve", json=inviting.proved(text))
    with pytest.raises(rules.PairingLieError, match="no device list"):
        await joining.join()


async def greeted(server: RunningServer, phone: DeviceActor) -> tuple[PhoneEnd, DeviceEnd]:
    """Let a device claim with a typed code, and the phone greet it."""
    inviting = await PhoneEnd.invite_by_code(phone)
    joining = DeviceEnd.of_code(server.http, CODE)
    await joining.ask_to_join(by_code=True)
    await inviting.meet()
    assert (await inviting.greet()).status_code == 204
    return inviting, joining


@pytest.mark.parametrize("field", ["public_key", "signing_key", "nonce"])
async def test_a_lie_in_the_greeting_shows_in_the_digits(server: RunningServer, phone: DeviceActor, field: str):
    inviting, joining = await greeted(server, phone)
    on_device = await joining.digits(lying(lambda state: state["greeting"].update({field: fresh_key()})))
    assert on_device != await inviting.digits()


async def test_who_does_not_compare_the_digits_is_still_not_fooled_about_who_signed(
    server: RunningServer, phone: DeviceActor
):
    inviting, joining = await greeted(server, phone)
    await joining.digits(lying(lambda state: state["greeting"].update(signing_key=fresh_signing_key())))
    assert (await inviting.read(wait=10, was="greeted"))["status"] == "revealed"
    assert (await inviting.approve()).status_code == 204
    with pytest.raises(rules.PairingLieError):
        await joining.join(was="revealed")


@pytest.mark.parametrize("field", ["nonce", "commitment"])
async def test_a_nonce_other_than_the_one_committed_to_is_noticed(
    server: RunningServer, phone: DeviceActor, field: str
):
    inviting, joining = await greeted(server, phone)
    await joining.digits()
    with pytest.raises(rules.PairingLieError, match="committed"):
        await inviting.digits(in_claim(**{field: fresh_key()}))


def fixed_keys(number: int) -> rules.PublicKeys:
    """Return keys that are the same in every run, so that no digits agree by chance."""
    return public(DeviceKeys(BoxKeys.from_secret(bytes([number]) * 32), bytes([number]) * 32))


def test_a_server_that_knows_the_code_and_sits_between_cannot_make_the_digits_agree():
    """It plays a device to the phone and a phone to the device, with keys of its own, and fixes its nonces in time."""
    secret = rules.PairingSecret.of_code(CODE)
    device, phone, between = fixed_keys(1), fixed_keys(2), fixed_keys(3)
    said = rules.Claim(secret.pairing_id, device, "Laptop", "web", "desktop")
    forged = rules.Claim(secret.pairing_id, between, "Laptop", "web", "desktop")
    device_nonce, phone_nonce = b"d" * 32, b"p" * 32
    for guess in range(200):
        own_nonce = bytes([guess]) * 32  # committed to before the phone shows its own
        commitment = rules.commit(own_nonce, forged)
        on_phone = rules.digits(secret.secret, forged, phone, phone_nonce, own_nonce)
        on_device = rules.digits(secret.secret, said, between, own_nonce, device_nonce)
        assert on_phone != on_device
        with pytest.raises(rules.PairingLieError):  # a better nonce, now that the phone's is known
            rules.check_commitment(commitment, bytes([guess + 1]) * 32, forged)


def test_a_commitment_holds_for_one_claim_and_one_nonce():
    claim = rules.Claim("par_" + "0" * 32, fixed_keys(1), "Laptop", "web", "desktop")
    other = rules.Claim("par_" + "0" * 32, fixed_keys(2), "Laptop", "web", "desktop")
    commitment = rules.commit(b"n" * 32, claim)
    rules.check_commitment(commitment, b"n" * 32, claim)
    for nonce, claimed in ((b"m" * 32, claim), (b"n" * 32, other), (b"n" * 33, claim), (b"", claim)):
        with pytest.raises(rules.PairingLieError):
            rules.check_commitment(commitment, nonce, claimed)
