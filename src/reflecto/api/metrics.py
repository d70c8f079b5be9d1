"""How this process and its store are doing, in Prometheus' text format: no content, no names, no ids.

Written here rather than by Prometheus' own client, whose import takes 75 ms of a start, and whose counters take six
times as long as ours; a test reads the text with its parser.
Source: prometheus.io "Exposition formats".
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final, Literal

import msgspec

from reflecto.core.ports.metrics import Histogram, Labels
from reflecto.version import version

CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"  # Prometheus' text format

Value = float | Histogram


class Metric(msgspec.Struct, frozen=True):
    """One family of numbers. `labels` are the names of what `read` gives values by; without any, it is one by ()."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...]
    read: Callable[[], Mapping[Labels, Value]]


def gauge(name: str, meaning: str, read: Callable[[], float]) -> Metric:
    """Return a metric that is one number, which may go up and down."""
    return Metric(name, "gauge", meaning, (), lambda: {(): read()})


def build_info() -> Metric:
    """Return the version as a label of the number 1, as is usual."""
    meaning = "The version that runs."
    return Metric("reflecto_build_info", "gauge", meaning, ("version",), lambda: {(version(),): 1})


def exposition(metrics: Iterable[Metric]) -> str:
    """Return the metrics as text. Labels' values are ours and need no escapes."""
    lines: list[str] = []
    for metric in metrics:
        lines += (f"# HELP {metric.name} {metric.meaning}", f"# TYPE {metric.name} {metric.kind}")
        for values, value in metric.read().items():
            labels = ",".join(f'{name}="{word}"' for name, word in zip(metric.labels, values, strict=True))
            if isinstance(value, Histogram):
                lines += _histogram(metric.name, labels, value)
            else:
                lines.append(f"{metric.name}{{{labels}}} {value}" if labels else f"{metric.name} {value}")
    return "\n".join(lines) + "\n"


def _histogram(name: str, labels: str, histogram: Histogram) -> Iterator[str]:
    """Yield a line for each bound, with how many values are at most that, and one each for their sum and number."""
    before = f"{labels}," if labels else ""
    behind = f"{{{labels}}}" if labels else ""
    so_far = list(accumulate(histogram.counts))
    for bound, count in zip([*histogram.bounds, "+Inf"], so_far, strict=True):
        yield f'{name}_bucket{{{before}le="{bound}"}} {count}'
    yield f"{name}_sum{behind} {histogram.total}"
    yield f"{name}_count{behind} {so_far[-1]}"
