"""What a reply says of what was accepted but not done as asked."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from reflecto.contract.notes import note

WARNINGS: Final = note("What was accepted but not done as asked", [])


class Caveat(msgspec.Struct, frozen=True):
    """Something was accepted but not done as asked."""

    code: Annotated[str, note("What it is, for programs", "unknown_device")]
    message: Annotated[str, note("The same for people", "No device is called 'Tablet'")]
