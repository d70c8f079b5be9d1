"""`add_token`, `find_token`, `list_tokens`, `revoke_token`."""

import pytest
from msgspec.structs import replace

from reflecto.core.model import TokenChanges
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Addition, Change, ChangeResult, Creation
from tests.builders import NOW, make_delivery, make_device, make_interaction, make_token
from tests.store_conformance.world import found_owner


async def test_a_token_is_found_by_its_hash_as_it_was_added(store: Store):
    phone, _ = await found_owner(store)
    full = make_token(phone.owner_id, label="Café", test=True, priority_cap="low", scopes=("send", "files"))
    plain = make_token(phone.owner_id)
    for token in (full, plain):
        assert await store.add_token(token) is Addition.ADDED
        assert await store.find_token(token.hash) == token
    assert await store.find_token(make_token(phone.owner_id).hash) is None


async def test_tokens_are_listed_oldest_first_and_per_owner(store: Store):
    phone, default = await found_owner(store)
    await found_owner(store)
    newer, older = make_token(phone.owner_id, created_at=NOW + 1), make_token(phone.owner_id, created_at=NOW - 1)
    for token in (newer, older):
        await store.add_token(token)
    assert await store.list_tokens(phone.owner_id) == [older, default, newer]


async def test_a_revoked_token_is_gone_at_once_and_cannot_be_revoked_again(store: Store):
    phone, default = await found_owner(store)
    assert await store.revoke_token(phone.owner_id, default.id, NOW) is True
    assert await store.find_token(default.hash) is None
    assert await store.list_tokens(phone.owner_id) == []
    assert await store.revoke_token(phone.owner_id, default.id, NOW) is False


async def test_a_token_of_another_owner_cannot_be_revoked(store: Store):
    phone, _ = await found_owner(store)
    _, neighbours = await found_owner(store)
    assert await store.revoke_token(phone.owner_id, neighbours.id, NOW) is False
    assert await store.find_token(neighbours.hash) == neighbours


async def test_the_201st_live_token_is_refused_and_revoked_ones_do_not_count(store: Store):
    phone, default = await found_owner(store)
    for _ in range(199):
        assert await store.add_token(make_token(phone.owner_id)) is Addition.ADDED
    late = make_token(phone.owner_id)
    assert await store.add_token(late) is Addition.TOO_MANY
    assert await store.find_token(late.hash) is None
    await store.revoke_token(phone.owner_id, default.id, NOW)
    assert await store.add_token(late) is Addition.ADDED


async def test_an_owner_that_was_deleted_meanwhile_gets_no_token(store: Store):
    phone, _ = await found_owner(store)
    await store.delete_owner(phone.owner_id)
    late = make_token(phone.owner_id)
    assert await store.add_token(late) is Addition.REVOKED
    assert await store.find_token(late.hash) is None


async def test_a_token_is_found_by_its_short_form_once_that_is_known_and_until_it_is_revoked(store: Store):
    phone, _ = await found_owner(store)
    known = make_token(phone.owner_id, short_hash=b"k" * 32)
    older = make_token(phone.owner_id)
    for token in (known, older):
        await store.add_token(token)
    assert await store.find_token_by_short_form(b"k" * 32) == known
    assert await store.find_token_by_short_form(b"o" * 32) is None
    await store.keep_short_form(older.id, b"o" * 32)
    learned = replace(older, short_hash=b"o" * 32)
    assert await store.find_token_by_short_form(b"o" * 32) == learned
    assert await store.find_token(older.hash) == learned
    await store.revoke_token(phone.owner_id, older.id, NOW)
    assert await store.find_token_by_short_form(b"o" * 32) is None


async def test_a_token_s_name_colour_and_muting_change_as_given_and_the_rest_stays(store: Store):
    phone, default = await found_owner(store)
    named = await store.change_token(phone.owner_id, default.id, phone.id, TokenChanges(label="Bot"), [])
    assert named == ChangeResult(Change.CHANGED, replace(default, label="Bot"))
    changes = TokenChanges(colour="rose", muted_until=NOW + 60)
    muted = replace(default, label="Bot", colour="rose", muted_until=NOW + 60)
    assert (await store.change_token(phone.owner_id, default.id, phone.id, changes, [])).token == muted
    assert await store.find_token(default.hash) == muted
    unmuted = await store.change_token(phone.owner_id, default.id, phone.id, TokenChanges(muted_until=None), [])
    assert unmuted.token == replace(muted, muted_until=None)


async def test_what_others_are_told_of_a_change_comes_with_it_or_not_at_all(store: Store):
    phone, default = await found_owner(store)
    taken = make_token(phone.owner_id, label="CI")
    assert await store.add_token(taken) is Addition.ADDED
    notice = make_delivery(phone)
    refused = await store.change_token(phone.owner_id, default.id, phone.id, TokenChanges(label="CI"), [notice])
    assert refused == ChangeResult(Change.LABEL_TAKEN)
    assert await store.read_queue(phone.id, 0, 10, NOW) == []
    assert await store.find_token(default.hash) == default
    await store.change_token(phone.owner_id, default.id, phone.id, TokenChanges(label="CI 2"), [notice])
    entries = await store.read_queue(phone.id, 0, 10, NOW)
    assert entries is not None
    assert [each.blob for each in entries] == [notice.blob]


async def test_a_token_of_another_owner_or_a_revoked_one_is_not_changed(store: Store):
    phone, default = await found_owner(store)
    _, neighbours = await found_owner(store)
    for token_id in (neighbours.id, "tok_none"):
        result = await store.change_token(phone.owner_id, token_id, phone.id, TokenChanges(label="Bot"), [])
        assert result == ChangeResult(Change.NO_TOKEN)
    await store.revoke_token(phone.owner_id, default.id, NOW)
    result = await store.change_token(phone.owner_id, default.id, phone.id, TokenChanges(label="Bot"), [])
    assert result == ChangeResult(Change.NO_TOKEN)


async def test_a_phone_that_was_removed_meanwhile_changes_nothing(store: Store):
    phone, default = await found_owner(store)
    result = await store.change_token(phone.owner_id, default.id, make_device(phone.owner_id).id, TokenChanges(), [])
    assert result == ChangeResult(Change.PHONE_REMOVED)


@pytest.mark.parametrize("label", ["C\u200bI", "\u0421I", "Cl"])
async def test_two_tokens_that_look_the_same_are_not_both_kept(store: Store, label: str):
    phone, _ = await found_owner(store)
    assert await store.add_token(make_token(phone.owner_id, label="CI")) is Addition.ADDED
    twin = make_token(phone.owner_id, label=label)
    assert await store.add_token(twin) is Addition.LABEL_TAKEN
    assert await store.find_token(twin.hash) is None


async def test_a_muted_token_s_new_question_is_refused_after_repeats_until_the_instant(store: Store):
    phone, default = await found_owner(store)
    before = make_interaction(default)
    assert (await store.create_interaction_once(before, [], None, NOW)).creation is Creation.CREATED
    await store.change_token(phone.owner_id, default.id, phone.id, TokenChanges(muted_until=NOW + 60), [])
    repeat = make_interaction(default, repeat_mark=before.repeat_mark)
    assert (await store.create_interaction_once(repeat, [], None, NOW)).creation is Creation.REPEATED
    new = make_interaction(default)
    assert (await store.create_interaction_once(new, [], None, NOW + 59)).creation is Creation.SENDER_MUTED
    assert (await store.create_interaction_once(new, [], None, NOW + 60)).creation is Creation.CREATED
