"""`add_pairing`, `find_pairing`, `step_pairing`, `approve_pairing`; `relay_to_queues`."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from reflecto.contract.ids import new_id
from reflecto.core.model import (
    Approval,
    Claim,
    Device,
    DeviceNonce,
    Pairing,
    PairingStep,
    PhoneNonce,
    QueueEntry,
    Rejection,
)
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Admittance, Opening, Relaying, StepResult
from tests.builders import NOW, make_delivery, make_device, unique_bytes
from tests.fakes import BOUND_SECONDS
from tests.store_conformance.world import blobs, found_owner, join, queue

APPROVAL = Approval('{"devices":[]}', b"p" * 32, b"s" * 64)


def make_pairing(phone: Device, **fields: Any) -> Pairing:
    """Return a fresh invitation, open for 10 minutes."""
    return replace(Pairing(new_id("par"), phone.owner_id, phone.id, NOW + 600), **fields)


def make_claim(**fields: Any) -> Claim:
    """Return the claim of a desktop that came by link."""
    claim = Claim(
        token_hash=unique_bytes(),
        device_id=new_id("dev"),
        public_key=unique_bytes(),
        signing_key=unique_bytes(),
        label="Laptop",
        type="web",
        device_class="desktop",
        app_build=None,
        proof=unique_bytes(),
        commitment=None,
    )
    return replace(claim, **fields)


def device_of(pairing: Pairing, claim: Claim) -> Device:
    """Return the device that an approval makes of the claim."""
    return make_device(
        pairing.owner_id,
        id=claim.device_id,
        token_hash=claim.token_hash,
        public_key=claim.public_key,
        signing_key=claim.signing_key,
        label=claim.label,
        type=claim.type,
        device_class=claim.device_class,
    )


async def opened(store: Store, phone: Device, *steps: PairingStep, **fields: Any) -> Pairing:
    """Open an invitation and take these steps, all of which must be accepted."""
    pairing = make_pairing(phone, **fields)
    assert await store.add_pairing(pairing, NOW) is Opening.OPENED
    for step in steps:
        result = await store.step_pairing(pairing.id, step, NOW)
        assert result is not None
        assert result.accepted
        pairing = result.pairing
    return pairing


async def test_an_invitation_is_found_until_the_instant_it_expires(store: Store):
    phone, _ = await found_owner(store)
    pairing = await opened(store, phone)
    assert await store.find_pairing(pairing.id, NOW + 599.999) == pairing
    assert await store.find_pairing(pairing.id, NOW + 600) is None
    assert await store.find_pairing(new_id("par"), NOW) is None
    assert await store.step_pairing(pairing.id, make_claim(), NOW + 600) is None
    assert await store.step_pairing(new_id("par"), make_claim(), NOW) is None


async def test_an_id_is_taken_once_and_only_for_a_phone_that_exists(store: Store):
    phone, _ = await found_owner(store)
    stranger, _ = await found_owner(store)
    pairing = await opened(store, phone)
    taken = make_pairing(stranger, id=pairing.id)
    assert await store.add_pairing(taken, NOW) is Opening.TAKEN
    assert await store.add_pairing(make_pairing(make_device(phone.owner_id)), NOW) is Opening.PHONE_REMOVED
    assert await store.find_pairing(pairing.id, NOW) == pairing


async def test_the_ninth_open_invitation_is_refused_and_ended_ones_do_not_count(store: Store):
    phone, _ = await found_owner(store)
    stranger, _ = await found_owner(store)
    pairings = [await opened(store, phone) for _ in range(8)]
    assert await store.add_pairing(make_pairing(phone), NOW) is Opening.TOO_MANY
    await opened(store, stranger)
    await store.step_pairing(pairings[0].id, Rejection(), NOW)
    await opened(store, phone)
    assert await store.add_pairing(make_pairing(phone), NOW) is Opening.TOO_MANY
    assert await store.add_pairing(make_pairing(phone, expires_at=NOW + 1_200), NOW + 600) is Opening.OPENED


async def test_each_step_is_kept_as_it_was_taken(store: Store):
    phone, _ = await found_owner(store)
    claim = make_claim(commitment=unique_bytes(), app_build=7, label="Küche")
    phone_nonce, device_nonce = unique_bytes(), unique_bytes()
    pairing = await opened(store, phone, claim, PhoneNonce(phone_nonce), DeviceNonce(device_nonce))
    assert pairing == make_pairing(
        phone,
        id=pairing.id,
        status="revealed",
        claim=claim,
        phone_nonce=phone_nonce,
        device_nonce=device_nonce,
    )
    assert await store.find_pairing(pairing.id, NOW) == pairing


async def test_a_second_device_is_refused_and_the_first_one_gets_a_new_token(store: Store):
    phone, _ = await found_owner(store)
    first = make_claim()
    pairing = await opened(store, phone, first)
    assert await store.step_pairing(pairing.id, make_claim(), NOW) == StepResult(accepted=False, pairing=pairing)
    again = replace(first, token_hash=unique_bytes(), device_id=new_id("dev"))
    expected = replace(pairing, claim=replace(first, token_hash=again.token_hash))
    assert await store.step_pairing(pairing.id, again, NOW) == StepResult(accepted=True, pairing=expected)


async def test_a_step_may_be_taken_again_but_not_differently(store: Store):
    phone, _ = await found_owner(store)
    nonce = unique_bytes()
    pairing = await opened(store, phone, make_claim(commitment=unique_bytes()), PhoneNonce(nonce))
    assert await store.step_pairing(pairing.id, PhoneNonce(nonce), NOW) == StepResult(accepted=True, pairing=pairing)
    other = await store.step_pairing(pairing.id, PhoneNonce(unique_bytes()), NOW)
    assert other == StepResult(accepted=False, pairing=pairing)


async def test_an_approval_adds_the_device_its_news_and_ten_minutes(store: Store):
    phone, _ = await found_owner(store)
    claim = make_claim()
    pairing = await opened(store, phone, claim)
    laptop = device_of(pairing, claim)
    admittance = await store.approve_pairing(pairing.id, APPROVAL, laptop, [make_delivery(phone, b"news")], NOW + 599)
    assert admittance is Admittance.ADMITTED
    assert await store.find_device_by_token(claim.token_hash) == laptop
    assert await blobs(store, phone) == [b"news"]
    approved = replace(pairing, status="approved", approval=APPROVAL, expires_at=NOW + 1_199)
    assert await store.find_pairing(pairing.id, NOW + 1_198) == approved


async def test_an_approval_given_again_changes_nothing(store: Store):
    phone, _ = await found_owner(store)
    claim = make_claim()
    pairing = await opened(store, phone, claim)
    laptop = device_of(pairing, claim)
    other = replace(APPROVAL, text="{}")
    results = [
        await store.approve_pairing(pairing.id, each, laptop, [make_delivery(phone, b"news")], NOW)
        for each in (APPROVAL, APPROVAL, other)
    ]
    assert results == [Admittance.ADMITTED, Admittance.REPEATED, Admittance.CLOSED]
    assert await blobs(store, phone) == [b"news"]
    assert len(await store.list_devices(phone.owner_id)) == 2


@pytest.mark.parametrize("steps", [(), (make_claim(), Rejection()), (make_claim(commitment=b"c" * 32),)])
async def test_what_is_not_ready_is_not_approved(store: Store, steps: tuple[PairingStep, ...]):
    phone, _ = await found_owner(store)
    pairing = await opened(store, phone, *steps)
    laptop = device_of(pairing, make_claim())
    assert await store.approve_pairing(pairing.id, APPROVAL, laptop, [], NOW) is Admittance.CLOSED
    assert await store.approve_pairing(pairing.id, APPROVAL, laptop, [], NOW + 600) is None
    assert await store.find_device_by_token(laptop.token_hash) is None


async def test_the_33rd_device_is_not_admitted_and_may_be_later(store: Store):
    phone, _ = await found_owner(store)
    tablet = [await join(store, phone.owner_id) for _ in range(31)][-1]
    claim = make_claim()
    pairing = await opened(store, phone, claim)
    laptop = device_of(pairing, claim)
    assert await store.approve_pairing(pairing.id, APPROVAL, laptop, [], NOW) is Admittance.TOO_MANY_DEVICES
    await store.remove_device(phone.owner_id, tablet.id)
    assert await store.approve_pairing(pairing.id, APPROVAL, laptop, [], NOW) is Admittance.ADMITTED


async def test_a_pairing_goes_with_its_phone_with_its_device_and_with_its_owner(store: Store):
    phone, _ = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    claim = make_claim()
    by_tablet, by_phone, approved = (
        await opened(store, tablet),
        await opened(store, phone),
        await opened(store, phone, claim),
    )
    await store.approve_pairing(approved.id, APPROVAL, device_of(approved, claim), [], NOW)
    await store.remove_device(phone.owner_id, tablet.id)
    assert await store.find_pairing(by_tablet.id, NOW) is None
    await store.remove_device(phone.owner_id, claim.device_id)
    assert await store.find_pairing(approved.id, NOW) is None
    assert await store.find_pairing(by_phone.id, NOW) == by_phone
    await store.delete_owner(phone.owner_id)
    assert await store.find_pairing(by_phone.id, NOW) is None


async def test_a_sweep_deletes_expired_invitations(store: Store):
    phone, _ = await found_owner(store)
    await opened(store, phone)
    kept = await opened(store, phone, expires_at=NOW + 601)
    assert await store.sweep(NOW + 599) == 0
    assert await store.sweep(NOW + 600) == 1
    assert await store.find_pairing(kept.id, NOW + 600) == kept


async def test_of_32_simultaneous_claims_one_is_taken(store: Store):
    phone, _ = await found_owner(store)
    pairing = await opened(store, phone)
    claims = [make_claim() for _ in range(32)]
    async with asyncio.timeout(BOUND_SECONDS):
        results = await asyncio.gather(*(store.step_pairing(pairing.id, claim, NOW) for claim in claims))
    assert Counter(result.accepted for result in results if result) == {True: 1, False: 31}
    (winner,) = [claim for claim, result in zip(claims, results, strict=True) if result and result.accepted]
    assert {result.pairing.claim for result in results if result} == {winner}


async def test_either_the_approval_or_the_rejection_wins(store: Store):
    phone, _ = await found_owner(store)
    for _ in range(8):
        claim = make_claim()
        pairing = await opened(store, phone, claim)
        approved, rejected = await asyncio.gather(
            store.approve_pairing(pairing.id, APPROVAL, device_of(pairing, claim), [], NOW),
            store.step_pairing(pairing.id, Rejection(), NOW),
        )
        assert rejected is not None
        assert (approved is Admittance.ADMITTED) is not rejected.accepted


async def test_relayed_blobs_are_queued_under_their_senders_id(store: Store):
    phone, _ = await found_owner(store)
    laptop = await join(store, phone.owner_id, device_class="desktop")
    deliveries = [make_delivery(each, b"blob", sender=laptop.id) for each in (phone, laptop, phone)]
    assert await store.relay_to_queues(phone.owner_id, deliveries) is Relaying.QUEUED
    assert await queue(store, phone) == [QueueEntry(seq, laptop.id, b"blob", NOW + 259_200) for seq in (1, 2)]
    assert await blobs(store, laptop) == [b"blob"]


async def test_a_relay_to_or_from_a_strangers_or_a_removed_device_queues_nothing(store: Store):
    phone, _ = await found_owner(store)
    stranger, _ = await found_owner(store)
    for other in (stranger, make_device(phone.owner_id)):
        deliveries = [make_delivery(each, sender=phone.id) for each in (phone, other)]
        assert await store.relay_to_queues(phone.owner_id, deliveries) is Relaying.DEVICE_GONE
        from_other = [make_delivery(phone, sender=other.id)]
        assert await store.relay_to_queues(phone.owner_id, from_other) is Relaying.DEVICE_GONE
    assert await blobs(store, phone) == []
    assert await blobs(store, stranger) == []
