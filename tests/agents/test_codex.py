"""What Codex's hooks and its notify program ask and tell, in the shape that Codex takes."""

import pytest

from reflecto.agents.codex import read_call
from reflecto.agents.hook_call import NOTHING, Tap
from tests.agents.events import claude_code, codex


def test_a_command_is_asked_with_its_reason_and_folder():
    prompt = read_call(codex("permission_bash")).prompts[0]
    assert prompt.question == "Run a command in ~/shop?"
    assert prompt.given["details"] == [
        {"kind": "code", "label": "Command", "language": "sh", "text": "npm publish"},
        {
            "kind": "fields",
            "fields": [
                {"name": "Why", "value": "The release needs the network"},
                {"name": "Folder", "value": "/home/ada/shop"},
            ],
        },
    ]
    assert prompt.given["source"]["app"] == "Codex"
    assert prompt.given["danger"] == "high"  # it publishes
    assert prompt.choices == ("Allow", "Deny")
    assert prompt.plain is not None
    assert prompt.plain.question == (
        "Codex: Bash\nFolder: /home/ada/shop\ndescription: The release needs the network\ncommand:\n│ npm publish"
    )


def test_a_patch_is_a_diff_and_says_which_agent_wants_it():
    prompt = read_call(codex("permission_patch")).prompts[0]
    assert prompt.question == "Change app/prices.py?"
    diff, rest = prompt.given["details"]
    assert diff == {"kind": "diff", "label": "app/prices.py", "text": "@@ -1,1 +1,1 @@\n-TAX = 19\n+TAX = 20"}
    assert {"name": "Subagent", "value": "worker"} in rest["fields"]


PATCH = """*** Begin Patch
*** Add File: docs/new.md
+# New
+
*** Update File: app/prices.py
*** Move to: app/tax.py
@@ class Prices
 a
-TAX = 19
+TAX = 20

@@
-b
*** End of File
*** Delete File: .env
*** End Patch"""


def test_a_patch_of_several_files_is_a_diff_each():
    prompt = read_call(codex("permission_patch", tool_input={"command": PATCH})).prompts[0]
    assert prompt.question == "Change 3 files in ~/shop?"
    new, old, rest = prompt.given["details"]
    assert (new["label"], new["text"]) == ("docs/new.md", "@@ -0,0 +1,2 @@\n+# New\n+")
    assert old["label"] == "app/prices.py"
    assert old["text"] == "@@ -1,3 +1,3 @@ class Prices\n a\n-TAX = 19\n+TAX = 20\n \n@@ -1,1 +0,0 @@\n-b"
    said = {field["name"]: field["value"] for field in rest["fields"]}
    assert (said["Move app/prices.py"], said["Delete"]) == ("to app/tax.py", ".env")
    assert prompt.given["danger"] == "high"  # of .env


def test_a_patch_that_is_not_understood_is_shown_as_it_is():
    odd = "*** Begin Patch\n*** Rename File: a\n*** End Patch"
    prompt = read_call(codex("permission_patch", tool_input={"command": odd})).prompts[0]
    assert prompt.question == "Use apply_patch?"
    assert prompt.given["details"][0]["text"] == odd


@pytest.mark.parametrize(("tap", "behavior"), [(0, "allow"), (1, "deny")])
def test_the_reply_has_no_field_that_codex_fails_closed_on(tap: int, behavior: str):
    reply = read_call(codex("permission_bash")).decide([Tap(tap)])
    assert set(reply) == {"hookSpecificOutput"}
    assert reply["hookSpecificOutput"]["hookEventName"] == "PermissionRequest"
    decision = reply["hookSpecificOutput"]["decision"]
    assert decision["behavior"] == behavior
    assert set(decision) == {"behavior"} if tap == 0 else {"behavior", "message"}


def test_the_word_that_came_with_a_denial_is_the_agents_reason():
    reply = read_call(codex("permission_bash")).decide([Tap(1, "not today")])
    assert reply["hookSpecificOutput"]["decision"] == {
        "behavior": "deny",
        "message": "The user denied this on the phone and says: not today",
    }


def test_a_rule_is_never_offered_since_codex_takes_none():
    event = codex("permission_patch", permission_suggestions=claude_code("permission_bash")["permission_suggestions"])
    assert read_call(event).prompts[0].choices == ("Allow", "Deny")


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
