"""Wire models of pairing further devices and of what devices send each other. Source: devices.md.

Proofs, nonces and commitments are 32 bytes, signatures 64, all in standard base64; what they cover is in
`crypto.pairing`.
"""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.devices import DeviceClass, DeviceType
from reflecto.contract.limits import APPROVAL_MAX_CHARS, RELAY_TARGETS_MAX
from reflecto.contract.wire import Request

PairingStatus = Literal["open", "claimed", "greeted", "revealed", "approved", "rejected"]


class CreatePairingRequest(Request, frozen=True, kw_only=True):
    """Invite a device. The phone draws `pairing_id` from the code it shows; absent, the server makes one."""

    field_errors: ClassVar = {"pairing_id": errors.INVALID_PAIRING_ID}

    pairing_id: str | msgspec.UnsetType = msgspec.UNSET


class CreatePairingResponse(msgspec.Struct, frozen=True):
    """An invitation, good for one device until `expires_at` (Unix seconds)."""

    pairing_id: str
    expires_at: int


class ClaimResponse(msgspec.Struct, frozen=True):
    """The device's id if it is approved, and the token to ask for the outcome with: then its device token."""

    claim_token: str
    device_id: str
    expires_at: int


class NonceRequest(Request, frozen=True, kw_only=True):
    """Show a nonce to the other end."""

    field_errors: ClassVar = {"nonce": errors.INVALID_PROOF}

    nonce: str


class ApproveRequest(Request, frozen=True, kw_only=True):
    """Let the device join. `approval` is canonical JSON as text; the server passes it on as it is."""

    field_errors: ClassVar = {
        "approval": errors.INVALID_APPROVAL,
        "proof": errors.INVALID_PROOF,
        "signature": errors.INVALID_SIGNATURE,
    }

    approval: Annotated[str, Meta(min_length=1, max_length=APPROVAL_MAX_CHARS)]
    proof: str
    signature: str


class ClaimState(msgspec.Struct, frozen=True):
    """The device that asks to join, for the phone: nothing of it is true unless `proof` is right."""

    device_id: str
    public_key: str
    signing_key: str
    label: str
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    proof: str
    commitment: str | None
    nonce: str | None  # once revealed


class PairingState(msgspec.Struct, frozen=True):
    """An invitation as its phone sees it. Times are Unix seconds."""

    pairing_id: str
    status: PairingStatus
    expires_at: int
    claim: ClaimState | None


class Greeting(msgspec.Struct, frozen=True):
    """The phone's keys and nonce, for a device that came with a typed code."""

    public_key: str
    signing_key: str
    nonce: str


class Admission(msgspec.Struct, frozen=True):
    """What a device that may join needs; nothing of it is to be believed before `approval` was checked."""

    owner_id: str
    device_id: str
    device_token: str
    server_key: str
    approval: str
    proof: str
    signature: str


class OutcomeState(msgspec.Struct, frozen=True):
    """An invitation as the new device sees it. Times are Unix seconds."""

    status: PairingStatus
    expires_at: int
    greeting: Greeting | None
    admission: Admission | None


class RelayRequest(Request, frozen=True, kw_only=True):
    """Blobs (base64) for other devices of the owner: the first for the first id, and so on."""

    field_errors: ClassVar = {"to": errors.INVALID_RELAY, "blobs": errors.INVALID_RELAY}

    to: Annotated[tuple[str, ...], Meta(min_length=1, max_length=RELAY_TARGETS_MAX)]
    blobs: tuple[str, ...]
