"""What the owner's keys ask the phone to do."""

from typing import Literal, NamedTuple

from reflecto.phone.muting import Until


class TapOn(NamedTuple):
    """A key that answers this question, with what was typed for it."""

    id: str
    choice_index: int
    number: str = ""
    comment: str = ""


class Acknowledge(NamedTuple):
    """A key that acknowledges this emergency."""

    id: str


class Silence(NamedTuple):
    """A key that stops these rings everywhere, and emergencies on this phone."""

    ring_ids: tuple[str, ...]


class Refuse(NamedTuple):
    """Keys that end this question without an answer."""

    id: str


class RefuseAll(NamedTuple):
    """Keys that end every open question of this token."""

    token_id: str


class Mute(NamedTuple):
    """Keys that mute this token until then, or no longer (None)."""

    token_id: str
    source: str
    until: Until | None


Wish = TapOn | Acknowledge | Silence | Refuse | RefuseAll | Mute | Literal["quit"]
