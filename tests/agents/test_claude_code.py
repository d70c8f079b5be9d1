"""What Claude Code's events ask on the phone, and what a tap tells it."""

import json
import re
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflecto.agents.claude_code import read_call
from reflecto.agents.hook_call import NOTHING, HookCall, UnusableEventError, key_after, parse_event
from tests.agents.events import claude_code, with_input


def question_of(call: HookCall) -> str:
    assert len(call.prompts) == 1
    return call.prompts[0].question


def test_a_command_is_asked_with_everything_that_it_would_run_with():
    call = read_call(claude_code("permission_bash"))
    assert question_of(call) == (
        "Claude Code: Bash\n"
        "Folder: /home/ada/shop\n"
        "description: Push the release branch\n"
        "timeout: 60000\n"
        "command:\n"
        "│ git push origin release"
    )
    assert call.prompts[0].choices == ("Allow", "Deny")


def test_the_first_choice_allows_and_the_second_denies_with_a_message():
    call = read_call(claude_code("permission_bash"))
    assert call.decide([0]) == {
        "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    }
    assert call.decide([1]) == {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {
                "behavior": "deny",
                "message": "The user denied this on the phone. Do not try it another way; ask what to do instead.",
            },
        }
    }


def test_an_edit_shows_the_file_and_both_versions():
    assert question_of(read_call(claude_code("permission_edit"))) == (
        "Claude Code: Edit\n"
        "Folder: /home/ada/shop\n"
        "file_path: /home/ada/shop/app/prices.py\n"
        "replace_all: false\n"
        "old_string:\n"
        "│ TAX = 19\n│ SHIPPING = 5\n"
        "new_string:\n"
        "│ TAX = 20\n│ SHIPPING = 5"
    )


def test_a_tool_nobody_knows_shows_its_whole_input():
    assert question_of(read_call(claude_code("permission_mcp"))) == (
        "Claude Code: mcp__tracker__close_issue\n"
        "Folder: /home/ada/shop\n"
        "issue: 482\n"
        'labels: ["done", "release"]\n'
        "comment: null"
    )


def test_what_does_not_fit_is_cut_out_of_the_middle_and_nobody_allows_it_unawares():
    event = claude_code("permission_write")
    call = read_call(event)
    question = question_of(call)
    compact = json.dumps(event["tool_input"], sort_keys=True, separators=(",", ":"))
    digest = sha256(compact.encode()).hexdigest()[:16]
    cut = re.fullmatch(
        r"NOT WHOLE: ([\d,]+) of 3,079 characters are left out\.\n"
        r"Claude Code \(Explore\): Write\nFolder: /home/ada/shop\n"
        r"(file_path: /home/ada/shop/data\.sql\ncontent:\n│ INSERT INTO price VALUES[ ]\(0, 0\);\n.*)\n"
        rf"\[… ([\d,]+) more characters, sha256 {digest} …\]\n"
        r"(.*DROP TABLE price;\n. )",
        question,
        re.DOTALL,
    )
    assert cut is not None, question
    missing, front, again, back = cut.groups()
    assert missing == again
    assert len(front) + int(missing.replace(",", "")) + len(back) == 3079 + 2  # the bar before the line that was cut
    assert 850 < len(question) <= 1000
    assert call.prompts[0].choices == ("Allow, unseen parts too", "Deny")


def written_out(char: str) -> str:
    return f"\u2039U+{ord(char):04X}\u203a"


HIDDEN = {
    "right-to-left override": "\u202e",
    "zero width space": "\u200b",
    "no-break space": "\xa0",
    "carriage return": "\r",
    "escape": "\x1b",
    "half of a surrogate pair": "\ud83d",
}


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_hidden_characters_are_written_out(hidden: str):
    event = with_input(claude_code("permission_bash"), command=f"git{hidden}push")
    assert question_of(read_call(event)).endswith(f"command:\n│ git{written_out(hidden)}push")


def test_no_value_can_pass_for_a_field_or_a_folder_of_its_own():
    value = "x\nFolder: /safe\ncommand:\nls\n[… 3 more characters, sha256 0 …]\nNOT WHOLE"
    for name in ("description", "command", "anything"):
        lines = question_of(read_call(with_input(claude_code("permission_bash"), **{name: value}))).split("\n")
        assert [line for line in lines if not line.startswith("│ ")][:2] == [
            "Claude Code: Bash",
            "Folder: /home/ada/shop",
        ]
        assert sum(line in value.split("\n") for line in lines if line != "command:") == 0
    long = with_input(claude_code("permission_bash"), command=value * 40)
    question = question_of(read_call(long))
    assert all(
        line.startswith("│ ") for line in question.partition("command:\n")[2].split("\n") if "sha256" not in line
    )


def test_what_a_call_that_is_over_ends_is_the_call_that_was_asked_about():
    asked = read_call(claude_code("permission_touch"))
    for name in ("post_tool_use_touch", "post_tool_use_failure_touch"):
        assert read_call(claude_code(name)).ends == asked.call_id
        assert read_call(claude_code(name, prompt_id="another")).ends != asked.call_id
        assert read_call(claude_code(name, tool_input={"command": "touch two.txt"})).ends != asked.call_id


def test_one_line_cannot_pass_for_several():
    event = with_input(claude_code("permission_bash", cwd="/a\ncommand:\nls"), **{"a\nb": 1})
    feed = written_out("\n")
    assert f"Folder: /a{feed}command:{feed}ls\n" in question_of(read_call(event))
    assert f"a{feed}b: 1\n" in question_of(read_call(event))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@settings(max_examples=50)
@given(
    st.dictionaries(st.text(st.characters(exclude_categories=[])), VALUES | st.text(min_size=200)),
    st.text(),
    st.text(min_size=1),
)
def test_any_input_makes_a_question_that_is_whole_or_says_that_it_is_not(
    tool_input: dict[str, Any], folder: str, tool: str
):
    event = claude_code("permission_bash", tool_input=tool_input, cwd=folder, tool_name=tool)
    prompt = read_call(event).prompts[0]
    assert prompt.question.strip()
    assert len(prompt.question) <= 1000
    assert not {"\r", "\x1b", "\u202e", "\u200b", "\xa0"} & set(prompt.question)
    prompt.question.encode()
    is_whole = not prompt.question.startswith("NOT WHOLE: ")
    assert prompt.choices[0] == ("Allow" if is_whole else "Allow, unseen parts too")
    if is_whole:
        assert all(
            value in prompt.question for value in tool_input.values() if isinstance(value, str) and value.isalnum()
        )


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=20), VALUES) | VALUES)
def test_no_event_at_all_breaks_it(event: Any):
    try:
        call = read_call(parse_event(json.dumps(event)))
    except UnusableEventError:
        assert not isinstance(event, dict)
    else:
        assert call == NOTHING


FIELDS = [
    "hook_event_name",
    "tool_name",
    "tool_input",
    "session_id",
    "cwd",
    "notification_type",
    "message",
    "agent_type",
]
EVENTS = ["PermissionRequest", "PreToolUse", "Notification", "Stop", "SubagentStop"]


@settings(max_examples=50)
@given(st.sampled_from(EVENTS), st.dictionaries(st.sampled_from(FIELDS[1:]), VALUES))
def test_fields_of_unexpected_types_break_nothing(name: str, fields: dict[str, Any]):
    read_call({"hook_event_name": name, **fields})
    read_call({"hook_event_name": name, "tool_name": "AskUserQuestion", "tool_input": {"questions": [fields]}})
    asked = {"question": "Which?", "options": [fields, fields]}
    read_call({"hook_event_name": name, "tool_name": "AskUserQuestion", "tool_input": {"questions": [asked]}})


def test_the_agents_own_questions_are_asked_with_their_options():
    call = read_call(claude_code("pre_tool_use_ask_user_question"))
    target, database = call.prompts
    assert target.question == (
        "Claude Code asks: Target\n"
        "Folder: /home/ada/shop\n"
        "\n"
        "Where should this be deployed?\n"
        "- Staging: The copy that testers use\n"
        "- Production: What customers see"
    )
    assert target.choices == ("Staging", "Production", "Answer in the terminal")
    assert target.handover == 2
    assert database.choices == ("Keep it", "Migrate", "Start empty", "Restore")
    assert database.handover is None


def test_the_taps_on_them_are_its_answers_and_the_rest_of_its_input_stays():
    event = claude_code("pre_tool_use_ask_user_question")
    assert read_call(event).decide([1, 3]) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "Answered on the phone",
            "updatedInput": {
                "questions": event["tool_input"]["questions"],
                "metadata": {"source": "remember"},
                "answers": {"Where should this be deployed?": "Production", "Which database?": "Restore"},
            },
        }
    }


def test_a_label_goes_back_to_the_letter_however_it_was_shown():
    zero_width = "\u200b"
    option = {"label": f" Stag{zero_width}ing ", "description": ""}
    asked = [{"question": "Where?", "options": [option, {"label": "Production"}]}]
    call = read_call(claude_code("pre_tool_use_ask_user_question", tool_input={"questions": asked}))
    assert call.prompts[0].choices[0] == f"Stag{written_out(zero_width)}ing"
    assert call.decide([0])["hookSpecificOutput"]["updatedInput"]["answers"] == {"Where?": option["label"]}


def options(*labels: str) -> list[dict[str, str]]:
    return [{"label": label, "description": ""} for label in labels]


UNASKABLE: dict[str, dict[str, Any]] = {
    "several answers": {"multiSelect": True},
    "one option": {"options": options("Yes")},
    "five options": {"options": options(*"abcde")},
    "equal labels": {"options": options("Yes", " Yes ")},
    "labels that look alike": {"options": options("Yes, please", "Yes,  please")},
    "blank label": {"options": options("Yes", " ")},
    "label too long": {"options": options("Yes", "n" * 101)},
    "free text": {"options": []},
    "no options": {"options": None},
    "a preview to look at": {"options": [{"label": "A", "preview": "┌─┐"}, {"label": "B"}]},
    "too much to show": {"question": "Which?" * 200},
    "no question": {"question": " "},
    "the same question again": {"question": "Which database?"},
}


@pytest.mark.parametrize("fields", UNASKABLE.values(), ids=UNASKABLE)
def test_questions_that_the_phone_cannot_take_are_left_to_the_terminal_all_of_them(fields: dict[str, Any]):
    event = claude_code("pre_tool_use_ask_user_question")
    asked = event["tool_input"]["questions"]
    assert read_call(with_input(event, questions=[asked[0] | fields, asked[1]])) == NOTHING
    assert read_call(with_input(event, questions=asked)) != NOTHING


@pytest.mark.parametrize("name", ["permission_ask_user_question", "pre_tool_use_bash", "session_start"])
def test_what_is_not_this_hooks_to_decide_gets_no_decision(name: str):
    assert read_call(claude_code(name)) == NOTHING


def test_a_notification_is_passed_on_with_the_folders_name():
    notice = read_call(claude_code("notification_permission")).notice
    assert notice is not None
    assert notice.title == "Claude Code: Permission needed · shop"
    assert notice.message == "Claude needs your permission to use Bash"


def test_a_kind_of_notification_can_be_skipped():
    skipped = frozenset({"permission_prompt"})
    assert read_call(claude_code("notification_permission"), skipped) == NOTHING
    assert read_call(claude_code("notification_idle"), skipped) != NOTHING
    assert read_call(claude_code("notification_idle", notification_type=None), skipped) != NOTHING


@pytest.mark.parametrize(
    ("name", "title", "message"),
    [
        ("stop", "Claude Code: done · shop", "All 212 tests pass.\nThe release branch is pushed."),
        ("subagent_stop", "Claude Code: Explore is done · shop", "Found three callers."),
    ],
)
def test_the_end_of_a_turn_is_told_with_its_last_words(name: str, title: str, message: str):
    notice = read_call(claude_code(name)).notice
    assert notice is not None
    assert (notice.title, notice.message) == (title, message)


@given(st.text(st.characters(exclude_categories=[])), st.text(), st.text())
def test_any_notice_fits_a_message(message: str, title: str, folder: str):
    notice = read_call(claude_code("notification_idle", message=message, title=title, cwd=folder)).notice
    assert notice is not None
    assert 1 <= len(notice.title.encode()) <= 100
    assert 1 <= len(notice.message.encode()) <= 1500
    assert len(json.dumps({"message": notice.message, "title": notice.title}, ensure_ascii=False).encode()) < 1800


def test_a_notice_that_was_cut_says_by_how_much():
    notice = read_call(claude_code("stop", last_assistant_message="ä" * 1000)).notice
    assert notice is not None
    kept = notice.message.count("ä")
    assert notice.message == "ä" * kept + f" … {1000 - kept} more characters"


def key_of(event: dict[str, Any]) -> str:
    return read_call(event).prompts[0].key


def test_the_same_call_has_the_same_key_and_any_other_a_different_one():
    event = claude_code("permission_bash")
    key = key_of(event)
    assert key_of(json.loads(json.dumps(event, sort_keys=True))) == key
    others = [
        event | {"session_id": "another"},
        event | {"prompt_id": "another"},
        event | {"agent_id": "another"},
        event | {"cwd": "/elsewhere"},
        event | {"tool_name": "Zsh"},
        with_input(event, command="git push origin main"),
        with_input(event, run_in_background=True),
    ]
    assert len({key_of(other) for other in others} | {key}) == len(others) + 1
    assert len(key) <= 128


def test_each_of_several_questions_has_a_key_of_its_own():
    first, second = read_call(claude_code("pre_tool_use_ask_user_question")).prompts
    assert first.key != second.key


def test_two_repeats_that_find_the_same_ended_question_come_to_the_same_new_key():
    key = key_of(claude_code("permission_bash"))
    assert key_after(key, "int_1") == key_after(key, "int_1") != key
    assert key_after(key, "int_2") != key_after(key, "int_1")
    assert len(key_after(key, "int_1")) <= 128


@pytest.mark.parametrize("text", ["", "{", "[]", '"Allow"', "null", "[" * 100_000])
def test_input_that_is_no_object_is_refused(text: str):
    with pytest.raises(UnusableEventError):
        parse_event(text)
