"""The asynchronous client. The rules are those of the blocking one, whose tests are theirs; here is what is its own."""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from datetime import timedelta

import anyio
import pytest

import reflecto
from reflecto import AsyncReflecto, Reflecto
from tests.client.asker_server import TOKEN, AskerServer, FakeClock, Reply, lost_after_handling, replying
from tests.client.sending_server import DEVICE, SendingServer

BOUND_SECONDS = 10

Connect = Callable[..., AsyncReflecto]


@pytest.fixture
async def connect(clock: FakeClock) -> AsyncIterator[Connect]:
    """Clients that live on the fake clock; keyword arguments override."""
    clients: list[AsyncReflecto] = []

    async def pause(seconds: float) -> None:
        clock.pause(seconds)

    def make(server: AskerServer, **options: object) -> AsyncReflecto:
        steered = {"clock": clock.read, "sleep": pause, "jitter": lambda: 0.5} | options
        clients.append(AsyncReflecto(server.url, TOKEN, **steered))  # type: ignore[arg-type]
        return clients[-1]

    yield make
    for client in clients:
        await client.close()


def public_calls(shell: type) -> dict[str, inspect.Signature]:
    """Return the signature of each public method."""
    return {
        name: inspect.signature(method)
        for name, method in inspect.getmembers(shell, inspect.isfunction)
        if not name.startswith("_")
    }


def test_both_clients_have_the_same_calls_with_the_same_signatures():
    assert public_calls(AsyncReflecto) == public_calls(Reflecto)
    assert {"ask", "create", "get", "wait", "cancel", "send", "ring", "remind", "send_file", "devices"} <= set(
        public_calls(AsyncReflecto)
    )


def test_every_call_of_the_asynchronous_client_is_awaited():
    methods = [getattr(AsyncReflecto, name) for name in public_calls(AsyncReflecto)]
    assert all(inspect.iscoroutinefunction(method) for method in methods)


def test_both_clients_are_made_with_the_same_arguments():
    blocking, asynchronous = (dict(inspect.signature(shell).parameters) for shell in (Reflecto, AsyncReflecto))
    for own in ("transport", "sleep"):  # the libraries that carry requests differ, and so does pausing
        blocking.pop(own, None)
        asynchronous.pop(own)
    assert list(blocking.items()) == list(asynchronous.items())


async def test_the_tap_comes_back(server: AskerServer, connect: Connect):
    server.on_poll = lambda count: server.answer(1) if count == 3 else None
    answer = await connect(server).ask("Merge it?", ["Merge", "Wait", "Close"])
    assert (answer.choice, answer.index, answer.answered_by) == ("Wait", 1, reflecto.Device("dev_1", "Pixel"))


async def test_the_question_is_known_before_the_answer_is_waited_for(server: AskerServer, connect: Connect):
    server.on_poll = lambda _count: server.answer()
    pending: list[tuple[str, int]] = []
    await connect(server).ask("Deploy?", on_pending=lambda question: pending.append((question.id, server.polls)))
    assert pending == [(server.latest["id"], 0)]


async def test_a_lost_reply_never_prompts_twice(server: AskerServer, connect: Connect):
    server.faults["POST"].extend([lost_after_handling, lost_after_handling])
    server.on_poll = lambda _count: server.answer()
    assert (await connect(server).ask("Deploy?")).choice == "Approve"
    assert len(server.prompts) == 1


async def test_waiting_survives_a_restart(server: AskerServer, connect: Connect, clock: FakeClock):
    troubles: list[str | None] = []
    client = connect(server, on_trouble=lambda error: troubles.append(error and error.code))
    question = await client.create("Deploy?")
    server.on_poll = lambda count: server.stop() if count == 1 else None

    def come_back(count: int) -> None:
        if count == 4:
            server.start()
            server.answer()

    clock.on_pause = come_back
    assert (await client.wait(question)).choice == "Approve"
    assert troubles == ["unreachable"] * 4
    assert clock.pauses == [0.25, 0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("status", "error"), [("expired", reflecto.QuestionExpired), ("cancelled", reflecto.QuestionCancelled)]
)
async def test_a_question_that_ends_without_a_tap_raises(server: AskerServer, connect: Connect, status, error):
    server.on_poll = lambda _count: server.end(status=status)
    with pytest.raises(error):
        await connect(server).ask("Deploy?")


async def test_the_callers_timeout_leaves_the_question_open(server: AskerServer, connect: Connect, clock: FakeClock):
    client = connect(server)
    started_at = clock.now
    with pytest.raises(reflecto.AnswerTimeout) as caught:
        await client.ask("Deploy?", timeout=30)
    assert clock.now - started_at == 30
    server.answer()
    assert (await client.wait(caught.value.question_id)).choice == "Approve"


async def test_many_questions_wait_at_once(server: AskerServer):
    server.holds_polls = True
    async with AsyncReflecto(server.url, TOKEN) as client, asyncio.timeout(BOUND_SECONDS):
        questions = [await client.create(f"Deploy {number}?") for number in range(20)]
        waits = [asyncio.create_task(client.wait(question)) for question in questions]
        await asyncio.to_thread(server.wait_until_polled, 20)
        for question in questions:
            await client.cancel(question)
        ended = await asyncio.gather(*waits, return_exceptions=True)
    assert [type(each) for each in ended] == [reflecto.QuestionCancelled] * 20


async def test_a_cancelled_ask_withdraws_its_question(server: AskerServer):
    server.holds_polls = True
    async with AsyncReflecto(server.url, TOKEN) as client, asyncio.timeout(BOUND_SECONDS):
        asking = asyncio.create_task(client.ask("Deploy?"))
        await asyncio.to_thread(server.wait_until_polled)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert server.latest["status"] == "cancelled"


async def test_an_ask_in_a_cancelled_scope_of_anyio_withdraws_its_question(server: AskerServer):
    server.holds_polls = True
    async with AsyncReflecto(server.url, TOKEN) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.ask, "Deploy?")
        await asyncio.to_thread(server.wait_until_polled)
        tasks.cancel_scope.cancel()
    assert server.latest["status"] == "cancelled"


async def test_an_ask_that_is_cancelled_before_the_reply_withdraws_the_question_all_the_same(server: AskerServer):
    stored, released = threading.Event(), threading.Event()

    def held(handle: Callable[[], Reply]) -> Reply:
        reply = handle()
        stored.set()
        released.wait(BOUND_SECONDS)
        return reply

    server.faults["POST"].append(held)
    async with AsyncReflecto(server.url, TOKEN) as client, asyncio.timeout(BOUND_SECONDS):
        asking = asyncio.create_task(client.ask("Deploy?"))
        await asyncio.to_thread(stored.wait, BOUND_SECONDS)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        released.set()
    assert server.latest["status"] == "cancelled"
    assert len(server.prompts) == 1


async def test_a_cancelled_ask_whose_answer_came_first_is_still_cancelled(server: AskerServer):
    server.holds_polls = True
    async with AsyncReflecto(server.url, TOKEN) as client, asyncio.timeout(BOUND_SECONDS):
        asking = asyncio.create_task(client.ask("Deploy?"))
        await asyncio.to_thread(server.wait_until_polled)
        asking.cancel()
        server.answer()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert server.latest["status"] == "answered"


async def test_a_cancelled_wait_leaves_the_question_open(server: AskerServer):
    server.holds_polls = True
    async with AsyncReflecto(server.url, TOKEN) as client, asyncio.timeout(BOUND_SECONDS):
        question = await client.create("Deploy?")
        waiting = asyncio.create_task(client.wait(question))
        await asyncio.to_thread(server.wait_until_polled)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await client.get(question.id)).status == "pending"


async def test_what_is_sent_arrives_as_the_blocking_client_sends_it(connect: Connect, tmp_path):
    server = SendingServer()
    server.start()
    (tmp_path / "report.csv").write_text("day,orders\n")
    try:
        client = connect(server)
        await client.send("Backup done", title="Backup", tags=["nas"], ttl=timedelta(hours=1))
        await client.ring(10)
        await client.send_file(tmp_path / "report.csv")
        await client.send_file(filename="log.txt", content="all well")
        reminder = await client.remind("Stand-up", timedelta(hours=1))
        [waiting] = await client.reminders()
        await client.cancel_reminder(reminder)
        [device] = await client.devices()
        assert await client.reminders() == ()
    finally:
        server.stop()
    assert [path for path, _ in server.accepted] == [
        "/v1/send",
        "/v1/ring",
        "/v1/documents",
        "/v1/documents",
        "/v1/reminders",
    ]
    assert server.accepted[0][1] == {"message": "Backup done", "title": "Backup", "tags": ["nas"], "ttl": 3600.0}
    assert server.accepted[2][1] == {"filename": "report.csv", "content": "day,orders\n"}
    assert (waiting.id, waiting.message, device.label) == (reminder.id, "Stand-up", "Pixel")


@pytest.mark.parametrize("knows_keys", [True, False])
async def test_a_message_whose_reply_is_lost_arrives_once(connect: Connect, *, knows_keys: bool):
    server = SendingServer()
    server.knows_keys = knows_keys
    server.start()
    server.faults["POST"].append(lost_after_handling)
    try:
        with nullcontext() if knows_keys else pytest.raises(reflecto.OutcomeUnknown):
            await connect(server).send("Backup done")
    finally:
        server.stop()
    assert server.accepted == [("/v1/send", {"message": "Backup done"})]
    assert server.reached == [DEVICE]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"content": "x"}, {"path": "a.txt", "content": "x"}],
    ids=["nothing", "no name", "both"],
)
async def test_a_file_is_either_a_path_or_content_with_a_name(server: AskerServer, connect: Connect, arguments):
    with pytest.raises(TypeError):
        await connect(server).send_file(**arguments)


async def test_the_check_is_not_satisfied_by_just_any_web_server(server: AskerServer, connect: Connect):
    await connect(server).check()
    server.faults["GET"].append(replying(Reply(404, b"404 page not found")))
    with pytest.raises(reflecto.ServerError):
        await connect(server).check()


async def test_a_reply_that_does_not_end_is_cut_off(server: AskerServer, connect: Connect):
    server.faults["GET"].append(replying(Reply(200, b" " * 300_000 + b"{}")))
    with pytest.raises(reflecto.BrokenContract):
        await connect(server).ask("Deploy?")


async def test_the_token_is_in_no_repr(server: AskerServer, connect: Connect):
    assert TOKEN not in repr(connect(server))


@pytest.mark.parametrize(
    "url", ["", "reflecto.example", "ftp://reflecto.example", "http://user:secret@reflecto.example"]
)
async def test_a_url_that_cannot_be_used_is_refused_at_once(url: str):
    with pytest.raises(reflecto.InvalidSettings):
        AsyncReflecto(url, TOKEN)
