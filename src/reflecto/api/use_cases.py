"""What every handler is handed: the use cases of one server."""

from dataclasses import dataclass

from reflecto.api.pushover_fields import PushoverReader
from reflecto.core.clock import Clock
from reflecto.core.devices import Devices
from reflecto.core.documents import Documents
from reflecto.core.emergencies import Emergencies
from reflecto.core.enrolment import Enrolment
from reflecto.core.interactions import Interactions
from reflecto.core.messages import Messages
from reflecto.core.pairing import Pairings
from reflecto.core.ports.wakeups import Wakeups
from reflecto.core.quotas import Quotas
from reflecto.core.relay import Relay
from reflecto.core.reminders import Reminders
from reflecto.core.rings import Rings
from reflecto.core.tokens import Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """The use cases, made in `bootstrap`."""

    clock: Clock
    interactions: Interactions
    tokens: Tokens
    devices: Devices
    enrolment: Enrolment
    pairings: Pairings
    relay: Relay
    quotas: Quotas
    messages: Messages
    documents: Documents
    rings: Rings
    reminders: Reminders
    emergencies: Emergencies
    push_key: str  # the public VAPID key, base64url
    wakeups: Wakeups
    callback_allow_private: bool  # an emergency's callback may be at an address of the server's own network
    pushover_reader: PushoverReader
