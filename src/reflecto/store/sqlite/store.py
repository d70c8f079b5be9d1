"""`core.ports.store.Store` on SQLite, its verbs gathered from one module per capability."""

from pathlib import Path

from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.sqlite.database import Database
from reflecto.store.sqlite.device_verbs import DeviceVerbs
from reflecto.store.sqlite.emergency_verbs import EmergencyVerbs
from reflecto.store.sqlite.housekeeping_verbs import HousekeepingVerbs
from reflecto.store.sqlite.interaction_verbs import InteractionVerbs
from reflecto.store.sqlite.pairing_verbs import PairingVerbs
from reflecto.store.sqlite.push_verbs import PushVerbs
from reflecto.store.sqlite.queue_verbs import QueueVerbs
from reflecto.store.sqlite.reminder_verbs import ReminderVerbs
from reflecto.store.sqlite.tether_verbs import TetherVerbs
from reflecto.store.sqlite.token_verbs import TokenVerbs


class SqliteStore(
    InteractionVerbs,
    TetherVerbs,
    QueueVerbs,
    DeviceVerbs,
    PairingVerbs,
    PushVerbs,
    TokenVerbs,
    ReminderVerbs,
    EmergencyVerbs,
    HousekeepingVerbs,
):
    """The store of one server, in one file."""

    def __init__(self, database: Database, bounds: QueueLimits) -> None:
        self._database = database
        self._bounds = bounds

    @classmethod
    def open(
        cls,
        folder: Path,
        bounds: QueueLimits = QueueLimits(),  # noqa: B008  frozen
        *,
        keeps_reserve: bool = False,
    ) -> "SqliteStore":
        """Open or create the store in `folder`, which exists. Call it on the event loop.

        `keeps_reserve`: keep room on the disk so that acknowledging and deleting work when it is full.

        Raises: NewerSchemaError; StoreUnavailableError.
        """
        return cls(Database.open(folder, keeps_reserve=keeps_reserve), bounds)
