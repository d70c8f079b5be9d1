"""What `reflecto serve` and `reflecto invite` tell a person about pairing: also when a phone cannot open the link."""

import asyncio
from pathlib import Path

import pytest

from reflecto import server
from reflecto.bootstrap import open_services
from reflecto.cli.invitation import who_answers
from reflecto.cli.main import main
from reflecto.cli.server_options import folder_option
from reflecto.config import Settings
from reflecto.core.enrolment import Invitation
from reflecto.core.model import Owner
from reflecto.listening import Announce

Output = pytest.CaptureFixture[str]
CODE = "ABCD-EFGH-JKMN-PQRS"
INVITATION = Invitation(CODE, expires_at=1_754_800_600)


@pytest.fixture
def serve_at(monkeypatch: pytest.MonkeyPatch, capsys: Output):
    """Return what `reflecto serve` prints when it is ready under an address."""

    def announced(url: str, *options: str) -> str:
        def ready(_settings: Settings, announce: Announce) -> None:
            announce(url, url, INVITATION)

        monkeypatch.setattr(server, "run", ready)
        assert main(["serve", *options]) == 0
        return capsys.readouterr().out

    return announced


@pytest.mark.parametrize("url", ["http://127.0.0.1:8787", "http://localhost:8787", "http://[::1]:8787"])
def test_a_link_that_no_other_machine_can_open_is_said_to_be_one(serve_at, url: str):
    printed = serve_at(url)
    assert f"  Link  {url}/enroll#{CODE}\n" in printed
    assert "on this machine only" in printed
    assert "docs/https.md" in printed


@pytest.mark.parametrize(
    ("url", "is_drawn"),
    [
        ("http://127.0.0.1:8787", False),
        ("http://localhost:8787", False),
        ("http://[::1]:8787", False),
        ("https://reflecto.example", True),
        ("http://nas:8787", True),
    ],
)
def test_a_qr_code_is_drawn_of_what_another_device_can_open(serve_at, monkeypatch, url, is_drawn):
    drawn: list[str] = []
    monkeypatch.setattr("reflecto.cli.invitation.print_qr", lambda text, _out: drawn.append(text))
    printed = serve_at(url)
    assert drawn == ([f"{url}/enroll#{CODE}"] if is_drawn else [])
    assert ("scan the code" in printed) == is_drawn


def test_plain_http_is_said_to_be_for_terminals_only(serve_at):
    printed = serve_at("http://nas:8787")
    assert "terminals only" in printed
    assert "docs/https.md" in printed


def test_an_https_link_has_no_such_note(serve_at):
    printed = serve_at("https://reflecto.example")
    assert "https.md" not in printed
    assert f"In a terminal:  reflecto phone https://reflecto.example/enroll#{CODE}\n" in printed


def test_the_hint_at_further_codes_names_the_folder_they_must_be_made_in(serve_at, tmp_path: Path):
    assert "reflecto invite\n" in serve_at("https://reflecto.example")
    folder = tmp_path / "my data"
    assert f"reflecto invite --data '{folder}'\n" in serve_at("https://reflecto.example", "--data", str(folder))


def test_the_command_that_invite_prints_works_on_the_same_folder(tmp_path: Path):
    folder = tmp_path / "my data"
    owner = Owner(id="own_1", created_at=0, device_labels=())
    who = who_answers(owner, folder_option(Settings(data=folder)), new_owner=False)
    assert who.endswith(f"reflecto invite --data '{folder}' --new-owner")
    assert who_answers(owner, folder_option(Settings()), new_owner=False).endswith("reflecto invite --new-owner")


@pytest.mark.parametrize(
    ("store", "option"),
    [
        ("postgresql://me@db/reflecto", " --store postgresql://me@db/reflecto"),
        ("postgresql://me:secret@db/reflecto", ' --store "$REFLECTO_STORE"'),
        ("postgresql://me@db/reflecto?password=secret", ' --store "$REFLECTO_STORE"'),
    ],
)
def test_a_further_command_names_the_database_and_never_its_password(store: str, option: str):
    assert folder_option(Settings(store=store)) == option


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_backup_of_a_database_is_its_own_business(command: str, tmp_path: Path, capsys: Output):
    store = "postgresql://me:secret@127.0.0.1:1/reflecto"
    assert main([command, "--store", store, "--data", str(tmp_path), str(tmp_path / "file.tar")]) == 2
    printed = capsys.readouterr().err
    assert "store is a PostgreSQL database" in printed
    assert "secret" not in printed


async def run_a_server_once(folder: Path) -> None:
    services = await open_services(Settings(data=folder))
    await services.store.close()


def test_invite_says_the_same(tmp_path: Path, capsys: Output):
    asyncio.run(run_a_server_once(tmp_path / "data"))
    assert main(["invite", "--data", str(tmp_path / "data"), "--public-url", "http://nas:8787"]) == 0
    printed = capsys.readouterr().out
    assert "  Link  http://nas:8787/enroll#" in printed
    assert "terminals only" in printed
