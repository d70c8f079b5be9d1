"""A question's life, by the vectors that every phone runs: the terminal's goes through them on a real connection."""

import asyncio
import json
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import pytest

from reflecto.contract.envelopes import Envelope
from reflecto.phone import effects
from reflecto.phone.connection import Connection, NoReplyError
from reflecto.phone.inbox import Arrived, Event, Tapped, Tick, advance
from reflecto.phone.lifecycle import Verdict, WrongNumber
from reflecto.phone.state import Answer, PhoneState
from tests.phone.builders import identity

VECTORS: Final = json.loads((Path(__file__).parents[1] / "vectors" / "lifecycle.json").read_text("utf-8"))
QUESTION: Final = msgspec.convert(VECTORS["question"], Envelope)


class Life:
    """One phone that a case happens to, and what it told of its question."""

    def __init__(self) -> None:
        self.state = PhoneState(identity=identity(device_id=VECTORS["device_id"]))
        self.told: list[effects.Effect] = []

    def happen(self, step: dict[str, Any], seq: int) -> None:
        now = float(VECTORS["start"] + step["at"])
        self.apply(Tick(), now)
        if step.get("arrive") == "question":
            self.apply(Arrived(seq, QUESTION.payload["expires_at"], QUESTION), now)
        elif step.get("arrive") == "closed":
            names = ("status", "choice_index", "answered_by", "answered_by_id")
            envelope = Envelope("interaction.closed", QUESTION.id, int(now), {}, {name: step[name] for name in names})
            self.apply(Arrived(seq, int(now) + 600, envelope), now)
        elif "tap" in step:
            self.apply(Tapped(QUESTION.id, Answer(step["tap"], int(now), "c2lnbmVk")), now)
        elif "reply" in step and (waiting := self.state.unsent()) and waiting.answer:
            verdict = asyncio.run(sent(waiting.answer, step["reply"]))
            if verdict:
                self.apply(verdict, now)

    def apply(self, event: Event, now: float) -> None:
        step = advance(self.state, event, now)
        self.state = step.state
        self.told += step.effects


async def sent(answer: Answer, reply: dict[str, Any]) -> Verdict | WrongNumber | None:
    """Return the word in the reply to the answer, None where it is none."""
    body = reply["body"]
    given = {"text": body} if isinstance(body, str) else {"json": body}
    transport = httpx.MockTransport(lambda _: httpx.Response(reply["status"], **given))
    async with httpx.AsyncClient(transport=transport) as http:
        try:
            return await Connection(http, identity()).send_answer(QUESTION.id, answer)
        except NoReplyError:
            return None


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in VECTORS["cases"]])
def test_a_question_s_life_is_the_same_on_every_phone(case: dict[str, Any]):
    life = Life()
    for seq, step in enumerate(case["steps"], 1):
        life.happen(step, seq)

    story = [each for each in life.told if isinstance(each, effects.Opened | effects.Sending | effects.Ended)]
    last = story[-1] if story else None
    unended = "open" if isinstance(last, effects.Opened) else "sending"
    outcome = last.outcome if isinstance(last, effects.Ended) else unended
    assert case["expect"] == {
        "outcome": outcome if last else None,
        "choice_index": getattr(last, "choice_index", None),
        "by": getattr(last, "by", None),
        "too_late": getattr(last, "too_late", False),
        "waiting": len(life.state.open_questions()),
        "prompts": sum(isinstance(each, effects.Opened) for each in story),
    }
