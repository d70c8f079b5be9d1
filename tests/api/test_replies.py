"""What every reply has in common, whatever it answers."""

import json

import pytest
from starlette.routing import Route

from reflecto.api.http import Endpoint
from tests.actors import DeviceActor, Program
from tests.running import RunningServer

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE")


def api_routes(server: RunningServer) -> list[tuple[str, frozenset[str]]]:
    """Return path and methods of every route of the API."""
    routes = [route for route in server.app_routes() if isinstance(route, Route)]
    return [
        (route.path.replace("{id}", "int_" + "0" * 32).replace("{token}", "x"), route.endpoint.methods)
        for route in routes
        if isinstance(route.endpoint, Endpoint) and route.path.startswith("/v1")
    ]


async def test_a_method_that_is_not_there_is_405_with_those_that_are(server: RunningServer, phone: DeviceActor):
    assert len(api_routes(server)) > 12
    for path, allowed in api_routes(server):
        for method in METHODS:
            if method in allowed:
                continue
            refused = await phone.call(method, path)
            assert refused.status_code == 405, (method, path)
            assert {each.strip() for each in refused.headers["allow"].split(",")} == allowed
            assert refused.headers["cache-control"] == "no-store"
            if method != "HEAD":
                assert '"method_not_allowed"' in refused.text  # also in the shape of Pushover's calls


async def test_every_reply_of_the_api_forbids_storing_it(server: RunningServer, phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    replies = [
        await sender.ask(),
        await sender.ask("New?"),
        await sender.ask(""),
        await sender.read(question),
        await sender.read("nonsense"),
        await phone.answer(question),
        await phone.answer(question, 1),
        await sender.cancel(question),
        await phone.call("GET", "/v1/devices"),
        await phone.call("HEAD", "/v1/devices"),
        await phone.call("PATCH", "/v1/devices/self", json={}),
        await phone.call("GET", "/v1/tokens"),
        await phone.call("POST", "/v1/tokens", json={"label": "CI"}),
        await phone.ack(0),
        await server.http.get("/v1/tokens"),
        await server.http.post("/v1/enroll", json={}),
        await server.http.get("/healthz"),
        await server.http.get("/readyz"),
        await server.http.get("/v1/nothing"),
        await server.http.get("/nothing/at/all"),
    ]
    for reply in replies:
        assert reply.headers["cache-control"] == "no-store", reply.url
    assert {200, 201, 204, 400, 401, 404, 409} <= {reply.status_code for reply in replies}


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v2/interactions", "/v1/interactions/a/b", "/v1/%2e%2e/healthz"])
async def test_a_path_that_is_not_there_is_404_in_the_usual_shape(server: RunningServer, path: str):
    for method in ("GET", "POST", "DELETE"):
        reply = await server.http.request(method, path)
        assert (reply.status_code, reply.json()) == (404, {"error": {"code": "not_found", "message": "Not found"}})


async def test_bodies_are_json_in_utf8_and_an_empty_one_has_no_type(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    question = await sender.ask_id("Fusionner ? 🚀")
    read = await sender.read(question)
    assert read.headers["content-type"] == "application/json"
    assert "🚀".encode() in read.content
    assert json.loads(read.content.decode("utf-8"))["question"] == "Fusionner ? 🚀"
    acked = await phone.ack(0)
    assert (acked.status_code, acked.content) == (204, b"")
    assert "content-type" not in acked.headers
    assert "content-length" not in acked.headers
    assert server.port > 0


async def test_head_is_get_without_the_body(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    for caller, path in ((sender, f"/v1/interactions/{question}"), (phone, "/v1/tokens"), (phone, "/v1/devices")):
        got, head = await caller.call("GET", path), await caller.call("HEAD", path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers["content-length"] == got.headers["content-length"]


async def test_health_needs_no_token_and_readiness_means_that_something_new_fits(server: RunningServer):
    health = await server.http.get("/healthz")
    assert (health.status_code, health.json()["status"]) == (200, "ok")
    ready = await server.http.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
