"""What holds when many call at once, over HTTP."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW, enrolment_body
from tests.fakes import BOUND_SECONDS, FakeClock, FaultyStore, Gate
from tests.running import RunningServer, run_server


@pytest.fixture
async def server(tmp_path: Path, clock: FakeClock) -> AsyncIterator[RunningServer]:
    """A server whose store can hold calls back."""
    async with run_server(tmp_path, clock, wrap_store=FaultyStore) as running:
        yield running


@pytest.fixture
def store(server: RunningServer) -> FaultyStore:
    """That store."""
    assert isinstance(server.services.store, FaultyStore)
    return server.services.store


async def at_once(
    calls: Sequence[Coroutine[Any, Any, httpx.Response]], gate: Gate | None = None
) -> list[httpx.Response]:
    """Make all calls at the same time; with a gate, none gets behind it before all have come to it."""
    tasks = [asyncio.create_task(call) for call in calls]
    async with asyncio.timeout(BOUND_SECONDS):
        if gate is not None:
            await gate.until_held(len(tasks))
            gate.open()
        return await asyncio.gather(*tasks)


async def test_64_identical_creates_at_once_get_one_201_and_63_replays(
    store: FaultyStore, phone: DeviceActor, sender: Program
):
    replies = await at_once([sender.ask(idempotency_key="deploy") for _ in range(64)])
    assert Counter(reply.status_code for reply in replies) == {201: 1, 200: 63}
    assert len({reply.text for reply in replies}) == 1
    for reply in replies:
        assert (reply.headers.get("idempotent-replayed") == "true") == (reply.status_code == 200)
        assert "idempotency-mismatch" not in reply.headers
    entries = await store.read_queue(phone.id, 1, 100, NOW)
    assert len(entries) == 1
    assert store.calls.count("create_interaction_once") == 1  # the others waited for the first


async def test_64_different_questions_with_one_key_at_once_make_one_question_and_63_mismatches(sender: Program):
    replies = await at_once([sender.ask(f"Question {number}?", idempotency_key="deploy") for number in range(64)])
    (created,) = [reply for reply in replies if reply.status_code == 201]
    asked = (await sender.read(created.json()["id"])).json()["question"]
    assert asked in {f"Question {number}?" for number in range(64)}
    assert sum(reply.headers.get("idempotency-mismatch") == "true" for reply in replies) == 63
    assert {reply.json()["id"] for reply in replies} == {created.json()["id"]}


async def test_64_different_creates_at_once_fill_exactly_ten_places(store: FaultyStore, sender: Program):
    gate = store.hold("create_interaction_once")
    replies = await at_once([sender.ask(f"Question {number}?") for number in range(64)], gate)
    assert Counter(reply.status_code for reply in replies) == {201: 10, 429: 54}
    assert {reply.json()["error"]["code"] for reply in replies if reply.status_code == 429} == {"too_many_pending"}


async def test_100_taps_at_once_from_five_phones_have_one_winner(
    server: RunningServer, store: FaultyStore, phone: DeviceActor
):
    sender = phone.default_program()
    phones = [phone, *[await enroll(server, label=f"Phone {number}") for number in range(4)]]
    question = await sender.ask_id(choices=["a", "b", "c", "d"])
    taps = [(phones[number % 5], number // 5 % 4) for number in range(100)]
    gate = store.hold("record_answer_if_pending")
    replies = await at_once([each.answer(question, choice) for each, choice in taps], gate)
    state = (await sender.read(question)).json()
    winner = (state["answered_by"]["device_id"], state["choice_index"])
    for (each, choice), reply in zip(taps, replies, strict=True):
        if (each.id, choice) == winner:
            assert reply.status_code == 200
            assert reply.json() == {
                "id": question,
                "status": "answered",
                "choice_index": state["choice_index"],
                "answered_at": NOW,
            }
        else:
            assert reply.status_code == 409
            assert reply.json()["error"]["code"] == "already_answered"
            assert reply.json()["error"]["details"] == {
                "choice_index": state["choice_index"],
                "answered_at": NOW,
                "answered_by": state["answered_by"],
            }
    assert Counter(reply.status_code for reply in replies) == {200: 5, 409: 95}  # the winner tapped five times


async def test_every_other_phone_is_told_once_that_the_question_is_over(
    server: RunningServer, store: FaultyStore, phone: DeviceActor
):
    phones = [phone, *[await enroll(server, label=f"Phone {number}") for number in range(4)]]
    question = await phone.default_program().ask_id()
    gate = store.hold("record_answer_if_pending")
    await at_once([each.answer(question, 0) for each in phones for _ in range(4)], gate)
    told = []
    for each in phones:
        entries = await server.services.store.read_queue(each.id, 0, 100, NOW)
        assert entries is not None
        closed = [each.open(entry.blob) for entry in entries]
        told.append(sum(envelope.type == "interaction.closed" for envelope in closed))
    assert sorted(told) == [0, 1, 1, 1, 1]


async def test_a_tap_and_a_withdrawal_at_once_agree_on_one_ending(phone: DeviceActor, sender: Program):
    for number in range(8):
        question = await sender.ask_id(f"Question {number}?")
        tapped, withdrawn = await at_once([phone.answer(question), sender.cancel(question)])
        status = (await sender.read(question)).json()["status"]
        assert (tapped.status_code, withdrawn.status_code) in {(200, 409), (409, 200)}
        assert status == ("answered" if tapped.status_code == 200 else "cancelled")
        loser = withdrawn if status == "answered" else tapped
        assert loser.json()["error"]["code"] == ("already_answered" if status == "answered" else "interaction_closed")


async def test_one_code_redeemed_32_times_at_once_enrols_one_device(server: RunningServer, store: FaultyStore):
    code = await server.invite()
    clients = [await server.client(f"127.0.0.{number}") for number in range(1, 33)]
    gate = store.hold("redeem_setup_code")
    replies = await at_once([client.post("/v1/enroll", json=enrolment_body(code)) for client in clients], gate)
    assert Counter(reply.status_code for reply in replies) == {201: 1, 403: 31}
    assert {reply.json()["error"]["code"] for reply in replies if reply.status_code == 403} == {"invalid_code"}
    (owner,) = await store.list_owners()
    assert len(await store.list_devices(owner.id)) == 1


async def test_eight_codes_of_an_empty_store_redeemed_at_once_make_one_owner_of_eight_devices(
    server: RunningServer, store: FaultyStore
):
    codes = [await server.invite() for _ in range(8)]
    clients = [await server.client(f"127.0.0.{number}") for number in range(1, 9)]
    gate = store.hold("redeem_setup_code")
    enrolling = [
        client.post("/v1/enroll", json=enrolment_body(code)) for client, code in zip(clients, codes, strict=True)
    ]
    replies = await at_once(enrolling, gate)
    assert {reply.status_code for reply in replies} == {201}
    assert len({reply.json()["owner_id"] for reply in replies}) == 1
    assert sum(reply.json()["default_token"] is not None for reply in replies) == 1


async def test_a_phone_that_joins_while_a_question_is_stored_gets_its_prompt_too(
    server: RunningServer, store: FaultyStore, phone: DeviceActor, sender: Program
):
    gate = store.hold("create_interaction_once")
    asking = asyncio.create_task(sender.ask())
    await gate.until_held()
    tablet = await enroll(server, owner=phone)
    gate.open()
    asked = await asking
    assert asked.status_code == 201
    for device in (phone, tablet):
        entries = [device.open(entry.blob) for entry in await store.read_queue(device.id, 0, 100, NOW)]
        assert [each.id for each in entries if each.type == "interaction"] == [asked.json()["id"]]
    assert store.calls.count("create_interaction_once") == 2


async def test_if_the_last_phone_leaves_while_a_question_is_stored_nothing_is_asked(
    store: FaultyStore, phone: DeviceActor, sender: Program
):
    gate = store.hold("create_interaction_once")
    asking = asyncio.create_task(sender.ask())
    await gate.until_held()
    await phone.call("DELETE", "/v1/devices/self")
    gate.open()
    refused = await asking
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_phone_device")
    assert await store.list_pending(sender.id, NOW) == []


async def test_a_token_revoked_while_its_question_is_stored_asks_nothing(
    store: FaultyStore, phone: DeviceActor, sender: Program
):
    gate = store.hold("create_interaction_once")
    asking = asyncio.create_task(sender.ask())
    await gate.until_held()
    assert (await phone.revoke(sender)).status_code == 204
    gate.open()
    refused = await asking
    assert (refused.status_code, refused.json()) == (401, {"error": "invalid_token"})
    entries = await store.read_queue(phone.id, 1, 100, NOW)
    assert entries == []


@pytest.mark.parametrize("call", ["answer", "withdraw", "make a token", "report a label", "read the queue"])
async def test_whoever_is_overtaken_by_the_end_of_the_owner_is_refused_cleanly(
    server: RunningServer, store: FaultyStore, phone: DeviceActor, sender: Program, call: str
):
    tablet = await enroll(server, owner=phone)
    question = await sender.ask_id()
    verb, calling, status = {
        "answer": ("record_answer_if_pending", lambda: tablet.answer(question), 404),
        "withdraw": ("cancel_if_pending", lambda: sender.cancel(question), 404),
        "make a token": ("add_token", lambda: tablet.call("POST", "/v1/tokens", json={"label": "CI"}), 401),
        "report a label": ("update_device", lambda: tablet.call("PATCH", "/v1/devices/self", json={"label": "x"}), 401),
        "read the queue": ("read_queue", lambda: tablet.call("GET", "/v1/sync/entries"), 401),
    }[call]
    gate = store.hold(verb)
    overtaken = asyncio.create_task(calling())
    await gate.until_held()
    assert (await phone.call("DELETE", "/v1/owner")).status_code == 204
    gate.open()
    assert (await overtaken).status_code == status


async def test_a_device_removed_between_its_two_checks_gets_no_stream(
    store: FaultyStore, server: RunningServer, phone: DeviceActor
):
    tablet = await enroll(server, owner=phone)
    checks = 0

    async def remove_before_the_second_check() -> None:
        nonlocal checks
        checks += 1
        if checks == 2:
            await store.remove_device(phone.owner_id, tablet.id)

    store.before["find_device_by_token"] = remove_before_the_second_check
    refused = await tablet.call("GET", "/v1/sync")
    assert (refused.status_code, refused.json(), checks) == (401, {"error": "invalid_token"}, 2)
    assert not await server.services.presence.connected([tablet.id])


async def test_a_store_where_phones_never_stop_changing_fails_the_question_and_nothing_more(
    server: RunningServer, store: FaultyStore, phone: DeviceActor, sender: Program
):
    async def let_another_phone_join() -> None:
        await enroll(server, owner=phone)

    store.before["create_interaction_once"] = let_another_phone_join
    assert (await sender.ask()).status_code == 500
    assert await store.list_pending(sender.id, NOW) == []
    store.before.clear()
    assert (await sender.ask()).status_code == 201


def dismissal(device: DeviceActor, question: str) -> Coroutine[Any, Any, httpx.Response]:
    return device.call("POST", f"/v1/interactions/{question}/dismiss", json={})


async def closings(server: RunningServer, device: DeviceActor, question: str) -> list[tuple[str, str | None]]:
    """Return with which status and reason the device was told that the question is over."""
    entries = await server.services.store.read_queue(device.id, 0, 100, server.clock.now())
    assert entries is not None
    envelopes = [device.open(entry.blob) for entry in entries]
    told = [each.payload for each in envelopes if (each.type, each.id) == ("interaction.closed", question)]
    return [(each["status"], each.get("reason")) for each in told]


async def test_a_tap_and_a_refusal_at_once_agree_on_one_ending_and_the_others_hear_it(
    server: RunningServer, store: FaultyStore, phone: DeviceActor, sender: Program
):
    fold, tablet = [await enroll(server, owner=phone, label=label) for label in ("Fold", "Tablet")]
    for number in range(4):
        question = await sender.ask_id(f"Question {number}?")
        gate = store.hold("record_answer_if_pending" if number % 2 else "cancel_if_pending")
        calls = [asyncio.create_task(each) for each in (phone.answer(question), dismissal(fold, question))]
        async with asyncio.timeout(BOUND_SECONDS):
            await gate.until_held(1)
            await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)  # the other one wins
            gate.open()
            tapped, refused = await asyncio.gather(*calls)
        state = (await sender.read(question)).json()
        if number % 2:
            assert (tapped.status_code, refused.status_code, state["reason"]) == (409, 200, "dismissed")
            assert tapped.json()["error"]["details"] == {"status": "cancelled"}
            told: tuple[str, str | None] = ("cancelled", "dismissed")
        else:
            assert (tapped.status_code, refused.status_code, state["status"]) == (200, 409, "answered")
            assert refused.json()["error"]["details"]["choice_index"] == state["choice_index"]
            told = ("answered", None)
        assert await closings(server, tablet, question) == [told]


async def test_of_refusals_at_once_one_is_told_to_the_others(
    server: RunningServer, store: FaultyStore, phone: DeviceActor, sender: Program
):
    fold, tablet = [await enroll(server, owner=phone, label=label) for label in ("Fold", "Tablet")]
    question = await sender.ask_id()
    gate = store.hold("cancel_if_pending")
    replies = await at_once([dismissal(each, question) for each in (phone, fold) for _ in range(4)], gate)
    assert Counter(reply.status_code for reply in replies) == {200: 8}
    assert len({reply.content for reply in replies}) == 1
    assert await closings(server, tablet, question) == [("cancelled", "dismissed")]
    told = [await closings(server, each, question) for each in (phone, fold)]
    assert sorted(told) == [[], [("cancelled", "dismissed")]]  # whoever was first needs not be told


async def test_a_refusal_that_is_overtaken_by_the_end_is_too_late_for_everybody(
    server: RunningServer, store: FaultyStore, phone: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id(expires_in=60)
    clock.advance(59.5)
    gate = store.hold("cancel_if_pending")
    refusal = asyncio.create_task(dismissal(phone, question))
    async with asyncio.timeout(BOUND_SECONDS):
        await gate.until_held(1)
        clock.advance(0.5)
        await server.services.interactions.settle_expired()
        gate.open()
        refused = await refusal
    assert (refused.status_code, refused.json()["error"]["details"]) == (409, {"status": "expired"})
    assert (await sender.read(question)).json()["status"] == "expired"
    assert await closings(server, phone, question) == [("expired", None)]
