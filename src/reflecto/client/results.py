"""What the client returns. Times with `_at` are Unix seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reflecto.client.errors import InvalidReceipt
from reflecto.contract.devices import DeviceClass, DeviceType
from reflecto.contract.question_states import Status
from reflecto.crypto.answers import (
    SIGNATURE_BYTES,
    SIGNING_KEY_BYTES,
    answer_message,
    answer_message_v2,
    comment_digest,
    verify_answer,
)
from reflecto.crypto.encoding import decode_base64


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the server has stored and queued for every phone.

    `replayed`: it had been asked before with the same idempotency key, so no second prompt was sent.
    `deadline` is its end by the clock of the client that asked (by default `time.monotonic`): the server's
    `expires_at` cannot be compared with a local clock that may be wrong.
    `confirm_number`: two digits to show where the program runs, for the person to type on the phone; only of a
    question with `confirm="number"`. `given` are those of details, source, danger, confirm and comment that were asked
    with, as they went out: the phone signs them too.
    """

    id: str
    question: str
    choices: tuple[str, ...]
    expires_at: int
    replayed: bool
    deadline: float = field(repr=False, compare=False)
    confirm_number: str | None = field(default=None, repr=False)
    given: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Device:
    """The device whose tap won."""

    device_id: str
    label: str


@dataclass(frozen=True, slots=True)
class SignedComment:
    """A comment with the salt that was hashed with it; the phone signed the hash, `sha256` in hex."""

    text: str
    salt: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """A phone's signature over its answer to exactly this question.

    `signing_key` (Ed25519) and `signature` are base64; `answered_at` is the phone's clock, the value it signed.
    `version` 2 is what a phone signs for a question with details, source, danger, confirm or comment: `digest` stands
    for all of these with question and choices, `number` and `comment` are what was typed.
    """

    device_id: str
    signing_key: str
    question_id: str
    question: str
    choices: tuple[str, ...]
    choice_index: int
    answered_at: int
    signature: str
    version: int = 1
    digest: str | None = None
    number: str | None = None
    comment: SignedComment | None = None

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
        if key is None or signature is None or not verify_answer(key, self._message(), signature):
            raise InvalidReceipt("the receipt's signature does not fit the answer")
        comment = self.comment
        if comment is not None and comment_digest(comment.text, comment.salt) != comment.sha256:
            raise InvalidReceipt("the comment is not the one that was signed")

    def _message(self) -> bytes:
        if self.version == 1:
            return answer_message(self.question_id, self.question, self.choices, self.choice_index, self.answered_at)
        if self.version != 2 or self.digest is None:
            raise InvalidReceipt("the receipt is of a form that this version does not know")
        return answer_message_v2(
            self.question_id,
            self.digest,
            self.choice_index,
            self.answered_at,
            number=self.number,
            comment_sha256=self.comment.sha256 if self.comment else None,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """An explicit tap. Compare `choice` or `index`: an answer is neither true nor false, and `bool()` of it raises.

    `answered_by` is None for a test token's simulated answer; `receipt` is None unless the phone signed, and what
    the client returns has been checked (see `Receipt.verify` for what that proves). `comment` is the word with the
    tap, where the question asked for one. `verified`: a phone signed this answer to all that this client asked. It is
    false where only the id was known, so that what the server says was asked had to do. `simulated`: the test token's
    own program tapped.
    """

    question_id: str
    choice: str
    index: int
    answered_by: Device | None
    answered_at: int
    receipt: Receipt | None
    comment: str | None = None
    verified: bool = False
    simulated: bool = False

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
