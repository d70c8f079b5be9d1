"""Owners and devices made through the store's own verbs."""

import asyncio
from typing import Any

from reflecto.contract.ids import new_id
from reflecto.core.model import Device, Interaction, QueueEntry, Token
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Addition, CreateResult, Creation, Redemption
from tests.builders import NOW, make_code, make_delivery, make_device, make_interaction, make_reminder, make_token


async def found_owner(store: Store, **device_fields: Any) -> tuple[Device, Token]:
    """Bring an owner into being; return its first phone and its Default token."""
    code = make_code(founds_owner=True)
    owner_id = new_id("own")
    device, token = make_device(owner_id, **device_fields), make_token(owner_id, label="Default")
    await store.add_setup_code(code)
    assert await store.redeem_setup_code(code.hash, device, token, [], NOW) is Redemption.REDEEMED
    return device, token


async def join(store: Store, owner_id: str, **device_fields: Any) -> Device:
    """Add a device to an owner."""
    code, device = make_code(owner_id=owner_id), make_device(owner_id, **device_fields)
    await store.add_setup_code(code)
    assert await store.redeem_setup_code(code.hash, device, None, [], NOW) is Redemption.REDEEMED
    return device


async def create(
    store: Store, new: Interaction, *phones: Device, now: float = NOW, seen: frozenset[str] | None = None
) -> CreateResult:
    """Create a question with a prompt for each of `phones`, which are all the owner has unless `seen` says more."""
    deliveries = [make_delivery(phone, b"prompt " + new.id.encode(), expires_at=new.expires_at) for phone in phones]
    return await store.create_interaction_once(
        new, deliveries, seen if seen is not None else frozenset(phone.id for phone in phones), now
    )


async def created(store: Store, token: Token, *phones: Device, now: float = NOW, **fields: Any) -> Interaction:
    """Create a fresh question and return it."""
    new = make_interaction(token, **fields)
    assert (await create(store, new, *phones, now=now)).creation is Creation.CREATED
    return new


async def fill_with_reminders(store: Store, token: Token, count: int) -> None:
    """Add so many reminders, not so many at once that the last of them would wait long."""
    for start in range(0, count, 50):
        adding = (store.add_reminder(make_reminder(token), []) for _ in range(start, min(start + 50, count)))
        assert set(await asyncio.gather(*adding)) == {Addition.ADDED}


async def queue(store: Store, device: Device, after: int = 0, limit: int = 1000, now: float = NOW) -> list[QueueEntry]:
    """Return what waits for a device that exists."""
    entries = await store.read_queue(device.id, after, limit, now)
    assert entries is not None
    return entries


async def seqs(store: Store, device: Device, after: int = 0, limit: int = 1000, now: float = NOW) -> list[int]:
    """Return the numbers of what waits for a device that exists."""
    return [entry.seq for entry in await queue(store, device, after, limit, now)]


async def blobs(store: Store, device: Device, now: float = NOW) -> list[bytes]:
    """Return what waits for a device that exists."""
    return [entry.blob for entry in await queue(store, device, now=now)]


async def last_seq(store: Store, device: Device) -> int:
    """Return the highest number the device's queue ever gave out."""
    (found,) = [each for each in await store.list_devices(device.owner_id) if each.id == device.id]
    return found.last_seq
