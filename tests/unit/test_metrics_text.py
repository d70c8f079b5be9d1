"""The text of a metric is what Prometheus' own parser reads back."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from reflecto.api.metrics import Metric, exposition, gauge
from reflecto.api.traffic import Traffic
from reflecto.core.ports.metrics import Counter, Histogram


def samples(metric: Metric) -> list[tuple[str, dict[str, str], float]]:
    (family,) = text_string_to_metric_families(exposition([metric]))
    assert (family.type, family.documentation) == (metric.kind, metric.meaning)
    return [(each.name, each.labels, each.value) for each in family.samples]


def test_a_gauge_is_read_when_it_is_asked_for():
    value = 1.5
    metric = gauge("room", "What is left.", lambda: value)
    assert samples(metric) == [("room", {}, 1.5)]
    value = 2e9
    assert samples(metric) == [("room", {}, 2e9)]


def test_a_counter_counts_by_its_labels():
    counter = Counter()
    for outcome in ("accepted", "gone", "accepted"):
        counter.add(outcome)
    metric = Metric("pushes_total", "counter", "Pushes.", ("outcome",), lambda: counter.by_labels)
    assert samples(metric) == [("pushes_total", {"outcome": "accepted"}, 2), ("pushes_total", {"outcome": "gone"}, 1)]


def test_a_histogram_counts_what_is_at_most_each_bound_and_sums_all_up():
    histogram = Histogram((1, 2.5))
    for value in (1, 2, 2.5, 3):
        histogram.add(value)
    metric = Metric("verbs", "histogram", "Verbs.", ("store",), lambda: {("sqlite",): histogram})
    assert samples(metric) == [
        ("verbs_bucket", {"store": "sqlite", "le": "1"}, 1),
        ("verbs_bucket", {"store": "sqlite", "le": "2.5"}, 3),
        ("verbs_bucket", {"store": "sqlite", "le": "+Inf"}, 4),
        ("verbs_sum", {"store": "sqlite"}, 8.5),
        ("verbs_count", {"store": "sqlite"}, 4),
    ]


def test_a_request_takes_until_its_reply_begins():
    instants = iter((10.0, 10.25))
    traffic = Traffic(lambda: next(instants))
    served = traffic.begin()
    served.route, served.method = "/v1/send", "POST"
    traffic.add(served, 200)
    assert traffic.count_requests() == {("/v1/send", "POST", "200"): 1}
    assert traffic.seconds["/v1/send", "POST"].total == pytest.approx(0.25)
