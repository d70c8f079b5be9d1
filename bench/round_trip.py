"""From asking to having the answer: POST, the prompt on the phone's stream, its tap, the long poll's return.

One question at a time, over loopback, with the phone's decryption and without a person. Each step waits for the one
before, so this is the longest way round: a real phone has the prompt while the asker still reads its 201.
"""

import argparse
import json
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from bench._report import milliseconds, print_table
from bench._wire import Wire, found_owner, request_bytes, start_server

STEPS = (
    "POST until 201",
    "until the prompt is read",
    "tap until 200",
    "until the long poll has it",
    "whole round trip",
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_000)
    rounds: int = parser.parse_args().rounds
    steps: list[list[float]] = [[] for _ in STEPS]
    with tempfile.TemporaryDirectory() as folder, start_server(Path(folder)) as server:
        phone = found_owner(server)
        asker, poller, tapper, stream = (Wire(server.port) for _ in range(4))
        stream.send(request_bytes("GET", "/v1/sync", phone.device_token))
        events = stream.events()
        next(events)  # the Default token
        for number in range(-20, rounds):
            create = request_bytes("POST", "/v1/interactions", phone.token, {"question": f"Deploy number {number}?"})
            times = [time.perf_counter()]
            asked = json.loads(asker.call(create, 201))["id"]
            times.append(time.perf_counter())
            poller.send(request_bytes("GET", f"/v1/interactions/{asked}?wait=60", phone.token))
            prompt = phone.keys.open(phone.server_key, next(events)["blob"])
            times.append(time.perf_counter())
            assert prompt["id"] == asked
            answer = {"choice_index": 1, "answered_at": 1_754_800_000}
            tapper.call(request_bytes("POST", f"/v1/interactions/{asked}/answer", phone.device_token, answer), 200)
            times.append(time.perf_counter())
            _, state = poller.reply()
            times.append(time.perf_counter())
            assert json.loads(state)["choice"] == "Deny"
            if number >= 0:  # the first ones warm up
                for step, (start, end) in enumerate(pairwise(times)):
                    steps[step].append(end - start)
                steps[-1].append(times[-1] - times[0])
        for wire in (asker, poller, tapper, stream):
            wire.close()
    rows = [[name, *milliseconds(seconds)] for name, seconds in zip(STEPS, steps, strict=True)]
    print_table(f"Round trip, {rounds} questions", ["step", "p50", "p99", "max"], rows)


if __name__ == "__main__":
    main()
