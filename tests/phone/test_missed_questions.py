"""A terminal phone that was away, and a real server: what it missed is said, and nothing of it waits for a tap."""

import io
from pathlib import Path

from reflecto.phone import effects
from reflecto.phone.console import Console
from reflecto.terminal.live_line import LiveLine
from tests.actors import Program
from tests.fakes import FakeClock
from tests.phone.handset import Clock, Handset, enrol, running
from tests.running import RunningServer, run_server

TEXTS = ["Deploy?", "Delete the old one?", "Tell the team?"]


async def shown_after_a_night(server: RunningServer, clock: FakeClock, path: Path) -> tuple[Handset, Program]:
    """Let three questions expire while the phone is not there; return what it then tells, up to a last message."""
    held = await enrol(path, f"http://127.0.0.1:{server.port}", await server.invite())
    assert held is not None
    sender = Program(server.http, held.token, held.id)
    for text in TEXTS:
        await sender.ask(text, expires_in=60)
    answered = await sender.ask_id("Answered meanwhile?", expires_in=60)
    await sender.cancel(answered)
    clock.advance(60)
    await server.services.interactions.settle_expired()
    clock.advance(8 * 3_600)
    await sender.send("Good morning")
    async with running(path) as handset:
        await handset.wait_for(effects.Notified)
    return handset, sender


async def test_three_questions_were_missed_while_away(tmp_path: Path):
    clock = FakeClock()
    async with run_server(tmp_path, clock) as server:
        handset, _ = await shown_after_a_night(server, clock, tmp_path / "phone" / "state.json")
    assert [each.question for each in handset.all(effects.Missed)] == TEXTS
    assert handset.all(effects.Opened) == []
    assert handset.all(effects.Ended) == []
    paper, seconds = io.StringIO(), Clock()
    console = Console(LiveLine(paper), takes_keys=False, monotonic=seconds)
    for effect in handset.told:
        console.show(effect)
    seconds.now += 1
    console.refresh(handset.phone.state, clock.now())
    assert "3 questions were missed while away." in paper.getvalue()


async def test_they_are_told_once_however_often_the_phone_comes_back(tmp_path: Path):
    clock, path = FakeClock(), tmp_path / "phone" / "state.json"
    async with run_server(tmp_path, clock) as server:
        _, sender = await shown_after_a_night(server, clock, path)
        await sender.send("Good evening")
        async with running(path) as handset:
            await handset.wait_for(effects.Notified, message="Good evening")
    assert handset.all(effects.Missed) == []
