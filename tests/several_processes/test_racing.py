"""What holds when many call two processes at once."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import httpx
import msgspec
import pytest

from reflecto.core.quotas import LimitProfile
from tests.actors import DeviceActor, Program, enroll
from tests.api.limited import NO_LIMITS, standing
from tests.builders import DeviceKeys, enrolment_body
from tests.fakes import BOUND_SECONDS
from tests.several_processes.conftest import Two
from tests.sync_reader import open_sync


async def at_once(calls: Sequence[Coroutine[Any, Any, httpx.Response]]) -> list[httpx.Response]:
    """Make all calls at the same time."""
    async with asyncio.timeout(BOUND_SECONDS):
        return await asyncio.gather(*calls)


async def closings(two: Two, device: DeviceActor, question: str) -> list[dict[str, Any]]:
    """Return what the device was told of the question's end."""
    entries = await two.a.services.store.read_queue(device.id, 0, 100, two.a.clock.now())
    assert entries is not None
    envelopes = [device.open(entry.blob) for entry in entries]
    return [each.payload for each in envelopes if (each.type, each.id) == ("interaction.closed", question)]


def statuses(replies: Sequence[httpx.Response]) -> Counter[int]:
    """Count the replies by status."""
    return Counter(reply.status_code for reply in replies)


async def test_32_identical_creates_over_both_get_one_201(two: Two, phone: DeviceActor, sender: Program):
    callers = [sender, two.at_b(sender)]
    replies = await at_once([callers[n % 2].ask(idempotency_key="deploy") for n in range(32)])
    assert statuses(replies) == {201: 1, 200: 31}
    assert len({reply.json()["id"] for reply in replies}) == 1
    entries = await two.a.services.store.read_queue(phone.id, 1, 100, two.a.clock.now())
    assert entries is not None
    assert len(entries) == 1


async def test_the_same_keyed_send_at_both_at_once_is_one_message_and_equal_replies(
    two: Two, phone: DeviceActor, sender: Program
):
    callers, keyed = [sender, two.at_b(sender)], {"Idempotency-Key": "backup-2030-01-31"}
    sends = [each.call("POST", "/v1/send", json={"message": "Done"}, headers=keyed) for each in callers * 4]
    replies = await at_once(sends)
    assert {(reply.status_code, reply.content) for reply in replies} == {(200, replies[0].content)}
    assert [reply.headers.get("idempotent-replayed") for reply in replies].count(None) == 1
    entries = await two.a.services.store.read_queue(phone.id, 1, 100, two.a.clock.now())
    assert entries is not None
    assert len(entries) == 1


async def test_of_40_taps_over_both_one_wins(two: Two, phone: DeviceActor, sender: Program):
    asked = await sender.ask_id(choices=[str(n) for n in range(4)])
    callers = [phone, two.at_b(phone)]
    replies = await at_once([callers[n % 2].answer(asked, n % 4) for n in range(40)])
    won = [reply for reply in replies if reply.status_code == 200]
    states = [(await each.read(asked)).json() for each in (sender, two.at_b(sender))]
    assert states[0] == states[1]
    assert {reply.json()["choice_index"] for reply in won} == {states[0]["choice_index"]}
    assert statuses(replies).keys() <= {200, 409}
    assert 1 <= len(won) <= 10  # the winner, and whoever tapped the same


async def test_of_taps_and_refusals_over_both_one_wins_and_both_tell_the_same(
    two: Two, phone: DeviceActor, sender: Program
):
    tablet = await enroll(two.b, owner=phone, label="Tablet")
    asked = await sender.ask_id()
    refusal = f"/v1/interactions/{asked}/dismiss"
    callers = [phone, two.at_b(phone), two.at_b(tablet), replace(tablet, http=two.a.http)]
    calls = [each.answer(asked) for each in callers * 3]
    calls += [each.call("POST", refusal, json={}) for each in callers * 3]
    replies = await at_once(calls)
    states = [(await each.read(asked)).json() for each in (sender, two.at_b(sender))]
    assert states[0] == states[1]
    taps, refusals = replies[:12], replies[12:]
    if states[0]["status"] == "answered":
        assert statuses(refusals) == {409: 12}
    else:
        assert (states[0]["reason"], statuses(taps), statuses(refusals)) == ("dismissed", {409: 12}, {200: 12})
    told = [await closings(two, each, asked) for each in (phone, tablet)]
    assert sorted(map(len, told)) == [0, 1]  # whoever ended it needs not be told


async def test_a_ring_stopped_at_one_is_silent_on_the_devices_of_both(two: Two, phone: DeviceActor, sender: Program):
    tablet, desk = [
        await enroll(two.b, owner=phone, label=label, **kind)
        for label, kind in (("Tablet", {}), ("desk", {"class_": "desktop"}))
    ]
    async with open_sync(phone, after=3) as at_a, open_sync(tablet, after=1) as at_b:  # behind those who joined
        rang = (await sender.call("POST", "/v1/ring", json={})).json()["id"]
        for stream in (at_a, at_b):
            assert (await stream.envelope()).id == rang
        assert (await two.at_b(desk).call("POST", f"/v1/rings/{rang}/stop")).status_code == 204
        for stream in (at_a, at_b):
            stopped = await stream.envelope()
            assert (stopped.type, stopped.id, stopped.payload) == ("ring.stopped", rang, {"by": "desk"})


async def test_24_creates_over_both_fill_exactly_ten_places(two: Two, sender: Program):
    callers = [sender, two.at_b(sender)]
    replies = await at_once([callers[n % 2].ask(f"Question {n}?") for n in range(24)])
    assert statuses(replies) == {201: 10, 429: 14}


async def test_an_empty_database_is_founded_once(two: Two):
    codes = [await server.invite() for server in two]
    bodies = [enrolment_body(code, DeviceKeys()) for code in codes]
    replies = await at_once(
        [server.http.post("/v1/enroll", json=body) for server, body in zip(two, bodies, strict=True)]
    )
    assert statuses(replies) == {201: 2}
    assert len({reply.json()["owner_id"] for reply in replies}) == 1
    assert sorted(reply.json()["default_token"] is None for reply in replies) == [False, True]


class TestLimits:
    """One count for both."""

    @pytest.fixture
    def limits(self) -> LimitProfile:
        return msgspec.structs.replace(NO_LIMITS, token_burst=40, token_monthly=10, ip_minute=5)

    async def test_of_a_burst_over_both_as_many_pass_as_may_and_no_more(self, two: Two, sender: Program):
        callers = [sender, two.at_b(sender)]
        replies = await at_once([callers[n % 2].send() for n in range(30)])
        assert statuses(replies) == {200: 10, 429: 20}
        assert {standing(reply)[0] for reply in replies if reply.status_code == 429} == {"token_monthly"}
        two.a.clock.advance(60)
        assert standing(await callers[1].send())[:3] == ("token_monthly", 10, 0)

    async def test_strangers_have_one_count(self, two: Two):
        stranger = [Program(server.http, "rfk_live_" + "x" * 32) for server in two]
        replies = await at_once([stranger[n % 2].send() for n in range(24)])
        assert statuses(replies) == {401: 5, 429: 19}

    async def test_what_is_refunded_at_one_is_free_at_the_other(self, two: Two, sender: Program):
        for n in range(20):
            caller = [sender, two.at_b(sender)][n % 2]
            assert (await caller.ask("Question?", idempotency_key="the same")).status_code in {200, 201}
        assert standing(await sender.send())[:3] == ("token_monthly", 10, 8)

    async def test_wrong_codes_have_one_count(self, two: Two):
        await enroll(two.a)
        servers = list(two)
        replies = await at_once(
            [
                servers[n % 2].http.post("/v1/enroll", json=enrolment_body("AAAA-AAAA-AAAA-AAAA", DeviceKeys()))
                for n in range(12)
            ]
        )
        assert statuses(replies) == {403: 5, 429: 7}
