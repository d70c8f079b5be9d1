"""A process that stops, by a signal to itself, inside a batch whose owner it has locked. Arguments: see `main`.

It prints what its verb said once it goes on.
"""

import asyncio
import os
import signal
import sys

from reflecto.store.postgres.facts import Facts
from reflecto.store.postgres.needs import Needs
from reflecto.store.postgres.store import PostgresStore
from tests.builders import make_delivery, make_device


async def main(address: str, owner_id: str, device_id: str, which: str) -> None:
    """Append to the device's queue, and stop before that is written."""
    store = await PostgresStore.open(address)
    delivery = make_delivery(make_device(owner_id, id=device_id), b"of the process that stopped")

    def judge(facts: Facts) -> list[str]:
        reached = facts.append([delivery])
        print("locked", flush=True)  # noqa: T201  who started it waits for that
        os.kill(os.getpid(), signal.Signals[which])
        return reached

    try:
        print(await store._database.batches.run(Needs(deliveries=[delivery]), judge))  # noqa: SLF001, T201
    except Exception as error:  # noqa: BLE001  its name is the result
        print(type(error).__name__)  # noqa: T201
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
