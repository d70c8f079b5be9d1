"""The layers of limits, each to the second: what counts, when it frees, and what replies tell of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from reflecto.bootstrap import open_services
from reflecto.config import Settings
from reflecto.core.quotas import PROFILES
from tests.actors import Program, enroll
from tests.api.limited import NO_LIMITS, assert_limited, limited, standing
from tests.builders import NOW
from tests.fakes import FakeClock, FaultyStore
from tests.running import run_server

DAY = 86_400
MONTH_ENDS = 1_756_684_800  # 1 September 2025, 00:00 UTC; NOW is 10 August


@pytest.mark.parametrize(
    ("profile", "layers"),
    [
        ("free", (60, 500, 1_000, 20, 200)),
        ("pro", (600, 10_000, 25_000, 20, 200)),
        ("self-hosted", (600, None, None, 600, None)),
    ],
)
def test_the_profiles_are_those_of_the_contract(profile: str, layers: tuple[int | None, ...]):
    found = PROFILES[profile]
    assert layers == (
        found.token_burst,
        found.token_monthly,
        found.receiver_daily,
        found.ip_minute,
        found.ip_hour,
    )


async def test_a_profile_is_picked_and_single_layers_changed_in_the_settings(tmp_path: Path):
    settings = Settings(data=tmp_path, limits="free", limit_overrides={"token_monthly": 7})
    services = await open_services(settings)
    try:
        assert services.quotas.monthly.limit == 7
    finally:
        await services.store.close()


async def test_without_limits_nothing_is_told_of_any(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock) as world:
        sent = await world.sender.send()
    assert sent.status_code == 200
    assert [name for name in sent.headers if name.startswith("x-ratelimit")] == []


async def test_the_burst_of_a_token_rolls_over_60_seconds_to_the_second(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=3) as world:
        for number in range(3):
            clock.advance_to(NOW + number * 10)
            sent = await world.sender.send()
            assert standing(sent) == ("token_burst", 3, 2 - number, NOW + 60)
        clock.advance_to(NOW + 30.5)
        assert_limited(await world.sender.send(), "token_burst", retry_after=30)
        clock.advance_to(NOW + 59.999)
        assert_limited(await world.sender.send(), "token_burst", retry_after=1)
        clock.advance_to(NOW + 60)
        assert standing(await world.sender.send()) == ("token_burst", 3, 0, NOW + 70)
        assert_limited(await world.sender.send(), "token_burst", retry_after=10)
        other = await world.phone.new_token("Another")
        assert (await other.send()).status_code == 200


async def test_the_month_of_a_token_begins_anew_in_the_first_second_of_the_next_in_utc(
    tmp_path: Path, clock: FakeClock
):
    async with limited(tmp_path, clock, token_monthly=2) as world:
        assert standing(await world.sender.send()) == ("token_monthly", 2, 1, MONTH_ENDS)
        assert standing(await world.sender.send()) == ("token_monthly", 2, 0, MONTH_ENDS)
        assert_limited(await world.sender.send(), "token_monthly", retry_after=MONTH_ENDS - NOW)
        clock.advance_to(MONTH_ENDS - 0.001)
        assert_limited(await world.sender.send(), "token_monthly", retry_after=1)
        clock.advance_to(MONTH_ENDS)
        assert standing(await world.sender.send()) == ("token_monthly", 2, 1, MONTH_ENDS + 30 * DAY)


async def test_the_year_ends_like_any_month(tmp_path: Path):
    new_year = 1_767_225_600  # 1 January 2026
    clock = FakeClock(new_year - 1)
    async with limited(tmp_path, clock, token_monthly=1) as world:
        assert standing(await world.sender.send())[3] == new_year
        clock.advance(1)
        assert standing(await world.sender.send()) == ("token_monthly", 1, 0, new_year + 31 * DAY)


async def test_the_month_s_count_survives_a_restart_and_not_its_end(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_monthly=3) as world:
        for _ in range(2):
            await world.sender.send()
        token = world.sender.token
    profile = msgspec.structs.replace(NO_LIMITS, token_monthly=3)
    async with run_server(tmp_path, clock, limits=profile, keys=world.keys) as again:
        sender = Program(again.http, token)
        assert standing(await sender.send())[:3] == ("token_monthly", 3, 0)
        assert_limited(await sender.send(), "token_monthly", retry_after=MONTH_ENDS - NOW)
    clock.advance_to(MONTH_ENDS + 5)
    async with run_server(tmp_path, clock, limits=profile, keys=world.keys) as later:
        assert standing(await Program(later.http, token).send())[:3] == ("token_monthly", 3, 2)


async def test_the_day_of_a_receiver_rolls_over_24_hours_and_all_its_tokens(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, receiver_daily=2) as world:
        other = await world.phone.new_token("Another")
        assert standing(await world.sender.send()) == ("receiver_daily", 2, 1, NOW + DAY)
        clock.advance(3_600)
        assert standing(await other.send()) == ("receiver_daily", 2, 0, NOW + DAY)
        assert_limited(await world.sender.send(), "receiver_daily", retry_after=DAY - 3_600)
        neighbour = await enroll(world.server, await world.server.invite(new_owner=True))
        assert (await neighbour.default_program().send()).status_code == 200
        clock.advance_to(NOW + DAY)
        assert standing(await other.send()) == ("receiver_daily", 2, 0, NOW + 3_600 + DAY)


@pytest.mark.parametrize(("layer", "window"), [("ip_minute", 60), ("ip_hour", 3_600)])
async def test_an_address_without_a_token_is_limited_by_the_minute_and_by_the_hour(
    tmp_path: Path, clock: FakeClock, layer: str, window: int
):
    layers: dict[str, Any] = {layer: 2}
    async with limited(tmp_path, clock, **layers) as world:
        elsewhere = await world.server.client("127.0.0.2")
        for _ in range(2):
            assert (await world.server.http.post("/v1/send", content=b"x")).status_code == 401
        refused = await world.server.http.post("/v1/send", content=b"x")
        assert_limited(refused, layer, retry_after=window)
        assert standing(refused) == (layer, 2, 0, NOW + window)
        assert (await elsewhere.post("/v1/send", content=b"x")).status_code == 401
        clock.advance(window)
        assert (await world.server.http.post("/v1/send", content=b"x")).status_code == 401


@pytest.mark.parametrize("path", ["/v1/send", "/v1/interactions", "/1/messages.json", "/hooks/claude-code"])
async def test_calls_without_a_token_take_nothing_from_those_with_one_behind_the_same_address(
    tmp_path: Path, clock: FakeClock, path: str
):
    async with limited(tmp_path, clock, ip_minute=600, token_burst=600) as world:
        statuses = [(await world.server.http.post(path, json={"message": "m"})).status_code for _ in range(601)]
        assert statuses == [401] * 600 + [429]
        assert (await world.sender.ask()).status_code == 201
        sent = await world.server.http.post(
            "/1/messages.json", data={"token": world.sender.token, "user": "me", "message": "Done"}
        )
        assert sent.status_code == 200
        assert (await world.sender.call("POST", "/hooks/claude-code", json={})).status_code == 200


async def test_calls_with_a_token_take_nothing_from_those_without(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, ip_minute=1, token_burst=5) as world:
        for _ in range(3):
            assert standing(await world.sender.send())[0] == "token_burst"
        assert (await world.server.http.post("/v1/send", content=b"x")).status_code == 401


async def test_headers_tell_of_the_layer_with_the_least_left(tmp_path: Path, clock: FakeClock):
    layers: dict[str, Any] = {"token_burst": 5, "token_monthly": 4, "receiver_daily": 50, "ip_minute": 1, "ip_hour": 1}
    async with limited(tmp_path, clock, **layers) as world:
        assert standing(await world.sender.send())[:3] == ("token_monthly", 4, 3)
        for _ in range(2):
            await world.sender.ask(idempotency_key="one")  # the second, a repeat, counts in the burst only
        assert standing(await world.sender.ask(idempotency_key="one"))[:3] == ("token_burst", 5, 1)


async def test_every_2xx_of_a_limited_call_tells_how_it_stands_and_reading_is_free(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=100, ip_minute=100) as world:
        call = world.sender.call
        at = NOW + 600
        replies = [
            await world.sender.send(),
            await call("POST", "/v1/documents", json={"filename": "a.txt", "content": "x"}),
            await call("POST", "/v1/ring", json={}),
            await call("POST", "/v1/reminders", json={"message": "m", "at": at}),
            await world.sender.ask(),
            await world.sender.ask(),
            await call("POST", "/1/messages.json", data={"token": world.sender.token, "message": "m"}),
        ]
        assert [reply.status_code for reply in replies] == [200, 201, 200, 201, 201, 200, 200]
        assert [standing(reply)[2] for reply in replies] == [99, 98, 97, 96, 95, 94, 93]

        await world.sender.read(replies[4].json()["id"])
        await call("GET", "/v1/reminders")
        await call("GET", "/v1/devices")
        await world.sender.cancel(replies[4].json()["id"])
        assert standing(await world.sender.send())[2] == 92


async def test_counting_writes_nothing_to_the_store_but_once_a_minute(tmp_path: Path, clock: FakeClock):
    stores: list[FaultyStore] = []

    def watched(store: object) -> FaultyStore:
        stores.append(FaultyStore(store))  # type: ignore[arg-type]
        return stores[0]

    async with limited(tmp_path, clock, token_monthly=1_000, ip_minute=1_000, wrap={"wrap_store": watched}) as world:
        [store] = stores
        await clock.until_waited_for(NOW + 60)  # the housekeeping has run once
        store.calls.clear()
        for _ in range(20):
            await world.sender.send()
        assert {verb: store.calls.count(verb) for verb in store.calls if not verb.startswith("find_")} == {
            "list_devices": 20,
            "send_to_queues": 20,
        }
        clock.advance(60)
        await clock.until_waited_for(NOW + 120)
        assert store.calls.count("add_monthly_counts") == 1
        assert (await store.load_monthly_counts("2025-08"))[world.sender.id] == 20
