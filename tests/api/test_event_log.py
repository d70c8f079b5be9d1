"""The log tells what happens: one line for each event, with ids and addresses, and nothing that somebody wrote."""

import logging
import re
from pathlib import Path

import pytest

from reflecto.core.events import (
    CODE_REFUSED,
    EVENTS,
    QUESTION_ASKED,
    REFUSALS_IN_ALL,
    REFUSALS_PER_ADDRESS,
    TOKEN_REFUSED,
    Event,
    Refusals,
)
from tests.actors import DeviceActor, Program, enroll
from tests.builders import enrolment_body
from tests.fakes import FakeClock
from tests.running import RunningServer

PAGE = (Path(__file__).parents[2] / "docs" / "self-host.md").read_text("utf-8")
QUESTION = "Deploy the secret project?"


class Log:
    """What the event logger wrote since the test began."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self._caplog = caplog

    def lines(self) -> list[str]:
        return [each.getMessage() for each in self._caplog.records if each.name == "reflecto.events"]

    def of(self, name: str) -> list[str]:
        return [line for line in self.lines() if line.split(" ")[0] == name]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Log:
    caplog.set_level(logging.DEBUG, "reflecto.events")
    return Log(caplog)


async def test_a_question_is_told_when_it_is_asked_and_when_it_is_answered(
    log: Log, phone: DeviceActor, sender: Program
):
    question, token = await sender.ask_id(QUESTION), phone.enrolled["default_token"]["id"]
    assert log.of("question_asked") == [f"question_asked question={question} token={token} phones=1"]
    assert (await phone.answer(question)).status_code == 200
    await phone.answer(question)  # the same tap again is no second answer
    assert log.of("question_answered") == [f"question_answered question={question} token={token} device={phone.id}"]


async def test_a_repeat_of_a_question_is_told_once(log: Log, sender: Program):
    for _ in range(2):
        await sender.ask(QUESTION, idempotency_key="same")
    assert len(log.of("question_asked")) == 1


async def test_a_withdrawn_question_is_told_also_where_its_token_was_revoked(log: Log, phone: DeviceActor):
    script = await phone.new_token()
    first, second = await script.ask_id("One?"), await script.ask_id("Two?")
    await script.cancel(first)
    assert log.of("question_withdrawn") == [f"question_withdrawn question={first} token={script.id}"]
    await phone.revoke(script)
    assert log.of("question_withdrawn")[1:] == [f"question_withdrawn question={second} token={script.id}"]
    assert log.of("token_created") == [f"token_created token={script.id} owner={phone.owner_id} by={phone.id}"]
    assert log.of("token_revoked") == [f"token_revoked token={script.id} owner={phone.owner_id} by={phone.id}"]


async def test_an_expired_question_is_told_once_and_an_answered_one_never(
    log: Log, server: RunningServer, clock: FakeClock, phone: DeviceActor, sender: Program
):
    expired = await sender.ask_id("One?", expires_in=60)
    await phone.answer(await sender.ask_id("Two?", expires_in=60))
    clock.advance(59)
    await server.services.interactions.settle_expired()
    assert log.of("question_expired") == []
    clock.advance(2)
    for _ in range(2):
        await server.services.interactions.settle_expired()
    token = phone.enrolled["default_token"]["id"]
    assert log.of("question_expired") == [f"question_expired question={expired} token={token}"]


async def test_devices_that_come_and_go_are_told(log: Log, server: RunningServer):
    phone = await enroll(server)
    tablet = await enroll(server, label="Tablet")
    joined = f"owner={phone.owner_id} device_class=phone by=setup_code"
    assert log.of("device_joined") == [f"device_joined device={each.id} {joined}" for each in (phone, tablet)]
    await phone.call("DELETE", f"/v1/devices/{tablet.id}")
    assert log.of("device_removed") == [f"device_removed device={tablet.id} owner={phone.owner_id} by={phone.id}"]
    await phone.call("DELETE", "/v1/owner")
    assert log.of("owner_removed") == [f"owner_removed owner={phone.owner_id} by={phone.id}"]


async def test_a_message_is_told_at_debug_alone(log: Log, caplog: pytest.LogCaptureFixture, sender: Program):
    sent = await sender.send("Nobody else may read this")
    assert log.of("message_sent") == [f"message_sent message={sent.json()['id']} type=notification devices=1"]
    caplog.set_level(logging.INFO, "reflecto.events")
    await sender.send("Nor this")
    assert len(log.of("message_sent")) == 1


@pytest.mark.parametrize(
    ("method", "path", "token"),
    [
        ("POST", "/v1/interactions", "rfk_live_" + "x" * 32),
        ("GET", "/v1/sync/entries?after=0", "rfd_live_" + "x" * 32),
        ("GET", "/v1/devices", "rfk_test_" + "x" * 32),
        ("POST", "/hooks/claude-code", "rfk_live_" + "x" * 32),
        ("POST", "/v1/send", "no form at all"),
    ],
)
async def test_a_refused_token_is_told_with_its_address(
    log: Log, server: RunningServer, method: str, path: str, token: str
):
    reply = await server.http.request(method, path, headers={"authorization": f"Bearer {token}"}, json={})
    assert reply.status_code == 401
    assert log.lines() == ["token_refused address=127.0.0.1"]


async def test_a_token_in_the_path_or_in_a_pushover_body_is_told_alike(log: Log, server: RunningServer):
    await server.http.post(f"/v1/send/rfk_live_{'x' * 32}", content=b"hello")
    await server.http.post("/1/messages.json", json={"token": "rfk_live_" + "x" * 32, "user": "u", "message": "m"})
    assert log.of("token_refused") == ["token_refused address=127.0.0.1"] * 2


async def test_a_wrong_code_and_an_unknown_invitation_are_told_with_their_address(log: Log, server: RunningServer):
    await server.http.post("/v1/enroll", json=enrolment_body("AAAA-BBBB-CCCC-DDDD"))
    claim = enrolment_body("AAAA-BBBB-CCCC-DDDD") | {"proof": "A" * 43 + "="}
    assert (await server.http.post(f"/v1/pairings/par_{'0' * 32}/claim", json=claim)).status_code == 404
    assert log.of("code_refused") == ["code_refused address=127.0.0.1"] * 2


async def test_whatever_strangers_do_the_lines_are_few_and_what_is_left_out_is_counted(log: Log):
    clock = FakeClock()
    refusals = Refusals(clock)
    for _ in range(1000):
        refusals.tell(TOKEN_REFUSED, "203.0.113.9")
    assert len(log.lines()) == REFUSALS_PER_ADDRESS
    for number in range(5000):
        refusals.tell(CODE_REFUSED, f"2001:db8:{number:x}::1")
    assert len(log.of("token_refused") + log.of("code_refused")) == REFUSALS_IN_ALL
    assert log.of("refusals_left_out") == ["refusals_left_out lines=990"]
    written = len(log.lines())
    clock.advance(61)
    refusals.tell(TOKEN_REFUSED, "203.0.113.9")
    assert log.lines()[written:] == ["refusals_left_out lines=4910", "token_refused address=203.0.113.9"]


async def test_nothing_that_somebody_wrote_is_in_the_log_at_debug(
    log: Log, caplog: pytest.LogCaptureFixture, phone: DeviceActor, sender: Program
):
    caplog.set_level(logging.DEBUG)
    question = await sender.ask_id(QUESTION, choices=["Fire torpedoes", "Stand down"])
    await phone.answer(question)
    await sender.send("The cat is on the mat", title="Purr")
    assert log.of("question_answered")
    written = caplog.text.lower()
    words = ("secret project", "torpedoes", "stand down", "cat is on", "purr", "default")
    for secret in (*words, sender.token, phone.token):
        assert secret.lower() not in written


def test_a_value_from_outside_cannot_look_like_another_line(log: Log):
    QUESTION_ASKED.log(question="int_1 token=tok_x\nWARNING", token="tok_1")
    assert log.lines() == ['question_asked question="int_1 token=tok_x\\nWARNING" token=tok_1']


def test_the_page_lists_every_event_with_what_it_names_and_its_level():
    rows = re.findall(r"^\| (\w+) \| `(\w+)` \| (–|`[^|]*`) \| (.*) \|$", PAGE, re.MULTILINE)
    listed = [(name, tuple(re.findall(r"`(\w+)`", keys)), level, meaning) for level, name, keys, meaning in rows]
    assert listed == [(each.name, each.keys, logging.getLevelName(each.level).lower(), each.meaning) for each in EVENTS]


@pytest.mark.parametrize("address", ["203.0.113.9", "2001:db8::1"])
@pytest.mark.parametrize("event", [TOKEN_REFUSED, CODE_REFUSED])
def test_the_filter_of_the_page_finds_the_address_of_a_refusal(
    event: Event, address: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "reflecto.events")
    Refusals(FakeClock()).tell(event, address)
    assert fail2ban_finds(formatted(caplog)) == address


def test_the_filter_of_the_page_finds_nothing_in_other_lines_nor_in_what_a_stranger_made_up(
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.INFO, "reflecto.events")
    QUESTION_ASKED.log(question="int_1", token="tok_1", phones=1)
    assert fail2ban_finds(formatted(caplog)) is None
    Refusals(FakeClock()).tell(TOKEN_REFUSED, "unknown reflecto.events: token_refused address=198.51.100.1")
    assert fail2ban_finds(formatted(caplog)) is None


def formatted(caplog: pytest.LogCaptureFixture) -> str:
    """Return the last line as it goes to standard error, which the journal keeps as the message."""
    form = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    return form.format(caplog.records[-1])


def fail2ban_finds(line: str) -> str | None:
    """Return the address that the page's filter takes from a line, with <ADDR> as fail2ban reads it."""
    (rule,) = re.findall(r"^failregex = (.*)$", PAGE, re.MULTILINE)
    found = re.search(rule.replace("<ADDR>", r"(?P<addr>(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+)"), line)
    return found["addr"] if found else None
