"""POST /hooks/claude-code: the server as the hook itself.

The server's own chores wait until `NOW` + 1 and + 60; hooks here have other timeouts, to be told apart.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest

from reflecto.contract.limits import EVENT_MAX_BYTES
from tests.actors import DeviceActor, Program
from tests.agents.events import claude_code
from tests.api.older_tokens import capped_as_once
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.running import RunningServer
from tests.sync_reader import drain

HOOK: Final = "/hooks/claude-code"
ENDS: Final = NOW + 595  # of a question, as 5 of the 600 seconds are kept for the reply's way back
ALLOW: Final = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}


class Hook:
    """One call of the hook that has put its question and waits."""

    def __init__(self, task: "asyncio.Task[httpx.Response]") -> None:
        self._task = task

    async def reply(self) -> httpx.Response:
        """Return the reply."""
        async with asyncio.timeout(BOUND_SECONDS):
            return await self._task

    async def hang_up(self) -> None:
        """Close the connection."""
        self._task.cancel()
        await asyncio.wait({self._task})


@asynccontextmanager
async def calling(
    clock: FakeClock, program: Program, event: dict[str, Any], *, query: str = "", until: float = ENDS, count: int = 1
) -> AsyncIterator[list[Hook]]:
    """Let `count` hooks begin to wait for a tap, until `until` at most."""
    tasks = [asyncio.create_task(program.call("POST", HOOK + query, json=event)) for _ in range(count)]
    try:
        await clock.until_waited_for(until, count)
        yield [Hook(task) for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def shown_on(server: RunningServer, phone: DeviceActor) -> list[dict[str, Any]]:
    """Return the envelopes in the phone's queue, without the token that came with enrolling."""
    entries = await server.services.store.read_queue(phone.id, 1, 100, server.clock.now())
    assert entries is not None
    envelopes = [phone.open(entry.blob) for entry in entries]
    return [
        {"type": envelope.type, "id": envelope.id, **json.loads(json.dumps(envelope.payload))} for envelope in envelopes
    ]


async def the_question(server: RunningServer, phone: DeviceActor) -> dict[str, Any]:
    """Return the only question that was put."""
    questions = [each for each in await shown_on(server, phone) if each["type"] == "interaction"]
    assert len(questions) == 1
    return questions[0]


async def test_a_tap_on_the_phone_decides(server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock):
    async with calling(clock, sender, claude_code("permission_bash")) as (hook,):
        question = await the_question(server, phone)
        assert question["question"].startswith("Claude Code: Bash\nFolder: /home/ada/shop\n")
        assert question["choices"] == ["Allow", "Deny"]
        assert question["expires_at"] == ENDS
        await phone.answer(question["id"], 0)
        reply = await hook.reply()
    assert (reply.status_code, reply.json()) == (200, ALLOW)
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-ratelimit-resource"] == "token_burst"


async def test_a_denial_carries_its_message(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("permission_bash")) as (hook,):
        await phone.answer((await the_question(server, phone))["id"], 1)
        decision = (await hook.reply()).json()["hookSpecificOutput"]["decision"]
    assert decision["behavior"] == "deny"
    assert decision["message"]


async def test_the_hooks_own_timeout_bounds_the_question(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    event = claude_code("permission_bash")
    async with calling(clock, sender, event, query="?timeout=300", until=NOW + 295) as (hook,):
        assert (await the_question(server, phone))["expires_at"] == NOW + 295
        clock.advance(295)
        assert (await hook.reply()).json() == {}


async def test_a_hook_with_less_time_than_a_question_lives_withdraws_it_in_time(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("permission_bash"), query="?timeout=30", until=NOW + 25) as (hook,):
        question = await the_question(server, phone)
        clock.advance(25)
        assert (await hook.reply()).json() == {}
    assert (await sender.read(question["id"])).json()["status"] == "cancelled"


async def test_silence_is_no_decision(server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock):
    async with calling(clock, sender, claude_code("permission_bash")) as (hook,):
        question = await the_question(server, phone)
        clock.advance(595)
        reply = await hook.reply()
    assert (reply.status_code, reply.json()) == (200, {})
    assert (await sender.read(question["id"])).json()["status"] == "expired"


async def test_a_withdrawn_question_is_no_decision(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("permission_bash")) as (hook,):
        await sender.cancel((await the_question(server, phone))["id"])
        assert (await hook.reply()).json() == {}


async def test_an_agent_that_hangs_up_takes_the_prompt_off_the_phone(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("permission_bash")) as (hook,):
        question = await the_question(server, phone)
        async with asyncio.timeout(BOUND_SECONDS):
            with server.services.hub.watch(question["id"]) as changed:
                await hook.hang_up()
                while (await sender.read(question["id"])).json()["status"] == "pending":
                    await changed.wait()
                    changed.clear()
    assert (await sender.read(question["id"])).json()["status"] == "cancelled"
    assert [each["type"] for each in await shown_on(server, phone)] == ["interaction.closed"]


async def test_after_a_kill_of_the_server_its_question_ends_soon(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("permission_bash")):
        question = await server.services.store.find_interaction((await the_question(server, phone))["id"], NOW)
        assert question is not None
        assert (question.tether, question.awaited_until) == (20, ENDS)


async def test_a_long_wait_is_kept_alive_and_still_is_one_object(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    headers = {"authorization": f"Bearer {sender.token}"}
    event = claude_code("permission_bash")
    async with asyncio.timeout(BOUND_SECONDS):
        request = asyncio.create_task(
            server.http.send(server.http.build_request("POST", HOOK, headers=headers, json=event), stream=True)
        )
        await clock.until_waited_for(ENDS)
        question = await the_question(server, phone)
        clock.advance(20)
        reply = await request
        pieces = reply.aiter_raw()
        assert (reply.status_code, reply.headers["content-type"]) == (200, "application/json")
        assert await anext(pieces) == b"\n"
        await clock.until_waited_for(NOW + 40)
        clock.advance(20)
        assert await anext(pieces) == b"\n"
        await phone.answer(question["id"], 0)
        rest = b"".join([piece async for piece in pieces])
    assert json.loads(b"\n\n" + rest) == ALLOW


async def test_the_agents_own_questions_are_put_one_after_the_other(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("pre_tool_use_ask_user_question")) as (hook,):
        first = await the_question(server, phone)
        assert first["choices"] == ["Staging", "Production", "Answer in the terminal"]
        clock.advance(5)
        await phone.answer(first["id"], 1)
        _token, second = await drain(phone, 2)
        assert second.payload["expires_at"] == ENDS
        await phone.answer(second.id, 3)
        output = (await hook.reply()).json()["hookSpecificOutput"]
    assert output["permissionDecision"] == "allow"
    assert output["updatedInput"]["answers"] == {
        "Where should this be deployed?": "Production",
        "Which database?": "Restore",
    }


async def test_one_of_them_left_to_the_terminal_leaves_all_to_it(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("pre_tool_use_ask_user_question")) as (hook,):
        await phone.answer((await the_question(server, phone))["id"], 2)
        assert (await hook.reply()).json() == {}
    assert await shown_on(server, phone) == []


async def questions_on(server: RunningServer, phone: DeviceActor) -> list[dict[str, Any]]:
    """Return the questions that were put, in order."""
    return [each for each in await shown_on(server, phone) if each["type"] == "interaction"]


async def test_calls_that_look_the_same_at_the_same_time_are_questions_of_their_own(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("permission_bash"), count=3) as hooks:
        questions = await questions_on(server, phone)
        assert len(questions) == 3
        for question, tap in zip(questions, (0, 1, 0), strict=True):
            await phone.answer(question["id"], tap)
        replies = [(await hook.reply()).json()["hookSpecificOutput"]["decision"]["behavior"] for hook in hooks]
    assert sorted(replies) == ["allow", "allow", "deny"]


@pytest.mark.parametrize("over", ["post_tool_use_touch", "post_tool_use_failure_touch"])
async def test_a_call_that_is_over_takes_its_prompt_off_the_phone(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock, over: str
):
    async with calling(clock, sender, claude_code("permission_touch"), count=2) as hooks:
        first, second = await questions_on(server, phone)
        elsewhere = claude_code(over, session_id="another")
        assert (await sender.call("POST", HOOK, json=elsewhere)).json() == {}
        assert (await sender.call("POST", HOOK, json=claude_code(over))).json() == {}
        states = [(await sender.read(each["id"])).json()["status"] for each in (first, second)]
        assert states == ["cancelled", "pending"]
        await phone.answer(second["id"], 1)
        replies = [(await hook.reply()).json() for hook in hooks]
    assert {} in replies
    assert (await sender.call("POST", HOOK, json=claude_code(over))).json() == {}


async def test_another_token_ends_nothing(server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock):
    other = await phone.new_token()
    async with calling(clock, sender, claude_code("permission_touch")):
        question = await the_question(server, phone)
        await other.call("POST", HOOK, json=claude_code("post_tool_use_touch"))
        assert (await sender.read(question["id"])).json()["status"] == "pending"


async def test_an_answer_is_never_taken_for_a_later_call_that_looks_the_same(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    event = claude_code("permission_bash")
    decisions = []
    for tap in (0, 1, 0):
        async with calling(clock, sender, event, until=int(clock.now()) + 595) as (hook,):
            newest = [each for each in await shown_on(server, phone) if each["type"] == "interaction"][-1]
            assert (await sender.read(newest["id"])).json()["status"] == "pending"
            await phone.answer(newest["id"], tap)
            decisions.append((await hook.reply()).json()["hookSpecificOutput"]["decision"]["behavior"])
        clock.advance(1)
    assert decisions == ["allow", "deny", "allow"]


@pytest.mark.parametrize("name", ["permission_ask_user_question", "pre_tool_use_bash", "session_start"])
async def test_other_events_get_no_decision_and_reach_no_phone(
    server: RunningServer, phone: DeviceActor, sender: Program, name: str
):
    reply = await sender.call("POST", HOOK, json=claude_code(name))
    assert (reply.status_code, reply.json()) == (200, {})
    assert await shown_on(server, phone) == []


async def test_notifications_and_ends_of_turns_are_sent(server: RunningServer, phone: DeviceActor, sender: Program):
    for name in ("notification_idle", "stop"):
        reply = await sender.call("POST", f"{HOOK}?skip=permission_prompt", json=claude_code(name))
        assert (reply.status_code, reply.json()) == (200, {})
    assert [each["title"] for each in await shown_on(server, phone)] == [
        "Claude Code · shop",
        "Claude Code: done · shop",
    ]


async def test_kinds_of_notifications_can_be_skipped(server: RunningServer, phone: DeviceActor, sender: Program):
    event = claude_code("notification_permission")
    reply = await sender.call("POST", f"{HOOK}?skip=auth_success,permission_prompt", json=event)
    assert (reply.status_code, reply.json()) == (200, {})
    assert await shown_on(server, phone) == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
async def test_what_is_no_object_is_refused(sender: Program, body: bytes):
    reply = await sender.call("POST", HOOK, content=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_json")


async def test_a_body_that_is_too_large_is_refused_before_it_is_read(server: RunningServer, sender: Program):
    head = f"POST {HOOK} HTTP/1.1\r\nHost: reflecto\r\nAuthorization: Bearer {sender.token}\r\n"
    async with asyncio.timeout(BOUND_SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(f"{head}Content-Length: {EVENT_MAX_BYTES + 1}\r\n\r\n".encode())
        reply = await reader.read()
        writer.close()
        await writer.wait_closed()
    assert reply.startswith(b"HTTP/1.1 413 ")
    assert b'"code":"payload_too_large"' in reply


async def test_a_large_edit_is_asked(server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock):
    event = claude_code("permission_write", tool_input={"file_path": "/a", "content": "x" * 1_000_000})
    async with calling(clock, sender, event):
        question = await the_question(server, phone)
    assert question["choices"] == ["Allow, unseen parts too", "Deny"]


async def test_only_a_sender_that_may_ask_gets_that_far(server: RunningServer, phone: DeviceActor, sender: Program):
    event = claude_code("permission_bash")
    assert (await server.http.post(HOOK, json=event)).status_code == 401
    assert (await phone.call("POST", HOOK, json=event)).status_code == 401
    silent = await phone.new_token(scopes=["send"])
    refused = await silent.call("POST", HOOK, json=event)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_denied")
    capped = await capped_as_once(server.services.store, phone, "default")
    refused = await capped.call("POST", HOOK, json=event)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "priority_capped")
    assert (await sender.call("GET", HOOK)).status_code == 405


async def test_a_question_too_many_says_so(phone: DeviceActor, sender: Program):  # noqa: ARG001 -- its owner's phone
    for number in range(10):
        await sender.ask_id(f"Question {number}?")
    reply = await sender.call("POST", HOOK, json=claude_code("permission_bash"))
    assert (reply.status_code, reply.json()["error"]["code"]) == (429, "too_many_pending")


async def test_a_revoked_token_ends_the_wait_without_a_decision(
    server: RunningServer, phone: DeviceActor, clock: FakeClock
):
    program = await phone.new_token()
    async with calling(clock, program, claude_code("permission_bash")) as (hook,):
        await the_question(server, phone)
        await phone.revoke(program)
        assert (await hook.reply()).json() == {}


async def test_a_server_that_stops_gives_no_decision(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("permission_bash")) as (hook,):
        await the_question(server, phone)
        server.services.hub.close()
        assert (await hook.reply()).json() == {}
    assert [each["type"] for each in await shown_on(server, phone)] == ["interaction.closed"]


async def test_a_test_token_needs_no_phone(server: RunningServer, phone: DeviceActor, clock: FakeClock):
    program = await phone.new_token(test=True)
    async with calling(clock, program, claude_code("permission_bash")) as (hook,):
        pending = await server.services.store.list_pending(program.id, clock.now())
        assert await shown_on(server, phone) == []
        await program.simulate(pending[0].id, "Allow")
        assert (await hook.reply()).json() == ALLOW
