"""Calls that wait on this machine at the same time: told apart, and ended by the hook that learns that one is over."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reflecto.cli.open_calls import OpenCalls

WAIT_SECONDS = 20
HOLD = """
import sys, pathlib, time
from reflecto.cli.open_calls import OpenCalls
from reflecto.cli.interruption import signals_interrupt
with OpenCalls(pathlib.Path(sys.argv[1])).claim("call") as number, signals_interrupt():
    print(number, flush=True)
    sys.stdin.read()
"""


def start(folder: Path) -> "subprocess.Popen[str]":
    """Start a process that holds a place until it is told to end, and return it once it has one."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def number_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_calls_that_look_the_same_have_numbers_of_their_own_and_the_first_is_ended_first(tmp_path: Path):
    folder = tmp_path / "calls"
    with start(folder) as first:
        assert number_of(first) == "0"
        with start(folder) as second:
            assert number_of(second) == "1"
            OpenCalls(folder).end("another")
            OpenCalls(folder).end("call")
            assert first.wait(WAIT_SECONDS) == 1
            assert second.poll() is None
            OpenCalls(folder).end("call")
            assert second.wait(WAIT_SECONDS) == 1
    assert list(folder.iterdir()) == []


def test_a_killed_one_gives_its_number_back_and_nobody_else_is_ended_for_it(tmp_path: Path):
    folder = tmp_path / "calls"
    with start(folder) as killed:
        number_of(killed)
        killed.send_signal(signal.SIGKILL)
        killed.wait(WAIT_SECONDS)
    (left,) = folder.iterdir()
    left.write_text(str(os.getpid()))  # its number may be another process's by now
    OpenCalls(folder).end("call")
    with OpenCalls(folder).claim("call") as number:
        assert number == 0


def test_where_nothing_is_open_nothing_is_made(tmp_path: Path):
    OpenCalls(tmp_path / "calls").end("call")
    assert not (tmp_path / "calls").exists()


@pytest.mark.parametrize("mode", [0o777, 0o750])
def test_a_folder_that_others_can_write_to_is_not_believed(tmp_path: Path, mode: int):
    folder = tmp_path / "calls"
    folder.mkdir()
    folder.chmod(mode)
    (folder / "call-0").write_text(str(os.getpid()))
    OpenCalls(folder).end("call")
    with OpenCalls(folder).claim("call") as number:
        assert number == 0
    assert [path.name for path in folder.iterdir()] == ["call-0"]
