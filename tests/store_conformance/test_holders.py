"""`list_holders` and `tell_refusal_once`: who has the places for open questions; an owner is told of that once."""

import asyncio

import pytest

from reflecto.core.model import Delivery, Device, Holder, Interaction, Token
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Creation
from tests.builders import NOW, make_delivery, make_interaction, make_tap, make_token
from tests.store_conformance.conftest import OpenHandle
from tests.store_conformance.world import blobs, found_owner

TEN_MINUTES = 600


async def asked(store: Store, token: Token, *, at: int = NOW, expires_in: int = 3_600) -> Interaction:
    """Ask what is shown on no phone."""
    new = make_interaction(token, created_at=at, expires_at=at + expires_in)
    assert (await store.create_interaction_once(new, [], None, at)).creation is Creation.CREATED
    return new


async def crowded(store: Store) -> tuple[Device, Token, Token]:
    """Return a phone, a token with ten open questions of an hour, and one that finds no place."""
    phone, holding = await found_owner(store)
    refused = make_token(phone.owner_id)
    await store.add_token(refused)
    for _ in range(10):
        await asked(store, holding)
    return phone, holding, refused


def notice(phone: Device, number: int = 1) -> list[Delivery]:
    return [make_delivery(phone, b"refused %d" % number)]


async def test_who_holds_most_comes_first_and_what_has_ended_holds_nothing(store: Store):
    phone, one = await found_owner(store)
    two, test = make_token(phone.owner_id), make_token(phone.owner_id, test=True)
    for each in (two, test):
        await store.add_token(each)
    await asked(store, one)
    await asked(store, two, expires_in=60)
    await asked(store, two, at=NOW + 5)
    await asked(store, test)
    answered = await asked(store, one, at=NOW + 9)
    await store.record_answer_if_pending(answered.id, make_tap(phone), [], NOW)
    assert await store.list_holders(phone.owner_id, NOW) == [Holder(two.id, 2, NOW + 5), Holder(one.id, 1, NOW)]
    later = sorted([Holder(one.id, 1, NOW), Holder(two.id, 1, NOW + 5)], key=lambda each: each.token_id)
    assert await store.list_holders(phone.owner_id, NOW + 60) == later


async def test_an_owner_is_told_once_that_a_sender_found_no_place(store: Store):
    phone, holding, refused = await crowded(store)
    assert await store.tell_refusal_once(phone.owner_id, refused.id, notice(phone), NOW) == [phone.id]
    for now in (NOW, NOW + 3_599):
        assert await store.tell_refusal_once(phone.owner_id, refused.id, notice(phone, 2), now) is None
    assert await store.tell_refusal_once(phone.owner_id, holding.id, notice(phone, 3), NOW) == [phone.id]
    assert await blobs(store, phone) == [b"refused 1", b"refused 3"]


async def test_it_is_told_again_where_there_was_a_place_since_and_ten_minutes_have_passed(store: Store):
    phone, holding, refused = await crowded(store)
    await store.tell_refusal_once(phone.owner_id, refused.id, notice(phone), NOW)

    async def take_a_place_that_comes_free(at: int) -> None:
        oldest, *_ = await store.list_pending(holding.id, at)
        await store.cancel_if_pending(oldest.id, [], at)
        await asked(store, holding, at=at)

    await take_a_place_that_comes_free(NOW + TEN_MINUTES)
    assert await store.tell_refusal_once(phone.owner_id, refused.id, notice(phone, 2), NOW + 3_000) is None
    await take_a_place_that_comes_free(NOW + TEN_MINUTES + 1)
    later = NOW + TEN_MINUTES + 1
    assert await store.tell_refusal_once(phone.owner_id, refused.id, notice(phone, 3), later) == [phone.id]
    assert await store.tell_refusal_once(phone.owner_id, refused.id, notice(phone, 4), later) is None


async def test_nothing_is_told_where_a_place_came_free_or_the_sender_is_gone(store: Store):
    phone, holding, refused = await crowded(store)
    gone = make_token(phone.owner_id)
    await store.add_token(gone)
    await store.revoke_token(phone.owner_id, gone.id, NOW)
    assert await store.tell_refusal_once(phone.owner_id, gone.id, notice(phone), NOW) is None
    oldest, *_ = await store.list_pending(holding.id, NOW)
    await store.cancel_if_pending(oldest.id, [], NOW)
    assert await store.tell_refusal_once(phone.owner_id, refused.id, notice(phone), NOW) is None
    assert await blobs(store, phone) == []


@pytest.mark.parametrize("processes", [1, 2])
async def test_of_many_refusals_at_once_one_is_told(open_again: OpenHandle, processes: int):
    handles = [await open_again() for _ in range(processes)]
    phone, _, refused = await crowded(handles[0])
    told = await asyncio.gather(
        *(
            handles[number % processes].tell_refusal_once(phone.owner_id, refused.id, notice(phone), NOW)
            for number in range(16)
        )
    )
    assert [each for each in told if each is not None] == [[phone.id]]
    assert len(await blobs(handles[0], phone)) == 1
