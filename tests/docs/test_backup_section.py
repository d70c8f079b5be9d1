"""What docs/self-host.md shows of backup and restore works, with the page's own commands."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from reflecto.store.sqlite.database import DATABASE_NAME
from tests.e2e.phones import Phone, ask, read
from tests.e2e.server_process import ServerProcess, environment

PAGE: Final = (Path(__file__).parents[2] / "docs" / "self-host.md").read_text("utf-8")
COMMAND: Final = "/opt/reflecto/.venv/bin/reflecto"


def block(containing: str) -> str:
    """Return the page's only block of shell that contains a text."""
    (found,) = [
        each for each in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if containing in each
    ]
    return str(found)


class Machine:
    """This machine with the page's folders moved into a folder of the test, and systemd's part played by it."""

    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self._root = root
        (root / "bin").mkdir()
        (root / "backups").mkdir()
        for name, script in {"sudo": 'exec "$@"', "systemctl": f'echo "$*" >> {root / "systemctl"}'}.items():
            (root / "bin" / name).write_text(f"#!/bin/sh\n{script}\n", "utf-8")
            (root / "bin" / name).chmod(0o755)

    def run(self, commands: str) -> str:
        """Run a block of the page and return what it printed."""
        for there, here in {
            COMMAND: f"{Path(sys.executable).parent / 'reflecto'}",
            "/var/lib/reflecto": str(self.data),
            "/var/backups": str(self._root / "backups"),
        }.items():
            assert there in commands
            commands = commands.replace(there, here)
        ran = subprocess.run(
            ["sh", "-euc", commands],
            env=environment({"PATH": f"{self._root / 'bin'}:/usr/bin:/bin"}),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def systemd_was_told(self) -> list[str]:
        """Return what systemctl was called with."""
        return (self._root / "systemctl").read_text("utf-8").splitlines()

    def backups(self) -> list[Path]:
        """Return the files in the folder of backups."""
        return list((self._root / "backups").iterdir())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Where the commands run."""
    return Machine(tmp_path)


def test_the_commands_back_a_running_server_up_and_put_it_back(machine: Machine):
    with ServerProcess(machine.data) as server:
        phone = Phone.enrol(server.url, server.ready["code"])
        before = ask(server.url, phone.token, "Before the backup?").json()["id"]
        assert "checked" in machine.run(block("reflecto backup"))
        after = ask(server.url, phone.token, "After the backup?").json()["id"]
        server.kill()

    assert "Start the server." in machine.run(block("reflecto restore"))

    assert machine.systemd_was_told() == ["stop reflecto", "start reflecto"]
    with ServerProcess(machine.data) as again:
        assert read(again.url, phone.token, before).json()["question"] == "Before the backup?"
        assert read(again.url, phone.token, after).status_code == 404


def test_the_table_lists_what_is_in_the_file(machine: Machine):
    with ServerProcess(machine.data):
        machine.run(block("reflecto backup"))
    (made,) = machine.backups()
    listed = subprocess.run(["tar", "-tf", str(made)], capture_output=True, text=True, check=True).stdout.split()
    section = PAGE[PAGE.index("| in it |") : PAGE.index("A plain `cp`")]
    assert listed == re.findall(r"`([\w.]+\.(?:json|sqlite3|key))`", section)
    assert DATABASE_NAME in listed
