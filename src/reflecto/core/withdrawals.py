"""What takes a question's prompt off the phones again."""

from reflecto.contract.envelopes import InteractionClosedPayload
from reflecto.core.model import Delivery, Interaction
from reflecto.core.ports.store import Store
from reflecto.core.sealing import Sealer, make_envelope, queue_expiry


async def seal_withdrawals(
    store: Store,
    sealer: Sealer,
    interaction: Interaction,
    closed: InteractionClosedPayload,
    now: float,
    *,
    winner_id: str | None = None,
) -> list[Delivery]:
    """Return the closing for each phone of the owner but the one whose tap won; none for a test question.

    That a question expired stays with its prompt, and nobody is woken for it.
    """
    if interaction.test:
        return []
    devices = await store.list_devices(interaction.owner_id)
    others = [device for device in devices if device.device_class == "phone" and device.id != winner_id]
    envelope = make_envelope("interaction.closed", interaction.id, now, closed)
    if closed.status == "expired":
        expires_at = queue_expiry(interaction.created_at)  # with the prompt
        return sealer.seal_for(others, envelope, expires_at, question_id=interaction.id, push_until=0)
    return sealer.seal_for(others, envelope, queue_expiry(now))
