"""A push: who sends it, what is inside, and what the push service is told of it."""

import base64
from urllib.parse import urlsplit

import pytest

from reflecto.bootstrap import PushOptions
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.push.conftest import subscribe
from tests.push.push_service import PushServiceOnLoopback
from tests.push.subscriber import Subscriber, check_vapid
from tests.running import RunningServer


async def test_a_message_arrives_whole_under_its_number(
    phone: DeviceActor, subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    await sender.call("POST", "/v1/send", json={"message": "Backup done", "ttl": 3600})
    push = await push_service.next()
    opened = push.open(subscriber)
    assert opened.keys() == {"seq", "blob"}
    assert opened["seq"] == 2
    envelope = phone.open(base64.b64decode(opened["blob"], validate=True))
    assert (envelope.type, envelope.payload) == ("notification", {"message": "Backup done"})
    assert (push.method, push.path) == ("POST", "/send/abc")
    assert push.headers["ttl"] == "3600"
    assert push.headers["urgency"] == "high"
    assert push.headers["content-encoding"] == "aes128gcm"
    assert "topic" not in push.headers
    assert len(push.body) <= 4096


async def test_the_push_is_signed_for_this_push_service_with_the_key_the_server_names(
    phone: DeviceActor,
    subscriber: Subscriber,
    sender: Program,
    push_service: PushServiceOnLoopback,
    options: PushOptions,
):
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    claims, key = check_vapid((await push_service.next()).headers["authorization"])
    parts = urlsplit(subscriber.endpoint)
    assert claims["aud"] == f"{parts.scheme}://{parts.netloc}"
    assert claims["sub"] == options.contact
    assert NOW < claims["exp"] <= NOW + 86_400
    named = await phone.call("GET", "/v1/push/key")
    assert named.json() == {"public_key": key}


@pytest.mark.usefixtures("subscriber")
async def test_a_token_is_reused_for_hours_and_never_older_than_it_may_be(
    sender: Program, push_service: PushServiceOnLoopback, clock: FakeClock
):
    seen = []
    for _ in range(13):
        await sender.call("POST", "/v1/send", json={"message": "Hi"})
        authorization = (await push_service.next()).headers["authorization"]
        claims, _ = check_vapid(authorization)
        assert clock.now() < claims["exp"] <= clock.now() + 86_400
        seen.append(authorization)
        clock.advance(3_600)
    assert len(set(seen)) == 2


@pytest.mark.usefixtures("subscriber")
@pytest.mark.parametrize(
    ("priority", "urgency"),
    [("min", "low"), ("low", "low"), ("default", "high"), ("high", "high"), ("urgent", "high")],
)
async def test_urgency_follows_the_priority(
    sender: Program, push_service: PushServiceOnLoopback, priority: str, urgency: str
):
    await sender.call("POST", "/v1/send", json={"message": "Hi", "priority": priority})
    assert (await push_service.next()).headers["urgency"] == urgency


async def test_a_question_and_its_end_share_a_topic_so_that_the_end_replaces_the_question(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    question_id = await sender.ask_id(expires_in=300)
    asked = await push_service.next()
    await sender.cancel(question_id)
    ended = await push_service.next()
    digits = question_id.removeprefix("int_")
    assert [push.headers["topic"] for push in (asked, ended)] == [digits, digits]
    assert asked.headers["ttl"] == "300"
    assert [push.open(subscriber)["seq"] for push in (asked, ended)] == [2, 3]


async def test_what_does_not_fit_is_only_announced(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    await sender.call("POST", "/v1/documents", json={"filename": "a.txt", "content": "x" * 5_000})
    push = await push_service.next()
    assert push.open(subscriber) == {"seq": 2}


async def test_the_largest_blob_that_fits_is_inline_and_one_byte_more_is_not(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    inline = []
    for content_bytes in range(2_700, 2_900, 3):
        await sender.call("POST", "/v1/documents", json={"filename": "a.txt", "content": "x" * content_bytes})
        push = await push_service.next()
        opened = push.open(subscriber)
        inline.append("blob" in opened)
        assert len(push.body) <= 4096
    assert inline == sorted(inline, reverse=True)
    assert set(inline) == {True, False}


async def test_each_device_gets_its_own_push_and_one_without_a_subscription_none(
    server: RunningServer, phone: DeviceActor, sender: Program, push_service: PushServiceOnLoopback
):
    tablet = await enroll(server, label="Tablet")
    await enroll(server, label="Silent")
    subscribers = {"/phone": await subscribe(phone, push_service, "/phone")}
    subscribers["/tablet"] = await subscribe(tablet, push_service, "/tablet")
    await sender.call("POST", "/v1/send", json={"message": "Hi"})
    pushes = [await push_service.next(), await push_service.next()]
    assert {push.path for push in pushes} == {"/phone", "/tablet"}
    for push in pushes:
        assert "blob" in push.open(subscribers[push.path])
    await phone.call("DELETE", f"/v1/devices/{tablet.id}")
    await sender.call("POST", "/v1/send", json={"message": "Again"})
    assert (await push_service.next()).path == "/phone"
    assert push_service.waiting == 0


async def test_messages_of_a_few_moments_are_pushed_one_by_one_in_order_over_one_connection(
    subscriber: Subscriber, sender: Program, push_service: PushServiceOnLoopback
):
    for number in range(6):
        await sender.call("POST", "/v1/send", json={"message": str(number)})
    assert [(await push_service.next()).open(subscriber)["seq"] for _ in range(6)] == [2, 3, 4, 5, 6, 7]
    assert push_service.accepted_connections == 1


@pytest.mark.usefixtures("subscriber")
async def test_a_removed_subscription_gets_nothing_more(
    phone: DeviceActor, sender: Program, push_service: PushServiceOnLoopback
):
    await phone.call("PATCH", "/v1/devices/self", json={"push": None})
    await sender.call("POST", "/v1/send", json={"message": "Unseen"})
    again = await subscribe(phone, push_service, "/again")
    await sender.call("POST", "/v1/send", json={"message": "Seen"})
    push = await push_service.next()
    assert (push.path, push.open(again)["seq"]) == ("/again", 3)
    assert push_service.waiting == 0
