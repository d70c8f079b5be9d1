"""The database fails under load: what was acknowledged is kept, nothing happens twice, and all comes back by itself."""

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from reflecto.core.ports.store import OutcomeUnknownError, StoreUnavailableError
from reflecto.core.rules.queue_room import QueueLimits
from reflecto.store.postgres.database import Database
from reflecto.store.postgres.store import PostgresStore
from tests.builders import NOW, make_delivery, make_interaction
from tests.e2e.crash_load import LIMITS_OFF
from tests.e2e.cuttable_proxy import CuttableProxy
from tests.e2e.failover_load import Load, Owner, found_owners
from tests.e2e.failover_senders import Senders
from tests.e2e.phones import HTTP, Phone, bearer
from tests.e2e.postgres_pair import Pair, execute, wait_until
from tests.e2e.server_process import ServerProcess

pytestmark = pytest.mark.timeout(120)

BACK_SECONDS = 15  # after the promotion
WAITS_FOR_STANDBY = "EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep')"
WAITS_FOR_LOCK = "EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock')"
EPOCH_ONE = 1 << 43


@pytest.fixture(scope="module")
def clusters() -> Iterator[Pair]:
    """One pair for all tests of this file."""
    pair = Pair()
    yield pair
    pair.remove()


@pytest.fixture
async def pair(clusters: Pair) -> Pair:
    """A primary with a synchronous standby."""
    await clusters.mend()
    return clusters


@pytest.fixture
async def database(pair: Pair) -> str:
    """An empty database of the pair, by name."""
    return (await pair.primary.create_database()).rpartition("/")[2]


@pytest.fixture
async def store(pair: Pair, database: str) -> AsyncIterator[PostgresStore]:
    """A store that knows both hosts."""
    store = await PostgresStore.open(pair.address(database))
    yield store
    await store.close()


@pytest.fixture
async def owners(pair: Pair, database: str, store: PostgresStore) -> list[Owner]:
    """Some owners."""
    assert store
    return await found_owners(pair.primary.address(database), 3)


@pytest.fixture
async def load(store: PostgresStore, owners: list[Owner]) -> Load:
    """A load that runs already."""
    load = Load(store, owners)
    load.start()
    await load.ledger.wait_for_more(60)
    return load


async def finish(load: Load) -> None:
    """Wait until the store works again, and hold what it has against what it said."""
    async with asyncio.timeout(BACK_SECONDS):
        await load.ledger.wait_for_more(1)
    await load.ledger.wait_for_more(60)
    await load.stop()
    await load.check()


async def test_a_killed_primary_whose_standby_is_promoted_loses_nothing(pair: Pair, load: Load):
    await asyncio.to_thread(pair.primary.kill)
    await pair.promote()
    await finish(load)


async def test_over_http_a_failover_is_seen_as_503_at_most_and_each_message_arrives_once(
    pair: Pair, database: str, tmp_path: Path
):
    config = tmp_path / "reflecto.toml"
    config.write_text(LIMITS_OFF)
    options = ("--config", str(config), "--store", pair.address(database))
    with await asyncio.to_thread(ServerProcess, tmp_path / "data", *options) as server:
        phone = await asyncio.to_thread(Phone.enrol, server.url, server.ready["code"])
        senders = Senders(server, phone)
        sending = asyncio.create_task(senders.run())
        async with asyncio.timeout(60):
            await senders.wait_for_more(40)
            await asyncio.to_thread(pair.primary.kill)
            await pair.promote()
            async with asyncio.timeout(BACK_SECONDS):
                await senders.wait_for_more(1)
            await senders.wait_for_more(40)
            senders.stop()
            await sending
        end = await asyncio.to_thread(
            HTTP.post, f"{server.url}/v1/send", json={"message": "The end"}, headers=bearer(phone.token)
        )
        entries = await asyncio.to_thread(phone.read_until, "notification", end.json()["id"])
    numbers = [seq for seq, _ in entries]
    assert numbers == sorted(set(numbers))
    received = Counter(each["payload"]["message"] for _, each in entries if each["type"] == "notification")
    assert received == Counter([*senders.accepted, "The end"])
    assert set(senders.statuses) <= {429, 503}


async def test_numbers_rise_across_a_promotion(pair: Pair, store: PostgresStore, owners: list[Owner]):
    load = Load(store, owners)

    async def last_seq() -> int:
        await load.until_done(lambda: store.append_to_queues([make_delivery(owners[0].phone)]))
        entries = await load.until_done(lambda: store.read_queue(owners[0].phone.id, 0, 100, NOW))
        assert entries is not None
        return entries[-1].seq

    assert await last_seq() == 1  # what SQLite would give
    await asyncio.to_thread(pair.primary.kill)
    await pair.promote()
    assert await last_seq() > EPOCH_ONE


async def test_a_hung_primary_is_replaced_and_refused_when_it_comes_back(
    pair: Pair, load: Load, caplog: pytest.LogCaptureFixture
):
    old = pair.primary
    old.freeze()
    await pair.promote()
    async with asyncio.timeout(BACK_SECONDS):
        await load.ledger.wait_for_more(60)
    old.thaw()  # it takes itself for the primary still
    await load.ledger.wait_for_more(60)
    await asyncio.to_thread(pair.primary.stop)
    async with asyncio.timeout(BACK_SECONDS):
        while "came back, but" not in caplog.text:
            assert await load.pause_shortly()
    await asyncio.to_thread(pair.primary.start)
    await finish(load)


async def test_a_process_that_starts_between_two_primaries_takes_the_promoted_one(pair: Pair, database: str):
    old = pair.primary
    old.freeze()
    await pair.promote()
    old.thaw()
    store = await PostgresStore.open(pair.address(database, old.port, pair.primary.port))
    (owner,) = await found_owners(pair.primary.address(database), 1)
    assert await store.append_to_queues([make_delivery(owner.phone)]) == [owner.phone.id]
    await store.close()


async def test_an_old_primary_without_its_standby_is_not_even_read_from(
    pair: Pair, database: str, store: PostgresStore
):
    (owner,) = await found_owners(pair.primary.address(database), 1)
    await store.append_to_queues([make_delivery(owner.phone)])
    old = pair.primary
    await asyncio.to_thread(old.kill)
    await pair.promote()
    await asyncio.to_thread(old.start)
    alone = await PostgresStore.open(old.address(database))  # a process that knows nothing of the promotion
    with pytest.raises(StoreUnavailableError):
        await alone.read_queue(owner.phone.id, 0, 100, NOW)
    await alone.close()


async def test_while_the_standby_hangs_nobody_knows_and_then_all_of_it_is_decided(pair: Pair, load: Load):
    with pair.standby.frozen():
        async with asyncio.timeout(BACK_SECONDS):
            while not load.ledger.refusals["outcome_unknown"]:
                assert await load.pause_shortly()
    await finish(load)
    assert set(load.ledger.refusals) <= {"outcome_unknown", "unavailable"}


async def test_what_an_administrator_lets_commit_without_the_standby_is_not_acknowledged(pair: Pair, load: Load):
    pair.standby.freeze()
    await wait_until(pair.primary, WAITS_FOR_STANDBY)
    before = load.ledger.acknowledged
    for _ in range(3):
        await execute(
            pair.primary, "postgres", "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        )
        await wait_until(pair.primary, WAITS_FOR_STANDBY)
    assert load.ledger.acknowledged == before
    await asyncio.to_thread(pair.primary.kill)
    pair.standby.thaw()
    await pair.promote()
    await finish(load)


async def test_a_primary_that_restarts_while_the_standby_is_away_acknowledges_nothing(pair: Pair, load: Load):
    with pair.standby.frozen():
        await wait_until(pair.primary, WAITS_FOR_STANDBY)
        before = load.ledger.acknowledged
        await asyncio.to_thread(pair.primary.stop)
        await asyncio.to_thread(pair.primary.start)
        await wait_until(pair.primary, WAITS_FOR_STANDBY)
        assert load.ledger.acknowledged == before
    await finish(load)


async def test_a_network_that_is_cut_ends_in_the_promoted_standby(pair: Pair, database: str):
    async with CuttableProxy(pair.primary.port) as proxy:
        store = await PostgresStore.open(pair.address(database, proxy.port, pair.standby.port))
        load = Load(store, await found_owners(pair.primary.address(database), 3))
        load.start()
        await load.ledger.wait_for_more(60)
        proxy.cut()
        await pair.promote()
        await finish(load)
        proxy.mend()
        await store.append_to_queues([])
        await store.close()


async def test_a_network_that_is_cut_and_mended_leaves_nothing_undecided(pair: Pair, database: str):
    async with CuttableProxy(pair.primary.port) as proxy:
        store = await PostgresStore.open(pair.address(database, proxy.port))
        owners = await found_owners(pair.primary.address(database), 3)
        load = Load(store, owners)
        load.start()
        await load.ledger.wait_for_more(60)
        proxy.cut()
        with pytest.raises(StoreUnavailableError):
            await store.append_to_queues([make_delivery(owners[0].phone, b"given up")])
        proxy.mend()
        await finish(load)
        assert b"given up" not in owners[0].seen  # who asked may have done it elsewhere by now
        await store.close()


async def test_a_commit_whose_reply_is_lost_is_decided_and_not_done_again(pair: Pair, database: str):
    async with CuttableProxy(pair.primary.port) as proxy:
        store = await PostgresStore.open(pair.address(database, proxy.port))
        (owner,) = await found_owners(pair.primary.address(database), 1)
        await store.append_to_queues([make_delivery(owner.phone, b"before")])
        with pair.standby.frozen():
            sending = asyncio.create_task(store.append_to_queues([make_delivery(owner.phone, b"once")]))
            await wait_until(pair.primary, WAITS_FOR_STANDBY)
            proxy.drop()
            await wait_until(pair.primary, WAITS_FOR_LOCK)
        assert await sending == [owner.phone.id]
        entries = await store.read_queue(owner.phone.id, 0, 10, NOW)
        assert [entry.blob for entry in entries or ()] == [b"before", b"once"]
        await store.close()


async def test_on_a_full_disk_new_things_are_refused_and_the_rest_goes_on(
    pair: Pair, database: str, store: PostgresStore, owners: list[Owner]
):
    owner, question = owners[0], make_interaction(owners[0].token)
    await store.append_to_queues([make_delivery(owner.phone)])
    full = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
    await execute(
        pair.primary,
        database,
        full + "$$BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END$$",
        "CREATE TRIGGER full_disk BEFORE INSERT ON interactions FOR EACH ROW EXECUTE FUNCTION full_disk()",
    )
    refused, acknowledged = await asyncio.gather(
        store.create_interaction_once(question, [make_delivery(owner.phone)], None, NOW),
        store.ack_queue(owner.phone.id, 1),
        return_exceptions=True,
    )
    assert isinstance(refused, StoreUnavailableError)
    assert not isinstance(refused, OutcomeUnknownError)
    assert acknowledged is True
    await execute(pair.primary, database, "DROP TRIGGER full_disk ON interactions")
    assert (await store.create_interaction_once(question, [make_delivery(owner.phone)], None, NOW)).interaction
    assert await store.read_queue(owner.phone.id, 0, 10, NOW)


async def test_a_statement_that_takes_too_long_fails_alone(
    pair: Pair, database: str, store: PostgresStore, owners: list[Owner]
):
    slow = make_interaction(owners[0].token)
    await execute(
        pair.primary,
        database,
        "CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(60); RETURN NEW; END$$",
        "CREATE TRIGGER dawdle BEFORE INSERT ON interactions FOR EACH ROW "
        f"WHEN (NEW.id = '{slow.id}') EXECUTE FUNCTION dawdle()",
    )
    refused = asyncio.create_task(store.create_interaction_once(slow, (), None, NOW))
    await wait_until(pair.primary, "EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep')")
    quick = make_interaction(owners[1].token)
    created = await Load(store, owners).until_done(lambda: store.create_interaction_once(quick, (), None, NOW))
    assert created.interaction == quick
    with pytest.raises(StoreUnavailableError):
        await refused
    assert await store.find_interaction(slow.id, NOW) is None


@pytest.mark.parametrize("which", ["SIGSTOP", "SIGKILL"])
async def test_a_process_that_stops_with_an_owner_locked_harms_no_other_owner(
    pair: Pair, database: str, store: PostgresStore, owners: list[Owner], which: str
):
    held, other = owners[0].phone, owners[1].phone
    command = (sys.executable, "-m", "tests.e2e.frozen_in_batch", pair.address(database), held.owner_id, held.id, which)
    stopped = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert stopped.stdout is not None
    assert await stopped.stdout.readline() == b"locked\n"
    both = await asyncio.gather(
        store.append_to_queues([make_delivery(held)]),
        store.append_to_queues([make_delivery(other)]),
        return_exceptions=True,
    )
    assert both[1] == [other.id]
    assert await Load(store, owners).until_done(lambda: store.append_to_queues([make_delivery(held)])) == [held.id]
    if which == "SIGSTOP":
        stopped.send_signal(signal.SIGCONT)
    said, _ = await stopped.communicate()
    assert said == (b"OutcomeUnknownError\n" if which == "SIGSTOP" else b"")
    blobs = [entry.blob for entry in await store.read_queue(held.id, 0, 10, NOW) or ()]
    assert blobs
    assert b"of the process that stopped" not in blobs


async def test_a_start_warns_of_a_database_whose_settings_may_lose_something(
    pair: Pair, database: str, caplog: pytest.LogCaptureFixture
):
    await execute(pair.primary, database, f"ALTER DATABASE {database} SET synchronous_commit = off")
    address = pair.address(database)
    store = PostgresStore(await Database.open(address, QueueLimits(), serves_at="http://127.0.0.1:8787"))
    assert await store.probe() == ("fsync_off", "full_page_writes_off", "synchronous_commit_off")
    await store.close()
    assert "synchronous_commit is off: what the server has accepted last may be lost" in caplog.text
    assert "no standby" not in caplog.text


async def test_a_database_without_room_for_connections_is_waited_for(pair: Pair, database: str):
    role = f"app_{database}"
    await execute(
        pair.primary,
        database,
        f"CREATE ROLE {role} LOGIN CONNECTION LIMIT 1",
        f"ALTER DATABASE {database} OWNER TO {role}",
        f"ALTER SCHEMA public OWNER TO {role}",
    )
    address = pair.address(database).replace("reflecto@", f"{role}@")
    store = await PostgresStore.open(address)  # an ordinary role is enough
    (owner,) = await found_owners(pair.primary.address(database), 1)
    await store.append_to_queues([make_delivery(owner.phone)])
    reading = asyncio.create_task(store.read_queue(owner.phone.id, 0, 10, NOW))
    await execute(pair.primary, database, f"ALTER ROLE {role} CONNECTION LIMIT 10")
    assert await reading
    await store.close()
