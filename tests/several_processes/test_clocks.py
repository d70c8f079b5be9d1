"""The time of a server is its database's, on whichever machine a process runs."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest

from reflecto.core.clock import StoreClock, SystemClock
from reflecto.crypto.envelopes import BoxKeys
from tests.actors import enroll
from tests.databases import Databases
from tests.running import RunningServer, run_server

HOUR: Final = 3_600


@pytest.fixture
async def apart(tmp_path: Path, databases: Databases) -> AsyncIterator[list[RunningServer]]:
    """Two servers on one database; the clock of the second's machine is an hour ahead."""
    keys, database, machine = BoxKeys.generate(), await databases.of(tmp_path), SystemClock()
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                run_server(tmp_path, database=database, keys=keys, store_clock=StoreClock(clock))
            )
            for clock in (machine.now, lambda: machine.now() + HOUR)
        ]
    databases.give_back(tmp_path)


async def test_on_machines_an_hour_apart_it_is_the_same_time(
    apart: list[RunningServer], caplog: pytest.LogCaptureFixture
):
    said = [record.getMessage() for record in caplog.get_records("setup")]
    (warning,) = [message for message in said if "this machine's clock" in message]
    assert "3600.0 s ahead" in warning
    first, second = [each.services.clock.now() for each in apart]
    assert abs(first - second) < 5

    phone = await enroll(apart[0])
    sender = phone.default_program()
    states = []
    for server in apart:
        sender.http = server.http
        asked = (await sender.ask(f"Through {server.port}?")).json()
        states += [(await sender.read(asked["id"])).json() for sender.http in (each.http for each in apart)]
    assert {state["status"] for state in states} == {"pending"}
    assert max(state["expires_at"] for state in states) - min(state["expires_at"] for state in states) < 60
