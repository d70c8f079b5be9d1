"""What the system says of this process, under the names that Prometheus clients give them. Only Linux tells it."""

import resource
import time
from pathlib import Path
from typing import Final

from reflecto.api.metrics import Metric, gauge

_FILES: Final = Path("/proc/self/fd")
_MEMORY: Final = Path("/proc/self/statm")


def process_metrics(started_at: float) -> list[Metric]:
    """Return them; `started_at` is when it began, in Unix seconds."""
    return [
        gauge("process_start_time_seconds", "When the process began, in Unix seconds.", lambda: started_at),
        gauge("process_open_fds", "Open files and connections.", _open_files),
        gauge("process_max_fds", "How many there may be.", lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0]),
        gauge("process_resident_memory_bytes", "Memory in use.", _memory_bytes),
        Metric("process_cpu_seconds_total", "counter", "Time on processors.", (), lambda: {(): time.process_time()}),
    ]


def _open_files() -> int:
    # To list many takes long; Linux before 6.2 has no size to say.
    return _FILES.stat().st_size or sum(1 for _ in _FILES.iterdir())


def _memory_bytes() -> int:
    return int(_MEMORY.read_text("ascii").split()[1]) * resource.getpagesize()
