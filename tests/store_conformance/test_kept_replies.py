"""What a verb keeps in its own transaction, for repeats of its request."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Final

import pytest

from reflecto.contract.ids import new_id
from reflecto.core.model import Claim, Device, Pairing, Token
from reflecto.core.ports.store import AlreadyKeptError, Keep, Store
from reflecto.core.rules.outcomes import Sending
from reflecto.core.rules.queue_room import QueueLimits
from tests.builders import (
    NOW,
    make_code,
    make_delivery,
    make_device,
    make_emergency,
    make_keep,
    make_reminder,
    make_token,
    unique_bytes,
)
from tests.fakes import BOUND_SECONDS
from tests.store_conformance.conftest import OpenHandle
from tests.store_conformance.world import blobs, found_owner, join

DAY: Final = 86_400
BOUNDS: Final = QueueLimits(bytes=100, reserved_bytes=0)


@dataclass(frozen=True)
class World:
    """An owner in a store, with a code and a pairing to use up."""

    phone: Device
    token: Token
    code: bytes
    pairing: Pairing


async def make_world(store: Store) -> World:
    phone, token = await found_owner(store)
    code = make_code(owner_id=phone.owner_id)
    await store.add_setup_code(code)
    pairing = Pairing(new_id("par"), phone.owner_id, phone.id, NOW + 600)
    await store.add_pairing(pairing, NOW)
    return World(phone, token, code.hash, pairing)


def claim() -> Claim:
    device = make_device("own")
    return Claim(device.token_hash, device.id, device.public_key, device.signing_key, "Fold", "web", "desktop", None,
                 unique_bytes(), None)  # fmt: skip


Verb = Callable[[Store, World, Keep[Any] | None], Awaitable[Any]]

# Each call makes something else, as a repeat whose first reply was lost does.
VERBS: Final[dict[str, Verb]] = {
    "send_to_queues": lambda store, world, keep: store.send_to_queues([make_delivery(world.phone)], keep),
    "relay_to_queues": lambda store, world, keep: store.relay_to_queues(
        world.phone.owner_id, [make_delivery(world.phone, sender=world.phone.id)], keep
    ),
    "add_setup_code": lambda store, world, keep: store.add_setup_code(make_code(owner_id=world.phone.owner_id), keep),
    "redeem_setup_code": lambda store, world, keep: store.redeem_setup_code(
        world.code, make_device(world.phone.owner_id), None, [make_delivery(world.phone)], NOW, keep
    ),
    "add_pairing": lambda store, world, keep: store.add_pairing(
        Pairing(new_id("par"), world.phone.owner_id, world.phone.id, NOW + 600), NOW, keep
    ),
    "step_pairing": lambda store, world, keep: store.step_pairing(world.pairing.id, claim(), NOW, keep),
    "add_token": lambda store, world, keep: store.add_token(make_token(world.phone.owner_id), world.phone.id, keep),
    "add_reminder": lambda store, world, keep: store.add_reminder(make_reminder(world.token), [], keep),
    "add_emergency": lambda store, world, keep: store.add_emergency(
        make_emergency(world.token), [], [], [make_delivery(world.phone)], keep
    ),
}


async def holdings(store: Store, world: World) -> list[Any]:
    """Return all that the verbs could have made, or changed."""
    owner_id = world.phone.owner_id
    return [
        await blobs(store, world.phone),
        await store.list_devices(owner_id),
        await store.list_tokens(owner_id),
        await store.list_reminders(world.token.id),
        await store.list_active_emergencies(world.token.id, NOW),
        await store.find_pairing(world.pairing.id, NOW),
        await store.find_setup_code(world.code, NOW),
    ]


@pytest.fixture(params=sorted(VERBS))
def verb(request: pytest.FixtureRequest) -> Verb:
    """Each verb that creates."""
    return VERBS[request.param]


async def test_a_verb_keeps_its_reply_and_does_nothing_again(store: Store, verb: Verb):
    world = await make_world(store)
    keep = make_keep(world.phone.owner_id)
    assert await store.find_kept_reply(keep.mark, NOW) is None
    outcome = await verb(store, world, keep)
    kept = keep.seal(outcome)
    assert kept is not None
    assert await store.find_kept_reply(keep.mark, NOW) == kept
    before = await holdings(store, world)
    for _ in range(2):
        with pytest.raises(AlreadyKeptError) as refused:
            await verb(store, world, make_keep(world.phone.owner_id, keep.mark, sealed=b"another"))
        assert refused.value.sealed == kept
    assert await holdings(store, world) == before


async def test_without_a_reply_to_keep_a_verb_does_it_again(store: Store):
    world = await make_world(store)
    for _ in range(2):
        await store.send_to_queues([make_delivery(world.phone, b"x")])
    assert await blobs(store, world.phone) == [b"x", b"x"]


async def test_32_at_once_over_two_handles_do_it_once_and_all_get_that_reply(
    store: Store, open_again: OpenHandle, verb: Verb
):
    world = await make_world(store)
    keep = make_keep(world.phone.owner_id)
    before = await holdings(store, world)
    barrier = asyncio.Barrier(32)

    async def run(at: Store, number: int) -> bytes | None:
        mine = make_keep(world.phone.owner_id, keep.mark, sealed=b"%d " % number)
        await barrier.wait()
        try:
            return mine.seal(await verb(at, world, mine))
        except AlreadyKeptError as error:
            return error.sealed

    async with asyncio.timeout(BOUND_SECONDS):
        handles = cycle([store, await open_again()])
        replies = await asyncio.gather(*(run(at, number) for number, at in zip(range(32), handles, strict=False)))
    assert replies == [await store.find_kept_reply(keep.mark, NOW)] * 32
    after = await holdings(store, world)
    grown = [len(now) - len(then) for then, now in zip(before[:5], after[:5], strict=True)]
    assert max(grown) <= 1


async def test_a_refusal_keeps_nothing_so_that_the_same_may_succeed_later(store: Store):
    phone, token = await found_owner(store)
    keep = make_keep(phone.owner_id)
    unknown, code = make_code(owner_id=phone.owner_id), unique_bytes()
    assert not await store.add_setup_code(make_code(owner_id=phone.owner_id, phone_id=new_id("dev")), keep)
    await store.redeem_setup_code(code, make_device(phone.owner_id), None, [], NOW, keep)
    await store.add_token(make_token(phone.owner_id), new_id("dev"), keep)
    await store.add_reminder(make_reminder(make_token(phone.owner_id)), [], keep)
    await store.add_emergency(make_emergency(make_token(phone.owner_id)), [], [], [], keep)
    await store.add_pairing(Pairing(new_id("par"), phone.owner_id, new_id("dev"), NOW + 600), NOW, keep)
    await store.step_pairing(new_id("par"), claim(), NOW, keep)
    await store.relay_to_queues(phone.owner_id, [make_delivery(make_device("own"), sender=phone.id)], keep)
    assert await store.find_kept_reply(keep.mark, NOW) is None
    assert await store.add_setup_code(unknown, keep)
    assert token in await store.list_tokens(phone.owner_id)
    assert await store.find_kept_reply(keep.mark, NOW) is not None


async def test_a_reply_is_kept_for_a_day_by_comparison_and_its_mark_may_be_used_again(store: Store):
    phone, _ = await found_owner(store)
    first = make_keep(phone.owner_id)
    await store.send_to_queues([make_delivery(phone, b"1")], first)
    assert await store.find_kept_reply(first.mark, NOW + DAY - 1) is not None
    assert await store.find_kept_reply(first.mark, NOW + DAY) is None
    again = make_keep(phone.owner_id, first.mark, now=NOW + DAY, sealed=b"again")
    assert await store.send_to_queues([make_delivery(phone, b"2")], again) == Sending((phone.id,))
    assert await blobs(store, phone) == [b"1", b"2"]
    kept = await store.find_kept_reply(first.mark, NOW + DAY)
    assert kept is not None
    assert kept.startswith(b"again")


async def test_sweeping_deletes_replies_that_have_expired(store: Store):
    phone, _ = await found_owner(store)
    old, young = make_keep(phone.owner_id), make_keep(phone.owner_id, now=NOW + 60)
    await store.send_to_queues([], old)
    await store.send_to_queues([], young)
    assert await store.sweep(NOW + DAY) == 1
    assert await store.find_kept_reply(young.mark, NOW + DAY) is not None


async def keep_one(store: Store, phone: Device, now: float = NOW) -> Keep[Any]:
    """Have a reply kept."""
    keep = make_keep(phone.owner_id, now=now)
    await store.send_to_queues([], keep)
    return keep


async def sweep_all(store: Store, now: float, replies_per_owner: int) -> list[int]:
    """Sweep until nothing is left, and return how many rows went at a time."""
    steps = []
    while swept := await store.sweep(now, replies_per_owner):
        steps.append(swept)
    return steps


async def test_sweeping_leaves_the_newest_replies_of_each_owner_and_what_came_in_one_second_with_the_oldest(
    store: Store,
):
    busy, calm = [(await found_owner(store))[0] for _ in range(2)]
    calms = [await keep_one(store, calm, NOW + second) for second in (0, 1, 2)]
    keeps = [await keep_one(store, busy, NOW + second) for second in (0, 1, 2, 2, 3)]
    assert await sweep_all(store, NOW + 3, 3) == [2]
    assert [await store.find_kept_reply(each.mark, NOW + 3) is not None for each in calms] == [True] * 3
    left = [await store.find_kept_reply(each.mark, NOW + 3) is not None for each in keeps]
    assert left == [False, False, True, True, True]
    assert await sweep_all(store, NOW + 3, 2) == [1]  # of the calm one, for two of the other's are of one second
    assert await sweep_all(store, NOW + 3, 1) == [3]


async def test_many_replies_go_in_small_transactions(store: Store, monkeypatch: pytest.MonkeyPatch):
    for rows in ("sqlite.housekeeping_verbs.SWEEP_ROWS", "postgres.housekeeping_verbs.STEP_ROWS"):
        monkeypatch.setattr(f"reflecto.store.{rows}", 5)
    phone, _ = await found_owner(store)
    await asyncio.gather(*(keep_one(store, phone, NOW + number) for number in range(203)))
    before = sum(store.work.verbs.counts)
    assert sum(await sweep_all(store, NOW + 300, 3)) == 200
    assert sum(store.work.verbs.counts) - before >= 40


async def test_a_server_keeps_20000_replies_of_an_owner(store: Store):
    assert inspect.signature(store.sweep).parameters["replies_per_owner"].default == 20_000


async def test_a_reply_goes_with_its_owner_and_none_is_kept_for_one_who_is_gone(store: Store):
    phone, _ = await found_owner(store)
    other, _ = await found_owner(store)
    gone, kept = make_keep(phone.owner_id), make_keep(other.owner_id)
    for keep in (gone, kept):
        await store.send_to_queues([], keep)
    await store.delete_owner(phone.owner_id)
    assert await store.find_kept_reply(gone.mark, NOW) is None
    assert await store.find_kept_reply(kept.mark, NOW) is not None
    late = make_keep(phone.owner_id)
    assert await store.send_to_queues([make_delivery(phone)], late) == Sending()
    assert await store.find_kept_reply(late.mark, NOW) is None


async def test_founding_an_owner_keeps_its_reply_with_the_new_owner(store: Store):
    code, owner_id = make_code(founds_owner=True), new_id("own")
    await store.add_setup_code(code)
    keep = make_keep(owner_id)
    device, token = make_device(owner_id), make_token(owner_id)
    await store.redeem_setup_code(code.hash, device, token, [], NOW, keep)
    assert await store.find_kept_reply(keep.mark, NOW) is not None
    other_id = new_id("own")
    again = make_keep(other_id, keep.mark)
    with pytest.raises(AlreadyKeptError):
        await store.redeem_setup_code(code.hash, make_device(other_id), make_token(other_id), [], NOW, again)
    assert [owner.id for owner in await store.list_owners()] == [owner_id]


async def test_sending_tells_full_queues_from_devices_that_are_gone(open_bounded: OpenHandle):
    store = await open_bounded()
    phone, _ = await found_owner(store)
    tablet, gone = await join(store, phone.owner_id), make_device(phone.owner_id)
    deliveries = [make_delivery(phone, bytes(200)), make_delivery(tablet), make_delivery(gone)]
    sent = await store.send_to_queues(deliveries)
    assert sent == Sending(reached=(tablet.id,), full=(phone.id,))
