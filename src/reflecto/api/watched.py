"""Everything that /metrics serves, as one table (docs/self-host.md "Watching it" is held to it)."""

import sys
from collections.abc import Callable

import msgspec

from reflecto.api.metrics import Metric, build_info, exposition, gauge
from reflecto.api.store_load import StoreLoadWatch
from reflecto.api.traffic import Traffic
from reflecto.core.ports.metrics import Counter, StoreWork


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """What is read for it. `started_at` is when the process began, in Unix seconds."""

    started_at: float
    traffic: Traffic
    count_streams: Callable[[], int]
    count_waits: Callable[[], int]
    pushes: Counter
    work: StoreWork
    load: StoreLoadWatch

    async def exposition(self) -> str:
        """Return all of it as text."""
        return exposition(await self.metrics())

    async def metrics(self) -> list[Metric]:
        """Return all of it; what the store holds is left out while it cannot be read."""
        return [*self._of_requests(), *self._of_store(), *await self.load.metrics(), *self._of_process()]

    def _of_requests(self) -> list[Metric]:
        return [
            build_info(),
            Metric(
                "reflecto_http_requests_total",
                "counter",
                "Requests whose replies have begun.",
                ("route", "method", "status"),
                self.traffic.count_requests,
            ),
            Metric(
                "reflecto_http_request_duration_seconds",
                "histogram",
                "Until a reply began, of requests that waited for nobody.",
                ("route", "method"),
                lambda: self.traffic.seconds,
            ),
            gauge("reflecto_streams_open", "Open streams of devices.", self.count_streams),
            gauge("reflecto_waits_open", "Long polls that wait.", self.count_waits),
            Metric(
                "reflecto_pushes_total",
                "counter",
                "Attempts to push, by what became of them.",
                ("outcome",),
                lambda: self.pushes.by_labels,
            ),
        ]

    def _of_store(self) -> list[Metric]:
        return [
            Metric(
                "reflecto_store_commit_verbs",
                "histogram",
                "Verbs in one durable transaction.",
                (),
                lambda: {(): self.work.verbs},
            ),
            Metric(
                "reflecto_store_commit_duration_seconds",
                "histogram",
                "Of a transaction, until it was durable.",
                (),
                lambda: {(): self.work.seconds},
            ),
            Metric(
                "reflecto_store_errors_total",
                "counter",
                "Transactions that went wrong, by how.",
                ("kind",),
                lambda: self.work.errors.by_labels,
            ),
        ]

    def _of_process(self) -> list[Metric]:
        if sys.platform != "linux":
            return []
        from reflecto.api.process_metrics import process_metrics  # noqa: PLC0415  only Linux has what it reads

        return process_metrics(self.started_at)
