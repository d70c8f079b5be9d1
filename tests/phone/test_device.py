"""A running phone against a real server: enrol, answer, lose races, resume, be revoked."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from reflecto.client.results import Answer
from reflecto.client.sync import Reflecto
from reflecto.phone import effects
from reflecto.phone.answering import Rule
from reflecto.phone.connection import Connection
from reflecto.phone.identity import EnrolmentError, enrolled
from reflecto.phone.inbox import Tick
from reflecto.phone.state import Identity, PhoneState
from reflecto.phone.state_file import StateFile
from tests.e2e.phones import HTTP, ask, bearer, make_codes, read
from tests.e2e.server_process import ServerProcess
from tests.phone.handset import Clock, enrol, running


class World:
    """An owner whose first phone is at `path`, and the first token."""

    def __init__(self, folder: Path, server: ServerProcess, stack: contextlib.ExitStack) -> None:
        self.folder, self.server, self._stack = folder, server, stack
        self.path = folder / "phone" / "state.json"
        [self.code] = make_codes(server.data, 1, new_owner=True)
        held = asyncio.run(enrol(self.path, server.url, self.code, "Laptop"))
        assert held is not None
        self.token = held.token

    @property
    def url(self) -> str:
        return self.server.url

    def ask(self, question: str = "Deploy?", **fields: object) -> str:
        reply = ask(self.url, self.token, question, **fields)
        assert reply.status_code == 201, reply.text
        return str(reply.json()["id"])

    def read(self, interaction_id: str) -> dict[str, Any]:
        state: dict[str, Any] = read(self.url, self.token, interaction_id).json()
        return state

    def cancel(self, interaction_id: str) -> int:
        return HTTP.delete(f"{self.url}/v1/interactions/{interaction_id}", headers=bearer(self.token)).status_code

    def restart(self) -> None:
        port = self.server.port
        self.server.stop()
        self.start(port)

    def start(self, port: int) -> None:
        self.server = self._stack.enter_context(ServerProcess(self.server.data, "--port", str(port)))

    async def second_phone(self) -> Path:
        path = self.folder / "second" / "state.json"
        identity = StateFile(self.path).load().identity
        assert identity is not None
        [code] = await asyncio.to_thread(make_codes, self.server.data, 1, owner_id=identity.owner_id)
        assert await enrol(path, self.url, code, "Desk") is None
        return path

    def state(self) -> PhoneState:
        with StateFile(self.path) as store:
            return store.load()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("device") / "data") as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, shared_server: ServerProcess) -> Iterator[World]:
    """An owner on the server that these tests share."""
    with contextlib.ExitStack() as stack:
        yield World(tmp_path, shared_server, stack)


@pytest.fixture
def lone_world(tmp_path: Path) -> Iterator[World]:
    """An owner on a server that the test may stop."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(ServerProcess(tmp_path / "data"))
        yield World(tmp_path, server, stack)


def within(play: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(50):
            await play()

    asyncio.run(bounded())


def test_a_tap_is_signed_with_the_phone_s_own_key_and_reaches_the_asker(world: World):
    async def play() -> None:
        async with running(world.path) as handset:
            with Reflecto(world.url, world.token) as reflecto:
                asked = reflecto.create("Deploy to production?", ["Ship", "Hold", "Ask me later"])
                opened = await handset.wait_for(effects.Opened)
                assert (opened.id, opened.source, opened.question) == (asked.id, "Default", "Deploy to production?")
                assert opened.choices == ("Ship", "Hold", "Ask me later")

                handset.phone.tap(opened.id, 1)

                assert (await handset.wait_for(effects.Ended)).outcome == "sent"
                answer: Answer = await asyncio.to_thread(reflecto.wait, asked, 20)
            assert (answer.choice, answer.index) == ("Hold", 1)
            assert answer.answered_by is not None
            assert answer.answered_by.device_id == handset.phone.identity.device_id
            assert answer.receipt is not None
            answer.receipt.verify(enrolled(handset.phone.identity, founded=True).signing_key)

    within(play)


def test_the_first_token_is_shown_once_over_all_runs(world: World):
    async def play() -> None:
        async with running(world.path) as silent:
            await silent.wait_for(effects.Connected)
            world.ask("First?")
            await silent.wait_for(effects.Opened)  # behind the token's own entry in the queue
            assert silent.all(effects.TokenShown) == []
        async with running(world.path, may_show_tokens=True) as shown:
            assert (await shown.wait_for(effects.TokenShown)).token == world.token
            world.ask("Second?")
            await shown.wait_for(effects.Opened, 2)
            assert len(shown.all(effects.TokenShown)) == 1
        async with running(world.path, may_show_tokens=True) as again:
            await again.wait_for(effects.Connected)
            assert again.all(effects.TokenShown) == []

    within(play)
    assert world.token not in world.path.read_text("utf-8")


@pytest.mark.parametrize(
    ("rule", "choices", "outcome", "choice"),
    [
        (Rule(None), ["Go", "Stop"], "sent", "Go"),
        (Rule("Stop"), ["Go", "Stop"], "sent", "Stop"),
        (Rule("Cafe\u0301"), ["Tea", "Café "], "sent", "Café "),
    ],
)
def test_a_rule_answers_by_itself(world: World, rule: Rule, choices: list[str], outcome: str, choice: str):
    async def play() -> None:
        async with running(world.path, rule=rule) as handset:
            interaction_id = world.ask("Which?", choices=choices)
            ended = await handset.wait_for(effects.Ended)
            assert (ended.outcome, ended.choice) == (outcome, choice)
            assert world.read(interaction_id)["choice"] == choice

    within(play)


def test_a_question_without_the_label_is_left_open_and_that_is_told(world: World):
    async def play() -> None:
        async with running(world.path, rule=Rule("Approve")) as handset:
            interaction_id = world.ask("Which?", choices=["Go", "Stop"])
            assert (await handset.wait_for(effects.LeftOpen)).wanted == "Approve"
            assert world.read(interaction_id)["status"] == "pending"

    within(play)


def test_of_two_phones_that_race_one_wins_and_the_other_says_who_did(world: World):
    async def play() -> None:
        second = await world.second_phone()
        async with running(world.path) as laptop, running(second) as desk:
            interaction_id = world.ask()
            await laptop.wait_for(effects.Opened)
            await desk.wait_for(effects.Opened)

            laptop.phone.tap(interaction_id, 0)
            desk.phone.tap(interaction_id, 1)

            endings = [await handset.wait_for(effects.Ended) for handset in (laptop, desk)]
            assert sorted(ended.outcome for ended in endings) == ["answered_elsewhere", "sent"]
            winner, loser = sorted(endings, key=lambda ended: ended.outcome != "sent")
            state = world.read(interaction_id)
            assert (loser.choice, loser.by, loser.too_late) == (winner.choice, state["answered_by"]["label"], True)
            assert state["choice"] == winner.choice
            assert [len(handset.all(effects.Ended)) for handset in (laptop, desk)] == [1, 1]

    within(play)


def test_the_other_phone_s_prompt_goes_when_one_has_answered(world: World):
    async def play() -> None:
        second = await world.second_phone()
        async with running(world.path) as laptop, running(second) as desk:
            interaction_id = world.ask()
            await laptop.wait_for(effects.Opened)
            await desk.wait_for(effects.Opened)

            desk.phone.tap(interaction_id, 1)

            ended = await laptop.wait_for(effects.Ended)
            assert (ended.outcome, ended.choice, ended.by) == ("answered_elsewhere", "Deny", "Desk")
            assert not ended.too_late
            assert laptop.phone.state.questions == ()

    within(play)


def test_a_withdrawn_question_goes(world: World):
    async def play() -> None:
        async with running(world.path) as handset:
            interaction_id = world.ask()
            await handset.wait_for(effects.Opened)

            assert world.cancel(interaction_id) == 200

            assert (await handset.wait_for(effects.Ended)).outcome == "withdrawn"

    within(play)


def test_a_server_restart_loses_nothing_and_repeats_nothing(lone_world: World):
    async def play() -> None:
        async with running(lone_world.path) as handset:
            first = lone_world.ask("Before?")
            await handset.wait_for(effects.Opened)

            lone_world.restart()

            await handset.wait_for(effects.Connected, 2)
            second = lone_world.ask("After?")
            await handset.wait_for(effects.Opened, 2)
            handset.phone.tap(first, 0)
            handset.phone.tap(second, 1)
            await handset.wait_for(effects.Ended, 2, outcome="sent")
            assert [opened.id for opened in handset.all(effects.Opened)] == [first, second]
            assert [lone_world.read(asked)["choice"] for asked in (first, second)] == ["Approve", "Deny"]
            assert len(handset.all(effects.Disconnected)) == 1

    within(play)


def test_a_tap_while_the_server_is_down_is_sent_when_it_is_back(lone_world: World):
    async def play() -> None:
        async with running(lone_world.path) as handset:
            interaction_id = lone_world.ask()
            await handset.wait_for(effects.Opened)
            port = lone_world.server.port
            lone_world.server.kill()
            await handset.wait_for(effects.Disconnected)

            handset.phone.tap(interaction_id, 1)

            await handset.wait_for(effects.Sending)
            assert handset.all(effects.Ended) == []
            lone_world.start(port)
            assert (await handset.wait_for(effects.Ended)).outcome == "sent"
            assert lone_world.read(interaction_id)["choice"] == "Deny"

    within(play)


def test_an_answer_that_was_stored_but_not_sent_goes_out_in_the_next_run(lone_world: World):
    async def play() -> None:
        async with running(lone_world.path) as handset:
            interaction_id = lone_world.ask()
            await handset.wait_for(effects.Opened)
            port = lone_world.server.port
            lone_world.server.kill()
            handset.phone.tap(interaction_id, 0)
        lone_world.start(port)
        async with running(lone_world.path) as again:
            assert (await again.wait_for(effects.Sending)).choice == "Approve"
            assert (await again.wait_for(effects.Ended)).outcome == "sent"
            assert lone_world.read(interaction_id)["choice"] == "Approve"

    within(play)


def test_an_open_question_is_told_again_in_the_next_run_and_what_came_meanwhile_is_new(world: World):
    async def play() -> None:
        async with running(world.path) as handset:
            first = world.ask("Before?")
            await handset.wait_for(effects.Opened)
        second = world.ask("Meanwhile?")
        async with running(world.path) as again:
            await again.wait_for(effects.Opened, 2)
            assert [(opened.id, opened.resumed) for opened in again.all(effects.Opened)] == [
                (first, True),
                (second, False),
            ]

    within(play)


def test_an_answer_whose_reply_was_lost_counts_as_sent_when_it_is_repeated(world: World):
    async def play() -> None:
        async with running(world.path) as handset:
            interaction_id = world.ask()
            await handset.wait_for(effects.Opened)
        before = world.path.read_bytes()
        async with running(world.path) as handset:
            handset.phone.tap(interaction_id, 0)
            await handset.wait_for(effects.Ended)
        world.path.write_bytes(before)  # as if it had crashed right after the request
        async with running(world.path) as again:
            await again.wait_for(effects.Opened)
            again.phone.tap(interaction_id, 0)
            assert (await again.wait_for(effects.Ended)).outcome == "sent"

    within(play)


def test_an_answer_to_a_withdrawn_question_is_honestly_too_late(lone_world: World):
    async def play() -> None:
        async with running(lone_world.path) as handset:
            interaction_id = lone_world.ask()
            await handset.wait_for(effects.Opened)
            port = lone_world.server.port
            lone_world.server.kill()
            handset.phone.tap(interaction_id, 0)
            await handset.wait_for(effects.Sending)
        lone_world.start(port)
        assert lone_world.cancel(interaction_id) == 200
        async with running(lone_world.path) as again:
            ended = await again.wait_for(effects.Ended)
            assert (ended.outcome, ended.too_late) == ("withdrawn", True)

    within(play)


def test_a_question_ends_by_the_server_s_clock_although_this_one_is_wrong(world: World):
    async def play() -> None:
        clock = Clock(now=5_000.0)  # half a century behind
        async with running(world.path, clock=clock) as handset:
            await handset.wait_for(effects.Connected)
            world.ask(expires_in=60)
            await handset.wait_for(effects.Opened)

            clock.now += 50
            handset.phone.apply(Tick())
            assert handset.all(effects.Ended) == []

            clock.now += 15
            assert (await handset.wait_for(effects.Ended)).outcome == "expired"
            assert handset.phone.state.questions == ()

    within(play)


def test_once_ends_after_the_first_question_has_ended(world: World):
    async def play() -> None:
        async with running(world.path, once=True, rule=Rule(None)) as handset:
            await handset.wait_for(effects.Connected)
            interaction_id = world.ask()
            assert await handset.ending() == "once"
            assert [ended.id for ended in handset.all(effects.Ended)] == [interaction_id]

    within(play)


def test_a_revoked_phone_ends_at_once_and_may_be_enrolled_anew(world: World):
    async def play() -> None:
        async with running(world.path) as handset:
            await handset.wait_for(effects.Connected)
            identity = handset.phone.identity
            gone = HTTP.delete(f"{world.url}/v1/devices/self", headers=bearer(identity.device_token))
            assert gone.status_code == 204
            assert await handset.ending() == "revoked"
            assert handset.all(effects.Revoked) == [effects.Revoked(url=world.url)]

    within(play)
    assert world.state().revoked


def test_a_code_works_once(world: World):
    with pytest.raises(EnrolmentError, match="wrong, used or older than 10 minutes"):
        asyncio.run(enrol(world.folder / "thief.json", world.url, world.code))


def test_what_is_stored_here_is_gone_from_the_server_s_queue(world: World):
    async def first_entry(after: Identity) -> int:
        async with httpx.AsyncClient(trust_env=False) as http, Connection(http, after).open_stream(0) as stream:
            async for entry in stream.entries:
                return entry.seq
        raise AssertionError("the stream ended")

    async def play() -> None:
        async with running(world.path) as handset:
            world.ask("First?")
            await handset.wait_for(effects.Opened)
        stored = world.state()
        assert stored.identity is not None
        world.ask("Second?")
        assert await first_entry(stored.identity) > stored.cursor > 0

    within(play)
