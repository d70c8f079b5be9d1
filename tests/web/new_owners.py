"""Prints setup codes that each found an owner of its own: new_owners.py DATA_FOLDER COUNT.

What `reflecto invite --new-owner` does, many times for the price of one start.
"""

import asyncio
import json
import sys
from pathlib import Path

from reflecto.bootstrap import open_services
from reflecto.config import load_settings


async def make_codes(folder: Path, count: int) -> list[str]:
    """Return codes that are good for ten minutes."""
    services = await open_services(load_settings({"data": folder}))
    try:
        return [(await services.enrolment.invite(new_owner=True)).code for _ in range(count)]
    finally:
        await services.store.close()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(make_codes(Path(sys.argv[1]), int(sys.argv[2])))))
