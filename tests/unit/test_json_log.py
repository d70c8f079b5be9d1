"""The log as JSON: one object a line with what the event names, and nothing that is secret."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reflecto.contract.ids import new_device_token, new_sender_token, new_setup_code, short_form
from reflecto.core.events import QUESTION_ASKED, SERVER_STARTED, TOKEN_REFUSED
from reflecto.logs import JsonFormatter

SECRETS = {
    "live": new_sender_token(),
    "device": new_device_token(),
    "short": short_form(new_sender_token()),
    "code": new_setup_code(),
}


@pytest.fixture
def lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """What the loggers of the product have written, read as JSON."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    loggers = [logging.getLogger(name) for name in ("reflecto.events", "tests.json")]
    before = [each.level for each in loggers]
    for each in loggers:
        each.addHandler(handler)
        each.setLevel(logging.DEBUG)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    for each, level in zip(loggers, before, strict=True):
        each.removeHandler(handler)
        each.setLevel(level)


def test_an_event_is_an_object_with_its_time_its_level_and_what_it_names(
    lines: Callable[[], list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(logging.LogRecord, "__init__", _at(1_772_357_400.0625))
    QUESTION_ASKED.log(question="int_1", token="tok_1", phones=2)
    TOKEN_REFUSED.log(address="203.0.113.9")
    asked, refused = lines()
    assert list(asked.items()) == [
        ("time", "2026-03-01T09:30:00.062Z"),
        ("level", "info"),
        ("event", "question_asked"),
        ("question", "int_1"),
        ("token", "tok_1"),
        ("phones", 2),
    ]
    assert (refused["level"], refused["event"], refused["address"]) == ("warning", "token_refused", "203.0.113.9")


def _at(instant: float) -> Callable[..., None]:
    """Return a LogRecord's `__init__` whose record was made at this instant."""
    plain = logging.LogRecord.__init__

    def init(self: logging.LogRecord, *arguments: Any, **named: Any) -> None:
        plain(self, *arguments, **named)
        self.created, self.msecs = instant, instant % 1 * 1000

    return init


def test_what_an_event_has_no_value_for_is_left_out(lines: Callable[[], list[dict[str, Any]]]):
    SERVER_STARTED.log(version="1", listening=None, url="http://a")
    (started,) = lines()
    assert "listening" not in started


def test_a_line_in_plain_words_has_its_logger_and_its_text(lines: Callable[[], list[dict[str, Any]]]):
    logging.getLogger("tests.json").warning("the disk is %s", "full")
    (line,) = lines()
    assert {name: line[name] for name in ("level", "logger", "text")} == {
        "level": "warning",
        "logger": "tests.json",
        "text": "the disk is full",
    }
    assert "event" not in line


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_is_redacted_wherever_it_stands(lines: Callable[[], list[dict[str, Any]]], secret: str):
    QUESTION_ASKED.log(question=secret, token=f"\n{secret}\t", phones=1)
    logger = logging.getLogger("tests.json")
    logger.warning("sent by %r, \n%s", {"token": secret}, secret)
    try:
        raise KeyError(f"\n{secret}")
    except KeyError:
        logger.exception("failed for\n%s", secret)
    written = lines()
    assert len(written) == 3
    assert secret not in json.dumps(written)
    assert "Traceback" in written[2]["traceback"]
    assert "KeyError" in written[2]["traceback"]


def test_whatever_a_value_is_the_line_is_one_line_of_ascii(lines: Callable[[], list[dict[str, Any]]]):
    QUESTION_ASKED.log(question='a"\n\u2028{}\ud800', token="é", phones=1)
    (line,) = lines()
    assert (line["question"], line["token"]) == ('a"\n\u2028{}\ud800', "é")
