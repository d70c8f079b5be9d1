"""How long one owner's push waits while another owner's push services take the request and never answer."""

import argparse
import asyncio
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from bench._report import print_table
from bench._wire import LIMITS_OFF, found_owner
from tests.e2e.phones import HTTP, Phone, bearer, make_codes
from tests.e2e.server_process import ServerProcess
from tests.push.push_service import PushServiceOnLoopback
from tests.push.subscriber import Subscriber

HANGING_AT_LEAST = 16  # under way when the other owner's message is sent


def start_server(folder: Path) -> ServerProcess:
    """Start a server that pushes to this machine."""
    config = folder / "reflecto.toml"
    config.write_text(f"push_allow_private = true\n{LIMITS_OFF}", "utf-8")
    return ServerProcess(folder / "data", "--config", str(config))


def subscribe(phone: Phone, endpoint: str) -> None:
    """Let what is sent to the phone be pushed there."""
    reply = phone.call("PATCH", "/v1/devices/self", {"push": Subscriber(endpoint).state()})
    assert reply.status_code == 200, reply.text


def send(phone: Phone) -> None:
    """Send a message to all of the owner's phones."""
    reply = HTTP.post(f"{phone.url}/v1/send", headers=bearer(phone.token), content=b'{"message": "Hi"}')
    assert reply.status_code == 200, reply.text


async def first_of(service: PushServiceOnLoopback) -> None:
    """Take the next push, however late it comes."""
    while True:
        with suppress(TimeoutError):  # after a third of a minute
            await service.next()
            return


async def measure(server: ServerProcess, hanging_count: int) -> tuple[float, float]:
    """Return how many seconds the push took on an idle server, and while the others hang."""
    async with PushServiceOnLoopback.run() as dead, PushServiceOnLoopback.run() as alive:
        dead.answer_next(*[None] * 1_000)
        hog, other = await asyncio.to_thread(found_owner, server), await asyncio.to_thread(found_owner, server)
        codes = await asyncio.to_thread(make_codes, server.data, hanging_count - 1, owner_id=hog.owner_id)
        phones = [hog, *[await asyncio.to_thread(Phone.enrol, server.url, code) for code in codes]]
        for number, phone in enumerate(phones):
            await asyncio.to_thread(subscribe, phone, f"{dead.url}/{number}")
        await asyncio.to_thread(subscribe, other, alive.url)

        async def delay() -> float:
            started = time.perf_counter()
            await asyncio.to_thread(send, other)
            await first_of(alive)
            return time.perf_counter() - started

        await delay()  # loads what the first push needs
        idle = await delay()
        await asyncio.to_thread(send, hog)
        for _ in range(min(HANGING_AT_LEAST, hanging_count)):
            await dead.next()
        return idle, await delay()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hanging", type=int, default=32, help="push endpoints of the other owner, at most 32")
    hanging: int = parser.parse_args().hanging
    with tempfile.TemporaryDirectory() as folder, start_server(Path(folder)) as server:
        idle, crowded = asyncio.run(measure(server, hanging))
    rows = [["nobody else pushes", f"{idle * 1_000:.0f} ms"], [f"{hanging} hang", f"{crowded * 1_000:.0f} ms"]]
    print_table(
        "From sending to the push, of an owner whose push service works", ["another owner's pushes", "delay"], rows
    )


if __name__ == "__main__":
    main()
