"""@approve: nothing but a tap on the first choice runs the function."""

import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import reflecto
from reflecto import AsyncReflecto, Reflecto, approve
from tests.client.asker_server import TOKEN, AskerServer, FakeClock

Connect = Callable[..., Reflecto]


@pytest.fixture
async def async_client(server: AskerServer) -> AsyncIterator[AsyncReflecto]:
    async with AsyncReflecto(server.url, TOKEN, retry_for=0) as client:
        yield client


def tapping(server: AskerServer, index: int) -> None:
    server.on_poll = lambda _count: server.answer(index)


def test_the_first_choice_runs_the_function_and_returns_what_it_returns(server: AskerServer, connect: Connect):
    tapping(server, 0)

    @approve("Drop table {table}?", client=connect())
    def drop(table: str, *, cascade: bool = False) -> tuple[str, bool]:
        """Drop it."""
        return table, cascade

    assert drop("users", cascade=True) == ("users", True)
    assert server.prompts[0]["question"] == "Drop table users?"
    assert server.prompts[0]["choices"] == ["Approve", "Deny"]
    assert (drop.__name__, drop.__doc__) == ("drop", "Drop it.")


def test_another_choice_raises_denied_with_the_answer_and_runs_nothing(server: AskerServer, connect: Connect):
    tapping(server, 2)
    ran: list[str] = []

    @approve("Merge?", ["Merge", "Wait", "Close"], client=connect())
    def merge() -> None:
        ran.append("merge")

    with pytest.raises(reflecto.Denied) as caught:
        merge()
    assert (caught.value.answer.choice, caught.value.answer.index) == ("Close", 2)
    assert ran == []


ENDS: dict[str, tuple[Callable[[AskerServer], Any], type[reflecto.ReflectoError]]] = {
    "expired": (lambda server: server.end(status="expired"), reflecto.QuestionExpired),
    "cancelled": (lambda server: server.end(status="cancelled"), reflecto.QuestionCancelled),
    "unreachable": (lambda server: server.stop(), reflecto.Unreachable),
    "a lie": (lambda server: server.answer(0, choice="Deny"), reflecto.BrokenContract),
}


@pytest.mark.parametrize(("end", "error"), ENDS.values(), ids=ENDS)
def test_whatever_is_no_tap_runs_nothing(server: AskerServer, connect: Connect, end, error):
    server.on_poll = lambda count: end(server) if count == 1 else None
    ran: list[str] = []

    @approve("Deploy?", client=connect(), expires_in=60)
    def deploy() -> None:
        ran.append("deploy")

    with pytest.raises(error):
        deploy()
    assert ran == []


def test_the_callers_timeout_runs_nothing(server: AskerServer, connect: Connect, clock: FakeClock):
    ran: list[str] = []

    @approve("Deploy?", client=connect(), timeout=5)
    def deploy() -> None:
        ran.append("deploy")

    with pytest.raises(reflecto.AnswerTimeout):
        deploy()
    assert (ran, clock.now) == ([], 55.0)
    assert server.latest["status"] == "pending"


def test_each_call_is_a_question_of_its_own(server: AskerServer, connect: Connect):
    tapping(server, 0)

    @approve("Deploy?", client=connect())
    def deploy() -> None: ...

    deploy()
    deploy()
    assert len(server.prompts) == 2


def test_the_question_shows_defaults_attributes_and_conversions(server: AskerServer, connect: Connect):
    tapping(server, 0)

    class Job:
        name = "nightly"
        steps = ("build", "ship")

        @approve("{self.name}: {self.steps[1]} to {target!r}, {retries:03d} retries, {extra}?", client=connect())
        def run(self, target: str = "prod", retries: int = 2, **extra: int) -> tuple[str, int, dict[str, int]]:
            return target, retries, extra

    assert Job().run(force=1) == ("prod", 2, {"force": 1})
    assert server.prompts[0]["question"] == "nightly: ship to 'prod', 002 retries, {'force': 1}?"


def test_a_call_with_wrong_arguments_asks_nothing(server: AskerServer, connect: Connect):
    @approve("Drop {table}?", client=connect())
    def drop(table: str) -> None: ...

    with pytest.raises(TypeError):
        drop()  # type: ignore[call-arg]
    assert server.received == []


def test_what_was_tapped_on_is_what_runs_also_if_the_value_is_a_template_itself(server: AskerServer, connect: Connect):
    tapping(server, 0)

    @approve("Run {command}?", client=connect())
    def run(command: str) -> None: ...

    run("{command.__class__} {0}")
    assert server.prompts[0]["question"] == "Run {command.__class__} {0}?"


@pytest.mark.parametrize("question", ["Drop {tabel}?", "Drop {}?", "Drop {0}?", "Drop {table:{width}}?"])
def test_a_question_that_names_no_parameter_is_refused_where_it_is_written(question: str):
    def drop(table: str) -> None: ...

    with pytest.raises(TypeError, match="no parameter of"):
        approve(question, client=pytest.fail)(drop)


def test_a_question_that_is_too_long_is_not_asked_and_nothing_is_left_out(server: AskerServer, connect: Connect):
    @approve("Run {sql}?", client=connect())
    def run(sql: str) -> None: ...

    with pytest.raises(ValueError, match="1001 characters and may have 1000"):
        run("x" * 996)
    assert server.received == []


def test_the_longest_question_is_shown_whole(server: AskerServer, connect: Connect):
    tapping(server, 0)

    @approve("Run {sql}?", client=connect())
    def run(sql: str) -> None: ...

    run("x" * 995)
    assert server.prompts[0]["question"] == f"Run {'x' * 995}?"


def test_a_precision_says_how_much_it_leaves_out(server: AskerServer, connect: Connect):
    tapping(server, 0)

    @approve("Run {sql:.20}, {unused!r:.3s} for {cost:.2f}?", client=connect())
    def run(sql: str, cost: float, unused: str = "ab") -> None: ...

    run("DELETE FROM orders WHERE 1 = 1", 1.23456)
    assert server.prompts[0]["question"] == (
        "Run DELETE FROM orders W… [10 more characters not shown], 'ab… [1 more characters not shown] for 1.23?"
    )


def test_the_client_may_come_when_it_is_needed(server: AskerServer, connect: Connect):
    tapping(server, 0)
    made: list[Reflecto] = []

    def make() -> Reflecto:
        made.append(connect())
        return made[-1]

    @approve("Deploy?", client=make)
    def deploy() -> str:
        return "deployed"

    assert made == []
    assert deploy() == "deployed"
    assert len(made) == 1


async def test_an_async_function_waits_without_blocking_the_loop(server: AskerServer, async_client: AsyncReflecto):
    asking_thread = threading.get_ident()
    tapping(server, 0)

    @approve("Drop {table}?", client=async_client)
    async def drop(table: str) -> tuple[str, int]:
        return table, threading.get_ident()

    assert await drop("users") == ("users", asking_thread)


async def test_an_async_function_does_not_run_on_another_choice(server: AskerServer, async_client: AsyncReflecto):
    tapping(server, 1)
    ran: list[str] = []

    @approve("Drop?", client=async_client)
    async def drop() -> None:
        ran.append("drop")

    with pytest.raises(reflecto.Denied):
        await drop()
    assert ran == []


async def test_the_kind_of_client_must_fit_the_kind_of_function(connect: Connect, async_client: AsyncReflecto):
    def drop() -> None: ...

    async def drop_async() -> None: ...

    with pytest.raises(TypeError, match="class Reflecto, not AsyncReflecto"):
        approve("Drop?", client=async_client)(drop)
    with pytest.raises(TypeError, match="class AsyncReflecto, not Reflecto"):
        approve("Drop?", client=connect())(drop_async)
    with pytest.raises(TypeError, match="class Reflecto"):
        approve("Drop?", client=lambda: async_client)(drop)()


def test_a_generator_is_refused_since_its_body_runs_only_after_the_call():
    def rows():
        yield 1

    async def async_rows():
        yield 1

    for generator in (rows, async_rows):
        with pytest.raises(TypeError, match="generator"):
            approve("Read?", client=pytest.fail)(generator)


def test_it_goes_below_property_not_on_top():
    with pytest.raises(TypeError, match="below @staticmethod"):
        approve("Run?", client=pytest.fail)(property(lambda _: 1))  # type: ignore[arg-type]
