"""What can become of a request that a store decides, as every store and the use cases speak of it."""

from enum import Enum, auto

import msgspec

from reflecto.core.model import Emergency, Interaction, Pairing, Token


class Creation(Enum):
    """What became of a new question."""

    CREATED = auto()
    REPEATED = auto()
    TOO_MANY_PENDING = auto()
    PHONES_CHANGED = auto()  # a phone came or went since the prompts were sealed: seal again
    TOKEN_REVOKED = auto()
    SENDER_MUTED = auto()
    QUEUES_FULL = auto()  # of every phone it is for


class Verdict(Enum):
    """What became of an answer or a cancellation."""

    ACCEPTED = auto()
    REPEATED = auto()
    ALREADY_ANSWERED = auto()
    CLOSED = auto()
    DEVICE_REMOVED = auto()  # since its request was authenticated: a body may take its time to come


class Sending(msgspec.Struct, frozen=True):
    """Ids of the devices whose queues took something, and of those whose queues are full; the others are gone."""

    reached: tuple[str, ...] = ()
    full: tuple[str, ...] = ()


class Relaying(Enum):
    """What became of blobs that one device sends others."""

    QUEUED = auto()  # in every queue that has room
    DEVICE_GONE = auto()  # the sender or one of the targets is no device of the owner: nothing is queued
    QUEUES_FULL = auto()


class Redemption(Enum):
    """What became of a setup code."""

    REDEEMED = auto()
    INVALID = auto()
    OWNERS_CHANGED = auto()  # an owner came into being since it was read: decide again
    TOO_MANY_DEVICES = auto()


class Addition(Enum):
    """What became of a new token or reminder."""

    ADDED = auto()
    TOO_MANY = auto()
    REVOKED = auto()  # the owner was deleted, or the token revoked or phone removed whose request it is, meanwhile
    LABEL_TAKEN = auto()  # a token of the owner looks the same


class Change(Enum):
    """What became of a change of a token."""

    CHANGED = auto()
    NO_TOKEN = auto()
    LABEL_TAKEN = auto()  # another token of the owner looks the same
    PHONE_REMOVED = auto()


class Opening(Enum):
    """What became of a new pairing."""

    OPENED = auto()
    TOO_MANY = auto()
    TAKEN = auto()  # its id is in use
    PHONE_REMOVED = auto()


class Admittance(Enum):
    """What became of an approval."""

    ADMITTED = auto()
    REPEATED = auto()
    CLOSED = auto()
    TOO_MANY_DEVICES = auto()


class CreateResult(msgspec.Struct, frozen=True):
    """`interaction` is the new or the repeated one, None when refused."""

    creation: Creation
    interaction: Interaction | None = None


class ChangeResult(msgspec.Struct, frozen=True):
    """`token` is the changed one, None when refused."""

    change: Change
    token: Token | None = None


class StepResult(msgspec.Struct, frozen=True):
    """`pairing` is its state after the step, or as it stays where the step was refused."""

    accepted: bool
    pairing: Pairing


class EndResult(msgspec.Struct, frozen=True):
    """`interaction` is its state after the verdict."""

    verdict: Verdict
    interaction: Interaction


class EmergencyEndResult(msgspec.Struct, frozen=True):
    """`emergency` is its state after the verdict."""

    verdict: Verdict
    emergency: Emergency
