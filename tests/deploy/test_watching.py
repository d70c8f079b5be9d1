"""deploy/prometheus and deploy/grafana: what they ask for is what the server counts, by labels that it has."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from reflecto.api.metrics import Metric
from reflecto.contract.limits import QUEUE_MAX_BYTES, QUEUE_MAX_ENTRIES, QUEUE_RESERVED_BYTES
from tests.deploy.files import documents, text
from tests.running import run_server

OF_PROMETHEUS = {"job", "instance", "le"}  # labels that Prometheus adds
SUFFIXES = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


@pytest.fixture
async def labels_of(tmp_path: Path) -> dict[str, set[str]]:
    """Each series that the server has, and the labels it can be asked by."""
    async with run_server(tmp_path) as server:
        metrics: list[Metric] = await server.services.watched.metrics()
    named = {
        f"{each.name}{suffix}": {*each.labels, *OF_PROMETHEUS} for each in metrics for suffix in SUFFIXES[each.kind]
    }
    return named | {"up": OF_PROMETHEUS}


def rules() -> list[dict[str, Any]]:
    (file,) = documents("prometheus/rules.yaml")
    return [rule for group in file["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text("grafana/reflecto.json"))["panels"]
    return found


def expressions() -> list[str]:
    return [rule["expr"] for rule in rules()] + [target["expr"] for each in panels() for target in each["targets"]]


async def test_every_series_that_is_asked_for_is_served(labels_of: dict[str, set[str]]):
    for expression in expressions():
        names = re.findall(r"\b((?:reflecto|process)_\w+|up)\b", re.sub(r'"[^"]*"', '""', expression))
        assert names
        assert set(names) <= set(labels_of), expression


async def test_every_label_is_one_that_the_series_has(labels_of: dict[str, set[str]]):
    for expression in expressions():
        for name, matchers in re.findall(r"\b(\w+)\{([^}]*)\}", expression):
            assert set(re.findall(r"(\w+)[=!]~?[=~]?", re.sub(r'"[^"]*"', "", matchers))) <= labels_of[name], expression
        known = set().union(*(labels_of[name] for name in labels_of if re.search(rf"\b{name}\b", expression)))
        for by in re.findall(r"\bby \(([^)]*)\)", expression):
            assert set(by.split(", ")) <= known, expression


def test_every_alert_says_how_bad_it_is_and_what_it_is():
    assert len({rule["alert"] for rule in rules()}) == len(rules()) > 5
    for rule in rules():
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert rule["annotations"]["summary"].endswith((".", "?"))


def test_the_alert_of_a_queue_comes_before_it_is_full_and_not_long_before():
    (expression,) = [rule["expr"] for rule in rules() if rule["alert"] == "ReflectoQueueNearlyFull"]
    entries, size = map(int, re.findall(r"> (\d+)", expression))
    assert 0.8 * QUEUE_MAX_ENTRIES < entries < QUEUE_MAX_ENTRIES
    assert 0.8 * QUEUE_MAX_BYTES - QUEUE_RESERVED_BYTES < size < QUEUE_MAX_BYTES - QUEUE_RESERVED_BYTES


def test_every_panel_has_its_own_place_and_number():
    assert len({each["id"] for each in panels()}) == len(panels())
    for one, other in combinations([each["gridPos"] for each in panels()], 2):
        apart = one["x"] >= other["x"] + other["w"] or other["x"] >= one["x"] + one["w"]
        assert apart or one["y"] >= other["y"] + other["h"] or other["y"] >= one["y"] + one["h"]


def test_the_job_that_is_scraped_is_the_one_that_is_asked_for():
    (scraped,) = documents("prometheus/scrape.yaml")
    jobs = {job["job_name"] for job in scraped["scrape_configs"]}
    assert set(re.findall(r'job="([^"]*)"', "\n".join(expressions()))) == jobs
