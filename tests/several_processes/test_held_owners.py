"""Where somebody holds an owner's row for long, that owner waits, and nobody else does more than once."""

import asyncio
from typing import Any

import asyncpg

from tests.actors import DeviceActor, Program, enroll
from tests.fakes import BOUND_SECONDS
from tests.several_processes.conftest import Two

HOLD = "SELECT FROM owners WHERE id = $1 FOR UPDATE"


async def test_others_wait_once_for_an_owner_whom_an_administrator_holds(
    two: Two, phone: DeviceActor, sender: Program, connection: "asyncpg.Connection[Any]"
):
    other = await enroll(two.a, await two.a.invite(new_owner=True))
    others, errors = other.default_program(), two.a.services.store.work.errors
    released = asyncio.Event()

    async def insist() -> None:
        while not released.is_set():
            await asyncio.gather(sender.send(), phone.call("POST", "/v1/tokens", json={"label": "CI"}))

    async with asyncio.timeout(BOUND_SECONDS):
        async with connection.transaction():
            await connection.execute(HOLD, phone.owner_id)
            insisting = asyncio.create_task(insist())
            while not errors.by_labels.get(("conflict",), 0):  # it has waited for the row in vain
                assert (await others.send()).status_code == 200
            sent = [await others.send() for _ in range(3)]
            made = [await other.call("POST", "/v1/tokens", json={"label": f"CI {n}"}) for n in range(3)]
            assert [each.status_code for each in sent + made] == [200] * 3 + [201] * 3
        assert errors.by_labels["conflict",] <= 2  # one on each connection that writes
        released.set()
        await insisting
        assert (await sender.send()).status_code == 200


async def test_a_verb_of_an_owner_who_is_deleted_while_held_hears_so(
    two: Two, phone: DeviceActor, sender: Program, connection: "asyncpg.Connection[Any]"
):
    errors = two.a.services.store.work.errors
    asked = await sender.ask_id()
    async with asyncio.timeout(BOUND_SECONDS):
        async with connection.transaction():
            await connection.execute(HOLD, phone.owner_id)
            tapping = asyncio.create_task(phone.answer(asked))
            while not errors.by_labels.get(("conflict",), 0):
                await connection.execute("SELECT")
            await connection.execute("DELETE FROM owners WHERE id = $1", phone.owner_id)
        assert (await tapping).status_code in {401, 404}
