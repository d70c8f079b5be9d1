"""Requests under an Idempotency-Key: whose key it is, and the row's column that says so.

Source: api.md "Repeats of everything else".
"""

from typing import Final

from reflecto.api.auth import bearer_of
from reflecto.api.http import Call
from reflecto.contract.api_error import ApiError
from reflecto.contract.devices import EnrollRequest
from reflecto.contract.errors import INVALID_IDEMPOTENCY_KEY
from reflecto.contract.ids import normalize_setup_code
from reflecto.contract.limits import IDEMPOTENCY_KEY_MAX_CHARS
from reflecto.contract.wire import IDEMPOTENCY_KEY_HEADER
from reflecto.core.model import Device
from reflecto.core.sender import Sender

REPLAYED: Final = "Idempotent-Replayed"


def by_token(call: Call, caller: Sender | Device, _body: object) -> str:
    """Return the caller's token: the key is good for its requests only."""
    return caller.bearer if isinstance(caller, Sender) else bearer_of(call)


def by_setup_code(_call: Call, _caller: None, body: EnrollRequest) -> str:
    """Return the code, which stands for the token that its caller does not have yet."""
    return normalize_setup_code(body.code) or body.code


def by_pairing(call: Call, _caller: None, _body: object) -> str:
    """Return the pairing's id, which stands for the token that its caller does not have yet."""
    return call.path_params["id"]


def read_key(call: Call) -> str | None:
    """Return the Idempotency-Key as it came. None: there is none. Raises: ApiError `invalid_idempotency_key`."""
    given = [value for name, value in call.scope["headers"] if name == IDEMPOTENCY_KEY_HEADER.lower().encode()]
    if not given:
        return None
    key = str(given[0].decode("latin-1")).strip()
    if len(given) > 1 or not 1 <= len(key) <= IDEMPOTENCY_KEY_MAX_CHARS:
        raise ApiError(
            INVALID_IDEMPOTENCY_KEY,
            f"{IDEMPOTENCY_KEY_HEADER} must be 1 to {IDEMPOTENCY_KEY_MAX_CHARS} characters, and given once",
        )
    return key
