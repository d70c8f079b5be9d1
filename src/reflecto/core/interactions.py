"""Questions: asked once, answered once, first tap wins.

Source: api.md "POST/GET/DELETE interactions", devices.md "Answering". What decides is in `core/rules/interactions.py`.
"""

import asyncio
from typing import Final
from weakref import WeakValueDictionary

from reflecto.contract.answering import AnswerRequest, AnswerResponse, DismissRequest, DismissResponse
from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import (
    ALREADY_ANSWERED,
    INTERACTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_CHOICE,
    INVALID_TOKEN,
    NOT_FOUND,
    SCOPE_DENIED,
    TOO_MANY_PENDING,
)
from reflecto.contract.ids import is_id
from reflecto.contract.interactions import CreateInteractionRequest, SimulateRequest
from reflecto.contract.limits import PENDING_RETRY_AFTER_SECONDS
from reflecto.contract.question_states import InteractionState
from reflecto.core.answers import CONFIRMED_CHOICE, closing_of, tap_of, winning_answer
from reflecto.core.clock import Clock
from reflecto.core.delivery import queue_full
from reflecto.core.devices import require_phone
from reflecto.core.events import QUESTION_ASKED
from reflecto.core.labels import check_choices
from reflecto.core.model import Device, Interaction, Record, Tap
from reflecto.core.muting import refuse_if_muted, sender_muted
from reflecto.core.places import Places
from reflecto.core.ports.store import Store
from reflecto.core.ports.wakeups import News, Wakeups
from reflecto.core.prompts import Prompts
from reflecto.core.question_content import content_of, new_interaction, reason_of, state_of
from reflecto.core.question_ends import Endings
from reflecto.core.quotas import Quotas
from reflecto.core.rules.interactions import status_at
from reflecto.core.rules.outcomes import Creation, Verdict
from reflecto.core.sealing import Sealer
from reflecto.core.sender import Sender
from reflecto.core.tethers import Tethers
from reflecto.core.withdrawals import seal_withdrawals
from reflecto.crypto.consent import confirm_number

EXPIRED_AT_ONCE: Final = 64
SEALING_ATTEMPTS: Final = 5  # a phone would have to come or go between each two of them


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
        self._places = Places(store, wakeups, sealer, clock)
        self._store = store
        self._wakeups = wakeups
        self._sealer = sealer
        self._quotas = quotas
        self._clock = clock
        self._endings = Endings(store, wakeups, sealer, clock, self.tethers)
        self._prompts = Prompts(store, sealer, min_phone_build)
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
                new = new_interaction(sender, request, now)
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
        return state_of(sender, await self.tethers.hold(interaction, self._clock.now()), self._clock.now())

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
                        return state_of(sender, interaction, now)
                    await self._clock.wait(changed, min(until, interaction.expires_at))
            except asyncio.CancelledError:  # the client has gone
                await self.tethers.release(interaction, until)
                raise

    async def cancel(self, sender: Sender, interaction_id: str) -> InteractionState:
        """Withdraw the question. Raises: ApiError `not_found`, `already_answered`, `interaction_closed`."""
        interaction = await self._find(sender, interaction_id)
        result = await self._endings.cancel(interaction, "withdrawn")
        state = state_of(sender, result.interaction, self._clock.now())
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
        result = await self._endings.cancel(interaction, request.reason, device)
        if result.verdict is Verdict.ALREADY_ANSWERED:
            raise ApiError(ALREADY_ANSWERED, details=winning_answer(result.interaction))
        if result.verdict is Verdict.CLOSED:
            raise ApiError(INTERACTION_CLOSED, details={"status": status_at(result.interaction, self._clock.now())})
        return DismissResponse(interaction.id, "cancelled", reason_of(result.interaction, "cancelled"))

    async def dismiss_all(self, device: Device, token_id: str) -> tuple[str, ...]:
        """End everything that a token of the phone's owner asks; return the ids. Answers that win meanwhile stay."""
        ended = []
        for interaction in await self._store.list_pending(token_id, self._clock.now()):
            if interaction.owner_id == device.owner_id and not interaction.test:
                result = await self._endings.cancel(interaction, "dismissed", device)
                if result.verdict is Verdict.ACCEPTED:
                    ended.append(interaction.id)
        return tuple(ended)

    async def withdraw_all(self, owner_id: str, token_id: str) -> None:
        """Cancel everything the owner's token still asks; answers that win meanwhile stay."""
        for interaction in await self._store.list_pending(token_id, self._clock.now()):
            if interaction.owner_id == owner_id:
                await self._endings.cancel(interaction, "revoked")

    async def withdraw_repeat(self, token_id: str, repeat_mark: bytes) -> None:
        """Cancel what the token still asks under this mark, if it was asked at all; an answer that wins stays."""
        interaction = await self._store.find_repeat(token_id, repeat_mark, self._clock.now())
        if interaction is not None:
            await self._endings.cancel(interaction, "withdrawn")

    async def settle_expired(self) -> None:
        """Store the end of questions whose time ran out, and tell the phones, behind the prompts that they missed."""
        while interactions := await self._store.list_expired(self._clock.now(), EXPIRED_AT_ONCE):
            await asyncio.gather(*map(self._endings.expire, interactions))
            if len(interactions) < EXPIRED_AT_ONCE:
                break

    async def simulate(self, sender: Sender, interaction_id: str, request: SimulateRequest) -> InteractionState:
        """Answer a test question by label. Raises: ApiError `scope_denied` for a live token, and as `answer`."""
        if not sender.token.test:
            raise ApiError(SCOPE_DENIED, "Only a test token may answer its own question")
        interaction = await self._find(sender, interaction_id)
        choices = content_of(sender, interaction).choices
        if request.choice not in choices:
            raise ApiError(INVALID_CHOICE)
        now = self._clock.now()
        tap = Tap(choices.index(request.choice), int(now))
        return state_of(sender, await self._endings.record(interaction, tap, [], now), now)

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
            await self._endings.count_wrong_number(interaction, tap, now)
        answered = closing_of(interaction, tap)
        withdrawals = await seal_withdrawals(self._store, self._sealer, interaction, answered, now, winner_id=device.id)
        recorded = await self._endings.record(interaction, tap, withdrawals, now)
        return AnswerResponse(recorded.id, "answered", tap.choice_index, recorded.ended_at or int(now))

    async def _create(
        self, sender: Sender, request: CreateInteractionRequest, new: Interaction, now: float
    ) -> Asked | None:
        """Create it unless a repeat was faster. None: a phone came or went, so the prompts must be sealed again."""
        async with self._quotas.spend_delivery(sender.token) as spending:
            phones = await self._prompts.phones_for(sender, new)
            seen = None if sender.token.test else frozenset(phone.id for phone in phones)
            prompts = self._prompts.prompts(sender, request, new, phones, now)
            notes = self._prompts.notes(sender, new, phones, now)
            result = await self._store.create_interaction_once(new, prompts, seen, now, notes)
            if result.creation is Creation.CREATED:
                self._wakeups.tell(News(device_ids=[phone.id for phone in phones]))
                QUESTION_ASKED.log(question=new.id, token=new.token_id, phones=len(prompts))
                return Asked(new.id, new.expires_at, self._number_of(new))
            if result.creation is Creation.TOO_MANY_PENDING:
                await self._places.tell_refused(sender.token)
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

    def _number_of(self, interaction: Interaction) -> str | None:
        """Return the digits that its asker shows; None where it asks for none."""
        if not interaction.asks_number:
            return None
        return confirm_number(self._sealer.server_keys.secret, interaction.id)

    def _asked(self, found: Interaction, new: Interaction) -> Asked:
        mismatch = found.content_mark != new.content_mark
        return Asked(found.id, found.expires_at, self._number_of(found), replayed=True, mismatch=mismatch)

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
