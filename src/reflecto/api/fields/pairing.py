"""Fields of pairing and relaying. Source: devices.md."""

from typing import Final

from reflecto.api.fields import patterns
from reflecto.api.fields.note import (
    APP_BUILD,
    DEVICE_CLASS,
    DEVICE_LABEL,
    DEVICE_TYPE,
    FEATURES,
    HEX_DIGITS,
    KEY_EXAMPLE,
    Notes,
    a_signature,
    a_time,
    an_id,
    note,
    of_32_bytes,
)
from reflecto.contract import devices, limits, pairing
from reflecto.crypto.envelopes import MIN_BLOB_BYTES


def _base64_chars(byte_count: int) -> int:
    return (byte_count + 2) // 3 * 4


_KEYS = {
    "public_key": of_32_bytes("X25519 public key"),
    "signing_key": of_32_bytes("Ed25519 public key"),
}
_PROOF = of_32_bytes("What proves the knowledge of the secret")
_COMMITMENT = of_32_bytes("To the nonce, with a typed code; null otherwise")
_NONCE = of_32_bytes("What the other end is shown")
_PAIRING_STATUS = note(
    "Where it stands", "open", enum=["open", "claimed", "greeted", "revealed", "approved", "rejected"]
)
_APPROVAL = note("The owner's devices, as canonical JSON", "[]")
_SIGNATURE = a_signature("The phone's Ed25519 signature of it")

PAIRING: Final[Notes] = {
    pairing.CreatePairingRequest: {
        "pairing_id": an_id("par", "Drawn from the code the phone shows; absent: made here")
    },
    pairing.CreatePairingResponse: {
        "pairing_id": an_id("par", "The invitation's id"),
        "expires_at": a_time("When it ends", limits.PAIRING_SECONDS),
    },
    devices.ClaimRequest: {
        **_KEYS,
        "label": DEVICE_LABEL,
        "type": DEVICE_TYPE,
        "class": DEVICE_CLASS,
        "app_build": APP_BUILD,
        "features": FEATURES,
        "proof": _PROOF,
        "commitment": _COMMITMENT,
    },
    pairing.ClaimResponse: {
        "claim_token": note(
            "What to ask for the outcome with; then the device token",
            "rfd_live_…",
            pattern="^rfd_live_[A-Za-z0-9]{32}$",
        ),
        "device_id": an_id("dev", "The device's id, if it is approved"),
        "expires_at": a_time("When the invitation ends", limits.PAIRING_SECONDS),
    },
    pairing.NonceRequest: {"nonce": _NONCE},
    pairing.ApproveRequest: {"approval": _APPROVAL, "proof": _PROOF, "signature": _SIGNATURE},
    pairing.ClaimState: {
        "device_id": an_id("dev", "The device's id, if it is approved"),
        **_KEYS,
        "label": DEVICE_LABEL,
        "type": DEVICE_TYPE,
        "class": DEVICE_CLASS,
        "proof": _PROOF,
        "commitment": _COMMITMENT,
        "nonce": note("What the device had committed itself to; null until it is revealed", KEY_EXAMPLE),
    },
    pairing.PairingState: {
        "pairing_id": an_id("par", "The invitation's id"),
        "status": _PAIRING_STATUS,
        "expires_at": a_time("When it ends", limits.PAIRING_SECONDS),
        "claim": {"description": "The device that asks to join; null: none yet"},
    },
    pairing.Greeting: {**_KEYS, "nonce": _NONCE},
    pairing.Admission: {
        "owner_id": an_id("own", "Whose device it now is"),
        "device_id": an_id("dev", "The device's id"),
        "device_token": note("Its own token", "rfd_live_…", pattern="^rfd_live_[A-Za-z0-9]{32}$"),
        "server_key": note("The server's X25519 public key, base64", KEY_EXAMPLE),
        "approval": _APPROVAL,
        "proof": _PROOF,
        "signature": _SIGNATURE,
    },
    pairing.OutcomeState: {
        "status": _PAIRING_STATUS,
        "expires_at": a_time("When it ends", limits.PAIRING_SECONDS),
        "greeting": {"description": "The phone's keys and nonce, with a typed code; null until then"},
        "admission": {"description": "What the device needs; null until it is approved"},
    },
    pairing.RelayRequest: {
        "to": note("The ids of the devices", [f"dev_{HEX_DIGITS}"]),
        "blobs": note(
            f"A wire blob for each of them, base64 of at most {limits.RELAY_BLOB_MAX_BYTES} bytes",
            ["AaWf…"],
            minItems=1,
            maxItems=limits.RELAY_TARGETS_MAX,
            items={
                "type": "string",
                "minLength": _base64_chars(MIN_BLOB_BYTES),
                "maxLength": _base64_chars(limits.RELAY_BLOB_MAX_BYTES),
                "pattern": patterns.BASE64_OF_A_BLOB,
            },
        ),
    },
}
