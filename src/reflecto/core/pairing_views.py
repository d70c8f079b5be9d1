"""A pairing as each end sees it, and the device it becomes."""

from reflecto.contract.pairing import Admission, ClaimState, Greeting, OutcomeState, PairingState
from reflecto.core.joining import reported
from reflecto.core.model import Claim, Device, Pairing
from reflecto.crypto.encoding import encode_base64


def as_phone_sees(pairing: Pairing) -> PairingState:
    """Return what the phone that made it is told."""
    claim = pairing.claim
    claimed = None
    if claim is not None:
        claimed = ClaimState(
            device_id=claim.device_id,
            public_key=encode_base64(claim.public_key),
            signing_key=encode_base64(claim.signing_key),
            label=claim.label,
            type=claim.type,
            device_class=claim.device_class,
            proof=encode_base64(claim.proof),
            commitment=encode_base64(claim.commitment) if claim.commitment else None,
            nonce=encode_base64(pairing.device_nonce) if pairing.device_nonce else None,
        )
    return PairingState(pairing.id, pairing.status, pairing.expires_at, claimed)


def as_device_sees(
    pairing: Pairing, claim: Claim, phone: Device, claim_token: str, server_public_key: bytes
) -> OutcomeState:
    """Return what the device that claimed it is told; its claim token is its device token from the approval on."""
    greeting, admission = None, None
    if pairing.phone_nonce is not None:
        greeting = Greeting(
            public_key=encode_base64(phone.public_key),
            signing_key=encode_base64(phone.signing_key),
            nonce=encode_base64(pairing.phone_nonce),
        )
    if pairing.approval is not None:
        admission = Admission(
            owner_id=pairing.owner_id,
            device_id=claim.device_id,
            device_token=claim_token,
            server_key=encode_base64(server_public_key),
            approval=pairing.approval.text,
            proof=encode_base64(pairing.approval.proof),
            signature=encode_base64(pairing.approval.signature),
        )
    return OutcomeState(pairing.status, pairing.expires_at, greeting, admission)


def device_of(claim: Claim, owner_id: str, now: float) -> Device:
    """Return the device that an approved claim becomes."""
    return Device(
        id=claim.device_id,
        owner_id=owner_id,
        token_hash=claim.token_hash,
        public_key=claim.public_key,
        signing_key=claim.signing_key,
        created_at=int(now),
        **reported(claim),
    )
