"""The domain's records, as the core and every store speak of them. Times are Unix seconds."""

from typing import Any, ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from reflecto.contract.devices import DeviceClass, DeviceType
from reflecto.contract.pairing import PairingStatus
from reflecto.contract.question_states import Reason
from reflecto.contract.secret_record import SecretRecord
from reflecto.contract.tokens import Colour, Priority, Scope


class Record(msgspec.Struct, frozen=True):
    """One that can be printed: of its bytes, which may be secret, and of the fields in `hidden` nothing is shown."""

    hidden: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        """Return its class and the fields that may be seen."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        fields = [(name, getattr(self, name)) for name in self.__struct_fields__ if name not in self.hidden]
        return [(name, value) for name, value in fields if not isinstance(value, bytes)]


class Owner(msgspec.Struct, frozen=True):
    """Whose devices and tokens belong together. Nothing else is known of them."""

    id: str
    created_at: int
    device_labels: tuple[str, ...]


FOREVER: Final = 2**53  # as an instant: of a token that is muted for good


class Token(Record, frozen=True):
    """A sender token; the plaintext is not kept. `muted_until`: Unix seconds or `FOREVER`; None or past: not muted.

    `refused_at`: when the owner was last told (Unix seconds) that there was no place for a question of it.
    """

    id: str
    owner_id: str
    hash: bytes
    label: str
    test: bool
    priority_cap: Priority | None
    scopes: tuple[Scope, ...]
    created_at: int
    last_used_at: int | None = None
    short_hash: bytes | None = None  # of its short form; None: not known yet
    colour: Colour = "teal"
    muted_until: int | None = None
    refused_at: int | None = None


class TokenChanges(Record, frozen=True):
    """What a phone changes of a token. UNSET: it stays as it is."""

    label: str | UnsetType = UNSET
    colour: Colour | UnsetType = UNSET
    muted_until: int | UnsetType | None = UNSET


class Device(Record, frozen=True):
    """A receiver: its public keys (32 raw bytes each) and what it reported of itself."""

    id: str
    owner_id: str
    token_hash: bytes
    public_key: bytes
    signing_key: bytes
    label: str
    type: DeviceType
    device_class: DeviceClass
    app_build: int | None
    created_at: int
    last_seen_at: int | None = None
    last_seq: int = 0  # of its queue; entries may already be gone
    features: tuple[str, ...] = ()  # what its app says it knows


# What a device says of itself when it joins, in `Device` and in the `Claim` it may become one by.
REPORTED: Final = ("label", "type", "device_class", "app_build", "features")


class DeviceChanges(Record, frozen=True):
    """Changes that a device reports of itself. None: it stays as it is."""

    label: str | None = None
    app_build: int | None = None
    features: tuple[str, ...] | None = None


class SetupCode(Record, frozen=True):
    """A one-time code: joins `owner_id` where given; founds an owner if `founds_owner` or if there is none yet.

    `phone_id`: the phone that made it; None: the command line did.
    """

    hash: bytes
    owner_id: str | None
    founds_owner: bool
    expires_at: int
    phone_id: str | None = None


class Tap(Record, frozen=True):
    """A choice somebody made. A simulated one has no device; `answered_at` is the tapper's own clock."""

    hidden = ("number",)

    choice_index: int
    answered_at: int
    device_id: str | None = None
    device_label: str | None = None
    signing_key: bytes | None = None
    signature: bytes | None = None
    number: str | None = None  # the two digits that were typed
    comment: bytes | None = None  # sealed to the question's `comment_key`
    comment_sha256: str | None = None  # in hex, as it was signed


# A pending one whose time is up has expired, whether or not that is stored yet.
StoredStatus = Literal["pending", "answered", "cancelled", "expired"]


class Interaction(Record, frozen=True):
    """A question at rest: its text is in `sealed`, under a key only the asker's token yields.

    With a `tether` (seconds) it ends that long after `awaited_until`, the end of the last wait for it as far as known.
    """

    id: str
    owner_id: str
    token_id: str
    test: bool
    repeat_mark: bytes  # equal for repeats: of the idempotency key, else of the content
    content_mark: bytes  # equal for the same question, choices and what else was given
    sealed: bytes
    choice_count: int
    created_at: int
    expires_at: int
    status: StoredStatus = "pending"
    ended_at: int | None = None  # when it was answered or cancelled
    tap: Tap | None = None
    tether: int | None = None
    awaited_until: float | None = None  # of a tethered one; it may lie ahead
    reason: Reason | None = None  # of a cancelled one
    answer_version: int = 1  # of the message that a phone signs
    asks_number: bool = False  # the first choice counts with the right number only
    wrong_signature: bytes | None = None  # of the tap with a wrong number: the same again is no second one
    comment_key: bytes | None = None  # X25519; a comment is sealed to it. None: it takes none


Urgency = Literal["low", "high"]  # RFC 8030 5.3; there are more, these are what a priority comes to


class Holder(Record, frozen=True):
    """A token with so many of its owner's pending questions, the newest of which was asked at `newest_at`."""

    token_id: str
    questions: int
    newest_at: int


class QueueEntry(Record, frozen=True):
    """A blob waiting for one device. `sender` is a device id or `server`; the rest is as in `Delivery`."""

    seq: int
    sender: str
    blob: bytes
    expires_at: int
    urgency: Urgency = "high"
    topic: str | None = None
    question_id: str | None = None
    push_until: int | None = None

    @property
    def push_expires_at(self) -> int:
        """When a push of it that was not delivered yet is of no use any more, in Unix seconds."""
        return self.expires_at if self.push_until is None else min(self.expires_at, self.push_until)


class Delivery(Record, frozen=True):
    """A blob to append to one device's queue, which numbers it.

    `urgency` and `topic` (up to 32 characters of base64url) are for its push: one that was not delivered yet is
    replaced by the next of the same topic. `is_essential`: it may take the room that a full queue reserves.
    `question_id`: it is the prompt of this question, or says that it expired. `push_until`: from then on (Unix seconds)
    it waits without a push; 0: it never has one; None: it is pushed as long as it waits.
    """

    device_id: str
    blob: bytes
    expires_at: int
    sender: str = "server"
    urgency: Urgency = "high"
    topic: str | None = None
    is_essential: bool = False
    question_id: str | None = None
    push_until: int | None = None


class PushSubscription(SecretRecord, frozen=True):
    """Where a device's pushes go: its endpoint is a capability, so it is never logged in full."""

    endpoint: str
    p256dh: bytes  # 65 bytes, a point of P-256
    auth: bytes  # 16 bytes


class PushTarget(msgspec.Struct, frozen=True):
    """A device with a subscription: it was made behind `since_seq`, and the queue has come to `last_seq`."""

    owner_id: str
    subscription: PushSubscription
    since_seq: int
    last_seq: int


class StoreLoad(msgspec.Struct, frozen=True):
    """What waits in the store: in the queues of all devices, in the fullest one, and for a tap (no test questions)."""

    queue_entries: int
    queue_bytes: int
    longest_queue: int  # entries
    largest_queue_bytes: int
    pending_questions: int


class PushBacklog(msgspec.Struct, frozen=True):
    """A device with a subscription whose queue, which has come to `last_seq`, holds something not acknowledged."""

    device_id: str
    last_seq: int


class Claim(Record, frozen=True):
    """The device that wants to join: what it said of itself, and what proves that to the phone (32 bytes each)."""

    token_hash: bytes
    device_id: str
    public_key: bytes
    signing_key: bytes
    label: str
    type: DeviceType
    device_class: DeviceClass
    app_build: int | None
    proof: bytes
    commitment: bytes | None  # only with a typed code
    features: tuple[str, ...] = ()


class PhoneNonce(msgspec.Struct, frozen=True):
    """The phone greets a device that came with a typed code (32 bytes)."""

    nonce: bytes


class DeviceNonce(msgspec.Struct, frozen=True):
    """The device reveals what it committed to (32 bytes)."""

    nonce: bytes


class Rejection(msgspec.Struct, frozen=True):
    """The phone withdraws the invitation, or rejects who claimed it."""


PairingStep = Claim | PhoneNonce | DeviceNonce | Rejection


class Approval(Record, frozen=True):
    """The phone's word on who the owner's devices are, opaque to the server."""

    text: str
    proof: bytes
    signature: bytes


class Pairing(Record, frozen=True):
    """An invitation for one device, made by `phone_id`."""

    id: str
    owner_id: str
    phone_id: str
    expires_at: int
    status: PairingStatus = "open"
    claim: Claim | None = None
    phone_nonce: bytes | None = None
    device_nonce: bytes | None = None
    approval: Approval | None = None


class ReminderDelivery(Record, frozen=True):
    """A reminder sealed for one device, twice: as it is sent on time, and flagged `late`."""

    device_id: str
    on_time: bytes
    late: bytes


class Reminder(Record, frozen=True):
    """A reminder at rest: `sealed` is its text for its asker, under a key only that token yields."""

    id: str
    owner_id: str
    token_id: str
    sealed: bytes
    created_at: int
    fire_at: int


EmergencyStatus = Literal["active", "acknowledged", "cancelled", "expired"]


class Emergency(Record, frozen=True):
    """A message that rings until somebody acknowledges it; its text is sealed in what is kept for its devices.

    `next_round_at`: when it rings again, or ends; `next_call_at`: when its sender is called back. None: never.
    """

    hidden = ("callback",)  # an address may hold a secret

    receipt: str
    message_id: str
    owner_id: str
    token_id: str
    token_label: str
    retry_seconds: int
    created_at: int
    expires_at: int
    callback: str | None
    last_delivered_at: int
    next_round_at: int | None
    status: EmergencyStatus = "active"  # one that expired may still say so
    ended_at: int | None = None
    device_id: str | None = None  # whose owner acknowledged it
    device_label: str | None = None
    next_call_at: int | None = None
    calls: int = 0
    called_back_at: int | None = None


class EmergencyEnd(msgspec.Struct, frozen=True):
    """How an emergency is to end; `device` acknowledges it."""

    status: Literal["acknowledged", "cancelled", "expired"]
    device_id: str | None = None
    device_label: str | None = None
