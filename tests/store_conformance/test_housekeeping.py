"""Activity, sweeping, facts of the installation, and what a restart finds."""

import asyncio

from msgspec.structs import replace

from reflecto.core.model import Owner, StoreLoad
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Creation
from tests.builders import NOW, make_code, make_delivery, make_interaction, make_tap
from tests.store_conformance.conftest import OpenHandle
from tests.store_conformance.world import blobs, create, created, found_owner, join, seqs

DAY_SECONDS = 86_400


async def test_activity_is_written_to_who_still_exists(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    await store.record_activity({token.id: NOW + 5, "tok_gone": NOW}, {phone.id: NOW + 6, "dev_gone": NOW})
    assert await store.list_tokens(phone.owner_id) == [replace(token, last_used_at=NOW + 5)]
    seen = {device.id: device.last_seen_at for device in await store.list_devices(phone.owner_id)}
    assert seen == {phone.id: NOW + 6, tablet.id: None}


async def test_an_older_time_is_not_written_over_a_newer_one(store: Store):
    phone, token = await found_owner(store)
    await store.record_activity({token.id: NOW + 5}, {phone.id: NOW + 6})
    await store.record_activity({token.id: NOW + 4}, {phone.id: NOW + 5})
    assert await store.list_tokens(phone.owner_id) == [replace(token, last_used_at=NOW + 5)]
    assert await store.list_devices(phone.owner_id) == [replace(phone, last_seen_at=NOW + 6)]


async def test_a_sweep_deletes_what_has_ended_and_tells_how_many(store: Store):
    phone, token = await found_owner(store)
    answered, _ = await created(store, token, phone), await created(store, token, phone)
    await store.record_answer_if_pending(answered.id, make_tap(phone), [], NOW + 10)
    await store.add_setup_code(make_code())
    await store.append_to_queues([make_delivery(phone)])
    assert await store.sweep(NOW + 599.999) == 0
    assert await store.sweep(NOW + 600) == 3  # the code and both prompts
    assert await store.sweep(NOW + 9 + DAY_SECONDS) == 0
    assert await store.sweep(NOW + 10 + DAY_SECONDS) == 1  # the answered question
    assert await store.sweep(NOW + 600 + DAY_SECONDS) == 1  # the expired one
    assert await store.sweep(NOW + 259_200) == 1  # the entry that waited 72 hours
    assert len(await store.list_devices(phone.owner_id)) == 1


async def test_a_sweep_keeps_a_revoked_token_for_30_days(store: Store):
    phone, token = await found_owner(store)
    await store.revoke_token(phone.owner_id, token.id, NOW)
    assert await store.sweep(NOW + 30 * DAY_SECONDS - 1) == 0
    assert await store.sweep(NOW + 30 * DAY_SECONDS) == 1


async def test_a_sweep_leaves_the_window_of_an_idempotency_key_open(store: Store):
    phone, token = await found_owner(store)
    first = await created(store, token, phone, expires_at=NOW + DAY_SECONDS)
    await store.cancel_if_pending(first.id, [], NOW)
    await store.sweep(NOW + DAY_SECONDS - 0.001)
    again = make_interaction(token, repeat_mark=first.repeat_mark)
    result = await create(store, again, phone, now=NOW + DAY_SECONDS - 0.001)
    assert result.creation is Creation.REPEATED


async def test_facts_are_kept_under_their_names_and_replaced(store: Store):
    assert await store.recall("public_url") is None
    await store.remember("public_url", "http://a")
    await store.remember("checked_at", "1")
    await store.remember("public_url", "http://b")
    assert (await store.recall("public_url"), await store.recall("checked_at")) == ("http://b", "1")


async def test_what_waits_is_added_up_over_all_devices_and_owners(store: Store):
    assert await store.measure_load(NOW) == StoreLoad(0, 0, 0, 0, 0)
    phone, token = await found_owner(store)
    other, others_token = await found_owner(store)
    await store.append_to_queues([make_delivery(phone, b"x" * 10) for _ in range(3)])
    await store.append_to_queues([make_delivery(other, b"x" * 100)])
    assert await store.measure_load(NOW) == StoreLoad(4, 130, 3, 100, 0)
    await created(store, token, phone, expires_at=NOW + 60)
    answered = await created(store, others_token, other)
    await store.record_answer_if_pending(answered.id, make_tap(other), [], NOW)
    load = await store.measure_load(NOW)
    assert (load.queue_entries, load.longest_queue, load.pending_questions) == (6, 4, 1)
    assert (await store.measure_load(NOW + 60)).pending_questions == 0
    await store.ack_queue(phone.id, 4)
    assert (await store.measure_load(NOW)).longest_queue == 2


async def test_what_was_added_up_is_taken_again_for_as_long_as_that_is_new_enough(open_again: OpenHandle):
    store, other = await open_again(), await open_again()
    phone, _ = await found_owner(store)
    await store.measure_load(NOW)
    await store.append_to_queues([make_delivery(phone)])
    assert (await other.measure_load(NOW + 29, 30)).queue_entries in {0, 1}
    assert (await other.measure_load(NOW + 31, 30)).queue_entries == 1
    await store.ack_queue(phone.id, 1)
    assert (await other.measure_load(NOW + 31)).queue_entries == 0


async def test_what_is_committed_is_counted_with_its_verbs(store: Store):
    phone, _ = await found_owner(store)
    verbs, commits = store.work.verbs.total, sum(store.work.verbs.counts)
    await store.append_to_queues([make_delivery(phone)])
    await store.ack_queue(phone.id, 1)
    assert store.work.verbs.total - verbs >= 2
    assert sum(store.work.verbs.counts) - commits == sum(store.work.seconds.counts) - commits >= 2
    assert store.work.errors.by_labels == {}


async def test_a_fact_that_is_kept_once_stays_what_it_was_first(store: Store):
    kept = await asyncio.gather(*(store.remember_once("key", str(number)) for number in range(8)))
    assert len(set(kept)) == 1
    assert await store.recall("key") == kept[0]
    assert await store.remember_once("key", "late") == kept[0]


async def test_a_probe_leaves_nothing_behind(store: Store):
    await found_owner(store)
    for _ in range(3):
        await store.probe()
    assert await store.recall("probe") is None
    assert await store.sweep(NOW) == 0


async def test_everything_survives_a_restart(open_again: OpenHandle):
    store = await open_again()
    phone, token = await found_owner(store)
    question = await created(store, token, phone)
    code = make_code(owner_id=phone.owner_id)
    await store.add_setup_code(code)
    await store.remember("public_url", "http://a")
    await store.close()
    reopened = await open_again()
    assert await reopened.list_owners() == [Owner(phone.owner_id, NOW, ("Pixel",))]
    assert await reopened.find_device_by_token(phone.token_hash) == replace(phone, last_seq=1)
    assert await reopened.find_token(token.hash) == token
    assert await reopened.find_interaction(question.id, NOW) == question
    assert await reopened.find_repeat(token.id, question.repeat_mark, NOW) == question
    assert await blobs(reopened, phone) == [b"prompt " + question.id.encode()]
    assert await reopened.find_setup_code(code.hash, NOW) == code
    assert await reopened.recall("public_url") == "http://a"


async def test_numbering_goes_on_after_a_restart_although_the_queue_was_empty(open_again: OpenHandle):
    store = await open_again()
    phone, _ = await found_owner(store)
    await store.append_to_queues([make_delivery(phone) for _ in range(3)])
    await store.ack_queue(phone.id, 3)
    await store.close()
    reopened = await open_again()
    await reopened.append_to_queues([make_delivery(phone)])
    assert await seqs(reopened, phone) == [4]
