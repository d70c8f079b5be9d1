"""What docs/hooks.md shows works, and what it installs decides by a tap on a phone."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from reflecto.agents.claude_code import read_call
from reflecto.agents.hook_call import Machine
from reflecto.agents.hook_groups import ASK_SECONDS, BLOCKING_SECONDS, CODEX_ASK_SECONDS
from tests.agents.events import claude_code, codex, with_input
from tests.e2e.phones import HTTP, Phone, make_codes
from tests.e2e.server_process import ServerProcess, environment
from tests.phone.programs import script

PAGE: Final = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text("utf-8")
WAIT_SECONDS: Final = 30


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Phone]]:
    """A server's URL, and a phone of its owner, whose other phone taps the first choice of everything."""
    folder = tmp_path_factory.mktemp("hooks")
    with ServerProcess(folder / "data") as server:
        phone = Phone.of_new_owner(server)
        (code,) = make_codes(server.data, 1, owner_id=phone.owner_id)
        with script(
            "phone", code, "--url", server.url, "--state", folder / "phone.json", "--json", "--answer", "first"
        ) as thumb:
            thumb.event("enrolled")
            yield server.url, phone


@pytest.fixture
def shell(place: tuple[str, Phone], tmp_path: Path) -> Any:
    """Run a command in a home of its own, with the event on its standard input."""
    url, phone = place

    def run(command: str, event: object = None) -> "subprocess.CompletedProcess[str]":
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        variables = {"HOME": str(tmp_path), "PATH": path, "REFLECTO_URL": url, "REFLECTO_TOKEN": phone.token}
        variables["XDG_RUNTIME_DIR"] = str(tmp_path)
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            env=environment(variables),
            cwd=tmp_path,
            input=json.dumps(event),
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )

    return run


def test_the_commands_of_the_page_run(shell: Any):
    for block in blocks("sh"):
        ran = shell(block)
        assert ran.returncode == 0, ran.stderr


def test_the_question_of_the_page_is_the_one_that_is_asked():
    (drawn,) = blocks("text")
    machine = Machine("laptop-17", "/home/ada", lambda path: path)
    prompt = read_call(claude_code("permission_bash"), machine=machine).prompts[0]
    code, table = prompt.given["details"]
    source = prompt.given["source"]
    said = f"says: {source['app']} on {source['host']}, {source['where']}"
    for text in (prompt.question, said, code["label"], code["language"], code["text"]):
        assert text in drawn
    for field in table["fields"]:
        assert re.search(rf"^  {field['name']} +{re.escape(field['value'])}$", drawn, re.MULTILINE)
    assert re.findall(r"\[(.+?)\]", drawn) == [prompt.choices[2], *prompt.choices[:2]]


def test_the_snippet_of_the_page_is_what_is_installed(shell: Any):
    (snippet,) = blocks("json")
    printed = shell("reflecto hook install claude-code --events PermissionRequest --print --project").stdout
    assert json.loads(snippet) == json.loads(printed)


def test_the_times_of_the_page_are_the_installed_ones():
    assert f"permission waits {ASK_SECONDS // 60} minutes" in PAGE
    assert f"an `AskUserQuestion` {BLOCKING_SECONDS // 60} minutes" in PAGE
    assert f"permission in Codex {CODEX_ASK_SECONDS // 60} minutes" in PAGE


@pytest.mark.parametrize(
    ("agent", "file", "event"),
    [
        ("claude-code", ".claude/settings.json", claude_code("permission_bash")),
        ("codex", ".codex/hooks.json", codex("permission_bash")),
    ],
)
def test_the_installed_command_allows_what_was_tapped(
    shell: Any, tmp_path: Path, agent: str, file: str, event: dict[str, Any]
):
    assert shell(f"reflecto hook install {agent}").returncode == 0
    handler = json.loads((tmp_path / file).read_text())["hooks"]["PermissionRequest"][0]["hooks"][0]
    ran = shell(handler["command"], event)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


def test_the_installed_http_hook_allows_what_was_tapped(shell: Any, tmp_path: Path, place: tuple[str, Phone]):
    url, phone = place
    assert shell(f"reflecto hook install claude-code --http --url {url}").returncode == 0
    settings = json.loads((tmp_path / ".claude" / "settings.json").read_text())
    handler = settings["hooks"]["PermissionRequest"][0]["hooks"][0]
    headers = {name: value.replace("$REFLECTO_TOKEN", phone.token) for name, value in handler["headers"].items()}
    reply = HTTP.post(handler["url"], json=claude_code("permission_edit"), headers=headers)
    assert reply.json()["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


def test_the_agents_questions_are_answered(shell: Any):
    ran = shell("reflecto hook claude-code --timeout 120", claude_code("pre_tool_use_ask_user_question"))
    answers = json.loads(ran.stdout)["hookSpecificOutput"]["updatedInput"]["answers"]
    assert answers == {"Where should this be deployed?": "Staging", "Which database?": "Keep it"}


def test_codex_notify_program_tells_the_end_of_a_turn(shell: Any, place: tuple[str, Phone]):
    (line,) = blocks("toml")
    program = json.loads(line.partition("= ")[2])
    ran = shell(f'{" ".join(program)} "$(cat)"', codex("notify"))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    _, phone = place
    for _, envelope in phone.entries():
        if envelope["payload"].get("title") == "Codex: done · shop":
            return


@pytest.mark.skipif(not any(Path(folder, "jq").exists() for folder in os.environ["PATH"].split(":")), reason="needs jq")
def test_the_digest_of_the_page_is_that_of_the_question(shell: Any, tmp_path: Path):
    command = re.search(r"`(jq -cjS .+?)`", PAGE)
    assert command is not None
    event = with_input(claude_code("permission_bash"), command="echo é\n" * 9000)
    (tmp_path / "event.json").write_text(json.dumps(event), "utf-8")
    digest = shell(command[1]).stdout[:16]
    fields = read_call(event).prompts[0].given["details"][-1]["fields"]
    assert {"name": "SHA-256 of all of it", "value": f"{digest}…"} in fields
