"""What the client returns. Times with `_at` are Unix seconds."""

from dataclasses import dataclass, field

from reflecto.client.errors import InvalidReceipt
from reflecto.contract.devices import DeviceClass, DeviceType
from reflecto.contract.interactions import Status
from reflecto.crypto.answers import SIGNATURE_BYTES, SIGNING_KEY_BYTES, answer_message, verify_answer
from reflecto.crypto.encoding import decode_base64


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the server has stored and queued for every phone.

    `replayed`: it had been asked before with the same idempotency key, so no second prompt was sent.
    `deadline` is its end by the clock of the client that asked (by default `time.monotonic`): the server's
    `expires_at` cannot be compared with a local clock that may be wrong.
    """

    id: str
    question: str
    choices: tuple[str, ...]
    expires_at: int
    replayed: bool
    deadline: float = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Device:
    """The device whose tap won."""

    device_id: str
    label: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """A phone's signature over its answer to exactly this question.

    `signing_key` (Ed25519) and `signature` are base64; `answered_at` is the phone's clock, the value it signed.
    """

    device_id: str
    signing_key: str
    question_id: str
    question: str
    choices: tuple[str, ...]
    choice_index: int
    answered_at: int
    signature: str

    def verify(self, signing_key: str | None = None) -> None:
        """Check that the signature proves this answer.

        Without `signing_key` it is checked under the key that the server named. The client has already done that
        for every answer it returns: it proves that the holder of that key tapped this choice of this question,
        but not whose key it is, since a server that lies can name a key of its own. With the phone's key (base64),
        taken from somewhere else than this server, nothing has to be believed.

        Raises: InvalidReceipt.

        Source: protocol.md "Answering".
        """
        if signing_key is not None and signing_key != self.signing_key:
            raise InvalidReceipt("the answer was signed with another key than the expected one")
        key = decode_base64(self.signing_key, length=SIGNING_KEY_BYTES)
        signature = decode_base64(self.signature, length=SIGNATURE_BYTES)
        message = answer_message(self.question_id, self.question, self.choices, self.choice_index, self.answered_at)
        if key is None or signature is None or not verify_answer(key, message, signature):
            raise InvalidReceipt("the receipt's signature does not fit the answer")


@dataclass(frozen=True, slots=True)
class Answer:
    """An explicit tap. Compare `choice` or `index`: an answer is neither true nor false, and `bool()` of it raises.

    `answered_by` is None for a test token's simulated answer; `receipt` is None unless the phone signed, and what
    the client returns has been checked (see `Receipt.verify` for what that proves).
    """

    question_id: str
    choice: str
    index: int
    answered_by: Device | None
    answered_at: int
    receipt: Receipt | None

    @property
    def is_first_choice(self) -> bool:
        """Whether the first of the choices was tapped: "Approve", unless other choices were asked for."""
        return self.index == 0

    def __bool__(self) -> bool:
        raise TypeError(
            "an answer is neither true nor false: `if answer:` would take Deny for Approve. Compare .choice"
        )


@dataclass(frozen=True, slots=True)
class QuestionState:
    """Where a question stands: only the status `answered` has an `answer`, only `cancelled` a `reason`."""

    id: str
    status: Status
    question: str
    choices: tuple[str, ...]
    created_at: int
    expires_at: int
    answer: Answer | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A device whose queue holds what was sent, durably."""

    device_id: str
    type: DeviceType


@dataclass(frozen=True, slots=True)
class Caveat:
    """Something was accepted, but not all of it as asked; `code` is stable, such as `unknown_device`."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Sent:
    """A notification or a ring that the server has accepted. No device in `delivered_to`: nobody will get it."""

    id: str
    delivered_to: tuple[Delivery, ...]
    warnings: tuple[Caveat, ...]


@dataclass(frozen=True, slots=True)
class SentFile:
    """A document that the server has accepted; `byte_length` counts its content in UTF-8."""

    id: str
    byte_length: int
    delivered_to: tuple[Delivery, ...]
    warnings: tuple[Caveat, ...]


@dataclass(frozen=True, slots=True)
class ReminderSet:
    """A reminder that the server keeps until `fire_at`."""

    id: str
    fire_at: int
    warnings: tuple[Caveat, ...]


@dataclass(frozen=True, slots=True)
class Reminder:
    """A reminder that waits."""

    id: str
    message: str
    title: str | None
    fire_at: int
    created_at: int


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """One of the owner's devices. `reachable`: it is connected now."""

    device_id: str
    label: str
    type: DeviceType
    device_class: DeviceClass
    reachable: bool
    last_seen_at: int | None
    app_build: int | None
