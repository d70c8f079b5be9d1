"""POST /hooks/claude-code on a phone that knows details: what it shows, and what its taps and words become."""

import json
from typing import Any

import pytest

from reflecto.crypto.answers import question_digest
from tests.actors import DeviceActor, Program, enroll
from tests.agents.events import claude_code, with_input
from tests.api.test_claude_code_hook import ALLOW, ENDS, calling, the_question
from tests.fakes import FakeClock
from tests.running import RunningServer

COMMENT = {"text": "use staging", "salt": "AAECAwQFBgcICQoLDA0ODw"}
SIGNED = ("details", "source", "danger", "confirm", "comment")


@pytest.fixture
async def phone(server: RunningServer) -> DeviceActor:
    """A phone that shows all of a question and signs over it."""
    return await enroll(server, features=["answer_v2"])


async def tap(phone: DeviceActor, question: dict[str, Any], index: int, **fields: Any) -> None:
    given = {name: question[name] for name in SIGNED if name in question}
    digest = question_digest(question["question"], question["choices"], **given)
    answered = await phone.answer_v2(question["id"], digest, index, **fields)
    assert answered.status_code == 200, answered.text


async def test_the_phone_shows_the_command_with_its_folder_and_who_asks(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("permission_bash")) as (hook,):
        question = await the_question(server, phone)
        assert question["question"] == "Run a command in ~/shop?"
        assert question["details"][0] == {
            "kind": "code",
            "label": "Command",
            "language": "sh",
            "text": "git push origin release",
        }
        assert question["source"] == {
            "app": "Claude Code",
            "where": "~/shop",
            "session": "7c9e6b1a-58c2-4d0e-9a35-1f0b7d1c2e44",
        }
        assert question["expires_at"] == ENDS
        await tap(phone, question, 0)
        assert (await hook.reply()).json() == ALLOW


async def test_a_word_with_the_denial_is_the_agents_reason(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    async with calling(clock, sender, claude_code("permission_bash")) as (hook,):
        await tap(phone, await the_question(server, phone), 1, comment=COMMENT)
        decision = (await hook.reply()).json()["hookSpecificOutput"]["decision"]
    assert decision == {"behavior": "deny", "message": "The user denied this on the phone and says: use staging"}


async def test_the_rule_that_the_agent_proposed_goes_back_to_it(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    event = claude_code("permission_bash")
    async with calling(clock, sender, event) as (hook,):
        await tap(phone, await the_question(server, phone), 2)
        decision = (await hook.reply()).json()["hookSpecificOutput"]["decision"]
    assert decision == {"behavior": "allow", "updatedPermissions": event["permission_suggestions"]}


@pytest.mark.parametrize(
    ("query", "danger", "confirm"),
    [
        ("", "high", None),
        ("?confirm=hold", "high", "hold"),
        ("?danger=never&confirm=hold", None, None),
        ("?confirm=number", "high", None),
        ("?danger=sometimes", "high", None),
    ],
)
async def test_what_is_dangerous_is_marked_as_the_hooks_url_says(
    server: RunningServer,
    phone: DeviceActor,
    sender: Program,
    clock: FakeClock,
    query: str,
    danger: str | None,
    confirm: str | None,
):
    event = with_input(claude_code("permission_bash"), command="git push --force")
    async with calling(clock, sender, event, query=query):
        question = await the_question(server, phone)
        assert (question.get("danger"), question.get("confirm")) == (danger, confirm)


async def test_46_kib_come_whole(server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock):
    content = "".join(f"the price of the book is {number}\n" for number in range(1540))
    event = claude_code("permission_write", tool_input={"file_path": "/home/ada/shop/a.txt", "content": content})
    async with calling(clock, sender, event) as (hook,):
        question = await the_question(server, phone)
        assert question["choices"] == ["Allow", "Deny"]
        assert question["details"][0]["text"].count("\n+") == 1540
        assert len(json.dumps(question["details"])) > 46 * 1024
        await tap(phone, question, 0)
        assert (await hook.reply()).json() == ALLOW


async def test_a_note_goes_with_the_answer_to_the_agents_own_question(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    event = claude_code("pre_tool_use_ask_user_question")
    event = with_input(event, questions=event["tool_input"]["questions"][:1])
    async with calling(clock, sender, event) as (hook,):
        question = await the_question(server, phone)
        assert question["question"] == "Where should this be deployed?"
        await tap(phone, question, 0, comment=COMMENT)
        updated = (await hook.reply()).json()["hookSpecificOutput"]["updatedInput"]
    assert updated["answers"] == {"Where should this be deployed?": "Staging"}
    assert updated["annotations"] == {"Where should this be deployed?": {"notes": "use staging"}}


async def test_a_phone_that_knows_no_details_gets_one_text(server: RunningServer, clock: FakeClock):
    old = await enroll(server, features=[])
    async with calling(clock, old.default_program(), claude_code("permission_bash")) as (hook,):
        question = await the_question(server, old)
        assert question["question"].startswith("Claude Code: Bash\nFolder: /home/ada/shop\n")
        assert "details" not in question
        await old.answer(question["id"], 0)
        assert (await hook.reply()).json() == ALLOW
