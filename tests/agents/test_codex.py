"""What Codex's hooks and its notify program ask and tell, in the shape that Codex takes."""

import pytest

from reflecto.agents.codex import read_call
from reflecto.agents.hook_call import NOTHING
from tests.agents.events import codex


def test_a_command_is_asked_with_its_reason_and_folder():
    call = read_call(codex("permission_bash"))
    assert call.prompts[0].question == (
        "Codex: Bash\nFolder: /home/ada/shop\ndescription: The release needs the network\ncommand:\n│ npm publish"
    )
    assert call.prompts[0].choices == ("Allow", "Deny")


def test_a_patch_is_shown_and_says_which_agent_wants_it():
    question = read_call(codex("permission_patch")).prompts[0].question
    assert question.startswith("Codex (worker): apply_patch\nFolder: /home/ada/shop\ncommand:\n│ *** Begin Patch\n")


@pytest.mark.parametrize(("tap", "behavior"), [(0, "allow"), (1, "deny")])
def test_the_reply_has_no_field_that_codex_fails_closed_on(tap: int, behavior: str):
    reply = read_call(codex("permission_bash")).decide([tap])
    assert set(reply) == {"hookSpecificOutput"}
    assert reply["hookSpecificOutput"]["hookEventName"] == "PermissionRequest"
    decision = reply["hookSpecificOutput"]["decision"]
    assert decision["behavior"] == behavior
    assert set(decision) == {"behavior"} if tap == 0 else {"behavior", "message"}


def test_a_turn_that_ends_is_another_calls_key():
    first = read_call(codex("permission_bash")).prompts[0].key
    assert read_call(codex("permission_bash", turn_id="another")).prompts[0].key != first


@pytest.mark.parametrize("name", ["notify", "stop"])
def test_the_end_of_a_turn_is_told_with_its_last_words(name: str):
    notice = read_call(codex(name)).notice
    assert notice is not None
    assert (notice.title, notice.message) == ("Codex: done · shop", "Published 2.1.0.")


def test_the_turn_that_makes_up_a_title_is_not_told():
    assert read_call(codex("notify_title")) == NOTHING
    asked = {"input-messages": ["Generate a title for the page\n\nUser prompt:\nis what it shows"]}
    assert read_call(codex("notify", **asked)).notice is None
    for messages in (
        ["Generate a title for the page"],
        ["Generate a title ", "User prompt:\n"],
        "Generate a ",
        [1],
        None,
    ):
        assert read_call(codex("notify", **{"input-messages": messages})).notice is not None


@pytest.mark.parametrize("event", [{}, {"type": "something-new"}, {"hook_event_name": "PreToolUse"}])
def test_what_it_does_not_know_gets_no_decision(event: dict[str, str]):
    assert read_call(event) == NOTHING
