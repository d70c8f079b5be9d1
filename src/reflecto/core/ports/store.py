"""The store: the server's memory.

Every method is one atomic verb: all of it happens or nothing, and what it returned is durable.
Any of them raises `StoreUnavailableError` when the store cannot be read or written; then nothing happened, unless
it is the `OutcomeUnknownError` of a store on another machine. On a disk that is nearly full, what acknowledges,
answers, withdraws and deletes goes on, and the rest is refused.
`now` is Unix seconds; a store has no clock of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from reflecto.contract.limits import KEPT_REPLIES_MAX_PER_OWNER
from reflecto.contract.question_states import Reason
from reflecto.core.model import (
    Approval,
    Delivery,
    Device,
    DeviceChanges,
    Emergency,
    EmergencyEnd,
    Holder,
    Interaction,
    Owner,
    Pairing,
    PairingStep,
    PushBacklog,
    PushSubscription,
    PushTarget,
    QueueEntry,
    Reminder,
    ReminderDelivery,
    SetupCode,
    StoreLoad,
    Tap,
    Token,
    TokenChanges,
)
from reflecto.core.ports.metrics import StoreWork
from reflecto.core.ports.wakeups import News
from reflecto.core.rules.outcomes import (
    Addition,
    Admittance,
    ChangeResult,
    CreateResult,
    EmergencyEndResult,
    EndResult,
    Opening,
    Redemption,
    Relaying,
    Sending,
    StepResult,
)

T = TypeVar("T")


class StoreUnavailableError(Exception):
    """The store cannot be read or written right now (disk full, read-only, locked)."""


class OutcomeUnknownError(StoreUnavailableError):
    """The store did not say in time whether it happened: it may have, or may still. The same again tells."""


class AlreadyKeptError(Exception):
    """A reply is kept under this mark: the request is a repeat, and nothing happened. `sealed` is that reply."""

    def __init__(self, sealed: bytes) -> None:
        super().__init__("a reply is kept already")
        self.sealed = sealed


@dataclass(frozen=True, slots=True)
class Keep(Generic[T]):
    """A reply that a verb keeps in its own transaction, until `expires_at` or until the owner is deleted.

    `seal` returns what to keep where T came of the verb; None: nothing. Where a reply is kept under this mark already
    the verb does nothing and raises `AlreadyKeptError`.
    """

    mark: bytes
    owner_id: str
    now: float
    expires_at: int
    seal: Callable[[T], bytes | None] = field(repr=False)


class Store(Protocol):
    """The server's memory. One conformance suite, `tests/store_conformance`, runs over every implementation."""

    # Questions
    async def find_interaction(self, interaction_id: str, now: float) -> Interaction | None:
        """Return it unless its retention has ended."""

    async def find_repeat(self, token_id: str, repeat_mark: bytes, now: float) -> Interaction | None:
        """Return the token's question with this mark whose window (until `expires_at`) is open."""

    async def create_interaction_once(
        self,
        new: Interaction,
        deliveries: Sequence[Delivery],
        seen_phones: frozenset[str] | None,
        now: float,
        notes: Sequence[Delivery] = (),
    ) -> CreateResult:
        """Create `new` and append its prompts, unless refused; the checks run in the order of `Creation`'s needs.

        `notes` go where there is room, to devices that cannot show it: they make no difference to what becomes of it.

        TOKEN_REVOKED, then REPEATED, then SENDER_MUTED, then TOO_MANY_PENDING (live and test questions count apart),
        then PHONES_CHANGED when the owner's phones are not exactly `seen_phones` (None: not checked), then QUEUES_FULL
        when there are prompts and no queue has room for its own.
        """

    async def record_answer_if_pending(
        self, interaction_id: str, tap: Tap, withdrawals: Sequence[Delivery], now: float
    ) -> EndResult | None:
        """Record `tap` if the rules accept it (`judge_answer`). None: no such question.

        Its prompts leave the queues, and `withdrawals` are appended: here and wherever else a question is ended.

        DEVICE_REMOVED comes before the rules: whatever a removed device says counts no more.
        """

    async def count_wrong_number(
        self, interaction_id: str, tap: Tap, withdrawals: Sequence[Delivery], now: float
    ) -> EndResult | None:
        """Count a tap with a wrong number if the rules accept it (`judge_wrong_number`). None: no such question.

        The second one cancels the question and appends `withdrawals`. DEVICE_REMOVED comes before the rules.
        """

    async def cancel_if_pending(
        self, interaction_id: str, withdrawals: Sequence[Delivery], now: float, reason: Reason = "withdrawn"
    ) -> EndResult | None:
        """Cancel and append `withdrawals` if the rules accept it (`judge_cancel`). None: no such question."""

    async def hold_tether(self, interaction_id: str, until: float, now: float) -> Interaction | None:
        """Note that a pending tethered question is waited for until `until`, if that is later than was noted.

        Return the question as it then stands; what has ended stays as it is. None: no such question.
        """

    async def release_tether(self, interaction_id: str, until: float, now: float) -> None:
        """Note that the wait for a pending question ends at `now`, if the end that is noted is exactly `until`."""

    async def close_if_abandoned(
        self, interaction_id: str, withdrawals: Sequence[Delivery], now: float
    ) -> Interaction | None:
        """Cancel with the reason `abandoned`, as of the instant it ended, and append `withdrawals`; return it.

        None, and nothing happens, unless it is pending and the rules say so (`judge_abandonment`).
        """

    async def list_abandoned(self, now: float) -> list[Interaction]:
        """Return the questions that `close_if_abandoned` would close."""

    async def spare_tethered(self, now: float) -> None:
        """Note of every pending tethered question that it was waited for until `now`, whatever was noted before."""

    async def list_pending(self, token_id: str, now: float) -> list[Interaction]:
        """Return the token's pending questions."""

    async def list_expired(self, now: float, limit: int) -> list[Interaction]:
        """Return up to `limit` questions that have expired without `close_if_expired`, the earliest first."""

    async def close_if_expired(
        self, interaction_id: str, closings: Sequence[Delivery], now: float
    ) -> Interaction | None:
        """Store that its time ran out and append `closings`; its prompts stay. None: there is nothing to store.

        Of the devices that get a closing only the newest 50 missed questions stay queued, each with its closing.
        """

    async def list_holders(self, owner_id: str, now: float) -> list[Holder]:
        """Return the tokens with live pending questions of the owner, the one with the most first."""

    async def tell_refusal_once(
        self, owner_id: str, token_id: str, notices: Sequence[Delivery], now: float
    ) -> list[str] | None:
        """Note that the owner is told of a refused question, and append `notices`; return the ids of devices reached.

        None: the owner was told before (`should_tell_refusal`), there is a place by now, or there is no such token.
        """

    # Queues
    async def append_to_queues(self, deliveries: Sequence[Delivery]) -> list[str]:
        """Append each to its device's queue, numbered; return the ids of the devices whose queues took it.

        The others are gone, or full by the bounds of `rules.queue_room`. An entry counts until it is acknowledged or
        swept. For a relayed one the oldest relayed ones of its queue go, as many as must.
        """

    async def send_to_queues(self, deliveries: Sequence[Delivery], keep: Keep[Sending] | None = None) -> Sending:
        """Append as `append_to_queues` does, and tell the devices whose queues are full from those that are gone."""

    async def read_queue(
        self, device_id: str, after: int, limit: int, now: float, *, to_push: bool = False
    ) -> list[QueueEntry] | None:
        """Return up to `limit` live entries with `seq` above `after`, in order. None: there is no such device.

        `to_push`: only those that may still be pushed.
        """

    async def relay_to_queues(
        self, owner_id: str, deliveries: Sequence[Delivery], keep: Keep[Relaying] | None = None
    ) -> Relaying:
        """Append each where there is room; none if one is for or from a device that is not the owner's."""

    async def number_from(self, seq: int) -> None:
        """Number what is appended from now on above `seq`, in every queue that has not come so far.

        Also if it raises StoreUnavailableError: then it is done before anything else is stored.
        """

    async def ack_queue(self, device_id: str, seq: int) -> bool:
        """Delete the entries up to `seq`, if they are many in steps. False: the queue never reached it."""

    # Enrolment and devices
    async def add_setup_code(self, code: SetupCode, keep: Keep[bool] | None = None) -> bool:
        """Keep it until it is used or expires. False: the phone that makes it was removed, and nothing is kept."""

    async def find_setup_code(self, code_hash: bytes, now: float) -> SetupCode | None:
        """Return it if it can still be redeemed."""

    async def redeem_setup_code(
        self,
        code_hash: bytes,
        device: Device,
        default_token: Token | None,
        deliveries: Sequence[Delivery],
        now: float,
        keep: Keep[Redemption] | None = None,
    ) -> Redemption:
        """Use up the code and add `device`; found its owner when `default_token` is given, else join it."""

    async def list_owners(self) -> list[Owner]:
        """Return every owner, oldest first."""

    async def find_device_by_token(self, token_hash: bytes) -> Device | None:
        """Return the device with this token."""

    async def list_devices(self, owner_id: str) -> list[Device]:
        """Return the owner's devices, oldest first."""

    async def update_device(self, device_id: str, changes: DeviceChanges) -> Device | None:
        """Change what is given (not None) and return the device."""

    async def remove_device(self, owner_id: str, device_id: str) -> bool:
        """Delete the device, its keys, queue, token and setup codes it made. False: the owner has no such device."""

    async def delete_owner(self, owner_id: str) -> None:
        """Delete the owner with all devices, queues, tokens and questions."""

    # Pairing
    async def add_pairing(self, pairing: Pairing, now: float, keep: Keep[Opening] | None = None) -> Opening:
        """Keep it until it expires, unless its owner has too many open, its phone is gone or its id is in use."""

    async def find_pairing(self, pairing_id: str, now: float) -> Pairing | None:
        """Return it unless it has expired."""

    async def step_pairing(
        self, pairing_id: str, step: PairingStep, now: float, keep: Keep[StepResult | None] | None = None
    ) -> StepResult | None:
        """Take a step if the rules accept it (`core.rules.pairing.take_step`). None: no such pairing."""

    async def approve_pairing(
        self, pairing_id: str, approval: Approval, device: Device, deliveries: Sequence[Delivery], now: float
    ) -> Admittance | None:
        """Add `device`, keep the approval for it and append `deliveries`, if the rules accept it (`judge_approval`).

        The outcome can then be fetched for `PAIRING_SECONDS`. None: no such pairing.
        """

    # Push
    async def set_push_subscription(self, device_id: str, subscription: PushSubscription | None) -> bool:
        """Replace the device's subscription; an endpoint is one device's only. False: there is no such device."""

    async def find_push_target(self, device_id: str) -> PushTarget | None:
        """Return where the device's pushes go. None: it has no subscription."""

    async def drop_push_subscription(self, device_id: str, endpoint: str) -> bool:
        """Delete the device's subscription if it still is this one."""

    async def list_push_backlog(self, now: float) -> list[PushBacklog]:
        """Return the devices with a subscription that have something waiting, and which nobody is known to push to."""

    # Tokens
    async def find_token(self, token_hash: bytes) -> Token | None:
        """Return the live (not revoked) token."""

    async def find_token_by_short_form(self, short_hash: bytes) -> Token | None:
        """Return the live token whose short form has this hash."""

    async def keep_short_form(self, token_id: str, short_hash: bytes) -> None:
        """Note the hash of the token's short form, which an older version did not keep."""

    async def add_token(
        self, token: Token, phone_id: str | None = None, keep: Keep[Addition] | None = None
    ) -> Addition:
        """Keep it, unless its owner has too many or one that looks the same, or is gone, or the phone is."""

    async def list_tokens(self, owner_id: str) -> list[Token]:
        """Return the owner's live tokens, oldest first."""

    async def change_token(
        self, owner_id: str, token_id: str, phone_id: str, changes: TokenChanges, notices: Sequence[Delivery]
    ) -> ChangeResult:
        """Change the owner's live token as the phone wants and append `notices`, unless its name would be taken.

        PHONE_REMOVED, then NO_TOKEN, then LABEL_TAKEN.
        """

    async def revoke_token(self, owner_id: str, token_id: str, now: float) -> bool:
        """Revoke it from this instant and delete its reminders. False: the owner has no such live token."""

    async def load_monthly_counts(self, month: str) -> dict[str, int]:
        """Return how much each token sent in the month (`YYYY-MM`)."""

    async def add_monthly_counts(self, month: str, counts: Mapping[str, int]) -> None:
        """Add to the counts of these tokens for the month, or take from them; those of other months are deleted."""

    # Reminders
    async def add_reminder(
        self, reminder: Reminder, deliveries: Sequence[ReminderDelivery], keep: Keep[Addition] | None = None
    ) -> Addition:
        """Keep it until it is due, unless its token was revoked or its owner has too many."""

    async def list_reminders(self, token_id: str) -> list[Reminder]:
        """Return the token's waiting reminders, the next one first."""

    async def drop_reminder(self, token_id: str, reminder_id: str) -> bool:
        """Delete it. False: the token has no such reminder waiting."""

    async def list_due_reminders(self, now: float, limit: int) -> list[tuple[str, int]]:
        """Return ids and times of up to `limit` reminders whose time has come, the oldest first."""

    async def fire_reminder(
        self, reminder_id: str, expires_at: int, *, late: bool, retry_at: int | None = None
    ) -> list[str] | None:
        """Move its blobs into the queues and forget it; return the devices reached. None: another process did.

        If every queue is full it stays and is due again at `retry_at`, unless that is None.
        """

    # Emergencies
    async def add_emergency(
        self,
        emergency: Emergency,
        tag_hashes: Sequence[bytes],
        blobs: Sequence[tuple[str, bytes]],
        deliveries: Sequence[Delivery],
        keep: Keep[tuple[Addition, Sending]] | None = None,
    ) -> tuple[Addition, Sending]:
        """Keep it, with a blob per device for its further rounds, and append the first round.

        Return what became of it, and of that round. Unless its token was revoked or its owner has too many.
        """

    async def find_emergency(self, receipt: str, now: float) -> Emergency | None:
        """Return it unless it is older than `RECEIPT_SECONDS`."""

    async def list_active_emergencies(
        self, token_id: str, now: float, tag_hash: bytes | None = None
    ) -> list[Emergency]:
        """Return the token's emergencies that have not ended, of this tag where one is given, oldest first."""

    async def end_emergency(
        self, receipt: str, end: EmergencyEnd, closings: Sequence[Delivery], now: float
    ) -> EmergencyEndResult | None:
        """End it, forget its blobs and append `closings` if the rules accept it (`judge_end`). None: there is no such.

        DEVICE_REMOVED comes before the rules. An acknowledged one with a callback is due to be called back.
        """

    async def list_due_emergencies(self, now: float, limit: int) -> list[Emergency]:
        """Return up to `limit` whose next round, or end, has come; the oldest first."""

    async def list_emergency_blobs(self, receipt: str) -> dict[str, bytes]:
        """Return what is kept for its rounds, by device."""

    async def sound_emergency(
        self, emergency: Emergency, next_round_at: int, deliveries: Sequence[Delivery], now: float
    ) -> list[str] | None:
        """Append a round and set the time of the next; return the devices reached. None: it ended, or another did."""

    async def claim_callbacks(self, now: float, limit: int) -> list[Emergency]:
        """Return up to `limit` that are to be called back now, each counted and put off (`next_call`) for others."""

    async def note_called_back(self, receipt: str, now: float) -> None:
        """Its sender has been told."""

    # Repeats
    async def find_kept_reply(self, mark: bytes, now: float) -> bytes | None:
        """Return the reply that a verb has kept under this mark, sealed. None: there is none, or it has expired."""

    # Housekeeping
    async def record_activity(self, tokens: Mapping[str, int], devices: Mapping[str, int]) -> None:
        """Write when tokens were last used and devices last seen (id to Unix seconds); never an older time."""

    async def sweep(self, now: float, replies_per_owner: int = KEPT_REPLIES_MAX_PER_OWNER) -> int:
        """Delete some of what has ended (queue entries, questions, codes, revoked tokens); return how many rows.

        Of each owner so many of the newest kept replies stay, and what came in the same second as the oldest of them.
        0: nothing is left. Each of its transactions takes a short time only.
        """

    async def remember(self, name: str, value: str) -> None:
        """Keep a fact of the installation under a name."""

    async def remember_once(self, name: str, value: str) -> str:
        """Keep a fact unless there is one of this name; return the one that is kept now."""

    async def recall(self, name: str) -> str | None:
        """Return the fact of this name."""

    async def measure_load(self, now: float, max_age_seconds: float = 0) -> StoreLoad:
        """Return what waits in it, or waited at most `max_age_seconds` ago.

        It goes through the rows of all devices, and keeps no request waiting for that. Of several processes one does it
        for all.
        """

    @property
    def work(self) -> StoreWork:
        """What this process has done in the store since it opened it."""

    async def probe(self) -> Sequence[str]:
        """Find room for something new and give it back. Raises: StoreUnavailableError where there is none.

        Return what of its settings may lose what it accepts, as codes of `contract.store_concerns`.
        """

    def when_changed_elsewhere(self, callback: Callable[[News], None]) -> None:
        """Call `callback` on the running loop, within a second, with what another process has changed in the store."""

    async def close(self) -> None:
        """Finish what was accepted and release the store."""
