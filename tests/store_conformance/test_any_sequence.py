"""Whatever is called in whatever order, the store does what the plain model does."""

import asyncio
import itertools
import shutil
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from msgspec import UNSET
from msgspec.structs import replace

from reflecto.contract.ids import new_id
from reflecto.core.model import (
    Delivery,
    Device,
    DeviceChanges,
    Emergency,
    EmergencyEnd,
    Interaction,
    SetupCode,
    Token,
    TokenChanges,
)
from reflecto.core.ports.store import AlreadyKeptError, Keep
from reflecto.core.rules.queue_room import QueueLimits
from tests.builders import (
    NOW,
    make_code,
    make_delivery,
    make_device,
    make_emergency,
    make_interaction,
    make_keep,
    make_tap,
    make_token,
)
from tests.store_conformance.conftest import OpenStore
from tests.store_conformance.model import ModelStore

T = TypeVar("T")

# Small enough that random sequences come to each of them; an entry of `make_delivery` is 32 bytes or one of SIZES.
BOUNDS = QueueLimits(
    entries=8,
    bytes=400,
    relayed_entries=3,
    relayed_bytes=120,
    owner_bytes=700,
    reserved_bytes=64,
    reserved_entries=2,
)
SIZES = [1, 50, 100, 130]

EXAMPLES = {"sqlite": 25, "postgres": 8}  # each call of the latter goes to another process and back

MINUTE, HOUR, DAY = 60, 3_600, 86_400

KNOWN_MARKS = [bytes([number]) * 32 for number in range(4)]
UNCHANGED = st.just(UNSET)
LABELS = UNCHANGED | st.sampled_from(["CI", "\u0421\u0406", "Bot"])
COLOURS = UNCHANGED | st.sampled_from(["teal", "rose"])
MUTED = UNCHANGED | st.sampled_from([None, MINUTE, HOUR])
MARKS = st.none() | st.sampled_from(KNOWN_MARKS)


def said(verb: Callable[..., Any], arguments: Any) -> tuple[Any, bytes | None]:
    """Return what the verb returned, or the reply that it found kept."""
    try:
        return verb(*arguments), None
    except AlreadyKeptError as error:
        return None, error.sealed


class Comparison(RuleBasedStateMachine):
    """Calls each verb on both and compares what they return, then what they hold."""

    codes: Bundle[SetupCode] = Bundle("codes")
    devices: Bundle[Device] = Bundle("devices")
    tokens: Bundle[Token] = Bundle("tokens")
    questions: Bundle[Interaction] = Bundle("questions")
    emergencies: Bundle[Emergency] = Bundle("emergencies")

    def __init__(self, open_store: OpenStore, folder: Path, *, keeps_floor: bool) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.now: float = NOW
        self.folder = folder
        self.model = ModelStore(BOUNDS, keeps_floor=keeps_floor)
        self.seen_tokens: set[Token] = set()
        self.seen_questions: set[str] = set()
        self.seen_devices: set[str] = set()
        self.seen_receipts: set[str] = set()
        self.store: Any = self.run(open_store(folder, BOUNDS))

    def teardown(self) -> None:
        self.run(self.store.close())
        self.runner.close()
        shutil.rmtree(self.folder)

    def run(self, call: Awaitable[T]) -> T:
        """Return what the call returned."""
        return self.runner.get_loop().run_until_complete(call)

    def read(self, verb: str, *arguments: Any) -> Any:
        """Return what the store under test says."""
        return self.run(getattr(self.store, verb)(*arguments))

    def read_all(self, verb: str, arguments: Iterable[Any]) -> Any:
        """Return what the store says of each, asked at once."""

        async def ask() -> list[Any]:
            return await asyncio.gather(*(getattr(self.store, verb)(*each) for each in arguments))

        return self.run(ask())

    def call(self, verb: str, *arguments: Any) -> Any:
        """Call both, check that they agree, and return what they said."""
        expected, kept = said(getattr(self.model, verb), arguments)
        found, found_kept = said(partial(self.read, verb), arguments)
        if isinstance(found, Device):
            found = self.levelled(found)
        assert (found, found_kept) == (expected, kept)
        return expected

    def keep(self, owner_id: str, mark: bytes | None) -> Keep[Any] | None:
        """Return what a verb is to keep under this mark."""
        return None if mark is None else make_keep(owner_id, mark, now=self.now)

    def compare(self, verb: str, arguments: Iterable[Any]) -> None:
        """Read each from both and check that they agree."""
        given = list(arguments)
        assert self.read_all(verb, given) == [getattr(self.model, verb)(*each) for each in given]

    def levelled(self, device: Device) -> Device:
        """Return it with the number that its queue goes on behind."""
        return replace(device, last_seq=max(device.last_seq, self.model.floor))

    @initialize(target=devices)
    def found_the_first_owner(self) -> Device:
        code = make_code()
        self.call("add_setup_code", code)
        return self.new_owner(code)

    @rule(target=codes, owner=st.none() | devices, founds_owner=st.booleans(), mark=MARKS)
    def add_code(self, owner: Device | None, mark: bytes | None, *, founds_owner: bool) -> SetupCode:
        known = owner is not None and owner.owner_id in self.model.owners
        owner_id = owner.owner_id if owner and known else None
        code = make_code(
            owner_id=owner_id,
            founds_owner=founds_owner and not known,
            expires_at=int(self.now) + 600,
            phone_id=owner.id if owner else None,
        )
        self.call("add_setup_code", code, self.keep(owner.owner_id if owner else "own_none", mark))
        return code

    @rule(target=devices, code=codes, mark=MARKS)
    def found(self, code: SetupCode, mark: bytes | None) -> Device:
        return self.new_owner(code, mark)

    def new_owner(self, code: SetupCode, mark: bytes | None = None) -> Device:
        """Try to found an owner and return its phone."""
        device = make_device(new_id("own"), created_at=int(self.now), app_build=1)
        token = make_token(device.owner_id, created_at=int(self.now))
        keep = self.keep(device.owner_id, mark)
        self.call("redeem_setup_code", code.hash, device, token, [make_delivery(device)], self.now, keep)
        self.seen_tokens.add(token)
        self.seen_devices.add(device.id)
        return device

    @rule(target=devices, code=codes, member=devices, device_class=st.sampled_from(["phone", "desktop"]))
    def join(self, code: SetupCode, member: Device, device_class: str) -> Device:
        owner_id = code.owner_id or member.owner_id
        device = make_device(owner_id, device_class=device_class, created_at=int(self.now))
        self.call("redeem_setup_code", code.hash, device, None, [make_delivery(member)], self.now)
        self.seen_devices.add(device.id)
        return device

    @rule(
        device=devices,
        label=st.none() | st.just("Fold"),
        app_build=st.none() | st.integers(0, 9),
        features=st.none() | st.sampled_from([(), ("emergency",), ("answer_v2", "emergency")]),
    )
    def update(
        self, device: Device, label: str | None, app_build: int | None, features: tuple[str, ...] | None
    ) -> None:
        self.call("update_device", device.id, DeviceChanges(label, app_build, features))

    @rule(device=devices, other=devices)
    def remove(self, device: Device, other: Device) -> None:
        self.call("remove_device", other.owner_id, device.id)

    @rule(device=devices)
    def disconnect(self, device: Device) -> None:
        self.call("delete_owner", device.owner_id)

    @rule(target=tokens, owner=devices, mark=MARKS, test=st.booleans())
    def add_token(self, owner: Device, mark: bytes | None, *, test: bool) -> Token:
        token = make_token(owner.owner_id, test=test, created_at=int(self.now))
        self.call("add_token", token, owner.id, self.keep(owner.owner_id, mark))
        self.seen_tokens.add(token)
        return token

    @rule(token=tokens, other=devices)
    def revoke(self, token: Token, other: Device) -> None:
        self.call("revoke_token", other.owner_id, token.id, self.now)

    @rule(token=tokens, phone=devices, label=LABELS, colour=COLOURS, muted_for=MUTED)
    def change_token(self, token: Token, phone: Device, label: Any, colour: Any, muted_for: Any) -> None:
        muted_until = int(self.now) + muted_for if isinstance(muted_for, int) else muted_for
        others = [make_delivery(each) for each in self.model.list_devices(token.owner_id) if each.id != phone.id]
        changes = TokenChanges(label, colour, muted_until)
        self.call("change_token", token.owner_id, token.id, phone.id, changes, others)

    @rule(token=tokens)
    def refuse_for_want_of_places(self, token: Token) -> None:
        self.call("list_holders", token.owner_id, self.now)
        notices = [make_delivery(each) for each in self.model.list_devices(token.owner_id)]
        self.call("tell_refusal_once", token.owner_id, token.id, notices, self.now)

    def prompts(self, token: Token, question_id: str, push_until: int) -> list[Delivery]:
        there = self.model.list_devices(token.owner_id)
        return [
            make_delivery(each, question_id=question_id, push_until=push_until, is_essential=True) for each in there
        ]

    @rule(
        target=questions,
        token=tokens,
        expires_in=st.sampled_from([MINUTE, HOUR, DAY]),
        phones=st.integers(0, 3),
        tether=st.sampled_from([None, 5, MINUTE, 300]),
    )
    def ask(self, token: Token, expires_in: int, phones: int, tether: int | None) -> Interaction:
        expires_at = int(self.now) + expires_in
        tethered = {} if tether is None else {"tether": tether, "awaited_until": self.now}
        new = make_interaction(token, created_at=int(self.now), expires_at=expires_at, **tethered)
        there = frozenset(each.id for each in self.model.list_devices(token.owner_id) if each.device_class == "phone")
        seen = {0: None, 1: frozenset({"dev_gone"})}.get(phones, there)
        self.call("create_interaction_once", new, self.prompts(token, new.id, expires_at), seen, self.now)
        self.seen_questions.add(new.id)
        return new

    @rule(token=tokens, count=st.integers(8, 12))
    def ask_many(self, token: Token, count: int) -> None:
        for _ in range(count):
            new = make_interaction(token, created_at=int(self.now), expires_at=int(self.now) + MINUTE)
            self.call("create_interaction_once", new, [], None, self.now)
            self.seen_questions.add(new.id)

    @rule(question=questions)
    def ask_again(self, question: Interaction) -> None:
        again = make_interaction(
            make_token(question.owner_id, id=question.token_id, test=question.test),
            repeat_mark=question.repeat_mark,
            created_at=int(self.now),
            expires_at=int(self.now) + MINUTE,
        )
        self.call("find_repeat", question.token_id, question.repeat_mark, self.now)
        self.call("create_interaction_once", again, [], None, self.now)
        self.seen_questions.add(again.id)

    @rule(question=questions, device=devices, choice=st.integers(0, 1))
    def tap(self, question: Interaction, device: Device, choice: int) -> None:
        others = [make_delivery(each) for each in self.model.list_devices(question.owner_id)]
        self.call("record_answer_if_pending", question.id, make_tap(device, choice), others, self.now)

    @rule(question=questions, device=devices, number=st.integers(0, 1))
    def type_a_wrong_number(self, question: Interaction, device: Device, number: int) -> None:
        others = [make_delivery(each) for each in self.model.list_devices(question.owner_id)]
        tap = make_tap(device, signature=f"{device.id} {number}".encode())
        self.call("count_wrong_number", question.id, tap, others, self.now)

    @rule(question=questions)
    def cancel(self, question: Interaction) -> None:
        others = [make_delivery(each) for each in self.model.list_devices(question.owner_id)]
        self.call("cancel_if_pending", question.id, others, self.now)

    @rule(question=questions, seconds=st.sampled_from([0, 0.25, 50, MINUTE]))
    def hold(self, question: Interaction, seconds: float) -> None:
        self.call("hold_tether", question.id, self.now + seconds, self.now)

    @rule(question=questions)
    def release(self, question: Interaction) -> None:
        noted = self.model.questions.get(question.id, question).awaited_until
        self.call("release_tether", question.id, self.now + 50 if noted is None else noted, self.now)

    @rule(question=questions)
    def close_one_abandoned(self, question: Interaction) -> None:
        others = [make_delivery(each) for each in self.model.list_devices(question.owner_id)]
        self.call("close_if_abandoned", question.id, others, self.now)

    @rule(question=questions)
    def close_one_expired(self, question: Interaction) -> None:
        devices = self.model.list_devices(question.owner_id)
        closings = [make_delivery(each, question_id=question.id, push_until=0) for each in devices]
        self.call("close_if_expired", question.id, closings, self.now)

    @rule()
    def restart(self) -> None:
        self.call("spare_tethered", self.now)

    @rule(
        target=emergencies,
        token=tokens,
        retry=st.sampled_from([30, MINUTE, HOUR]),
        callback=st.none() | st.just("https://ops.example/"),
        tags=st.sampled_from([[], [b"eu"], [b"eu", b"db1"]]),
        mark=MARKS,
    )
    def raise_alarm(
        self, token: Token, retry: int, callback: str | None, tags: list[bytes], mark: bytes | None
    ) -> Emergency:
        now = int(self.now)
        emergency = make_emergency(
            token,
            retry_seconds=retry,
            created_at=now,
            expires_at=now + HOUR,
            callback=callback,
            last_delivered_at=now,
            next_round_at=now + retry,
        )
        devices = self.model.list_devices(token.owner_id)
        blobs = [(each.id, each.id.encode()) for each in devices]
        keep = self.keep(token.owner_id, mark)
        self.call("add_emergency", emergency, tags, blobs, [make_delivery(each) for each in devices], keep)
        self.seen_receipts.add(emergency.receipt)
        return emergency

    @rule(emergency=emergencies, device=devices, status=st.sampled_from(["acknowledged", "cancelled", "expired"]))
    def end_alarm(self, emergency: Emergency, device: Device, status: Any) -> None:
        by = (device.id, device.label) if status == "acknowledged" else (None, None)
        closings = [make_delivery(each) for each in self.model.list_devices(emergency.owner_id)]
        self.call("end_emergency", emergency.receipt, EmergencyEnd(status, *by), closings, self.now)

    @rule()
    def sound_alarms(self) -> None:
        for due in self.call("list_due_emergencies", self.now, 3):
            blobs = self.call("list_emergency_blobs", due.receipt)
            devices = [each for each in self.model.list_devices(due.owner_id) if each.id in blobs]
            again = [make_delivery(each, blobs[each.id]) for each in devices]
            for _ in range(2):  # as another process would
                self.call("sound_emergency", due, int(self.now) + due.retry_seconds, again, self.now)

    @rule(taken=st.booleans())
    def call_back(self, *, taken: bool) -> None:
        for claimed in self.call("claim_callbacks", self.now, 3):
            if taken:
                self.call("note_called_back", claimed.receipt, self.now)

    @rule(token=tokens, tag=st.none() | st.sampled_from([b"eu", b"db1", b"us"]))
    def list_alarms(self, token: Token, tag: bytes | None) -> None:
        self.call("list_active_emergencies", token.id, self.now, tag)

    @rule(first=devices, second=devices, ttl=st.sampled_from([1, HOUR, 3 * DAY]))
    def deliver(self, first: Device, second: Device, ttl: int) -> None:
        expires_at = int(self.now) + ttl
        self.call("append_to_queues", [make_delivery(each, expires_at=expires_at) for each in (first, second, first)])

    @rule(first=devices, second=devices, size=st.sampled_from(SIZES), mark=MARKS)
    def send(self, first: Device, second: Device, size: int, mark: bytes | None) -> None:
        deliveries = [make_delivery(each, bytes(size)) for each in (first, second)]
        self.call("send_to_queues", deliveries, self.keep(first.owner_id, mark))

    @rule(first=devices, second=devices, sender=devices, size=st.sampled_from(SIZES), mark=MARKS)
    def relay(self, first: Device, second: Device, sender: Device, size: int, mark: bytes | None) -> None:
        deliveries = [make_delivery(each, bytes(size), sender=sender.id) for each in (first, second)]
        self.call("relay_to_queues", sender.owner_id, deliveries, self.keep(sender.owner_id, mark))

    @rule(device=devices, sizes=st.lists(st.sampled_from(SIZES), max_size=4), is_essential=st.booleans())
    def fill(self, device: Device, sizes: list[int], *, is_essential: bool) -> None:
        expires_at = int(self.now) + MINUTE
        deliveries = [
            make_delivery(device, bytes(size), expires_at=expires_at, is_essential=is_essential) for size in sizes
        ]
        self.call("append_to_queues", deliveries)

    @rule(seq=st.integers(0, 15))
    def number_from(self, seq: int) -> None:
        self.call("number_from", seq)

    @rule(device=devices, seq=st.integers(0, 30))
    def ack(self, device: Device, seq: int) -> None:
        self.call("ack_queue", device.id, seq)

    @rule(device=devices, after=st.integers(0, 30), limit=st.integers(1, 3))
    def read_page(self, device: Device, after: int, limit: int) -> None:
        self.call("read_queue", device.id, after, limit, self.now)

    @rule(device=devices, after=st.integers(0, 30))
    def read_to_push(self, device: Device, after: int) -> None:
        found = self.run(self.store.read_queue(device.id, after, 3, self.now, to_push=True))
        assert found == self.model.read_queue(device.id, after, 3, self.now, to_push=True)

    @rule(token=tokens, device=devices, ago=st.sampled_from([0, 0, MINUTE]))
    def note_activity(self, token: Token, device: Device, ago: int) -> None:
        when = int(self.now) - ago  # another process may say later what it noted earlier
        self.call("record_activity", {token.id: when}, {device.id: when})

    @rule(seconds=st.sampled_from([0.5, 1, 4.75, 59.5, MINUTE, 600, HOUR, DAY, 3 * DAY, 30 * DAY]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    @rule(replies=st.sampled_from([1, 2, 20_000]))
    def sweep(self, replies: int) -> None:
        steps = iter(lambda: self.read("sweep", self.now, replies), 0)
        assert sum(steps) == self.model.sweep(self.now, replies)

    @invariant()
    def both_hold_the_same(self) -> None:
        owners = {(each.id, each.created_at, tuple(sorted(each.device_labels))) for each in self.read("list_owners")}
        assert owners == self.model.list_owners()
        owner_ids = list(self.model.owners)
        for owner_id, devices in zip(
            owner_ids, self.read_all("list_devices", [(each,) for each in owner_ids]), strict=True
        ):
            by_id = {each.id: self.levelled(each) for each in devices}
            assert by_id == {each.id: each for each in self.model.list_devices(owner_id)}
        self.compare("read_queue", [(each, 0, 1000, self.now) for each in self.seen_devices])
        self.compare("find_token", [(each.hash,) for each in self.seen_tokens])
        asked = [(each.id, self.now) for each in self.seen_tokens]
        for token, pending in zip(asked, self.read_all("list_pending", asked), strict=True):
            assert {each.id for each in pending} == self.model.list_pending(*token)
        expired = self.read("list_expired", self.now, 1000)
        assert {each.id for each in expired} == self.model.list_expired(self.now)
        abandoned = {each.id for each in self.read("list_abandoned", self.now)}
        assert abandoned == self.model.list_abandoned(self.now)
        self.compare("find_kept_reply", [(mark, self.now) for mark in KNOWN_MARKS])
        self.compare("find_emergency", [(each, self.now) for each in self.seen_receipts])
        self.compare("find_interaction", [(each, self.now) for each in self.seen_questions])


def test_the_store_does_what_the_model_does(store_kind: str, open_store: OpenStore, tmp_path: Path):
    numbers = itertools.count()

    def make_machine() -> Comparison:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return Comparison(open_store, folder, keeps_floor=store_kind == "postgres")

    run_state_machine_as_test(
        cast("type[Comparison]", make_machine),  # documented to take any callable that makes one
        settings=settings(
            max_examples=EXAMPLES[store_kind],
            stateful_step_count=30,
            phases=[Phase.reuse, Phase.generate],  # shrinking would take longer than a test may
            suppress_health_check=list(HealthCheck),
        ),
    )
