"""Who may call, as a column of an operation's row: each kind of caller with how it is found out.

A row cannot be made without one. What needs no token says why, in words. Source: api.md "Identities".
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from reflecto.api.auth import Authenticator, bearer_of, is_device_token
from reflecto.api.http import Call, Reply
from reflecto.api.pushover_fields import PushoverFields, sender_of
from reflecto.core.model import Device
from reflecto.core.sender import Sender

C = TypeVar("C")
Answering = Awaitable[Reply | None]
Token = Literal["sender", "device", "either", "path", "body", "none"]


def _unwatched(_auth: Authenticator, _call: Call, answering: Answering) -> Answering:
    return answering


class Caller(msgspec.Struct, Generic[C], frozen=True, kw_only=True):
    """One kind of caller.

    `token`: whose token it shows, or where. `identify` returns who it is, from the call and, `in_body`, from the body
    that was read before; it raises ApiError. `watching` awaits the handler, for refusals that only it can find.
    """

    token: Token
    identify: Callable[[Authenticator, Call, Any], Awaitable[C]]
    in_body: bool = False
    watching: Callable[[Authenticator, Call, Answering], Answering] = _unwatched


async def _sender(auth: Authenticator, call: Call, _body: object) -> Sender:
    return await auth.sender(call)


async def _sender_in_body(auth: Authenticator, call: Call, body: PushoverFields) -> Sender:
    return await sender_of(auth, call, body.values)


async def _device(auth: Authenticator, call: Call, _body: object) -> Device:
    return await auth.device(call)


async def _either(auth: Authenticator, call: Call, _body: object) -> Sender | Device:
    return await (auth.device(call) if is_device_token(call) else auth.sender(call))


async def _claimant(_auth: Authenticator, call: Call, _body: object) -> str:
    return bearer_of(call)


async def _nobody(_auth: Authenticator, _call: Call, _body: object) -> None:
    pass


SENDER: Final = Caller(token="sender", identify=_sender)
SENDER_IN_PATH: Final = Caller(token="path", identify=_sender)
SENDER_IN_BODY: Final = Caller(token="body", identify=_sender_in_body, in_body=True)
DEVICE: Final = Caller(token="device", identify=_device)
EITHER: Final = Caller(token="either", identify=_either)
# A device that asks to join: the handler is handed its claim token as it came, which `core.pairing` checks.
CLAIMANT: Final = Caller(token="device", identify=_claimant, watching=Authenticator.counting_wrong_tokens)


def nobody(because: str) -> Caller[None]:
    """Return the caller of what needs no token. Raises: ValueError where the reason is missing."""
    _require(because)
    return Caller(token="none", identify=_nobody)


def anyone_with_a_code(because: str) -> Caller[None]:
    """Return the caller that shows a setup code or a pairing's id; the log is told of wrong ones.

    Raises: ValueError where the reason is missing.
    """
    _require(because)
    return Caller(token="none", identify=_nobody, watching=Authenticator.telling_wrong_codes)


def _require(because: str) -> None:
    if not because.strip():
        raise ValueError("say why this call needs no token")
