"""Which step of a pairing may follow which: pure, and applied by stores inside their transaction.

Source: devices.md "Pairing further devices", docs/protocol.md "Pairing".
"""

from typing import Final, Literal

from msgspec.structs import replace

from reflecto.contract.limits import DEVICES_MAX_PER_OWNER, PAIRING_SECONDS, PAIRINGS_MAX_PER_OWNER
from reflecto.contract.pairing import PairingStatus
from reflecto.core.model import Approval, Claim, DeviceNonce, Pairing, PairingStep, PhoneNonce, Rejection
from reflecto.core.rules.outcomes import Admittance, Opening

Move = Literal["claim", "greet", "reveal", "approve", "reject"]

LIFECYCLE: Final[dict[PairingStatus, dict[Move, PairingStatus]]] = {
    "open": {"claim": "claimed", "reject": "rejected"},
    "claimed": {"greet": "greeted", "approve": "approved", "reject": "rejected"},
    "greeted": {"reveal": "revealed", "reject": "rejected"},
    "revealed": {"approve": "approved", "reject": "rejected"},
    "approved": {},
    "rejected": {},
}


def take_step(pairing: Pairing, step: PairingStep) -> Pairing | None:
    """Return the pairing after the step, None where it is refused. A step taken again changes nothing more.

    The same device may claim again while nothing was built on it: its reply was lost, so it gets a new token.
    """
    match step:
        case Claim():
            if pairing.status == "claimed" and pairing.claim and _is_same_device(pairing.claim, step):
                return replace(pairing, claim=replace(pairing.claim, token_hash=step.token_hash))
            return _moved(replace(pairing, claim=step), "claim")
        case PhoneNonce(nonce):
            return pairing if pairing.phone_nonce == nonce else _moved(replace(pairing, phone_nonce=nonce), "greet")
        case DeviceNonce(nonce):
            return pairing if pairing.device_nonce == nonce else _moved(replace(pairing, device_nonce=nonce), "reveal")
        case Rejection():
            return pairing if pairing.status == "rejected" else _moved(pairing, "reject")


def judge_opening(*, is_phone_there: bool, is_id_taken: bool, open_pairings: int) -> Opening:
    """Decide whether a phone may invite; `open_pairings` are its owner's that may still be approved."""
    if not is_phone_there:
        return Opening.PHONE_REMOVED
    if is_id_taken:
        return Opening.TAKEN
    return Opening.TOO_MANY if open_pairings >= PAIRINGS_MAX_PER_OWNER else Opening.OPENED


def judge_approval(pairing: Pairing, approval: Approval, owner_devices: int) -> Admittance:
    """Decide an approval. Given again, it is what it was."""
    if pairing.approval == approval:
        return Admittance.REPEATED
    if _moved(pairing, "approve") is None:
        return Admittance.CLOSED
    return Admittance.TOO_MANY_DEVICES if owner_devices >= DEVICES_MAX_PER_OWNER else Admittance.ADMITTED


def approved(pairing: Pairing, approval: Approval, now: float) -> Pairing:
    """Return the pairing once approved: its outcome can be fetched for as long as it could be claimed."""
    return replace(pairing, status="approved", approval=approval, expires_at=int(now) + PAIRING_SECONDS)


def _moved(pairing: Pairing, move: Move) -> Pairing | None:
    """Return the pairing moved on; one claimed with a commitment (a typed code) is greeted before it is approved."""
    status = LIFECYCLE[pairing.status].get(move)
    if status is None:
        return None
    is_by_code = pairing.claim is not None and pairing.claim.commitment is not None
    if (move == "greet" and not is_by_code) or (move == "approve" and pairing.status == "claimed" and is_by_code):
        return None
    return replace(pairing, status=status)


def _is_same_device(claim: Claim, other: Claim) -> bool:
    return replace(other, token_hash=claim.token_hash, device_id=claim.device_id) == claim
