"""The tables and their records: the one place that says which column a field is in, where its name does not."""

from typing import Final

from reflecto.core.model import (
    Approval,
    Claim,
    Device,
    DeviceChanges,
    Emergency,
    Interaction,
    Pairing,
    PushSubscription,
    QueueEntry,
    Reminder,
    SetupCode,
    Tap,
    Token,
    TokenChanges,
)
from reflecto.store.table import FLAG, WORDS, Column, Table

CLASS: Final = Column("class")

TAPS: Final = Table(Tap)  # of questions
CLAIMS: Final = Table(Claim, device_class=CLASS, features=WORDS)  # of pairings
APPROVALS: Final = Table(
    Approval, text=Column("approval"), proof=Column("approval_proof"), signature=Column("approval_signature")
)

INTERACTIONS: Final = Table(Interaction, "interactions", test=FLAG, tap=TAPS, asks_number=FLAG)
DEVICES: Final = Table(Device, "devices", device_class=CLASS, features=WORDS)
DEVICE_CHANGES: Final = Table(DeviceChanges, "devices", features=WORDS)
TOKENS: Final = Table(Token, "tokens", test=FLAG, scopes=WORDS)
TOKEN_CHANGES: Final = Table(TokenChanges, "tokens")
SETUP_CODES: Final = Table(SetupCode, "setup_codes", founds_owner=FLAG)
PAIRINGS: Final = Table(Pairing, "pairings", claim=CLAIMS, approval=APPROVALS)
QUEUES: Final = Table(QueueEntry, "queue")
PUSH_SUBSCRIPTIONS: Final = Table(PushSubscription, "push_subscriptions")
REMINDERS: Final = Table(Reminder, "reminders")
EMERGENCIES: Final = Table(Emergency, "emergencies")
