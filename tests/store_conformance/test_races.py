"""What holds when many do the same at once: within a process, and from two processes on one store."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from itertools import cycle, islice
from typing import TypeVar

import pytest

from reflecto.contract.ids import new_id
from reflecto.core.model import Interaction, Token
from reflecto.core.ports.store import Store
from reflecto.core.rules.outcomes import Addition, Creation, EndResult, Redemption, Verdict
from tests.builders import NOW, make_code, make_delivery, make_device, make_interaction, make_tap, make_token
from tests.fakes import BOUND_SECONDS
from tests.store_conformance.conftest import OpenHandle
from tests.store_conformance.world import blobs, create, created, found_owner, join, queue

T = TypeVar("T")


@pytest.fixture(params=["one process", "two processes"])
async def handles(request: pytest.FixtureRequest, store: Store, open_again: OpenHandle) -> list[Store]:
    """Handles of one store to spread simultaneous calls over."""
    return [store] if request.param == "one process" else [store, await open_again()]


async def at_once(calls: Sequence[Awaitable[T]]) -> list[T]:
    """Start all calls at the same instant and return what they returned."""
    barrier = asyncio.Barrier(len(calls))

    async def run(call: Awaitable[T]) -> T:
        await barrier.wait()
        return await call

    async with asyncio.timeout(BOUND_SECONDS):
        return await asyncio.gather(*map(run, calls))


async def test_64_identical_creates_make_one_question_and_one_prompt(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    mark = make_interaction(token).repeat_mark
    news = [make_interaction(token, repeat_mark=mark, content_mark=mark) for _ in range(64)]
    results = await at_once([create(at, new, phone) for at, new in zip(cycle(handles), news, strict=False)])
    assert Counter(result.creation for result in results) == {Creation.CREATED: 1, Creation.REPEATED: 63}
    assert len({result.interaction.id for result in results if result.interaction}) == 1
    assert len(await blobs(store, phone)) == 1


async def test_64_different_creates_fill_exactly_ten_places(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    results = await at_once([create(at, make_interaction(token), phone) for at in islice(cycle(handles), 64)])
    assert Counter(result.creation for result in results) == {Creation.CREATED: 10, Creation.TOO_MANY_PENDING: 54}
    assert len(await store.list_pending(token.id, NOW)) == 10
    assert len(await blobs(store, phone)) == 10


async def test_100_taps_have_one_winner_and_every_loser_is_told_who(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    phones = [phone, *[await join(store, phone.owner_id) for _ in range(9)]]
    question = await created(store, token, *phones)
    taps = [make_tap(phones[i % 10], i // 10 % 2) for i in range(100)]
    results = await at_once(
        [at.record_answer_if_pending(question.id, tap, [], NOW) for at, tap in zip(cycle(handles), taps, strict=False)]
    )
    found = await store.find_interaction(question.id, NOW)
    assert found is not None
    assert found.tap is not None
    winner = (found.tap.device_id, found.tap.choice_index)
    verdicts = Counter(result.verdict for result in results if result)
    assert verdicts == {Verdict.ACCEPTED: 1, Verdict.REPEATED: 4, Verdict.ALREADY_ANSWERED: 95}
    for tap, result in zip(taps, results, strict=True):
        assert result is not None
        assert result.interaction == found
        assert (result.verdict is Verdict.ALREADY_ANSWERED) == ((tap.device_id, tap.choice_index) != winner)


async def test_of_wrong_numbers_at_once_two_count(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    for _ in range(5):
        question = await created(store, token, phone, answer_version=2, asks_number=True)
        before = len(await blobs(store, phone))
        taps, closing = [make_tap(phone) for _ in range(6)], [make_delivery(phone)]
        results = await at_once(
            [
                at.count_wrong_number(question.id, tap, closing, NOW)
                for at, tap in zip(cycle(handles), taps, strict=False)
            ]
        )
        verdicts = Counter(result.verdict for result in results if result)
        assert verdicts == {Verdict.ACCEPTED: 2, Verdict.CLOSED: 4}
        found = await store.find_interaction(question.id, NOW)
        assert found is not None
        assert (found.status, found.reason) == ("cancelled", "wrong_number")
        assert len(await blobs(store, phone)) == before + 1


async def test_either_the_tap_or_the_withdrawal_wins_never_both(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    for _ in range(10):
        question = await created(store, token, phone)
        tapped, cancelled = await at_once(
            [
                handles[0].record_answer_if_pending(question.id, make_tap(phone), [], NOW),
                handles[-1].cancel_if_pending(question.id, [], NOW),
            ]
        )
        assert tapped is not None
        assert cancelled is not None
        assert (tapped.verdict, cancelled.verdict) in {
            (Verdict.ACCEPTED, Verdict.ALREADY_ANSWERED),
            (Verdict.CLOSED, Verdict.ACCEPTED),
        }


async def test_either_the_tap_or_the_abandonment_wins_never_both(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    end = NOW + 20
    for _ in range(10):
        question = await created(store, token, phone, tether=20, awaited_until=float(NOW))
        before = len(await blobs(store, phone))
        tapped, ended = await at_once(
            [
                handles[0].record_answer_if_pending(question.id, make_tap(phone), [], end - 0.001),
                handles[-1].close_if_abandoned(question.id, [make_delivery(phone)], end),
            ]
        )
        assert isinstance(tapped, EndResult)
        found = await store.find_interaction(question.id, end)
        assert found is not None
        if ended is None:
            assert (tapped.verdict, found.status) == (Verdict.ACCEPTED, "answered")
            assert len(await blobs(store, phone)) == before
        else:
            assert (tapped.verdict, found.reason) == (Verdict.CLOSED, "abandoned")
            assert len(await blobs(store, phone)) == before + 1


async def test_a_wait_and_the_abandonment_agree_which_came_first(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    end = NOW + 20
    for _ in range(10):
        question = await created(store, token, phone, tether=20, awaited_until=float(NOW))
        held, ended = await at_once(
            [
                handles[0].hold_tether(question.id, end + 50, end - 0.001),
                handles[-1].close_if_abandoned(question.id, [], end),
            ]
        )
        found = await store.find_interaction(question.id, end)
        assert isinstance(held, Interaction)
        assert held == found
        assert held.status == ("pending" if ended is None else "cancelled")
        await store.cancel_if_pending(question.id, [], end)


async def test_64_closings_of_an_abandoned_question_close_it_once(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    question = await created(store, token, phone, tether=20, awaited_until=float(NOW))
    results = await at_once(
        [at.close_if_abandoned(question.id, [make_delivery(phone)], NOW + 20) for at in islice(cycle(handles), 64)]
    )
    assert len([result for result in results if result is not None]) == 1
    assert len(await blobs(store, phone)) == 2


async def test_32_redemptions_of_one_code_add_one_device(handles: list[Store]):
    store = handles[0]
    phone, _ = await found_owner(store)
    code = make_code(owner_id=phone.owner_id)
    await store.add_setup_code(code)
    devices = [make_device(phone.owner_id) for _ in range(32)]
    results = await at_once(
        [
            at.redeem_setup_code(code.hash, device, None, [], NOW)
            for at, device in zip(cycle(handles), devices, strict=False)
        ]
    )
    assert Counter(results) == {Redemption.REDEEMED: 1, Redemption.INVALID: 31}
    (joined,) = [device for device, result in zip(devices, results, strict=True) if result is Redemption.REDEEMED]
    assert {device.id for device in await store.list_devices(phone.owner_id)} == {phone.id, joined.id}


async def test_32_codes_of_an_empty_store_found_one_owner(handles: list[Store]):
    store = handles[0]
    codes = [make_code() for _ in range(32)]
    for code in codes:
        await store.add_setup_code(code)

    owner_ids = [new_id("own") for _ in codes]
    results = await at_once(
        [
            at.redeem_setup_code(code.hash, make_device(owner_id), make_token(owner_id), [], NOW)
            for at, code, owner_id in zip(cycle(handles), codes, owner_ids, strict=False)
        ]
    )
    assert Counter(results) == {Redemption.REDEEMED: 1, Redemption.OWNERS_CHANGED: 31}
    assert len(await store.list_owners()) == 1


async def test_simultaneous_appends_get_each_number_once(handles: list[Store]):
    store = handles[0]
    phone, _ = await found_owner(store)
    deliveries = [make_delivery(phone, b"%d" % i) for i in range(64)]
    await at_once([at.append_to_queues([each]) for at, each in zip(cycle(handles), deliveries, strict=False)])
    entries = await queue(store, phone)
    assert [entry.seq for entry in entries] == list(range(1, 65))
    assert {entry.blob for entry in entries} == {b"%d" % i for i in range(64)}


async def test_simultaneous_token_requests_do_not_pass_the_limit(handles: list[Store]):
    store = handles[0]
    phone, _ = await found_owner(store)
    for _ in range(190):
        assert await store.add_token(make_token(phone.owner_id)) is Addition.ADDED
    results = await at_once([at.add_token(make_token(phone.owner_id)) for at in islice(cycle(handles), 30)])
    assert Counter(results) == {Addition.ADDED: 9, Addition.TOO_MANY: 21}


async def _revoke_and_withdraw(store: Store, token: Token) -> None:
    await store.revoke_token(token.owner_id, token.id, NOW)
    for pending in await store.list_pending(token.id, NOW):
        await store.cancel_if_pending(pending.id, [], NOW)


async def test_a_revoked_token_has_no_question_pending_that_was_asked_meanwhile(handles: list[Store]):
    store = handles[0]
    phone, _ = await found_owner(store)
    for _ in range(10):
        token = make_token(phone.owner_id)
        await store.add_token(token)
        asking: Awaitable[object] = create(handles[0], make_interaction(token), phone)
        await at_once([asking, _revoke_and_withdraw(handles[-1], token)])
        assert await store.list_pending(token.id, NOW) == []


async def test_a_question_is_never_created_for_phones_that_changed_meanwhile(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    for _ in range(10):
        tablet = await join(store, phone.owner_id)
        question = make_interaction(token)
        removing = asyncio.create_task(handles[-1].remove_device(phone.owner_id, tablet.id))
        result = await create(handles[0], question, phone, tablet)
        assert await removing
        assert result.creation in {Creation.CREATED, Creation.PHONES_CHANGED}
        if result.creation is Creation.CREATED:
            await store.cancel_if_pending(question.id, [], NOW)


async def test_sweeping_and_noting_beside_new_entries_leaves_every_count_right(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    devices = [phone, *[await join(store, phone.owner_id) for _ in range(3)], (await found_owner(store))[0]]
    await store.append_to_queues([make_delivery(each, expires_at=NOW + 60) for each in devices for _ in range(8)])
    await store.append_to_queues([make_delivery(phone, sender=devices[1].id, expires_at=NOW + 60)])
    calls: list[Awaitable[object]] = []
    for number, at in enumerate(islice(cycle(handles), 12)):
        calls.append(at.append_to_queues([make_delivery(each) for each in devices]))
        calls.append(at.sweep(NOW + 60))
        calls.append(at.record_activity({token.id: NOW + number}, {each.id: NOW + number for each in devices}))
        calls.append(at.ack_queue(devices[1].id, number % 9))
    await at_once(calls)
    while await store.sweep(NOW + 60):
        pass
    held = [entry for each in devices for entry in await queue(store, each)]
    load = await store.measure_load(NOW)
    assert (load.queue_entries, load.queue_bytes) == (len(held), sum(len(entry.blob) for entry in held)) == (60, 1_920)
    assert {each.last_seen_at for each in await store.list_devices(phone.owner_id)} == {NOW + 11}


async def test_of_many_refusals_from_phones_and_taps_one_ends_the_question_and_tells_once(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    tablet = await join(store, phone.owner_id)
    for _ in range(5):
        question = await created(store, token, phone, tablet)
        before = len(await blobs(store, tablet))
        calls: list[Awaitable[EndResult | None]] = []
        for at in islice(cycle(handles), 8):
            told = [make_delivery(tablet)]
            calls.append(at.cancel_if_pending(question.id, told, NOW, "dismissed"))
            calls.append(at.record_answer_if_pending(question.id, make_tap(phone), told, NOW))
        results = [result for result in await at_once(calls) if result is not None]
        assert [result.verdict for result in results].count(Verdict.ACCEPTED) == 1
        found = await store.find_interaction(question.id, NOW)
        assert {result.interaction for result in results} == {found}
        assert found is not None
        assert (found.status, found.reason) in {("answered", None), ("cancelled", "dismissed")}
        assert len(await blobs(store, tablet)) == before + 1


async def test_either_the_refusal_or_the_expiry_wins_never_both(handles: list[Store]):
    store = handles[0]
    phone, token = await found_owner(store)
    for _ in range(10):
        question = await created(store, token, phone)
        end = question.expires_at
        before = len(await blobs(store, phone))
        refused, expired = await at_once(
            [
                handles[0].cancel_if_pending(question.id, [make_delivery(phone)], end - 0.001, "dismissed"),
                handles[-1].close_if_expired(question.id, [make_delivery(phone)], end),
            ]
        )
        assert isinstance(refused, EndResult)
        found = await store.find_interaction(question.id, end)
        assert refused.interaction == found
        assert found is not None
        won = "dismissed" if refused.verdict is Verdict.ACCEPTED else "expired"
        assert (refused.verdict, found.status, expired is None) == {
            "dismissed": (Verdict.ACCEPTED, "cancelled", True),
            "expired": (Verdict.CLOSED, "expired", False),
        }[won]
        assert len(await blobs(store, phone)) == before + 1
