"""What every way of joining an owner has in common: keys that are fit for use, and everybody is told."""

from typing import Any

import msgspec

from reflecto.contract.api_error import ApiError
from reflecto.contract.devices import ClaimRequest, EnrollRequest
from reflecto.contract.errors import INVALID_PUBLIC_KEY, INVALID_SIGNING_KEY
from reflecto.contract.ids import new_id
from reflecto.core.model import REPORTED, Claim, Delivery, Device
from reflecto.core.ports.store import Store
from reflecto.core.sealing import Sealer, make_envelope, queue_expiry
from reflecto.crypto.answers import SIGNING_KEY_BYTES, is_signing_key
from reflecto.crypto.encoding import decode_base64
from reflecto.crypto.envelopes import KEY_BYTES, BadKeyError, shared_key


def check_keys(sealer: Sealer, public_key: str, signing_key: str) -> tuple[bytes, bytes]:
    """Return a device's public keys from their base64. Raises: ApiError `invalid_public_key`, `invalid_signing_key`."""
    box = decode_base64(public_key, length=KEY_BYTES)
    try:
        if box is None:
            raise BadKeyError("not 32 bytes in base64")
        shared_key(box, sealer.server_keys.secret)
    except BadKeyError:
        raise ApiError(INVALID_PUBLIC_KEY) from None
    signing = decode_base64(signing_key, length=SIGNING_KEY_BYTES)
    if signing is None or not is_signing_key(signing):
        raise ApiError(INVALID_SIGNING_KEY)
    return box, signing


def reported(by: EnrollRequest | ClaimRequest | Claim) -> dict[str, Any]:
    """Return what a device that joins says of itself, for its record."""
    return {name: getattr(by, name) for name in REPORTED}


class _Notice(msgspec.Struct, frozen=True):
    title: str
    message: str


async def seal_notices(store: Store, sealer: Sealer, joining: Device, now: float) -> list[Delivery]:
    """Return a notification for each of the owner's devices that another one joins."""
    notice = _Notice("New device", f"{joining.label} now gets what is sent to you. If that was not you, unpair it.")
    envelope = make_envelope("notification", new_id("msg"), now, notice, server="Reflecto")
    return sealer.seal_for(await store.list_devices(joining.owner_id), envelope, queue_expiry(now))
