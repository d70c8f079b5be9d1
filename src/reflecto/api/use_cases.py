"""What every handler is handed: the use cases of one server, and what its calls share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from reflecto.api.mcp import McpEndpoint
from reflecto.api.open_calls import OpenCalls
from reflecto.api.pushover_fields import PushoverReader
from reflecto.api.readiness import Readiness
from reflecto.api.watched import Watched
from reflecto.api.webapp import WebFile
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
from reflecto.core.repeats import Repeats
from reflecto.core.rings import Rings
from reflecto.core.tokens import Tokens


class Reference(Protocol):
    """The API's description as files; `api.reference` makes them, which is made from the operations itself."""

    async def openapi_json(self) -> WebFile:
        """Return the document as JSON."""

    async def openapi_yaml(self) -> WebFile:
        """Return the document as YAML."""

    async def page(self) -> WebFile:
        """Return the page for people."""

    async def page_style(self) -> WebFile:
        """Return the page's style."""

    async def llms(self) -> WebFile:
        """Return the page for language models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """The use cases, and behind them what calls share while they run; made in `bootstrap`."""

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
    repeats: Repeats
    push_key: str  # the public VAPID key, base64url
    wakeups: Wakeups
    callback_allow_private: bool  # an emergency's callback may be at an address of the server's own network
    pushover_reader: PushoverReader
    open_calls: OpenCalls
    mcp: McpEndpoint
    readiness: Readiness
    watched: Watched
    health: Mapping[str, str]  # what /healthz says, found out at the start
    reference: Reference
