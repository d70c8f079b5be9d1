"""What comes through a pipe: UTF-8, with or without Windows' mark, and nothing else."""

import io
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from reflecto.cli.streams import read_standard_input
from reflecto.client.files import text_of


def give(monkeypatch: pytest.MonkeyPatch, content: bytes, encoding: str = "utf-8") -> None:
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding=encoding, errors="surrogateescape")
    )


def test_bytes_that_are_no_utf_8_are_called_so(monkeypatch: pytest.MonkeyPatch):
    give(monkeypatch, "Prüfung fertig".encode("latin-1"))
    with pytest.raises(click.UsageError, match="on standard input is not UTF-8; convert it first") as caught:
        read_standard_input(100, "the message")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_the_mark_is_taken_off_and_the_locale_does_not_matter(monkeypatch: pytest.MonkeyPatch, encoding: str):
    give(monkeypatch, "\ufeffPrüfung\r\nfertig".encode(), encoding)
    assert read_standard_input(100, "the message") == "Prüfung\nfertig"


def test_an_endless_text_is_read_to_its_bound_and_no_character_is_cut(monkeypatch: pytest.MonkeyPatch):
    give(monkeypatch, ("a" + "🚀" * 1_000).encode())
    assert read_standard_input(10, "the message") == "a" + "🚀" * 9


def test_a_file_has_no_mark_either():
    assert text_of(b"\xef\xbb\xbfa;b\r\n") == "a;b\r\n"


@pytest.mark.parametrize(
    "command",
    [["ask", "-"], ["send", "-"], ["file", "-", "--name", "a.txt"], ["devices", "--token", "-"]],
    ids=" ".join,
)
def test_standard_input_that_cannot_be_read_is_bad_usage(tmp_path: Path, command: list[str]):
    with (tmp_path / "written").open("wb") as only_written:
        ran = subprocess.run(
            [sys.executable, "-m", "reflecto.cli.main", *command, "--url", "http://127.0.0.1:9"],
            env=os.environ | {"REFLECTO_TOKEN": "rfk_live_" + "a" * 32},
            stdin=only_written,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "cannot be read from standard input" in ran.stderr
