"""What `bench.simulate_scale` simulates: processes that wait for their one core, and a database's cores and disk.

A question's way through is `_Cell.question`, step by step as docs/develop.md has it. Readings are gathered and writes
batched as `store/postgres/reads.py` and `batches.py` do: what comes while one is under way is the next one.
Left out: locks between owners, who are too many to meet; pushes; the network to phones.
"""

import random
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final

PHONES_PER_OWNER: Final = 2
BATCH_MOST: Final = 256
HINT_SECONDS: Final = 0.002

Then = Callable[[], None]
Step = Callable[[Then], None]  # begins something, and calls back once it is done
Steps = Generator[Step, None, None]


@dataclass(frozen=True, slots=True)
class Counted:
    """What a question asks of the store, counted by `bench.question_reads`, with two phones.

    Ask: the token, its standing in the limits, a repeat, the owner's devices. Long poll: the token, the question twice,
    and once more when it has ended. Each phone's stream: its queue, and that no more is in it, for the prompt, and for
    the closing at the phone that did not answer; for each of these where it is to be pushed. Answer: the device, the
    question, the owner's devices. Ack: the device.
    """

    requests: int = 5
    ask_reads: int = 4
    poll_reads: int = 3
    polled_reads: int = 1
    stream_reads: int = 2
    answer_reads: int = 3
    push_reads: int = 1
    ack_reads: int = 1
    counts: int = 2  # the burst, and the month
    writes: int = 4  # the question, the answer, and an ack of each phone
    batch_statements: int = 7  # BEGIN, lock, load, write, news, COMMIT: 10 where it has verbs of all kinds

    @property
    def reads(self) -> int:
        """Return the readings of a question."""
        streams = (self.stream_reads + self.push_reads) * (2 * PHONES_PER_OWNER - 1)
        return self.ask_reads + self.poll_reads + self.polled_reads + streams + self.answer_reads + self.acks

    @property
    def acks(self) -> int:
        """Return the readings of all phones' acks."""
        return self.ack_reads * PHONES_PER_OWNER

    def notes(self) -> list[str]:
        """Return what is counted, for the foot of a table."""
        return [
            f"A question, {PHONES_PER_OWNER} phones: {self.requests} requests, {self.reads} readings,",
            f"{self.writes} writes and {self.counts} counts (bench.question_reads). Costs are those of the first row,",
            "so its rate tells how well waiting is simulated; the second row takes nothing from its measuring.",
        ]


STEPS: Final = Counted()


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds. Of processor time: a request without its statements, one statement at both ends, a verb's part of them.

    `commit`: the database's disk until a flush is done. `client`: what the clients of one question take, where they are
    on the same machine. `row`: a row of news. `beat`: the comment on an idle stream.
    """

    request: float = 0.0004
    statement: float = 0.00004
    statement_database: float = 0.00004
    verb: float = 0.00003
    verb_database: float = 0.00005
    read: float = 0.000004
    read_database: float = 0.00001
    row: float = 0.00001
    beat: float = 0.00002
    commit: float = 0.002
    round_trip: float = 0.00005
    client: float = 0.001

    @classmethod
    def of(cls, statement: dict[str, float], measured: dict[str, Any]) -> "Costs":
        """Return what was measured, and for the rest what it is here."""
        return cls(
            statement=statement["server_seconds"],
            statement_database=statement["database_seconds"],
            round_trip=max(0.0, statement["seconds"] - statement["server_seconds"] - statement["database_seconds"]),
            commit=statement["commit_seconds"],
            client=measured["client_seconds"],
        )


@dataclass(frozen=True, slots=True)
class Shape:
    """One database with its servers, which is what is simulated.

    With a `rate`: questions a second that come by chance. Else: `owners`, each of which asks one after another.

    With `machine_cores` everything shares the cores of one machine; else each server has a core and the database its
    own. `standby`: seconds until a synchronous one has a commit. `idle_busy`: of each server, for streams.
    """

    servers: int = 1
    database_cores: int = 1
    machine_cores: int = 0
    owners: int = 32
    rate: float = 0.0
    standby: float = 0.0
    idle_busy: float = 0.0
    seconds: float = 1.0


@dataclass
class Outcome:
    """What came of it. Seconds of processor time are a question's. `left`: questions a second that were not done."""

    rate: float = 0.0
    left: float = 0.0
    server_seconds: float = 0.0
    database_seconds: float = 0.0
    server_busy: float = 0.0
    database_busy: float = 0.0
    verbs_per_batch: float = 0.0
    accepted: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)


class Time:
    """The clock, and what is to happen when."""

    def __init__(self) -> None:
        self.now = 0.0
        self._coming: list[tuple[float, int, Then]] = []
        self._number = count()

    def after(self, seconds: float, then: Then) -> None:
        """Call `then` so much later."""
        heappush(self._coming, (self.now + seconds, next(self._number), then))

    def run(self, until: float) -> None:
        """Let time pass."""
        while self._coming and self._coming[0][0] <= until:
            self.now, _, then = heappop(self._coming)
            then()
        self.now = until

    def start(self, steps: Steps) -> None:
        """Carry out steps, one after the other."""
        step = next(steps, None)
        if step is not None:
            step(partial(self.start, steps))


class Cores:
    """So many cores, whose work waits in order."""

    def __init__(self, time: Time, cores: int) -> None:
        self._time = time
        self._free = cores
        self._waiting: deque[tuple[float, Then]] = deque()

    def work(self, seconds: float, then: Then) -> None:
        """Work for so long, as soon as a core is free."""
        if not self._free:
            self._waiting.append((seconds, then))
            return
        self._free -= 1
        self._time.after(seconds, partial(self._done, then))

    def _done(self, then: Then) -> None:
        self._free += 1
        if self._waiting:
            self.work(*self._waiting.popleft())
        then()


class Share:
    """What uses cores that others use as well. `used`: seconds of its work."""

    def __init__(self, cores: Cores) -> None:
        self._cores = cores
        self.used = 0.0

    def work(self, seconds: float, then: Then) -> None:
        """Work for so long, as soon as a core is free."""
        self.used += seconds
        self._cores.work(seconds, then)


class Process:
    """A process with one thread: work waits for that, then for a core. `pace`: what idle streams leave."""

    def __init__(self, cores: Cores, pace: float = 1.0) -> None:
        self._cores = cores
        self._pace = pace
        self._waiting: deque[tuple[float, Then]] = deque()
        self._is_busy = False
        self.used = 0.0

    def work(self, seconds: float, then: Then) -> None:
        """Work for so long, after all that came before."""
        self._waiting.append((seconds / self._pace, then))
        if not self._is_busy:
            self._next()

    def _next(self) -> None:
        self._is_busy = bool(self._waiting)
        if self._is_busy:
            seconds, then = self._waiting.popleft()
            self.used += seconds
            self._cores.work(seconds, partial(self._done, then))

    def _done(self, then: Then) -> None:
        then()
        self._next()


class Disk:
    """Flushes: what comes while one is under way is in the next one."""

    def __init__(self, time: Time, seconds: float, standby: float) -> None:
        self._time = time
        self._seconds = seconds
        self._standby = standby
        self._waiting: list[Then] = []
        self._is_busy = False

    def flush(self, then: Then) -> None:
        """Call `then` once all that came before is on the disk, and at the standby."""
        self._waiting.append(then)
        if not self._is_busy:
            self._next()

    def _next(self) -> None:
        self._is_busy = bool(self._waiting)
        if self._is_busy:
            flushed, self._waiting = self._waiting, []
            self._time.after(self._seconds, partial(self._done, flushed))

    def _done(self, flushed: list[Then]) -> None:
        for then in flushed:
            self._time.after(self._standby, then)
        self._next()


class Server:
    """A server process, with its connections for batches, for readings, and for news."""

    def __init__(self, cell: "Cell", process: Process) -> None:
        self.cell = cell
        self.process = process
        self._verbs: list[tuple[Then, list[tuple[Server, Then]]]] = []
        self._readings: list[Then] = []
        self._is_writing = self._is_reading = self._is_looking = False
        self._is_hinted = False
        self._hint_at = 0.0
        self.heard: list[Then] = []  # what news is to wake here
        self._rows_seen = 0

    def compute(self, seconds: float) -> Step:
        """Work in this process."""
        return partial(self.process.work, seconds)

    def read(self) -> Step:
        """Read something, with whatever else is to be read."""

        def begin(then: Then) -> None:
            self._readings.append(then)
            if not self._is_reading:
                self._is_reading = True
                self.cell.time.start(self._read_all())

        return begin

    def write(self, *wakes: "tuple[Server, Then]") -> Step:
        """Commit a verb in a batch; then wake who waits for it, wherever."""

        def begin(then: Then) -> None:
            self._verbs.append((then, list(wakes)))
            if not self._is_writing:
                self._is_writing = True
                self.cell.time.start(self._write_all())

        return begin

    def _statement(self, costs: Costs, server: float, database: float) -> Steps:
        yield self.compute(costs.statement + server)
        yield self.cell.pause(costs.round_trip)
        yield partial(self.cell.database.work, costs.statement_database + database)

    def _read_all(self) -> Steps:
        costs = self.cell.costs
        while self._readings:
            group, self._readings = self._readings, []
            yield from self._statement(costs, len(group) * costs.read, len(group) * costs.read_database)
            for then in group:
                then()
        self._is_reading = False

    def _write_all(self) -> Steps:
        costs, cell = self.cell.costs, self.cell
        while self._verbs:
            batch, self._verbs = self._verbs[:BATCH_MOST], self._verbs[BATCH_MOST:]
            parts = STEPS.batch_statements
            for _ in range(parts):
                yield from self._statement(
                    costs, len(batch) * costs.verb / parts, len(batch) * costs.verb_database / parts
                )
            yield cell.disk.flush
            cell.batches += 1
            cell.verbs += len(batch)
            self._tell([wake for _, wakes in batch for wake in wakes])
            for then, _ in batch:
                then()
        self._is_writing = False

    def _tell(self, wakes: "list[tuple[Server, Then]]") -> None:
        """Wake who is here, and put the rest into the news."""
        for server, then in wakes:
            if server is self:
                then()
            else:
                server.heard.append(then)
        self.cell.rows += bool(wakes)
        if len(self.cell.servers) > 1 and self._hint_at <= self.cell.time.now:
            self._hint_at = self.cell.time.now + HINT_SECONDS
            self.cell.time.after(HINT_SECONDS, self._hint)

    def _hint(self) -> None:
        self.process.work(self.cell.costs.statement, lambda: None)
        self.cell.database.work(self.cell.costs.statement_database, lambda: None)
        for each in self.cell.servers:
            if each is not self:
                each.look()

    def look(self) -> None:
        """Read the news, once more if it is being read already."""
        self._is_hinted = True
        if not self._is_looking:
            self._is_looking = True
            self.cell.time.start(self._look())

    def _look(self) -> Steps:
        costs = self.cell.costs
        while self._is_hinted:
            self._is_hinted = False
            rows, self._rows_seen = self.cell.rows - self._rows_seen, self.cell.rows
            heard, self.heard = self.heard, []
            yield from self._statement(costs, rows * costs.row, rows * costs.row)
            for then in heard:
                then()
        self._is_looking = False


class Gate:
    """Something that happens once, for one who waits for it."""

    def __init__(self) -> None:
        self._happened = False
        self._then: Then | None = None

    def open(self) -> None:
        """Let it happen."""
        self._happened = True
        if self._then is not None:
            self._then()

    def wait(self, then: Then) -> None:
        """Go on when it has happened."""
        if self._happened:
            then()
        else:
            self._then = then


class Cell:
    """One database with its servers."""

    def __init__(self, time: Time, shape: Shape, costs: Costs, outcome: Outcome) -> None:
        self.time = time
        self.costs = costs
        self._outcome = outcome
        shared = Cores(time, shape.machine_cores) if shape.machine_cores else None
        self.database = Share(shared or Cores(time, shape.database_cores))
        self.disk = Disk(time, costs.commit, shape.standby)
        self.clients = Process(shared) if shared else None
        pace = 1.0 - shape.idle_busy
        self.servers = [Server(self, Process(shared or Cores(time, 1), pace)) for _ in range(shape.servers)]
        self.batches = self.verbs = self.rows = 0
        self.asked = 0

    def pause(self, seconds: float) -> Step:
        """Wait."""
        return partial(self.time.after, seconds)

    def standing(self) -> tuple[float, float, int, int, int]:
        """Return what was done so far: seconds of the servers and of the database, batches, verbs, questions asked."""
        servers = sum(each.process.used for each in self.servers)
        return servers, self.database.used, self.batches, self.verbs, self.asked

    def question(self, chance: random.Random) -> Steps:
        """Ask, wait in a long poll, read the prompt, answer, have the answer; all phones acknowledge."""
        costs, number = self.costs, chance.randrange(len(self.servers))
        asks, taps = self.servers[number], self.servers[(number + 1) % len(self.servers)]
        began = self.time.now
        self.asked += 1
        prompted, closed, answered, polled, told = Gate(), Gate(), Gate(), Gate(), Gate()
        if self.clients is not None:
            yield partial(self.clients.work, costs.client)
        yield asks.compute(costs.request)
        for _ in range(STEPS.ask_reads + STEPS.counts):  # one statement for all of a turn, both of them
            yield asks.read()
        yield asks.write((taps, prompted.open), *((taps, _nothing) for _ in range(PHONES_PER_OWNER - 1)))
        self._outcome.accepted.append(self.time.now - began)
        self.time.start(self._poll(asks, answered, polled))
        self.time.start(self._push(asks, PHONES_PER_OWNER))
        yield prompted.wait
        yield from self._stream(taps)
        self.time.start(self._other_phones(taps, closed, told))
        yield taps.compute(costs.request)
        for _ in range(STEPS.answer_reads):
            yield taps.read()
        yield taps.write((asks, answered.open), (taps, closed.open))
        self.time.start(self._push(taps, PHONES_PER_OWNER - 1))
        yield polled.wait
        self._outcome.whole.append(self.time.now - began)
        yield from self._ack(taps)
        yield told.wait

    def _poll(self, asks: Server, answered: Gate, polled: Gate) -> Steps:
        yield asks.compute(self.costs.request)
        for _ in range(STEPS.poll_reads):
            yield asks.read()
        yield answered.wait
        for _ in range(STEPS.polled_reads):
            yield asks.read()
        polled.open()

    def _other_phones(self, taps: Server, closed: Gate, told: Gate) -> Steps:
        """Read prompt and closing, and acknowledge: the phones that did not answer."""
        for _ in range(PHONES_PER_OWNER - 1):
            yield from self._stream(taps)
        yield closed.wait
        for _ in range(PHONES_PER_OWNER - 1):
            yield from self._stream(taps)
            yield from self._ack(taps)
        told.open()

    def _push(self, server: Server, phones: int) -> Steps:
        """Look where each phone's push is to go, which waits because it has a stream."""
        for _ in range(phones * STEPS.push_reads):
            yield server.read()

    def _stream(self, taps: Server) -> Steps:
        for _ in range(STEPS.stream_reads):
            yield taps.read()

    def _ack(self, taps: Server) -> Steps:
        yield taps.compute(self.costs.request)
        for _ in range(STEPS.ack_reads):
            yield taps.read()
        yield taps.write()


def _nothing() -> None:
    """A phone reads as soon as the first one does."""


def _repeated(cell: Cell, chance: random.Random) -> Steps:
    while True:
        yield from cell.question(chance)


def _arriving(time: Time, cell: Cell, rate: float, chance: random.Random) -> Steps:
    while True:
        yield partial(time.after, chance.expovariate(rate))
        time.start(cell.question(chance))


def simulate(shape: Shape, costs: Costs) -> Outcome:
    """Return what comes of `shape.seconds`, after as long to warm up. The same each time."""
    chance, time, outcome = random.Random(1), Time(), Outcome()  # noqa: S311  no secret
    cell = Cell(time, shape, costs, outcome)
    if shape.rate:
        time.start(_arriving(time, cell, shape.rate, chance))
    else:
        for _ in range(shape.owners):
            time.start(_repeated(cell, chance))
    time.run(shape.seconds)
    before = cell.standing()
    outcome.accepted.clear()
    outcome.whole.clear()
    time.run(2 * shape.seconds)
    servers, database, batches, verbs, asked = (now - then for now, then in zip(cell.standing(), before, strict=True))
    done = max(1, len(outcome.whole))
    outcome.rate = done / shape.seconds
    outcome.left = (asked - done) / shape.seconds
    outcome.server_seconds, outcome.database_seconds = servers / done, database / done
    outcome.server_busy = servers / shape.seconds / shape.servers + shape.idle_busy
    outcome.database_busy = database / shape.seconds / shape.database_cores
    outcome.verbs_per_batch = verbs / max(1, batches)
    return outcome
