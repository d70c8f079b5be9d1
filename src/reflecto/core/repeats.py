"""Repeats of a request under its Idempotency-Key. Source: api.md "Repeats of everything else".

The first reply is kept in the transaction of what it is about, so that neither a lost reply nor a crash lets anything
happen twice. It is sealed: only the same caller with the same key can have it again.
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

import msgspec

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import IDEMPOTENCY_KEY_REUSED
from reflecto.contract.limits import REPEAT_SECONDS
from reflecto.core.clock import Clock
from reflecto.core.model import Token
from reflecto.core.ports.store import AlreadyKeptError, Keep, Store
from reflecto.core.quotas import Quotas
from reflecto.crypto.envelopes import open_blob, seal
from reflecto.crypto.repeats import RepeatKeys

T = TypeVar("T")
R = TypeVar("R")


class FirstReply(msgspec.Struct, frozen=True):
    """A reply as it was first given: its body as JSON, None where it had none. `digest`: of its request, 32 bytes.

    It is kept sealed only, so a plain hash tells nobody of the request.
    """

    digest: bytes
    status: int
    body: bytes | None


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request under an Idempotency-Key; `digest`, 32 bytes, is equal for equal requests."""

    keys: RepeatKeys = field(repr=False)
    digest: bytes

    @classmethod
    def of(cls, secret: str, key: str, request: object) -> "KeyedRequest":
        """Return the request as parsed, which is of types that msgspec writes, under the key of this caller."""
        return cls(RepeatKeys.derive(secret, key), hashlib.sha256(_plain(request)).digest())

    def seal(self, status: int, body: object) -> bytes:
        """Return the reply as it is kept."""
        first = FirstReply(self.digest, status, None if body is None else msgspec.json.encode(body))
        return seal(self.keys.sealing, msgspec.msgpack.encode(first))

    def open(self, sealed: bytes) -> FirstReply:
        """Return the reply that was kept. Raises: ApiError `idempotency_key_reused` where another request got it."""
        first = msgspec.msgpack.decode(open_blob(self.keys.sealing, sealed), type=FirstReply)
        if first.digest != self.digest:
            raise ApiError(IDEMPOTENCY_KEY_REUSED)
        return first


def _plain(request: object) -> bytes:
    """Return the same bytes for equal requests, and others for others: as MessagePack, whatever order objects came in.

    What that has no form for, lone surrogates and huge integers of foreign senders, JSON's escapes can write. No bytes
    are both: in MessagePack a first byte of `[` or `{` is a whole number by itself.
    """
    try:
        return msgspec.msgpack.encode(request, order="deterministic")
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(msgspec.to_builtins(request), sort_keys=True).encode()


@dataclass(frozen=True, slots=True)
class Keeping(Generic[R]):
    """How a use case that returns R has its reply kept: `reply_of` makes status and body of it."""

    request: KeyedRequest
    reply_of: Callable[[R], tuple[int, Any]]
    now: float

    def keep(self, owner_id: str, result_of: Callable[[T], R]) -> Keep[T]:
        """Return what a verb of the store keeps when T came of it; what `result_of` refuses is not kept."""

        def seal_reply(outcome: T) -> bytes | None:
            try:
                result = result_of(outcome)
            except ApiError:
                return None
            return self.request.seal(*self.reply_of(result))

        return Keep(self.request.keys.mark, owner_id, self.now, int(self.now) + REPEAT_SECONDS, seal_reply)


def keep_of(keeping: Keeping[R] | None, owner_id: str, result_of: Callable[[T], R]) -> Keep[T] | None:
    """Return what a verb is to keep for the owner; None: the request has no key.

    `result_of` turns the verb's outcome into the use case's result, or raises ApiError. It must be pure: the store
    calls it inside its transaction, perhaps more than once.
    """
    return None if keeping is None else keeping.keep(owner_id, result_of)


class Repeats:
    """Answers repeats with the first reply."""

    def __init__(self, store: Store, quotas: Quotas, clock: Clock) -> None:
        self._store = store
        self._quotas = quotas
        self._clock = clock
        self._under_way: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()  # by mark

    async def once(
        self,
        request: KeyedRequest,
        perform: Callable[[Keeping[R]], Awaitable[R]],
        reply_of: Callable[[R], tuple[int, Any]],
        payer: Token | None,
    ) -> R | FirstReply:
        """Return what `perform` returned, or the first reply where there is one; a repeat under way waits for it.

        A repeat counts in the burst layer of `payer` only. Raises: ApiError `idempotency_key_reused`,
        `rate_limit_exceeded`; what `perform` raises.
        """
        mark = request.keys.mark
        async with self._under_way.setdefault(mark, asyncio.Lock()):
            now = self._clock.now()
            sealed = await self._store.find_kept_reply(mark, now)
            if sealed is None:
                try:
                    return await perform(Keeping(request, reply_of, now))
                except AlreadyKeptError as error:  # another process was faster
                    sealed = error.sealed
                except ApiError:  # perhaps because it was: a setup code works once
                    sealed = await self._store.find_kept_reply(mark, now)
                    if sealed is None:
                        raise
        first = request.open(sealed)
        if payer is not None:
            async with self._quotas.spend_burst(payer):
                pass
        return first
