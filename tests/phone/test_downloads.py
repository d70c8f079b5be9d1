"""The downloads folder: nothing is replaced, nothing lands elsewhere, nothing is half written."""

import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflecto.contract.filenames import is_safe_filename
from reflecto.phone.downloads import NAME_MAX_BYTES, DownloadError, Downloads, numbered, safe_name

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes and links")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_text_is_saved_to_the_byte_under_its_name_in_a_folder_that_is_made(tmp_path: Path):
    path = Downloads(tmp_path / "new" / "downloads").save("report.csv", "é\r\nä\n\U0001f600")
    assert path == tmp_path / "new" / "downloads" / "report.csv"
    assert path.read_bytes() == "é\r\nä\n\U0001f600".encode()
    assert names(path.parent) == ["report.csv"]


def test_what_is_there_is_never_replaced(tmp_path: Path):
    downloads = Downloads(tmp_path)
    paths = [downloads.save("report.txt", str(number)) for number in range(3)]
    assert [path.name for path in paths] == ["report.txt", "report (2).txt", "report (3).txt"]
    assert [path.read_text("utf-8") for path in paths] == ["0", "1", "2"]


@POSIX
def test_it_is_private_whatever_the_umask(tmp_path: Path):
    before = os.umask(0)
    try:
        path = Downloads(tmp_path).save("report.txt", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@POSIX
@pytest.mark.parametrize("target", ["outside.txt", "nowhere.txt"])
def test_a_link_that_somebody_left_there_is_not_followed(tmp_path: Path, target: str):
    (tmp_path / "outside.txt").write_text("mine", "utf-8")
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "report.txt").symlink_to(tmp_path / target)

    path = Downloads(folder).save("report.txt", "theirs")

    assert path.name == "report (2).txt"
    assert (tmp_path / "outside.txt").read_text("utf-8") == "mine"
    assert not (tmp_path / "nowhere.txt").exists()


@POSIX
def test_without_hard_links_it_still_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    paths = [Downloads(tmp_path).save("report.txt", text) for text in ("one", "two")]
    assert [path.read_text("utf-8") for path in paths] == ["one", "two"]
    assert names(tmp_path) == ["report (2).txt", "report.txt"]


@pytest.mark.parametrize(
    ("claimed", "used"),
    [
        ("report.txt", "report.txt"),
        ("../../.ssh/authorized_keys", "_authorized_keys.txt"),
        ("/etc/cron.d/job", "_job.txt"),
        ("..\\..\\run.bat", "_run.bat.txt"),
        ("C:\\autoexec.bat", "_autoexec.bat.txt"),
        ("script.sh", "_script.sh.txt"),
        ("page.html", "_page.html.txt"),
        (".bashrc", "_bashrc.txt"),
        ("CON.txt", "_CON.txt.txt"),
        ("report.txt.", "_report.txt.txt"),
        ("invoice\u202etxt.exe", "_invoice_txt.exe.txt"),
        ("a\x00b.txt", "_a_b.txt.txt"),
        ("..", "_.txt"),
        ("", "_.txt"),
        ("x" * 500 + ".txt", "_" + "x" * 80 + ".txt"),
    ],
)
def test_a_name_that_no_honest_server_lets_through_is_made_harmless(claimed: str, used: str):
    assert safe_name(claimed) == used


@given(st.text(st.characters(codec="utf-8"), max_size=150))
@settings(max_examples=200)
def test_whatever_the_name_it_stays_in_the_folder(name: str):
    used = safe_name(name)
    assert is_safe_filename(used)
    path = Path("/downloads") / numbered(used, 7)
    assert path.parent == Path("/downloads")
    assert len(path.name.encode()) <= NAME_MAX_BYTES


def test_a_long_name_is_cut_between_code_points_and_keeps_its_ending(tmp_path: Path):
    name = "報" * 116 + ".txt"
    assert is_safe_filename(name)
    paths = [Downloads(tmp_path).save(name, text) for text in ("one", "two")]
    assert [path.name for path in paths] == ["報" * 83 + ".txt", "報" * 82 + " (2).txt"]


@POSIX
@pytest.mark.skipif(sys.platform != "win32" and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(DownloadError, match="Permission denied"):
            Downloads(tmp_path / "new").save("report.txt", "x")
    finally:
        tmp_path.chmod(0o700)


def test_a_file_where_the_folder_should_be_is_said(tmp_path: Path):
    place = tmp_path / "downloads"
    place.write_text("x", "utf-8")
    with pytest.raises(DownloadError, match="downloads"):
        Downloads(place).save("report.txt", "x")


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DownloadError, match="No space left"):
        Downloads(tmp_path).save("report.txt", "x")
    assert names(tmp_path) == []
