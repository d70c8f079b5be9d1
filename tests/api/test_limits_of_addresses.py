"""Whose address it is: sockets, proxies that are trusted and clients that lie; and guessing tokens."""

from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.actors import Program
from tests.api.limited import Limited, assert_limited, limited, standing
from tests.fakes import FakeClock

WRONG = "rfk_live_" + "b" * 32
PROXIES = ["127.0.0.1", "10.0.0.0/8"]


async def statuses_of(world: Limited, *forwarded: str) -> list[int]:
    """Call without a token, once with each of these X-Forwarded-For headers: 401, or 429 where the address is full."""
    return [await status_of(world, each) for each in forwarded]


async def status_of(world: Limited, *forwarded: str) -> int:
    headers = [("x-forwarded-for", each) for each in forwarded]
    return (await world.server.http.post("/v1/send", json={"message": "x"}, headers=headers)).status_code


async def test_what_a_client_claims_to_be_forwarded_for_is_not_believed(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, ip_minute=2) as world:
        assert await statuses_of(world, *(f"203.0.113.{number}" for number in range(3))) == [401, 401, 429]


async def test_behind_a_trusted_proxy_each_client_has_limits_of_its_own(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, trusted_proxies=PROXIES, ip_minute=1) as world:
        assert await statuses_of(world, "203.0.113.1", "203.0.113.2", "203.0.113.1") == [401, 401, 429]


async def test_a_first_hop_that_the_client_made_up_gets_it_nothing(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, trusted_proxies=PROXIES, ip_minute=5) as world:
        claims = [f"198.51.100.{number}, 203.0.113.1" for number in range(3)] + ["127.0.0.1, 203.0.113.1"]
        assert await statuses_of(world, *claims) == [401] * 4
        # The same over two header lines, as a proxy that adds a line of its own sends it.
        assert await status_of(world, "198.51.100.9", "203.0.113.1") == 401
        assert await status_of(world, "203.0.113.1") == 429


async def test_the_nearest_hop_that_is_not_trusted_is_the_client(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, trusted_proxies=PROXIES, ip_minute=1) as world:
        assert await status_of(world, "198.51.100.1, 203.0.113.1, 10.0.0.7, 10.200.0.1") == 401
        assert await status_of(world, "203.0.113.1") == 429
        assert await status_of(world, "203.0.113.1, 192.0.2.1") == 401  # 192.0.2.1 is not trusted, so it is the client


async def test_ipv6_clients_are_limited_by_their_64(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, trusted_proxies=PROXIES, ip_minute=4) as world:
        same = ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:DB8:1:2::3", "[2001:db8:1:2::4]:1234"]
        assert await statuses_of(world, *same, "2001:db8:1:2::5") == [401] * 4 + [429]
        assert await status_of(world, "2001:db8:1:3::1") == 401
        mapped = ["203.0.113.5", "::ffff:203.0.113.5", "203.0.113.5:4711", "203.0.113.5"]
        assert await statuses_of(world, *mapped, "203.0.113.5") == [401] * 4 + [429]


@pytest.mark.parametrize("nonsense", ["", "unknown", ", ,", "a" * 4_000, "203.0.113.1,,"])
async def test_nonsense_in_the_header_of_a_trusted_proxy_is_no_way_round_the_limits(
    tmp_path: Path, clock: FakeClock, nonsense: str
):
    async with limited(tmp_path, clock, trusted_proxies=PROXIES, ip_minute=2) as world:
        assert await statuses_of(world, *[nonsense] * 3) == [401, 401, 429]


async def test_a_server_that_listens_on_both_kinds_of_addresses_knows_its_proxy_in_either_form(
    tmp_path: Path, clock: FakeClock
):
    def over_ipv6(app: ASGIApp) -> ASGIApp:
        async def seen(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                scope["client"] = (f"::ffff:{scope['client'][0]}", scope["client"][1])
            await app(scope, receive, send)

        return seen

    wrap: dict[str, Any] = {"wrap_app": over_ipv6}
    for proxies in (["127.0.0.1"], ["127.0.0.0/8"]):
        folder = tmp_path / proxies[0].replace("/", "-")
        folder.mkdir()
        async with limited(folder, clock, trusted_proxies=proxies, wrap=wrap, ip_minute=1) as world:
            assert await statuses_of(world, "203.0.113.1", "203.0.113.2", "203.0.113.1") == [401, 401, 429]


async def test_after_20_wrong_tokens_in_a_minute_only_right_ones_pass(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock) as world:
        wrong = Program(world.server.http, WRONG)
        for number in range(20):
            reply = await wrong.send() if number % 2 else await wrong.read("int_" + "0" * 32)
            assert (reply.status_code, reply.json()) == (401, {"error": "invalid_token"})
        refused = await wrong.send()
        assert_limited(refused, "ip_minute", retry_after=60)
        assert standing(refused)[1] == 20
        assert (await world.sender.send()).status_code == 200  # behind the same address
        elsewhere = await world.server.client("127.0.0.2")
        assert (await Program(elsewhere, WRONG).send()).status_code == 401
        clock.advance(60)
        assert (await wrong.send()).status_code == 401


async def test_wrong_tokens_of_every_kind_and_in_every_place_count_together(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock) as world:
        http = world.server.http
        bearer = {"authorization": f"Bearer {WRONG}"}
        attempts = [
            lambda: http.post("/v1/send", content=b"x", headers=bearer),
            lambda: http.post(f"/v1/send/{WRONG}", content=b"x"),
            lambda: http.post("/1/messages.json", data={"token": WRONG, "message": "x"}),
            lambda: http.get("/1/sounds.json", params={"token": WRONG}),
            lambda: http.get("/v1/devices", headers={"authorization": "Bearer rfd_live_" + "b" * 32}),
            lambda: http.get("/v1/sync", headers={"authorization": "Bearer nonsense"}),
            lambda: http.get("/v1/tokens", headers={"authorization": f"Bearer {world.sender.token}"}),
        ]
        statuses = [(await attempts[number % len(attempts)]()).status_code for number in range(21)]
        assert statuses == [401] * 20 + [429]
        assert (await http.post("/v1/send", content=b"x")).json()["error"] == "missing_token"


async def test_a_stricter_address_limit_holds_for_wrong_tokens_too(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, ip_minute=5) as world:
        statuses = [(await Program(world.server.http, WRONG).send()).status_code for _ in range(6)]
        assert statuses == [401] * 5 + [429]
