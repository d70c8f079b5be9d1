"""Verbs that come at once are carried out as if they came one after another: same replies, same numbers, same state."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reflecto.core.model import Delivery, Device, Interaction, Token
from reflecto.core.ports.store import Store
from reflecto.core.rules.queue_room import QueueLimits
from tests.builders import (
    NOW,
    make_code,
    make_delivery,
    make_device,
    make_interaction,
    make_tap,
    make_token,
    unique_bytes,
)
from tests.store_conformance.conftest import OpenStore

# Small enough that what a verb leaves decides about the next one.
BOUNDS = QueueLimits(
    entries=9, bytes=500, relayed_entries=3, relayed_bytes=150, owner_bytes=900, reserved_bytes=60, reserved_entries=2
)
EXAMPLES = 20
END = NOW + 20  # of tethered questions
LATER = NOW + 600  # questions have expired

Call = tuple[str, tuple[Any, ...]]

owners = st.integers(0, 1)
devices = st.integers(0, 3)
questions = st.integers(0, 9)
sizes = st.sampled_from([1, 40, 80, 140])
STEPS = st.one_of(
    st.tuples(st.just("ask"), owners, st.integers(0, 2), sizes),
    st.tuples(st.just("tap"), questions, devices, st.integers(0, 1)),
    st.tuples(st.just("cancel"), questions, sizes),
    st.tuples(st.just("hold"), questions),
    st.tuples(st.just("release"), questions),
    st.tuples(st.just("close"), questions, sizes),
    st.tuples(st.just("expire"), questions, sizes),
    st.tuples(st.just("send"), devices, sizes, st.booleans()),
    st.tuples(st.just("relay"), devices, devices, sizes),
    st.tuples(st.just("ack"), devices, st.sampled_from([0, 1, 2, 3, 4, 5, 99])),
)


@dataclass(frozen=True, slots=True)
class World:
    """Two owners, each with a phone and a desktop, a token and five questions; every queue has come to number 7."""

    devices: Sequence[Device]
    tokens: Sequence[Token]
    questions: Sequence[Interaction]
    beginning: Sequence[Call]
    salt: bytes

    @classmethod
    def make(cls) -> "World":
        """Make one, and the calls that it begins with."""
        founders = [make_device(f"own_{unique_bytes().hex()[:24]}") for _ in range(2)]
        tokens = [make_token(each.owner_id) for each in founders]
        desktops = [make_device(each.owner_id, device_class="desktop", created_at=NOW + 1) for each in founders]
        ends = [None, None, NOW, NOW, NOW - 30]
        asked = [
            make_interaction(token, **({} if awaited is None else {"tether": 20, "awaited_until": float(awaited)}))
            for token in tokens
            for awaited in ends
        ]
        calls: list[Call] = []
        for phone, token, desktop in zip(founders, tokens, desktops, strict=True):
            founding, joining = make_code(founds_owner=True), make_code(owner_id=phone.owner_id)
            calls.append(("add_setup_code", (founding,)))
            calls.append(("redeem_setup_code", (founding.hash, phone, token, [], NOW)))
            calls.append(("add_setup_code", (joining,)))
            calls.append(("redeem_setup_code", (joining.hash, desktop, None, [], NOW)))
            for device, other in ((phone, desktop), (desktop, phone)):
                relayed = [make_delivery(device, bytes(40), sender=other.id) for _ in range(3)]
                calls.append(("append_to_queues", ([make_delivery(device, bytes(10)) for _ in range(2)] + relayed,)))
        return cls([*founders, *desktops], tokens, asked, calls, unique_bytes())

    async def begin(self, store: Store) -> None:
        """Bring it into being."""
        await one_by_one(store, self.beginning)
        await one_by_one(store, [self._first_ask(each) for each in self.questions])

    def calls(self, steps: Sequence[tuple[Any, ...]]) -> list[Call]:
        """Return the steps as calls of a store."""
        return [getattr(self, f"_{step[0]}")(*step[1:]) for step in steps]

    def _of(self, owner_id: str, size: int) -> list[Delivery]:
        return [make_delivery(each, bytes(size)) for each in self.devices if each.owner_id == owner_id]

    def _ask(self, owner: int, mark: int, size: int) -> Call:
        new = make_interaction(self.tokens[owner], repeat_mark=sha256(self.salt + bytes([mark])).digest())
        phone = self.devices[owner]
        prompt = make_delivery(phone, bytes(size), is_essential=True)
        return "create_interaction_once", (new, [prompt], frozenset({phone.id}), NOW)

    def _first_ask(self, asked: Interaction) -> Call:
        prompts = [
            make_delivery(each, bytes(10), question_id=asked.id, push_until=asked.expires_at)
            for each in self.devices
            if each.owner_id == asked.owner_id and asked.tether is None
        ]
        return "create_interaction_once", (asked, prompts, None, NOW - 40)

    def _expire(self, question: int, size: int) -> Call:
        asked = self.questions[question]
        closings = [replace(each, question_id=asked.id, push_until=0) for each in self._of(asked.owner_id, size)]
        return "close_if_expired", (asked.id, closings, LATER)

    def _tap(self, question: int, device: int, choice: int) -> Call:
        asked = self.questions[question]
        return "record_answer_if_pending", (
            asked.id,
            make_tap(self.devices[device], choice),
            self._of(asked.owner_id, 20),
            NOW,
        )

    def _cancel(self, question: int, size: int) -> Call:
        asked = self.questions[question]
        return "cancel_if_pending", (asked.id, self._of(asked.owner_id, size), NOW)

    def _hold(self, question: int) -> Call:
        return "hold_tether", (self.questions[question].id, NOW + 50.5, NOW)

    def _release(self, question: int) -> Call:
        return "release_tether", (self.questions[question].id, NOW + 50.5, NOW + 0.5)

    def _close(self, question: int, size: int) -> Call:
        asked = self.questions[question]
        return "close_if_abandoned", (asked.id, self._of(asked.owner_id, size), END)

    def _send(self, device: int, size: int, is_essential: bool) -> Call:  # noqa: FBT001  drawn
        return "append_to_queues", ([make_delivery(self.devices[device], bytes(size), is_essential=is_essential)],)

    def _relay(self, sender: int, device: int, size: int) -> Call:
        by = self.devices[sender]
        return "relay_to_queues", (by.owner_id, [make_delivery(self.devices[device], bytes(size), sender=by.id)])

    def _ack(self, device: int, seq: int) -> Call:
        return "ack_queue", (self.devices[device].id, seq)


async def one_by_one(store: Store, calls: Sequence[Call]) -> list[Any]:
    """Make each call when the one before it has come back."""
    return [await getattr(store, verb)(*arguments) for verb, arguments in calls]


async def at_once(store: Store, calls: Sequence[Call]) -> list[Any]:
    """Make all calls in the same turn of the loop, in this order."""
    return await asyncio.gather(*(getattr(store, verb)(*arguments) for verb, arguments in calls))


async def held(store: Store, world: World, asked: Sequence[str]) -> list[Any]:
    """Return all that the store tells of the world, and how much more its queues take."""
    reading: list[Call] = [("read_queue", (each.id, 0, 100, NOW)) for each in world.devices]
    reading += [("list_devices", (each.owner_id,)) for each in world.devices[:2]]
    reading += [("find_interaction", (each, NOW)) for each in asked]
    reading += [("list_pending", (each.id, NOW)) for each in world.tokens]
    more = [("append_to_queues", ([make_delivery(each, bytes(30))],)) for each in world.devices for _ in range(5)]
    return [await at_once(store, reading), await at_once(store, more)]


def test_calls_at_once_do_what_they_do_one_by_one(open_store: OpenStore, tmp_path: Path):
    with asyncio.Runner() as runner:
        folders = [tmp_path / "one by one", tmp_path / "at once"]
        for folder in folders:
            folder.mkdir()

        async def open_both() -> list[Store]:
            return [await open_store(folder, BOUNDS) for folder in folders]

        stores = runner.run(open_both())

        async def compare(steps: Sequence[tuple[Any, ...]]) -> None:
            world = World.make()
            calls = world.calls(steps)
            asked = [each.id for each in world.questions]
            asked += [arguments[0].id for verb, arguments in calls if verb == "create_interaction_once"]
            for store in stores:
                await world.begin(store)
            assert await at_once(stores[1], calls) == await one_by_one(stores[0], calls)
            assert await held(stores[1], world, asked) == await held(stores[0], world, asked)

        @given(st.lists(STEPS, min_size=2, max_size=16))
        @settings(
            max_examples=EXAMPLES,
            phases=[Phase.reuse, Phase.generate],  # shrinking would take longer than a test may
            suppress_health_check=list(HealthCheck),
        )
        def run(steps: list[tuple[Any, ...]]) -> None:
            runner.run(compare(steps))

        try:
            run()
        finally:
            for store in stores:
                runner.run(store.close())
