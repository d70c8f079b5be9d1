"""A process whose lease has run out holds no streams, and another does not take them for open."""

import asyncio
from typing import Any

import asyncpg

from tests.actors import DeviceActor, Program
from tests.fakes import BOUND_SECONDS
from tests.several_processes.conftest import Two
from tests.several_processes.test_hearing import until_reachable
from tests.sync_reader import open_sync

_RUN_OUT = "UPDATE processes SET live_until = clock_timestamp() - interval '1 s'"


async def test_one_that_could_not_renew_its_lease_ends_its_streams_and_takes_new_ones(
    two: Two, phone: DeviceActor, sender: Program, connection: "asyncpg.Connection[Any]"
):
    elsewhere = two.at_b(phone)
    async with open_sync(elsewhere, after=1) as stream:
        await until_reachable(sender, is_reachable=True)
        await connection.execute(_RUN_OUT)
        await stream.end()
    async with open_sync(elsewhere, after=1):
        await until_reachable(sender, is_reachable=True)


async def test_one_that_is_gone_for_good_has_no_streams(
    phone: DeviceActor, sender: Program, connection: "asyncpg.Connection[Any]"
):
    await connection.execute("INSERT INTO processes VALUES ('prc_gone', clock_timestamp() + interval '1 h', '', 1, '')")
    await connection.execute("INSERT INTO presence VALUES ($1, 'prc_gone')", phone.id)
    await until_reachable(sender, is_reachable=True)
    await connection.execute(f"{_RUN_OUT} WHERE id = 'prc_gone'")
    await until_reachable(sender, is_reachable=False)


async def test_a_process_that_stops_takes_its_leave_at_once(two: Two, connection: "asyncpg.Connection[Any]"):
    two.b.uvicorn.stop()
    async with asyncio.timeout(BOUND_SECONDS):
        while await connection.fetchval("SELECT count(*) FROM processes") > 1:
            pass
