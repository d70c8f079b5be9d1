"""`make setup PYTHON=…`: the interpreter that was named is the one that is used, also where another has its version."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = (ROOT / "scripts" / "setup").read_text("utf-8")
FUNCTIONS = SCRIPT[SCRIPT.index("is_usable()") : SCRIPT.index("# Sets `python`")]


def interpreter(path: Path, base: Path) -> Path:
    """An interpreter that says of itself that it is `base`, whatever environment it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] && exec "{sys.executable}" -c "import sys; sys._base_executable = \'{base}\'\n$2"\n',
        "utf-8",
    )
    path.chmod(0o700)
    return path


def is_usable(folder: Path, python: str) -> bool:
    """Ask the script whether the environment in `folder` is what PYTHON= wants."""
    commands = f"set -eu\nstamp=.venv/none\nhere=$(pwd -P)\n{FUNCTIONS}\nis_usable"
    return subprocess.run(["sh", "-c", commands], cwd=folder, env={"PYTHON": python}, check=False).returncode == 0


@pytest.fixture
def bases(tmp_path: Path) -> list[Path]:
    """Two interpreters of one version."""
    return [interpreter(tmp_path / name / "python3", tmp_path / name / "python3") for name in ("system", "own")]


def test_an_environment_of_the_named_interpreter_is_kept(tmp_path: Path, bases: list[Path]):
    interpreter(tmp_path / ".venv" / "bin" / "python", bases[0])
    assert is_usable(tmp_path, str(bases[0]))
    assert is_usable(tmp_path, "")


def test_another_interpreter_of_the_same_version_is_another_one(tmp_path: Path, bases: list[Path]):
    interpreter(tmp_path / ".venv" / "bin" / "python", bases[0])
    assert not is_usable(tmp_path, str(bases[1]))


def test_a_name_that_leads_to_the_same_interpreter_is_the_same_one(tmp_path: Path, bases: list[Path]):
    interpreter(tmp_path / ".venv" / "bin" / "python", bases[0])
    link = tmp_path / "link"
    link.symlink_to(bases[0])
    inside = interpreter(tmp_path / "other-venv" / "python", link)
    assert is_usable(tmp_path, str(inside))


def test_an_interpreter_that_does_not_start_is_no_reason_to_keep_another(tmp_path: Path, bases: list[Path]):
    interpreter(tmp_path / ".venv" / "bin" / "python", bases[0])
    assert not is_usable(tmp_path, str(tmp_path / "no-such-python"))
