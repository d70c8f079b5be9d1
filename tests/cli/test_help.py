"""What `--help` says: of every command, with examples that run as they stand."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from reflecto.cli.command_table import CommandTable
from reflecto.cli.main import cli, main
from tests.client.asker_server import TOKEN
from tests.client.sending_server import SendingServer
from tests.client.signing_phone import SigningPhone

Output = pytest.CaptureFixture[str]


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every command's words, groups included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


EVERY = list(commands(cli))


def help_of(words: tuple[str, ...], capsys: Output) -> str:
    capsys.readouterr()
    assert main([*words, "--help"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def examples_in(text: str) -> list[str]:
    found = re.search(r"^  Examples:\n((?:    .+\n)+)", text, re.MULTILINE)
    return [line.strip() for line in found[1].splitlines()] if found else []


def test_there_are_commands_within_commands():
    assert {("ask",), ("hook", "install", "claude-code"), ("tokens", "create")} <= set(EVERY)


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_every_command_says_what_it_does_and_what_each_option_is_for(words: tuple[str, ...], capsys: Output):
    text = help_of(words, capsys)
    assert text.startswith(f"Usage: reflecto {' '.join(words)} [OPTIONS]")
    summary = text.split("\n\n")[1].replace("\n ", "")
    assert re.match(r"  [A-Z].*\.$", summary.rstrip(), re.DOTALL), summary
    assert max(map(len, text.splitlines())) <= 110
    assert not re.search(r"^  \w+ .*\.\.\.$", text, re.MULTILINE), "the list of subcommands is cut"
    options = re.findall(r"^  (?:-\w, )?(--[a-z-]+)(.*)$", text, re.MULTILINE)
    assert "--help" in dict(options)


@pytest.mark.parametrize("group", ["hook", ("hook", "install"), ("hook", "uninstall")], ids=str)
def test_a_table_of_commands_knows_only_what_is_in_it(group: str | tuple[str, ...], capsys: Output):
    words = (group,) if isinstance(group, str) else group
    assert main([*words, "nothing"]) == 2
    assert "No such command" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("ask",), ("send",), ("file",), ("remind",)], ids=" ".join)
def test_examples_of_what_is_sent_run_as_they_stand(
    words: tuple[str, ...], sending: SendingServer, tmp_path: Path, capsys: Output
):
    phone = SigningPhone()
    sending.on_poll = lambda _count: phone.answers_all(sending)
    for name in ("report.csv", "change.diff", "drop.sql"):
        (tmp_path / name).write_text("day,orders\n", "utf-8")
    (tmp_path / "deploy.sh").write_text("#!/bin/sh\n", "utf-8")
    (tmp_path / "deploy.sh").chmod(0o755)
    examples = examples_in(help_of(words, capsys))
    assert len(examples) >= 2
    ran = run("\n".join(examples), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert len(sending.prompts) + len(sending.accepted) >= len(examples) - 1


def test_examples_of_what_is_set_up_run_as_they_stand(sending: SendingServer, tmp_path: Path, capsys: Output):
    for words in (("completion",), ("hook", "install", "claude-code"), ("login",)):
        examples = examples_in(help_of(words, capsys))
        assert len(examples) >= 2
        script = "\n".join(example for example in examples if not example.endswith("reflecto.example"))
        local = script.replace("https://reflecto.example", sending.url)
        ran = run(local, tmp_path)
        assert ran.returncode == 0, ran.stderr
    assert (tmp_path / ".zfunc" / "_reflecto").read_text().startswith("#compdef reflecto")
    assert (tmp_path / ".claude" / "settings.json").exists()


def run(commands: str, home: Path) -> "subprocess.CompletedProcess[str]":
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        env=os.environ | {"PATH": path, "HOME": str(home), "TOKEN": TOKEN, "CLAUDE_CONFIG_DIR": ""},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        stdin=subprocess.DEVNULL,
    )


COMPLETING = """
source <(reflecto completion bash)
COMP_WORDS=({words}) COMP_CWORD={at}
{function} reflecto
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "offers"),
    [
        (["reflecto", "s"], ["serve", "send"]),
        (["reflecto", "hook", "install", "c"], ["claude-code", "codex"]),
        (["reflecto", "send", "--priority", "h"], ["high"]),
        (["reflecto", "ask", "--retry"], ["--retry-for"]),
    ],
    ids=" ".join,
)
def test_bash_completes_commands_options_and_their_values(words: list[str], offers: list[str], tmp_path: Path):
    script = COMPLETING.format(words=" ".join(words), at=len(words) - 1, function="_reflecto_completion")
    ran = run(script, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == offers


@pytest.mark.parametrize(
    ("shell", "variables", "offers"),
    [
        ("zsh", {"COMP_WORDS": "reflecto hook in", "COMP_CWORD": "2"}, "plain\ninstall\nAdd the hook"),
        ("fish", {"COMP_WORDS": "reflecto hook in", "COMP_CWORD": "in"}, "install\tAdd the hook"),
    ],
)
def test_zsh_and_fish_are_answered_in_their_own_way(
    shell: str, variables: dict[str, str], offers: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
):
    main(["completion", shell])
    assert f"_REFLECTO_COMPLETE={shell}_complete" in capsys.readouterr().out
    for name, value in ({"_REFLECTO_COMPLETE": f"{shell}_complete"} | variables).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert offers in capsys.readouterr().out


def test_completing_a_command_imports_none():
    table = CommandTable(name="x", table=lambda: {"only": ("no.such.module:command", "Only a name.")})
    (item,) = table.shell_complete(click.Context(table), "o")
    assert (item.value, item.help) == ("only", "Only a name.")


PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_line_of_the_page_installs_a_shells_completion_in_an_empty_home(shell: str, tmp_path: Path):
    (line,) = re.findall(rf"^\| {shell} \| `([^`]+)`", PAGE, re.MULTILINE)
    assert run(line, tmp_path).returncode == 0
    (written,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert f"_REFLECTO_COMPLETE={shell}_complete" in written.read_text("utf-8")
    if shutil.which(shell) is not None:
        checked = subprocess.run([shell, "-n", str(written)], capture_output=True, text=True, timeout=30, check=False)
        assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        (["sned"], "Did you mean 'send'?"),
        (["token", "list"], "Did you mean 'tokens'?"),
        (["tokens", "lst"], "Did you mean 'list'?"),
        (["hook", "instal"], "Did you mean 'install' or 'uninstall'?"),
        (["hook", "cladue-code"], "Did you mean 'claude-code'?"),
        (["hook", "install", "claude"], "Did you mean 'claude-code'?"),
        (["hook", "uninstall", "codx"], "Did you mean 'codex'?"),
    ],
)
def test_a_mistyped_command_is_told_what_it_looks_like(typed: list[str], suggested: str, capsys: Output):
    mistyped = typed[0] if typed[0] == "token" else typed[-1]
    assert main(typed) == 2
    assert capsys.readouterr().err.endswith(f"Error: No such command {mistyped!r}. {suggested}\n")


def test_a_command_like_none_is_only_refused(capsys: Output):
    assert main(["xyzzy"]) == 2
    assert capsys.readouterr().err.endswith("Error: No such command 'xyzzy'.\n")
