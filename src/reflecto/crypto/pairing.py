"""Pairing a further device: what phone and new device prove to each other past a server that may lie.

Both ends hold a secret the server never sees: 32 bytes from a link's fragment, or drawn from a typed code. A typed code
may be overheard, so its way also has six digits, the same on both screens unless somebody sits between them: the new
device commits to its nonce before the phone shows its own, so nobody can search for nonces that make digits agree.

Pure functions; the order of the messages is the callers' (docs/protocol.md "Pairing"). Source: devices.md "Pairing
further devices". Vectors: tests/vectors/pairing.json.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
import rfc8785
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from reflecto.contract.devices import DeviceClass, DeviceType
from reflecto.contract.ids import normalize_setup_code
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.secret_record import SecretRecord
from reflecto.crypto.encoding import decode_base64url, encode_base64, encode_base64url

CONTEXT: Final = b"reflecto-pair-v1 "
SECRET_BYTES: Final = 32
NONCE_BYTES: Final = 32
PROOF_BYTES: Final = 32
DIGITS: Final = 6
_LINK_VERSION: Final = b"\x01"
_LINK_BYTES: Final = 1 + 16 + SECRET_BYTES + 32 + 32


class PairingLieError(Exception):
    """What came through the server is not what the other end said; the message names what differs."""


class PublicKeys(msgspec.Struct, frozen=True):
    """A device's X25519 and Ed25519 public keys, 32 bytes each."""

    public_key: bytes
    signing_key: bytes


class PairingSecret(SecretRecord, frozen=True):
    """What both ends know and the server does not."""

    pairing_id: str
    secret: bytes

    @classmethod
    def of_code(cls, typed: str) -> "PairingSecret":
        """Derive both from a code of 80 bits; the server is told the id only. Raises: ValueError for no code."""
        code = normalize_setup_code(typed)
        if code is None:
            raise ValueError("not a pairing code")
        return cls(f"par_{_mac(code.encode(), b'id')[:16].hex()}", _mac(code.encode(), b"secret"))


class PairingLink(msgspec.Struct, frozen=True):
    """What the link's fragment holds: a secret, and the keys of the phone that shows it."""

    pairing: PairingSecret
    phone: PublicKeys

    def fragment(self) -> str:
        """Return it in base64url (151 characters)."""
        parts = (
            _LINK_VERSION,
            bytes.fromhex(self.pairing.pairing_id.removeprefix("par_")),
            self.pairing.secret,
            self.phone.public_key,
            self.phone.signing_key,
        )
        return encode_base64url(b"".join(parts))

    @classmethod
    def of_fragment(cls, fragment: str) -> "PairingLink":
        """Read it. Raises: ValueError if it is cut short, changed or of another version."""
        raw = decode_base64url(fragment, length=_LINK_BYTES)
        if raw is None or raw[:1] != _LINK_VERSION:
            raise ValueError("not a pairing link")
        return cls(PairingSecret(f"par_{raw[1:17].hex()}", raw[17:49]), PublicKeys(raw[49:81], raw[81:113]))


class Claim(msgspec.Struct, frozen=True):
    """What the new device says of itself."""

    pairing_id: str
    keys: PublicKeys
    label: str
    type: DeviceType
    device_class: DeviceClass

    def text(self) -> bytes:
        """Return it as canonical JSON, which all proofs about the new device cover."""
        public_key, signing_key = _encoded(self.keys)
        return rfc8785.dumps(
            {
                "class": self.device_class,
                "label": self.label,
                "pairing_id": self.pairing_id,
                "public_key": public_key,
                "signing_key": signing_key,
                "type": self.type,
            }
        )


class ListedDevice(msgspec.Struct, frozen=True):
    """A device in an approval; keys in base64."""

    device_id: str
    label: str
    type: DeviceType
    device_class: DeviceClass = msgspec.field(name="class")
    public_key: str
    signing_key: str


class Approval(msgspec.Struct, frozen=True):
    """What the approving phone says: whose devices these are, and the key the server seals with."""

    pairing_id: str
    owner_id: str
    server_key: str
    approver_id: str
    approved_at: int  # Unix seconds, the phone's clock
    devices: tuple[ListedDevice, ...]

    def text(self) -> str:
        """Return it as canonical JSON: these very characters are proved, signed and passed on."""
        return rfc8785.dumps(msgspec.to_builtins(self)).decode()


class Joined(msgspec.Struct, frozen=True):
    """What the new device knows by itself or was told by the server, to hold the approval against."""

    claim: Claim
    device_id: str
    owner_id: str
    server_key: str
    phone: PublicKeys  # of the link, or of the greeting whose digits were compared


def prove_claim(secret: bytes, claim: Claim) -> bytes:
    """Return the new device's proof (32 bytes)."""
    return _mac(secret, b"claim\n" + claim.text())


def check_claim(secret: bytes, claim: Claim, proof: bytes) -> None:
    """For the phone: check what the server says of the new device. Raises: PairingLieError."""
    if not hmac.compare_digest(prove_claim(secret, claim), proof):
        raise PairingLieError("keys, name or class are not what the new device said")


def commit(nonce: bytes, claim: Claim) -> bytes:
    """Return the new device's commitment (32 bytes) to its nonce (32 random bytes) and to what it claimed."""
    return hashlib.sha256(CONTEXT + b"commitment\n" + nonce + claim.text()).digest()


def check_commitment(commitment: bytes, nonce: bytes, claim: Claim) -> None:
    """For the phone: check that the revealed nonce is the one that was committed to. Raises: PairingLieError."""
    if len(nonce) != NONCE_BYTES or not hmac.compare_digest(commit(nonce, claim), commitment):
        raise PairingLieError("the nonce is not the one the new device committed to")


def digits(secret: bytes, claim: Claim, phone: PublicKeys, phone_nonce: bytes, device_nonce: bytes) -> str:
    """Return the six digits both screens show."""
    seen = phone_nonce + device_nonce + phone.public_key + phone.signing_key + claim.text()
    number = int.from_bytes(_mac(secret, b"digits\n" + seen)[:6], "big")  # 48 bits: no bias anyone could see
    return f"{number % 10**DIGITS:0{DIGITS}}"


def prove_approval(secret: bytes, text: str) -> bytes:
    """Return the phone's proof (32 bytes) over an approval's text."""
    return _mac(secret, b"approval\n" + text.encode())


def sign_approval(seed: bytes, text: str) -> bytes:
    """Return the phone's Ed25519 signature (64 bytes), by which anybody can check the list."""
    return SigningKey(seed).sign(_approval_message(text)).signature


def check_approval(secret: bytes, text: str, proof: bytes, signature: bytes, joined: Joined) -> Approval:
    """For the new device: check the approval and return it. Raises: PairingLieError."""
    if not hmac.compare_digest(prove_approval(secret, text), proof):
        raise PairingLieError("the approval is not the phone's")
    if not _is_signed(joined.phone.signing_key, _approval_message(text), signature):
        raise PairingLieError("the approval is not signed by the phone")
    try:
        approval = read_json(text, Approval)
    except UnreadableJsonError:
        raise PairingLieError("the approval is no device list") from None
    said = (approval.pairing_id, approval.owner_id, approval.server_key)
    if said != (joined.claim.pairing_id, joined.owner_id, joined.server_key):
        raise PairingLieError("owner or server key are not those the phone knows")
    by_id = {device.device_id: device for device in approval.devices}
    if len(by_id) != len(approval.devices):
        raise PairingLieError("a device is listed twice")
    if by_id.get(joined.device_id) != listed(joined.device_id, joined.claim):
        raise PairingLieError("this device is not listed as it is")
    phone = by_id.get(approval.approver_id)
    if phone is None or (phone.public_key, phone.signing_key) != _encoded(joined.phone):
        raise PairingLieError("the phone is not listed with its keys")
    return approval


def listed(device_id: str, claim: Claim) -> ListedDevice:
    """Return the new device as an approval lists it."""
    public_key, signing_key = _encoded(claim.keys)
    return ListedDevice(device_id, claim.label, claim.type, claim.device_class, public_key, signing_key)


def check_known(devices: Iterable[ListedDevice], known: Mapping[str, PublicKeys]) -> None:
    """For the phone, before it lists them: a device whose keys it has seen has them still. Raises: PairingLieError."""
    for device in devices:
        keys = known.get(device.device_id)
        if keys is not None and _encoded(keys) != (device.public_key, device.signing_key):
            raise PairingLieError(f"the keys of {device.label} are not those it had")


def _encoded(keys: PublicKeys) -> tuple[str, str]:
    return encode_base64(keys.public_key), encode_base64(keys.signing_key)


def _approval_message(text: str) -> bytes:
    return CONTEXT + b"approval\n" + text.encode()


def _is_signed(signing_key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        VerifyKey(signing_key).verify(message, signature)
    except (BadSignatureError, ValueError):
        return False
    return True


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, CONTEXT + message, "sha256")
