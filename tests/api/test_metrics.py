"""GET /metrics: what a process counts, in Prometheus' text format, read here with Prometheus' own parser."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from reflecto.api.store_load import MEASURE_SECONDS
from reflecto.version import version
from tests.actors import DeviceActor, Program, enroll
from tests.api.test_long_poll import polling
from tests.builders import NOW
from tests.fakes import FakeClock, FaultyStore
from tests.running import RunningServer, run_server
from tests.sync_reader import open_sync

Labels = dict[str, str]


@dataclass
class Scrape:
    """What Prometheus would read."""

    text: str

    def value(self, name: str, **labels: str) -> float | None:
        """Return the sample's value; None: there is no such."""
        found = [value for each, its_labels, value in self.samples() if (each, its_labels) == (name, labels)]
        assert len(found) < 2, f"{name} is there twice"
        return found[0] if found else None

    def samples(self) -> list[tuple[str, Labels, float]]:
        families = text_string_to_metric_families(self.text)
        return [(each.name, each.labels, each.value) for family in families for each in family.samples]


async def scrape(server: RunningServer) -> Scrape:
    reply = await server.http.get("/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return Scrape(reply.text)


async def test_open_streams_and_long_polls_are_counted_while_they_are_open(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id()
    async with open_sync(phone) as stream, polling(clock, sender, question, 50, NOW + 50, count=2):
        await stream.event()
        counted = await scrape(server)
        await phone.answer(question)
    assert (counted.value("reflecto_streams_open"), counted.value("reflecto_waits_open")) == (1, 2)
    assert (await scrape(server)).value("reflecto_waits_open") == 0


async def test_health_names_the_version_with_its_commit_and_how_the_app_stands(server: RunningServer):
    health = (await server.http.get("/healthz")).json()
    assert health == {"status": "ok", "version": version(), "app": "current", "repeats": "Idempotency-Key"}


async def test_requests_are_counted_by_the_routes_template_the_method_and_the_status(
    server: RunningServer, sender: Program
):
    question = await sender.ask_id()
    for _ in range(2):
        await sender.call("GET", f"/v1/interactions/{question}")
    await sender.call("GET", f"/v1/interactions/int_{'0' * 32}")
    counted = await scrape(server)

    def requests(route: str, method: str, status: str) -> float | None:
        return counted.value("reflecto_http_requests_total", route=route, method=method, status=status)

    assert requests("/v1/interactions", "POST", "201") == 1
    assert requests("/v1/interactions/{id}", "GET", "200") == 2
    assert requests("/v1/interactions/{id}", "GET", "404") == 1
    took = {"route": "/v1/interactions/{id}", "method": "GET"}
    assert counted.value("reflecto_http_request_duration_seconds_count", **took) == 3
    assert counted.value("reflecto_http_request_duration_seconds_bucket", le="+Inf", **took) == 3
    assert (counted.value("reflecto_http_request_duration_seconds_sum", **took) or 0) > 0


async def test_whatever_a_stranger_makes_up_adds_no_series_of_its_own(server: RunningServer):
    for number, method in enumerate(("PROPFIND", "LOCK", "PURGE")):  # that the parser lets through
        await server.http.get(f"/no/such/path-{number}")
        await server.http.request(method, "/v1/interactions")
        await server.http.request(method, f"/no/such/path-{number}")
    counted = await scrape(server)
    assert "path-" not in counted.text
    assert not re.search("PROPFIND|LOCK|PURGE", counted.text)
    name = "reflecto_http_requests_total"
    assert counted.value(name, route="none", method="other", status="404") == 6
    assert counted.value(name, route="/v1/interactions", method="other", status="405") == 3


async def test_a_path_below_the_public_one_counts_as_its_route_and_the_apps_files_as_the_app(
    tmp_path_factory: pytest.TempPathFactory,
):
    async with run_server(tmp_path_factory.mktemp("data"), public_path="/reflecto") as server:
        for path in ("/reflecto/healthz", "/reflecto//healthz", "/", "/reflecto/sw.js"):
            assert (await server.http.get(path)).status_code == 200
        counted = await scrape(server)
    name = "reflecto_http_requests_total"
    assert counted.value(name, route="/healthz", method="GET", status="200") == 2
    assert counted.value(name, route="app", method="GET", status="200") == 2


async def test_a_wait_for_a_person_is_no_latency_of_the_server(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id()
    async with polling(clock, sender, question, 50, NOW + 50) as (poll,):
        await phone.answer(question)
        await poll.reply()
    counted = await scrape(server)
    route = {"route": "/v1/interactions/{id}", "method": "GET"}
    assert counted.value("reflecto_http_requests_total", status="200", **route) == 1
    assert counted.value("reflecto_http_request_duration_seconds_count", **route) is None


async def test_the_queues_and_the_pending_questions_are_added_up(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    await enroll(server, label="Tablet")
    before = await scrape(server)
    question = await sender.ask_id()
    await sender.ask_id("Another one?", expires_in=60)
    await sender.send("Hello")
    clock.advance(MEASURE_SECONDS)
    counted = await scrape(server)

    def grown(name: str) -> float:
        return (counted.value(name) or 0) - (before.value(name) or 0)

    assert grown("reflecto_queue_entries") == 6  # two prompts and the notification, for each of two
    assert grown("reflecto_queue_entries_max") == 3
    assert grown("reflecto_queue_bytes") > grown("reflecto_queue_bytes_max") > 0
    assert counted.value("reflecto_questions_pending") == 2
    await phone.answer(question)
    clock.advance(60)
    assert (await scrape(server)).value("reflecto_questions_pending") == 0


async def test_the_store_is_added_up_no_more_often_than_every_half_a_minute_and_left_out_while_it_is_away(
    tmp_path_factory: pytest.TempPathFactory,
):
    faulty: list[FaultyStore] = []

    def wrap(store: object) -> FaultyStore:
        faulty.append(FaultyStore(store))  # type: ignore[arg-type]
        return faulty[0]

    clock = FakeClock()
    async with run_server(tmp_path_factory.mktemp("data"), clock, wrap_store=wrap) as server:
        for _ in range(3):
            assert (await scrape(server)).value("reflecto_queue_entries") == 0
        assert faulty[0].calls.count("measure_load") == 1
        faulty[0].fail("measure_load")
        clock.advance(MEASURE_SECONDS)
        while_away = await scrape(server)
        assert "reflecto_queue" not in while_away.text
        assert while_away.value("reflecto_streams_open") == 0
        faulty[0].recover()
        clock.advance(MEASURE_SECONDS)
        assert (await scrape(server)).value("reflecto_queue_entries") == 0


async def test_each_transaction_of_the_store_is_counted_with_its_verbs(server: RunningServer, sender: Program):
    before = await scrape(server)
    for number in range(3):
        await sender.ask(f"Deploy number {number}?")
    counted = await scrape(server)

    def grown(name: str) -> float:
        return (counted.value(name) or 0) - (before.value(name) or 0)

    assert grown("reflecto_store_commit_verbs_sum") >= 3
    assert 1 <= grown("reflecto_store_commit_verbs_count") <= grown("reflecto_store_commit_verbs_sum")
    assert grown("reflecto_store_commit_duration_seconds_count") == grown("reflecto_store_commit_verbs_count")
    assert grown("reflecto_store_commit_duration_seconds_sum") > 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it")
async def test_the_process_is_described_under_the_usual_names(server: RunningServer):
    counted = await scrape(server)
    assert 5 < (counted.value("process_open_fds") or 0) < (counted.value("process_max_fds") or 0)
    assert (counted.value("process_resident_memory_bytes") or 0) > 10_000_000
    assert (counted.value("process_cpu_seconds_total") or 0) > 0
    assert counted.value("process_start_time_seconds") == NOW


async def test_nothing_of_anybody_is_in_it(server: RunningServer, phone: DeviceActor, sender: Program):
    question = await sender.ask_id("Deploy the secret project?")
    await phone.answer(question)
    await sender.call("GET", f"/v1/send/{sender.token}")
    text = (await scrape(server)).text
    words = ("secret", question, phone.id, phone.owner_id, sender.token, phone.token, "127.0.0.1", "Default")
    assert [word for word in words if word in text] == []
    assert not re.search(r"(int|dev|own|tok|msg)_[0-9a-f]", text)


async def test_every_family_says_what_it_is(server: RunningServer):
    families = list(text_string_to_metric_families((await scrape(server)).text))
    assert [family.name for family in families if not family.documentation or family.type == "unknown"] == []
    names = [family.name for family in families]
    assert len(names) == len(set(names))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere some are missing")
async def test_the_page_lists_every_metric_with_its_kind_its_labels_and_its_meaning(server: RunningServer):
    page = (Path(__file__).parents[2] / "docs" / "self-host.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| a (gauge|counter|histogram) \| (–|`[^|]*`) \| (.*) \|$", page, re.MULTILINE)
    listed = [(name, kind, tuple(re.findall(r"`(\w+)`", by)), meaning) for name, kind, by, meaning in rows]
    metrics = await server.services.watched.metrics()
    assert listed == [(each.name, each.kind, each.labels, each.meaning) for each in metrics]
