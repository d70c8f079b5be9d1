"""Reminders: kept until due, fired once. And the monthly counts of tokens."""

import asyncio

from reflecto.core.model import ReminderDelivery
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News
from reflecto.core.rules.outcomes import Addition
from tests.builders import NOW, make_delivery, make_device, make_reminder, make_token
from tests.fakes import BOUND_SECONDS
from tests.store_conformance.conftest import OpenHandle
from tests.store_conformance.world import blobs, fill_with_reminders, found_owner, join, queue

HOUR, MONTH = 3_600, "2025-08"


async def test_reminders_are_listed_per_token_the_next_one_first(store: Store):
    phone, token = await found_owner(store)
    other = make_token(phone.owner_id)
    await store.add_token(other)
    later, sooner = make_reminder(token, fire_at=NOW + 7_200), make_reminder(token)
    for reminder in (later, sooner, make_reminder(other)):
        assert await store.add_reminder(reminder, []) is Addition.ADDED
    assert await store.list_reminders(token.id) == [sooner, later]


async def test_a_reminder_is_due_from_its_very_second(store: Store):
    _, token = await found_owner(store)
    first, second = make_reminder(token), make_reminder(token, fire_at=NOW + 3_601)
    for reminder in (second, first):
        await store.add_reminder(reminder, [])
    assert await store.list_due_reminders(NOW + 3_599.999, 10) == []
    assert await store.list_due_reminders(NOW + 3_600, 10) == [(first.id, NOW + 3_600)]
    assert await store.list_due_reminders(NOW + 9_999, 10) == [(first.id, NOW + 3_600), (second.id, NOW + 3_601)]
    assert await store.list_due_reminders(NOW + 9_999, 1) == [(first.id, NOW + 3_600)]


async def test_firing_queues_the_form_that_was_asked_for_and_only_once(store: Store):
    phone, token = await found_owner(store)
    for late, expected in ((False, b"on time"), (True, b"late")):
        reminder = make_reminder(token)
        await store.add_reminder(reminder, [ReminderDelivery(phone.id, b"on time", b"late")])
        assert await store.fire_reminder(reminder.id, NOW + HOUR, late=late) == [phone.id]
        assert await store.fire_reminder(reminder.id, NOW + HOUR, late=late) is None
        assert (await queue(store, phone))[-1].blob == expected
        assert (await queue(store, phone))[-1].expires_at == NOW + HOUR
    assert len(await blobs(store, phone)) == 2
    assert await store.list_reminders(token.id) == []


async def test_devices_that_left_before_or_after_it_was_set_are_left_out(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    reminder = make_reminder(token)
    devices = [make_device(phone.owner_id), tablet, phone]
    await store.add_reminder(reminder, [ReminderDelivery(each.id, b"on time", b"late") for each in devices])
    await store.remove_device(phone.owner_id, tablet.id)
    assert await store.fire_reminder(reminder.id, NOW + HOUR, late=False) == [phone.id]


async def test_a_dropped_reminder_never_fires_and_is_dropped_by_its_token_only(store: Store):
    phone, token = await found_owner(store)
    other = make_token(phone.owner_id)
    await store.add_token(other)
    reminder = make_reminder(token)
    await store.add_reminder(reminder, [ReminderDelivery(phone.id, b"on time", b"late")])
    assert await store.drop_reminder(other.id, reminder.id) is False
    assert await store.drop_reminder(token.id, reminder.id) is True
    assert await store.drop_reminder(token.id, reminder.id) is False
    assert await store.fire_reminder(reminder.id, NOW + HOUR, late=False) is None
    assert await blobs(store, phone) == []


async def test_the_1001st_reminder_of_an_owner_is_refused(store: Store):
    phone, token = await found_owner(store)
    other = make_token(phone.owner_id)
    await store.add_token(other)
    await fill_with_reminders(store, token, 1_000)
    assert await store.add_reminder(make_reminder(other), []) is Addition.TOO_MANY


async def test_a_revoked_token_has_no_reminders_and_gets_none(store: Store):
    phone, token = await found_owner(store)
    await store.add_reminder(make_reminder(token), [ReminderDelivery(phone.id, b"on time", b"late")])
    await store.revoke_token(phone.owner_id, token.id, NOW)
    assert await store.add_reminder(make_reminder(token), []) is Addition.REVOKED
    assert await store.list_due_reminders(NOW + 9_999, 10) == []


async def test_an_owner_that_was_deleted_meanwhile_gets_no_reminder(store: Store):
    phone, token = await found_owner(store)
    await store.delete_owner(phone.owner_id)
    assert await store.add_reminder(make_reminder(token), []) is Addition.REVOKED


async def test_simultaneous_firings_from_two_processes_queue_once(store: Store, open_again: OpenHandle):
    phone, token = await found_owner(store)
    other = await open_again()
    for _ in range(10):
        reminder = make_reminder(token)
        await store.add_reminder(reminder, [ReminderDelivery(phone.id, b"on time", b"late")])
        fired = await asyncio.gather(*(each.fire_reminder(reminder.id, NOW, late=False) for each in (store, other)))
        assert sorted(fired, key=str) == [None, [phone.id]]


async def test_monthly_counts_are_added_up_for_the_month_and_for_tokens_that_exist(store: Store):
    phone, token = await found_owner(store)
    other = make_token(phone.owner_id)
    await store.add_token(other)
    await store.add_monthly_counts(MONTH, {token.id: 3, other.id: 1, "tok_gone": 9})
    await store.add_monthly_counts(MONTH, {token.id: 4})
    await store.add_monthly_counts(MONTH, {token.id: -2, other.id: -2})
    assert await store.load_monthly_counts(MONTH) == {token.id: 5, other.id: 0}
    assert await store.load_monthly_counts("2025-09") == {}
    await store.add_monthly_counts("2025-09", {token.id: 1})
    assert await store.load_monthly_counts("2025-09") == {token.id: 1}
    assert await store.load_monthly_counts(MONTH) == {}


async def test_a_change_by_another_process_is_noticed(store: Store, open_again: OpenHandle):
    other = await open_again()
    phone, _ = await found_owner(store)
    noticed = asyncio.Event()

    def notice(news: News) -> None:
        if news.everything or phone.id in news.device_ids:
            noticed.set()

    store.when_changed_elsewhere(notice)
    await other.append_to_queues([make_delivery(phone, b"news")])
    async with asyncio.timeout(BOUND_SECONDS):
        await noticed.wait()
    assert await blobs(store, phone) == [b"news"]
