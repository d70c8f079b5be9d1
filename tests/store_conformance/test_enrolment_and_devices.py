"""Setup codes and their redemption, owners, devices."""

import pytest
from msgspec.structs import replace

from reflecto.contract.ids import new_id
from reflecto.core.model import DeviceChanges, Owner
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Creation, Redemption
from tests.builders import NOW, make_code, make_delivery, make_device, make_interaction, make_token
from tests.store_conformance.world import blobs, create, created, found_owner, join


async def test_a_code_is_found_until_the_instant_it_expires(store: Store):
    phone, _ = await found_owner(store)
    for code in (make_code(), make_code(owner_id=phone.owner_id), make_code(founds_owner=True)):
        await store.add_setup_code(code)
        assert await store.find_setup_code(code.hash, NOW + 599.999) == code
        assert await store.find_setup_code(code.hash, NOW + 600) is None
    assert await store.find_setup_code(make_code().hash, NOW) is None


async def test_a_founding_redemption_brings_owner_phone_and_token_into_being(store: Store):
    code, owner_id = make_code(), new_id("own")
    phone = make_device(owner_id, label="Pixel", app_build=7)
    token = make_token(owner_id, label="Default", scopes=("ask", "ring"), priority_cap="high")
    await store.add_setup_code(code)
    redemption = await store.redeem_setup_code(code.hash, phone, token, [make_delivery(phone, b"token")], NOW)
    assert redemption is Redemption.REDEEMED
    assert await store.list_owners() == [Owner(owner_id, NOW, ("Pixel",))]
    assert await store.list_devices(owner_id) == [replace(phone, last_seq=1)]
    assert await store.find_device_by_token(phone.token_hash) == replace(phone, last_seq=1)
    assert await store.find_token(token.hash) == token
    assert await blobs(store, phone) == [b"token"]
    assert await store.find_setup_code(code.hash, NOW) is None


async def test_a_joining_redemption_adds_a_device_and_tells_the_others(store: Store):
    phone, _ = await found_owner(store)
    code, tablet = make_code(owner_id=phone.owner_id), make_device(phone.owner_id, label="Tablet", created_at=NOW + 1)
    await store.add_setup_code(code)
    redemption = await store.redeem_setup_code(code.hash, tablet, None, [make_delivery(phone, b"joined")], NOW)
    assert redemption is Redemption.REDEEMED
    assert await store.list_devices(phone.owner_id) == [replace(phone, last_seq=1), tablet]
    assert await store.list_owners() == [Owner(phone.owner_id, NOW, ("Pixel", "Tablet"))]
    assert await blobs(store, phone) == [b"joined"]


async def test_a_used_expired_or_unknown_code_adds_nothing(store: Store):
    phone, _ = await found_owner(store)
    used, expired, unknown = (make_code(owner_id=phone.owner_id) for _ in range(3))
    for code in (used, expired):
        await store.add_setup_code(code)
    await store.redeem_setup_code(used.hash, make_device(phone.owner_id), None, [], NOW)
    for code, now in ((used, NOW), (expired, NOW + 600), (unknown, NOW)):
        late = make_device(phone.owner_id)
        redemption = await store.redeem_setup_code(code.hash, late, None, [make_delivery(phone)], now)
        assert redemption is Redemption.INVALID
        assert await store.find_device_by_token(late.token_hash) is None
    assert await blobs(store, phone) == []


async def test_a_code_of_an_empty_store_founds_only_while_it_is_empty(store: Store):
    code, owner_id = make_code(), new_id("own")
    await store.add_setup_code(code)
    phone, _ = await found_owner(store)
    late = make_device(owner_id)
    redemption = await store.redeem_setup_code(code.hash, late, make_token(owner_id), [], NOW)
    assert redemption is Redemption.OWNERS_CHANGED
    assert [owner.id for owner in await store.list_owners()] == [phone.owner_id]
    joining = replace(late, owner_id=phone.owner_id)
    assert await store.redeem_setup_code(code.hash, joining, None, [], NOW) is Redemption.REDEEMED


async def test_a_code_for_a_new_owner_founds_beside_others(store: Store):
    first, _ = await found_owner(store)
    second, _ = await found_owner(store, created_at=NOW + 1)
    assert [owner.id for owner in await store.list_owners()] == [first.owner_id, second.owner_id]


async def test_a_code_of_a_deleted_owner_is_worth_nothing(store: Store):
    phone, _ = await found_owner(store)
    code = make_code(owner_id=phone.owner_id)
    await store.add_setup_code(code)
    await store.delete_owner(phone.owner_id)
    redemption = await store.redeem_setup_code(code.hash, make_device(phone.owner_id), None, [], NOW)
    assert redemption is Redemption.INVALID
    assert await store.list_owners() == []


async def test_the_33rd_device_is_refused_and_the_code_stays_good(store: Store):
    phone, _ = await found_owner(store)
    tablet = [await join(store, phone.owner_id) for _ in range(31)][-1]
    code, late = make_code(owner_id=phone.owner_id), make_device(phone.owner_id)
    await store.add_setup_code(code)
    assert await store.redeem_setup_code(code.hash, late, None, [], NOW) is Redemption.TOO_MANY_DEVICES
    assert len(await store.list_devices(phone.owner_id)) == 32
    await store.remove_device(phone.owner_id, tablet.id)
    assert await store.redeem_setup_code(code.hash, late, None, [], NOW) is Redemption.REDEEMED


async def test_devices_are_listed_oldest_first_and_per_owner(store: Store):
    phone, _ = await found_owner(store, created_at=NOW + 1)
    newer = await join(store, phone.owner_id, created_at=NOW + 2)
    older = await join(store, phone.owner_id, created_at=NOW)
    await found_owner(store)
    assert await store.list_devices(phone.owner_id) == [older, phone, newer]
    assert await store.list_devices(new_id("own")) == []


@pytest.mark.parametrize(
    ("label", "app_build", "expected"),
    [("Fold", 8, ("Fold", 8)), (None, 8, ("Pixel", 8)), ("Fold", None, ("Fold", 7)), (None, 0, ("Pixel", 0))],
)
async def test_an_update_changes_what_is_given(
    store: Store, label: str | None, app_build: int | None, expected: tuple[str, int]
):
    phone, _ = await found_owner(store, app_build=7)
    changed = replace(phone, label=expected[0], app_build=expected[1])
    assert await store.update_device(phone.id, DeviceChanges(label, app_build)) == changed
    assert await store.list_devices(phone.owner_id) == [changed]


async def test_a_device_s_features_are_kept_as_it_last_reported_them(store: Store):
    phone, _ = await found_owner(store, features=("answer_v2", "emergency"))
    assert await store.list_devices(phone.owner_id) == [phone]
    assert await store.update_device(phone.id, DeviceChanges("Fold")) == replace(phone, label="Fold")
    bare = replace(phone, label="Fold", features=())
    assert await store.update_device(phone.id, DeviceChanges(features=())) == bare
    assert await store.find_device_by_token(phone.token_hash) == bare


async def test_updating_a_removed_device_finds_none(store: Store):
    phone, _ = await found_owner(store)
    await store.remove_device(phone.owner_id, phone.id)
    assert await store.update_device(phone.id, DeviceChanges("Fold")) is None


async def test_removing_a_device_takes_its_token_and_queue_and_nothing_else(store: Store):
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    await store.append_to_queues([make_delivery(phone), make_delivery(tablet)])
    assert await store.remove_device(phone.owner_id, phone.id) is True
    assert await store.find_device_by_token(phone.token_hash) is None
    assert await store.read_queue(phone.id, 0, 10, NOW) is None
    assert await store.list_devices(phone.owner_id) == [replace(tablet, last_seq=1)]
    assert await store.find_token(token.hash) == token
    assert await store.remove_device(phone.owner_id, phone.id) is False


async def test_a_device_of_another_owner_cannot_be_removed(store: Store):
    phone, _ = await found_owner(store)
    neighbour, _ = await found_owner(store)
    assert await store.remove_device(phone.owner_id, neighbour.id) is False
    assert await store.find_device_by_token(neighbour.token_hash) == neighbour


async def test_deleting_an_owner_takes_everything_of_theirs_and_nothing_of_others(store: Store):
    phone, token = await found_owner(store)
    question = await created(store, token, phone)
    neighbour, neighbours_token = await found_owner(store)
    neighbours_question = await created(store, neighbours_token, neighbour)
    await store.delete_owner(phone.owner_id)
    assert await store.find_device_by_token(phone.token_hash) is None
    assert await store.find_token(token.hash) is None
    assert await store.find_interaction(question.id, NOW) is None
    assert await store.find_repeat(token.id, question.repeat_mark, NOW) is None
    assert await store.read_queue(phone.id, 0, 10, NOW) is None
    assert (await create(store, make_interaction(token), phone)).creation is Creation.TOKEN_REVOKED
    assert [owner.id for owner in await store.list_owners()] == [neighbour.owner_id]
    assert await store.find_interaction(neighbours_question.id, NOW) == neighbours_question
    assert len(await blobs(store, neighbour)) == 1
