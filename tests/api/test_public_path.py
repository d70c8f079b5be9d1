"""A public URL with a path: the proxy may take the path away or leave it on, and both arrive."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.running import RunningServer, run_server

PREFIX = "/reflecto"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RunningServer]:
    async with run_server(tmp_path, public_path=PREFIX) as running:
        yield running


@pytest.mark.parametrize("path", ["/", "/enroll", "/sw.js", "/healthz", "/docs", "/openapi.json"])
async def test_a_path_is_the_same_with_the_prefix_and_without(server: RunningServer, path: str):
    with_it, without = await server.http.get(PREFIX + path), await server.http.get(path)
    assert with_it.status_code == without.status_code == 200
    assert with_it.content == without.content


@pytest.mark.parametrize("path", ["//healthz", "/healthz/", "/enroll/"])
async def test_slashes_too_many_are_left_out_under_the_prefix_too(server: RunningServer, path: str):
    assert (await server.http.get(PREFIX + path)).status_code == 200
    assert (await server.http.get(f"/{PREFIX}{path}")).status_code == 200


async def test_a_token_in_the_path_and_a_query_arrive(server: RunningServer):
    refused = await server.http.post(f"{PREFIX}/v1/send/rfk_live_{'x' * 32}?title=a", content=b"hello")
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_token")


async def test_the_folder_without_its_slash_is_sent_on_to_the_page(server: RunningServer):
    reply = await server.http.get(PREFIX)
    assert (reply.status_code, reply.headers["location"]) == (308, f"{PREFIX}/")


@pytest.mark.parametrize("path", [f"{PREFIX}{PREFIX}/healthz", "/reflectory/healthz", f"{PREFIX}/nothing", "/nothing"])
async def test_what_is_nowhere_is_404_and_the_prefix_is_taken_off_once(server: RunningServer, path: str):
    assert (await server.http.get(path)).status_code == 404


async def test_a_path_that_repeats_itself_thousands_of_times_is_404(server: RunningServer):
    assert (await server.http.get(PREFIX * 5000)).status_code == 404


async def test_the_document_says_under_which_path_its_calls_are(server: RunningServer):
    document = (await server.http.get(f"{PREFIX}/openapi.json")).json()
    assert document["servers"][0]["url"] == PREFIX


async def test_without_a_path_nothing_is_taken_off(tmp_path: Path):
    async with contextlib.AsyncExitStack() as stack:
        running = await stack.enter_async_context(run_server(tmp_path))
        assert (await running.http.get(f"{PREFIX}/healthz")).status_code == 404
        assert json.loads((await running.http.get("/openapi.json")).content)["servers"][0]["url"] == "/"
