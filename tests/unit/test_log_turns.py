"""Lines of the log that are written together, and those that are not kept back."""

import asyncio
import io
import logging
from collections.abc import Iterator

import pytest

from reflecto.logs import TurnHandler


class Writes(io.StringIO):
    """A stream that remembers each write by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.all: list[str] = []

    def write(self, text: str) -> int:
        """Remember it."""
        if self.closed:
            raise ValueError("closed")
        self.all.append(text)
        return len(text)


@pytest.fixture
def writes() -> Writes:
    """What was written."""
    return Writes()


@pytest.fixture
def log(writes: Writes) -> Iterator[logging.Logger]:
    """A logger that writes there."""
    logger = logging.getLogger("tests.turns")
    handler = TurnHandler(writes)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    yield logger
    logger.removeHandler(handler)


async def end_of_turn() -> None:
    """Return once the loop has done what was called for before."""
    ended = asyncio.Event()
    asyncio.get_running_loop().call_soon(ended.set)
    await ended.wait()


async def test_what_is_logged_in_one_turn_of_the_loop_is_one_write(log: logging.Logger, writes: Writes):
    log.info("first")
    log.info("second")
    assert writes.all == []
    await end_of_turn()
    assert writes.all == ["first\nsecond\n"]
    log.info("third")
    await end_of_turn()
    assert writes.all == ["first\nsecond\n", "third\n"]


async def test_a_warning_is_written_at_once_behind_what_came_before(log: logging.Logger, writes: Writes):
    log.info("before")
    log.warning("now")
    assert writes.all == ["before\nnow\n"]
    await end_of_turn()
    assert writes.all == ["before\nnow\n"]


async def test_what_a_thread_logs_is_written_at_once(log: logging.Logger, writes: Writes):
    log.info("before")
    await asyncio.to_thread(log.info, "from a thread")
    assert "".join(writes.all) == "before\nfrom a thread\n"


def test_lines_of_a_loop_that_has_ended_go_out_with_the_next(log: logging.Logger, writes: Writes):
    loop = asyncio.new_event_loop()
    loop.call_soon(loop.stop)
    loop.call_soon(log.info, "the last of the loop")
    loop.run_forever()
    loop.close()
    log.info("afterwards")
    assert "".join(writes.all) == "the last of the loop\nafterwards\n"


async def test_a_stream_that_nobody_reads_any_more_troubles_nobody(log: logging.Logger, writes: Writes):
    troubles: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: troubles.append(context))
    log.info("lost")
    writes.close()
    await end_of_turn()
    assert troubles == []
