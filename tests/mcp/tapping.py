"""A person with a phone: sees what comes to it, and taps."""

from typing import Any, Final

from reflecto.contract.envelopes import Envelope
from reflecto.contract.question_states import SIGNED_FIELDS
from reflecto.crypto.answers import question_digest
from tests.actors import DeviceActor
from tests.builders import NOW
from tests.sync_reader import SyncReader

SALT: Final = "AAECAwQFBgcICQoLDA0ODw"


class Person:
    """Reads the phone's stream, one envelope after another, and answers as the phone's app does, signed."""

    def __init__(self, phone: DeviceActor, reader: SyncReader) -> None:
        self.phone = phone
        self._reader = reader

    async def sees(self, kind: str = "interaction") -> Envelope:
        """Return the next envelope, which must be of this kind."""
        envelope = await self._reader.envelope()
        assert envelope.type == kind, envelope
        return envelope

    async def taps(self, prompt: Envelope, index: int = 0, *, number: str | None = None, says: str = "") -> None:
        """Answer the question, with what is typed for it."""
        question, choices = prompt.payload["question"], prompt.payload["choices"]
        given = {name: prompt.payload[name] for name in SIGNED_FIELDS if name in prompt.payload}
        if given:
            digest = question_digest(question, choices, **given)
            typed: dict[str, Any] = {"number": number} if number else {}
            typed |= {"comment": {"text": says, "salt": SALT}} if says else {}
            answered = await self.phone.answer_v2(prompt.id, digest, index, **typed)
        else:
            signature = self.phone.sign(prompt.id, question, choices, index, NOW)
            answered = await self.phone.answer(prompt.id, index, signature=signature)
        assert answered.status_code == 200, answered.text
