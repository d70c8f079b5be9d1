"""The gates in their order: a request that is refused at one spends nothing at those behind it."""

from pathlib import Path
from typing import Any

import pytest

from tests.actors import Program
from tests.api.limited import Limited, assert_limited, limited, standing
from tests.builders import NOW
from tests.fakes import FakeClock, FaultyStore

TOO_LONG = "x" * 1_501
LINK = "https://example.org/" + "a" * 490
TOO_BIG: dict[str, Any] = {
    "message": "x" * 1_400,
    "url": LINK,
    "actions": [{"label": "Open", "url": LINK}, {"label": "Log", "url": LINK}],
}


async def narrow(world: Limited, **fields: Any) -> Program:
    return await world.phone.new_token(**fields)


async def test_whatever_fails_before_the_limits_spends_nothing_of_them(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=1, token_monthly=1, receiver_daily=1) as world:
        token = await narrow(world, scopes=["send"], priority_cap="default")
        refused = [
            await token.send(TOO_LONG),
            await token.send("x", priority="high"),
            await token.call("POST", "/v1/ring", json={}),
            await token.call("POST", "/v1/ring", content=b"{", headers={"content-type": "application/json"}),
            await token.call("POST", "/v1/send", json=TOO_BIG),
            await token.call("POST", "/v1/send", content=b"x", headers={"content-type": "image/png"}),
            await token.call("POST", "/v1/send", content=b"x" * 70_000, headers={"content-type": "text/plain"}),
        ]
        assert [reply.status_code for reply in refused] == [400, 403, 403, 400, 413, 415, 413]
        assert not any("x-ratelimit-limit" in reply.headers for reply in refused)
        assert standing(await token.send())[2] == 0
        assert_limited(await token.send(), "token_burst", retry_after=60)


async def test_of_two_faults_the_gate_that_comes_first_answers(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=1, ip_minute=100) as world:
        no_scope = await narrow(world, scopes=["ask"])
        capped = await narrow(world, priority_cap="low")
        spent = world.sender
        assert (await spent.send()).status_code == 200

        async def code(program: Program, **fields: Any) -> str:
            reply = await program.send(**fields)
            found: str = reply.json()["error"]["code"]
            return found

        assert await code(no_scope, message=TOO_LONG) == "message_too_long"  # the body before the scope
        assert await code(no_scope, **TOO_BIG) == "scope_denied"  # the scope before the size
        assert await code(capped, **TOO_BIG) == "priority_capped"  # the cap before the size
        assert await code(spent, **TOO_BIG) == "payload_too_large"  # the size before the limits
        assert await code(spent, message=TOO_LONG) == "message_too_long"
        assert await code(spent, message="x") == "rate_limit_exceeded"


async def test_a_full_address_is_refused_whatever_its_wrong_token_and_its_body(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, ip_minute=1) as world:
        assert (await world.server.http.post("/v1/send", content=b"x")).status_code == 401
        for token in ("rfk_live_" + "b" * 32, "nonsense"):
            assert_limited(await Program(world.server.http, token).send(TOO_LONG), "ip_minute", retry_after=60)
        assert (await world.sender.send()).status_code == 200


async def test_of_the_limits_burst_comes_before_month_and_month_before_day(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=1, token_monthly=1, receiver_daily=1) as world:
        await world.sender.send()
        assert standing(await world.sender.send())[0] == "token_burst"
        clock.advance(60)
        assert standing(await world.sender.send())[0] == "token_monthly"
        assert standing(await (await world.phone.new_token("Another")).send())[0] == "receiver_daily"


async def test_a_refusal_by_the_month_gives_the_burst_its_place_back(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=3, token_monthly=1) as world:
        await world.sender.send()
        for _ in range(5):
            assert standing(await world.sender.send())[0] == "token_monthly"
        await world.sender.ask()
        assert standing(await world.sender.send())[0] == "token_monthly"


async def test_what_is_refused_for_the_state_of_things_is_given_back(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=30, token_monthly=20, receiver_daily=20) as world:
        for number in range(10):
            assert (await world.sender.ask(f"Question {number}?")).status_code == 201
        pending = await world.sender.ask("One more?")
        assert (pending.status_code, pending.json()["error"]["code"]) == (429, "too_many_pending")
        assert standing(pending) == ("token_monthly", 20, 10, standing(pending)[3])

        await world.phone.call("DELETE", "/v1/devices/self")
        for path, body in (("/v1/ring", {}), ("/v1/interactions", {"question": "Deploy?"})):
            refused = await world.sender.call("POST", path, json=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_phone_device")
        assert standing(await world.sender.send())[:3] == ("token_monthly", 20, 9)


async def test_what_the_store_could_not_take_is_given_back(tmp_path: Path, clock: FakeClock):
    stores: list[FaultyStore] = []

    def watched(store: Any) -> FaultyStore:
        stores.append(FaultyStore(store))
        return stores[0]

    async with limited(tmp_path, clock, token_burst=2, token_monthly=2, wrap={"wrap_store": watched}) as world:
        stores[0].fail("send_to_queues")
        for _ in range(4):
            assert (await world.sender.send()).status_code == 503
        stores[0].recover()
        assert standing(await world.sender.send())[:3] == ("token_burst", 2, 1)


async def test_a_repeat_of_a_question_counts_in_the_burst_only(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=3, token_monthly=2, receiver_daily=2) as world:
        first = await world.sender.ask()
        for _ in range(2):
            assert (await world.sender.ask()).json()["id"] == first.json()["id"]
        assert_limited(await world.sender.ask(), "token_burst", retry_after=60)
        clock.advance(60)
        assert (await world.sender.send()).status_code == 200  # one of two a month was left
        assert_limited(await world.sender.send(), "token_monthly", retry_after=1_756_684_800 - NOW - 60)


@pytest.mark.parametrize("path", ["/v1/messages.json", "/1/messages.json"])
async def test_pushover_s_refusals_carry_the_same_headers_in_its_own_shape(tmp_path: Path, clock: FakeClock, path: str):
    async with limited(tmp_path, clock, token_burst=1, token_monthly=5) as world:
        body = {"token": world.sender.token, "user": "me", "message": "Done"}
        sent = await world.server.http.post(path, data=body)
        assert (sent.headers["x-limit-app-limit"], sent.headers["x-limit-app-remaining"]) == ("5", "4")
        assert sent.headers["x-limit-app-reset"] == "1756684800"
        refused = await world.server.http.post(path, data=body)
        assert (refused.status_code, refused.json()["status"]) == (429, 0)
        assert refused.json()["errors"] == ["rate_limit_exceeded"]
        assert (standing(refused)[0], refused.headers["retry-after"]) == ("token_burst", "60")
