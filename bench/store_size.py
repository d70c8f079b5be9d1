"""What ten thousand questions leave on the disk: asked, delivered, answered, acknowledged; and after their retention.

The sweep a day later is run on the stopped server's store with a later `now`.
"""

import argparse
import asyncio
import json
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Thread

from bench._report import print_table
from bench._wire import Wire, found_owner, request_bytes, start_server
from reflecto.contract.limits import RETENTION_SECONDS
from reflecto.store.sqlite.database import DATABASE_NAME
from reflecto.store.sqlite.store import SqliteStore
from tests.e2e.phones import Phone
from tests.e2e.server_process import ServerProcess

PHONES = 4  # each of an owner of its own, side by side
ACK_EVERY = 20


def ask_and_answer(server: ServerProcess, phone: Phone, count: int) -> None:
    """Ask `count` questions of one owner, one after the other, each answered by the phone that got it."""
    with ExitStack() as stack:
        wire, stream = Wire(server.port), Wire(server.port)
        stack.callback(wire.close)
        stack.callback(stream.close)
        stream.send(request_bytes("GET", "/v1/sync", phone.device_token))
        events: Iterator[dict[str, int]] = stream.events()
        next(events)  # the Default token
        for number in range(count):
            create = {"question": f"Deploy build number {number} to production?"}
            asked = json.loads(wire.call(request_bytes("POST", "/v1/interactions", phone.token, create), 201))["id"]
            seq = next(events)["seq"]
            answer = {"choice_index": 0, "answered_at": 1_754_800_000}
            path = f"/v1/interactions/{asked}/answer"
            wire.call(request_bytes("POST", path, phone.device_token, answer), 200)
            if number % ACK_EVERY == 0 or number == count - 1:
                wire.call(request_bytes("POST", "/v1/sync/ack", phone.device_token, {"seq": seq}), 204)


async def sweep_later(data: Path) -> int:
    """Delete what has ended a day from now; return how many rows."""
    store = SqliteStore.open(data)
    try:
        later, rows = time.time() + RETENTION_SECONDS + 60, 0
        while swept := await store.sweep(later):
            rows += swept
        return rows
    finally:
        await store.close()


def sizes(data: Path) -> list[str]:
    """Return the size of the folder, and how much of the database file is in use."""
    folder = sum(path.stat().st_size for path in data.iterdir())
    with closing(sqlite3.connect(data / DATABASE_NAME)) as store:
        (pages,), (free,), (page_bytes,) = (
            store.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
        )
    return [f"{folder / 1e6:.1f} MB", f"{(pages - free) * page_bytes / 1e6:.1f} MB"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=10_000)
    count: int = parser.parse_args().questions
    with tempfile.TemporaryDirectory() as folder, start_server(Path(folder)) as server:
        phones = [found_owner(server) for _ in range(PHONES)]
        rows = [["before the first question", *sizes(server.data)]]
        work = [Thread(target=ask_and_answer, args=(server, phone, count // PHONES)) for phone in phones]
        for each in work:
            each.start()
        for each in work:
            each.join()
        rows.append([f"after {count} questions", *sizes(server.data)])
        assert server.stop() == 0
        rows.append(["the same, server stopped", *sizes(server.data)])
        swept = asyncio.run(sweep_later(server.data))
        rows.append([f"a day later, {swept} rows swept", *sizes(server.data)])
    print_table(f"Data folder, {count} questions", ["when", "folder", "database in use"], rows)


if __name__ == "__main__":
    main()
