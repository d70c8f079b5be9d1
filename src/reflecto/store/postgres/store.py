"""`core.ports.store.Store` on PostgreSQL, its verbs gathered from one module per capability."""

from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.device_verbs import DeviceVerbs
from reflecto.store.postgres.emergency_verbs import EmergencyVerbs
from reflecto.store.postgres.housekeeping_verbs import HousekeepingVerbs
from reflecto.store.postgres.interaction_verbs import InteractionVerbs
from reflecto.store.postgres.load_verbs import LoadVerbs
from reflecto.store.postgres.pairing_verbs import PairingVerbs
from reflecto.store.postgres.push_verbs import PushVerbs
from reflecto.store.postgres.queue_verbs import QueueVerbs
from reflecto.store.postgres.reminder_verbs import ReminderVerbs
from reflecto.store.postgres.tether_verbs import TetherVerbs
from reflecto.store.postgres.token_verbs import TokenVerbs


class PostgresStore(
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
    LoadVerbs,
):
    """The store that several processes of one server share."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(
        cls,
        address: str,
        bounds: QueueLimits = QueueLimits(),  # noqa: B008  frozen
    ) -> "PostgresStore":
        """Connect to the database at `address` and bring its schema up to date.

        Raises: StoreUnavailableError; NewerDatabaseError; DatabaseAddressError.
        """
        return cls(await Database.open(address, bounds))
