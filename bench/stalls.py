"""How long one request holds up everybody else: the longest the server's event loop stands still over it.

Each row is the largest and ugliest body of its kind that an endpoint takes, or reads before it refuses it. What else
runs on the machine makes a stall look longer, so what counts is the processor time that the server used while its loop
stood still, in all its threads: on an idle machine that is the stall. (The time of the loop's own thread would be too
little: a thread beside it that is inside one long call in C keeps Python's lock, and the loop waits.) Of some rounds
the shortest is told. What is made once, when it is first asked for, is asked of a new server each round.
`--over 20` prints only the rows above 20 ms; `--only hooks` only those of endpoints with that in their name.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from bench._bodies import Caller, Ugly, first_times, ugly_requests
from bench._report import print_table
from bench._wire import LIMITS_OFF, Wire, found_owner, request_bytes
from tests.e2e.phones import Phone, make_codes
from tests.e2e.server_process import ServerProcess

BOUND_MS: Final = 20
DEVICES: Final = 32
REMINDERS: Final = 1_000
EMERGENCIES: Final = 30  # of the 50 that there may be
TICKING: Final = (sys.executable, "-m", "bench._ticking_server")


class Watched:
    """A new server whose loop notes when it was held up."""

    def __init__(self, folder: Path) -> None:
        config = folder / "reflecto.toml"
        config.write_text(LIMITS_OFF, "utf-8")
        self._ticks = folder / "ticks"
        self.tokens: dict[Caller, str] = {"nobody": ""}
        env = {"TICKS": str(self._ticks)}
        self.server = ServerProcess(folder / "data", "--config", str(config), env=env, program=TICKING)

    def stall_ms(self, ugly: Ugly) -> tuple[int, float, float]:
        """Make the request and return the reply's status and the longest stall of the loop meanwhile.

        First as a clock sees it, then the processor time of it.
        """
        request = self._request(ugly)
        wire = Wire(self.server.port)
        started = time.monotonic()
        try:
            status = wire.status_of(request)
        finally:
            wire.close()
        time.sleep(0.02)  # the loop comes round once more
        ended = time.monotonic()
        stalls, used = [0.0], [0.0]
        for line in self._ticks.read_text("ascii").splitlines():
            due, came, busy = map(float, line.split())
            if came >= started and due <= ended:
                stalls.append(came - max(due, started))
                used.append(busy)
        return status, max(stalls) * 1_000, max(used) * 1_000

    def _request(self, ugly: Ugly) -> bytes:
        token = self.tokens[ugly.caller]
        headers = {"Host": "x", "Content-Type": ugly.content_type, "Content-Length": str(len(ugly.body))}
        target = ugly.target
        if ugly.endpoint.partition(" ")[2].startswith("/1/") and token:
            target += f"{'&' if '?' in target else '?'}token={token}"
        elif token:
            headers["Authorization"] = f"Bearer {token}"
        lines = [f"{ugly.method} {target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in (headers | ugly.headers).items()]
        return "\r\n".join([*lines, "", ""]).encode() + ugly.body


class World(Watched):
    """One with an owner who has as much as an owner may have."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        phone = found_owner(self.server)
        codes = make_codes(self.server.data, DEVICES - 1, owner_id=phone.owner_id)
        others = [Phone.enrol(self.server.url, code, f"Phone {n}") for n, code in enumerate(codes)]
        self.devices = [phone.device_id, *(other.device_id for other in others)]
        made = phone.create_token("Test", test=True)
        self.tokens |= {
            "sender": phone.token,
            "test": made["token"],
            "device": phone.device_token,
            "nobody": "",
        }
        for number in range(199 - 2):
            phone.create_token(f"Token {number}")
        wire = Wire(self.server.port)
        reminder = {"message": "m" * 500, "title": "t", "at": int(time.time()) + 80_000}
        for _ in range(REMINDERS):
            wire.call(request_bytes("POST", "/v1/reminders", phone.token, reminder), 201)
        document = {"filename": "a.txt", "content": "x" * 131_072}
        for _ in range(16):
            wire.call(request_bytes("POST", "/v1/documents", phone.token, document), 201)
        emergency = {"token": phone.token, "message": "m" * 1_024, "priority": 2, "tags": "a,b", "expire": 10_800}
        for _ in range(EMERGENCIES):
            wire.call(request_bytes("POST", "/1/messages.json", "", emergency), 200)
        wire.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--over", type=float, default=0, metavar="MS")
    parser.add_argument("--only", default="", metavar="TEXT")
    options = parser.parse_args()
    rows: list[list[str]] = []
    over = 0

    def add(ugly: Ugly, measured: list[tuple[int, float, float]]) -> None:
        nonlocal over
        least, busy = (min(each[i] for each in measured) for i in (1, 2))
        over += busy > BOUND_MS
        if busy >= options.over:
            cells = [ugly.name, f"{len(ugly.body):,}", str(measured[0][0]), f"{busy:.1f} ms", f"{least:.1f} ms"]
            rows.append([ugly.endpoint, *cells])
            print(*rows[-1], sep="\t", file=sys.stderr)

    for ugly in first_times():
        if options.only in ugly.endpoint:
            add(ugly, [first_time(ugly) for _ in range(options.rounds)])
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        with world.server:
            for ugly in ugly_requests(world.devices):
                if options.only in ugly.endpoint:
                    add(ugly, [world.stall_ms(ugly) for _ in range(options.rounds)])
    note = f"{over} rows are above {BOUND_MS} ms; load {os.getloadavg()[0]:.1f}"
    columns = ["endpoint", "body", "bytes", "status", "stall", "by the clock"]
    print_table("Longest stall of the event loop", columns, rows, [note])


def first_time(ugly: Ugly) -> tuple[int, float, float]:
    """Measure it on a server that was asked nothing yet."""
    with tempfile.TemporaryDirectory() as folder:
        watched = Watched(Path(folder))
        with watched.server:
            return watched.stall_ms(ugly)


if __name__ == "__main__":
    main()
