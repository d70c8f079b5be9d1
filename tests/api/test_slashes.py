"""Paths with slashes too many, as a base URL that ends in one makes them: served as the path that is meant."""

import pytest

from reflecto.client.protocol import base_url
from reflecto.logs import redact
from reflecto.phone.identity import read_server_url
from tests.actors import DeviceActor, Program
from tests.running import RunningServer


def at(server: RunningServer, path: str) -> str:
    """Return the whole URL: a client that has a base URL of its own would tidy the path up."""
    return f"http://127.0.0.1:{server.port}{path}"


@pytest.mark.parametrize("path", ["//v1/send", "/v1/send/", "//v1//send//"])
async def test_a_message_arrives(server: RunningServer, sender: Program, path: str):
    assert (await sender.call("POST", at(server, path), json={"message": "hello"})).status_code == 200


@pytest.mark.parametrize("form", ["//v1/send/{}", "/v1/send/{}/", "/v1//send/{}"])
async def test_a_token_in_the_path_is_still_one_and_is_redacted(server: RunningServer, sender: Program, form: str):
    path = form.format(sender.token)
    assert (await server.http.post(at(server, path), content="hello")).status_code == 200
    assert sender.token not in redact(f"POST {path}")


async def test_every_method_and_every_kind_of_caller_finds_its_way(
    server: RunningServer, sender: Program, phone: DeviceActor
):
    asked = await sender.ask_id()
    assert (await sender.call("GET", at(server, f"//v1/interactions/{asked}/"))).json()["status"] == "pending"
    assert (await phone.call("POST", at(server, f"//v1/interactions/{asked}/answer"), json={})).status_code == 400
    assert (await sender.call("DELETE", at(server, f"/v1/interactions//{asked}"))).json()["status"] == "cancelled"
    assert (await phone.call("GET", at(server, "//v1/sync/entries/"))).status_code == 200
    assert (await server.http.get(at(server, "//healthz"))).status_code == 200
    fields = {"token": sender.token, "user": "u", "message": "hello"}
    sent = await server.http.post(at(server, "//1/messages.json"), data=fields)
    assert sent.json()["status"] == 1


async def test_another_path_is_still_not_found(server: RunningServer):
    for path in ("//nowhere", "/v1/send/x/y", "/v1//", "//../v1"):
        assert (await server.http.post(at(server, path))).status_code == 404


@pytest.mark.parametrize("path", ["/v1/send", "//v1/send/"])
async def test_another_method_is_refused_alike(server: RunningServer, path: str):
    refused = await server.http.get(at(server, path))
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("slashes", ["/", "//"])
def test_every_client_takes_a_url_that_ends_in_slashes(slashes: str):
    url = "http://127.0.0.1:8787"
    assert base_url(url + slashes) == url
    assert read_server_url(url + slashes) == url
