"""Sender tokens: who may call the public API, and how a phone makes and revokes them. Source: api.md "Identities"."""

import hmac
from contextlib import suppress

from msgspec import UNSET

from reflecto.contract.answering import DismissAllResponse
from reflecto.contract.api_error import ApiError
from reflecto.contract.caveats import Caveat
from reflecto.contract.envelopes import TokenChangedPayload
from reflecto.contract.errors import INVALID_SCOPES, INVALID_TOKEN, LABEL_TAKEN, NOT_FOUND, TOO_MANY_TOKENS
from reflecto.contract.ids import (
    SHORT_TOKEN_PATTERN,
    TOKEN_PATTERN,
    is_id,
    new_id,
    new_sender_token,
    short_form,
)
from reflecto.contract.tokens import (
    COLOURS,
    FOREVER_WORD,
    QUESTION_PRIORITY,
    SCOPES,
    Colour,
    CreateTokenRequest,
    NewToken,
    Scope,
    TokenLabel,
    TokenLabelList,
    TokenList,
    TokenState,
    UpdateTokenRequest,
    is_above,
)
from reflecto.core.clock import Clock
from reflecto.core.devices import require_phone
from reflecto.core.emergencies import Emergencies
from reflecto.core.events import TOKEN_CHANGED, TOKEN_CREATED, TOKEN_REVOKED
from reflecto.core.interactions import Interactions
from reflecto.core.labels import load_lookalikes
from reflecto.core.last_seen import LastSeen
from reflecto.core.model import FOREVER, Delivery, Device, Token, TokenChanges
from reflecto.core.ports.store import Store, StoreUnavailableError
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.repeats import Keeping, keep_of
from reflecto.core.rules.outcomes import Addition, Change
from reflecto.core.rules.senders import is_muted, next_colour
from reflecto.core.sealing import Sealer, make_envelope, queue_expiry, source_of
from reflecto.core.sender import Sender
from reflecto.crypto.tokens import token_hash

DEFAULT_LABEL = "Default"


def new_token(
    owner_id: str, request: CreateTokenRequest, now: float, colour: Colour = COLOURS[0]
) -> tuple[Token, NewToken]:
    """Make a token: the record to store, and the reply with its plaintext. Raises: ApiError `invalid_scopes`."""
    plaintext = new_sender_token(test=request.test)
    scopes, warnings = _possible_scopes(request)
    token = Token(
        id=new_id("tok"),
        owner_id=owner_id,
        hash=token_hash(plaintext),
        label=request.label,
        test=request.test,
        priority_cap=request.priority_cap,
        scopes=scopes,
        created_at=int(now),
        short_hash=token_hash(short_form(plaintext)),
        colour=colour,
    )
    return token, NewToken(token.id, token.label, plaintext, warnings or UNSET)


def new_default_token(owner_id: str, label: str | None, now: float) -> tuple[Token, NewToken]:
    """Make the token that every new owner gets: the record to store, and the reply with its plaintext."""
    return new_token(owner_id, CreateTokenRequest(label=label or DEFAULT_LABEL), now)


def _possible_scopes(request: CreateTokenRequest) -> tuple[tuple[Scope, ...], tuple[Caveat, ...]]:
    """Return the scopes in their order: without `ask`, and a caveat, where none were named and the cap is below it."""
    can_ask = request.priority_cap is None or not is_above(QUESTION_PRIORITY, request.priority_cap)
    if request.scopes is UNSET:
        left = SCOPES if can_ask else tuple(scope for scope in SCOPES if scope != "ask")
        told = f"A question has priority {QUESTION_PRIORITY}, above this priority_cap: the token cannot ask"
        return left, () if can_ask else (Caveat("ask_left_out", told),)
    if "ask" in request.scopes and not can_ask:
        raise ApiError(INVALID_SCOPES)
    return tuple(scope for scope in SCOPES if scope in request.scopes), ()


class Tokens:
    """Sender tokens: authenticated at each call, made, listed and revoked by a phone."""

    def __init__(
        self,
        store: Store,
        interactions: Interactions,
        emergencies: Emergencies,
        last_seen: LastSeen,
        wakeups: Wakeups,
        sealer: Sealer,
        clock: Clock,
    ) -> None:
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer
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
        """Make a token, in the next colour.

        Raises: ApiError `scope_denied` for a desktop, `invalid_scopes`, `too_many_tokens`, `label_taken`,
        `invalid_token` if the device was removed meanwhile.
        """
        require_phone(device)
        await load_lookalikes()
        colours = [each.colour for each in await self._store.list_tokens(device.owner_id)]
        token, reply = new_token(device.owner_id, request, self._clock.now(), next_colour(colours))

        def response_to(addition: Addition) -> NewToken:
            match addition:
                case Addition.TOO_MANY:
                    raise ApiError(TOO_MANY_TOKENS)
                case Addition.REVOKED:
                    raise ApiError(INVALID_TOKEN)
                case Addition.LABEL_TAKEN:
                    raise ApiError(LABEL_TAKEN)
                case Addition.ADDED:
                    return reply

        keep = keep_of(keeping, device.owner_id, response_to)
        response = response_to(await self._store.add_token(token, device.id, keep))
        TOKEN_CREATED.log(token=token.id, owner=device.owner_id, by=device.id)
        return response

    async def change(self, device: Device, token_id: str, request: UpdateTokenRequest) -> TokenState:
        """Change name, colour or muting; the owner's other phones learn it.

        Raises: ApiError `scope_denied` for a desktop, `not_found`, `label_taken`, `invalid_token` if the device was
        removed meanwhile.
        """
        require_phone(device)
        tokens = await self._store.list_tokens(device.owner_id)
        found = next((token for token in tokens if token.id == token_id), None)
        if found is None:
            raise ApiError(NOT_FOUND)
        await load_lookalikes()
        now = self._clock.now()
        muted_until = FOREVER if isinstance(request.muted_until, str) else request.muted_until
        notices = await self._notices(device, found, request, now)
        result = await self._store.change_token(
            device.owner_id,
            token_id,
            device.id,
            TokenChanges(label=request.label, colour=request.colour, muted_until=muted_until),
            notices,
        )
        match result.change:
            case Change.PHONE_REMOVED:
                raise ApiError(INVALID_TOKEN)
            case Change.LABEL_TAKEN:
                raise ApiError(LABEL_TAKEN)
            case _:
                if result.token is None:
                    raise ApiError(NOT_FOUND)
        self._wakeups.tell(News(device_ids=[each.device_id for each in notices]))
        TOKEN_CHANGED.log(token=token_id, owner=device.owner_id, by=device.id)
        return self._state_of(result.token)

    async def dismiss_questions(self, device: Device, token_id: str) -> DismissAllResponse:
        """End every open question of the token. Raises: ApiError `scope_denied` for a desktop, `not_found`."""
        require_phone(device)
        if token_id not in {token.id for token in await self._store.list_tokens(device.owner_id)}:
            raise ApiError(NOT_FOUND)
        return DismissAllResponse(await self._interactions.dismiss_all(device, token_id))

    async def _notices(self, device: Device, token: Token, request: UpdateTokenRequest, now: float) -> list[Delivery]:
        """Seal what was changed, and by whom, for the owner's other phones."""
        devices = await self._store.list_devices(device.owner_id)
        others = [each for each in devices if each.device_class == "phone" and each.id != device.id]
        changed = TokenChangedPayload(
            token.id, device.label, device.id, request.label, request.colour, request.muted_until
        )
        envelope = make_envelope("token.changed", new_id("msg"), now, changed, **source_of(token))
        return self._sealer.seal_for(others, envelope, queue_expiry(now))

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
            colour=token.colour,
            muted_until=self._muted_until(token),
        )

    def _muted_until(self, token: Token) -> int | str | None:
        if not is_muted(token, self._clock.now()):
            return None
        return FOREVER_WORD if token.muted_until == FOREVER else token.muted_until
