"""What fails on the connection that processes share fails by itself: the next one is counted and heard again."""

import asyncio
from typing import Any

from reflecto.core.ports.counting import Window
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.core.ports.wakeups import News
from reflecto.store.postgres.store import PostgresStore
from tests.actors import DeviceActor, Program
from tests.fakes import BOUND_SECONDS
from tests.several_processes.conftest import Two


def database_of(two: Two) -> Any:
    """Return A's database."""
    store = two.a.services.store
    assert isinstance(store, PostgresStore)
    return store._database  # noqa: SLF001  no request gets so far


async def test_a_count_that_no_column_holds_does_not_stop_the_others(two: Two, sender: Program):
    counters = database_of(two).counters
    beyond = counters.hit([(Window("odd", 2**70, 60), "key")], two.a.clock.now())
    later = two.a.clock.now() + 1  # another second: a statement of its own
    good = counters.hit([(Window("fine", 1, 60), "key")], later)
    async with asyncio.timeout(BOUND_SECONDS):
        replies = [*await asyncio.gather(beyond, good, return_exceptions=True)]
    assert isinstance(replies[0], StoreUnavailableError)
    assert replies[1] is None
    assert (await sender.send()).status_code == 200


async def test_an_error_of_whoever_hears_news_does_not_end_the_hearing(
    two: Two, phone: DeviceActor, sender: Program, caplog: Any
):
    heard: list[News] = []
    again = asyncio.Event()

    def hear(news: News) -> None:
        heard.append(news)
        if len(heard) == 1:
            raise KeyError("a fault")
        again.set()

    database_of(two).news.when_heard(hear)
    async with asyncio.timeout(BOUND_SECONDS):
        assert (await two.at_b(sender).send()).status_code == 200
        await again.wait()
    assert phone.id in heard[0].device_ids
    assert any(news.everything for news in heard[1:])  # what was missed meanwhile is looked at
    assert "what the processes share failed" in caplog.text
