"""Hooks of agents whose calls reach now one process, now another."""

import asyncio
from typing import Any

import asyncpg

from tests.actors import DeviceActor, Program
from tests.agents.events import claude_code
from tests.api.test_claude_code_hook import ALLOW, HOOK, shown_on
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.several_processes.conftest import Two, until


async def test_two_calls_that_look_the_same_at_both_are_two_questions_and_a_tap_allows_one(
    two: Two, phone: DeviceActor, sender: Program, clock: FakeClock, connection: "asyncpg.Connection[Any]"
):
    event = claude_code("permission_bash")
    calls = [
        asyncio.create_task(program.call("POST", HOOK, json=event))
        for program in (sender, two.at_b(sender), two.at_b(sender))
    ]
    await clock.until_waited_for(NOW + 595, 3)
    asked = [each["id"] for each in await shown_on(two.a, phone) if each["type"] == "interaction"]
    assert len(set(asked)) == 3
    await phone.answer(asked[1], 0)
    async with asyncio.timeout(BOUND_SECONDS):
        done, waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
    assert [each.result().json() for each in done] == [ALLOW]
    assert len(waiting) == 2
    for call in calls:
        call.cancel()
    await until(connection, "SELECT count(*) = 0 FROM call_places")


async def test_what_the_terminal_has_allowed_leaves_the_phone_whichever_process_hears_of_it(
    two: Two, phone: DeviceActor, sender: Program, clock: FakeClock
):
    call = asyncio.create_task(sender.call("POST", HOOK, json=claude_code("permission_touch")))
    await clock.until_waited_for(NOW + 595)
    told = await two.at_b(sender).call("POST", HOOK, json=claude_code("post_tool_use_touch"))
    assert (told.status_code, told.json()) == (200, {})
    async with asyncio.timeout(BOUND_SECONDS):
        assert (await call).json() == {}
    assert [each["type"] for each in await shown_on(two.b, phone)] == ["interaction.closed"]


async def test_a_call_of_a_process_that_is_gone_leaves_its_number(
    two: Two, sender: Program, clock: FakeClock, connection: "asyncpg.Connection[Any]"
):
    event = claude_code("permission_bash")
    gone = asyncio.create_task(sender.call("POST", HOOK, json=event))
    await clock.until_waited_for(NOW + 595)
    await connection.execute("UPDATE call_places SET process_id = 'prc_gone'")
    again = asyncio.create_task(two.at_b(sender).call("POST", HOOK, json=event))
    await clock.until_waited_for(NOW + 595, 2)
    assert await connection.fetchval("SELECT array_agg(number) FROM call_places") == [0]
    for call in (gone, again):
        call.cancel()
    await asyncio.wait([gone, again])
