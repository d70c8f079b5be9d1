"""An address that guesses wrong five times waits a minute, right codes included."""

import asyncio

import httpx

from tests.builders import NOW, enrolment_body
from tests.fakes import FakeClock
from tests.running import RunningServer

WRONG = "AAAA-BBBB-CCCC-DDDD"


async def guess(client: httpx.AsyncClient, code: str = WRONG) -> tuple[int, str | None]:
    """Try a code; return the status and the error's code."""
    reply = await client.post("/v1/enroll", json=enrolment_body(code))
    return reply.status_code, reply.json()["error"]["code"] if reply.status_code != 201 else None


async def test_after_five_wrong_guesses_even_the_right_code_waits(server: RunningServer):
    right = await server.invite()
    for _ in range(5):
        assert await guess(server.http) == (403, "invalid_code")
    refused = await server.http.post("/v1/enroll", json=enrolment_body(right))
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert refused.headers["retry-after"] == "60"
    assert await server.services.store.list_owners() == []


async def test_the_wait_lasts_a_minute_from_the_last_guess_to_the_instant(server: RunningServer, clock: FakeClock):
    right = await server.invite()
    for _ in range(5):
        await guess(server.http)
        clock.advance(1)
    clock.advance_to(NOW + 4 + 59.999)
    refused = await server.http.post("/v1/enroll", json=enrolment_body(right))
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    clock.advance_to(NOW + 4 + 60)
    assert await guess(server.http, right) == (201, None)


async def test_guessing_on_while_waiting_does_not_lengthen_the_wait(server: RunningServer, clock: FakeClock):
    for _ in range(5):
        await guess(server.http)
    clock.advance(30)
    for _ in range(3):
        assert await guess(server.http) == (429, "rate_limit_exceeded")
    clock.advance(30)
    assert await guess(server.http) == (403, "invalid_code")


async def test_another_address_does_not_wait(server: RunningServer):
    for _ in range(5):
        await guess(server.http)
    other = await server.client("127.0.0.2")
    assert await guess(other, await server.invite()) == (201, None)


async def test_a_right_code_forgives_the_wrong_ones_before_it(server: RunningServer):
    for _ in range(4):
        await guess(server.http)
    assert await guess(server.http, await server.invite()) == (201, None)
    for _ in range(5):
        assert await guess(server.http) == (403, "invalid_code")


async def test_wrong_guesses_a_minute_ago_do_not_count(server: RunningServer, clock: FakeClock):
    for _ in range(4):
        await guess(server.http)
    clock.advance(60)
    for _ in range(5):
        assert await guess(server.http) == (403, "invalid_code")
    assert await guess(server.http) == (429, "rate_limit_exceeded")


async def test_a_body_out_of_bounds_is_no_guess(server: RunningServer):
    for _ in range(10):
        reply = await server.http.post("/v1/enroll", json=enrolment_body(WRONG, label=""))
        assert reply.json()["error"]["code"] == "invalid_label"
    assert await guess(server.http) == (403, "invalid_code")


async def test_expired_and_used_codes_are_wrong_guesses(server: RunningServer, clock: FakeClock):
    used, expired = await server.invite(), await server.invite()
    await guess(server.http, used)
    clock.advance(600)
    codes = [used, expired, "too short", "UUUU-UUUU-UUUU-UUUU", ""]
    assert [await guess(server.http, code) for code in codes] == [(403, "invalid_code")] * 5
    assert await guess(server.http) == (429, "rate_limit_exceeded")


async def test_guesses_made_at_once_are_counted_one_by_one(server: RunningServer):
    outcomes = await asyncio.gather(*(guess(server.http) for _ in range(32)))
    assert sorted(outcomes) == [(403, "invalid_code")] * 5 + [(429, "rate_limit_exceeded")] * 27
