"""A store as plain dictionaries: the promises of `core.ports.Store` written once more, with nothing to optimise.

It shares no rule with the product, so that an error there is not repeated here. Times are Unix seconds.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from reflecto.contract.question_states import Reason
from reflecto.core.model import (
    Delivery,
    Device,
    DeviceChanges,
    Emergency,
    EmergencyEnd,
    Holder,
    Interaction,
    QueueEntry,
    SetupCode,
    Tap,
    Token,
    TokenChanges,
)
from reflecto.core.ports.store import AlreadyKeptError, Keep
from reflecto.core.rules.outcomes import (
    Addition,
    Change,
    ChangeResult,
    CreateResult,
    Creation,
    EmergencyEndResult,
    EndResult,
    Redemption,
    Relaying,
    Sending,
    Verdict,
)
from reflecto.core.rules.queue_room import QueueLimits

T = TypeVar("T")

DAY_SECONDS = 86_400
LOOKS_LIKE = {"CI": ["\u0421\u0406"], "\u0421\u0406": ["CI"]}  # names that the sequences give; Cyrillic


class ModelStore:
    """Everything in dictionaries, in order of arrival.

    `keeps_floor`: what `number_from` says also holds for queues that begin later.
    """

    def __init__(self, bounds: QueueLimits, *, keeps_floor: bool = False) -> None:
        self.bounds = bounds
        self.keeps_floor = keeps_floor
        self.floor = 0
        self.owners: dict[str, int] = {}
        self.devices: dict[str, Device] = {}
        self.queues: dict[str, list[QueueEntry]] = {}
        self.tokens: dict[str, Token] = {}
        self.revoked_at: dict[str, int] = {}
        self.codes: dict[bytes, SetupCode] = {}
        self.questions: dict[str, Interaction] = {}
        self.emergencies: dict[str, Emergency] = {}
        self.emergency_tags: dict[str, set[bytes]] = {}
        self.emergency_blobs: dict[str, dict[str, bytes]] = {}
        self.kept_replies: dict[bytes, tuple[str, bytes, int]] = {}  # owner, reply, when it expires

    def find_kept_reply(self, mark: bytes, now: float) -> bytes | None:
        _, sealed, expires_at = self.kept_replies.get(mark, ("", b"", 0))
        return sealed if now < expires_at else None

    def once(self, keep: Keep[T] | None, verb: Callable[[], T]) -> T:
        """Run the verb unless a reply is kept already, and keep its own."""
        if keep is None:
            return verb()
        known = self.find_kept_reply(keep.mark, keep.now)
        if known is not None:
            raise AlreadyKeptError(known)
        outcome = verb()
        sealed = keep.seal(outcome)
        if sealed is not None and keep.owner_id in self.owners:
            self.kept_replies[keep.mark] = (keep.owner_id, sealed, keep.expires_at)
        return outcome

    def find_interaction(self, interaction_id: str, now: float) -> Interaction | None:
        found = self.questions.get(interaction_id)
        return found if found and now < self._ended_at(found) + DAY_SECONDS else None

    def find_repeat(self, token_id: str, mark: bytes, now: float) -> Interaction | None:
        for each in self.questions.values():
            if each.token_id == token_id and each.repeat_mark == mark and now < each.expires_at:
                return each
        return None

    def create_interaction_once(
        self,
        new: Interaction,
        deliveries: Sequence[Delivery],
        seen_phones: frozenset[str] | None,
        now: float,
        notes: Sequence[Delivery] = (),
    ) -> CreateResult:
        if new.token_id not in self.tokens or new.token_id in self.revoked_at:
            return CreateResult(Creation.TOKEN_REVOKED)
        if repeated := self.find_repeat(new.token_id, new.repeat_mark, now):
            return CreateResult(Creation.REPEATED, repeated)
        muted_until = self.tokens[new.token_id].muted_until
        if muted_until is not None and now < muted_until:
            return CreateResult(Creation.SENDER_MUTED)
        same_kind = [
            each for each in self.questions.values() if each.owner_id == new.owner_id and each.test == new.test
        ]
        if sum(self._is_pending(each, now) for each in same_kind) >= 10:
            return CreateResult(Creation.TOO_MANY_PENDING)
        phones = {each.id for each in self.list_devices(new.owner_id) if each.device_class == "phone"}
        if seen_phones is not None and phones != seen_phones:
            return CreateResult(Creation.PHONES_CHANGED)
        if not self.append_to_queues(deliveries) and deliveries:
            return CreateResult(Creation.QUEUES_FULL)
        self.append_to_queues(notes)
        self.questions[new.id] = new
        return CreateResult(Creation.CREATED, new)

    def record_answer_if_pending(
        self, interaction_id: str, tap: Tap, withdrawals: Sequence[Delivery], now: float
    ) -> EndResult | None:
        found = self.find_interaction(interaction_id, now)
        if found is None:
            return None
        if tap.device_id is not None and tap.device_id not in self.devices:
            return EndResult(Verdict.DEVICE_REMOVED, found)
        if found.tap is not None:
            same = (found.tap.device_id, found.tap.choice_index) == (tap.device_id, tap.choice_index)
            return EndResult(Verdict.REPEATED if same else Verdict.ALREADY_ANSWERED, found)
        if not self._is_pending(found, now):
            return EndResult(Verdict.CLOSED, found)
        self.questions[found.id] = replace(found, status="answered", ended_at=int(now), tap=tap)
        self._drop_prompts(found)
        self.append_to_queues(withdrawals)
        return EndResult(Verdict.ACCEPTED, self.questions[found.id])

    def count_wrong_number(
        self, interaction_id: str, tap: Tap, withdrawals: Sequence[Delivery], now: float
    ) -> EndResult | None:
        found = self.find_interaction(interaction_id, now)
        if found is None:
            return None
        if tap.device_id is not None and tap.device_id not in self.devices:
            return EndResult(Verdict.DEVICE_REMOVED, found)
        if found.tap is not None:
            return EndResult(Verdict.ALREADY_ANSWERED, found)
        if not self._is_pending(found, now):
            return EndResult(Verdict.CLOSED, found)
        if found.wrong_signature == tap.signature:
            return EndResult(Verdict.REPEATED, found)
        if found.wrong_signature is None:
            changed = replace(found, wrong_signature=tap.signature)
        else:
            changed = replace(found, status="cancelled", ended_at=int(now), reason="wrong_number")
            self._drop_prompts(found)
            self.append_to_queues(withdrawals)
        self.questions[found.id] = changed
        return EndResult(Verdict.ACCEPTED, changed)

    def cancel_if_pending(
        self, interaction_id: str, withdrawals: Sequence[Delivery], now: float, reason: Reason = "withdrawn"
    ) -> EndResult | None:
        found = self.find_interaction(interaction_id, now)
        if found is None:
            return None
        if found.status == "cancelled" or (found.status == "pending" and self._is_left(found, now)):
            return EndResult(Verdict.REPEATED, found)
        if found.tap is not None:
            return EndResult(Verdict.ALREADY_ANSWERED, found)
        if not self._is_pending(found, now):
            return EndResult(Verdict.CLOSED, found)
        self.questions[found.id] = replace(found, status="cancelled", ended_at=int(now), reason=reason)
        self._drop_prompts(found)
        self.append_to_queues(withdrawals)
        return EndResult(Verdict.ACCEPTED, self.questions[found.id])

    def hold_tether(self, interaction_id: str, until: float, now: float) -> Interaction | None:
        found = self.find_interaction(interaction_id, now)
        if found and found.awaited_until is not None and self._is_pending(found, now):
            found = self.questions[found.id] = replace(found, awaited_until=max(found.awaited_until, until))
        return found

    def release_tether(self, interaction_id: str, until: float, now: float) -> None:
        found = self.questions.get(interaction_id)
        if found and found.status == "pending" and found.awaited_until == until:
            self.questions[found.id] = replace(found, awaited_until=now)

    def close_if_abandoned(
        self, interaction_id: str, withdrawals: Sequence[Delivery], now: float
    ) -> Interaction | None:
        found = self.find_interaction(interaction_id, now)
        if found is None or found.status != "pending" or not self._is_left(found, now):
            return None
        ended_at = int(self._left_at(found))
        self.questions[found.id] = replace(found, status="cancelled", ended_at=ended_at, reason="abandoned")
        self._drop_prompts(found)
        self.append_to_queues(withdrawals)
        return self.questions[found.id]

    def list_abandoned(self, now: float) -> set[str]:
        return {each.id for each in self.questions.values() if each.status == "pending" and self._is_left(each, now)}

    def spare_tethered(self, now: float) -> None:
        for each in list(self.questions.values()):
            if each.status == "pending" and each.awaited_until is not None and each.expires_at > now:
                self.questions[each.id] = replace(each, awaited_until=now)

    def list_pending(self, token_id: str, now: float) -> set[str]:
        return {
            each.id for each in self.questions.values() if each.token_id == token_id and self._is_pending(each, now)
        }

    def list_expired(self, now: float) -> set[str]:
        return {each.id for each in self.questions.values() if self._has_expired(each, now)}

    def close_if_expired(self, interaction_id: str, closings: Sequence[Delivery], now: float) -> Interaction | None:
        found = self.questions.get(interaction_id)
        if found is None or not self._has_expired(found, now):
            return None
        self.questions[found.id] = replace(found, status="expired")
        self.append_to_queues(closings)
        for each in closings:
            self._keep_newest_missed(each.device_id, now)
        return self.questions[found.id]

    def _has_expired(self, question: Interaction, now: float) -> bool:
        is_over = question.expires_at <= now < question.expires_at + DAY_SECONDS
        return question.status == "pending" and is_over and question.expires_at <= self._left_at(question)

    def _drop_prompts(self, question: Interaction) -> None:
        for device_id, entries in self.queues.items():
            if self.devices[device_id].owner_id == question.owner_id:
                self.queues[device_id] = [each for each in entries if each.question_id != question.id]

    def _keep_newest_missed(self, device_id: str, now: float) -> None:
        entries = self.queues.get(device_id, [])
        missed = [
            each.question_id
            for each in entries
            if each.question_id is not None and each.push_until is not None and each.push_until <= now
        ]
        kept = list(dict.fromkeys(missed))[-50:]
        self.queues[device_id] = [
            each for each in entries if each.question_id not in missed or each.question_id in kept
        ]

    def list_holders(self, owner_id: str, now: float) -> list[Holder]:
        held: dict[str, list[int]] = {}
        for each in self.questions.values():
            if each.owner_id == owner_id and not each.test and self._is_pending(each, now):
                held.setdefault(each.token_id, []).append(each.created_at)
        holders = [Holder(token_id, len(asked), max(asked)) for token_id, asked in held.items()]
        return sorted(holders, key=lambda each: (-each.questions, each.token_id))

    def tell_refusal_once(
        self, owner_id: str, token_id: str, notices: Sequence[Delivery], now: float
    ) -> list[str] | None:
        token = self.tokens.get(token_id)
        holders = self.list_holders(owner_id, now)
        if token is None or token_id in self.revoked_at or sum(each.questions for each in holders) < 10:
            return None
        if token.refused_at is not None and max(each.newest_at for each in holders) <= token.refused_at + 600:
            return None
        self.tokens[token_id] = replace(token, refused_at=int(now))
        return self.append_to_queues(notices)

    def append_to_queues(self, deliveries: Sequence[Delivery]) -> list[str]:
        reached = []
        for each in deliveries:
            device = self.devices.get(each.device_id)
            if device is None or not self._make_room(device, each):
                continue
            seq = device.last_seq + 1
            self.devices[device.id] = replace(device, last_seq=seq)
            entry = QueueEntry(
                seq,
                each.sender,
                each.blob,
                each.expires_at,
                question_id=each.question_id,
                push_until=each.push_until,
            )
            self.queues[device.id].append(entry)
            reached.append(device.id)
        return reached

    def send_to_queues(self, deliveries: Sequence[Delivery], keep: Keep[Sending] | None = None) -> Sending:
        return self.once(keep, lambda: self._send(deliveries))

    def _send(self, deliveries: Sequence[Delivery]) -> Sending:
        reached = self.append_to_queues(deliveries)
        full = [each.device_id for each in deliveries if each.device_id in self.devices.keys() - set(reached)]
        return Sending(tuple(reached), tuple(dict.fromkeys(full)))

    def relay_to_queues(
        self, owner_id: str, deliveries: Sequence[Delivery], keep: Keep[Relaying] | None = None
    ) -> Relaying:
        return self.once(keep, lambda: self._relay(owner_id, deliveries))

    def _relay(self, owner_id: str, deliveries: Sequence[Delivery]) -> Relaying:
        involved = {each.device_id for each in deliveries} | {each.sender for each in deliveries}
        if not involved <= {each.id for each in self.list_devices(owner_id)}:
            return Relaying.DEVICE_GONE
        return Relaying.QUEUED if self.append_to_queues(deliveries) else Relaying.QUEUES_FULL

    def _make_room(self, device: Device, new: Delivery) -> bool:
        everything = self.queues[device.id]
        kept = [each for each in everything if each.sender == "server"]
        relayed = [each for each in everything if each.sender != "server"]
        elsewhere = [
            entry
            for other in self.list_devices(device.owner_id)
            if other.id != device.id
            for entry in self.queues[other.id]
        ]
        while not self._fits(kept, relayed, elsewhere, new):
            if new.sender == "server" or not relayed:
                return False
            del relayed[0]
        self.queues[device.id] = sorted(kept + relayed, key=lambda each: each.seq)
        return True

    def _fits(
        self, kept: list[QueueEntry], relayed: list[QueueEntry], elsewhere: list[QueueEntry], new: Delivery
    ) -> bool:
        bounds = self.bounds
        if new.sender != "server":
            sizes = [len(each.blob) for each in relayed] + [len(new.blob)]
            if len(sizes) > bounds.relayed_entries or sum(sizes) > bounds.relayed_bytes:
                return False
        sizes = [len(each.blob) for each in kept + relayed] + [len(new.blob)]
        kept_bytes = 0 if new.is_essential else bounds.reserved_bytes
        return (
            len(sizes) <= bounds.entries + (bounds.reserved_entries if new.is_essential else 0)
            and sum(sizes) <= bounds.bytes - kept_bytes
            and sum(sizes) + sum(len(each.blob) for each in elsewhere) <= bounds.owner_bytes - kept_bytes
        )

    def read_queue(
        self, device_id: str, after: int, limit: int, now: float, *, to_push: bool = False
    ) -> list[QueueEntry] | None:
        if device_id not in self.devices:
            return None
        live = [each for each in self.queues[device_id] if each.seq > after and now < each.expires_at]
        if to_push:
            live = [each for each in live if each.push_until is None or now < each.push_until]
        return live[:limit]

    def number_from(self, seq: int) -> None:
        for device in self.devices.values():
            self.devices[device.id] = replace(device, last_seq=max(device.last_seq, seq))
        if self.keeps_floor:
            self.floor = max(self.floor, seq)

    def ack_queue(self, device_id: str, seq: int) -> bool:
        device = self.devices.get(device_id)
        if device is None or seq > device.last_seq:
            return False
        self.queues[device_id] = [each for each in self.queues[device_id] if each.seq > seq]
        return True

    def add_setup_code(self, code: SetupCode, keep: Keep[bool] | None = None) -> bool:
        return self.once(keep, lambda: self._add_setup_code(code))

    def _add_setup_code(self, code: SetupCode) -> bool:
        if code.phone_id is not None and code.phone_id not in self.devices:
            return False
        self.codes[code.hash] = code
        return True

    def find_setup_code(self, code_hash: bytes, now: float) -> SetupCode | None:
        code = self.codes.get(code_hash)
        return code if code and now < code.expires_at else None

    def redeem_setup_code(
        self,
        code_hash: bytes,
        device: Device,
        default_token: Token | None,
        deliveries: Sequence[Delivery],
        now: float,
        keep: Keep[Redemption] | None = None,
    ) -> Redemption:
        return self.once(keep, lambda: self._redeem(code_hash, device, default_token, deliveries, now))

    def _redeem(
        self, code_hash: bytes, device: Device, default_token: Token | None, deliveries: Sequence[Delivery], now: float
    ) -> Redemption:
        code = self.find_setup_code(code_hash, now)
        if code is None:
            return Redemption.INVALID
        if default_token is None and device.owner_id not in self.owners:
            return Redemption.INVALID
        if default_token is not None:
            if self.owners and not code.founds_owner:
                return Redemption.OWNERS_CHANGED
            self.owners[device.owner_id] = device.created_at
            self.tokens[default_token.id] = default_token
        del self.codes[code_hash]
        self.devices[device.id] = replace(device, last_seq=self.floor)
        self.queues[device.id] = []
        self.append_to_queues(deliveries)
        return Redemption.REDEEMED

    def list_owners(self) -> set[tuple[str, int, tuple[str, ...]]]:
        return {
            (owner_id, created_at, tuple(sorted(each.label for each in self.list_devices(owner_id))))
            for owner_id, created_at in self.owners.items()
        }

    def list_devices(self, owner_id: str) -> list[Device]:
        return [each for each in self.devices.values() if each.owner_id == owner_id]

    def update_device(self, device_id: str, changes: DeviceChanges) -> Device | None:
        device = self.devices.get(device_id)
        if device is None:
            return None
        changed = replace(
            device,
            label=device.label if changes.label is None else changes.label,
            app_build=device.app_build if changes.app_build is None else changes.app_build,
            features=device.features if changes.features is None else changes.features,
        )
        self.devices[device_id] = changed
        return changed

    def remove_device(self, owner_id: str, device_id: str) -> bool:
        if device_id not in self.devices or self.devices[device_id].owner_id != owner_id:
            return False
        del self.devices[device_id], self.queues[device_id]
        for blobs in self.emergency_blobs.values():
            blobs.pop(device_id, None)
        self.codes = {each.hash: each for each in self.codes.values() if each.phone_id != device_id}
        return True

    def delete_owner(self, owner_id: str) -> None:
        self.owners.pop(owner_id, None)
        for device in self.list_devices(owner_id):
            self.remove_device(owner_id, device.id)
        self.tokens = {each.id: each for each in self.tokens.values() if each.owner_id != owner_id}
        self.codes = {each.hash: each for each in self.codes.values() if each.owner_id != owner_id}
        self.questions = {each.id: each for each in self.questions.values() if each.owner_id != owner_id}
        self.emergencies = {key: each for key, each in self.emergencies.items() if each.owner_id != owner_id}
        self.kept_replies = {key: each for key, each in self.kept_replies.items() if each[0] != owner_id}

    def add_token(self, token: Token, phone_id: str | None = None, keep: Keep[Addition] | None = None) -> Addition:
        return self.once(keep, lambda: self._add_token(token, phone_id))

    def _add_token(self, token: Token, phone_id: str | None) -> Addition:
        if token.owner_id not in self.owners or (phone_id is not None and phone_id not in self.devices):
            return Addition.REVOKED
        self.tokens[token.id] = token
        return Addition.ADDED

    def change_token(
        self, owner_id: str, token_id: str, phone_id: str, changes: TokenChanges, notices: Sequence[Delivery]
    ) -> ChangeResult:
        if phone_id not in self.devices or self.devices[phone_id].owner_id != owner_id:
            return ChangeResult(Change.PHONE_REMOVED)
        token = self.tokens.get(token_id)
        if token is None or token_id in self.revoked_at or token.owner_id != owner_id:
            return ChangeResult(Change.NO_TOKEN)
        if changes.label is not UNSET and changes.label != token.label:
            others = {each.label for each in self.tokens.values() if each.owner_id == owner_id and each.id != token_id}
            live = {each.label for each in self.tokens.values() if each.id not in self.revoked_at}
            if {changes.label, *LOOKS_LIKE.get(changes.label, ())} & others & live:
                return ChangeResult(Change.LABEL_TAKEN)
            token = replace(token, label=changes.label)
        if changes.colour is not UNSET:
            token = replace(token, colour=changes.colour)
        if changes.muted_until is not UNSET:
            token = replace(token, muted_until=changes.muted_until)
        self.tokens[token_id] = token
        self.append_to_queues(notices)
        return ChangeResult(Change.CHANGED, token)

    def find_token(self, token_hash: bytes) -> Token | None:
        for each in self.tokens.values():
            if each.hash == token_hash and each.id not in self.revoked_at:
                return each
        return None

    def revoke_token(self, owner_id: str, token_id: str, now: float) -> bool:
        token = self.tokens.get(token_id)
        if token is None or token.owner_id != owner_id or token_id in self.revoked_at:
            return False
        self.revoked_at[token_id] = int(now)
        return True

    def add_emergency(
        self,
        emergency: Emergency,
        tag_hashes: Sequence[bytes],
        blobs: Sequence[tuple[str, bytes]],
        deliveries: Sequence[Delivery],
        keep: Keep[tuple[Addition, Sending]] | None = None,
    ) -> tuple[Addition, Sending]:
        return self.once(keep, lambda: self._add_emergency(emergency, tag_hashes, blobs, deliveries))

    def _add_emergency(
        self,
        emergency: Emergency,
        tag_hashes: Sequence[bytes],
        blobs: Sequence[tuple[str, bytes]],
        deliveries: Sequence[Delivery],
    ) -> tuple[Addition, Sending]:
        if emergency.token_id not in self.tokens or emergency.token_id in self.revoked_at:
            return Addition.REVOKED, Sending()
        active = [
            each
            for each in self.emergencies.values()
            if each.owner_id == emergency.owner_id and self._goes_on(each, emergency.created_at)
        ]
        if len(active) >= 50:
            return Addition.TOO_MANY, Sending()
        self.emergencies[emergency.receipt] = emergency
        self.emergency_tags[emergency.receipt] = set(tag_hashes)
        self.emergency_blobs[emergency.receipt] = {key: blob for key, blob in blobs if key in self.devices}
        return Addition.ADDED, self._send(deliveries)

    def find_emergency(self, receipt: str, now: float) -> Emergency | None:
        found = self.emergencies.get(receipt)
        return found if found and now < found.created_at + 7 * DAY_SECONDS else None

    def list_active_emergencies(self, token_id: str, now: float, tag_hash: bytes | None = None) -> list[Emergency]:
        return sorted(
            (
                each
                for each in self.emergencies.values()
                if each.token_id == token_id
                and self._goes_on(each, now)
                and (tag_hash is None or tag_hash in self.emergency_tags[each.receipt])
            ),
            key=lambda each: (each.created_at, each.receipt),
        )

    def end_emergency(
        self, receipt: str, end: EmergencyEnd, closings: Sequence[Delivery], now: float
    ) -> EmergencyEndResult | None:
        found = self.find_emergency(receipt, now)
        if found is None:
            return None
        if end.device_id is not None and end.device_id not in self.devices:
            return EmergencyEndResult(Verdict.DEVICE_REMOVED, found)
        if found.status != "active":
            same = found.status == end.status
            return EmergencyEndResult(Verdict.REPEATED if same else Verdict.CLOSED, found)
        if self._goes_on(found, now) == (end.status == "expired"):
            return EmergencyEndResult(Verdict.CLOSED, found)
        told = end.status == "acknowledged" and found.callback is not None
        self.emergencies[receipt] = replace(
            found,
            status=end.status,
            ended_at=int(now),
            device_id=end.device_id,
            device_label=end.device_label,
            next_round_at=None,
            next_call_at=int(now) if told else None,
        )
        self.emergency_blobs[receipt] = {}
        self.append_to_queues(closings)
        return EmergencyEndResult(Verdict.ACCEPTED, self.emergencies[receipt])

    def list_due_emergencies(self, now: float, limit: int) -> list[Emergency]:
        due = [each for each in self.emergencies.values() if each.next_round_at and each.next_round_at <= now]
        return sorted(due, key=lambda each: (each.next_round_at, each.receipt))[:limit]

    def list_emergency_blobs(self, receipt: str) -> dict[str, bytes]:
        return self.emergency_blobs[receipt] if receipt in self.emergencies else {}

    def sound_emergency(
        self, emergency: Emergency, next_round_at: int, deliveries: Sequence[Delivery], now: float
    ) -> list[str] | None:
        found = self.emergencies.get(emergency.receipt)
        if found is None or found.next_round_at is None or found.next_round_at != emergency.next_round_at:
            return None
        self.emergencies[found.receipt] = replace(found, next_round_at=next_round_at, last_delivered_at=int(now))
        return self.append_to_queues(deliveries)

    def claim_callbacks(self, now: float, limit: int) -> list[Emergency]:
        due = [each for each in self.emergencies.values() if each.next_call_at is not None and each.next_call_at <= now]
        claimed = []
        for each in sorted(due, key=lambda each: (each.next_call_at, each.receipt))[:limit]:
            calls = each.calls + 1
            delays = {1: 60, 2: 300, 3: 900, 4: 3_600, 5: 14_400}
            again_at = int(now) + delays[calls] if calls in delays else None
            self.emergencies[each.receipt] = replace(each, calls=calls, next_call_at=again_at)
            claimed.append(self.emergencies[each.receipt])
        return claimed

    def note_called_back(self, receipt: str, now: float) -> None:
        if receipt in self.emergencies:
            called = replace(self.emergencies[receipt], called_back_at=int(now), next_call_at=None)
            self.emergencies[receipt] = called

    def record_activity(self, tokens: Mapping[str, int], devices: Mapping[str, int]) -> None:
        for token_id in tokens.keys() & self.tokens.keys():
            token = self.tokens[token_id]
            self.tokens[token_id] = replace(token, last_used_at=max(tokens[token_id], token.last_used_at or 0))
        for device_id in devices.keys() & self.devices.keys():
            device = self.devices[device_id]
            self.devices[device_id] = replace(device, last_seen_at=max(devices[device_id], device.last_seen_at or 0))

    def sweep(self, now: float, replies_per_owner: int) -> int:
        """Delete all that any number of sweeps would."""
        before = self._rows()
        self.queues = {key: [each for each in queue if now < each.expires_at] for key, queue in self.queues.items()}
        self.codes = {key: each for key, each in self.codes.items() if now < each.expires_at}
        self.questions = {key: each for key, each in self.questions.items() if self.find_interaction(key, now)}
        self.emergencies = {key: each for key, each in self.emergencies.items() if self.find_emergency(key, now)}
        self.kept_replies = {key: each for key, each in self.kept_replies.items() if now < each[2]}
        for owner_id in self.owners:
            expiries = sorted(each[2] for each in self.kept_replies.values() if each[0] == owner_id)
            oldest = ([0] * replies_per_owner + expiries)[-replies_per_owner]
            self.kept_replies = {
                key: each for key, each in self.kept_replies.items() if each[0] != owner_id or each[2] >= oldest
            }
        self.tokens = {
            key: each
            for key, each in self.tokens.items()
            if key not in self.revoked_at or now < self.revoked_at[key] + 30 * DAY_SECONDS
        }
        return before - self._rows()

    def _rows(self) -> int:
        queued = sum(map(len, self.queues.values()))
        held = len(self.codes) + len(self.questions) + len(self.tokens) + len(self.emergencies)
        return queued + held + len(self.kept_replies)

    def _goes_on(self, emergency: Emergency, now: float) -> bool:
        return emergency.status == "active" and now < emergency.expires_at

    def _is_pending(self, interaction: Interaction, now: float) -> bool:
        is_open = interaction.status == "pending" and now < interaction.expires_at
        return is_open and not self._is_left(interaction, now)

    def _left_at(self, interaction: Interaction) -> float:
        if interaction.tether is None or interaction.awaited_until is None:
            return math.inf
        return interaction.awaited_until + interaction.tether

    def _is_left(self, interaction: Interaction, now: float) -> bool:
        return self._left_at(interaction) <= now and self._left_at(interaction) < interaction.expires_at

    def _ended_at(self, interaction: Interaction) -> float:
        if interaction.ended_at is not None:
            return interaction.ended_at
        return min(interaction.expires_at, self._left_at(interaction))
