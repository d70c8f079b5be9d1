"""Who pushes to a device: of several processes one claims it, and lets go of it only when nothing is left to push."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from reflecto.backing import Backing, open_postgres
from reflecto.core.model import Device
from reflecto.store.postgres import push_lines
from tests.builders import make_delivery
from tests.databases import Databases
from tests.fakes import BOUND_SECONDS, Gate
from tests.postgres import connected
from tests.store_conformance.test_push import make_subscription
from tests.store_conformance.world import found_owner


@pytest.fixture
async def backings(
    databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[list[Backing]]:
    """Two processes' backings, which look all the time for what the other has left."""
    monkeypatch.setattr(push_lines, "LOOK_SECONDS", 0.05)
    address = await databases.of(tmp_path)
    async with AsyncExitStack() as stack:
        opened = [await open_postgres(address) for _ in range(2)]
        for each in opened:
            each.store.when_changed_elsewhere(lambda _: None)
            stack.push_async_callback(each.store.close)
        yield opened
    databases.give_back(tmp_path)


@pytest.fixture
async def phone(backings: list[Backing]) -> Device:
    """A phone with a subscription, whose queue has come to 2."""
    phone, _ = await found_owner(backings[0].store)
    await backings[0].store.set_push_subscription(phone.id, make_subscription())
    await backings[0].store.append_to_queues([make_delivery(phone) for _ in range(2)])
    return phone


async def test_one_claims_a_device_and_hears_when_it_lets_go_of_what_the_other_has_seen(
    backings: list[Backing], phone: Device
):
    a, b = (each.push_lines for each in backings)
    assert await a.claim(phone.id, 2) == 0
    assert a.holds(phone.id)
    a.note_done(phone.id, 2)
    assert await b.claim(phone.id, 3) is None
    assert not b.holds(phone.id)
    assert await a.release(phone.id, 2) is False
    assert a.holds(phone.id)
    assert await a.release(phone.id, 3) is True
    assert not a.holds(phone.id)
    assert await b.claim(phone.id, 3) == 2


async def test_one_that_gives_up_leaves_the_device_to_the_other(backings: list[Backing], phone: Device):
    a, b = (each.push_lines for each in backings)
    assert await a.claim(phone.id, 2) == 0
    left: asyncio.Queue[Collection[str]] = asyncio.Queue()
    b.when_left(left.put_nowait)
    a.leave([phone.id])
    async with asyncio.timeout(BOUND_SECONDS):
        assert await left.get() == [phone.id]
    assert await b.claim(phone.id, 2) == 0
    assert await a.claim(phone.id, 2) is None


async def test_one_that_gives_up_while_it_claims_again_leaves_it_all_the_same(
    backings: list[Backing], phone: Device, monkeypatch: pytest.MonkeyPatch
):
    a, b = (each.push_lines for each in backings)
    assert await a.claim(phone.id, 2) == 0
    gate, held_back = Gate(), push_lines._ids  # noqa: SLF001 -- there is no other moment in the middle of a turn

    async def ids(*arguments: Any) -> set[str]:
        await gate()
        return await held_back(*arguments)

    monkeypatch.setattr(push_lines, "_ids", ids)
    claiming = asyncio.create_task(a.claim(phone.id, 2))
    await gate.until_held()
    left: asyncio.Queue[Collection[str]] = asyncio.Queue()
    b.when_left(left.put_nowait)
    a.leave([phone.id])
    gate.open()
    assert await claiming is None
    async with asyncio.timeout(BOUND_SECONDS):
        assert await left.get() == [phone.id]


async def test_a_new_subscription_is_still_the_one_to_which_its_process_pushes(backings: list[Backing], phone: Device):
    a, b = (each.push_lines for each in backings)
    await a.claim(phone.id, 2)
    await backings[1].store.set_push_subscription(phone.id, make_subscription("https://push.example/new"))
    assert await b.claim(phone.id, 2) is None


async def test_a_device_without_a_subscription_is_nobodys(backings: list[Backing], phone: Device):
    a, b = (each.push_lines for each in backings)
    await a.claim(phone.id, 2)
    await backings[0].store.set_push_subscription(phone.id, None)
    assert await a.release(phone.id, 2) is True
    assert await b.claim(phone.id, 2) is None


async def test_a_row_that_another_transaction_has_is_waited_for(
    backings: list[Backing], phone: Device, databases: Databases, tmp_path: Path
):
    async with connected(await databases.of(tmp_path)) as connection:
        lines = backings[0].push_lines
        async with connection.transaction():
            await connection.execute("SELECT 1 FROM push_subscriptions FOR UPDATE")
            claiming = asyncio.create_task(lines.claim(phone.id, 2))
            for _ in range(2):  # turns go on meanwhile
                await lines.release("dev_other", 0)
            assert not claiming.done()
        assert await claiming == 0
