"""What the queues hold of a question while it is open, once it is answered, and once nobody answered it."""

import asyncio

import pytest
from msgspec.structs import replace

from reflecto.core.model import Delivery, Device, Interaction, PushBacklog, PushSubscription, Token
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Creation, Verdict
from tests.builders import NOW, make_delivery, make_interaction, make_tap
from tests.store_conformance.conftest import OpenHandle
from tests.store_conformance.world import blobs, found_owner, join, queue

END = NOW + 600


def prompt(device: Device, asked: Interaction) -> Delivery:
    """Return what a phone is asked with."""
    blob = b"prompt " + asked.id.encode()
    return make_delivery(device, blob, question_id=asked.id, push_until=asked.expires_at, is_essential=True)


def closing(device: Device, asked: Interaction) -> Delivery:
    """Return what tells a phone that nobody answered."""
    blob = b"expired " + asked.id.encode()
    return make_delivery(device, blob, question_id=asked.id, push_until=0, is_essential=True)


async def ask(store: Store, token: Token, *phones: Device, now: int = NOW) -> Interaction:
    """Ask what is open for ten minutes."""
    new = make_interaction(token, created_at=now, expires_at=now + 600)
    result = await store.create_interaction_once(new, [prompt(each, new) for each in phones], None, now)
    assert result.creation is Creation.CREATED
    return new


async def test_a_prompt_and_that_it_expired_stay_in_the_queue_in_this_order(store: Store):
    phone, token = await found_owner(store)
    asked = await ask(store, token, phone)
    assert await store.close_if_expired(asked.id, [closing(phone, asked)], END - 0.001) is None
    assert await store.close_if_expired(asked.id, [closing(phone, asked)], END) == replace(asked, status="expired")
    assert await store.close_if_expired(asked.id, [closing(phone, asked)], END + 60) is None
    entries = await queue(store, phone, now=END + 86_400)
    assert [(each.blob.split()[0], each.push_until) for each in entries] == [(b"prompt", END), (b"expired", 0)]
    assert {each.question_id for each in entries} == {asked.id}


async def test_an_expired_question_stays_readable_for_a_day_from_its_end_and_takes_no_answer(store: Store):
    phone, token = await found_owner(store)
    asked = await ask(store, token, phone)
    await store.close_if_expired(asked.id, [], END + 60)
    ended = replace(asked, status="expired")
    assert await store.find_interaction(asked.id, END + 86_399) == ended
    assert await store.find_interaction(asked.id, END + 86_400) is None
    for result in (
        await store.record_answer_if_pending(asked.id, make_tap(phone), [], END + 60),
        await store.cancel_if_pending(asked.id, [], END + 60),
        await store.count_wrong_number(asked.id, make_tap(phone), [], END + 60),
    ):
        assert result is not None
        assert (result.verdict, result.interaction) == (Verdict.CLOSED, ended)


@pytest.mark.parametrize("how", ["answered", "cancelled", "abandoned", "wrong number"])
async def test_the_prompts_of_a_question_that_was_ended_leave_every_queue_at_once(store: Store, how: str):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    asked = make_interaction(token, tether=20, awaited_until=float(NOW))
    other = make_interaction(token)
    for each in (asked, other):
        prompts = [prompt(phone, each), prompt(tablet, each)]
        assert (await store.create_interaction_once(each, prompts, None, NOW)).creation is Creation.CREATED
    told = [make_delivery(tablet, b"closed")]
    if how == "answered":
        await store.record_answer_if_pending(asked.id, make_tap(phone), told, NOW)
    elif how == "cancelled":
        await store.cancel_if_pending(asked.id, told, NOW)
    elif how == "abandoned":
        await store.close_if_abandoned(asked.id, told, NOW + 20)
    else:
        for _ in range(2):
            await store.count_wrong_number(asked.id, make_tap(phone), told, NOW)
    left = b"prompt " + other.id.encode()
    assert await blobs(store, phone) == [left]
    assert await blobs(store, tablet) == [left, b"closed"]
    held = await store.measure_load(NOW)
    assert (held.queue_entries, held.queue_bytes) == (3, 2 * len(left) + len(b"closed"))


async def test_of_a_device_the_newest_fifty_missed_questions_stay_each_with_its_end(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    await store.append_to_queues([make_delivery(phone, b"a message")])
    missed = []
    for number in range(52):
        now = NOW + 600 * number
        missed.append(await ask(store, token, phone, *([tablet] if number > 9 else []), now=now))
        await store.close_if_expired(missed[-1].id, [closing(phone, missed[-1])], now + 600)
    later = NOW + 600 * 52
    pending = await ask(store, token, phone, now=later)
    expected = [b"a message"]
    for each in missed[2:]:
        expected += [b"prompt " + each.id.encode(), b"expired " + each.id.encode()]
    assert await blobs(store, phone, now=later) == [*expected, b"prompt " + pending.id.encode()]
    assert len(await blobs(store, tablet, now=later)) == 42
    held = await store.measure_load(later)
    assert (held.queue_entries, held.longest_queue) == (102 + 42, 102)


async def test_nothing_is_pushed_of_a_prompt_past_its_end_nor_of_that_it_expired(store: Store):
    phone, token = await found_owner(store)
    await store.set_push_subscription(phone.id, PushSubscription("https://push.example/a", b"p" * 65, b"a" * 16))
    asked = await ask(store, token, phone)

    async def to_push(now: float) -> list[int]:
        entries = await store.read_queue(phone.id, 0, 9, now, to_push=True)
        assert entries is not None
        return [each.seq for each in entries]

    assert await to_push(END - 0.001) == [1]
    assert await store.list_push_backlog(END - 1) == [PushBacklog(phone.id, 1)]
    await store.close_if_expired(asked.id, [closing(phone, asked)], END)
    assert await to_push(END) == []
    assert await store.list_push_backlog(END) == []
    await store.append_to_queues([make_delivery(phone)])
    assert await to_push(END) == [3]
    assert [each.seq for each in await queue(store, phone, now=END)] == [1, 2, 3]


@pytest.mark.parametrize("processes", [1, 2])
async def test_of_many_that_store_an_expiry_at_once_one_does(open_again: OpenHandle, processes: int):
    handles = [await open_again() for _ in range(processes)]
    store = handles[0]
    phone, token = await found_owner(store)
    asked = await ask(store, token, phone)
    told = [closing(phone, asked)]
    ended = await asyncio.gather(
        *(handles[number % processes].close_if_expired(asked.id, told, END) for number in range(16))
    )
    assert sum(each is not None for each in ended) == 1
    assert len(await queue(store, phone, now=END)) == 2
