"""The server's own keys: from the data folder, or from one secret in the environment, which several machines can share.

The store knows both public halves, and others are refused: phones and push services would know no such server.
"""

import logging
from pathlib import Path
from typing import ClassVar, Final

from reflecto.core.ports.store import Store, StoreUnavailableError
from reflecto.crypto.envelopes import KEY_BYTES, BoxKeys
from reflecto.crypto.server_keys import BadServerKeysError, ServerKeys
from reflecto.crypto.webpush import VAPID_SECRET_BYTES, VapidKeys
from reflecto.data_folder import (
    KEY_FILE_NAME,
    VAPID_FILE_NAME,
    DataFolderError,
    damaged,
    make_folder,
    read_secret,
    write_secret_once,
)

KEYS_VARIABLE: Final = "REFLECTO_KEYS"
BOX_FACT: Final = "server_public_key"
PUSH_FACT: Final = "push_public_key"

logger = logging.getLogger(__name__)


class ServerKeysError(Exception):
    """The keys are none, or not those of the server whose store this is; the message says which and what to do."""

    exit_code: ClassVar[int] = 2  # what the commands exit with


def keys_of(text: str, origin: str) -> ServerKeys:
    """Return the keys in a text; `origin` says where it is from. Raises: ServerKeysError."""
    try:
        return ServerKeys.from_text(text)
    except BadServerKeysError as error:
        raise ServerKeysError(f"{origin}: {error}") from None


async def load_keys(store: Store, folder: Path, secret: str | None = None, *, is_shared: bool = False) -> ServerKeys:
    """Return the keys in `secret`, else those in `folder`, made there at the first start of all; refuse foreign ones.

    `is_shared`: other machines work on this store, so that what is missing here is elsewhere, and is not made anew.
    Without that a lost key for pushes is: its subscriptions get none until their apps are opened, which is no reason
    not to start. Raises: ServerKeysError; DataFolderError; StoreUnavailableError.
    """
    if secret is not None:
        keys = keys_of(secret, KEYS_VARIABLE)
        await require_own(store, keys, KEYS_VARIABLE, is_shared=is_shared)
        return keys
    box_path, push_path = folder / KEY_FILE_NAME, folder / VAPID_FILE_NAME
    known_push = await store.recall(PUSH_FACT)
    if not box_path.exists() and await store.recall(BOX_FACT) is not None:
        raise DataFolderError(
            f"{box_path} is missing; the enrolled devices trust its key, {_remedy(is_shared=is_shared)}"
        )
    if not push_path.exists() and known_push is not None and is_shared:
        raise DataFolderError(f"{push_path} is missing; {_remedy(is_shared=is_shared)}")
    is_new = not box_path.exists()
    keys = _from_folder(folder)
    try:
        await require_own(store, keys, str(folder), is_shared=is_shared)
    except ServerKeysError:
        if is_new:  # another machine was first: these keys are nobody's, and would be in the way of the right ones
            box_path.unlink()
            push_path.unlink()
        raise
    return keys


async def require_own(store: Store, keys: ServerKeys, origin: str, *, is_shared: bool) -> None:
    """Let the store know the keys, if it knows none, and refuse others than those it knows.

    Raises: ServerKeysError; StoreUnavailableError.
    """
    box = keys.box.public.hex()
    if await _known(store, BOX_FACT, box) != box:
        raise ServerKeysError(
            f"{origin}: the server's key ({KEY_FILE_NAME}) is not the key this store was made with; "
            f"{_remedy(is_shared=is_shared)}"
        )
    push = keys.push.public
    try:
        if await _known(store, PUSH_FACT, push) == push:
            return
        if not is_shared:
            await store.remember(PUSH_FACT, push)
            logger.warning("%s: a new key for pushes; phones get them again once their app was opened", origin)
            return
    except StoreUnavailableError:
        if is_shared:
            raise
        return  # a disk that is full: phones must be able to acknowledge, which makes room; the next start notes it
    raise ServerKeysError(
        f"{origin}: the key for pushes ({VAPID_FILE_NAME}) is not the one of this store; {_remedy(is_shared=True)}"
    )


async def _known(store: Store, fact: str, value: str) -> str:
    """Return what the store knows, which is `value` where it knew nothing. What is known needs no writing."""
    return await store.recall(fact) or await store.remember_once(fact, value)


async def export_keys(store: Store, folder: Path, secret: str | None, *, is_shared: bool) -> ServerKeys:
    """Return the keys of the server that has run on this store; the rest as `load_keys`.

    Raises: ServerKeysError; DataFolderError; StoreUnavailableError.
    """
    if await store.recall(BOX_FACT) is None:
        raise ServerKeysError("no server has run on this store; `reflecto keys new` makes keys for one")
    return await load_keys(store, folder, secret, is_shared=is_shared)


async def import_keys(store: Store, folder: Path, keys: ServerKeys) -> None:
    """Put the keys into `folder`, made if missing. Raises: as `export_keys`; DataFolderError where others are there."""
    await require_own(store, keys, "these keys", is_shared=True)
    put_keys(folder, keys)


def put_keys(folder: Path, keys: ServerKeys) -> None:
    """Write the keys into `folder`, made if missing. Raises: DataFolderError, also where others are there already."""
    make_folder(folder)
    for name, secret in ((KEY_FILE_NAME, keys.box.secret), (VAPID_FILE_NAME, keys.push.secret)):
        write_secret_once(folder / name, secret)
        if read_secret(folder / name, len(secret)) != secret:
            raise DataFolderError(f"{folder / name} is another key; if no server needs it, move it away first")


def _from_folder(folder: Path) -> ServerKeys:
    """Return the keys in `folder`, made where there are none. Raises: DataFolderError."""
    made = ServerKeys.generate()
    write_secret_once(folder / KEY_FILE_NAME, made.box.secret)
    write_secret_once(folder / VAPID_FILE_NAME, made.push.secret)
    box = BoxKeys.from_secret(read_secret(folder / KEY_FILE_NAME, KEY_BYTES))
    push = VapidKeys(read_secret(folder / VAPID_FILE_NAME, VAPID_SECRET_BYTES))
    try:
        _ = push.public
    except ValueError:
        raise damaged(folder / VAPID_FILE_NAME) from None
    return ServerKeys(box, push)


def _remedy(*, is_shared: bool) -> str:
    if is_shared:
        return (
            f"take what `reflecto keys export` gives where the server runs already: as {KEYS_VARIABLE}, or into the "
            "data folder with `reflecto keys import`"
        )
    return "restore both from one backup"
