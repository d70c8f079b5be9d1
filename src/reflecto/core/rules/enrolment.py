"""Whether a setup code may be redeemed. Source: devices.md "Enrolling the first phone"."""

import msgspec

from reflecto.contract.limits import DEVICES_MAX_PER_OWNER
from reflecto.core.model import SetupCode
from reflecto.core.rules.outcomes import Redemption


class RedemptionFacts(msgspec.Struct, frozen=True):
    """What decides a redemption: `code` is None where it cannot be used; `devices` counts those the owner has."""

    code: SetupCode | None
    has_owners: bool
    is_owner_there: bool
    devices: int


def judge_redemption(facts: RedemptionFacts, *, founds: bool) -> Redemption:
    """Decide it for a device that founds an owner, or joins one."""
    if facts.code is None:
        return Redemption.INVALID
    if founds:
        is_late = facts.has_owners and not facts.code.founds_owner
        return Redemption.OWNERS_CHANGED if is_late else Redemption.REDEEMED
    if not facts.is_owner_there:
        return Redemption.INVALID
    return Redemption.TOO_MANY_DEVICES if facts.devices >= DEVICES_MAX_PER_OWNER else Redemption.REDEEMED
