"""Starting a command from nothing, paired: each round runs every program once, in turn, against the same server.

The floor is `python -c pass`, which no Python program can go below; curl is what a script would use instead.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench._report import percentile, print_table
from tests.agents.events import DATA
from tests.e2e.phones import Phone
from tests.e2e.server_process import ServerProcess, environment

REFLECTO = str(Path(sys.executable).with_name("reflecto"))
NOT_OURS = (DATA / "claude_code" / "session_start.json").read_text("utf-8")  # an event that needs no phone


def programs(url: str, token: str) -> dict[str, tuple[list[str], str]]:
    """Return command and standard input of each program by its name."""
    send = ["curl", "-sS", "-o", "/dev/null", "--fail", f"{url}/v1/send", "-H", f"Authorization: Bearer {token}"]
    return {
        "python -c pass": ([sys.executable, "-c", "pass"], ""),
        "curl, one message": ([*send, "-d", "Backup done"], ""),
        "reflecto --help": ([REFLECTO, "--help"], ""),
        "reflecto send": ([REFLECTO, "send", "Backup done"], ""),
        "reflecto devices": ([REFLECTO, "devices"], ""),
        "reflecto hook, nothing to ask": ([REFLECTO, "hook", "claude-code"], NOT_OURS),
    }


def seconds_to_run(command: Sequence[str], text: str, env: dict[str, str]) -> tuple[float, float]:
    """Run it and return how long it took, and how much of a CPU's time."""
    started = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stdin is not None
    with process.stdin as stdin:
        stdin.write(text)
    # subprocess's own wait, where it is bounded, looks only every 50 ms.
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return wall, used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder) / "data") as server:
        token = Phone.enrol(server.url, server.ready["code"]).token
        env = environment({"REFLECTO_URL": server.url, "REFLECTO_TOKEN": token})
        measured = programs(server.url, token)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in measured}
        for _ in range(rounds + 1):
            for name, (command, text) in measured.items():
                taken[name].append(seconds_to_run(command, text, env))
    floor = taken["python -c pass"][1:]
    rows = []
    for name, runs in taken.items():
        warm = runs[1:]  # the first round fills the disk cache
        walls, cpus = [wall for wall, _ in warm], [cpu for _, cpu in warm]
        over = [wall - base for (wall, _), (base, _) in zip(warm, floor, strict=True)]
        cells = [min(walls), percentile(walls, 50), percentile(over, 50), percentile(cpus, 50)]
        rows.append([name, *(f"{cell * 1_000:.0f} ms" for cell in cells)])
    columns = ["program", "least", "p50", "p50 above pass", "CPU p50"]
    print_table(f"Cold start, {rounds} paired runs", columns, rows, ["CPU counts less than wall where others compete."])


if __name__ == "__main__":
    main()
