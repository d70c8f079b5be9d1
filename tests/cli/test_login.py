"""`reflecto login`: what it checks, and what it leaves on disk."""

import io
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from reflecto.cli.main import main
from tests.client.asker_server import TOKEN, AskerServer, Reply, replying

Output = pytest.CaptureFixture[str]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_checks_the_pair_and_stores_it_for_the_owner_alone(server: AskerServer, client_file: Path, capsys: Output):
    assert main(["login", "--url", f"{server.url}/", "--token", f" {TOKEN}\n"]) == 0
    assert tomllib.loads(client_file.read_text()) == {"url": server.url, "token": TOKEN}
    assert (mode_of(client_file), mode_of(client_file.parent)) == (0o600, 0o700)
    assert [request.method for request in server.received] == ["GET"]
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"Saved in {client_file}\n")


@pytest.mark.parametrize("ending", ["/enroll#ABCD-EFGH-JKMN-PQRS", "/enroll#", "/enroll", "/enroll/"])
def test_the_link_that_paired_the_phone_means_its_server(server: AskerServer, client_file: Path, ending: str):
    assert main(["login", "--url", f"{server.url}{ending}", "--token", TOKEN]) == 0
    assert tomllib.loads(client_file.read_text()) == {"url": server.url, "token": TOKEN}


def test_the_token_can_come_from_standard_input(server: AskerServer, client_file: Path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{TOKEN}\n"))
    assert main(["login", "--url", server.url, "--token", "-"]) == 0
    assert tomllib.loads(client_file.read_text())["token"] == TOKEN


def test_a_token_that_the_server_refuses_is_not_stored(server: AskerServer, client_file: Path, capsys: Output):
    assert main(["login", "--url", server.url, "--token", "rfk_live_" + "b" * 32]) == 6
    assert not client_file.exists()
    out, err = capsys.readouterr()
    assert err.startswith("Error: ")
    assert "bbbb" not in out + err


def test_a_server_that_cannot_be_reached_is_not_stored_unless_unchecked(server: AskerServer, client_file: Path):
    server.stop()
    assert main(["login", "--url", server.url, "--token", TOKEN]) == 5
    assert not client_file.exists()
    assert main(["login", "--url", server.url, "--token", TOKEN, "--no-check"]) == 0
    assert tomllib.loads(client_file.read_text())["url"] == server.url


def test_a_token_that_may_not_ask_is_stored_with_a_warning(server: AskerServer, client_file: Path, capsys: Output):
    server.faults["GET"].append(replying(Reply.error(403, "scope_denied")))
    assert main(["login", "--url", server.url, "--token", TOKEN]) == 0
    assert "may not ask" in capsys.readouterr().err
    assert client_file.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--url", "reflecto.example", "--token", TOKEN],
        ["--url", "https://me:pw@reflecto.example", "--token", TOKEN],
        ["--url", "https://reflecto.example", "--token", "rfd_live_" + "a" * 32],
        ["--url", 'https://reflecto.example/"', "--token", TOKEN],
        ["--token", TOKEN],
        ["--url", "https://reflecto.example"],
    ],
    ids=["no scheme", "password", "device token", "quote", "no url, no terminal", "no token, no terminal"],
)
def test_what_cannot_work_is_refused_even_unchecked(client_file: Path, monkeypatch, arguments: list[str]):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["login", "--no-check", *arguments]) == 2
    assert not client_file.exists()


def test_a_file_that_others_could_read_is_replaced_by_one_that_they_cannot(server: AskerServer, client_file: Path):
    client_file.parent.mkdir()
    client_file.write_text('url = "https://old.example"\n')
    client_file.chmod(0o644)
    assert main(["login", "--url", server.url, "--token", TOKEN]) == 0
    assert mode_of(client_file) == 0o600
    assert [path.name for path in client_file.parent.iterdir()] == ["client.toml"]


def test_a_link_of_a_dotfile_manager_stays_a_link(server: AskerServer, client_file: Path, tmp_path: Path):
    kept = tmp_path / "dotfiles" / "reflecto.toml"
    kept.parent.mkdir()
    kept.write_text("")
    client_file.parent.mkdir()
    client_file.symlink_to(kept)
    assert main(["login", "--url", server.url, "--token", TOKEN]) == 0
    assert client_file.is_symlink()
    assert tomllib.loads(kept.read_text())["token"] == TOKEN


def test_a_folder_that_cannot_be_written_is_one_line(server: AskerServer, client_file: Path, capsys: Output):
    client_file.parent.write_text("not a folder")
    assert main(["login", "--url", server.url, "--token", TOKEN]) == 9
    err = capsys.readouterr().err
    assert err.startswith("Error: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "text", ["url = ", "token = 7", 'url = ["https://reflecto.example"]', "\x00"], ids=["cut", "number", "list", "nul"]
)
def test_a_damaged_file_is_a_usage_error_of_ask(client_file: Path, capsys: Output, text: str):
    client_file.parent.mkdir()
    client_file.write_text(text)
    client_file.chmod(0o600)
    assert main(["ask", "Deploy?"]) == 2
    assert str(client_file) in capsys.readouterr().err


def test_without_any_settings_ask_says_how_to_log_in(client_file: Path, capsys: Output, monkeypatch):
    monkeypatch.delenv("REFLECTO_CLIENT_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(client_file.parent))
    monkeypatch.setenv("HOME", str(client_file.parent))
    assert main(["ask", "Deploy?"]) == 2
    assert "reflecto login" in capsys.readouterr().err
