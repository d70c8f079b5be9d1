"""How the server is doing, for Prometheus: counts only, no content, no names, no ids."""

from collections.abc import Callable, Mapping
from typing import Final

from reflecto.version import version

CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"  # Prometheus' text format

# Name to (what it tells, how to read it).
Gauges = Mapping[str, tuple[str, Callable[[], float]]]


def exposition(gauges: Gauges) -> str:
    """Return the gauges, and the version, in Prometheus' text format."""
    lines = [
        "# HELP reflecto_build_info The version that runs.",
        "# TYPE reflecto_build_info gauge",
        f'reflecto_build_info{{version="{version()}"}} 1',
    ]
    for name, (meaning, read) in gauges.items():
        lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge", f"{name} {read():g}"]
    return "\n".join(lines) + "\n"
