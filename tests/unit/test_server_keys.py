"""A server's own keys: in its folder or in one secret, known to the store, and taken to other machines."""

import asyncio
import logging
import os
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reflecto.bootstrap import open_services, open_store
from reflecto.cli.keys import keys as keys_command
from reflecto.config import Settings
from reflecto.crypto.server_keys import BadServerKeysError, ServerKeys
from reflecto.data_folder import DataFolderError
from reflecto.logs import redact
from reflecto.server_keys import ServerKeysError, load_keys, put_keys
from reflecto.store.sqlite.store import SqliteStore
from tests.databases import Databases
from tests.e2e.server_process import REFLECTO


async def start(folder: Path, secret: str | None = None) -> tuple[str | None, str]:
    """Open the services on `folder` and close them; return the public keys: phones', push services'."""
    services = await open_services(Settings(data=folder, keys=secret))
    key = await services.store.recall("server_public_key")
    await services.store.close()
    return key, services.push_key


async def load(folder: Path, store_folder: Path, *, is_shared: bool = True) -> ServerKeys:
    """Load the keys of `folder` for the store in another one, as a machine of several does."""
    store = SqliteStore.open(store_folder)
    try:
        return await load_keys(store, folder, is_shared=is_shared)
    finally:
        await store.close()


def run(*arguments: str | Path, given: str | None = None, env: dict[str, str] | None = None) -> Result:
    """Run `reflecto keys`."""
    return CliRunner().invoke(keys_command, [*map(str, arguments)], input=given, env=env)


def exported(folder: Path, file: Path) -> str:
    """Return the line of an export."""
    ran = run("export", "--data", folder, file)
    assert ran.exit_code == 0, ran.output
    return file.read_text("ascii")


def files(folder: Path) -> dict[str, bytes]:
    """Return the files with keys in a folder."""
    return {path.name: path.read_bytes() for path in folder.glob("*.key")}


def test_keys_become_one_text_and_come_back():
    keys = ServerKeys.generate()
    assert ServerKeys.from_text(f" {keys.to_text()}\n") == keys
    assert ServerKeys.from_text(keys.to_text()).push.public == keys.push.public


def test_a_text_with_a_wrong_character_or_cut_short_is_refused_and_not_repeated():
    text = ServerKeys.generate().to_text()
    wrong = [text[:20] + ("A" if text[20] != "A" else "B") + text[21:], text[:-1], text + "A", "", "rfkeys_"]
    for each in wrong:
        with pytest.raises(BadServerKeysError) as caught:
            ServerKeys.from_text(each)
        assert text[10:19] not in str(caught.value)


def test_a_log_shows_no_keys():
    text = ServerKeys.generate().to_text()
    assert redact(f"REFLECTO_KEYS={text} was given") == "REFLECTO_KEYS=[keys] was given"
    assert text[7:] not in repr(ServerKeys.from_text(text))


async def test_a_server_with_its_keys_in_the_environment_writes_none_into_its_folder(tmp_path: Path):
    keys = ServerKeys.generate()
    made = (keys.box.public.hex(), keys.push.public)
    assert await start(tmp_path, keys.to_text()) == made
    assert await start(tmp_path, keys.to_text()) == made
    assert files(tmp_path) == {}


async def test_another_secret_than_the_store_knows_is_refused(tmp_path: Path):
    await start(tmp_path, ServerKeys.generate().to_text())
    with pytest.raises(ServerKeysError, match=r"REFLECTO_KEYS: .* not the key this store was made with"):
        await start(tmp_path, ServerKeys.generate().to_text())
    with pytest.raises(ServerKeysError, match="REFLECTO_KEYS: a server's keys are rfkeys_"):
        await start(tmp_path, "nonsense")


async def test_of_two_machines_that_start_at_once_with_folders_of_their_own_one_is_refused_and_left_without_keys(
    tmp_path: Path,
):
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    results = await asyncio.gather(*(load(each, tmp_path) for each in folders), return_exceptions=True)
    refused = [each for each in results if isinstance(each, BaseException)]
    assert len(refused) == 1
    assert isinstance(refused[0], ServerKeysError | DataFolderError)
    assert sorted(len(files(each)) for each in folders) == [0, 2]


async def test_a_machine_without_the_keys_of_a_shared_store_makes_none_and_says_where_they_are(tmp_path: Path):
    await load(tmp_path, tmp_path)
    with pytest.raises(DataFolderError, match=r"server\.key is missing.*reflecto keys export.*REFLECTO_KEYS"):
        await load(tmp_path / "other", tmp_path)
    (tmp_path / "vapid.key").unlink()
    with pytest.raises(DataFolderError, match=r"vapid\.key is missing.*reflecto keys export"):
        await load(tmp_path, tmp_path)
    assert list(files(tmp_path)) == ["server.key"]


async def test_a_lost_key_for_pushes_is_made_anew_where_the_server_is_alone_and_the_store_knows_it_then(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    before = await start(tmp_path)
    (tmp_path / "vapid.key").unlink()
    with caplog.at_level(logging.WARNING):
        after = await start(tmp_path)
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert "a new key for pushes" in caplog.text
    caplog.clear()
    assert await start(tmp_path) == after
    assert caplog.text == ""


async def test_machines_with_one_secret_are_one_server_on_one_database_and_keep_no_folder(
    tmp_path: Path, databases: Databases
):
    database, keys = await databases.of(tmp_path), ServerKeys.generate()
    found = []
    for name in ("a", "b"):
        settings = Settings(data=tmp_path / name, store=database, keys=keys.to_text())
        services = await open_services(settings)
        found.append((await services.store.recall("server_public_key"), services.push_key))
        await services.store.close()
    assert found == [(keys.box.public.hex(), keys.push.public)] * 2
    assert files(tmp_path) == files(tmp_path / "a") == files(tmp_path / "b") == {}
    with pytest.raises(DataFolderError, match=r"server\.key is missing.*reflecto keys export"):
        await open_services(Settings(data=tmp_path / "c", store=database))
    put_keys(tmp_path / "c", keys)
    services = await open_services(Settings(data=tmp_path / "c", store=database))
    assert services.push_key == keys.push.public
    await services.store.close()
    databases.give_back(tmp_path)


async def test_another_key_for_pushes_is_refused_on_a_shared_store(tmp_path: Path):
    await load(tmp_path, tmp_path)
    await start(tmp_path / "other")
    (tmp_path / "vapid.key").write_bytes((tmp_path / "other" / "vapid.key").read_bytes())
    with pytest.raises(ServerKeysError, match=r"the key for pushes \(vapid\.key\) is not the one of this store"):
        await load(tmp_path, tmp_path)


async def test_a_store_from_before_the_key_for_pushes_was_known_takes_the_one_of_its_folder(tmp_path: Path):
    before = await start(tmp_path)
    store = await open_store(Settings(data=tmp_path))
    assert isinstance(store, SqliteStore)
    await store._database.write(lambda connection: connection.execute("DELETE FROM installation"))  # noqa: SLF001
    await store.remember("server_public_key", str(before[0]))
    await store.close()
    assert await start(tmp_path) == before
    store = await open_store(Settings(data=tmp_path))
    assert await store.recall("push_public_key") == before[1]
    await store.close()


@pytest.mark.skipif(os.name != "posix", reason="modes are Unix'")
def test_an_export_is_one_private_line_for_the_environment_and_never_overwrites(tmp_path: Path):
    known = asyncio.run(start(tmp_path / "data"))
    line = exported(tmp_path / "data", tmp_path / "keys.env")
    assert stat.S_IMODE((tmp_path / "keys.env").stat().st_mode) == 0o600
    name, _, text = line.rstrip("\n").partition("=")
    keys = ServerKeys.from_text(text)
    assert (name, keys.box.public.hex(), keys.push.public) == ("REFLECTO_KEYS", *known)
    again = run("export", "--data", tmp_path / "data", tmp_path / "keys.env")
    assert isinstance(again.exception, FileExistsError)
    assert (tmp_path / "keys.env").read_text("ascii") == line


def test_keys_are_not_written_where_no_person_reads(tmp_path: Path):
    asyncio.run(start(tmp_path))
    for arguments in (["export", "--data", tmp_path], ["new"]):
        ran = run(*arguments)
        assert ran.exit_code == 2
        assert "no terminal" in ran.output
        assert "rfkeys_" not in ran.output


@pytest.mark.skipif(os.name != "posix", reason="a terminal as Unix has it")
def test_new_keys_are_shown_on_a_terminal_alone():
    import pty  # noqa: PLC0415  Windows has none

    terminal, end = pty.openpty()
    try:
        ran = subprocess.run([*REFLECTO, "keys", "new"], stdout=end, stderr=subprocess.PIPE, check=True, timeout=30)
        shown = os.read(terminal, 4096).decode()
    finally:
        os.close(end)
        os.close(terminal)
    assert ServerKeys.from_text(shown.strip().removeprefix("REFLECTO_KEYS="))
    assert b"rfkeys_" not in ran.stderr


@pytest.mark.parametrize("form", ["REFLECTO_KEYS={}\n", "{}", "REFLECTO_KEYS='{}'\n"])
def test_what_was_exported_can_be_imported_into_the_folder_that_lost_it(tmp_path: Path, form: str):
    asyncio.run(start(tmp_path / "data"))
    text = exported(tmp_path / "data", tmp_path / "keys.env").strip().removeprefix("REFLECTO_KEYS=")
    before = files(tmp_path / "data")
    for name in before:
        (tmp_path / "data" / name).unlink()
    ran = run("import", "--data", tmp_path / "data", "-", given=form.format(text))
    assert ran.exit_code == 0, ran.output
    assert text not in ran.output
    assert files(tmp_path / "data") == before
    assert asyncio.run(start(tmp_path / "data"))


def test_an_import_refuses_keys_that_the_store_does_not_know_and_leaves_the_folder_alone(tmp_path: Path):
    asyncio.run(start(tmp_path / "data"))
    before = files(tmp_path / "data")
    foreign = ServerKeys.generate().to_text()
    for given, expected in ((foreign, "not the key this store was made with"), ("rfkeys_x", "rfkeys_ and 91")):
        ran = run("import", "--data", tmp_path / "data", "-", given=given)
        assert isinstance(ran.exception, ServerKeysError)
        assert expected in str(ran.exception)
        assert foreign not in str(ran.exception)
    assert files(tmp_path / "data") == before


def test_an_export_of_keys_from_the_environment_is_those(tmp_path: Path):
    keys = ServerKeys.generate()
    asyncio.run(start(tmp_path / "data", keys.to_text()))
    ran = run("export", "--data", tmp_path / "data", tmp_path / "keys.env", env={"REFLECTO_KEYS": keys.to_text()})
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / "keys.env").read_text("ascii") == f"REFLECTO_KEYS={keys.to_text()}\n"
