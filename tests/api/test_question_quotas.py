"""What a question costs in the layers of limits: a creation like a send, a repeat a burst only, a refusal nothing."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from reflecto.core.quotas import LimitProfile
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock, FaultyStore
from tests.running import RunningServer, run_server

LIMITS = LimitProfile(token_burst=9, token_monthly=4, receiver_daily=6, ip_minute=60, ip_hour=200)


@dataclass(frozen=True, slots=True)
class Limited:
    """A server with tight limits, and an owner on it."""

    server: RunningServer
    phone: DeviceActor
    sender: Program


@pytest.fixture
async def limited(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Limited]:
    """The server and its owner."""
    async with run_server(tmp_path, clock, limits=LIMITS) as server:
        phone = await enroll(server)
        yield Limited(server, phone, phone.default_program())


def standing(reply: httpx.Response) -> tuple[str, int, int]:
    """Return the tightest layer, its limit and what is left of it."""
    headers = reply.headers
    assert int(headers["x-ratelimit-reset"]) >= NOW
    return (
        headers["x-ratelimit-resource"],
        int(headers["x-ratelimit-limit"]),
        int(headers["x-ratelimit-remaining"]),
    )


async def test_a_creation_counts_and_every_201_and_200_says_what_is_left(limited: Limited):
    first = await limited.sender.ask("One?")
    assert (first.status_code, standing(first)) == (201, ("token_monthly", 4, 3))
    second = await limited.sender.ask("Two?")
    assert standing(second) == ("token_monthly", 4, 2)
    repeat = await limited.sender.ask("Two?")
    assert (repeat.status_code, standing(repeat)) == (200, ("token_monthly", 4, 2))


async def test_a_repeat_is_found_after_the_month_is_used_up(limited: Limited):
    for number in range(4):
        await limited.sender.ask_id(f"Question {number}?")
    refused = await limited.sender.ask("One more?")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert standing(refused) == ("token_monthly", 4, 0)
    assert int(refused.headers["retry-after"]) == int(refused.headers["x-ratelimit-reset"]) - NOW
    assert (await limited.sender.ask("Question 0?")).status_code == 200


async def test_a_repeat_counts_as_a_burst(limited: Limited, clock: FakeClock):
    await limited.sender.ask_id("One?")
    for _ in range(8):
        assert (await limited.sender.ask("One?")).status_code == 200
    refused = await limited.sender.ask("One?")
    assert (refused.status_code, standing(refused)) == (429, ("token_burst", 9, 0))
    assert refused.headers["retry-after"] == "60"
    clock.advance(60)
    assert (await limited.sender.ask("One?")).status_code == 200


async def test_the_receivers_day_is_shared_by_the_owners_tokens(limited: Limited):
    other = await limited.phone.new_token()
    for number in range(3):
        await limited.sender.ask_id(f"Question {number}?")
        await other.ask_id(f"Question {number}?")
    refused = await other.ask("One more?")
    assert (refused.status_code, standing(refused)) == (429, ("receiver_daily", 6, 0))


async def test_refusals_of_any_kind_count_in_no_layer_of_the_token(limited: Limited):
    narrow = await limited.phone.new_token(scopes=["send"])
    capped = await limited.phone.new_token(priority_cap="low")
    for refused in (
        await limited.sender.ask(""),
        await limited.sender.call("POST", "/v1/interactions", content=b"{"),
        await limited.sender.call("POST", "/v1/interactions", content=b" " * 70_000),
        await narrow.ask(),
        await capped.ask(),
    ):
        assert refused.status_code in {400, 403, 413}
    assert standing(await limited.sender.ask("One?")) == ("token_monthly", 4, 3)


async def test_without_a_phone_a_question_costs_nothing(limited: Limited):
    await limited.phone.call("DELETE", "/v1/devices/self")
    for _ in range(20):
        assert (await limited.sender.ask()).json()["error"]["code"] == "no_phone_device"
    await enroll(limited.server)
    assert standing(await limited.sender.ask()) == ("token_monthly", 4, 3)


async def test_a_question_refused_because_ten_wait_costs_nothing_and_says_how_the_layers_stand(
    tmp_path: Path, clock: FakeClock
):
    limits = LimitProfile(token_burst=None, token_monthly=12, receiver_daily=None, ip_minute=None, ip_hour=None)
    async with run_server(tmp_path, clock, limits=limits) as server:
        phone = await enroll(server)
        sender = phone.default_program()
        pending = [await sender.ask_id(f"Question {number}?") for number in range(10)]
        for _ in range(3):
            refused = await sender.ask("One more?")
            assert (refused.status_code, standing(refused)) == (429, ("token_monthly", 12, 2))
        await phone.answer(pending[0])
        assert standing(await sender.ask("One more?")) == ("token_monthly", 12, 1)


async def test_a_test_token_is_limited_as_a_live_one(limited: Limited):
    tester = await limited.phone.new_token(test=True)
    for number in range(4):
        await tester.ask_id(f"Question {number}?")
    assert (await tester.ask("One more?")).status_code == 429


async def test_reading_answering_and_withdrawing_are_never_limited(limited: Limited):
    question = await limited.sender.ask_id()
    for _ in range(80):
        assert (await limited.sender.read(question)).status_code == 200
    assert (await limited.phone.answer(question)).status_code == 200
    assert (await limited.sender.cancel(question)).status_code == 409


async def test_the_months_count_survives_a_restart(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock, limits=LIMITS) as server:
        phone = await enroll(server)
        token = phone.default_program().token
        for number in range(3):
            await phone.default_program().ask_id(f"Question {number}?")
    async with run_server(tmp_path, clock, limits=LIMITS) as server:
        asked = await Program(server.http, token).ask("After the restart?")
        assert (asked.status_code, standing(asked)) == (201, ("token_monthly", 4, 0))


async def test_the_unlimited_default_still_says_how_the_burst_stands(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock) as server:
        sender = (await enroll(server)).default_program()
        assert standing(await sender.ask()) in {("token_burst", 600, 599), ("ip_minute", 600, 599)}


async def test_repeats_of_the_last_question_of_the_month_are_found_while_it_is_just_being_stored(
    tmp_path: Path, clock: FakeClock
):
    limits = LimitProfile(token_burst=None, token_monthly=1, receiver_daily=None, ip_minute=None, ip_hour=None)
    async with run_server(tmp_path, clock, limits=limits, wrap_store=FaultyStore) as server:
        store = server.services.store
        assert isinstance(store, FaultyStore)
        sender = (await enroll(server)).default_program()
        gate = store.hold("create_interaction_once")
        asking = [asyncio.create_task(sender.ask()) for _ in range(16)]
        await gate.until_held()
        other = await sender.ask("Another?")  # the only place is taken
        gate.open()
        replies = await asyncio.gather(*asking)
    assert (other.status_code, other.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert sorted(reply.status_code for reply in replies) == [200] * 15 + [201]
    assert len({reply.json()["id"] for reply in replies}) == 1


async def test_a_question_sealed_twice_because_a_phone_joined_costs_once(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock, limits=LIMITS, wrap_store=FaultyStore) as server:
        store = server.services.store
        assert isinstance(store, FaultyStore)
        phone = await enroll(server)
        gate = store.hold("create_interaction_once")
        asking = asyncio.create_task(phone.default_program().ask())
        await gate.until_held()
        await enroll(server, owner=phone)
        gate.open()
        assert standing(await asking) == ("token_monthly", 4, 3)


async def test_a_question_that_could_not_be_stored_gives_its_repeats_their_turn(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock, wrap_store=FaultyStore) as server:
        store = server.services.store
        assert isinstance(store, FaultyStore)
        sender = (await enroll(server)).default_program()
        gate = store.hold("create_interaction_once")
        store.fail("create_interaction_once")
        asking = [asyncio.create_task(sender.ask()) for _ in range(8)]
        await gate.until_held()
        gate.open()
        assert {(await asked).status_code for asked in asking} == {503}
        store.recover()
        assert (await sender.ask()).status_code == 201
