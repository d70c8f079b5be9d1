"""Pairing further devices: the server passes on what phone and new device prove to each other.

What it is told it cannot check: the secret behind the proofs never reaches it. Source: devices.md "Pairing further
devices", docs/protocol.md "Pairing".
"""

import hmac

from msgspec import UNSET

from reflecto.contract.api_error import ApiError
from reflecto.contract.devices import ClaimRequest
from reflecto.contract.errors import (
    INVALID_PAIRING_ID,
    INVALID_PROOF,
    INVALID_SIGNATURE,
    INVALID_TOKEN,
    NOT_FOUND,
    PAIRING_CLOSED,
    TOO_MANY_DEVICES,
    TOO_MANY_PAIRINGS,
)
from reflecto.contract.ids import is_id, new_device_token, new_id
from reflecto.contract.limits import PAIRING_SECONDS
from reflecto.contract.pairing import (
    ApproveRequest,
    ClaimResponse,
    CreatePairingRequest,
    CreatePairingResponse,
    NonceRequest,
    OutcomeState,
    PairingState,
)
from reflecto.core.clock import Clock
from reflecto.core.devices import require_phone
from reflecto.core.events import DEVICE_JOINED
from reflecto.core.failed_attempts import FailedAttempts
from reflecto.core.joining import check_keys, reported, seal_notices
from reflecto.core.model import Approval, Claim, Device, DeviceNonce, Pairing, PairingStep, PhoneNonce, Rejection
from reflecto.core.pairing_views import as_device_sees, as_phone_sees, device_of
from reflecto.core.ports.counting import Counters
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.repeats import Keeping, keep_of
from reflecto.core.rules.outcomes import Admittance, Opening, StepResult
from reflecto.core.sealing import Sealer
from reflecto.crypto.answers import SIGNATURE_BYTES
from reflecto.crypto.encoding import decode_base64
from reflecto.crypto.pairing import PROOF_BYTES
from reflecto.crypto.tokens import token_hash


class Pairings:
    """Invitations from phones, and the devices that come with them."""

    def __init__(self, store: Store, wakeups: Wakeups, sealer: Sealer, counters: Counters, clock: Clock) -> None:
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer
        self._clock = clock
        self._failed_attempts = FailedAttempts(counters, "wrong_pairing_ids")

    async def open(
        self, phone: Device, request: CreatePairingRequest, keeping: Keeping[CreatePairingResponse] | None = None
    ) -> CreatePairingResponse:
        """Invite one device.

        Raises: ApiError `scope_denied` for a desktop, `invalid_pairing_id`, `pairing_closed` for an id that is in use,
        `too_many_pairings`, `invalid_token` if the phone was removed meanwhile.
        """
        require_phone(phone)
        pairing_id = new_id("par") if request.pairing_id is UNSET else request.pairing_id
        if not is_id(pairing_id, "par"):
            raise ApiError(INVALID_PAIRING_ID)
        now = self._clock.now()
        pairing = Pairing(pairing_id, phone.owner_id, phone.id, int(now) + PAIRING_SECONDS)

        def response_to(opening: Opening) -> CreatePairingResponse:
            match opening:
                case Opening.TOO_MANY:
                    raise ApiError(TOO_MANY_PAIRINGS)
                case Opening.TAKEN:
                    raise ApiError(PAIRING_CLOSED)
                case Opening.PHONE_REMOVED:
                    raise ApiError(INVALID_TOKEN)
                case Opening.OPENED:
                    return CreatePairingResponse(pairing.id, pairing.expires_at)

        keep = keep_of(keeping, phone.owner_id, response_to)
        return response_to(await self._store.add_pairing(pairing, now, keep))

    async def claim(
        self, pairing_id: str, request: ClaimRequest, address: str, keeping: Keeping[ClaimResponse] | None = None
    ) -> ClaimResponse:
        """Let a device ask to join.

        Raises: ApiError for a field that is none, `not_found` (which counts as a wrong guess), `rate_limit_exceeded`,
        `pairing_closed` if another device was first.
        """
        public_key, signing_key = check_keys(self._sealer, request.public_key, request.signing_key)
        proof = _proof(request.proof)
        commitment = None if request.commitment is None else _proof(request.commitment)
        await self._failed_attempts.attempt(address, self._clock.now())
        found = await self._find(pairing_id)
        await self._failed_attempts.forgive(address)
        token = new_device_token()
        claim = Claim(
            token_hash=token_hash(token),
            device_id=new_id("dev"),
            public_key=public_key,
            signing_key=signing_key,
            proof=proof,
            commitment=commitment,
            **reported(request),
        )

        def response_to(result: StepResult | None) -> ClaimResponse:
            pairing = _moved(result)
            return ClaimResponse(token, _claim_of(pairing, token).device_id, pairing.expires_at)

        keep = keep_of(keeping, found.owner_id, response_to)
        result = await self._store.step_pairing(pairing_id, claim, self._clock.now(), keep)
        response = response_to(result)
        self._wakeups.tell(News(watched_ids=[pairing_id]))
        return response

    async def read(self, phone: Device, pairing_id: str, seconds: int = 0, was: str | None = None) -> PairingState:
        """Return the invitation as its phone sees it, after at most `seconds` if its status still is `was`.

        Raises: ApiError `not_found`, also for one of another phone and once it has expired.
        """
        await self._find_of(phone, pairing_id)
        pairing = await self._wait(pairing_id, seconds, was)
        return as_phone_sees(pairing)

    async def outcome(self, bearer: str, pairing_id: str, seconds: int = 0, was: str | None = None) -> OutcomeState:
        """Return the invitation as the device sees it that has claimed it, after at most `seconds`, as above.

        Raises: ApiError `not_found`, `invalid_token` for a token that is not of this claim.
        """
        _claim_of(await self._find(pairing_id), bearer)
        pairing = await self._wait(pairing_id, seconds, was)
        claim = _claim_of(pairing, bearer)  # once more: another device may have claimed it meanwhile
        devices = await self._store.list_devices(pairing.owner_id)
        phone = next((device for device in devices if device.id == pairing.phone_id), None)
        if phone is None:
            raise ApiError(NOT_FOUND)
        return as_device_sees(pairing, claim, phone, bearer, self._sealer.server_keys.public)

    async def greet(self, phone: Device, pairing_id: str, request: NonceRequest) -> None:
        """Show the phone's keys and nonce to the device.

        Raises: ApiError `invalid_proof`, `not_found`, `pairing_closed`.
        """
        nonce = _proof(request.nonce)
        await self._find_of(phone, pairing_id)
        await self._step(pairing_id, PhoneNonce(nonce))

    async def reveal(self, bearer: str, pairing_id: str, request: NonceRequest) -> None:
        """Show the device's nonce to the phone.

        Raises: ApiError `invalid_proof`, `not_found`, `invalid_token`, `pairing_closed`.
        """
        nonce = _proof(request.nonce)
        _claim_of(await self._find(pairing_id), bearer)
        await self._step(pairing_id, DeviceNonce(nonce))

    async def reject(self, phone: Device, pairing_id: str) -> None:
        """Withdraw the invitation; the device is told. Raises: ApiError `not_found`, `pairing_closed` once approved."""
        await self._find_of(phone, pairing_id)
        await self._step(pairing_id, Rejection())

    async def approve(self, phone: Device, pairing_id: str, request: ApproveRequest) -> None:
        """Let the device join, and tell the owner's other devices.

        Raises: ApiError `invalid_proof`, `invalid_signature`, `not_found`, `pairing_closed`, `too_many_devices`.
        """
        signature = decode_base64(request.signature, length=SIGNATURE_BYTES)
        if signature is None:
            raise ApiError(INVALID_SIGNATURE)
        approval = Approval(request.approval, _proof(request.proof), signature)
        pairing = await self._find_of(phone, pairing_id)
        if pairing.claim is None:
            raise _closed(pairing)
        now = self._clock.now()
        device = device_of(pairing.claim, pairing.owner_id, now)
        notices = await seal_notices(self._store, self._sealer, device, now)
        match await self._store.approve_pairing(pairing_id, approval, device, notices, now):
            case None:
                raise ApiError(NOT_FOUND)
            case Admittance.CLOSED:
                raise _closed(await self._find(pairing_id))
            case Admittance.TOO_MANY_DEVICES:
                raise ApiError(TOO_MANY_DEVICES)
            case Admittance.ADMITTED:
                grown = [notice.device_id for notice in notices]
                self._wakeups.tell(News(watched_ids=[pairing_id], device_ids=grown))
                DEVICE_JOINED.log(
                    device=device.id, owner=device.owner_id, device_class=device.device_class, by=phone.id
                )

    async def _step(self, pairing_id: str, step: PairingStep) -> None:
        _moved(await self._store.step_pairing(pairing_id, step, self._clock.now()))
        self._wakeups.tell(News(watched_ids=[pairing_id]))

    async def _wait(self, pairing_id: str, seconds: int, was: str | None) -> Pairing:
        until = self._clock.now() + seconds
        with self._wakeups.watch(pairing_id) as changed:
            while True:
                changed.clear()
                pairing = await self._find(pairing_id)
                if pairing.status != was or self._clock.now() >= until or self._wakeups.closing:
                    return pairing
                await self._clock.wait(changed, min(until, pairing.expires_at))

    async def _find(self, pairing_id: str) -> Pairing:
        found = is_id(pairing_id, "par") and await self._store.find_pairing(pairing_id, self._clock.now())
        if not found:
            raise ApiError(NOT_FOUND)
        return found

    async def _find_of(self, phone: Device, pairing_id: str) -> Pairing:
        pairing = await self._find(pairing_id)
        if pairing.phone_id != phone.id:
            raise ApiError(NOT_FOUND)
        return pairing


def _proof(text: str) -> bytes:
    raw = decode_base64(text, length=PROOF_BYTES)
    if raw is None:
        raise ApiError(INVALID_PROOF)
    return raw


def _moved(result: StepResult | None) -> Pairing:
    """Return the pairing behind the step. Raises: ApiError `not_found`, `pairing_closed`."""
    if result is None:
        raise ApiError(NOT_FOUND)
    if not result.accepted:
        raise _closed(result.pairing)
    return result.pairing


def _closed(pairing: Pairing) -> ApiError:
    return ApiError(PAIRING_CLOSED, details={"status": pairing.status})


def _claim_of(pairing: Pairing, bearer: str) -> Claim:
    claim = pairing.claim
    if claim is None or not hmac.compare_digest(claim.token_hash, token_hash(bearer)):
        raise ApiError(INVALID_TOKEN)
    return claim
