"""Who is asked, and what of a question is put into the phones' queues. Source: devices.md "Answering", consent.md."""

from typing import Final

from reflecto.contract.api_error import ApiError
from reflecto.contract.devices import ANSWER_V2
from reflecto.contract.envelopes import InteractionPayload, NotificationPayload
from reflecto.contract.errors import NO_PHONE_DEVICE, PHONE_APP_OUTDATED
from reflecto.contract.ids import new_id
from reflecto.contract.interactions import CreateInteractionRequest
from reflecto.core.devices import can_show_questions
from reflecto.core.model import Delivery, Device, Interaction
from reflecto.core.ports.store import Store
from reflecto.core.sealing import Sealer, make_envelope, queue_expiry, source_of
from reflecto.core.sender import Sender

UPDATE_TITLE: Final = "A question needs a newer Reflecto"


class Prompts:
    """The phones of a sender's owner: which of them are asked, and what each is sent."""

    def __init__(self, store: Store, sealer: Sealer, min_phone_build: int | None) -> None:
        self._store = store
        self._sealer = sealer
        self._min_phone_build = min_phone_build

    async def phones_for(self, sender: Sender, new: Interaction) -> list[Device]:
        """Return the owner's phones, some of which can show it; none for a test token.

        Raises: ApiError `no_phone_device`, `phone_app_outdated`.
        """
        if sender.token.test:
            return []
        devices = await self._store.list_devices(sender.token.owner_id)
        phones = [device for device in devices if device.device_class == "phone"]
        if not phones:
            raise ApiError(NO_PHONE_DEVICE)
        if not any(self._can_show(phone, new) for phone in phones):
            raise ApiError(PHONE_APP_OUTDATED)
        return phones

    def prompts(
        self,
        sender: Sender,
        request: CreateInteractionRequest,
        new: Interaction,
        phones: list[Device],
        now: float,
    ) -> list[Delivery]:
        """Seal the question for each phone that can show it."""
        payload = InteractionPayload(request.question, request.choices, new.expires_at, **request.given())
        envelope = make_envelope("interaction", new.id, now, payload, **source_of(sender.token))
        able = [phone for phone in phones if self._can_show(phone, new)]
        return self._sealer.seal_for(able, envelope, queue_expiry(now), question_id=new.id, push_until=new.expires_at)

    def notes(self, sender: Sender, new: Interaction, phones: list[Device], now: float) -> list[Delivery]:
        """Return what tells the phones that cannot show all of a question that there is one."""
        if new.answer_version == 1:
            return []
        outdated = [phone for phone in phones if not self._can_show(phone, new)]
        payload = NotificationPayload(
            message=f"Update to answer {sender.token.label}.", title=UPDATE_TITLE, priority="high"
        )
        envelope = make_envelope("notification", new_id("msg"), now, payload, **source_of(sender.token))
        return self._sealer.seal_for(outdated, envelope, new.expires_at)

    def _can_show(self, phone: Device, new: Interaction) -> bool:
        """Tell whether the phone shows all of the question and signs over it."""
        is_known = new.answer_version == 1 or ANSWER_V2 in phone.features
        return is_known and can_show_questions(phone, self._min_phone_build)
