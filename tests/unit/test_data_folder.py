"""The data folder: made at first start, refused when it is not the one the store was made with."""

import os
import stat
from pathlib import Path

import pytest

from reflecto.bootstrap import open_services
from reflecto.config import Settings
from reflecto.data_folder import DataFolderError, give_files_to_owner, make_folder
from reflecto.server_keys import ServerKeysError


def mode_of(path: Path) -> int:
    """Return the permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


def write(path: Path, text: str) -> None:
    """Replace the file's content."""
    path.write_text(text, encoding="ascii")


async def start(folder: Path) -> str | None:
    """Open the services on `folder`, close them, and return the server's public key in hex."""
    services = await open_services(Settings(data=folder))
    key = await services.store.recall("server_public_key")
    await services.store.close()
    return key


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that does not exist yet, in one that does not either."""
    return tmp_path / "state" / "reflecto"


async def test_folder_and_key_are_made_for_their_owner_only_and_kept(folder: Path):
    key = await start(folder)
    assert key
    assert mode_of(folder) == 0o700
    assert mode_of(folder / "server.key") == 0o600
    assert await start(folder) == key


async def test_a_missing_key_is_not_made_anew_behind_the_devices_back(folder: Path):
    await start(folder)
    (folder / "server.key").unlink()
    with pytest.raises(DataFolderError, match=r"server\.key is missing.*backup"):
        await start(folder)


async def test_the_key_of_another_store_is_refused(folder: Path, tmp_path: Path):
    await start(folder)
    await start(tmp_path / "other")
    write(folder / "server.key", _text(tmp_path / "other" / "server.key"))
    with pytest.raises(ServerKeysError, match="not the key this store was made with"):
        await start(folder)


@pytest.mark.parametrize("damage", ["", "zz", "00" * 31, "00" * 33, "\n"])
async def test_a_damaged_key_is_refused_and_left_alone(folder: Path, damage: str):
    await start(folder)
    write(folder / "server.key", damage)
    with pytest.raises(DataFolderError, match=r"server\.key"):
        await start(folder)
    assert _text(folder / "server.key") == damage


async def test_a_folder_that_cannot_be_made_says_why(tmp_path: Path):
    write(tmp_path / "file", "in the way")
    with pytest.raises(DataFolderError, match="cannot make the data folder"):
        await start(tmp_path / "file" / "reflecto")


def _modes_in(folder: Path) -> dict[str, int]:
    return {path.name: mode_of(path) for path in folder.iterdir()} if folder.exists() else {}


def _text(path: Path) -> str:
    return path.read_text("ascii")


@pytest.mark.skipif(os.name != "posix", reason="modes are Unix'")
async def test_a_key_that_others_can_read_is_made_private_and_said_so(folder: Path, caplog: pytest.LogCaptureFixture):
    key = await start(folder)
    (folder / "server.key").chmod(0o644)
    assert await start(folder) == key
    assert mode_of(folder / "server.key") == 0o600
    assert [record.getMessage() for record in caplog.records] == [
        f"others could read the key in {folder / 'server.key'}; they may have it"
    ]


@pytest.mark.skipif(os.name != "posix", reason="modes are Unix'")
async def test_a_store_that_others_can_read_is_made_private_with_its_log_and_said_so(
    folder: Path, caplog: pytest.LogCaptureFixture
):
    await start(folder)
    (folder / "reflecto.sqlite3").chmod(0o644)
    services = await open_services(Settings(data=folder))
    await services.store.remember("a", "1")
    modes = _modes_in(folder)
    await services.store.close()
    assert {"reflecto.sqlite3", "reflecto.sqlite3-wal", "reflecto.sqlite3-shm"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert [record.getMessage() for record in caplog.records] == [
        f"others could read the store in {folder / 'reflecto.sqlite3'}; they may have it"
    ]


@pytest.mark.skipif(os.name != "posix", reason="modes are Unix'")
async def test_a_log_that_others_can_read_is_made_private_too(folder: Path):
    services = await open_services(Settings(data=folder))
    await services.store.remember("a", "1")
    (folder / "reflecto.sqlite3-wal").chmod(0o644)
    other = await open_services(Settings(data=folder), is_server=False)
    assert mode_of(folder / "reflecto.sqlite3-wal") == 0o600
    await other.store.close()
    await services.store.close()


@pytest.mark.parametrize("exists", [False, True])
async def test_a_command_beside_the_server_makes_no_folder_and_no_store(folder: Path, *, exists: bool):
    if exists:
        make_folder(folder)
    with pytest.raises(DataFolderError, match=f"no server has run in {folder}.*--data.*--store"):
        await open_services(Settings(data=folder), is_server=False)
    assert _modes_in(folder) == {}


@pytest.mark.skipif(os.name != "posix", reason="modes are Unix'")
def test_a_folder_that_others_can_change_is_warned_about(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    make_folder(tmp_path / "new")
    (tmp_path / "new").chmod(0o755)
    make_folder(tmp_path / "new")
    assert caplog.records == []
    (tmp_path / "new").chmod(0o777)
    make_folder(tmp_path / "new")
    assert "others can replace the files" in caplog.text


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_root_gives_away_no_file_that_a_link_in_the_folder_leads_to(tmp_path: Path):
    folder, secret = tmp_path / "data", tmp_path / "secret"
    folder.mkdir()
    for path in (secret, folder / "reflecto.sqlite3"):
        path.touch()
    (folder / "symbolic").symlink_to(secret)
    (folder / "hard").hardlink_to(secret)
    os.chown(folder, 12_345, 12_346)
    give_files_to_owner(folder)
    owners = {path.name: path.stat().st_uid for path in (secret, folder / "reflecto.sqlite3")}
    assert owners == {"secret": os.geteuid(), "reflecto.sqlite3": 12_345}
