"""A request that was let in, and whose device is removed or token revoked before all of it is there."""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW, DeviceKeys, enrolment_body
from tests.fakes import BOUND_SECONDS, FakeClock, FaultyStore
from tests.running import RunningServer, run_server


@pytest.fixture
async def server(tmp_path: Path, clock: FakeClock) -> AsyncIterator[RunningServer]:
    """A server whose store can hold calls back."""
    async with run_server(tmp_path, clock, wrap_store=FaultyStore) as running:
        yield running


@pytest.fixture
def store(server: RunningServer) -> FaultyStore:
    """That store."""
    assert isinstance(server.services.store, FaultyStore)
    return server.services.store


@pytest.fixture
async def stolen(server: RunningServer, phone: DeviceActor) -> DeviceActor:
    """A second phone, about to be removed."""
    return await enroll(server, owner=phone, label="Stolen")


async def late(
    store: FaultyStore, caller: DeviceActor | Program, verb: str, path: str, body: dict[str, Any], end: Any
) -> httpx.Response:
    """POST a body whose second half comes when the caller was let in (`verb` was called) and `end` has happened."""
    let_in = asyncio.Event()
    encoded = json.dumps(body).encode()

    async def note() -> None:
        let_in.set()

    async def halves() -> AsyncIterator[bytes]:
        yield encoded[:1]
        async with asyncio.timeout(BOUND_SECONDS):
            await let_in.wait()
        store.before.pop(verb)
        ended = await end()
        assert ended.status_code == 204, ended.text
        yield encoded[1:]

    store.before[verb] = note
    return await caller.call("POST", path, content=halves(), headers={"content-type": "application/json"})


async def test_a_removed_phones_tap_does_not_count(
    store: FaultyStore, phone: DeviceActor, stolen: DeviceActor, sender: Program
):
    asked = await sender.ask_id()
    refused = await late(
        store,
        stolen,
        "find_device_by_token",
        f"/v1/interactions/{asked}/answer",
        {"choice_index": 0, "answered_at": NOW},
        lambda: phone.call("DELETE", f"/v1/devices/{stolen.id}"),
    )
    assert (refused.status_code, refused.json()) == (401, {"error": "invalid_token"})
    assert (await sender.read(asked)).json()["status"] == "pending"
    assert (await phone.answer(asked, 1)).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/tokens", {"label": "Mine for ever"}, 401),
        ("/v1/pairings", {}, 401),
        ("/v1/relay", {"to": ["the phone"], "blobs": [b64encode(b"\x01" * 80).decode()]}, 404),
    ],
)
async def test_nothing_else_of_a_removed_phone_gets_through(
    store: FaultyStore, phone: DeviceActor, stolen: DeviceActor, path: str, body: dict[str, Any], status: int
):
    if "to" in body:
        body = body | {"to": [phone.id]}
    waiting = await store.read_queue(phone.id, 0, 100, NOW)
    refused = await late(
        store, stolen, "find_device_by_token", path, body, lambda: phone.call("DELETE", f"/v1/devices/{stolen.id}")
    )
    assert refused.status_code == status
    assert await store.read_queue(phone.id, 0, 100, NOW) == waiting
    assert len((await phone.call("GET", "/v1/tokens")).json()["tokens"]) == 1


async def test_a_phone_that_is_removed_while_it_invites_has_no_code(
    store: FaultyStore, phone: DeviceActor, stolen: DeviceActor
):
    gate = store.hold("add_setup_code")
    inviting = asyncio.create_task(stolen.call("POST", "/v1/invitations"))
    await gate.until_held()
    await phone.call("DELETE", f"/v1/devices/{stolen.id}")
    gate.open()
    assert (await inviting).status_code == 401


async def test_the_codes_a_phone_made_end_with_it(server: RunningServer, phone: DeviceActor, stolen: DeviceActor):
    code = (await stolen.call("POST", "/v1/invitations")).json()["code"]
    await phone.call("DELETE", f"/v1/devices/{stolen.id}")
    back = await server.http.post("/v1/enroll", json=enrolment_body(code, DeviceKeys()))
    assert (back.status_code, back.json()["error"]["code"]) == (403, "invalid_code")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/send", {"message": "Done"}),
        ("/v1/documents", {"filename": "a.txt", "content": "x"}),
        ("/v1/ring", {}),
        ("/v1/reminders", {"message": "Done", "at": NOW + 600}),
        ("/v1/interactions", {"question": "Deploy?"}),
        ("/hooks/claude-code", {"hook_event_name": "Notification", "message": "Done", "cwd": "/"}),
    ],
)
async def test_what_a_revoked_token_sends_reaches_nobody(
    store: FaultyStore, phone: DeviceActor, path: str, body: dict[str, Any]
):
    leaked = await phone.new_token("Leaked")
    refused = await late(store, leaked, "find_token", path, body, lambda: phone.revoke(leaked))
    assert (refused.status_code, refused.json()) == (401, {"error": "invalid_token"})
    assert await store.read_queue(phone.id, 1, 100, NOW) == []
