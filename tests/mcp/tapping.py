"""A person with a phone: sees what comes to it, and taps."""

from reflecto.contract.envelopes import Envelope
from tests.actors import DeviceActor
from tests.builders import NOW
from tests.sync_reader import SyncReader


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

    async def taps(self, prompt: Envelope, index: int = 0) -> None:
        """Answer the question."""
        question, choices = prompt.payload["question"], prompt.payload["choices"]
        signature = self.phone.sign(prompt.id, question, choices, index, NOW)
        answered = await self.phone.answer(prompt.id, index, signature=signature)
        assert answered.status_code == 200, answered.text
