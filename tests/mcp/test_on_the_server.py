"""`/mcp` as a part of the server: its door, its limits, its stop, and nothing in the log that is nobody's business."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from reflecto.contract.limits import MCP_BODY_MAX_BYTES
from reflecto.crypto.envelopes import BoxKeys
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.mcp.calling import QUESTION, calling, content, error_text
from tests.mcp.conftest import Connect
from tests.mcp.tapping import Person
from tests.running import RunningServer, run_server

ACCEPT = {"accept": "application/json, text/event-stream"}


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def post(sender: Program, body: Any, **headers: str) -> httpx.Response:
    return await sender.call("POST", "/mcp", json=body, headers=ACCEPT | headers)


def messages(response: httpx.Response) -> list[dict[str, Any]]:
    """Return the JSON-RPC messages of an event stream."""
    return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]


async def test_without_a_token_it_answers_the_flat_401(server: RunningServer):
    reply = await server.http.post("/mcp", json=rpc("tools/list"), headers=ACCEPT)
    assert (reply.status_code, reply.json()["error"]) == (401, "missing_token")


@pytest.mark.parametrize("token", ["rfk_live_" + "x" * 32, "nonsense"])
async def test_a_wrong_token_gets_the_flat_401(server: RunningServer, token: str):
    reply = await server.http.post(
        "/mcp", json=rpc("tools/list"), headers=ACCEPT | {"authorization": f"Bearer {token}"}
    )
    assert (reply.status_code, reply.json()) == (401, {"error": "invalid_token"})


async def test_a_device_token_is_not_a_senders(phone: DeviceActor):
    reply = await phone.call("POST", "/mcp", json=rpc("tools/list"), headers=ACCEPT)
    assert (reply.status_code, reply.json()) == (401, {"error": "invalid_token"})


async def test_a_revoked_token_is_out_at_once(phone: DeviceActor):
    program = await phone.new_token("agent")
    assert (await post(program, rpc("tools/list"))).status_code == 200
    await phone.revoke(program)
    assert (await post(program, rpc("tools/list"))).json() == {"error": "invalid_token"}


async def test_wrong_tokens_count_against_the_address(server: RunningServer):
    replies = [
        await server.http.post("/mcp", headers={"authorization": "Bearer rfk_live_" + "x" * 32}) for _ in range(25)
    ]
    assert [reply.status_code for reply in replies][-1] == 429


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_only_post_is_served(sender: Program, method: str):
    reply = await sender.call(method, "/mcp")
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")


async def test_a_body_larger_than_any_call_is_refused_before_it_is_read(sender: Program):
    reply = await sender.call("POST", "/mcp", content=b"{" + b" " * MCP_BODY_MAX_BYTES, headers=ACCEPT)
    assert (reply.status_code, reply.json()["error"]["code"]) == (413, "payload_too_large")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b"\xff", b"[" * 10_000, b'{"jsonrpc": "2.0"}', b"null"])
async def test_a_body_that_is_no_call_is_refused(sender: Program, body: bytes):
    headers = ACCEPT | {"content-type": "application/json"}
    assert (await sender.call("POST", "/mcp", content=body, headers=headers)).status_code == 400


async def test_the_largest_document_fits(connect: Connect, person: Person):
    async with (
        connect() as client,
        calling(client, "send_file", {"filename": "a.txt", "content": "\x7f" * 131_072}) as call,
    ):
        assert content(await call)["byte_length"] == 131_072
    assert (await person.sees("document")).payload["filename"] == "a.txt"


async def test_without_a_progress_token_nothing_but_the_result_is_sent(
    sender: Program, person: Person, clock: FakeClock
):
    call = asyncio.create_task(post(sender, rpc("tools/call", name="ask_user", arguments=QUESTION)))
    prompt = await person.sees()
    await clock.until_waited_for(NOW + 20)
    clock.advance(20)
    await clock.until_waited_for(NOW + 40)
    await person.taps(prompt)
    [message] = messages(await call)
    assert message["result"]["structuredContent"]["choice"] == "Approve"


async def test_with_one_progress_carries_it_and_comes_before_the_result(
    sender: Program, person: Person, clock: FakeClock
):
    params = {"name": "ask_user", "arguments": QUESTION, "_meta": {"progressToken": "t-1"}}
    call = asyncio.create_task(post(sender, rpc("tools/call", **params)))
    prompt = await person.sees()
    await clock.until_waited_for(NOW + 20)
    clock.advance(20)
    await clock.until_waited_for(NOW + 40)
    await person.taps(prompt)
    *progress, last = messages(await call)
    assert [each["params"]["progressToken"] for each in progress] == ["t-1", "t-1"]
    assert [each["params"]["progress"] for each in progress] == [0, 20]
    assert last["id"] == 1


async def test_a_call_passes_the_same_limits_as_from_outside(connect: Connect, phone: DeviceActor):
    capped = await phone.new_token("capped", priority_cap="low")  # which leaves `ask` out
    mute = await phone.new_token("mute", scopes=["ask"])
    async with connect(capped.token) as client, calling(client, "ask_user", QUESTION) as call:
        assert error_text(await call).startswith("scope_denied: ")
    async with connect(mute.token) as client, calling(client, "send_notification", {"message": "hi"}) as call:
        assert error_text(await call).startswith("scope_denied: ")


async def test_each_agent_is_counted_by_its_own_token(phone: DeviceActor):
    agent, other = [await phone.new_token(label) for label in ("agent", "other")]
    for _ in range(3):
        await post(agent, rpc("tools/call", name="send_notification", arguments={"message": "hi"}))
    for program, left in ((agent, "596"), (other, "599")):
        sent = await program.call("POST", "/v1/send", json={"message": "hi"})
        assert (sent.headers["x-ratelimit-resource"], sent.headers["x-ratelimit-remaining"]) == ("token_burst", left)


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("ask_user", {}, "question"),
        ("ask_user", {"question": "x" * 1001}, "1000"),
        ("ask_user", {"question": "Deploy?", "choices": ["Yes"]}, "choices"),
        ("ask_user", {"question": "Deploy?", "expires_in": 59}, "60"),
        ("ask_user", {"question": "Deploy?", "choice": ["Yes", "No"]}, "choice"),
        ("wait_for_answer", {"id": "int_1"}, "int_[0-9a-f]{32}"),
        ("remind_me", {"message": "Stand-up", "at": "tomorrow"}, "invalid_at"),
        ("ask_user", {"question": "Deploy?", "choices": ["Yes", "Yes"]}, "invalid_choices"),
        ("send_file", {"filename": "a.html", "content": "x"}, "invalid_filename"),
        ("cancel_reminder", {"id": "rem_" + "0" * 32}, "not_found"),
    ],
)
@pytest.mark.parametrize("mode", ["auto"])
async def test_arguments_that_break_a_rule_are_an_error_the_agent_can_read(
    connect: Connect, tool: str, arguments: dict[str, Any], complaint: str
):
    async with connect() as client, calling(client, tool, arguments) as call:
        error = error_text(await call)
    assert complaint in error
    assert error.endswith("Nothing was approved.")


async def test_the_other_tools_do_what_the_api_does(connect: Connect, person: Person):
    async with connect() as client:

        async def use(tool: str, **arguments: Any) -> dict[str, Any]:
            async with calling(client, tool, arguments) as call:
                return content(await call)

        sent = await use("send_notification", message="Done", title="Build", tags=["ci"], url="https://ci.example/")
        rang = await use("ring_phone", duration=5)
        reminder = await use("remind_me", message="Stand-up", at=int(NOW) + 3600)
        dropped = await use("cancel_reminder", id=reminder["id"])
        [device] = (await use("list_devices"))["devices"]
    notification = await person.sees("notification")
    assert (notification.id, notification.payload["title"], notification.payload["tags"]) == (
        sent["id"],
        "Build",
        ["ci"],
    )
    assert [each["device_id"] for each in sent["delivered_to"]] == [person.phone.id]
    assert (await person.sees("ring")).id == rang["id"]
    assert reminder["fire_at"] == NOW + 3600
    assert dropped == {"id": reminder["id"], "status": "cancelled"}
    assert (device["device_id"], device["label"], device["class"], device["reachable"]) == (
        person.phone.id,
        "Pixel",
        "phone",
        True,
    )


async def test_a_server_that_stops_answers_held_calls_with_pending_and_the_next_one_goes_on(
    connect: Connect, server: RunningServer, person: Person, clock: FakeClock
):
    async with connect() as client:
        await client.list_tools()  # so that it need not list them to check the result
        async with calling(client, "ask_user", QUESTION) as call:
            prompt = await person.sees()
            await clock.until_waited_for(NOW + 20)
            server.services.hub.close()
            result = content(await call)
    assert (result["status"], result["id"], result["choice"]) == ("pending", prompt.id, None)
    state = await person.phone.default_program().read(prompt.id)
    assert state.json()["status"] == "pending"


async def test_a_server_that_stops_withdraws_what_nobody_waits_for(tmp_path: Path, clock: FakeClock):
    keys = BoxKeys.generate()
    async with run_server(tmp_path, clock, keys=keys) as server:
        phone = await enroll(server)
        program = phone.default_program()
        asking = asyncio.create_task(post(program, rpc("tools/call", name="ask_user", arguments=QUESTION)))
        await clock.until_waited_for(NOW + 20)
        asking.cancel()
        await clock.until_waited_for(NOW + 30)
        pending = await server.services.store.list_pending(program.id, NOW)
        assert len(pending) == 1
    async with run_server(tmp_path, clock, keys=keys) as server:
        assert await server.services.store.list_pending(program.id, NOW) == []


async def test_a_thousandth_of_a_second_after_a_stop_began_no_call_begins(server: RunningServer, sender: Program):
    server.services.hub.close()
    reply = await post(sender, rpc("tools/list"))
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "unavailable")


async def test_nothing_about_a_call_is_in_the_log(connect: Connect, person: Person, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    async with connect() as client:
        async with calling(client, "ask_user", {"question": "Drop table secrets?", "choices": ["Ja", "Nein"]}) as call:
            await person.taps(await person.sees())
            content(await call)
        async with calling(client, "ask_user", {"question": "Drop table secrets?" * 100}) as call:
            error_text(await call)
    others = ("httpx2", "uvicorn", "reflecto.events")  # the client's, what the server is run without, and ids
    assert "secrets" not in caplog.text
    assert "Nein" not in caplog.text
    assert [record.getMessage() for record in caplog.records if not record.name.startswith(others)] == []


async def test_where_mcp_is_not_installed_it_says_what_to_install(sender: Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reflecto.api.mcp.find_spec", lambda _name: None)
    reply = await post(sender, rpc("tools/list"))
    assert reply.status_code == 404
    assert "the extra [mcp]" in reply.json()["error"]["message"]
