"""A whole server in one file: made while it runs, checked, and put back. docs/self-host.md describes the format.

The file is a plain tar: `manifest.json` first, then the store and the keys. Whoever has it has the server.
"""

import asyncio
import hashlib
import os
import shutil
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from reflecto import __version__
from reflecto.bootstrap import open_services
from reflecto.config import Settings
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.crypto.envelopes import BoxKeys
from reflecto.data_folder import (
    KEY_FILE_NAME,
    VAPID_FILE_NAME,
    give_files_to_owner,
    make_folder,
    require_file,
    sync_folder,
)
from reflecto.store.sqlite.copying import copy_store, examine_store, is_in_use
from reflecto.store.sqlite.database import DATABASE_NAME

MANIFEST_NAME: Final = "manifest.json"
FORMAT: Final = 1
_MANIFEST_MAX_BYTES: Final = 65_536
_REQUIRED: Final = (DATABASE_NAME, KEY_FILE_NAME)
_KNOWN: Final = (*_REQUIRED, VAPID_FILE_NAME)
_BESIDE: Final = ("-wal", "-shm", "-journal")  # of the store that is replaced


class BackupError(Exception):
    """The backup cannot be made or put back; the message says why and what to do. Nothing was overwritten."""

    exit_code: ClassVar[int] = 2  # what the commands exit with: a file or a folder that cannot be taken


class FileFacts(msgspec.Struct, frozen=True):
    """A file of the backup: its size in bytes, and its SHA-256 in hex."""

    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """What is in a backup: made when (Unix seconds), by which version, with which schema."""

    format: Annotated[int, Meta(ge=1)]
    reflecto: str
    schema: int
    made_at: int
    owners: int
    devices: int
    files: dict[str, FileFacts]


def back_up(folder: Path, target: Path, now: int, *, replace: bool = False) -> Manifest:
    """Write the server in `folder` into the new file `target`, of mode 0600, and return what is in it.

    Raises: BackupError; DataFolderError; StoreUnavailableError; OSError.
    """
    require_file(folder / DATABASE_NAME)
    if target.exists() and not replace:
        raise BackupError(f"{target} exists already; --replace overwrites it")
    with TemporaryDirectory(prefix=".reflecto-backup.", dir=target.absolute().parent) as scratch:
        staged = Path(scratch)
        copy_store(folder / DATABASE_NAME, staged / DATABASE_NAME)
        for name in (KEY_FILE_NAME, VAPID_FILE_NAME):
            if (folder / name).exists():
                with _new_file(staged / name) as file:
                    file.write((folder / name).read_bytes())
        manifest = _describe(staged, now)
        packed = staged / "packed"
        _pack(staged, manifest, packed)
        packed.replace(target)
    sync_folder(target.absolute().parent)
    return manifest


def restore(source: Path, folder: Path, *, replace: bool = False) -> Manifest:
    """Put the backup into `folder`, made if missing, once it has opened as a server would open it.

    The files belong to whom the folder belongs. Raises: BackupError; DataFolderError; StoreUnavailableError; OSError.
    """
    make_folder(folder)
    there = [name for name in _KNOWN if (folder / name).exists()]
    if there and not replace:
        raise BackupError(f"{folder} has a server already ({', '.join(there)}); --replace puts this one in its place")
    with TemporaryDirectory(prefix=".reflecto-restore.", dir=folder) as scratch:
        staged = Path(scratch)
        manifest = _unpack(source, staged)
        _check(staged)
        asyncio.run(_open_once(staged))
        if (folder / DATABASE_NAME).exists() and is_in_use(folder / DATABASE_NAME):
            raise BackupError(f"a server is running in {folder}; stop it first")
        for suffix in _BESIDE:
            (folder / f"{DATABASE_NAME}{suffix}").unlink(missing_ok=True)
        for name in manifest.files:
            (staged / name).replace(folder / name)
    give_files_to_owner(folder)
    sync_folder(folder)
    return manifest


async def _open_once(folder: Path) -> None:
    """Open it as a server does, which also brings its schema up to date."""
    services = await open_services(Settings(data=folder), is_server=False)
    await services.store.close()


def _describe(staged: Path, now: int) -> Manifest:
    schema, owners, devices = _check(staged)
    files = {name: _facts(staged / name) for name in _KNOWN if (staged / name).exists()}
    return Manifest(FORMAT, __version__, schema, now, owners, devices, files)


def _check(staged: Path) -> tuple[int, int, int]:
    """Return schema, owners and devices of a store that is whole and has the key its devices trust."""
    missing = [name for name in _REQUIRED if not (staged / name).exists()]
    if missing:
        raise BackupError(f"{', '.join(missing)} is missing: without it no phone would trust the server")
    facts = examine_store(staged / DATABASE_NAME)
    try:
        public = BoxKeys.from_secret(bytes.fromhex((staged / KEY_FILE_NAME).read_text("ascii").strip())).public.hex()
    except ValueError:
        raise BackupError(f"{KEY_FILE_NAME} is damaged") from None
    if public != facts.server_key:
        raise BackupError(f"{KEY_FILE_NAME} is not the key that the store was made with")
    return facts.schema, facts.owners, facts.devices


def _pack(staged: Path, manifest: Manifest, packed: Path) -> None:
    description = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    with _new_file(packed) as file:
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
            _add(archive, MANIFEST_NAME, BytesIO(description), len(description), manifest.made_at)
            for name, facts in manifest.files.items():
                with (staged / name).open("rb") as content:
                    _add(archive, name, content, facts.size, manifest.made_at)
        file.flush()
        os.fsync(file.fileno())


def _add(archive: tarfile.TarFile, name: str, content: IO[bytes], size: int, made_at: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o600, made_at
    archive.addfile(entry, content)


def _unpack(source: Path, staged: Path) -> Manifest:
    """Write the files of a backup into `staged` and check them against its manifest."""
    try:
        with tarfile.open(source, "r:") as archive:
            manifest = _read_manifest(source, archive)
            for name, facts in manifest.files.items():
                with _entry(archive, name) as content, _new_file(staged / name) as file:
                    shutil.copyfileobj(content, file)
                    file.flush()
                    os.fsync(file.fileno())
                if _facts(staged / name) != facts:
                    raise BackupError(f"{source} is damaged: {name} is not what its manifest says")
    except (tarfile.TarError, EOFError, KeyError) as error:
        raise BackupError(f"{source} is no backup, or not whole: {error}") from None
    return manifest


def _read_manifest(source: Path, archive: tarfile.TarFile) -> Manifest:
    try:
        with _entry(archive, MANIFEST_NAME) as content:
            text = content.read(_MANIFEST_MAX_BYTES)
        made_with: Mapping[str, object] = read_json(text, dict[str, object])
        if isinstance(made_with.get("format"), int) and made_with["format"] != FORMAT:
            raise BackupError(f"{source} has format {made_with['format']}; this version of Reflecto reads {FORMAT}")
        manifest = read_json(text, Manifest)
    except (KeyError, UnreadableJsonError) as error:
        raise BackupError(f"{source} is no backup of Reflecto: {error}") from None
    if not set(_REQUIRED) <= set(manifest.files) <= set(_KNOWN):
        raise BackupError(f"{source} is no backup of Reflecto: its files are {', '.join(sorted(manifest.files))}")
    return manifest


def _entry(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    """Return a plain file of the archive to read. Raises: KeyError if there is none of that name."""
    entry = archive.getmember(name)
    # A link may lead to itself, and a sparse file is as large as it says, in a few bytes.
    content = archive.extractfile(entry) if entry.isreg() and not entry.issparse() else None
    if content is None:
        raise KeyError(f"{name} is no file")
    return content


def _facts(path: Path) -> FileFacts:
    with path.open("rb") as file:
        return FileFacts(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _new_file(path: Path) -> IO[bytes]:
    """Return a new file of mode 0600 to write."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
