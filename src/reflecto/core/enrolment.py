"""How a device comes in: one-time setup codes. Source: devices.md "Enrolling the first phone"."""

from functools import partial
from typing import Final

import msgspec

from reflecto.contract.api_error import ApiError
from reflecto.contract.devices import EnrollRequest, EnrollResponse
from reflecto.contract.envelopes import TokenCreatedPayload
from reflecto.contract.errors import INTERNAL_ERROR, INVALID_CLASS, INVALID_CODE, INVALID_TOKEN, TOO_MANY_DEVICES
from reflecto.contract.ids import new_device_token, new_id, new_setup_code, normalize_setup_code
from reflecto.contract.limits import SETUP_CODE_SECONDS
from reflecto.contract.secret_record import SecretRecord
from reflecto.contract.tokens import NewToken
from reflecto.core.clock import Clock
from reflecto.core.devices import require_phone
from reflecto.core.events import DEVICE_JOINED
from reflecto.core.failed_attempts import FailedAttempts
from reflecto.core.joining import check_keys, reported, seal_notices
from reflecto.core.model import Delivery, Device, Owner, SetupCode, Token
from reflecto.core.ports.counting import Counters
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.repeats import Keeping, keep_of
from reflecto.core.rules.outcomes import Redemption
from reflecto.core.sealing import Sealer, make_envelope, queue_expiry
from reflecto.core.tokens import new_default_token
from reflecto.crypto.encoding import encode_base64
from reflecto.crypto.tokens import token_hash

PUBLIC_URL_FACT: Final = "public_url"  # under which name the store remembers where the server was last reached
REDEMPTION_ATTEMPTS: Final = 3  # the first owner can come into being only once


class OwnerChoiceError(Exception):
    """An invitation must say whose device it is for: there are several owners, or not the one that was named."""

    def __init__(self, owners: list[Owner]) -> None:
        super().__init__("say which owner the new device belongs to")
        self.owners = owners


class Invitation(SecretRecord, frozen=True):
    """A code to type, in the form XXXX-XXXX-XXXX-XXXX, and when it expires (Unix seconds)."""

    code: str
    expires_at: int

    def link(self, public_url: str) -> str:
        """Return the link to open on the device. The fragment stays in the browser, out of every log."""
        return f"{public_url.rstrip('/')}/enroll#{self.code}"


class _Founding(msgspec.Struct, frozen=True):
    """The Default token of a new owner: as it is stored, and the reply with its plaintext."""

    token: Token
    reply: NewToken


class Enrolment:
    """Setup codes: made for one more device or a new owner, and redeemed by the device."""

    def __init__(self, store: Store, wakeups: Wakeups, sealer: Sealer, counters: Counters, clock: Clock) -> None:
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer
        self._clock = clock
        self._failed_attempts = FailedAttempts(counters, "wrong_setup_codes")

    async def invite(
        self, owner_id: str | None = None, *, new_owner: bool = False, phone_id: str | None = None
    ) -> Invitation:
        """Make a setup code for the only owner, the named one, or a new one.

        `phone_id` is whose phone makes it. Raises: OwnerChoiceError when that is not clear; ApiError `invalid_token`
        if that phone was removed.
        """
        owners = await self._store.list_owners()
        if not new_owner:
            if owner_id is None and len(owners) > 1:
                raise OwnerChoiceError(owners)
            if owner_id is not None and owner_id not in {owner.id for owner in owners}:
                raise OwnerChoiceError(owners)
            owner_id = owner_id or (owners[0].id if owners else None)
        invitation, code = self._new_code(None if new_owner else owner_id, founds_owner=new_owner, phone_id=phone_id)
        if not await self._store.add_setup_code(code):
            raise ApiError(INVALID_TOKEN)
        return invitation

    async def invite_for(
        self, device: Device, keeping: Keeping[tuple[Invitation, str]] | None = None
    ) -> tuple[Invitation, str]:
        """Make a setup code for one more device of a phone's owner; return it and its link.

        Raises: ApiError `scope_denied` for a desktop, `invalid_token` if the phone was removed meanwhile.
        """
        require_phone(device)
        invitation, code = self._new_code(device.owner_id, phone_id=device.id)
        link = invitation.link(await self._store.recall(PUBLIC_URL_FACT) or "")

        def invited(is_kept: bool) -> tuple[Invitation, str]:  # noqa: FBT001  what came of the verb
            if not is_kept:
                raise ApiError(INVALID_TOKEN)
            return invitation, link

        return invited(await self._store.add_setup_code(code, keep_of(keeping, device.owner_id, invited)))

    async def enroll(
        self, request: EnrollRequest, address: str, keeping: Keeping[EnrollResponse] | None = None
    ) -> EnrollResponse:
        """Redeem a code.

        Raises: ApiError `invalid_public_key`, `invalid_signing_key`, `invalid_class`, `invalid_code`,
        `rate_limit_exceeded`, `too_many_devices`. Only `invalid_code` counts as a wrong guess.
        """
        public_key, signing_key = check_keys(self._sealer, request.public_key, request.signing_key)
        await self._failed_attempts.attempt(address, self._clock.now())
        for _ in range(REDEMPTION_ATTEMPTS):
            now = self._clock.now()
            code = await self._find_code(request.code, now)
            await self._failed_attempts.forgive(address)
            owner_id, founding = await self._owner_for(code, request, now)
            device_token = new_device_token()
            device = Device(
                id=new_id("dev"),
                owner_id=owner_id,
                token_hash=token_hash(device_token),
                public_key=public_key,
                signing_key=signing_key,
                created_at=int(now),
                **reported(request),
            )
            deliveries = await self._announcements(device, founding, now)
            response = EnrollResponse(
                owner_id=owner_id,
                device_id=device.id,
                device_token=device_token,
                server_key=encode_base64(self._sealer.server_keys.public),
                default_token=founding.reply if founding else None,
            )
            respond = partial(_respond, response)
            keep = keep_of(keeping, owner_id, respond)
            redemption = await self._store.redeem_setup_code(
                code.hash, device, founding.token if founding else None, deliveries, now, keep
            )
            if redemption is not Redemption.OWNERS_CHANGED:
                respond(redemption)
                self._wakeups.tell(News(device_ids=[delivery.device_id for delivery in deliveries]))
                DEVICE_JOINED.log(device=device.id, owner=owner_id, device_class=device.device_class, by="setup_code")
                return response
        raise ApiError(INTERNAL_ERROR)

    def _new_code(
        self, owner_id: str | None, *, founds_owner: bool = False, phone_id: str | None = None
    ) -> tuple[Invitation, SetupCode]:
        invitation = Invitation(new_setup_code(), int(self._clock.now()) + SETUP_CODE_SECONDS)
        return invitation, SetupCode(
            _code_hash(invitation.code), owner_id, founds_owner, invitation.expires_at, phone_id
        )

    async def _find_code(self, typed: str, now: float) -> SetupCode:
        code = await self._store.find_setup_code(_code_hash(typed), now)
        if code is None:
            raise ApiError(INVALID_CODE)
        return code

    async def _owner_for(self, code: SetupCode, request: EnrollRequest, now: float) -> tuple[str, _Founding | None]:
        """Return the owner to join, or a new one with its Default token."""
        owners = [] if code.founds_owner or code.owner_id else await self._store.list_owners()
        joined = code.owner_id or (owners[0].id if owners else None)
        if joined is not None:
            return joined, None
        if request.device_class != "phone":
            raise ApiError(INVALID_CLASS)
        owner_id = new_id("own")
        return owner_id, _Founding(*new_default_token(owner_id, request.token_label, now))

    async def _announcements(self, device: Device, founding: _Founding | None, now: float) -> list[Delivery]:
        """Seal the Default token for an owner's first phone; tell the owner's other devices of a joining one."""
        if founding is not None:
            token = founding.reply
            created = make_envelope(
                "token.created",
                token.id,
                now,
                TokenCreatedPayload(token.id, token.label, token.token),
                server="Reflecto",
            )
            return self._sealer.seal_for([device], created, queue_expiry(now))
        return await seal_notices(self._store, self._sealer, device, now)


def _respond(response: EnrollResponse, redemption: Redemption) -> EnrollResponse:
    match redemption:
        case Redemption.REDEEMED:
            return response
        case Redemption.INVALID:
            raise ApiError(INVALID_CODE)
        case Redemption.TOO_MANY_DEVICES:
            raise ApiError(TOO_MANY_DEVICES)
        case Redemption.OWNERS_CHANGED:
            raise ApiError(INTERNAL_ERROR)


def _code_hash(typed: str) -> bytes:
    return token_hash(normalize_setup_code(typed) or "")
