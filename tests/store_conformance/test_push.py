"""`set_push_subscription`, `find_push_target`, `drop_push_subscription`, `list_push_backlog`."""

import asyncio

import pytest

from reflecto.core.model import PushBacklog, PushSubscription, PushTarget, QueueEntry
from reflecto.core.ports.store import Store
from tests.builders import NOW, make_delivery, make_device, unique_bytes
from tests.fakes import BOUND_SECONDS
from tests.store_conformance.conftest import OpenHandle
from tests.store_conformance.world import found_owner, join, queue


def make_subscription(endpoint: str = "https://push.example/a") -> PushSubscription:
    """Return a subscription with keys of its own."""
    return PushSubscription(endpoint, b"\x04" + unique_bytes() + unique_bytes(), unique_bytes()[:16])


async def test_a_subscription_is_found_with_how_far_the_queue_had_come(store: Store):
    phone, _ = await found_owner(store)
    subscription = make_subscription()
    assert await store.find_push_target(phone.id) is None
    await store.append_to_queues([make_delivery(phone) for _ in range(2)])
    assert await store.set_push_subscription(phone.id, subscription) is True
    await store.append_to_queues([make_delivery(phone)])
    assert await store.find_push_target(phone.id) == PushTarget(phone.owner_id, subscription, since_seq=2, last_seq=3)


async def test_a_new_subscription_replaces_the_old_one_and_none_ends_it(store: Store):
    phone, _ = await found_owner(store)
    renewed = make_subscription("https://push.example/b")
    await store.set_push_subscription(phone.id, make_subscription())
    assert await store.set_push_subscription(phone.id, renewed) is True
    target = await store.find_push_target(phone.id)
    assert target is not None
    assert target.subscription == renewed
    assert await store.set_push_subscription(phone.id, None) is True
    assert await store.find_push_target(phone.id) is None
    assert await store.set_push_subscription(phone.id, None) is True


async def test_an_endpoint_moves_to_the_device_that_names_it_last(store: Store):
    phone, _ = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    await store.set_push_subscription(phone.id, make_subscription())
    await store.set_push_subscription(tablet.id, make_subscription())
    assert await store.find_push_target(phone.id) is None
    assert await store.find_push_target(tablet.id) is not None


async def test_an_endpoint_that_devices_of_two_owners_name_at_once_is_one_s_only(store: Store, open_again: OpenHandle):
    phones = [(await found_owner(store))[0] for _ in range(2)]
    handles = [store, await open_again()]
    for _ in range(10):
        calls = [
            at.set_push_subscription(phone.id, make_subscription())
            for at, phone in zip(handles * 2, [*phones, *reversed(phones)], strict=True)
        ]
        async with asyncio.timeout(BOUND_SECONDS):
            assert await asyncio.gather(*calls) == [True] * 4
        targets = [await store.find_push_target(phone.id) for phone in phones]
        assert [target is None for target in targets].count(True) == 1


@pytest.mark.parametrize("subscription", [make_subscription(), None])
async def test_a_device_that_is_gone_gets_none(store: Store, subscription: PushSubscription | None):
    phone, _ = await found_owner(store)
    assert await store.set_push_subscription(make_device(phone.owner_id).id, subscription) is False


async def test_only_the_subscription_that_is_named_is_dropped(store: Store):
    phone, _ = await found_owner(store)
    await store.set_push_subscription(phone.id, make_subscription("https://push.example/new"))
    assert await store.drop_push_subscription(phone.id, "https://push.example/old") is False
    assert await store.drop_push_subscription(make_device(phone.owner_id).id, "https://push.example/new") is False
    assert await store.find_push_target(phone.id) is not None
    assert await store.drop_push_subscription(phone.id, "https://push.example/new") is True
    assert await store.find_push_target(phone.id) is None


async def test_removing_a_device_or_its_owner_takes_the_subscription_along(store: Store):
    phone, _ = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    await store.set_push_subscription(phone.id, make_subscription("https://push.example/a"))
    await store.set_push_subscription(tablet.id, make_subscription("https://push.example/b"))
    await store.remove_device(phone.owner_id, tablet.id)
    await store.append_to_queues([make_delivery(phone), make_delivery(tablet)])
    assert [each.device_id for each in await store.list_push_backlog(NOW)] == [phone.id]
    await store.delete_owner(phone.owner_id)
    assert await store.list_push_backlog(NOW) == []


async def test_the_backlog_names_the_subscribed_devices_for_which_something_live_waits(store: Store):
    phone, _ = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    silent = await join(store, phone.owner_id)
    await store.set_push_subscription(phone.id, make_subscription("https://push.example/a"))
    await store.set_push_subscription(tablet.id, make_subscription("https://push.example/b"))
    short = [make_delivery(each, expires_at=NOW + 60) for each in (phone, phone, silent)]
    await store.append_to_queues([*short, make_delivery(tablet)])

    async def backlog(now: float) -> set[PushBacklog]:
        return set(await store.list_push_backlog(now))

    assert await backlog(NOW + 59) == {PushBacklog(phone.id, 2), PushBacklog(tablet.id, 1)}
    assert await backlog(NOW + 60) == {PushBacklog(tablet.id, 1)}
    await store.ack_queue(tablet.id, 1)
    assert await backlog(NOW) == {PushBacklog(phone.id, 2)}


async def test_urgency_and_topic_are_kept_with_the_entry(store: Store):
    phone, _ = await found_owner(store)
    topic = "0123456789abcdef" * 2
    await store.append_to_queues([make_delivery(phone, b"a", urgency="low"), make_delivery(phone, b"b", topic=topic)])
    assert await queue(store, phone) == [
        QueueEntry(1, "server", b"a", NOW + 259_200, "low", None),
        QueueEntry(2, "server", b"b", NOW + 259_200, "high", topic),
    ]
