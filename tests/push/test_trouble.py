"""What a push service may answer, and what becomes of the push and of the subscription."""

import logging
from email.utils import formatdate

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.push.conftest import subscribe
from tests.push.push_service import Held, PushServiceOnLoopback, reply
from tests.push.subscriber import Subscriber
from tests.running import RunningServer

SEND_SECONDS = 15


async def test_a_subscription_that_is_gone_is_dropped_at_once(
    phone: DeviceActor, sender: Program, push_service: PushServiceOnLoopback
):
    for status in (404, 410):
        await subscribe(phone, push_service)
        push_service.answer_next(reply(status))
        await sender.call("POST", "/v1/send", json={"message": "Into the void"})
        await push_service.next()
        await sender.call("POST", "/v1/send", json={"message": "Nobody there"})
    again = await subscribe(phone, push_service, "/again")
    await sender.call("POST", "/v1/send", json={"message": "Back"})
    push = await push_service.next()
    assert (push.path, push.open(again)["seq"]) == ("/again", 6)
    assert push_service.waiting == 0


async def test_a_subscription_renewed_while_a_push_to_the_old_one_is_under_way_stays(
    phone: DeviceActor, sender: Program, push_service: PushServiceOnLoopback
):
    await subscribe(phone, push_service, "/old")
    gone = Held(reply(410))
    push_service.answer_next(gone)
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    assert (await push_service.next()).path == "/old"
    renewed = await subscribe(phone, push_service, "/new")
    gone.release.set()
    await sender.call("POST", "/v1/send", json={"message": "Next"})
    push = await push_service.next()
    assert (push.path, push.open(renewed)["seq"]) == ("/new", 3)


async def test_what_is_too_large_for_a_push_service_is_announced_instead(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    push_service.answer_next(reply(413))
    question_id = await sender.ask_id()
    assert "blob" in (await push_service.next()).open(subscriber)
    announced = await push_service.next()
    assert announced.open(subscriber) == {"seq": 2}
    assert announced.headers["topic"] == question_id.removeprefix("int_")
    push_service.answer_next(reply(413), reply(413))
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    assert ["blob" in (await push_service.next()).open(subscriber) for _ in range(2)] == [True, False]
    await sender.call("POST", "/v1/send", json={"message": "Next"})
    assert (await push_service.next()).open(subscriber)["seq"] == 4


@pytest.mark.parametrize("answer", [reply(429), reply(500), reply(503), reply(502, body=b"x" * 100_000)])
async def test_a_push_service_in_trouble_is_tried_again_ever_later(
    subscriber: Subscriber,
    sender: Program,
    push_service: PushServiceOnLoopback,
    clock: FakeClock,
    answer: bytes,
):
    push_service.answer_next(answer, answer, answer)
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    for delay_seconds in (2, 6, 18):
        assert (await push_service.next()).open(subscriber)["seq"] == 2
        await clock.until_waited_for(clock.now() + delay_seconds)
        assert push_service.waiting == 0
        clock.advance(delay_seconds)
    last = await push_service.next()
    assert last.open(subscriber)["seq"] == 2
    assert last.headers["ttl"] == str(259_200 - 26)


@pytest.mark.usefixtures("subscriber")
@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("Retry-After: 120", 120),
        ("Retry-After: 1", 2),
        ("Retry-After: soon", 2),
        ("Retry-After: -5", 2),
        (f"Retry-After: {formatdate(NOW + 90, usegmt=True)}", 90),
    ],
)
async def test_a_wait_the_push_service_asks_for_is_kept(
    sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock, header: str, seconds: int
):
    push_service.answer_next(reply(429, header))
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    await push_service.next()
    await clock.until_waited_for(NOW + seconds)
    clock.advance(seconds)
    await push_service.next()


async def test_a_push_is_given_up_after_eight_attempts_and_the_next_one_is_made(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    push_service.answer_next(*[reply(500)] * 8)
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    for delay_seconds in (2, 6, 18, 54, 162, 300, 300):
        await push_service.next()
        await clock.until_waited_for(clock.now() + delay_seconds)
        clock.advance(delay_seconds)
    await push_service.next()
    await sender.call("POST", "/v1/send", json={"message": "Next"})
    assert (await push_service.next()).open(subscriber)["seq"] == 3
    assert push_service.waiting == 0


async def test_a_push_is_given_up_when_its_message_would_have_expired_by_then(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    push_service.answer_next(reply(503, "Retry-After: 60"))
    await sender.call("POST", "/v1/send", json={"message": "Hi", "ttl": 60})
    await push_service.next()
    await sender.call("POST", "/v1/send", json={"message": "Next"})
    assert (await push_service.next()).open(subscriber)["seq"] == 3


async def test_what_was_acknowledged_meanwhile_is_not_tried_again(
    phone: DeviceActor, subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    push_service.answer_next(reply(503))
    await sender.call("POST", "/v1/send", json={"message": "Seen"})
    await push_service.next()
    await clock.until_waited_for(NOW + 2)
    await phone.ack(2)
    await sender.call("POST", "/v1/send", json={"message": "Next"})
    clock.advance(2)
    assert (await push_service.next()).open(subscriber)["seq"] == 3
    assert push_service.waiting == 0


async def test_many_that_gathered_while_the_push_service_was_down_become_one_wake_up(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    push_service.answer_next(reply(503))
    await sender.call("POST", "/v1/send", json={"message": "First", "priority": "low"})
    await push_service.next()
    await clock.until_waited_for(NOW + 2)
    for _ in range(9):
        await sender.call("POST", "/v1/send", json={"message": "Hi", "priority": "low", "ttl": 600})
    clock.advance(2)
    assert (await push_service.next()).open(subscriber)["seq"] == 2
    wake_up = await push_service.next()
    assert wake_up.open(subscriber) == {"seq": 11}
    assert [wake_up.headers[name] for name in ("topic", "urgency", "ttl")] == ["wake", "low", "598"]
    await sender.call("POST", "/v1/send", json={"message": "Next"})
    assert (await push_service.next()).open(subscriber)["seq"] == 12
    assert push_service.waiting == 0


async def test_eight_that_gathered_are_still_pushed_one_by_one(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    push_service.answer_next(reply(503))
    await sender.call("POST", "/v1/send", json={"message": "First"})
    await push_service.next()
    await clock.until_waited_for(NOW + 2)
    for _ in range(8):
        await sender.call("POST", "/v1/send", json={"message": "Hi"})
    clock.advance(2)
    opened = [(await push_service.next()).open(subscriber) for _ in range(9)]
    assert [each["seq"] for each in opened] == list(range(2, 11))
    assert all("blob" in each for each in opened)


async def test_a_reply_without_end_is_not_read_to_it(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    push_service.answer_next(b"HTTP/1.1 201 Created\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 8_192)
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    await push_service.next()
    await sender.call("POST", "/v1/send", json={"message": "Next"})
    assert (await push_service.next()).open(subscriber)["seq"] == 3
    assert push_service.accepted_connections == 2


async def test_a_question_that_ended_while_the_push_service_was_down_is_pushed_as_its_end_only(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    push_service.answer_next(reply(503))
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    await push_service.next()
    question_id = await sender.ask_id()
    await sender.cancel(question_id)
    await clock.until_waited_for(NOW + 2)
    clock.advance(2)
    assert [(await push_service.next()).open(subscriber)["seq"] for _ in range(2)] == [2, 4]
    assert push_service.waiting == 0


async def test_a_push_service_that_never_answers_is_left_after_15_seconds_and_tried_again(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    push_service.answer_next(None)
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    await push_service.next()
    await clock.until_waited_for(NOW + SEND_SECONDS)
    clock.advance(SEND_SECONDS)
    await clock.until_waited_for(NOW + SEND_SECONDS + 2)
    clock.advance(2)
    assert (await push_service.next()).open(subscriber)["seq"] == 2


async def test_a_connection_cut_in_the_middle_is_tried_again(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    push_service.answer_next(b"this is not HTTP at all\r\n\r\n")
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    await push_service.next()
    await clock.until_waited_for(NOW + 2)
    clock.advance(2)
    assert (await push_service.next()).open(subscriber)["seq"] == 2


async def test_redirects_are_not_followed(subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback):
    push_service.answer_next(reply(307, f"Location: {push_service.url}/elsewhere"))
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    assert (await push_service.next()).path == "/send/abc"
    await sender.call("POST", "/v1/send", json={"message": "Next"})
    after = await push_service.next()
    assert (after.path, after.open(subscriber)["seq"]) == ("/send/abc", 3)


@pytest.mark.parametrize("status", [400, 401, 403])
async def test_a_refusal_is_logged_once_with_a_hint_and_never_with_the_endpoint(
    subscriber: Subscriber,
    sender: Program,
    push_service: PushServiceOnLoopback,
    caplog: pytest.LogCaptureFixture,
    status: int,
):
    caplog.set_level(logging.DEBUG)
    push_service.answer_next(*[reply(status, body=b'{"reason":"Bad"}')] * 2)
    for seq in (2, 3, 4):
        await sender.call("POST", "/v1/send", json={"message": "Hi"})
        assert (await push_service.next()).open(subscriber)["seq"] == seq
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"push_refused service={push_service.url} status={status} reason=")
    assert "/send/abc" not in caplog.text


async def test_devices_at_a_silent_push_service_leave_room_for_the_others(
    server: RunningServer, phone: DeviceActor, sender: Program, push_service: PushServiceOnLoopback
):
    stuck = [await enroll(server, label="Stuck") for _ in range(12)]
    for number, device in enumerate(stuck):
        await subscribe(device, push_service, f"/stuck/{number}")
    subscriber = await subscribe(phone, push_service)
    push_service.answer_next(*[None] * 12)
    await sender.call("POST", "/v1/send", json={"message": "Hi", "device": "Stuck"})
    for _ in stuck:
        await push_service.next()
    await sender.call("POST", "/v1/send", json={"message": "Hi", "device": phone.id})
    assert "blob" in (await push_service.next()).open(subscriber)


@pytest.mark.usefixtures("subscriber")
async def test_each_attempt_is_counted_by_what_became_of_it(
    server: RunningServer, sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    push_service.answer_next(reply(500), reply(403), reply(201), None)
    await sender.call("POST", "/v1/send", json={"message": "Once more, and then no"})
    await push_service.next()
    await clock.until_waited_for(NOW + 2)
    clock.advance(2)
    await push_service.next()
    for message in ("Yes", "The next begins once that has ended"):
        await sender.call("POST", "/v1/send", json={"message": message})
        await push_service.next()
    text = (await server.http.get("/metrics")).text
    for outcome in ("later", "refused", "accepted"):
        assert f'\nreflecto_pushes_total{{outcome="{outcome}"}} 1\n' in text
