"""What is sent: exactly what was asked for, once for sure or with a clear word that nobody knows."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import reflecto
from reflecto import Reflecto
from tests.client.asker_server import (
    OPENED_AT,
    FakeClock,
    Reply,
    lost_after_handling,
    lost_before_handling,
    replying,
    rewriting,
)
from tests.client.sending_server import DEVICE, SendingServer, not_from_reflecto

Connect = Callable[..., Reflecto]
PHONE = reflecto.Delivery(str(DEVICE["device_id"]), "android")


@pytest.fixture
def server() -> Iterator[SendingServer]:
    sending = SendingServer()
    sending.start()
    yield sending
    sending.stop()


def test_every_field_arrives_as_it_was_given(server: SendingServer, connect: Connect):
    server.warnings = [{"code": "tags_trimmed", "message": "Only the first 5 tags are kept"}]
    sent = connect().send(
        "42 GB in 12 min\n",
        title="Backup",
        priority="high",
        tags=["nas", "nightly"],
        url="https://nas.example/",
        url_title="Job 7",
        actions={"Open": "https://nas.example/?a=b"},
        device=["Pixel", "desktop"],
        markdown=True,
        ttl=timedelta(hours=1),
    )
    assert server.accepted == [
        (
            "/v1/send",
            {
                "message": "42 GB in 12 min\n",
                "title": "Backup",
                "priority": "high",
                "tags": ["nas", "nightly"],
                "url": "https://nas.example/",
                "url_title": "Job 7",
                "actions": [{"label": "Open", "url": "https://nas.example/?a=b"}],
                "device": "Pixel,desktop",
                "markdown": True,
                "ttl": 3600.0,
            },
        )
    ]
    caveat = reflecto.Caveat("tags_trimmed", "Only the first 5 tags are kept")
    assert sent == reflecto.Sent(f"msg_{1:032x}", (PHONE,), (caveat,))


def test_what_is_not_given_is_left_to_the_server(server: SendingServer, connect: Connect):
    connect().send("Done", actions=[("A", "https://a.example/"), ("A", "https://b.example/")])
    connect().send("Done", ttl=0)
    connect().ring()
    connect().ring(timedelta(seconds=10), "Here")
    assert [fields for _, fields in server.accepted] == [
        {
            "message": "Done",
            "actions": [{"label": "A", "url": "https://a.example/"}, {"label": "A", "url": "https://b.example/"}],
        },
        {"message": "Done", "ttl": 0},
        {},
        {"duration": 10.0, "message": "Here"},
    ]


def test_one_text_as_tags_is_a_mistake_not_three_tags(connect: Connect):
    with pytest.raises(TypeError, match="sequence of labels"):
        connect().send("Done", tags="nas")


def calls(client: Reflecto) -> dict[str, Callable[[], Any]]:
    return {
        "send": lambda: client.send("Done"),
        "ring": client.ring,
        "remind": lambda: client.remind("Stand-up", OPENED_AT + 600),
        "send_file": lambda: client.send_file(filename="a.txt", content="x"),
    }


@pytest.mark.parametrize("call", ["send", "ring", "remind", "send_file"])
@pytest.mark.parametrize("lost", [lost_after_handling, lost_before_handling])
def test_after_a_lost_reply_it_is_sent_again_and_arrives_once(
    server: SendingServer, connect: Connect, clock: FakeClock, call: str, lost: Any
):
    server.faults["POST"] += [lost, lost]
    assert calls(connect())[call]()
    posted = [each for each in server.received if each.method == "POST"]
    assert len(posted) == 3
    assert len({each.headers["idempotency-key"] for each in posted}) == 1
    assert len(server.accepted) == 1
    assert len(clock.pauses) == 2


def test_each_call_has_a_key_of_its_own(server: SendingServer, connect: Connect):
    client = connect()
    for _ in range(2):
        for call in calls(client).values():
            call()
    assert len(server.accepted) == len(server.kept) == 8


def calls_with(client: Reflecto, key: str) -> list[Callable[[], Any]]:
    return [
        lambda: client.send("Done", idempotency_key=key),
        lambda: client.ring(idempotency_key=key),
        lambda: client.remind("Stand-up", OPENED_AT + 600, idempotency_key=key),
        lambda: client.remind("Stand-up", timedelta(minutes=10), idempotency_key=key),
        lambda: client.send_file(filename="a.txt", content="x", idempotency_key=key),
    ]


def test_a_call_takes_its_key_from_a_job_so_that_the_same_job_sends_nothing_twice(
    server: SendingServer, connect: Connect
):
    for number in range(5):
        first, again = (calls_with(connect(), f" job {number} ")[number]() for _ in range(2))
        assert first == again
    posted = [each.headers["idempotency-key"] for each in server.received if each.method == "POST"]
    assert posted == [f"job {number}" for number in range(5) for _ in range(2)]
    assert len(server.accepted) == 5


@pytest.mark.parametrize("key", ["", " ", "x" * 129, "größe", "two\nlines", "a\tb"])
def test_a_key_that_no_header_can_carry_is_refused_before_anything_is_sent(
    server: SendingServer, connect: Connect, key: str
):
    for call in calls_with(connect(), key):
        with pytest.raises(reflecto.InvalidKey, match="1 to 128 characters of ASCII") as caught:
            call()
        assert caught.value.code == "invalid_idempotency_key"
    assert server.received == []


def test_a_key_of_another_call_is_an_error_of_its_own(server: SendingServer, connect: Connect):
    server.faults["POST"].append(replying(Reply.error(422, "idempotency_key_reused")))
    with pytest.raises(reflecto.KeyReused) as caught:
        connect().send("Done", idempotency_key="job 7")
    assert caught.value.code == "idempotency_key_reused"
    assert server.accepted == []


@pytest.mark.parametrize("call", ["send", "ring", "remind", "send_file"])
@pytest.mark.parametrize("lost", [lost_after_handling, lost_before_handling])
def test_a_server_older_than_keys_is_not_sent_it_twice_and_the_outcome_is_said_to_be_unknown(
    server: SendingServer, connect: Connect, clock: FakeClock, call: str, lost: Any
):
    server.knows_keys = False
    server.faults["POST"].append(lost)
    with pytest.raises(reflecto.OutcomeUnknown, match="may have been accepted or not") as caught:
        calls(connect())[call]()
    assert isinstance(caught.value.__cause__, reflecto.Unreachable)
    assert [each.method for each in server.received] == ["POST", "GET"]
    assert len(clock.pauses) == 1


def test_where_no_reply_ever_comes_the_outcome_is_unknown(server: SendingServer, connect: Connect, clock: FakeClock):
    server.faults["POST"] += [lost_after_handling] * 99
    with pytest.raises(reflecto.OutcomeUnknown) as caught:
        connect(retry_for=30).send("Done")
    assert isinstance(caught.value.__cause__, reflecto.Unreachable)
    assert len(server.accepted) == 1
    assert sum(clock.pauses) == pytest.approx(30)


def test_one_try_is_one_try(server: SendingServer, connect: Connect):
    server.faults["POST"].append(lost_after_handling)
    with pytest.raises(reflecto.OutcomeUnknown):
        connect(retry_for=0).send("Done")
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "reply",
    [
        not_from_reflecto(502),
        not_from_reflecto(503),
        not_from_reflecto(504),
        Reply.error(500, "internal_error"),
        Reply.error(503, "outcome_unknown", {"Retry-After": "5"}),
    ],
)
@pytest.mark.parametrize("knows_keys", [True, False])
def test_what_failed_behind_the_request_is_sent_again_where_that_is_safe(
    server: SendingServer, connect: Connect, reply: Reply, *, knows_keys: bool
):
    server.knows_keys = knows_keys
    server.faults["POST"].append(replying(reply))
    if knows_keys:
        connect().send("Done")
        assert len(server.accepted) == 1
        return
    with pytest.raises(reflecto.OutcomeUnknown) as caught:
        connect().send("Done")
    assert isinstance(caught.value.__cause__, reflecto.ServerError)
    assert caught.value.exit_code == 10
    assert server.accepted == []


def test_while_no_connection_comes_about_it_tries_again_and_sends_once(
    server: SendingServer, connect: Connect, clock: FakeClock
):
    client = connect()
    server.stop()
    clock.on_pause = lambda count: server.start() if count == 3 else None
    assert client.send("Done").delivered_to == (PHONE,)
    assert len(clock.pauses) == 3
    assert len(server.accepted) == 1


def test_a_server_that_stays_away_is_unreachable_and_nothing_was_sent(
    server: SendingServer, connect: Connect, clock: FakeClock
):
    client = connect(retry_for=30)
    server.stop()
    with pytest.raises(reflecto.Unreachable) as caught:
        client.send("Done")
    assert caught.value.may_have_arrived is False
    assert sum(clock.pauses) == pytest.approx(30)


@pytest.mark.parametrize(
    "refusal",
    [
        Reply.error(429, "rate_limit_exceeded", {"Retry-After": "7"}),
        Reply(429, b"slow down", {"Retry-After": "7"}),
        Reply.error(503, "unavailable", {"Retry-After": "7"}),
    ],
)
def test_what_was_surely_not_accepted_is_sent_again_when_the_server_says(
    server: SendingServer, connect: Connect, clock: FakeClock, refusal: Reply
):
    server.faults["POST"] += [replying(refusal), replying(refusal)]
    connect().send("Done")
    assert clock.pauses == [7.25, 7.5]
    assert len(server.accepted) == 1


def test_a_quota_that_frees_nothing_for_days_is_said_at_once(server: SendingServer, connect: Connect, clock: FakeClock):
    server.faults["POST"].append(replying(Reply.error(429, "rate_limit_exceeded", {"Retry-After": "864000"})))
    with pytest.raises(reflecto.TooManyRequests) as caught:
        connect().send("Done")
    assert caught.value.retry_after == 864_000
    assert clock.pauses == []


def test_a_server_that_can_store_nothing_for_a_minute_is_a_server_error_and_nothing_unknown(
    server: SendingServer, connect: Connect
):
    server.faults["POST"] += [replying(Reply.error(503, "unavailable"))] * 99
    with pytest.raises(reflecto.ServerError) as caught:
        connect().send("Done")
    assert caught.value.code == "unavailable"
    assert server.accepted == []


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "message_too_long", reflecto.InvalidRequest),
        (403, "priority_capped", reflecto.PermissionDenied),
        (409, "no_phone_device", reflecto.Conflict),
        (413, "payload_too_large", reflecto.InvalidRequest),
    ],
)
def test_a_refusal_is_not_tried_again(
    server: SendingServer, connect: Connect, status: int, code: str, kind: type[reflecto.ApiError]
):
    server.faults["POST"].append(replying(Reply.error(status, code, bytes=1501, max=1500)))
    with pytest.raises(kind) as caught:
        connect().send("x" * 1501)
    assert (caught.value.code, caught.value.details) == (code, {"bytes": 1501, "max": 1500})
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>Sign in to the hotel's network</html>"),
        Reply.json(200, {"id": "msg_1", "delivered_to": [], "warnings": []}),
        Reply.json(200, {"id": f"doc_{1:032x}", "delivered_to": [], "warnings": []}),
        Reply.json(200, {"id": f"msg_{1:032x}"}),
        Reply(302, b"", {"Location": "https://elsewhere.example/"}),
    ],
)
def test_a_reply_that_is_none_is_never_taken_for_success(server: SendingServer, connect: Connect, reply: Reply):
    server.faults["POST"].append(replying(reply))
    with pytest.raises(reflecto.BrokenContract):
        connect().send("Done")
    assert len(server.received) == 1


BERLIN = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("at", "sent"),
    [
        (OPENED_AT + 600, OPENED_AT + 600),
        ("2027-01-15T10:00:00+02:00", "2027-01-15T10:00:00+02:00"),
        (datetime(2027, 1, 15, 8, 10, tzinfo=UTC), OPENED_AT + 600),
        (datetime(2027, 1, 15, 10, 10, tzinfo=BERLIN), OPENED_AT + 600),
        (datetime(2027, 1, 15, 8, 9, 59, 1, tzinfo=UTC), OPENED_AT + 600),  # rounded up: never too early
    ],
)
def test_a_reminder_is_set_for_the_moment_that_was_meant(
    server: SendingServer, connect: Connect, at: Any, sent: int | str
):
    server.faults["POST"].append(rewriting(lambda made: made.update(fire_at=OPENED_AT + 600)))
    made = connect().remind("Stand-up", at, title="Daily", device="phone")
    fields = {"message": "Stand-up", "at": sent, "title": "Daily", "device": "phone"}
    assert server.accepted == [("/v1/reminders", fields)]
    assert made == reflecto.ReminderSet(f"rem_{1:032x}", OPENED_AT + 600, ())


def test_a_datetime_without_a_time_zone_is_refused_before_anything_is_sent(server: SendingServer, connect: Connect):
    with pytest.raises(ValueError, match="time zone"):
        connect().remind("Stand-up", datetime(2027, 1, 15, 8, 10))  # noqa: DTZ001 -- that is the mistake
    assert server.received == []


@pytest.mark.parametrize(
    ("ahead", "seconds"),
    [
        (timedelta(minutes=10), 600),
        (timedelta(seconds=60), 63),  # the server takes 60 s at the least, and this request takes its time
        (timedelta(seconds=63), 63),
        (timedelta(seconds=59), 59),  # the server's to refuse
        (timedelta(seconds=100.5), 101),
    ],
)
def test_a_time_from_now_is_counted_on_the_server_s_clock(
    server: SendingServer, connect: Connect, ahead: timedelta, seconds: int
):
    server.clock_offset_seconds = 0
    connect().remind("Stand-up", ahead)
    assert [fields["at"] for _, fields in server.accepted] == [OPENED_AT + seconds]


def test_the_clock_is_asked_for_again_but_the_reminder_is_not_set_twice(
    server: SendingServer, connect: Connect, clock: FakeClock
):
    server.faults["GET"] += [lost_before_handling, replying(not_from_reflecto(502))]
    server.faults["POST"].append(lost_after_handling)
    connect().remind("Stand-up", timedelta(minutes=10))
    assert len(clock.pauses) == 3
    assert len(server.accepted) == 1


def test_waiting_reminders_are_listed_however_many_there_are(server: SendingServer, connect: Connect):
    client = connect()
    longest = {"message": "\U0001f600" * 500, "title": "t" * 100, "fire_at": OPENED_AT + 60, "created_at": OPENED_AT}
    for number in range(1000):
        server.reminders[f"rem_{number:032x}"] = {"reminder_id": f"rem_{number:032x}"} | longest
    listed = client.reminders()
    assert len(listed) == 1000
    assert listed[-1] == reflecto.Reminder(f"rem_{999:032x}", "\U0001f600" * 500, "t" * 100, OPENED_AT + 60, OPENED_AT)


def test_a_reminder_is_dropped_by_itself_or_by_its_id(connect: Connect):
    client = connect()
    first, second = (client.remind("Stand-up", OPENED_AT + 600) for _ in range(2))
    client.cancel_reminder(first)
    client.cancel_reminder(second.id)
    assert client.reminders() == ()
    with pytest.raises(reflecto.NotFound):
        client.cancel_reminder(first)
    with pytest.raises(ValueError, match="rem_ and 32 hex digits"):
        client.cancel_reminder("../interactions")


def test_dropping_goes_on_after_a_lost_reply_and_that_it_is_gone_then_is_success(
    server: SendingServer, connect: Connect
):
    client = connect()
    made = client.remind("Stand-up", OPENED_AT + 600)
    server.faults["DELETE"] += [lost_after_handling, lost_before_handling]
    client.cancel_reminder(made)
    assert server.reminders == {}


def test_a_404_that_reflecto_did_not_write_is_no_success(server: SendingServer, connect: Connect):
    client = connect()
    made = client.remind("Stand-up", OPENED_AT + 600)
    server.faults["DELETE"] += [lost_before_handling, replying(not_from_reflecto(404))]
    with pytest.raises(reflecto.ServerError):
        client.cancel_reminder(made)


def test_devices_are_read_again_after_a_lost_reply(server: SendingServer, connect: Connect):
    server.faults["GET"].append(lost_after_handling)
    assert connect().devices() == (
        reflecto.DeviceStatus(
            device_id="dev_" + "1" * 32,
            label="Pixel",
            type="android",
            device_class="phone",
            reachable=True,
            last_seen_at=OPENED_AT,
            app_build=None,
        ),
    )


def test_a_file_is_sent_as_it_is_but_for_its_byte_order_mark_under_its_own_or_another_name(
    server: SendingServer, connect: Connect, tmp_path: Path
):
    path = tmp_path / "report.csv"
    path.write_bytes("day;\r\né\n".encode())
    sent = connect().send_file(path)
    connect().send_file(str(path), filename="orders.csv", title="Orders", device="phone")
    connect().send_file(filename="a.txt", content=b"\xef\xbb\xbfx")
    assert [fields for _, fields in server.accepted] == [
        {"filename": "report.csv", "content": "day;\r\né\n"},
        {"filename": "orders.csv", "content": "day;\r\né\n", "title": "Orders", "device": "phone"},
        {"filename": "a.txt", "content": "x"},
    ]
    assert sent == reflecto.SentFile(f"doc_{1:032x}", 9, (PHONE,), ())


def test_what_cannot_be_a_document_is_not_sent(server: SendingServer, connect: Connect, tmp_path: Path):
    picture = tmp_path / "cat.png"
    picture.write_bytes(b"\x89PNG\r\n")
    huge = tmp_path / "huge.log"
    with huge.open("wb") as file:
        file.truncate(2**33)  # takes no room, but reading it would
    client = connect()
    with pytest.raises(reflecto.InvalidFile) as caught:
        client.send_file(picture)
    assert caught.value.code == "invalid_content"
    with pytest.raises(reflecto.InvalidFile) as caught:
        client.send_file(huge)
    assert (caught.value.code, caught.value.details) == ("payload_too_large", {"max": 131_072})
    with pytest.raises(FileNotFoundError):
        client.send_file(tmp_path / "none.txt")
    for wrong in ({}, {"path": picture, "content": "x"}, {"content": "x"}, {"filename": "a.txt"}):
        with pytest.raises(TypeError, match="either a path"):
            client.send_file(**wrong)
    assert server.received == []
