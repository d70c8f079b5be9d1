"""From starting the process to the first 200 of /healthz, polled without a pause on a port known beforehand."""

import argparse
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from bench._report import milliseconds, print_table
from tests.e2e.server_process import REFLECTO, environment

GIVE_UP_SECONDS = 30
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def is_healthy(port: int) -> bool:
    """Tell whether the server answers 200."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as client:
            client.sendall(REQUEST)
            return client.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def seconds_to_healthy(data: Path) -> float:
    """Start a server, wait until it is healthy, stop it, and return how long the first part took."""
    port = free_port()
    started = time.perf_counter()
    process = subprocess.Popen(
        [*REFLECTO, "serve", "--data", str(data), "--port", str(port), "--json"],
        env=environment(),
        stdout=subprocess.DEVNULL,
    )
    try:
        while not is_healthy(port):
            assert process.poll() is None, "the server ended"
            assert time.perf_counter() - started < GIVE_UP_SECONDS
            time.sleep(0.002)
        return time.perf_counter() - started
    finally:
        process.terminate()
        process.wait(GIVE_UP_SECONDS)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds: int = parser.parse_args().rounds
    fresh, existing = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            fresh.append(seconds_to_healthy(Path(folder) / f"data{number}"))
            existing.append(seconds_to_healthy(Path(folder) / f"data{number}"))
    rows = [
        ["with a new data folder", *milliseconds(fresh)],
        ["with an existing one", *milliseconds(existing)],
    ]
    print_table(f"Start-up until healthy, {rounds} starts each", ["start", "p50", "p99", "max"], rows)


if __name__ == "__main__":
    main()
