"""An agent's settings as text: hooks go in and out, and everything else stays as somebody wrote it."""

import json
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflecto.agents import json_edit
from reflecto.agents.hook_groups import CLAUDE_CODE_EVENTS, CommandHook, HttpHook, claude_code_groups, codex_groups
from reflecto.agents.hook_settings import (
    UnusableSettingsError,
    add_hooks,
    installed_events,
    read_settings,
    remove_hooks,
)

COMMAND = CommandHook("reflecto hook claude-code")
GROUPS = claude_code_groups(COMMAND, ["PermissionRequest", "AskUserQuestion", "Notification"], None)
OTHER = {"matcher": "Bash", "hooks": [{"type": "command", "command": "my-linter"}]}

SETTINGS = """{
    "model": "opus",
    "permissions": {"allow": ["Bash(git status)"],   "deny": []},
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "my-linter"}]}
        ]
    },
    "env": { "A": "\\u00e9 ü" }
}
"""


def test_what_is_added_is_all_that_changes():
    added = add_hooks(SETTINGS, "claude-code", GROUPS)
    expected = json.loads(SETTINGS)
    expected["hooks"]["PreToolUse"].append(GROUPS["PreToolUse"])
    expected["hooks"] |= {name: [GROUPS[name]] for name in GROUPS if name != "PreToolUse"}
    assert json.loads(added) == expected
    for line in SETTINGS.splitlines():
        assert line.rstrip(",") in added
    assert (
        """                        "command": "reflecto hook claude-code --timeout 120",
"""
        in added
    )


def test_removing_it_gives_back_the_file_to_the_byte():
    assert remove_hooks(add_hooks(SETTINGS, "claude-code", GROUPS), "claude-code") == SETTINGS


def test_adding_it_again_changes_nothing():
    added = add_hooks(SETTINGS, "claude-code", GROUPS)
    assert add_hooks(added, "claude-code", GROUPS) == added


def test_adding_it_with_other_options_replaces_it():
    added = add_hooks(SETTINGS, "claude-code", GROUPS)
    others = claude_code_groups(HttpHook("https://reflecto.example"), ["Stop"], None)
    assert add_hooks(added, "claude-code", others) == add_hooks(SETTINGS, "claude-code", others)


def test_the_hook_of_another_agent_stays():
    both = add_hooks(
        add_hooks("", "claude-code", GROUPS), "codex", codex_groups(CommandHook("reflecto hook codex"), ["Stop"], None)
    )
    assert installed_events(both, "codex") == ["Stop"]
    assert remove_hooks(both, "codex") == add_hooks("", "claude-code", GROUPS)


def test_a_hook_that_somebody_put_into_a_group_of_ours_stays():
    settings = json.loads(add_hooks("{}", "claude-code", GROUPS))
    settings["hooks"]["PermissionRequest"][0]["hooks"].insert(0, OTHER["hooks"][0])
    removed = json.loads(remove_hooks(json.dumps(settings, indent=2), "claude-code"))
    assert removed == {"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": OTHER["hooks"]}]}}


@pytest.mark.parametrize(
    "command", ["reflecto", "/opt/my env/bin/reflecto", "'/opt/my env/bin/reflecto'", "python -m reflecto.cli.main"]
)
def test_it_is_recognised_however_it_is_started(command: str):
    added = add_hooks("{}", "claude-code", claude_code_groups(CommandHook(f"{command} hook claude-code"), ["Stop"], 60))
    assert installed_events(added, "claude-code") == ["Stop"]
    assert remove_hooks(added, "claude-code") == "{}"


@pytest.mark.parametrize(
    "command", ["reflector hook", "echo hook claude-code", "reflecto ask", "reflecto hook claude-codex"]
)
def test_nothing_else_is_taken_for_it(command: str):
    settings = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    assert remove_hooks(settings, "claude-code") == settings


def test_every_hook_has_a_timeout_and_questions_end_before_it():
    for hook in (COMMAND, HttpHook("https://reflecto.example")):
        groups = claude_code_groups(hook, CLAUDE_CODE_EVENTS, None)
        asking = {"PermissionRequest", "PreToolUse"}
        assert set(groups) == asking | {"PostToolUse", "PostToolUseFailure", "Notification", "Stop", "SubagentStop"}
        for name, group in groups.items():
            (handler,) = group["hooks"]
            assert handler["timeout"] >= (2 if name.startswith("PostToolUse") else 20)
            start = handler.get("command") or handler["url"]
            asks = name in asking
            assert ("statusMessage" in handler) == asks
            assert asks == (f"timeout {handler['timeout']}" in start.replace("=", " "))


def test_the_terminals_own_prompt_is_not_told_where_the_question_comes_to_the_phone():
    with_question = claude_code_groups(COMMAND, ["PermissionRequest", "Notification"], None)
    assert with_question["Notification"]["hooks"][0]["command"].endswith("--skip permission_prompt")
    alone = claude_code_groups(COMMAND, ["Notification"], None)
    assert "--skip" not in alone["Notification"]["hooks"][0]["command"]


def test_the_http_hook_takes_the_token_from_the_environment():
    (handler,) = claude_code_groups(HttpHook("https://reflecto.example"), ["PermissionRequest"], 90)[
        "PermissionRequest"
    ]["hooks"]
    assert handler == {
        "type": "http",
        "url": "https://reflecto.example/hooks/claude-code?timeout=90",
        "timeout": 90,
        "headers": {"Authorization": "Bearer $REFLECTO_TOKEN"},
        "allowedEnvVars": ["REFLECTO_TOKEN"],
        "statusMessage": "Waiting for a tap on the phone",
    }


BROKEN = {
    "comments": ('{"a": 1, // note\n}', "line 1, "),
    "cut off": ('{\n  "hooks": {', "line 2, "),
    "a list": ("[]", "not a JSON object"),
    "hooks that are none": ('{"hooks": []}', '"hooks" is not an object'),
    "an event that is none": ('{"hooks": {"Stop": {}}}', '"hooks": {"Stop"} is not a list'),
}


@pytest.mark.parametrize(("text", "where"), BROKEN.values(), ids=BROKEN)
def test_settings_that_cannot_be_read_are_refused_with_the_place(text: str, where: str):
    for change in (lambda: add_hooks(text, "claude-code", GROUPS), lambda: remove_hooks(text, "claude-code")):
        with pytest.raises(UnusableSettingsError, match=where.replace("(", r"\(")):
            change()


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LEAF = st.none() | st.booleans() | st.integers() | TEXT
FLAT = LEAF | st.lists(LEAF, max_size=3) | st.dictionaries(TEXT, LEAF, max_size=3)
JSON = FLAT | st.lists(FLAT, max_size=3) | st.dictionaries(TEXT, FLAT, max_size=3)
GROUP_LISTS = st.lists(st.just(OTHER) | JSON, min_size=1)
HOOKS = st.dictionaries(st.sampled_from(["PreToolUse", "PermissionRequest", "Other"]), GROUP_LISTS, min_size=1)


@hypothesis.settings(max_examples=30)
@given(
    st.dictionaries(TEXT, JSON),
    st.none() | HOOKS,
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_else_is_in_the_file_comes_out_as_it_was(
    settings: dict[str, Any], hooks: Any, indent: Any, newline: str
):
    settings.pop("hooks", None)
    if hooks is not None:
        settings["hooks"] = hooks
    text = json.dumps(settings, indent=indent, ensure_ascii=newline == "\n").replace("\n", newline) + newline
    added = add_hooks(text, "claude-code", GROUPS)
    assert remove_hooks(added, "claude-code") == text
    result = json.loads(added)
    for name, group in GROUPS.items():
        assert result["hooks"].pop(name) == [*(hooks or {}).get(name, []), group]
    assert result.pop("hooks") == {name: value for name, value in (hooks or {}).items() if name not in GROUPS}
    assert list(result.items()) == [item for item in settings.items() if item[0] != "hooks"]
    assert (newline == "\r\n") == ("\r\n" in added)
    assert "\n" not in added.replace("\r\n", "") or newline == "\n"


@pytest.mark.parametrize("text", ["", " \n", "{}", "{ }", '{"hooks": {}}', '{"hooks": {"Stop": []}}'])
def test_it_can_be_added_to_almost_nothing(text: str):
    groups = claude_code_groups(COMMAND, ["Stop"], None)
    added = add_hooks(text, "claude-code", groups)
    assert json.loads(added) == {"hooks": {"Stop": [groups["Stop"]]}}
    assert read_settings(remove_hooks(added, "claude-code")) == {}


def test_of_members_with_one_name_the_last_one_counts():
    text = '{"hooks": {"A": []}, "hooks": {"B": []}}'
    assert json_edit.append(text, ("hooks", "B"), 1) == '{"hooks": {"A": []}, "hooks": {"B": [\n  1\n]}}'
    assert json_edit.delete(text, ("hooks",)) == '{"hooks": {"A": []}}'
