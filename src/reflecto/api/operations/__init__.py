"""Every call of the API, as one table: routes, OpenAPI document, reference page and tests are made from it."""

from typing import Final

from reflecto.api.operations.alarms import ALARMS
from reflecto.api.operations.devices import DEVICES, LISTING
from reflecto.api.operations.hooks import HOOKS
from reflecto.api.operations.mcp import MCP
from reflecto.api.operations.operation import AnyOperation
from reflecto.api.operations.pairing import PAIRING
from reflecto.api.operations.pushover import PUSHOVER
from reflecto.api.operations.questions import ANSWERING, QUESTIONS
from reflecto.api.operations.receipts import RECEIPTS
from reflecto.api.operations.sending import SENDING
from reflecto.api.operations.server import SERVER
from reflecto.api.operations.sync import SYNC
from reflecto.api.operations.tokens import TOKENS

TAGS: Final = {
    "Interactions": "Ask a question on the owner's phones and read the tap that answers it.",
    "Messages": "Send notifications, text files, rings and reminders.",
    "Pushover": "The calls of Pushover's API, for clients whose base URL can be changed.",
    "Devices": "The other side: what phones, browsers and terminals call with their device token.",
    "Server": "What the server says of itself.",
}
OPERATIONS: Final[tuple[AnyOperation, ...]] = (
    *QUESTIONS,
    *SENDING,
    *LISTING,
    *PUSHOVER,
    *RECEIPTS,
    *DEVICES,
    *SYNC,
    *ANSWERING,
    *TOKENS,
    *ALARMS,
    *PAIRING,
    *SERVER,
)
UNDOCUMENTED: Final[tuple[AnyOperation, ...]] = (*HOOKS, *MCP)
