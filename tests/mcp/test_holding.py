"""How a call is held when the server is in trouble: never longer than the hold, never in a hurry, never consent."""

from collections.abc import AsyncIterator, Iterator

import pytest

from reflecto import AsyncReflecto, BrokenContract
from reflecto.agents.tool_wait import HOLD_SECONDS, ToolWait
from tests.client.asker_server import TOKEN, AskerServer, FakeClock, Reply, replying


class PausedTime:
    """`tool_wait.WaitClock` on the client's fake clock."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.is_stopping = False

    def now(self) -> float:
        return self._clock.now

    async def pause(self, seconds: float) -> None:
        self._clock.pause(seconds)


class Holding:
    """A client, and a call of it that is held."""

    def __init__(self, clock: FakeClock, client: AsyncReflecto) -> None:
        self.clock = clock
        self.client = client
        self.reports: list[float] = []

    def begin(self) -> ToolWait:
        async def report(seconds: float, _message: str) -> None:
            self.reports.append(seconds)

        began = self.clock.now
        return ToolWait(PausedTime(self.clock), report, began, began + HOLD_SECONDS)


@pytest.fixture
def server() -> Iterator[AskerServer]:
    asker = AskerServer()
    asker.start()
    yield asker
    asker.stop()


@pytest.fixture
async def holding(server: AskerServer) -> AsyncIterator[Holding]:
    clock = FakeClock()
    async with AsyncReflecto(
        server.url, TOKEN, clock=clock.read, sleep=PausedTime(clock).pause, jitter=lambda: 0.5
    ) as client:
        yield Holding(clock, client)


async def test_a_server_that_goes_away_leaves_the_question_pending_as_far_as_is_known(
    server: AskerServer, holding: Holding
):
    question = await holding.client.create("Deploy?")
    server.stop()
    began = holding.clock.now
    result = await holding.begin().for_answer(holding.client, question, is_new=True)
    assert (result.status, result.id, result.choice) == ("pending", question.id, None)
    assert "cannot reach" in result.next_step
    assert "never consent" in result.next_step
    assert holding.clock.now - began == HOLD_SECONDS


async def test_a_server_that_comes_back_within_the_hold_gives_the_answer(server: AskerServer, holding: Holding):
    question = await holding.client.create("Deploy?")
    server.stop()

    def come_back(_count: int) -> None:
        if holding.clock.now > 75 and not server.running:
            server.start()
            server.answer(1)

    holding.clock.on_pause = come_back
    result = await holding.begin().for_answer(holding.client, question, is_new=True)
    assert (result.status, result.choice) == ("answered", "Deny")


async def test_a_server_that_asks_for_patience_beyond_the_hold_is_not_hurried(server: AskerServer, holding: Holding):
    question = await holding.client.create("Deploy?")
    server.faults["GET"].extend(replying(Reply.error(503, "unavailable", {"Retry-After": "60"})) for _ in range(99))
    result = await holding.begin().for_answer(holding.client, question, is_new=True)
    assert result.status == "pending"
    assert sorted(set(holding.reports)) == [0, 20, 40]
    assert len([request for request in server.received if request.method == "GET"]) == 1


async def test_progress_goes_on_in_trouble(server: AskerServer, holding: Holding):
    question = await holding.client.create("Deploy?")
    server.faults["GET"].extend(replying(Reply.error(503, "unavailable", {"Retry-After": "7"})) for _ in range(99))
    await holding.begin().for_answer(holding.client, question, is_new=True)
    assert holding.reports == sorted(holding.reports)
    assert max(later - earlier for earlier, later in zip(holding.reports, holding.reports[1:], strict=False)) <= 25


async def test_a_reply_that_breaks_the_contract_is_no_answer_and_not_waited_out(server: AskerServer, holding: Holding):
    question = await holding.client.create("Deploy?")
    server.on_poll = lambda _count: server.answer(0, choice="Deny")
    with pytest.raises(BrokenContract):
        await holding.begin().for_answer(holding.client, question, is_new=True)
