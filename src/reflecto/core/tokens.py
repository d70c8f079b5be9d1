"""Sender tokens: who may call the public API, and how a phone makes and revokes them. Source: api.md "Identities"."""

import hmac
from contextlib import suppress

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import INVALID_TOKEN, NOT_FOUND, TOO_MANY_TOKENS
from reflecto.contract.ids import (
    SHORT_TOKEN_PATTERN,
    TOKEN_PATTERN,
    is_id,
    new_id,
    new_sender_token,
    short_form,
)
from reflecto.contract.tokens import (
    SCOPES,
    CreateTokenRequest,
    NewToken,
    TokenLabel,
    TokenLabelList,
    TokenList,
    TokenState,
)
from reflecto.core.clock import Clock
from reflecto.core.devices import require_phone
from reflecto.core.emergencies import Emergencies
from reflecto.core.events import TOKEN_CREATED, TOKEN_REVOKED
from reflecto.core.interactions import Interactions
from reflecto.core.last_seen import LastSeen
from reflecto.core.model import Device, Token
from reflecto.core.ports.store import Store, StoreUnavailableError
from reflecto.core.repeats import Keeping, keep_of
from reflecto.core.rules.outcomes import Addition
from reflecto.core.sender import Sender
from reflecto.crypto.tokens import token_hash

DEFAULT_LABEL = "Default"


def new_token(owner_id: str, request: CreateTokenRequest, now: float) -> tuple[Token, NewToken]:
    """Make a token: the record to store, and the reply with its plaintext."""
    plaintext = new_sender_token(test=request.test)
    token = Token(
        id=new_id("tok"),
        owner_id=owner_id,
        hash=token_hash(plaintext),
        label=request.label,
        test=request.test,
        priority_cap=request.priority_cap,
        scopes=tuple(scope for scope in SCOPES if scope in request.scopes),
        created_at=int(now),
        short_hash=token_hash(short_form(plaintext)),
    )
    return token, NewToken(token.id, token.label, plaintext)


def new_default_token(owner_id: str, now: float) -> tuple[Token, NewToken]:
    """Make the token that every new owner gets: the record to store, and the reply with its plaintext."""
    return new_token(owner_id, CreateTokenRequest(label=DEFAULT_LABEL), now)


class Tokens:
    """Sender tokens: authenticated at each call, made, listed and revoked by a phone."""

    def __init__(
        self,
        store: Store,
        interactions: Interactions,
        emergencies: Emergencies,
        last_seen: LastSeen,
        clock: Clock,
    ) -> None:
        self._store = store
        self._interactions = interactions
        self._emergencies = emergencies
        self._last_seen = last_seen
        self._clock = clock

    async def authenticate(self, bearer: str) -> Sender:
        """Return the sender; every kind of wrong token takes the same path. Raises: ApiError `invalid_token`."""
        presented = token_hash(bearer)
        token = await self._store.find_token(presented)
        known = token is not None and hmac.compare_digest(token.hash, presented)
        if token is None or not known or TOKEN_PATTERN.fullmatch(bearer) is None:
            raise ApiError(INVALID_TOKEN)
        self._last_seen.token_used(token.id, self._clock.now())
        if token.short_hash is None:
            with suppress(StoreUnavailableError):  # the next use will do
                await self._store.keep_short_form(token.id, token_hash(short_form(bearer)))
        return Sender(token, bearer)

    async def authenticate_short(self, bearer: str) -> Sender:
        """Return the sender of a short form, which opens Pushover's calls only. Raises: ApiError `invalid_token`."""
        presented = token_hash(bearer)
        token = await self._store.find_token_by_short_form(presented)
        known = token is not None and hmac.compare_digest(token.short_hash or b"", presented)
        if token is None or not known or SHORT_TOKEN_PATTERN.fullmatch(bearer) is None:
            raise ApiError(INVALID_TOKEN)
        self._last_seen.token_used(token.id, self._clock.now())
        return Sender(token, bearer)

    async def list_for(self, device: Device) -> TokenList | TokenLabelList:
        """Return the owner's live tokens; a desktop sees ids and labels only."""
        tokens = await self._store.list_tokens(device.owner_id)
        if device.device_class != "phone":
            return TokenLabelList(tuple(TokenLabel(token.id, token.label) for token in tokens))
        return TokenList(tuple(self._state_of(token) for token in tokens))

    async def create(
        self, device: Device, request: CreateTokenRequest, keeping: Keeping[NewToken] | None = None
    ) -> NewToken:
        """Make a token.

        Raises: ApiError `scope_denied` for a desktop, `too_many_tokens`, `invalid_token` if the device was
        removed meanwhile.
        """
        require_phone(device)
        token, reply = new_token(device.owner_id, request, self._clock.now())

        def response_to(addition: Addition) -> NewToken:
            match addition:
                case Addition.TOO_MANY:
                    raise ApiError(TOO_MANY_TOKENS)
                case Addition.REVOKED:
                    raise ApiError(INVALID_TOKEN)
                case Addition.ADDED:
                    return reply

        keep = keep_of(keeping, device.owner_id, response_to)
        response = response_to(await self._store.add_token(token, device.id, keep))
        TOKEN_CREATED.log(token=token.id, owner=device.owner_id, by=device.id)
        return response

    async def revoke(self, device: Device, token_id: str) -> None:
        """Revoke at once, then withdraw what it asked and end its emergencies.

        Raises: ApiError `scope_denied`, `not_found`.
        """
        require_phone(device)
        known = is_id(token_id, "tok")
        revoked = known and await self._store.revoke_token(device.owner_id, token_id, self._clock.now())
        if known:  # also where there was nothing to revoke: an earlier try may have got no further than that
            await self._interactions.withdraw_all(device.owner_id, token_id)
            await self._emergencies.cancel_all(device.owner_id, token_id)
        if not revoked:
            raise ApiError(NOT_FOUND)
        TOKEN_REVOKED.log(token=token_id, owner=device.owner_id, by=device.id)

    def _state_of(self, token: Token) -> TokenState:
        return TokenState(
            id=token.id,
            label=token.label,
            test=token.test,
            priority_cap=token.priority_cap,
            scopes=token.scopes,
            created_at=token.created_at,
            last_used_at=self._last_seen.last_used_at(token.id, token.last_used_at),
        )
