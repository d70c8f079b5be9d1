"""Who is calling: every kind of wrong token, on every route, looks the same."""

import re
from typing import cast

import httpx
import pytest
from starlette.routing import Route

from reflecto.api.http import Endpoint
from reflecto.contract.ids import new_device_token, new_sender_token
from tests.actors import DeviceActor, Program, enroll
from tests.fakes import FakeClock
from tests.running import RunningServer

MISSING = {"error": "missing_token", "message": "Authorization: Bearer rfk_live_… required"}
INVALID = {"error": "invalid_token"}

BOTH_KINDS = {"/v1/devices"}  # answer senders and devices
DEVICES_ONLY = re.compile(
    r"/v1/(sync|tokens|owner|invitations|devices/|relay|push|pairings|rings/|emergencies/)|.*/(answer|dismiss)$"
)
TOKEN_ELSEWHERE = re.compile(r"/v1/send/\{token\}|(/v1|/1)/.*\.json")  # in the path, or in the body
OTHER_IDENTITY = re.compile(r"/v1/enroll|.*/(claim|outcome|reveal)$")  # a code, or an invitation of pairing


def protected_calls(server: RunningServer) -> list[tuple[str, str]]:
    """Return method and path of every call of the API that needs a token."""
    routes = [route for route in server.app_routes() if isinstance(route, Route)]
    paths = [route.path for route in routes if route.path.startswith(("/v1", "/1"))]
    calls = []
    for route in routes:
        if route.path in paths and not OTHER_IDENTITY.match(route.path) and not TOKEN_ELSEWHERE.match(route.path):
            path = route.path.replace("{id}", "int_" + "0" * 32)
            calls += [(method, path) for method in sorted(cast("Endpoint", route.endpoint).methods)]
    return calls


@pytest.fixture
async def wrong_tokens(server: RunningServer, phone: DeviceActor, sender: Program) -> dict[str, str]:
    """One of each kind of wrong token."""
    revoked = await phone.new_token("Revoked")
    await phone.revoke(revoked)
    removed = await enroll(server, owner=phone)
    await phone.call("DELETE", f"/v1/devices/{removed.id}")
    return {
        "unknown sender": new_sender_token(),
        "unknown test sender": new_sender_token(test=True),
        "unknown device": new_device_token(),
        "revoked sender": revoked.token,
        "removed device": removed.token,
        "too short": sender.token[:-1],
        "too long": sender.token + "0",
        "other case": sender.token.upper(),
        "live as test": sender.token.replace("rfk_live_", "rfk_test_"),
        "no token at all": "hello",
        "two tokens": f"{sender.token} {sender.token}",
        "not ASCII": "rfk_live_" + "é" * 32,
        "an id": phone.id,
        "very long": "x" * 4000,
    }


async def test_every_protected_call_refuses_every_wrong_token_alike(
    server: RunningServer, clock: FakeClock, wrong_tokens: dict[str, str]
):
    calls = protected_calls(server)
    assert ("POST", "/v1/interactions") in calls
    assert ("GET", "/v1/sync") in calls
    for method, path in calls:
        for kind, token in wrong_tokens.items():
            clock.advance(10)  # 20 wrong tokens a minute are answered with 401, more with 429
            refused = await server.http.request(method, path, headers={b"authorization": f"Bearer {token}".encode()})
            assert_invalid(refused, method, f"{kind} at {method} {path}")


def assert_invalid(reply: httpx.Response, method: str, what: str) -> None:
    """Check the one shape of `invalid_token`."""
    assert reply.status_code == 401, what
    assert reply.headers["www-authenticate"] == "Bearer", what
    assert reply.headers["cache-control"] == "no-store", what
    assert reply.headers["content-type"] == "application/json", what
    if method != "HEAD":
        assert reply.json() == INVALID, what


async def test_a_wrong_token_in_the_path_is_refused_alike(
    server: RunningServer, phone: DeviceActor, clock: FakeClock, wrong_tokens: dict[str, str]
):
    for kind, token in {**wrong_tokens, "wrong kind": phone.token}.items():
        clock.advance(10)
        refused = await server.http.post(f"/v1/send/{token}", content="Backup done")
        assert_invalid(refused, "POST", kind)


async def test_the_wrong_kind_of_token_is_as_wrong_as_any(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    for method, path in protected_calls(server):
        if path in BOTH_KINDS:
            continue
        clock.advance(10)
        wrong = sender.token if DEVICES_ONLY.match(path) else phone.token
        refused = await server.http.request(method, path, headers={"authorization": f"Bearer {wrong}"})
        assert_invalid(refused, method, f"{method} {path}")


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer\trfk_live_x"])
async def test_without_a_bearer_token_every_protected_call_says_what_is_missing(
    server: RunningServer, header: str | None
):
    for method, path in protected_calls(server):
        headers = {} if header is None else {"authorization": header}
        refused = await server.http.request(method, path, headers=headers)
        assert refused.status_code == 401, (method, path)
        assert refused.headers["cache-control"] == "no-store"
        assert refused.headers["www-authenticate"] == "Bearer"
        if method != "HEAD":
            assert refused.json() == MISSING


@pytest.mark.parametrize(
    ("headers", "query", "place"),
    [
        ({"X-Gotify-Key": "rfk_live_secret"}, "", "in X-Gotify-Key"),
        ({"authorization": "Basic dXNlcjpyZmtfbGl2ZV9zZWNyZXQ="}, "", "in Basic auth"),
        ({"authorization": "rfk_live_secret"}, "", "without the word Bearer"),
        ({"authorization": "Token rfk_live_secret"}, "", "without the word Bearer"),
        ({}, "?token=rfk_live_secret", "in the query, as ?token="),
        ({}, "?auth=rfk_live_secret", "in the query, as ?auth="),
    ],
)
async def test_a_token_where_other_products_take_it_is_missing_and_the_message_says_where_it_goes(
    server: RunningServer, headers: dict[str, str], query: str, place: str
):
    for method, path in protected_calls(server):
        refused = await server.http.request(method, path + query, headers=headers)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer"), (method, path)
        if method != "HEAD":
            assert refused.json() == {
                "error": "missing_token",
                "message": f"{MISSING['message']}; a token is not taken {place}. "
                "Where only a URL can be set: POST /v1/send/rfk_live_…",
            }


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_scheme_may_be_written_in_any_case(sender: Program, scheme: str):
    found = await sender.call("GET", "/v1/devices", headers={"authorization": f"{scheme} {sender.token}"})
    assert found.status_code == 200


async def test_a_wrong_token_is_refused_before_the_body_is_looked_at(server: RunningServer):
    refused = await server.http.post(
        "/v1/interactions", content=b"\xff" * 70_000, headers={"authorization": f"Bearer {new_sender_token()}"}
    )
    assert (refused.status_code, refused.json()) == (401, INVALID)


async def test_a_token_in_the_query_or_the_body_is_no_identity(sender: Program, server: RunningServer):
    refused = await server.http.post("/v1/interactions", json={"token": sender.token})
    assert (refused.status_code, refused.json()) == (401, MISSING)
    refused = await server.http.post(f"/v1/interactions?token={sender.token}", json={"token": sender.token})
    assert (refused.status_code, refused.json()["error"]) == (401, "missing_token")
    assert sender.token not in refused.text


async def test_the_21st_wrong_token_in_a_minute_waits_and_right_ones_still_pass(
    server: RunningServer, sender: Program, clock: FakeClock
):
    wrong = Program(server.http, new_sender_token())
    for _ in range(20):
        assert (await wrong.ask()).status_code == 401
    refused = await wrong.ask()
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limit_exceeded")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert (await sender.ask()).status_code == 201
    other = Program(await server.client("127.0.0.2"), new_sender_token())
    assert (await other.ask()).status_code == 401
    clock.advance(int(refused.headers["retry-after"]))
    assert (await wrong.ask()).status_code == 401
