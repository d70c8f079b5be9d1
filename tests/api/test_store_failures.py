"""A store that fails: 503 and nothing accepted, then back as if nothing had been. And what nobody foresaw: 500."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import enrolment_body
from tests.fakes import FakeClock, FaultyStore
from tests.running import RunningServer, run_server
from tests.sync_reader import open_sync, put

WRITES = ("create_interaction_once", "record_answer_if_pending", "cancel_if_pending", "probe", "ack_queue")


@pytest.fixture
async def faulty(tmp_path: Path, clock: FakeClock) -> AsyncIterator[tuple[RunningServer, FaultyStore]]:
    """A server whose store can be made to fail."""
    async with run_server(tmp_path, clock, wrap_store=FaultyStore) as server:
        store = server.services.store
        assert isinstance(store, FaultyStore)
        yield server, store


@pytest.fixture
def server(faulty: tuple[RunningServer, FaultyStore]) -> RunningServer:
    """The server in front of that store."""
    return faulty[0]


@pytest.fixture
def store(faulty: tuple[RunningServer, FaultyStore]) -> FaultyStore:
    """That store."""
    return faulty[1]


UNAVAILABLE = {
    "error": {
        "code": "unavailable",
        "message": "The server cannot store anything right now; nothing was accepted",
    }
}


async def test_while_nothing_can_be_written_calls_are_503_and_nothing_is_accepted(
    store: FaultyStore, server: RunningServer, phone: DeviceActor, sender: Program
):
    question = await sender.ask_id()
    store.fail(*WRITES)
    refused = [
        await sender.ask("Another?"),
        await phone.answer(question),
        await sender.cancel(question),
        await phone.ack(1),
        await server.http.get("/readyz"),
    ]
    for reply in refused:
        assert (reply.status_code, reply.json()) == (503, UNAVAILABLE)
        assert int(reply.headers["retry-after"]) >= 1
        assert reply.headers["cache-control"] == "no-store"
    assert (await server.http.get("/healthz")).status_code == 200
    store.recover()
    assert (await sender.read(question)).json()["status"] == "pending"
    assert (await sender.ask("Another?")).status_code == 201
    assert (await phone.answer(question)).status_code == 200
    server.clock.advance(1)
    assert (await server.http.get("/readyz")).status_code == 200


async def test_while_nothing_can_be_read_every_caller_gets_503(store: FaultyStore, phone: DeviceActor, sender: Program):
    store.fail("find_token", "find_device_by_token")
    for reply in (await sender.ask(), await phone.call("GET", "/v1/sync"), await phone.call("GET", "/v1/tokens")):
        assert (reply.status_code, reply.json()) == (503, UNAVAILABLE)


async def test_a_stream_whose_queue_cannot_be_read_ends_and_resumes_later(
    store: FaultyStore, server: RunningServer, phone: DeviceActor
):
    async with open_sync(phone, after=1) as stream:
        await stream.comment()
        store.fail("read_queue")
        await put(server, phone, b"a")
        await stream.end()
    store.recover()
    async with open_sync(phone, after=1) as stream:
        assert (await stream.event()).blob == b"a"


async def test_a_failed_enrolment_leaves_the_code_good(store: FaultyStore, server: RunningServer):
    code = await server.invite()
    store.fail("redeem_setup_code")
    refused = await server.http.post("/v1/enroll", json=enrolment_body(code))
    assert (refused.status_code, refused.json()) == (503, UNAVAILABLE)
    store.recover()
    assert (await enroll(server, code)).enrolled["default_token"] is not None


async def test_notes_of_activity_survive_a_failing_store(
    store: FaultyStore, server: RunningServer, phone: DeviceActor, sender: Program
):
    await sender.ask_id()
    store.fail("record_activity")
    await server.services.last_seen.flush()
    store.recover()
    await server.services.last_seen.flush()
    (token,) = (await phone.call("GET", "/v1/tokens")).json()["tokens"]
    assert token["last_used_at"] == int(server.clock.now())


@pytest.mark.parametrize("error", [RuntimeError("secret detail"), KeyError("secret detail"), AssertionError()])
async def test_an_unforeseen_failure_is_500_without_a_word_about_itself(
    store: FaultyStore, sender: Program, caplog: pytest.LogCaptureFixture, error: Exception
):
    store.fail("create_interaction_once", error=error)
    with caplog.at_level(logging.ERROR):
        failed = await sender.ask()
    assert failed.status_code == 500
    assert failed.json() == {"error": {"code": "internal_error", "message": "The server failed; its log says why"}}
    assert failed.headers["cache-control"] == "no-store"
    assert "Traceback" in caplog.text  # the operator sees what the caller does not
    caplog.clear()
    store.recover()
    assert (await sender.ask()).status_code == 201


async def test_a_failed_question_spends_no_quota(store: FaultyStore, sender: Program):
    first = await sender.ask("First?")
    store.fail("create_interaction_once")
    for _ in range(5):
        assert (await sender.ask("Second?")).status_code == 503
    store.recover()
    second = await sender.ask("Second?")
    resources = {reply.headers["x-ratelimit-resource"] for reply in (first, second)}
    spent = int(first.headers["x-ratelimit-remaining"]) - int(second.headers["x-ratelimit-remaining"])
    assert spent == (6 if "ip_minute" in resources else 1)  # an address is counted by calls


async def test_revoking_again_finishes_what_a_failing_store_had_left_undone(
    store: FaultyStore, phone: DeviceActor, sender: Program
):
    question = await sender.ask_id()
    token_id = (await phone.call("GET", "/v1/tokens")).json()["tokens"][0]["id"]
    store.fail("cancel_if_pending")
    assert (await phone.call("DELETE", f"/v1/tokens/{token_id}")).status_code == 503
    store.recover()
    assert (await phone.call("DELETE", f"/v1/tokens/{token_id}")).status_code == 404  # revoked the first time
    late = await phone.answer(question)
    assert late.json()["error"]["details"] == {"status": "cancelled"}
