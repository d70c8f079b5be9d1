"""How PostgreSQL carries out what the store asks: never through a whole table, with statistics or without."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from reflecto.backing import open_postgres
from reflecto.contract.ids import new_id
from reflecto.core.model import (
    Approval,
    Claim,
    Device,
    DeviceChanges,
    EmergencyEnd,
    Pairing,
    PushSubscription,
    Rejection,
    ReminderDelivery,
    Token,
)
from reflecto.core.ports.unread import UnreadQuestion
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres import primary, push_lines
from reflecto.store.postgres.connection import Connection, Host, open_connection
from reflecto.store.postgres.push_lines import PostgresPushLines
from reflecto.store.postgres.store import PostgresStore
from tests.builders import (
    NOW,
    make_delivery,
    make_device,
    make_emergency,
    make_interaction,
    make_keep,
    make_reminder,
    make_tap,
    make_token,
    unique_bytes,
)
from tests.databases import Databases
from tests.store_conformance.world import found_owner, join

# Rows of others, which a scan of a table would go through. Nobody has counted them yet.
FILL: Final = """
INSERT INTO owners SELECT 'own_' || n, 1 FROM generate_series(1, 2000) AS n;
INSERT INTO devices (id, owner_id, token_hash, public_key, signing_key, label, type, class, created_at)
SELECT 'dev_' || n, 'own_' || n % 2000 + 1, int4send(n), '', '', 'Pixel', 'android', 'phone', 1
FROM generate_series(1, 4000) AS n;
INSERT INTO tokens (id, owner_id, hash, label, test, scopes, created_at)
SELECT 'tok_' || n, 'own_' || n % 2000 + 1, int4send(n), 'CI', false, '', 1 FROM generate_series(1, 4000) AS n;
INSERT INTO interactions
    (id, owner_id, token_id, test, repeat_mark, content_mark, sealed, choice_count, created_at, expires_at, status,
     tether, awaited_until)
SELECT 'int_' || n, 'own_' || n % 2000 + 1, 'tok_' || n % 4000 + 1, false, int4send(n), '', '', 2, 1, 2000000000,
       CASE WHEN n % 10 = 0 THEN 'pending' ELSE 'answered' END, CASE WHEN n % 20 = 0 THEN 20 END,
       CASE WHEN n % 20 = 0 THEN 1900000000 + n END
FROM generate_series(1, 20000) AS n;
INSERT INTO queue (device_id, seq, sender, blob, expires_at, urgency, question_id, push_until)
SELECT 'dev_' || n % 4000 + 1, n, 'server', int4send(n), 2000000000, 'high', CASE WHEN n % 3 = 0 THEN 'int_' || n END,
       CASE WHEN n % 3 = 0 THEN 1900000000 END
FROM generate_series(1, 20000) AS n;
INSERT INTO push_subscriptions SELECT 'dev_' || n, 'https://push.example/' || n, '', '', 0
FROM generate_series(1, 4000) AS n;
INSERT INTO reminders SELECT 'rem_' || n, 'own_' || n % 2000 + 1, 'tok_' || n % 4000 + 1, '', 1, 2000000000
FROM generate_series(1, 4000) AS n;
INSERT INTO reminder_deliveries SELECT 'rem_' || n, 'dev_' || n, '', '' FROM generate_series(1, 4000) AS n;
INSERT INTO emergencies (receipt, message_id, owner_id, token_id, token_label, retry_seconds, created_at, expires_at,
                         status, last_delivered_at, next_round_at)
SELECT 'r' || n, 'msg', 'own_' || n % 2000 + 1, 'tok_' || n % 4000 + 1, 'CI', 60, 2000000000, 2000000000, 'active', 1,
       2000000000
FROM generate_series(1, 4000) AS n;
INSERT INTO emergency_tags SELECT 'r' || n, int4send(n) FROM generate_series(1, 4000) AS n;
INSERT INTO emergency_deliveries SELECT 'r' || n, 'dev_' || n, '' FROM generate_series(1, 4000) AS n;
INSERT INTO kept_replies SELECT int4send(n), 'own_' || n % 2000 + 1, '', 2000000000 FROM generate_series(1, 4000) AS n;
INSERT INTO pairings (id, owner_id, phone_id, expires_at, status)
SELECT 'par_' || n, 'own_' || n % 2000 + 1, 'dev_' || n, 2000000000, 'open' FROM generate_series(1, 4000) AS n;
INSERT INTO unread_questions SELECT 'key_' || n, 'tok_' || n, int4send(n), '', 2000000000, NULL
FROM generate_series(1, 4000) AS n;
INSERT INTO call_places SELECT 'tok_' || n, int4send(n), 0, 'prc_1', NULL FROM generate_series(1, 4000) AS n;
INSERT INTO setup_codes SELECT int4send(n), NULL, true, 2000000000, NULL FROM generate_series(1, 4000) AS n;
INSERT INTO installation SELECT 'name ' || n, 'x' FROM generate_series(1, 2000) AS n;
"""
# What is about every row there is, whatever the plan, and what the driver asks; none is part of a request.
ALL_ROWS: Final = re.compile(
    r"FROM owners ORDER BY created_at|monthly_counts|max\(queue_bytes\)|FROM schema|"
    r"EXISTS \(SELECT 1 FROM owners\)|UPDATE interactions SET awaited_until|typeinfo_tree"
)
SMALL: Final = {"processes", "epoch", "load"}  # a row a process, or one
STATEMENT: Final = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")


@dataclass
class Recorder:
    """Notes each statement that connections send, with the parameters it first came with."""

    statements: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    async def open(self, address: str) -> Host:
        """Open a connection that is listened to."""
        host = await open_connection(address)
        host.connection.add_query_logger(self._note)
        return host

    def _note(self, query: Any) -> None:
        if STATEMENT.match(query.query) and not ALL_ROWS.search(query.query):
            self.statements.setdefault(query.query, tuple(query.args or ()))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Listen to every connection that the store opens."""
    recorder = Recorder()
    monkeypatch.setattr(primary, "open_connection", recorder.open)
    return recorder


@pytest.fixture
async def address(databases: Databases, tmp_path: Path) -> AsyncIterator[str]:
    """The address of a database with many rows."""
    given = await databases.of(tmp_path, is_new=True)
    await (await PostgresStore.open(given)).close()
    connection = (await open_connection(given)).connection
    await connection.execute(f"SET session_replication_role = replica; {FILL}")  # without checks of keys
    yield given
    await connection.close()
    databases.forget(tmp_path)


async def use_questions(store: PostgresStore, phone: Device, token: Token, desktop: Device) -> None:
    question = make_interaction(token, tether=20, awaited_until=float(NOW))
    prompt = make_delivery(phone, b"prompt", question_id=question.id, push_until=question.expires_at)
    await store.create_interaction_once(question, [prompt], frozenset({phone.id}), NOW)
    await store.find_interaction(question.id, NOW)
    await store.find_repeat(token.id, question.repeat_mark, NOW)
    await store.hold_tether(question.id, NOW + 50, NOW)
    await store.release_tether(question.id, NOW + 50, NOW)
    await store.list_pending(token.id, NOW)
    await store.list_expired(NOW, 64)
    await store.list_holders(phone.owner_id, NOW)
    await store.tell_refusal_once(phone.owner_id, token.id, [], NOW)
    await store.close_if_expired(question.id, [make_delivery(phone, question_id=question.id, push_until=0)], NOW + 700)
    await store.list_abandoned(NOW)
    await store.spare_tethered(NOW)
    await store.record_answer_if_pending(question.id, make_tap(phone), [make_delivery(desktop)], NOW)
    await store.count_wrong_number(question.id, make_tap(phone), [], NOW)
    await store.cancel_if_pending(question.id, [], NOW)
    await store.close_if_abandoned(question.id, [], NOW)


async def use_queues(store: PostgresStore, phone: Device, desktop: Device) -> None:
    await store.send_to_queues([make_delivery(phone)], make_keep(phone.owner_id))
    await store.find_kept_reply(unique_bytes(), NOW)
    for _ in range(3):  # the last one takes the place of another
        await store.relay_to_queues(phone.owner_id, [make_delivery(desktop, bytes(60), sender=phone.id)])
    await store.read_queue(phone.id, 0, 100, NOW)
    await store.ack_queue(phone.id, 1)


async def use_devices(store: PostgresStore, phone: Device, connection: Connection) -> None:
    await store.find_device_by_token(phone.token_hash)
    await store.list_devices(phone.owner_id)
    await store.update_device(phone.id, DeviceChanges(label="Fold"))

    pairing = Pairing(new_id("par"), phone.owner_id, phone.id, NOW + 600)
    await store.add_pairing(pairing, NOW)
    tablet = make_device(phone.owner_id)
    claim = Claim(tablet.token_hash, tablet.id, tablet.public_key, tablet.signing_key, "Tab", "web", "desktop", None,
                  unique_bytes(), None)  # fmt: skip
    await store.step_pairing(pairing.id, claim, NOW)
    await store.approve_pairing(pairing.id, Approval("{}", b"", b""), tablet, [], NOW)
    await store.find_pairing(pairing.id, NOW)
    await store.step_pairing(pairing.id, Rejection(), NOW)

    subscription = PushSubscription("https://push.example/mine", b"", b"")
    await store.set_push_subscription(phone.id, subscription)
    await store.find_push_target(phone.id)
    await store.list_push_backlog(NOW)
    await push_as_one_of_several(phone, connection)
    await store.drop_push_subscription(phone.id, subscription.endpoint)


async def push_as_one_of_several(phone: Device, connection: Connection) -> None:
    """Claim the phone, let go of it, give it up, and look for what others have left."""
    lines = PostgresPushLines("prc_1", lambda: None)
    done_seq, _ = await asyncio.gather(lines.claim(phone.id, 1), lines.turn(connection))
    assert done_seq is not None
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(push_lines, "RENEW_SECONDS", 0)
        await lines.turn(connection)
    lines.note_done(phone.id, 1)
    is_released, _ = await asyncio.gather(lines.release(phone.id, 1), lines.turn(connection))
    assert is_released
    lines.leave([phone.id])
    await lines.turn(connection)


async def use_tokens(store: PostgresStore, phone: Device, token: Token) -> None:
    await store.find_token(token.hash)
    await store.keep_short_form(token.id, unique_bytes())
    await store.find_token_by_short_form(unique_bytes())
    await store.add_token(make_token(phone.owner_id), phone.id)
    await store.list_tokens(phone.owner_id)

    for fire_at in (NOW, NOW + 60):
        reminder = make_reminder(token, fire_at=fire_at)
        await store.add_reminder(reminder, [ReminderDelivery(phone.id, b"on time", b"late")])
    await store.list_reminders(token.id)
    await store.list_due_reminders(NOW, 10)
    await store.fire_reminder(reminder.id, NOW + 99, late=False)
    await store.drop_reminder(token.id, reminder.id)


async def use_unread_questions(address: str, token: Token) -> None:
    backing = await open_postgres(address)
    assert backing.unread is not None
    for key in ("first", "same again"):  # no process has said that it is there
        question = UnreadQuestion(key, token.id, b"content", b"repeat", float(NOW))
        assert await backing.unread.begin(question) == "first"
    await backing.unread.keep("first", float(NOW))
    assert len(await backing.unread.claim_due(float(NOW), NOW + 30.0)) == 1
    await backing.unread.drop("first")
    assert await backing.call_places.take(token.id, b"call") == 0
    await backing.call_places.put_question(token.id, b"call", 0, "int_1")
    await backing.call_places.first_question(token.id, b"call")
    await backing.call_places.give_back(token.id, b"call", 0)
    await backing.store.close()


async def use_emergencies(store: PostgresStore, phone: Device, token: Token) -> None:
    emergency = make_emergency(token, callback="https://ops.example/")
    await store.add_emergency(emergency, [b"tag"], [(phone.id, b"again")], [])
    await store.find_emergency(emergency.receipt, NOW)
    await store.list_active_emergencies(token.id, NOW, b"tag")
    await store.list_active_emergencies(token.id, NOW)
    await store.list_due_emergencies(NOW + 60, 10)
    await store.list_emergency_blobs(emergency.receipt)
    await store.sound_emergency(emergency, NOW + 120, [make_delivery(phone)], NOW + 60)
    end = EmergencyEnd("acknowledged", phone.id, phone.label)
    await store.end_emergency(emergency.receipt, end, [], NOW)
    await store.claim_callbacks(NOW, 10)
    await store.note_called_back(emergency.receipt, NOW)


async def use_every_verb(store: PostgresStore, connection: Connection, address: str) -> None:
    """Call each verb, so that each of its statements is sent."""
    phone, token = await found_owner(store)
    desktop = await join(store, phone.owner_id, device_class="desktop")
    await use_questions(store, phone, token, desktop)
    await use_queues(store, phone, desktop)
    await use_devices(store, phone, connection)
    await use_tokens(store, phone, token)
    await use_emergencies(store, phone, token)
    await use_unread_questions(address, token)
    await store.record_activity({token.id: NOW, "tok_gone": NOW}, {phone.id: NOW})
    while await store.sweep(NOW + 600, 1):
        pass
    await store.remember("name", "value")
    await store.remember_once("name", "value")
    await store.recall("name")
    await store.probe()
    await store.revoke_token(phone.owner_id, token.id, NOW)
    await store.remove_device(phone.owner_id, desktop.id)
    await store.delete_owner(phone.owner_id)


def scans(plan: dict[str, Any]) -> Iterator[str]:
    """Name what goes through a whole table or index."""
    kind = plan["Node Type"]
    if plan.get("Relation Name") in SMALL:
        return
    if kind == "Seq Scan" or (kind.startswith(("Index", "Bitmap Index")) and "Index Cond" not in plan):
        yield f"{kind} of {plan.get('Relation Name') or plan.get('Index Name')}"
    for part in plan.get("Plans", ()):
        yield from scans(part)


async def plans(connection: Connection, statement: str, parameters: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Return the plan for these parameters, and the one for whatever they are."""
    explained = [await connection.fetchval(f"EXPLAIN (FORMAT JSON) {statement}", *parameters)]
    count = max(map(int, re.findall(r"\$(\d+)", statement)), default=0)
    await connection.execute(f"PREPARE each AS {statement}")
    given = f"({', '.join(['NULL'] * count)})" if count else ""
    explained.append(await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE each{given}"))
    await connection.execute("DEALLOCATE each")
    return [json.loads(each)[0]["Plan"] for each in explained]


async def bad_plans(connection: Connection, recorder: Recorder) -> list[str]:
    """Return the scans of whole tables, each with its statement."""
    return [
        f"{bad}: {statement}"
        for statement, parameters in recorder.statements.items()
        for plan in await plans(connection, statement, parameters)
        for bad in scans(plan)
    ]


async def test_no_statement_goes_through_a_whole_table(address: str, recorder: Recorder):
    store = await PostgresStore.open(address, QueueLimits(relayed_entries=2, relayed_bytes=150))
    listening = (await recorder.open(address)).connection
    try:
        await use_every_verb(store, listening, address)
    finally:
        await listening.close()
        await store.close()
    assert len(recorder.statements) > 80
    connection = (await open_connection(address)).connection
    await connection.execute("SET plan_cache_mode = force_generic_plan")
    found = await bad_plans(connection, recorder)
    await connection.execute("ANALYZE")
    found += await bad_plans(connection, recorder)
    await connection.close()
    assert not found, "\n".join(found)
