"""Wire models of pairing further devices and of what devices send each other. Source: devices.md.

Proofs, nonces and commitments are 32 bytes, signatures 64, all in standard base64; what they cover is in
`crypto.pairing`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from reflecto.contract import errors
from reflecto.contract.devices import (
    COMMITMENT,
    LABEL,
    DeviceClass,
    DeviceId,
    DeviceType,
    Proof,
    PublicKey,
    ServerKey,
    SigningKey,
)
from reflecto.contract.limits import (
    APPROVAL_MAX_CHARS,
    BLOB_MIN_BYTES,
    PAIRING_SECONDS,
    RELAY_BLOB_MAX_BYTES,
    RELAY_TARGETS_MAX,
)
from reflecto.contract.notes import (
    BASE64_OF_A_BLOB,
    HEX_DIGITS,
    KEY_EXAMPLE,
    Note,
    a_device_token,
    a_signature,
    a_time,
    an_id,
    note,
    of_32_bytes,
)
from reflecto.contract.wire import Request

_APPROVAL: Final = note("The owner's devices, as canonical JSON", "[]")

PairingId = Annotated[str, an_id("par", "The invitation's id")]
PairingStatus = Annotated[
    Literal["open", "claimed", "greeted", "revealed", "approved", "rejected"],
    note("Where it stands", "open", enum=["open", "claimed", "greeted", "revealed", "approved", "rejected"]),
]
Nonce = Annotated[str, of_32_bytes("What the other end is shown")]
ApprovalSignature = Annotated[str, a_signature("The phone's Ed25519 signature of it")]


def _base64_chars(byte_count: int) -> int:
    return (byte_count + 2) // 3 * 4


class CreatePairingRequest(Request, frozen=True, kw_only=True):
    """Invite a device. The phone draws `pairing_id` from the code it shows; absent, the server makes one."""

    field_errors: ClassVar = {"pairing_id": errors.INVALID_PAIRING_ID}

    pairing_id: Annotated[
        str | msgspec.UnsetType,
        an_id("par", "Drawn from the code the phone shows; absent: made here"),
    ] = msgspec.UNSET


class CreatePairingResponse(msgspec.Struct, frozen=True):
    """An invitation, good for one device until `expires_at` (Unix seconds)."""

    pairing_id: PairingId
    expires_at: Annotated[int, a_time("When it ends", PAIRING_SECONDS)]


class ClaimResponse(msgspec.Struct, frozen=True):
    """The device's id if it is approved, and the token to ask for the outcome with: then its device token."""

    claim_token: Annotated[str, a_device_token("What to ask for the outcome with; then the device token")]
    device_id: Annotated[str, an_id("dev", "The device's id, if it is approved")]
    expires_at: Annotated[int, a_time("When the invitation ends", PAIRING_SECONDS)]


class NonceRequest(Request, frozen=True, kw_only=True):
    """Show a nonce to the other end."""

    field_errors: ClassVar = {"nonce": errors.INVALID_PROOF}

    nonce: Nonce


class ApproveRequest(Request, frozen=True, kw_only=True):
    """Let the device join. `approval` is canonical JSON as text; the server passes it on as it is."""

    field_errors: ClassVar = {
        "approval": errors.INVALID_APPROVAL,
        "proof": errors.INVALID_PROOF,
        "signature": errors.INVALID_SIGNATURE,
    }

    approval: Annotated[str, Meta(min_length=1, max_length=APPROVAL_MAX_CHARS), _APPROVAL]
    proof: Proof
    signature: ApprovalSignature


class ClaimState(msgspec.Struct, frozen=True):
    """The device that asks to join, for the phone: nothing of it is true unless `proof` is right."""

    device_id: Annotated[str, an_id("dev", "The device's id, if it is approved")]
    public_key: PublicKey
    signing_key: SigningKey
    label: Annotated[str, LABEL]
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    proof: Proof
    commitment: Annotated[str | None, COMMITMENT]
    nonce: Annotated[
        str | None,
        note("What the device had committed itself to; null until it is revealed", KEY_EXAMPLE),
    ]


class PairingState(msgspec.Struct, frozen=True):
    """An invitation as its phone sees it. Times are Unix seconds."""

    pairing_id: PairingId
    status: PairingStatus
    expires_at: Annotated[int, a_time("When it ends", PAIRING_SECONDS)]
    claim: Annotated[ClaimState | None, Note("The device that asks to join; null: none yet")]


class Greeting(msgspec.Struct, frozen=True):
    """The phone's keys and nonce, for a device that came with a typed code."""

    public_key: PublicKey
    signing_key: SigningKey
    nonce: Nonce


class Admission(msgspec.Struct, frozen=True):
    """What a device that may join needs; nothing of it is to be believed before `approval` was checked."""

    owner_id: Annotated[str, an_id("own", "Whose device it now is")]
    device_id: DeviceId
    device_token: Annotated[str, a_device_token("Its own token")]
    server_key: ServerKey
    approval: Annotated[str, _APPROVAL]
    proof: Proof
    signature: ApprovalSignature


class OutcomeState(msgspec.Struct, frozen=True):
    """An invitation as the new device sees it. Times are Unix seconds."""

    status: PairingStatus
    expires_at: Annotated[int, a_time("When it ends", PAIRING_SECONDS)]
    greeting: Annotated[Greeting | None, Note("The phone's keys and nonce, with a typed code; null until then")]
    admission: Annotated[Admission | None, Note("What the device needs; null until it is approved")]


class RelayRequest(Request, frozen=True, kw_only=True):
    """Blobs (base64) for other devices of the owner: the first for the first id, and so on."""

    field_errors: ClassVar = {"to": errors.INVALID_RELAY, "blobs": errors.INVALID_RELAY}

    to: Annotated[
        tuple[str, ...],
        Meta(min_length=1, max_length=RELAY_TARGETS_MAX),
        note("The ids of the devices", [f"dev_{HEX_DIGITS}"]),
    ]
    blobs: Annotated[
        tuple[str, ...],
        note(
            f"A wire blob for each of them, base64 of at most {RELAY_BLOB_MAX_BYTES} bytes",
            ["AaWf…"],
            minItems=1,
            maxItems=RELAY_TARGETS_MAX,
            items={
                "type": "string",
                "minLength": _base64_chars(BLOB_MIN_BYTES),
                "maxLength": _base64_chars(RELAY_BLOB_MAX_BYTES),
                "pattern": BASE64_OF_A_BLOB,
            },
        ),
    ]
