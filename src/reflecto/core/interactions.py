"""Questions: asked once, answered once, first tap wins.

Source: api.md "POST/GET/DELETE interactions", devices.md "Answering". What decides is in `core/rules/interactions.py`.
"""

import asyncio
from typing import Final, NoReturn
from weakref import WeakValueDictionary

import msgspec
from msgspec import UNSET, UnsetType

from reflecto.contract.answering import AnswerRequest, AnswerResponse, DismissRequest, DismissResponse
from reflecto.contract.api_error import ApiError
from reflecto.contract.details import Details, Source
from reflecto.contract.devices import ANSWER_V2
from reflecto.contract.envelopes import InteractionClosedPayload, InteractionPayload, NotificationPayload
from reflecto.contract.errors import (
    ALREADY_ANSWERED,
    INTERACTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_CHOICE,
    INVALID_TOKEN,
    NO_PHONE_DEVICE,
    NOT_FOUND,
    PHONE_APP_OUTDATED,
    SCOPE_DENIED,
    TOO_MANY_PENDING,
    WRONG_NUMBER,
)
from reflecto.contract.ids import is_id, new_id
from reflecto.contract.interactions import CreateInteractionRequest, SimulateRequest
from reflecto.contract.limits import PENDING_RETRY_AFTER_SECONDS, WRONG_NUMBERS_MAX
from reflecto.contract.question_states import (
    Commenting,
    Confirm,
    Danger,
    InteractionState,
    Reason,
    StateComment,
    Status,
)
from reflecto.core.answers import (
    CONFIRMED_CHOICE,
    answered_by,
    closing_of,
    comment_of,
    receipt_of,
    tap_of,
    winning_answer,
)
from reflecto.core.clock import Clock
from reflecto.core.delivery import queue_full
from reflecto.core.devices import can_show_questions, require_phone
from reflecto.core.events import (
    QUESTION_ANSWERED,
    QUESTION_ASKED,
    QUESTION_DISMISSED,
    QUESTION_EXPIRED,
    QUESTION_NUMBER_WRONG,
    QUESTION_WITHDRAWN,
)
from reflecto.core.labels import check_choices
from reflecto.core.model import Delivery, Device, Interaction, Record, Tap
from reflecto.core.muting import refuse_if_muted, sender_muted
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.quotas import Quotas
from reflecto.core.rules.interactions import status_at
from reflecto.core.rules.outcomes import Creation, EndResult, Verdict
from reflecto.core.sealing import Sealer, make_envelope, queue_expiry, source_of
from reflecto.core.sender import Sender
from reflecto.core.tethers import Tethers
from reflecto.core.withdrawals import seal_withdrawals
from reflecto.crypto.answers import question_digest
from reflecto.crypto.consent import comment_keys, confirm_number
from reflecto.crypto.envelopes import open_blob, seal

UPDATE_TITLE: Final = "A question needs a newer Reflecto"
EXPIRED_AT_ONCE: Final = 64
SEALING_ATTEMPTS: Final = 5  # a phone would have to come or go between each two of them


class _Sealed(msgspec.Struct, frozen=True):
    """The JSON inside `Interaction.sealed`. All but the first two is there only where one of SIGNED_FIELDS was given.

    The digest is in here, as a hash in the open would let the store's reader test guesses.
    """

    question: str
    choices: tuple[str, ...]
    details: Details | UnsetType = UNSET
    source: Source | UnsetType = UNSET
    danger: Danger | UnsetType = UNSET
    confirm: Confirm | UnsetType = UNSET
    comment: Commenting | UnsetType = UNSET
    digest: str | UnsetType = UNSET


class Asked(Record, frozen=True):
    """What became of a create: `replayed` if it was asked before, `mismatch` if that was another question."""

    hidden = ("confirm_number",)

    interaction_id: str
    expires_at: int
    confirm_number: str | None = None  # two digits, for a question that asks for them
    replayed: bool = False
    mismatch: bool = False


class Interactions:
    """Questions: asked by senders, answered by phones, waited for, withdrawn."""

    def __init__(
        self,
        store: Store,
        wakeups: Wakeups,
        sealer: Sealer,
        quotas: Quotas,
        clock: Clock,
        min_phone_build: int | None = None,
    ) -> None:
        self.tethers = Tethers(store, wakeups, sealer, clock)
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer
        self._quotas = quotas
        self._clock = clock
        self._min_phone_build = min_phone_build
        self._asking: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()  # by repeat mark

    async def ask(self, sender: Sender, request: CreateInteractionRequest) -> Asked:
        """Store the question and queue its prompts, once.

        Raises: ApiError `scope_denied`, `priority_capped`, `invalid_choices`, `rate_limit_exceeded`, `sender_muted`,
        `too_many_pending`, `no_phone_device`, `phone_app_outdated`, `queue_full`. A repeat is found before the last
        five and counts as a burst only. A phone whose queue is full is not asked while another one is.
        """
        sender.require("ask", "high")
        await check_choices(request.choices)
        async with self._quotas.spend_burst(sender.token):
            for _ in range(SEALING_ATTEMPTS):
                now = self._clock.now()
                new = self._new_interaction(sender, request, now)
                # A repeat waits for the first that is being stored: it must not fail where only the first one fits.
                async with self._asking.setdefault(new.repeat_mark, asyncio.Lock()):
                    repeated = await self._store.find_repeat(sender.token.id, new.repeat_mark, now)
                    if repeated is not None:
                        return self._asked(await self.tethers.hold(repeated, now), new)
                    refuse_if_muted(sender.token, now)
                    asked = await self._create(sender, request, new, now)
                    if asked is not None:
                        return asked
        raise ApiError(INTERNAL_ERROR)

    async def read(self, sender: Sender, interaction_id: str) -> InteractionState:
        """Return the question as it stands. Raises: ApiError `not_found`, also for another token's question."""
        interaction = await self._find(sender, interaction_id)
        return self._state_of(sender, await self.tethers.hold(interaction, self._clock.now()))

    async def wait(self, sender: Sender, interaction_id: str, seconds: int) -> InteractionState:
        """Return as soon as the question has ended, at the latest after `seconds`. Raises: ApiError `not_found`."""
        until = self._clock.now() + seconds
        interaction = await self._find(sender, interaction_id)
        with self._wakeups.watch(interaction_id) as changed:
            try:
                while True:
                    changed.clear()
                    interaction = await self.tethers.hold(await self._find(sender, interaction_id), until)
                    now = self._clock.now()
                    if status_at(interaction, now) != "pending" or now >= until or self._wakeups.closing:
                        return self._state_of(sender, interaction)
                    await self._clock.wait(changed, min(until, interaction.expires_at))
            except asyncio.CancelledError:  # the client has gone
                await self.tethers.release(interaction, until)
                raise

    async def cancel(self, sender: Sender, interaction_id: str) -> InteractionState:
        """Withdraw the question. Raises: ApiError `not_found`, `already_answered`, `interaction_closed`."""
        interaction = await self._find(sender, interaction_id)
        result = await self._cancel(interaction, "withdrawn")
        state = self._state_of(sender, result.interaction)
        if result.verdict is Verdict.ALREADY_ANSWERED:
            raise ApiError(ALREADY_ANSWERED, details={"choice": state.choice, "choice_index": state.choice_index})
        if result.verdict is Verdict.CLOSED:
            raise ApiError(INTERACTION_CLOSED, details={"status": state.status})
        return state

    async def dismiss(self, device: Device, interaction_id: str, request: DismissRequest) -> DismissResponse:
        """End a question from a phone, without an answer; of a repeat nobody hears.

        Raises: ApiError `scope_denied` for a desktop, `not_found`, `already_answered` with the winning answer,
        `interaction_closed` for one that has expired.
        """
        require_phone(device)
        interaction = await self._find_of_owner(device, interaction_id)
        result = await self._cancel(interaction, request.reason, device)
        if result.verdict is Verdict.ALREADY_ANSWERED:
            raise ApiError(ALREADY_ANSWERED, details=winning_answer(result.interaction))
        if result.verdict is Verdict.CLOSED:
            raise ApiError(INTERACTION_CLOSED, details={"status": status_at(result.interaction, self._clock.now())})
        return DismissResponse(interaction.id, "cancelled", _reason(result.interaction, "cancelled"))

    async def dismiss_all(self, device: Device, token_id: str) -> tuple[str, ...]:
        """End everything that a token of the phone's owner asks; return the ids. Answers that win meanwhile stay."""
        ended = []
        for interaction in await self._store.list_pending(token_id, self._clock.now()):
            if interaction.owner_id == device.owner_id and not interaction.test:
                result = await self._cancel(interaction, "dismissed", device)
                if result.verdict is Verdict.ACCEPTED:
                    ended.append(interaction.id)
        return tuple(ended)

    async def withdraw_all(self, owner_id: str, token_id: str) -> None:
        """Cancel everything the owner's token still asks; answers that win meanwhile stay."""
        for interaction in await self._store.list_pending(token_id, self._clock.now()):
            if interaction.owner_id == owner_id:
                await self._cancel(interaction, "revoked")

    async def withdraw_repeat(self, token_id: str, repeat_mark: bytes) -> None:
        """Cancel what the token still asks under this mark, if it was asked at all; an answer that wins stays."""
        interaction = await self._store.find_repeat(token_id, repeat_mark, self._clock.now())
        if interaction is not None:
            await self._cancel(interaction, "withdrawn")

    async def settle_expired(self) -> None:
        """Store the end of questions whose time ran out, and tell the phones, behind the prompts that they missed."""
        while interactions := await self._store.list_expired(self._clock.now(), EXPIRED_AT_ONCE):
            await asyncio.gather(*map(self._settle_expired, interactions))
            if len(interactions) < EXPIRED_AT_ONCE:
                break

    async def _settle_expired(self, interaction: Interaction) -> None:
        now = self._clock.now()
        closed = InteractionClosedPayload("expired")
        closings = await seal_withdrawals(self._store, self._sealer, interaction, closed, now)
        if await self._store.close_if_expired(interaction.id, closings, now) is not None:  # else another process did
            self._ended(interaction.id, closings)
            QUESTION_EXPIRED.log(question=interaction.id, token=interaction.token_id)

    async def simulate(self, sender: Sender, interaction_id: str, request: SimulateRequest) -> InteractionState:
        """Answer a test question by label. Raises: ApiError `scope_denied` for a live token, and as `answer`."""
        if not sender.token.test:
            raise ApiError(SCOPE_DENIED, "Only a test token may answer its own question")
        interaction = await self._find(sender, interaction_id)
        choices = self._unseal(sender, interaction).choices
        if request.choice not in choices:
            raise ApiError(INVALID_CHOICE)
        now = self._clock.now()
        tap = Tap(choices.index(request.choice), int(now))
        return self._state_of(sender, await self._record(interaction, tap, [], now))

    async def answer(self, device: Device, interaction_id: str, request: AnswerRequest) -> AnswerResponse:
        """Record a phone's tap if it is the first.

        Raises: ApiError `scope_denied` for a desktop, `not_found`, `invalid_choice`, `invalid_signature`,
        `invalid_number`, `invalid_comment`, `wrong_number`, `already_answered` with the winning answer,
        `interaction_closed`; `invalid_token` if it was removed meanwhile.
        """
        require_phone(device)
        now = self._clock.now()
        interaction = await self._find_of_owner(device, interaction_id)
        tap = tap_of(device, interaction, request)
        if tap.choice_index == CONFIRMED_CHOICE and tap.number != self._number_of(interaction):
            await self._count_wrong_number(interaction, tap, now)
        answered = closing_of(interaction, tap)
        withdrawals = await seal_withdrawals(self._store, self._sealer, interaction, answered, now, winner_id=device.id)
        recorded = await self._record(interaction, tap, withdrawals, now)
        return AnswerResponse(recorded.id, "answered", tap.choice_index, recorded.ended_at or int(now))

    async def _create(
        self, sender: Sender, request: CreateInteractionRequest, new: Interaction, now: float
    ) -> Asked | None:
        """Create it unless a repeat was faster. None: a phone came or went, so the prompts must be sealed again."""
        async with self._quotas.spend_delivery(sender.token) as spending:
            phones = await self._phones_for(sender, new)
            seen = None if sender.token.test else frozenset(phone.id for phone in phones)
            prompts = self._prompts(sender, request, new, phones, now)
            notes = self._notes(sender, new, phones, now)
            result = await self._store.create_interaction_once(new, prompts, seen, now, notes)
            if result.creation is Creation.CREATED:
                self._wakeups.tell(News(device_ids=[phone.id for phone in phones]))
                QUESTION_ASKED.log(question=new.id, token=new.token_id, phones=len(prompts))
                return Asked(new.id, new.expires_at, self._number_of(new))
            if result.creation is Creation.TOO_MANY_PENDING:
                raise ApiError(TOO_MANY_PENDING, retry_after_seconds=PENDING_RETRY_AFTER_SECONDS)
            if result.creation is Creation.SENDER_MUTED:  # since its request was authenticated
                token = await self._store.find_token(sender.token.hash)
                raise sender_muted(token.muted_until if token else None, now)
            if result.creation is Creation.TOKEN_REVOKED:
                raise ApiError(INVALID_TOKEN)
            if result.creation is Creation.QUEUES_FULL:
                meant = {prompt.device_id for prompt in prompts}
                raise queue_full([phone for phone in phones if phone.id in meant])
            await spending.refund()
            return self._asked(result.interaction, new) if result.interaction else None

    async def _record(self, interaction: Interaction, tap: Tap, withdrawals: list[Delivery], now: float) -> Interaction:
        recorded = await self._store.record_answer_if_pending(interaction.id, tap, withdrawals, now)
        result = await self._taken(recorded, now)
        if result.verdict is Verdict.ACCEPTED:
            self._ended(interaction.id, withdrawals)
            QUESTION_ANSWERED.log(question=interaction.id, token=interaction.token_id, device=tap.device_id)
        return result.interaction

    async def _count_wrong_number(self, interaction: Interaction, tap: Tap, now: float) -> NoReturn:
        """Count it, over all phones, and refuse the tap; the last one ends the question."""
        closed = InteractionClosedPayload("cancelled", reason="wrong_number")
        withdrawals = await seal_withdrawals(self._store, self._sealer, interaction, closed, now)
        counted = await self._store.count_wrong_number(interaction.id, tap, withdrawals, now)
        result = await self._taken(counted, now)
        tries_left = 0 if result.interaction.status == "cancelled" else WRONG_NUMBERS_MAX - 1
        if result.verdict is Verdict.ACCEPTED:
            if not tries_left:
                self._ended(interaction.id, withdrawals)
            QUESTION_NUMBER_WRONG.log(
                question=interaction.id, token=interaction.token_id, device=tap.device_id, tries_left=tries_left
            )
        raise ApiError(WRONG_NUMBER, details={"tries_left": tries_left})

    async def _taken(self, result: EndResult | None, now: float) -> EndResult:
        """Return what became of a tap that was taken. Raises: ApiError for one that was not."""
        if result is None:
            raise ApiError(NOT_FOUND)
        if result.verdict is Verdict.DEVICE_REMOVED:
            raise ApiError(INVALID_TOKEN)
        if result.verdict is Verdict.ALREADY_ANSWERED:
            raise ApiError(ALREADY_ANSWERED, details=winning_answer(result.interaction))
        if result.verdict is Verdict.CLOSED:
            await self.tethers.settle(result.interaction)
            raise ApiError(INTERACTION_CLOSED, details={"status": status_at(result.interaction, now)})
        return result

    def _number_of(self, interaction: Interaction) -> str | None:
        """Return the digits that its asker shows; None where it asks for none."""
        if not interaction.asks_number:
            return None
        return confirm_number(self._sealer.server_keys.secret, interaction.id)

    def _asked(self, found: Interaction, new: Interaction) -> Asked:
        mismatch = found.content_mark != new.content_mark
        return Asked(found.id, found.expires_at, self._number_of(found), replayed=True, mismatch=mismatch)

    async def _cancel(self, interaction: Interaction, reason: Reason, device: Device | None = None) -> EndResult:
        """Cancel it; `device` is the phone that does so, and needs not be told."""
        now = self._clock.now()
        closed = InteractionClosedPayload("cancelled", reason=reason)
        closer_id = device.id if device else None
        withdrawals = await seal_withdrawals(self._store, self._sealer, interaction, closed, now, winner_id=closer_id)
        result = await self._store.cancel_if_pending(interaction.id, withdrawals, now, reason)
        if result is None:
            raise ApiError(NOT_FOUND)
        if result.verdict is Verdict.ACCEPTED:
            self._ended(interaction.id, withdrawals)
            if device is None:
                QUESTION_WITHDRAWN.log(question=interaction.id, token=interaction.token_id)
            else:
                QUESTION_DISMISSED.log(question=interaction.id, token=interaction.token_id, device=device.id)
        return result

    def _ended(self, interaction_id: str, withdrawals: list[Delivery]) -> None:
        grown = [delivery.device_id for delivery in withdrawals]
        self._wakeups.tell(News(watched_ids=[interaction_id], device_ids=grown))

    async def _find(self, sender: Sender, interaction_id: str) -> Interaction:
        if is_id(interaction_id, "int"):
            interaction = await self._store.find_interaction(interaction_id, self._clock.now())
            if interaction is not None and interaction.token_id == sender.token.id:
                return interaction
        raise ApiError(NOT_FOUND)

    async def _find_of_owner(self, device: Device, interaction_id: str) -> Interaction:
        if is_id(interaction_id, "int"):
            interaction = await self._store.find_interaction(interaction_id, self._clock.now())
            if interaction is not None and interaction.owner_id == device.owner_id and not interaction.test:
                return interaction
        raise ApiError(NOT_FOUND)

    async def _phones_for(self, sender: Sender, new: Interaction) -> list[Device]:
        """Return the owner's phones, some of which can show it; none for a test token."""
        if sender.token.test:
            return []
        devices = await self._store.list_devices(sender.token.owner_id)
        phones = [device for device in devices if device.device_class == "phone"]
        if not phones:
            raise ApiError(NO_PHONE_DEVICE)
        if not any(self._can_show(phone, new) for phone in phones):
            raise ApiError(PHONE_APP_OUTDATED)
        return phones

    def _new_interaction(self, sender: Sender, request: CreateInteractionRequest, now: float) -> Interaction:
        given = request.given()
        digest = question_digest(request.question, request.choices, **given) if given else UNSET
        text = msgspec.json.encode(_Sealed(request.question, request.choices, **given, digest=digest))
        content_mark = sender.keys.mark("content", text)
        key = request.idempotency_key
        interaction_id = new_id("int")
        takes_comment = request.comment == "optional"
        return Interaction(
            id=interaction_id,
            owner_id=sender.token.owner_id,
            token_id=sender.token.id,
            test=sender.token.test,
            repeat_mark=content_mark if key is UNSET else sender.keys.mark("key", key.encode()),
            content_mark=content_mark,
            sealed=seal(sender.keys.sealing, text),
            choice_count=len(request.choices),
            created_at=int(now),
            expires_at=int(now) + request.expires_in,
            tether=None if request.tether is UNSET else request.tether,
            awaited_until=None if request.tether is UNSET else now,
            answer_version=2 if given else 1,
            asks_number=request.confirm == "number",
            comment_key=comment_keys(sender.bearer, interaction_id).public if takes_comment else None,
        )

    def _prompts(
        self,
        sender: Sender,
        request: CreateInteractionRequest,
        new: Interaction,
        phones: list[Device],
        now: float,
    ) -> list[Delivery]:
        payload = InteractionPayload(request.question, request.choices, new.expires_at, **request.given())
        envelope = make_envelope("interaction", new.id, now, payload, **source_of(sender.token))
        able = [phone for phone in phones if self._can_show(phone, new)]
        return self._sealer.seal_for(able, envelope, queue_expiry(now), question_id=new.id, push_until=new.expires_at)

    def _notes(self, sender: Sender, new: Interaction, phones: list[Device], now: float) -> list[Delivery]:
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

    def _unseal(self, sender: Sender, interaction: Interaction) -> _Sealed:
        return msgspec.json.decode(open_blob(sender.keys.sealing, interaction.sealed), type=_Sealed)

    def _state_of(self, sender: Sender, interaction: Interaction) -> InteractionState:
        text = self._unseal(sender, interaction)
        tap = interaction.tap
        status = status_at(interaction, self._clock.now())
        comment = comment_of(sender, interaction)
        is_simulated = interaction.answer_version == 2 and tap is not None and tap.device_id is None
        return InteractionState(
            id=interaction.id,
            status=status,
            question=text.question,
            choices=text.choices,
            choice=text.choices[tap.choice_index] if tap else None,
            choice_index=tap.choice_index if tap else None,
            created_at=interaction.created_at,
            expires_at=interaction.expires_at,
            answered_at=interaction.ended_at if tap else None,
            answered_by=answered_by(tap),
            receipt=receipt_of(interaction, comment),
            reason=_reason(interaction, status),
            digest=text.digest,
            comment=StateComment(comment.text) if comment else UNSET,
            simulated=True if is_simulated else UNSET,
        )


def _reason(interaction: Interaction, status: Status) -> Reason | UnsetType:
    if status != "cancelled":
        return UNSET
    if interaction.status == "pending":  # nobody has stored its end yet
        return "abandoned"
    return interaction.reason or UNSET  # ended before reasons were kept
