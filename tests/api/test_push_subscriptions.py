"""`PATCH /v1/devices/self {"push"}`, `GET /v1/push/key`, and the keys that devices see of each other."""

from typing import Any

import pytest

from reflecto.core.model import PushSubscription
from reflecto.crypto.encoding import encode_base64
from tests.actors import DeviceActor, Program, enroll
from tests.push.subscriber import Subscriber, from_base64url
from tests.running import RunningServer

ENDPOINT = "https://updates.push.example/wpush/v2/gAAA-b_c~d?x=1"


async def report(device: DeviceActor, push: Any) -> tuple[int, str | None]:
    """Report a subscription; return status and error code."""
    patched = await device.call("PATCH", "/v1/devices/self", json={"push": push})
    return patched.status_code, patched.json().get("error", {}).get("code")


async def stored(server: RunningServer, device: DeviceActor) -> PushSubscription | None:
    """Return where the device's pushes go."""
    target = await server.services.store.find_push_target(device.id)
    return target.subscription if target else None


async def test_what_a_browser_gives_is_taken_and_null_takes_it_back(server: RunningServer, phone: DeviceActor):
    subscriber = Subscriber(ENDPOINT)
    patched = await phone.call("PATCH", "/v1/devices/self", json={"push": subscriber.state(), "label": "Fold"})
    assert (patched.status_code, patched.json()["label"]) == (200, "Fold")
    assert await stored(server, phone) == PushSubscription(ENDPOINT, subscriber.point, subscriber.auth)
    await phone.call("PATCH", "/v1/devices/self", json={"app_build": 7})
    assert await stored(server, phone) is not None
    assert await report(phone, None) == (200, None)
    assert await stored(server, phone) is None


async def test_keys_may_be_padded(server: RunningServer, phone: DeviceActor):
    subscriber = Subscriber(ENDPOINT)
    keys = {name: value + "=" * (-len(value) % 4) for name, value in subscriber.state()["keys"].items()}
    assert await report(phone, subscriber.state(keys=keys)) == (200, None)
    assert await stored(server, phone) == PushSubscription(ENDPOINT, subscriber.point, subscriber.auth)


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://push.example/a", "http://127.0.0.1:8000/a", "ftp://push.example/a", "file:///etc/passwd", "/a", "",
        "https://", "https:///a", "https://user@push.example/a", "https://user:pass@push.example/a",
        "https://push.example/a#fragment", "https://push.example:0x50/a", "https://push.example:99999/a",
        "https://push.example/a b", "https://push.example/a\r\nX: y", "https://push.example\\@evil.example/",
        "https://püsh.example/a", "https://[::1/a", "https://push.example/" + "a" * 2_048, 7, None,
    ],
)  # fmt: skip
async def test_an_endpoint_that_is_no_plain_https_url_is_refused_and_the_old_one_stays(
    server: RunningServer, phone: DeviceActor, endpoint: Any
):
    subscriber = Subscriber(ENDPOINT)
    await report(phone, subscriber.state())
    assert await report(phone, subscriber.state(endpoint=endpoint)) == (400, "invalid_push")
    assert await stored(server, phone) == PushSubscription(ENDPOINT, subscriber.point, subscriber.auth)


@pytest.mark.parametrize(
    "keys",
    [
        {}, {"p256dh": ""}, {"auth": ""}, {"auth": "AAAA"}, {"p256dh": "AAAA"}, {"p256dh": "B" + "A" * 86},
        {"auth": "A" * 21 + "B"}, {"auth": "A+/A" * 5 + "AA"}, {"auth": 1}, None,
    ],
)  # fmt: skip
async def test_keys_nobody_can_encrypt_for_are_refused(phone: DeviceActor, keys: dict[str, Any] | None):
    good = Subscriber(ENDPOINT).state()["keys"]
    changed = keys if not keys else good | keys
    assert await report(phone, {"endpoint": ENDPOINT, "keys": changed}) == (400, "invalid_push")


@pytest.mark.parametrize("push", ["https://push.example/a", [], 1, True, {}])
async def test_what_is_no_subscription_is_refused(phone: DeviceActor, push: Any):
    assert await report(phone, push) == (400, "invalid_push")


async def test_an_endpoint_belongs_to_the_device_that_reported_it_last(server: RunningServer, phone: DeviceActor):
    tablet = await enroll(server, label="Tablet")
    subscriber = Subscriber(ENDPOINT)
    for device in (phone, tablet):
        assert await report(device, subscriber.state()) == (200, None)
    assert await stored(server, phone) is None
    assert await stored(server, tablet) is not None


async def test_the_servers_key_is_for_devices(phone: DeviceActor, sender: Program, server: RunningServer):
    named = await phone.call("GET", "/v1/push/key")
    assert (named.status_code, len(from_base64url(named.json()["public_key"]))) == (200, 65)
    assert (await phone.call("GET", "/v1/push/key")).json() == named.json()
    assert (await sender.call("GET", "/v1/push/key")).status_code == 401
    assert (await server.http.get("/v1/push/key")).status_code == 401


async def test_devices_see_each_others_keys_and_senders_do_not(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    laptop = await enroll(server, label="Laptop", type="web", class_="desktop")
    for device in (phone, laptop):
        listed = (await device.call("GET", "/v1/devices")).json()["devices"]
        assert {each["device_id"]: (each["public_key"], each["signing_key"]) for each in listed} == {
            each.id: (encode_base64(each.keys.box.public), encode_base64(each.keys.signing_key))
            for each in (phone, laptop)
        }
    seen_by_sender = (await sender.call("GET", "/v1/devices")).json()["devices"]
    assert {each["device_id"] for each in seen_by_sender} == {phone.id, laptop.id}
    assert all(each.keys() & {"public_key", "signing_key"} == set() for each in seen_by_sender)
