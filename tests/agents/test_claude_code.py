"""What Claude Code's events ask on the phone, and what a tap tells it."""

import json
import re
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflecto.agents.blocks import size_of
from reflecto.agents.claude_code import read_call
from reflecto.agents.hook_call import (
    DEFAULTS,
    ELSEWHERE,
    NOTHING,
    HookOptions,
    Machine,
    Prompt,
    Tap,
    UnusableEventError,
    key_after,
    parse_event,
)
from reflecto.agents.shown import shown
from tests.agents.events import claude_code, with_input


def prompt_of(event: dict[str, Any], options: HookOptions = DEFAULTS, machine: Machine = ELSEWHERE) -> Prompt:
    call = read_call(event, options, machine)
    assert len(call.prompts) == 1
    return call.prompts[0]


def blocks_of(event: dict[str, Any], machine: Machine = ELSEWHERE) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = prompt_of(event, machine=machine).given["details"]
    return blocks


def fields_of(blocks: list[dict[str, Any]]) -> dict[str, str]:
    return {field["name"]: field["value"] for block in blocks if block["kind"] == "fields" for field in block["fields"]}


def files(**texts: str) -> Machine:
    """Return a machine with these files, by name, in the folder of the events."""

    def read(path: str) -> str:
        name = path.removeprefix("/home/ada/shop/").replace("/", "_").partition(".")[0]
        if name not in texts:
            raise FileNotFoundError(path)
        return texts[name]

    return Machine("laptop-17", "/home/ada", read)


def test_a_command_is_a_block_of_code_with_its_folder_and_what_the_agent_says_of_it():
    prompt = prompt_of(claude_code("permission_bash"))
    assert prompt.question == "Run a command in ~/shop?"
    assert prompt.given["details"] == [
        {"kind": "code", "label": "Command", "language": "sh", "text": "git push origin release"},
        {
            "kind": "fields",
            "fields": [
                {"name": "Why", "value": "Push the release branch"},
                {"name": "Time limit", "value": "60 s"},
                {"name": "Folder", "value": "/home/ada/shop"},
            ],
        },
    ]
    assert prompt.given["comment"] == "optional"
    assert prompt.given.keys() == {"details", "source", "comment"}


def test_the_question_says_who_asks_and_from_where():
    given = prompt_of(claude_code("permission_bash"), machine=files()).given
    assert given["source"] == {
        "app": "Claude Code",
        "host": "laptop-17",
        "where": "~/shop",
        "session": "7c9e6b1a-58c2-4d0e-9a35-1f0b7d1c2e44",
    }
    elsewhere = prompt_of(claude_code("permission_bash", cwd="/srv/" + "x" * 200)).given["source"]
    assert "host" not in elsewhere
    assert elsewhere["where"].startswith("…x")
    assert len(elsewhere["where"].encode()) <= 100


def test_the_first_choice_allows_and_the_second_denies_with_a_message():
    call = read_call(claude_code("permission_bash"))
    assert call.prompts[0].choices[:2] == ("Allow", "Deny")
    assert call.decide([Tap(0)]) == {
        "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    }
    assert call.decide([Tap(1)]) == {
        "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {
                "behavior": "deny",
                "message": "The user denied this on the phone. Do not try it another way; ask what to do instead.",
            },
        }
    }


def test_the_word_that_came_with_a_denial_is_the_agents_reason():
    decision = read_call(claude_code("permission_bash")).decide([Tap(1, "use staging")])["hookSpecificOutput"][
        "decision"
    ]
    assert decision == {"behavior": "deny", "message": "The user denied this on the phone and says: use staging"}


def test_the_rule_that_the_agent_proposes_is_the_third_choice_and_goes_back_as_it_came():
    event = claude_code("permission_bash")
    call = read_call(event)
    assert call.prompts[0].choices == (
        "Allow",
        "Deny",
        'Allow, and don\'t ask again for commands that begin with "git push", in this project',
    )
    assert call.decide([Tap(2)])["hookSpecificOutput"]["decision"] == {
        "behavior": "allow",
        "updatedPermissions": event["permission_suggestions"],
    }


def rule(content: str | None, tool: str = "Bash", **fields: Any) -> dict[str, Any]:
    rules = [{"toolName": tool} | ({} if content is None else {"ruleContent": content})]
    return {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"} | fields


OFFERED: dict[str, tuple[list[Any], str]] = {
    "a prefix": ([rule("npm test *")], 'commands that begin with "npm test", in this project'),
    "one command": ([rule("npm test")], '"npm test", in this project'),
    "a site": ([rule("domain:docs.python.org", "WebFetch")], "pages of docs.python.org, in this project"),
    "a tool of a server": ([rule(None, "mcp__tracker__close_issue")], "close_issue of tracker, in this project"),
    "a tool": ([rule(None, "WebSearch", destination="userSettings")], "any WebSearch, in all projects"),
    "a path": ([rule("//srv/**", "Read")], "Read(//srv/**), in this project"),
    "edits": (
        [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
        "edits and common file commands, in this session",
    ),
    "two at once": (
        [
            {"type": "addDirectories", "directories": ["/home/ada/shop"], "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ],
        "files in ~/shop and edits and common file commands, in this session",
    ),
}


@pytest.mark.parametrize(("proposed", "words"), OFFERED.values(), ids=OFFERED)
def test_a_rule_is_said_in_words(proposed: list[Any], words: str):
    prompt = prompt_of(claude_code("permission_bash", permission_suggestions=proposed))
    assert prompt.choices[2:] == (f"Allow, and don't ask again for {words}",)


NOT_OFFERED: dict[str, object] = {
    "nothing": None,
    "no rule": [],
    "a rule that forbids": [rule("ls", behavior="deny")],
    "every rule at once": [{"type": "setMode", "mode": "bypassPermissions", "destination": "session"}],
    "a kind that is not known": [{"type": "replaceRules", "rules": [], "destination": "session"}],
    "one of two that has no words": [rule("ls"), {"type": "something"}],
    "words too long for a button": [rule("x" * 80)],
    "characters that nobody sees": [rule("ls\u200b")],
    "a place that is not known": [rule("ls", destination="cloud")],
    "no list of rules": [rule("ls", rules="ls")],
    "too many": [rule("ls")] * 5,
}


@pytest.mark.parametrize("proposed", NOT_OFFERED.values(), ids=NOT_OFFERED)
def test_a_rule_that_cannot_be_said_whole_is_not_offered(proposed: object):
    assert prompt_of(claude_code("permission_bash", permission_suggestions=proposed)).choices == ("Allow", "Deny")


def test_a_dangerous_call_is_marked_and_never_allowed_for_the_future():
    event = with_input(claude_code("permission_bash"), command="git push --force")
    prompt = prompt_of(event)
    assert (prompt.given["danger"], prompt.choices) == ("high", ("Allow", "Deny"))
    assert "confirm" not in prompt.given
    reply = read_call(event).decide([Tap(2)])["hookSpecificOutput"]["decision"]
    assert reply["behavior"] == "deny"  # a choice that was not there allows nothing
    file = claude_code("permission_write", tool_input={"file_path": "/home/ada/.ssh/config", "content": "x"})
    assert prompt_of(file).given["danger"] == "high"


def test_what_counts_as_dangerous_and_what_that_takes_is_the_persons_choice():
    harmless = claude_code("permission_touch")
    dangerous = with_input(harmless, command="rm -rf build")
    assert "danger" not in prompt_of(dangerous, HookOptions(danger="never", confirm="number")).given
    assert prompt_of(harmless, HookOptions(danger="always")).given["danger"] == "high"
    for confirm in ("number", "hold"):
        assert prompt_of(dangerous, HookOptions(confirm=confirm)).given["confirm"] == confirm
        assert "confirm" not in prompt_of(harmless, HookOptions(confirm=confirm)).given


def test_where_nobody_knows_details_the_question_is_one_text_but_never_without_the_number_that_was_wished():
    event = claude_code("permission_bash")
    plain = prompt_of(event).plain
    assert plain is not None
    assert plain.question == (
        "Claude Code: Bash\n"
        "Folder: /home/ada/shop\n"
        "description: Push the release branch\n"
        "timeout: 60000\n"
        "command:\n"
        "│ git push origin release"
    )
    assert (plain.choices, plain.given, plain.plain) == (("Allow", "Deny"), {}, None)
    dangerous = with_input(event, command="git push --force")
    assert prompt_of(dangerous).plain is not None
    assert prompt_of(dangerous, HookOptions(confirm="number")).plain is None


def test_an_edit_is_a_diff_of_the_file_as_it_is():
    event = claude_code("permission_edit")
    before = "import x\n" * 9 + "TAX = 19\nSHIPPING = 5\n"
    prompt = prompt_of(event, machine=files(app_prices=before))
    assert prompt.question == "Change app/prices.py?"
    assert prompt.given["details"][0] == {
        "kind": "diff",
        "label": "app/prices.py",
        "text": "@@ -7,5 +7,5 @@\n import x\n import x\n import x\n-TAX = 19\n+TAX = 20\n SHIPPING = 5",
    }


def test_an_edit_of_a_file_that_cannot_be_seen_says_so():
    diff, rest = blocks_of(claude_code("permission_edit"))
    assert diff["text"] == "@@ -1,2 +1,2 @@\n-TAX = 19\n+TAX = 20\n SHIPPING = 5"
    assert fields_of([rest])["Lines"] == "Line numbers count within the change, not within the file."
    other = blocks_of(claude_code("permission_edit"), files(app_prices="nothing of it"))
    assert fields_of(other)["Before"] == "The file as it is now has no such text."


def test_an_edit_of_every_place_shows_every_place():
    event = with_input(claude_code("permission_edit"), old_string="a", new_string="b", replace_all=True)
    assert blocks_of(event, files(app_prices="a\nx\na\n"))[0]["text"] == "@@ -1,3 +1,3 @@\n-a\n+b\n x\n-a\n+b"
    assert fields_of(blocks_of(event))["Where"] == "everywhere in the file"


def test_several_edits_of_a_file_are_one_diff():
    edits = [{"old_string": "one", "new_string": "1"}, {"old_string": "1\n", "new_string": "eins\n"}]
    tool_input = {"file_path": "/home/ada/shop/a.txt", "edits": edits}
    event = claude_code("permission_edit", tool_name="MultiEdit", tool_input=tool_input)
    assert blocks_of(event, files(a="one\ntwo\n"))[0]["text"] == "@@ -1,2 +1,2 @@\n-one\n+eins\n two"
    assert [block["kind"] for block in blocks_of(event)] == ["diff", "diff", "fields"]


def test_a_new_file_is_a_diff_from_nothing_and_an_old_one_from_what_it_holds():
    tool_input = {"file_path": "/home/ada/shop/a.txt", "content": "one\ntwo"}
    event = claude_code("permission_write", tool_input=tool_input)
    new = prompt_of(event, machine=files())
    assert new.question == "Create a.txt?"
    assert new.given["details"][0]["text"] == "@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file"
    old = prompt_of(event, machine=files(a="one\nthree\n"))
    assert old.question == "Change a.txt?"
    assert old.given["details"][0]["text"] == ("@@ -1,2 +1,2 @@\n one\n-three\n+two\n\\ No newline at end of file")
    unknown = prompt_of(event)
    assert fields_of(unknown.given["details"])["Before"] == "What the file holds now is not known here."


def test_a_cell_of_a_notebook_is_a_diff_of_the_cell():
    notebook = json.dumps({"cells": [{"id": "c1", "source": ["x = 1\n", "y = 2"]}]})
    tool_input = {"notebook_path": "/home/ada/shop/n.ipynb", "cell_id": "c1", "new_source": "x = 1\ny = 3"}
    event = claude_code("permission_edit", tool_name="NotebookEdit", tool_input=tool_input)
    diff, rest = blocks_of(event, files(n=notebook))
    assert (diff["label"], diff["text"]) == ("n.ipynb", "@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3")
    assert fields_of([rest])["Cell"] == "replace c1"
    assert fields_of(blocks_of(event, files(n="no notebook")))["Before"] == (
        "What the cell holds now is not known here."
    )


def test_a_plan_a_page_and_a_search_are_asked_about_in_words():
    plan = prompt_of(claude_code("permission_plan"))
    assert plan.question == "Go ahead with this plan?"
    assert plan.given["details"][0] == {"kind": "text", "label": "Plan", "text": "1. Raise TAX\n2. Run the tests"}
    asked = {"url": "https://a.example", "prompt": "Sum up"}
    page = claude_code("permission_mcp", tool_name="WebFetch", tool_input=asked)
    assert prompt_of(page).question == "Fetch a page from the web?"
    assert fields_of(blocks_of(page)) == asked | {"Folder": "/home/ada/shop"}


def test_a_tool_nobody_knows_shows_its_whole_input():
    prompt = prompt_of(claude_code("permission_mcp"))
    assert prompt.question == "Use close_issue of tracker?"
    code, rest = prompt.given["details"]
    assert code == {"kind": "code", "label": "labels", "language": "json", "text": '[\n  "done",\n  "release"\n]'}
    assert fields_of([rest]) == {"issue": "482", "comment": "null", "Folder": "/home/ada/shop"}


def test_what_fits_into_48_kib_is_whole():
    content = "".join(f"the price of the book is {number}\n" for number in range(1540))
    event = claude_code("permission_write", tool_input={"file_path": "/home/ada/shop/data.sql", "content": content})
    prompt = prompt_of(event)
    assert prompt.choices == ("Allow", "Deny")
    added = [line[1:] for line in prompt.given["details"][0]["text"].split("\n")[1:]]
    assert added == content.split("\n")[:-1]
    assert size_of(prompt.given["details"]) > 47_000


def test_what_does_not_fit_is_cut_out_of_the_middle_and_nobody_allows_it_unawares():
    lines = [f"echo {number}" for number in range(9000)]
    event = with_input(claude_code("permission_bash"), command="\n".join(lines))
    prompt = prompt_of(event)
    missing = int(prompt.question.split()[-5].replace(",", ""))
    assert prompt.question == f"Run a command in ~/shop? {missing:,} characters are left out."
    assert prompt.choices == ("Allow, unseen parts too", "Deny")
    front, gap, back, rest = prompt.given["details"]
    total = len(event["tool_input"]["command"])
    assert gap == {"kind": "text", "text": f"… {missing:,} of {total:,} characters are left out here …"}
    assert len(front["text"]) + missing + len(back["text"]) == total
    assert event["tool_input"]["command"].startswith(front["text"])
    assert event["tool_input"]["command"].endswith(back["text"])
    assert (front["label"], back["label"]) == ("Command (its beginning)", "Command (its end)")
    compact = json.dumps(event["tool_input"], sort_keys=True, separators=(",", ":"))
    assert fields_of([rest])["SHA-256 of all of it"] == sha256(compact.encode()).hexdigest()[:16] + "…"
    assert 48_500 < size_of(prompt.given["details"]) <= 49_152
    assert prompt.given["danger"] == "high"


def test_a_diff_that_is_cut_still_counts_its_lines():
    content = "".join(f"line {number}\n" for number in range(9000))
    event = claude_code("permission_write", tool_input={"file_path": "/home/ada/shop/a.txt", "content": content})
    front, _, back, _ = blocks_of(event)
    for block in (front, back):
        head, *body = block["text"].split("\n")
        count = int(re.fullmatch(r"@@ -0,0 \+\d+,(\d+) @@", head)[1])  # type: ignore[index]
        assert count == len(body)
    assert back["text"].split("\n")[-1] == "+line 8999"
    assert re.match(r"@@ -0,0 \+(\d+),", back["text"])[1] == str(9000 - len(back["text"].split("\n")) + 2)  # type: ignore[index]


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
    event = with_input(claude_code("permission_bash"), command=f"git{hidden}push", description=f"a{hidden}b")
    assert blocks_of(event)[0]["text"] == f"git{written_out(hidden)}push"
    assert fields_of(blocks_of(event))["Why"] == f"a{written_out(hidden)}b"
    edit = with_input(claude_code("permission_edit"), new_string=f"TAX{hidden}")
    assert f"+TAX{written_out(hidden)}" in blocks_of(edit)[0]["text"]
    plain = prompt_of(event).plain
    assert plain is not None
    assert plain.question.endswith(f"command:\n│ git{written_out(hidden)}push")


@pytest.mark.parametrize("hidden", ["\x01", "\ud83d"])
def test_a_name_of_hidden_characters_alone_leaves_room_for_the_question(hidden: str):
    name = hidden * 119
    for tool, tool_input in (
        ("Bash", {"command": "x" * 60_000}),
        ("Write", {"file_path": f"/{name}", "content": "x" * 60_000}),
        (name, {"text": "x" * 60_000}),
    ):
        prompt = prompt_of(claude_code("permission_bash", tool_name=tool, tool_input=tool_input, cwd=f"/{name}"))
        assert len(prompt.question) < 250
        assert prompt.question.endswith(" characters are left out.")
        assert size_of(prompt.given["details"]) <= 49_152


def test_no_value_can_pass_for_a_block_or_a_field_of_its_own():
    value = "x\nFolder: /safe\n@@ -1 +1 @@\n[… 3 more characters …]"
    for name in ("description", "anything"):
        code, own, _ = blocks_of(with_input(claude_code("permission_bash"), **{name: value}))
        assert code["label"] == "Command"
        assert (own["kind"], own["text"]) == ("text", value)
    assert blocks_of(with_input(claude_code("permission_bash"), command=value))[0]["text"] == value


def test_many_fields_are_all_there():
    event = claude_code("permission_mcp", tool_input={f"field{number}": f"value {number}" for number in range(60)})
    blocks = blocks_of(event)
    shown = json.dumps(blocks)
    assert all(f"value {number}" in shown for number in range(60))
    assert all(len(block["fields"]) <= 20 for block in blocks if block["kind"] == "fields")
    long = claude_code("permission_mcp", tool_input={f"field{number}": f"line\n{number}" for number in range(60)})
    blocks = blocks_of(long)
    assert len(blocks) <= 12
    assert all(f"field{number}" in json.dumps(blocks) for number in range(60))


def test_what_a_call_that_is_over_ends_is_the_call_that_was_asked_about():
    asked = read_call(claude_code("permission_touch"))
    for name in ("post_tool_use_touch", "post_tool_use_failure_touch"):
        assert read_call(claude_code(name)).ends == asked.call_id
        assert read_call(claude_code(name, prompt_id="another")).ends != asked.call_id
        assert read_call(claude_code(name, tool_input={"command": "touch two.txt"})).ends != asked.call_id


def test_one_line_cannot_pass_for_several():
    event = with_input(claude_code("permission_bash", cwd="/a\ncommand:\nls"), **{"a\nb": 1})
    feed = written_out("\n")
    prompt = prompt_of(event)
    assert prompt.question == f"Run a command in /a{feed}command:{feed}ls?"
    assert fields_of(prompt.given["details"])[f"a{feed}b"] == "1"


ANY_TEXT = st.text(st.characters(exclude_categories=[]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@settings(max_examples=50)
@given(
    st.dictionaries(ANY_TEXT, VALUES | st.text(min_size=200)),
    ANY_TEXT,
    ANY_TEXT.filter(bool) | st.just("Bash"),
)
def test_any_input_makes_a_question_that_is_whole_or_says_that_it_is_not(
    tool_input: dict[str, Any], folder: str, tool: str
):
    event = claude_code("permission_bash", tool_input=tool_input, cwd=folder, tool_name=tool)
    prompt = prompt_of(event)
    assert prompt.plain is not None
    for asked in (prompt, prompt.plain):
        assert asked.question.strip()
        assert len(asked.question) <= 1000
        seen = json.dumps([asked.question, asked.given], ensure_ascii=False)
        assert not {"\r", "\x1b", "\u202e", "\u200b", "\xa0"} & set(seen)
        seen.encode()
    blocks = prompt.given["details"]
    assert len(blocks) <= 12
    assert size_of(blocks) <= 49_152
    assert prompt.choices[0] == "Allow"
    seen_fields = [field for block in blocks if block["kind"] == "fields" for field in block["fields"]]
    texts = [block["text"] for block in blocks if block["kind"] != "fields"] + [each["value"] for each in seen_fields]
    for value in tool_input.values():
        assert not isinstance(value, str) or not value.isalnum() or any(shown(value) in text for text in texts)
    is_whole = not prompt.plain.question.startswith("NOT WHOLE: ")
    assert prompt.plain.choices[0] == ("Allow" if is_whole else "Allow, unseen parts too")


TOOLS = ["Bash", "Edit", "MultiEdit", "Write", "NotebookEdit", "WebFetch", "ExitPlanMode", "mcp__a__b", "Read"]
INPUT_FIELDS = ["command", "file_path", "notebook_path", "old_string", "new_string", "content", "edits", "plan", "url"]


@settings(max_examples=25)
@given(st.sampled_from(TOOLS), st.dictionaries(st.sampled_from(INPUT_FIELDS), VALUES), VALUES)
def test_an_input_of_any_shape_makes_a_question(tool: str, tool_input: dict[str, Any], suggested: Any):
    event = claude_code("permission_bash", tool_input=tool_input, tool_name=tool, permission_suggestions=[suggested])
    assert size_of(prompt_of(event).given["details"]) <= 49_152


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
    assert target.question == "Where should this be deployed?"
    assert fields_of(target.given["details"]) == {
        "Staging": "The copy that testers use",
        "Production": "What customers see",
        "About": "Target",
        "Folder": "/home/ada/shop",
    }
    assert (target.given["source"]["app"], target.given["comment"]) == ("Claude Code", "optional")
    assert target.choices == ("Staging", "Production", "Answer in the terminal")
    assert target.handover == 2
    assert database.choices == ("Keep it", "Migrate", "Start empty", "Restore")
    assert database.handover is None
    assert target.plain is not None
    assert target.plain.question == (
        "Claude Code asks: Target\n"
        "Folder: /home/ada/shop\n"
        "\n"
        "Where should this be deployed?\n"
        "- Staging: The copy that testers use\n"
        "- Production: What customers see"
    )
    assert (target.plain.choices, target.plain.handover) == (target.choices, target.handover)


def test_the_taps_on_them_are_its_answers_and_the_rest_of_its_input_stays():
    event = claude_code("pre_tool_use_ask_user_question")
    assert read_call(event).decide([Tap(1), Tap(3)]) == {
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


def test_the_word_that_came_with_one_of_them_is_its_note():
    event = claude_code("pre_tool_use_ask_user_question")
    output = read_call(event).decide([Tap(1), Tap(3, "last night's")])["hookSpecificOutput"]
    assert output["updatedInput"]["annotations"] == {"Which database?": {"notes": "last night's"}}


def test_a_label_goes_back_to_the_letter_however_it_was_shown():
    zero_width = "\u200b"
    option = {"label": f" Stag{zero_width}ing ", "description": ""}
    asked = [{"question": "Where?", "options": [option, {"label": "Production"}]}]
    call = read_call(claude_code("pre_tool_use_ask_user_question", tool_input={"questions": asked}))
    assert call.prompts[0].choices[0] == f"Stag{written_out(zero_width)}ing"
    assert call.decide([Tap(0)])["hookSpecificOutput"]["updatedInput"]["answers"] == {"Where?": option["label"]}


def test_a_long_description_is_read_on_the_phone_where_it_knows_details():
    options = [{"label": "A", "description": "x" * 900}, {"label": "B", "description": "y" * 900}]
    asked = [{"question": "Which?", "options": options}]
    (prompt,) = read_call(claude_code("pre_tool_use_ask_user_question", tool_input={"questions": asked})).prompts
    assert [block["text"] for block in prompt.given["details"][:2]] == ["x" * 900, "y" * 900]
    assert prompt.plain is None


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
    skipped = HookOptions(skipped=frozenset({"permission_prompt"}))
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
