"""`reflecto backup` and `reflecto restore`: a whole server in one file, checked on both ways."""

import io
import json
import os
import sqlite3
import stat
import tarfile
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from reflecto.store.sqlite.database import DATABASE_NAME
from tests.e2e.conftest import StartServer
from tests.e2e.phones import HTTP, Phone, ask, bearer, read
from tests.e2e.server_process import ServerProcess, run_reflecto

KEYS = ("server.key", "vapid.key")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the backup goes."""
    return tmp_path / "reflecto.tar"


@pytest.fixture
def made(server: ServerProcess, phone: Phone, data: Path, file: Path) -> Path:
    """A backup of a server that runs."""
    assert phone.call("GET", "/v1/devices").status_code == 200
    assert server.is_running
    run("backup", file, "--data", data)
    return file


def run(*arguments: str | Path) -> CompletedProcess[str]:
    """Run a command that must succeed."""
    ran = run_reflecto(*arguments)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran


def refused(*arguments: str | Path) -> str:
    """Run a command that must fail with one line, and return that."""
    ran = run_reflecto(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    return ran.stderr


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def rewrite(file: Path, change: dict[str, bytes | None]) -> None:
    """Replace or (None) take away files of a backup."""
    with tarfile.open(file) as archive:
        content = {name: archive.extractfile(name).read() for name in archive.getnames()}  # type: ignore[union-attr]
    content |= {name: new for name, new in change.items() if new is not None}
    with tarfile.open(file, "w") as archive:
        for name in content:
            if change.get(name, b"") is not None:
                entry = tarfile.TarInfo(name)
                entry.size = len(content[name])
                archive.addfile(entry, io.BytesIO(content[name]))


def manifest_of(file: Path) -> dict[str, Any]:
    with tarfile.open(file) as archive:
        described: dict[str, Any] = json.load(archive.extractfile("manifest.json"))  # type: ignore[arg-type]
        return described


def test_a_backup_of_a_running_server_is_one_private_file_that_says_what_it_is(made: Path, data: Path):
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    with tarfile.open(made) as archive:
        assert archive.getnames() == ["manifest.json", DATABASE_NAME, *KEYS]
        assert {entry.mode for entry in archive} == {0o600}
    described = manifest_of(made)
    assert (described["format"], described["owners"], described["devices"]) == (1, 1, 1)
    assert set(described["files"]) == {DATABASE_NAME, *KEYS}
    assert [path.name for path in made.parent.iterdir() if path.name.startswith(".")] == []
    assert data.exists()


def test_what_is_restored_elsewhere_is_the_same_server(
    server: ServerProcess, phone: Phone, data: Path, file: Path, tmp_path: Path, start_server: StartServer
):
    before = ask(server.url, phone.token, "Before the backup?").json()["id"]
    run("backup", file, "--data", data)
    after = ask(server.url, phone.token, "After the backup?").json()["id"]
    (last_seq, _) = phone.read_until("interaction", after)[-1]
    server.kill()

    moved = tmp_path / "moved" / "data"
    run("restore", file, "--data", moved)

    assert stat.S_IMODE(moved.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in moved.iterdir()} == dict.fromkeys(
        (DATABASE_NAME, *KEYS), 0o600
    )
    again = start_server(folder=moved)
    assert again.ready["code"] is None
    phone.url = again.url
    assert read(again.url, phone.token, before).json()["question"] == "Before the backup?"
    assert read(again.url, phone.token, after).status_code == 404
    # What is asked first gets no number that the phone has had before: it would resume behind the question.
    anew = ask(again.url, phone.token, "After the restore?").json()["id"]
    assert [envelope["id"] for _, envelope in phone.read_until("interaction", anew, after=last_seq)] == [anew]
    assert phone.answer(before, 0).status_code == 200


def test_a_backup_of_a_stopped_server_works_too(server: ServerProcess, phone: Phone, data: Path, file: Path):
    assert phone.token
    assert server.stop() == 0
    run("backup", file, "--data", data)
    assert manifest_of(file)["devices"] == 1


def test_many_backups_under_load_are_all_whole(server: ServerProcess, phone: Phone, data: Path, tmp_path: Path):
    for number in range(3):
        for _ in range(20):
            sent = HTTP.post(f"{server.url}/v1/send", json={"message": "x" * 1_000}, headers=bearer(phone.token))
            assert sent.status_code == 200
        run("backup", tmp_path / f"{number}.tar", "--data", data)
        run("restore", tmp_path / f"{number}.tar", "--data", tmp_path / f"restored-{number}")
    counts = []
    for number in range(3):
        store = sqlite3.connect(tmp_path / f"restored-{number}" / DATABASE_NAME)
        counts.append(store.execute("SELECT count(*) FROM queue").fetchone()[0])
        store.close()
    assert counts == [21, 41, 61]


def test_an_existing_file_is_kept_unless_told_otherwise(made: Path, data: Path):
    before = made.read_bytes()
    assert "--replace" in refused("backup", made, "--data", data)
    assert made.read_bytes() == before
    run("backup", made, "--data", data, "--replace")


def test_a_folder_with_a_server_is_kept_unless_told_otherwise(
    made: Path, server: ServerProcess, phone: Phone, data: Path, start_server: StartServer
):
    asked = ask(server.url, phone.token, "After the backup?").json()["id"]
    assert server.stop() == 0
    before = files_in(data)
    line = refused("restore", made, "--data", data)
    assert str(data) in line
    assert "--replace" in line
    assert files_in(data) == before
    run("restore", made, "--data", data, "--replace")
    again = start_server()
    assert read(again.url, phone.token, asked).status_code == 404


def test_a_running_server_is_never_overwritten(made: Path, server: ServerProcess, data: Path):
    assert "a server is running" in refused("restore", made, "--data", data, "--replace")
    assert HTTP.get(f"{server.url}/readyz").status_code == 200
    assert server.stop() == 0


def test_what_a_crash_left_behind_does_not_come_back_with_the_restore(
    made: Path, server: ServerProcess, phone: Phone, data: Path, start_server: StartServer
):
    asked = ask(server.url, phone.token, "After the backup?").json()["id"]
    server.kill()
    run("restore", made, "--data", data, "--replace")
    assert read(start_server().url, phone.token, asked).status_code == 404


def test_where_no_server_has_run_there_is_nothing_to_back_up(data: Path, file: Path):
    assert f"no server has run in {data}" in refused("backup", file, "--data", data)
    assert not data.exists()
    assert not file.exists()


def test_without_its_key_or_with_another_one_no_backup_is_made(server: ServerProcess, data: Path, file: Path):
    key = (data / "server.key").read_text("ascii")
    (data / "server.key").write_text("1f" * 32, "ascii")
    assert "not the key that the store was made with" in refused("backup", file, "--data", data)
    (data / "server.key").unlink()
    assert "server.key is missing" in refused("backup", file, "--data", data)
    assert not file.exists()
    (data / "server.key").write_text(key, "ascii")
    assert server.stop() == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({DATABASE_NAME: b"SQLite format 3\0"}, "damaged"),
        ({"server.key": b"00" * 32 + b"\n"}, "damaged"),
        ({"server.key": None}, "server.key"),
        ({"manifest.json": None}, "manifest.json"),
        ({"manifest.json": b"{}"}, "no backup of Reflecto"),
        ({"manifest.json": b'{"format": 2}'}, "format 2"),
        ({"manifest.json": b'{"files":' + b"[" * 30_000}, "no backup of Reflecto"),
    ],
)
def test_a_damaged_backup_is_refused_and_nothing_is_touched(
    made: Path, tmp_path: Path, change: dict[str, bytes | None], named: str
):
    rewrite(made, change)
    moved = tmp_path / "moved"
    assert named in refused("restore", made, "--data", moved)
    assert files_in(moved) == {}


@pytest.mark.parametrize("cut", [0, 300, 5_000, 60_000])
def test_a_file_that_is_cut_short_is_refused(made: Path, tmp_path: Path, cut: int):
    made.write_bytes(made.read_bytes()[:cut])
    assert str(made) in refused("restore", made, "--data", tmp_path / "moved")
    assert files_in(tmp_path / "moved") == {}


def test_names_that_lead_elsewhere_are_no_files_of_a_backup(made: Path, tmp_path: Path):
    described = manifest_of(made)
    described["files"]["../escaped"] = {"size": 1, "sha256": "00" * 32}
    rewrite(made, {"manifest.json": json.dumps(described).encode(), "../escaped": b"x"})
    assert "no backup of Reflecto" in refused("restore", made, "--data", tmp_path / "moved")
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize("name", ["manifest.json", DATABASE_NAME])
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.GNUTYPE_SPARSE, tarfile.DIRTYPE])
def test_what_is_no_plain_file_is_no_file_of_a_backup(made: Path, tmp_path: Path, name: str, kind: bytes):
    rewrite(made, {name: None})
    with tarfile.open(made, "a") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, name  # a link to itself
        archive.addfile(entry)
    assert f"{name} is no file" in refused("restore", made, "--data", tmp_path / "moved")
    assert files_in(tmp_path / "moved") == {}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root meets folders of others")
def test_as_root_the_files_belong_to_whom_the_folder_belongs(made: Path, tmp_path: Path):
    moved = tmp_path / "moved"
    moved.mkdir(0o700)
    os.chown(moved, 12_345, 12_346)
    run("restore", made, "--data", moved)
    owners = {path.name: (path.stat().st_uid, path.stat().st_gid) for path in moved.iterdir()}
    assert owners == dict.fromkeys((DATABASE_NAME, *KEYS), (12_345, 12_346))
