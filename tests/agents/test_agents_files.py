"""What is read of a file that an agent would change: a plain text file, and nothing is waited for."""

import os
from pathlib import Path

import pytest

from reflecto.agents.edits import FILE_MAX_BYTES
from reflecto.cli.agents_files import read_text


def test_a_text_is_read_with_line_feeds(tmp_path: Path):
    file = tmp_path / "a.txt"
    file.write_bytes("é\r\nx\n".encode())
    assert read_text(str(file)) == "é\nx\n"


def test_a_file_that_is_not_there_is_told_from_one_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        read_text(str(tmp_path / "a.txt"))


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


UNREADABLE = {
    "a folder": Path.mkdir,
    "a pipe that nobody writes to": make_pipe,
    "no UTF-8": lambda path: path.write_bytes(b"\xff"),
    "too long": lambda path: path.write_bytes(b"x" * (FILE_MAX_BYTES + 1)),
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_anything_else_is_refused_at_once(tmp_path: Path, make):
    path = tmp_path / "file"
    make(path)
    with pytest.raises(OSError, match=r".") as refused:
        read_text(str(path))
    assert not isinstance(refused.value, FileNotFoundError)


def test_a_device_is_refused():
    with pytest.raises(OSError, match="no plain file"):
        read_text("/dev/zero")
