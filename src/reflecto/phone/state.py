"""What a terminal phone remembers between runs: its keys, where it is in its queue, and what is still open."""

from typing import Any, Final, Literal

import msgspec

from reflecto.contract.details import Block, Details
from reflecto.contract.devices import ANSWER_V2
from reflecto.contract.question_states import Confirm

VERSION: Final = 1  # of the state file's form
FEATURES: Final = (ANSWER_V2, "emergency")  # what this version knows, beyond what each did

Phase = Literal["open", "sending"]


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who this phone is, and to which server. Keys are 32 raw bytes in base64."""

    url: str
    owner_id: str
    device_id: str
    label: str
    device_token: str
    server_key: str
    box_secret: str
    signing_seed: str

    def __repr__(self) -> str:
        """Keep the secrets out of tracebacks and logs."""
        return f"Identity({self.device_id} at {self.url})"


class SaidWord(msgspec.Struct, frozen=True):
    """A comment as it is sent; `salt` is 16 random bytes in base64url."""

    text: str
    salt: str


class Answer(msgspec.Struct, frozen=True):
    """A tap. `answered_at` is this phone's clock in Unix seconds; `signature` is base64.

    `v` is 2 where more than question and choices was signed; `number` and `comment` are what the owner typed.
    """

    choice_index: int
    answered_at: int
    signature: str
    v: int | msgspec.UnsetType = msgspec.UNSET
    number: str | msgspec.UnsetType = msgspec.UNSET
    comment: SaidWord | msgspec.UnsetType = msgspec.UNSET


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question that has not ended. With an `answer` it waits for the server's verdict on that answer.

    `given` are those of details, source, danger, confirm and comment that its asker gave, as they came: they are signed
    over. `token_id` is the asker's token.
    """

    id: str
    source: str
    text: str
    choices: tuple[str, ...]
    expires_at: int
    answer: Answer | None = None
    given: dict[str, Any] = {}
    token_id: str | None = None

    @property
    def phase(self) -> Phase:
        """The phase of its life, as in `lifecycle`."""
        return "open" if self.answer is None else "sending"

    @property
    def details(self) -> tuple[Block, ...]:
        """The blocks that came with it. Raises: msgspec.ValidationError if they are none."""
        return msgspec.convert(self.given.get("details", ()), Details)

    @property
    def says(self) -> dict[str, str]:
        """What the asker says of itself. Raises: msgspec.ValidationError."""
        return msgspec.convert(self.given.get("source", {}), dict[str, str])

    @property
    def is_dangerous(self) -> bool:
        """Whether the asker says that a wrong tap does harm."""
        return self.given.get("danger") == "high"

    @property
    def confirm(self) -> Confirm:
        """How the first choice is to be tapped. Raises: msgspec.ValidationError."""
        confirm: Confirm = msgspec.convert(self.given.get("confirm", "tap"), Confirm)
        return confirm

    @property
    def takes_comment(self) -> bool:
        """Whether the owner may add a word."""
        return self.given.get("comment") == "optional"


class HeldToken(msgspec.Struct, frozen=True):
    """A sender token that nobody has been shown yet."""

    id: str
    label: str
    token: str

    def __repr__(self) -> str:
        """Keep the secret out of tracebacks and logs."""
        return f"HeldToken({self.id})"


class HeldDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that is not in the downloads folder yet."""

    id: str
    source: str
    filename: str
    content: str
    title: str | None = None

    def __repr__(self) -> str:
        """Keep the content out of tracebacks and logs."""
        return f"HeldDocument({self.id})"


class OpenEmergency(msgspec.Struct, frozen=True, kw_only=True):
    """An emergency that goes on. `rang_at` and `expires_at` are Unix seconds, `retry` seconds.

    `silenced`: it rings no more on this phone. `acknowledged`: it waits for the server's word on that.
    """

    id: str
    receipt: str
    source: str
    message: str
    title: str | None = None
    html: bool = False
    url: str | None = None
    url_title: str | None = None
    retry: int
    expires_at: int
    rang_at: float = 0.0
    silenced: bool = False
    acknowledged: bool = False


class PhoneState(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that must survive a crash.

    `cursor` is the last sequence number whose effects are in here. `seen` maps `"<type> <id>"` of what was shown
    to the Unix second after which it cannot arrive again. `lapsed` are questions that only this clock has ended.
    """

    version: int = VERSION
    identity: Identity | None = None
    revoked: bool = False
    cursor: int = 0
    seen: dict[str, int] = {}
    questions: tuple[Question, ...] = ()
    lapsed: tuple[Question, ...] = ()
    tokens: tuple[HeldToken, ...] = ()
    documents: tuple[HeldDocument, ...] = ()
    emergencies: tuple[OpenEmergency, ...] = ()
    features: tuple[str, ...] = ()  # what the server was told that this phone knows
    muted: dict[str, int | Literal["forever"]] = {}  # token ids, until when (Unix seconds)

    def question(self, interaction_id: str) -> Question | None:
        """Return the question of this id, or None once it has ended."""
        return next((question for question in self.questions if question.id == interaction_id), None)

    def emergency(self, emergency_id: str) -> OpenEmergency | None:
        """Return the emergency of this id, or None once it has ended."""
        return next((emergency for emergency in self.emergencies if emergency.id == emergency_id), None)

    def unsent_acknowledgement(self) -> OpenEmergency | None:
        """Return the oldest emergency whose acknowledgement waits for the server's verdict."""
        return next((emergency for emergency in self.emergencies if emergency.acknowledged), None)

    def open_questions(self) -> tuple[Question, ...]:
        """Return those that wait for a tap, oldest first."""
        return tuple(question for question in self.questions if question.phase == "open")

    def unsent(self) -> Question | None:
        """Return the oldest question whose answer waits for the server's verdict."""
        return next((question for question in self.questions if question.phase == "sending"), None)
