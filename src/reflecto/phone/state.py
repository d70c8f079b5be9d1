"""What a terminal phone remembers between runs: its keys, where it is in its queue, and what is still open."""

from typing import Final, Literal

import msgspec

VERSION: Final = 1  # of the state file's form
FEATURES: Final = ("emergency",)  # what this version knows, beyond what each did

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


class Answer(msgspec.Struct, frozen=True):
    """A tap. `answered_at` is this phone's clock in Unix seconds; `signature` is base64."""

    choice_index: int
    answered_at: int
    signature: str


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question that has not ended. With an `answer` it waits for the server's verdict on that answer."""

    id: str
    source: str
    text: str
    choices: tuple[str, ...]
    expires_at: int
    answer: Answer | None = None

    @property
    def phase(self) -> Phase:
        """The phase of its life, as in `lifecycle`."""
        return "open" if self.answer is None else "sending"


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
