"""`reflecto hook install` and `uninstall`: somebody's settings file is changed safely, or not at all."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reflecto.cli.main import main

Output = pytest.CaptureFixture[str]
MINE = '{\n\t"model": "opus"\n}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder for Claude Code, for Codex, and a shell that finds no `reflecto`."""
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("REFLECTO_CLIENT_CONFIG", str(tmp_path / "client.toml"))
    monkeypatch.setenv("REFLECTO_URL", "https://reflecto.example")
    monkeypatch.setenv("REFLECTO_TOKEN", "rfk_live_" + "a" * 32)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def settings(home: Path) -> Path:
    """Settings of Claude Code's that are already there."""
    path = home / "claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(MINE)
    return path


INSTALLED = ["PermissionRequest", "PostToolUse", "PostToolUseFailure", "PreToolUse", "Notification"]


def hooks_in(path: Path) -> Any:
    return json.loads(path.read_text())["hooks"]


def test_it_is_added_to_the_users_settings_with_a_backup(settings: Path, capsys: Output):
    assert main(["hook", "install", "claude-code"]) == 0
    assert list(hooks_in(settings)) == INSTALLED
    assert json.loads(settings.read_text())["permissions"] == {"allow": ["mcp__reflecto__*"]}
    assert json.loads(settings.read_text())["model"] == "opus"
    backup = settings.with_name("settings.json.before-reflecto")
    assert backup.read_text() == MINE
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"Added to {settings}: {', '.join(INSTALLED)}\n"
    added = settings.with_name("settings.json.added-by-reflecto")
    assert added.read_text() == "mcp__reflecto__*\n"
    assert {path.name for path in settings.parent.iterdir()} == {settings.name, backup.name, added.name}


def test_installing_twice_changes_nothing_and_keeps_the_backup(settings: Path, capsys: Output):
    main(["hook", "install", "claude-code"])
    before = settings.stat()
    capsys.readouterr()
    assert main(["hook", "install", "claude-code", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "path": str(settings),
        "events": INSTALLED,
        "changed": False,
        "backup": None,
    }
    assert (settings.stat().st_ino, settings.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert settings.with_name("settings.json.before-reflecto").read_text() == MINE


@pytest.mark.parametrize(("agent", "name"), [("claude-code", "settings.json"), ("codex", "hooks.json")])
def test_the_backup_is_what_was_there_before_our_first_change_forever(tmp_path: Path, agent: str, name: str):
    path = tmp_path / name
    path.write_text(MINE)
    where = ["--settings", str(path)]
    for command in ("install", "install --timeout 20m", "uninstall", "install", "install --timeout 5m", "uninstall"):
        verb, *options = command.split()
        assert main(["hook", verb, agent, *where, *options]) == 0
        assert path.with_name(f"{name}.before-reflecto").read_text() == MINE
    assert path.read_text() == MINE


def test_a_file_that_we_made_is_no_backup_of_what_was_before(tmp_path: Path):
    path = tmp_path / "settings.json"
    for options in ([], ["--timeout", "20m"]):
        assert main(["hook", "install", "claude-code", "--settings", str(path), *options]) == 0
    assert not path.with_name("settings.json.before-reflecto").exists()


def test_our_tools_are_allowed_beside_what_was_and_that_alone_is_taken_back(tmp_path: Path):
    path = tmp_path / "settings.json"
    mine = '{"permissions": {"deny": ["Bash(rm *)"], "allow": ["Bash(ls)"]}}'
    path.write_text(mine)
    main(["hook", "install", "claude-code", "--settings", str(path)])
    allowed = json.loads(path.read_text())["permissions"]
    assert allowed == {"deny": ["Bash(rm *)"], "allow": ["Bash(ls)", "mcp__reflecto__*"]}
    main(["hook", "uninstall", "claude-code", "--settings", str(path)])
    assert path.read_text() == mine


@pytest.mark.parametrize(
    "mine",
    [
        '{"permissions": {"allow": ["mcp__reflecto__*"]}}',
        '{"model": "opus", "permissions": {"allow": ["Bash(ls)", "mcp__reflecto__*"], "deny": []}}',
    ],
)
def test_a_rule_that_was_there_before_us_stays_when_we_go(tmp_path: Path, mine: str):
    path = tmp_path / "settings.json"
    path.write_text(mine)
    for command in ("install", "install --timeout 20m", "uninstall"):
        verb, *options = command.split()
        assert main(["hook", verb, "claude-code", "--settings", str(path), *options]) == 0
    assert path.read_text() == mine
    assert not path.with_name("settings.json.added-by-reflecto").exists()


def test_a_rule_that_somebody_adds_after_we_went_stays_when_we_go_again(tmp_path: Path):
    path = tmp_path / "settings.json"
    where = ["--settings", str(path)]
    for verb in ("install", "uninstall"):
        assert main(["hook", verb, "claude-code", *where]) == 0
    mine = '{"permissions": {"allow": ["mcp__reflecto__*"]}}'
    path.write_text(mine)
    for verb in ("install", "uninstall"):
        assert main(["hook", verb, "claude-code", *where]) == 0
    assert path.read_text() == mine


def test_the_rule_that_we_added_goes_also_after_a_second_install(tmp_path: Path):
    path = tmp_path / "settings.json"
    path.write_text(MINE)
    for command in ("install", "install --timeout 20m", "uninstall"):
        verb, *options = command.split()
        assert main(["hook", verb, "claude-code", "--settings", str(path), *options]) == 0
    assert path.read_text() == MINE


@pytest.mark.parametrize("mine", ['{"permissions": []}', '{"permissions": {"allow": {}}}'])
def test_permissions_that_the_agent_could_not_read_stay_as_they_are(tmp_path: Path, mine: str):
    path = tmp_path / "settings.json"
    path.write_text(mine)
    assert main(["hook", "install", "claude-code", "--settings", str(path)]) != 0
    assert path.read_text() == mine


def test_uninstalling_gives_back_the_file_to_the_byte(settings: Path, capsys: Output):
    main(["hook", "install", "claude-code", "--events", "Stop,PermissionRequest", "--timeout", "2m"])
    assert [hooks_in(settings)[name][0]["hooks"][0]["timeout"] for name in ("Stop", "PermissionRequest")] == [30, 120]
    assert main(["hook", "uninstall", "claude-code"]) == 0
    assert settings.read_text() == MINE
    capsys.readouterr()
    assert main(["hook", "uninstall", "claude-code"]) == 0
    assert capsys.readouterr().err == f"Nothing to do in {settings}\n"


def test_the_command_it_adds_starts_this_very_program(settings: Path, tmp_path: Path):
    main(["hook", "install", "claude-code"])
    command = hooks_in(settings)["PermissionRequest"][0]["hooks"][0]["command"]
    ran = subprocess.run(
        ["sh", "-c", f"{command} --help"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        cwd=tmp_path,
        env={"PATH": os.defpath},
    )
    assert ran.stdout.startswith("Usage: reflecto hook claude-code")


def test_a_program_that_the_shell_finds_is_named_and_nothing_more(settings: Path, home: Path):
    (home / "programs").mkdir()
    (home / "programs" / "reflecto").symlink_to(Path(sys.executable).with_name("reflecto"))
    main(["hook", "install", "claude-code"])
    assert (
        hooks_in(settings)["PermissionRequest"][0]["hooks"][0]["command"] == "reflecto hook claude-code --timeout 600"
    )


def test_a_program_on_the_path_of_this_terminal_alone_is_named_with_its_folder(
    settings: Path, monkeypatch: pytest.MonkeyPatch
):
    here = Path(sys.executable).with_name("reflecto")
    monkeypatch.setenv("PATH", str(here.parent))
    main(["hook", "install", "claude-code"])
    assert hooks_in(settings)["PermissionRequest"][0]["hooks"][0]["command"] == f"{here} hook claude-code --timeout 600"


def test_a_projects_settings_are_made_and_name_the_program_only(home: Path):
    assert main(["hook", "install", "claude-code", "--project"]) == 0
    path = home / ".claude" / "settings.json"
    assert hooks_in(path)["PermissionRequest"][0]["hooks"][0]["command"].startswith("reflecto hook claude-code")
    assert main(["hook", "uninstall", "claude-code", "--project"]) == 0
    assert path.read_text() == "{}\n"


def test_mode_and_links_stay(settings: Path, home: Path):
    real = home / "dotfiles.json"
    settings.rename(real)
    settings.symlink_to(real)
    real.chmod(0o640)
    main(["hook", "install", "claude-code"])
    assert settings.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert stat.S_IMODE(real.with_name("dotfiles.json.before-reflecto").stat().st_mode) == 0o640
    assert "PermissionRequest" in hooks_in(real)


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(settings: Path, home: Path):
    settings.unlink()
    settings.symlink_to(home / "new" / "settings.json")
    main(["hook", "install", "claude-code"])
    assert settings.is_symlink()
    assert "PermissionRequest" in hooks_in(home / "new" / "settings.json")


def test_a_byte_order_mark_stays(settings: Path):
    settings.write_bytes(b"\xef\xbb\xbf" + MINE.encode())
    main(["hook", "install", "claude-code"])
    main(["hook", "uninstall", "claude-code"])
    assert settings.read_bytes() == b"\xef\xbb\xbf" + MINE.encode()


@pytest.mark.parametrize("text", [b'{"model": }', b"[]", b"\xff", b'{"hooks": 1}'])
def test_settings_that_cannot_be_understood_are_left_as_they_are(settings: Path, capsys: Output, text: bytes):
    settings.write_bytes(text)
    for command in ("install", "uninstall"):
        assert main(["hook", command, "claude-code"]) == 2  # nothing of the server's: a file here
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("Error: ")
        assert str(settings) in err
    assert settings.read_bytes() == text
    assert list(settings.parent.iterdir()) == [settings]


def test_a_folder_that_cannot_be_written_is_one_line(home: Path, capsys: Output):
    (home / "claude").write_text("a file where the folder should be")
    assert main(["hook", "install", "claude-code"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_write_that_fails_leaves_the_file_as_it_was(settings: Path, capsys: Output, monkeypatch):
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    assert main(["hook", "install", "claude-code"]) == 9
    assert "No space left" in capsys.readouterr().err
    assert settings.read_text() == MINE
    assert not [path for path in settings.parent.iterdir() if path.name.startswith(".")]


def test_print_shows_a_snippet_and_writes_nothing(settings: Path, capsys: Output):
    assert main(["hook", "install", "claude-code", "--print"]) == 0
    snippet = json.loads(capsys.readouterr().out)
    assert settings.read_text() == MINE
    main(["hook", "install", "claude-code"])
    assert hooks_in(settings) == snippet["hooks"]


def test_over_http_the_server_is_the_hook(settings: Path, capsys: Output):
    assert main(["hook", "install", "claude-code", "--http", "--events", "PermissionRequest"]) == 0
    (handler,) = hooks_in(settings)["PermissionRequest"][0]["hooks"]
    assert (handler["type"], handler["url"]) == (
        "http",
        "https://reflecto.example/hooks/claude-code?timeout=600",
    )
    assert "REFLECTO_TOKEN" in capsys.readouterr().err
    assert "rfk_live_" not in settings.read_text()


def test_codex_gets_a_hooks_file_and_is_told_to_trust_it(home: Path, capsys: Output):
    assert main(["hook", "install", "codex"]) == 0
    hooks = hooks_in(home / "codex" / "hooks.json")
    assert list(hooks) == ["PermissionRequest"]
    assert hooks["PermissionRequest"][0]["hooks"][0]["timeout"] == 300
    assert "/hooks" in capsys.readouterr().err
    assert main(["hook", "uninstall", "codex"]) == 0
    assert (home / "codex" / "hooks.json").read_text() == "{}\n"


def test_who_is_not_logged_in_is_told(settings: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("REFLECTO_TOKEN")
    assert main(["hook", "install", "claude-code"]) == 0
    assert "reflecto login" in capsys.readouterr().err
    assert "PermissionRequest" in hooks_in(settings)


def test_what_the_person_chose_for_dangerous_calls_is_in_the_command(settings: Path, home: Path, capsys: Output):
    assert main(["hook", "install", "claude-code", "--confirm", "number", "--danger", "always"]) == 0
    hooks = hooks_in(settings)
    (handler,) = hooks["PermissionRequest"][0]["hooks"]
    assert handler["command"].endswith(" hook claude-code --timeout 600 --danger always --confirm number")
    assert "--confirm" not in hooks["PostToolUse"][0]["hooks"][0]["command"]
    assert "reflecto hook numbers" in capsys.readouterr().err
    assert main(["hook", "install", "codex", "--confirm", "hold"]) == 0
    (handler,) = hooks_in(home / "codex" / "hooks.json")["PermissionRequest"][0]["hooks"]
    assert handler["command"].endswith(" hook codex --timeout 300 --confirm hold")
    assert main(["hook", "install", "claude-code", "--http", "--confirm", "hold"]) == 0
    (handler,) = hooks_in(settings)["PermissionRequest"][0]["hooks"]
    assert handler["url"].endswith("?timeout=600&confirm=hold")


MISTAKES = {
    "a number over HTTP, where nothing could show it": ["--http", "--confirm", "number"],
    "no way to confirm": ["--confirm", "shout"],
    "unknown event": ["--events", "PermissionRequest,Everything"],
    "no event": ["--events", " "],
    "too little time": ["--timeout", "5"],
    "a server without --http": ["--url", "https://reflecto.example"],
    "no URL": ["--http", "--url", "reflecto.example"],
}


@pytest.mark.parametrize("arguments", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_changes_nothing(settings: Path, capsys: Output, arguments: list[str]):
    assert main(["hook", "install", "claude-code", *arguments]) == 2
    assert capsys.readouterr().out == ""
    assert settings.read_text() == MINE
