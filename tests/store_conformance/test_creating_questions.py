"""`create_interaction_once`, `find_interaction`, `find_repeat`."""

import pytest
from msgspec.structs import replace

from reflecto.core.model import Interaction
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import CreateResult, Creation
from tests.builders import NOW, make_delivery, make_interaction, make_tap, make_token, unique_bytes
from tests.store_conformance.world import blobs, create, created, found_owner, join


async def test_a_question_is_stored_whole_and_its_prompt_queued(store: Store):
    phone, token = await found_owner(store)
    new = make_interaction(token)
    assert await create(store, new, phone) == CreateResult(Creation.CREATED, new)
    assert await store.find_interaction(new.id, NOW) == new
    assert await blobs(store, phone) == [b"prompt " + new.id.encode()]


async def test_a_question_of_an_unknown_id_is_not_found(store: Store):
    _, token = await found_owner(store)
    assert await store.find_interaction(make_interaction(token).id, NOW) is None


async def test_the_same_mark_within_the_window_returns_the_first_question_and_queues_nothing(store: Store):
    phone, token = await found_owner(store)
    first = await created(store, token, phone)
    again = make_interaction(token, repeat_mark=first.repeat_mark, content_mark=unique_bytes())
    assert await create(store, again, phone, now=NOW + 599.999) == CreateResult(Creation.REPEATED, first)
    assert await store.find_repeat(token.id, first.repeat_mark, NOW + 599.999) == first
    assert await store.find_interaction(again.id, NOW) is None
    assert len(await blobs(store, phone)) == 1


async def test_the_window_ends_at_the_very_instant_of_expiry(store: Store):
    phone, token = await found_owner(store)
    first = await created(store, token, phone)
    assert await store.find_repeat(token.id, first.repeat_mark, NOW + 600) is None
    again = make_interaction(token, repeat_mark=first.repeat_mark, created_at=NOW + 600, expires_at=NOW + 1200)
    assert await create(store, again, phone, now=NOW + 600) == CreateResult(Creation.CREATED, again)
    assert await store.find_repeat(token.id, first.repeat_mark, NOW + 600) == again


@pytest.mark.parametrize("ending", ["answered", "cancelled"])
async def test_an_ended_question_is_still_found_by_its_mark_as_it_ended(store: Store, ending: str):
    phone, token = await found_owner(store)
    first = await created(store, token, phone)
    if ending == "answered":
        await store.record_answer_if_pending(first.id, make_tap(phone), [], NOW + 10)
    else:
        await store.cancel_if_pending(first.id, [], NOW + 10)
    again = make_interaction(token, repeat_mark=first.repeat_mark)
    result = await create(store, again, phone, now=NOW + 20)
    assert result.creation is Creation.REPEATED
    assert result.interaction is not None
    assert (result.interaction.id, result.interaction.status) == (first.id, ending)


async def test_the_same_mark_of_another_token_is_another_question(store: Store):
    phone, token = await found_owner(store)
    other = make_token(phone.owner_id)
    await store.add_token(other)
    first = await created(store, token, phone)
    new = make_interaction(other, repeat_mark=first.repeat_mark)
    assert (await create(store, new, phone)).creation is Creation.CREATED
    assert await store.find_repeat(other.id, first.repeat_mark, NOW) == new


async def _fill(store: Store, interaction: Interaction, count: int) -> list[Interaction]:
    """Create further questions like `interaction`."""
    made = []
    for _ in range(count):
        mark = unique_bytes()
        new = replace(interaction, id=f"int_{mark[:16].hex()}", repeat_mark=mark)
        assert (await store.create_interaction_once(new, [], None, NOW)).creation is Creation.CREATED
        made.append(new)
    return made


async def test_the_eleventh_pending_question_is_refused_and_leaves_no_trace(store: Store):
    phone, token = await found_owner(store)
    await _fill(store, make_interaction(token), 10)
    eleventh = make_interaction(token)
    assert await create(store, eleventh, phone) == CreateResult(Creation.TOO_MANY_PENDING)
    assert await store.find_interaction(eleventh.id, NOW) is None
    assert await blobs(store, phone) == []


async def test_all_tokens_of_an_owner_share_the_ten_places_and_owners_do_not(store: Store):
    phone, token = await found_owner(store)
    other = make_token(phone.owner_id)
    await store.add_token(other)
    await _fill(store, make_interaction(token), 6)
    await _fill(store, make_interaction(other), 4)
    assert (await create(store, make_interaction(other), phone)).creation is Creation.TOO_MANY_PENDING
    neighbour, neighbours_token = await found_owner(store)
    assert (await create(store, make_interaction(neighbours_token), neighbour)).creation is Creation.CREATED


async def test_test_questions_have_ten_places_of_their_own(store: Store):
    phone, token = await found_owner(store)
    test_token = make_token(phone.owner_id, test=True)
    await store.add_token(test_token)
    await _fill(store, make_interaction(token), 10)
    await _fill(store, make_interaction(test_token), 10)
    refused = await store.create_interaction_once(make_interaction(test_token), [], None, NOW)
    assert refused.creation is Creation.TOO_MANY_PENDING


@pytest.mark.parametrize("ending", ["answered", "cancelled", "expired"])
async def test_a_question_gives_up_its_place_the_instant_it_ends(store: Store, ending: str):
    phone, token = await found_owner(store)
    (first, *_) = await _fill(store, make_interaction(token), 10)
    now: float = NOW + 1
    if ending == "answered":
        await store.record_answer_if_pending(first.id, make_tap(phone), [], now)
    elif ending == "cancelled":
        await store.cancel_if_pending(first.id, [], now)
    else:
        assert (await create(store, make_interaction(token), phone, now=NOW + 599.999)).creation is (
            Creation.TOO_MANY_PENDING
        )
        now = NOW + 600
    assert (await create(store, make_interaction(token), phone, now=now)).creation is Creation.CREATED


async def test_a_repeat_is_found_although_all_places_are_taken_and_the_phone_is_gone(store: Store):
    phone, token = await found_owner(store)
    await join(store, phone.owner_id)
    (first, *_) = await _fill(store, make_interaction(token), 10)
    await store.remove_device(phone.owner_id, phone.id)
    again = make_interaction(token, repeat_mark=first.repeat_mark)
    assert await create(store, again, seen=frozenset()) == CreateResult(Creation.REPEATED, first)


@pytest.mark.parametrize("change", ["a phone came", "a phone went"])
async def test_a_question_sealed_for_other_phones_than_there_are_is_refused(store: Store, change: str):
    phone, token = await found_owner(store)
    second = await join(store, phone.owner_id)
    seen = frozenset({phone.id}) if change == "a phone came" else frozenset({phone.id, second.id, "dev_gone"})
    new = make_interaction(token)
    assert await create(store, new, phone, seen=seen) == CreateResult(Creation.PHONES_CHANGED)
    assert await store.find_interaction(new.id, NOW) is None
    assert await blobs(store, phone) == []


async def test_desktops_are_not_phones(store: Store):
    phone, token = await found_owner(store)
    await join(store, phone.owner_id, device_class="desktop", type="extension")
    assert (await create(store, make_interaction(token), phone)).creation is Creation.CREATED


async def test_phones_are_not_checked_where_none_were_looked_at(store: Store):
    _, token = await found_owner(store)
    result = await store.create_interaction_once(make_interaction(token), [], None, NOW)
    assert result.creation is Creation.CREATED


async def test_a_revoked_token_creates_nothing_and_finds_no_repeat(store: Store):
    phone, token = await found_owner(store)
    first = await created(store, token, phone)
    await store.revoke_token(token.owner_id, token.id, NOW)
    for new in (make_interaction(token), make_interaction(token, repeat_mark=first.repeat_mark)):
        assert await create(store, new, phone) == CreateResult(Creation.TOKEN_REVOKED)
        assert await store.find_interaction(new.id, NOW) is None


async def test_being_full_is_told_before_changed_phones(store: Store):
    phone, token = await found_owner(store)
    await _fill(store, make_interaction(token), 10)
    result = await create(store, make_interaction(token), phone, seen=frozenset({"dev_gone"}))
    assert result.creation is Creation.TOO_MANY_PENDING


async def test_a_prompt_for_a_device_that_is_gone_is_dropped_and_the_others_are_queued(store: Store):
    phone, token = await found_owner(store)
    gone = await join(store, phone.owner_id)
    await store.remove_device(phone.owner_id, gone.id)
    new = make_interaction(token)
    deliveries = [make_delivery(gone), make_delivery(phone, b"prompt")]
    result = await store.create_interaction_once(new, deliveries, frozenset({phone.id}), NOW)
    assert result.creation is Creation.CREATED
    assert await blobs(store, phone) == [b"prompt"]
