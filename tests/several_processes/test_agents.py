"""Agents whose calls of `/mcp` reach now one process, now another: a lost result is found, and prompts nobody twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from reflecto.agents.kept_questions import KEEP_SECONDS
from tests.actors import DeviceActor, Program
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.mcp.calling import QUESTION, calling, content
from tests.mcp.tapping import Person
from tests.running import RunningServer
from tests.several_processes.conftest import Two, until
from tests.sync_reader import open_sync

KEPT = "SELECT count(*) = 1 FROM unread_questions WHERE process_id IS NULL"


@pytest.fixture
async def person(phone: DeviceActor) -> AsyncIterator[Person]:
    """The owner, whose phone has its stream at A."""
    async with open_sync(phone) as reader:
        person = Person(phone, reader)
        await person.sees("token.created")
        yield person


@asynccontextmanager
async def connected(server: RunningServer, token: str) -> AsyncIterator[Client]:
    """An official client of one of the servers."""
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=BOUND_SECONDS, trust_env=False) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{server.port}/mcp", http_client=http)
        async with Client(transport, mode="legacy") as client:
            yield client


async def lose_a_result(
    two: Two, sender: Program, person: Person, clock: FakeClock, connection: "asyncpg.Connection[Any]"
) -> str:
    """Ask at A, disconnect in the middle of the call, and return the question's id once A has noticed."""
    async with connected(two.a, sender.token) as client, calling(client, "ask_user", QUESTION):
        question_id = (await person.sees()).id
        await clock.until_waited_for(clock.now() + 20)
    await until(connection, KEPT)
    return question_id


async def test_a_result_lost_at_one_is_taken_up_at_the_other_and_prompts_once(
    two: Two, sender: Program, person: Person, clock: FakeClock, connection: "asyncpg.Connection[Any]"
):
    question_id = await lose_a_result(two, sender, person, clock, connection)
    async with connected(two.b, sender.token) as client, calling(client, "ask_user", QUESTION) as call:
        await clock.until_waited_for(NOW + 20)
        await sender.send("No second prompt")
        await person.sees("notification")
        clock.advance(20)
        await clock.until_waited_for(NOW + 40)
        clock.advance(20)  # beyond the time for which A had kept it
        await person.phone.answer(question_id, 0)
        result = content(await call)
    assert (result["id"], result["choice"]) == (question_id, "Approve")
    await until(connection, "SELECT count(*) = 0 FROM unread_questions")


async def test_an_answer_given_between_the_calls_is_handed_over_once(
    two: Two, sender: Program, person: Person, clock: FakeClock, connection: "asyncpg.Connection[Any]"
):
    question_id = await lose_a_result(two, sender, person, clock, connection)
    await person.phone.answer(question_id, 1)
    async with connected(two.b, sender.token) as client:
        async with calling(client, "ask_user", QUESTION) as call:
            result = content(await call)
        assert (result["id"], result["choice"]) == (question_id, "Deny")
        async with calling(client, "ask_user", QUESTION):
            assert (await person.sees()).id != question_id


async def test_what_nobody_asks_for_again_is_withdrawn_also_where_its_process_has_stopped(
    two: Two, sender: Program, person: Person, clock: FakeClock, connection: "asyncpg.Connection[Any]"
):
    async with open_sync(two.at_b(person.phone), after=1) as stream:
        question_id = await lose_a_result(two, sender, person, clock, connection)
        assert (await stream.envelope()).id == question_id
        two.a.uvicorn.stop()
        await until(connection, "SELECT count(*) = 1 FROM processes")
        clock.advance(KEEP_SECONDS)
        closed = await stream.envelope()
        assert (closed.type, closed.id) == ("interaction.closed", question_id)
        assert (closed.payload["status"], closed.payload["reason"]) == ("cancelled", "withdrawn")
    await until(connection, "SELECT count(*) = 0 FROM unread_questions")


async def test_a_call_that_comes_again_because_its_process_was_killed_finds_its_question(
    two: Two, sender: Program, person: Person, clock: FakeClock, connection: "asyncpg.Connection[Any]"
):
    async with connected(two.a, sender.token) as client, calling(client, "ask_user", QUESTION):
        question_id = (await person.sees()).id
        await clock.until_waited_for(clock.now() + 20)
        await connection.execute(
            "INSERT INTO processes VALUES ('prc_killed', clock_timestamp() + interval '1 s', '', 1, '')"
        )
        await connection.execute("UPDATE unread_questions SET process_id = 'prc_killed'")
        async with connected(two.b, sender.token) as again, calling(again, "ask_user", QUESTION) as call:
            await until(connection, "SELECT process_id <> 'prc_killed' FROM unread_questions")
            await clock.until_waited_for(clock.now() + 20, 2)
            await sender.send("No second prompt")
            await person.sees("notification")
            await person.phone.answer(question_id, 0)
            assert content(await call)["id"] == question_id


async def test_the_same_asked_at_both_at_once_are_two_questions(two: Two, sender: Program, person: Person):
    async with connected(two.a, sender.token) as a, calling(a, "ask_user", QUESTION):
        first = await person.sees()
        async with connected(two.b, sender.token) as b, calling(b, "ask_user", QUESTION):
            assert (await person.sees()).id != first.id


async def test_a_notice_of_cancellation_that_reaches_the_other_process_ends_the_call(
    two: Two, sender: Program, person: Person, connection: "asyncpg.Connection[Any]"
):
    session = {"mcp-session-id": "one", "accept": "application/json, text/event-stream"}

    async def post(server: RunningServer, **message: Any) -> int:
        headers = {"authorization": f"Bearer {sender.token}", **session}
        reply = await server.http.post("/mcp", json={"jsonrpc": "2.0", **message}, headers=headers)
        return reply.status_code

    asking = asyncio.create_task(
        post(two.a, id=5, method="tools/call", params={"name": "ask_user", "arguments": QUESTION})
    )
    question_id = (await person.sees()).id
    assert await post(two.b, method="notifications/cancelled", params={"requestId": 5}) == 202
    async with asyncio.timeout(BOUND_SECONDS):
        assert await asking in {200, 202}  # nothing is told in it any more
    await until(connection, KEPT)
    assert (await sender.read(question_id)).json()["status"] == "pending"
