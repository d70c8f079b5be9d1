"""POST /v1/send, field by field: bounds in bytes, what is trimmed, how long it waits, and how much fits."""

from typing import Any

import pytest

from tests.actors import DeviceActor, Program
from tests.api.sent import entries, latest, waiting
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import open_sync

GRIN = "\U0001f600"  # 4 bytes
LINK = "https://example.org/"
TTL_MAX = 259_200


def link(size: int) -> str:
    return LINK + "a" * (size - len(LINK))


def action(label: str = "Open", url: str = LINK) -> dict[str, str]:
    return {"label": label, "url": url}


@pytest.mark.parametrize(
    "fields",
    [
        {"message": "x"},
        {"message": "x" * 1_500},
        {"message": GRIN * 375},
        {"title": "t"},
        {"title": GRIN * 25},
        {"url": link(512)},
        {"url": "HTTP://example.org:8080/\u00fc?q=1#f"},
        {"url": LINK, "url_title": "é" * 50},
        {"actions": [action(GRIN * 10, link(512))]},
        {"actions": [action(), action(), action()]},
    ],
)
async def test_up_to_its_bound_a_field_arrives_whole(
    server: RunningServer, phone: DeviceActor, sender: Program, fields: dict[str, Any]
):
    reply = await sender.send(**fields)
    assert (reply.status_code, reply.json()["warnings"]) == (200, [])
    assert await latest(server, phone) == {"message": "Done"} | fields


@pytest.mark.parametrize(
    ("fields", "code", "size", "bound"),
    [
        ({"message": "x" * 1_501}, "message_too_long", 1_501, 1_500),
        ({"message": GRIN * 376}, "message_too_long", 1_504, 1_500),
        ({"message": "x" + GRIN * 375}, "message_too_long", 1_501, 1_500),
        ({"title": "x" * 101}, "invalid_title", 101, 100),
        ({"title": GRIN * 26}, "invalid_title", 104, 100),
        ({"url": link(513)}, "invalid_url", 513, 512),
        ({"url": LINK, "url_title": "x" * 101}, "invalid_url_title", 101, 100),
        ({"actions": [action(GRIN * 11)]}, "invalid_action", 44, 40),
        ({"actions": [action(), action(url=link(513))]}, "invalid_action", 513, 512),
    ],
)
async def test_beyond_its_bound_it_is_refused_with_the_count_of_bytes_and_never_cut(
    server: RunningServer, phone: DeviceActor, sender: Program, fields: dict[str, Any], code: str, size: int, bound: int
):
    reply = await sender.send(**fields)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert (error["code"], error["details"]) == (code, {"bytes": size, "max": bound})
    assert await waiting(server, phone) == []


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"message": ""}, "invalid_message"),
        ({"title": ""}, "invalid_title"),
        ({"priority": "emergency"}, "invalid_priority"),
        ({"url": ""}, "invalid_url"),
        ({"url": "ftp://example.org/"}, "invalid_url"),
        ({"url": "javascript:alert(1)"}, "invalid_url"),
        ({"url": "example.org"}, "invalid_url"),
        ({"url": "https://"}, "invalid_url"),
        ({"url": "https://a b.example/"}, "invalid_url"),
        ({"url": "https://example.org/\n"}, "invalid_url"),
        ({"url": "https://example.org:99999/"}, "invalid_url"),
        ({"url": "http://evil.example\\@bank.example/"}, "invalid_url"),
        ({"url": "https://bank.example@evil.example/"}, "invalid_url"),
        ({"url": "https:///bank.example/"}, "invalid_url"),
        ({"url_title": "without a url"}, "invalid_url_title"),
        ({"actions": [action("")]}, "invalid_action"),
        ({"actions": [action(url="intent://x")]}, "invalid_action"),
        ({"actions": [action(url="https://bank.example@evil.example/")]}, "invalid_action"),
        ({"actions": [action(url="https://bank.example\\x")]}, "invalid_action"),
        ({"actions": [action()] * 4}, "invalid_action"),
        ({"actions": [{"label": "no url"}]}, "invalid_action"),
        ({"actions": "[]"}, "invalid_action"),
        ({"device": ""}, "invalid_device"),
        ({"device": " , "}, "invalid_device"),
    ],
)
async def test_what_is_wrong_for_another_reason_carries_no_count(sender: Program, fields: dict[str, Any], code: str):
    reply = await sender.send(**fields)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, code)
    assert "max" not in reply.json()["error"].get("details", {})


async def test_the_message_names_all_priorities(sender: Program):
    error = (await sender.send(priority="highest")).json()["error"]
    assert error["message"] == "priority must be one of min, low, default, high, urgent"


@pytest.mark.parametrize("priority", ["min", "low", "default", "high", "urgent"])
async def test_each_priority_arrives_and_the_default_is_left_out(
    server: RunningServer, phone: DeviceActor, sender: Program, priority: str
):
    await sender.send(priority=priority)
    assert (await latest(server, phone)).get("priority", "default") == priority
    assert ("priority" in await latest(server, phone)) == (priority != "default")


async def test_above_the_token_s_cap_the_message_names_both(phone: DeviceActor):
    capped = await phone.new_token(priority_cap="default")
    refused = await capped.send(priority="high")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "priority_capped")
    assert refused.json()["error"]["message"] == "Token's priority_cap is 'default'; requested 'high'"
    assert (await capped.send(priority="default")).status_code == 200


@pytest.mark.parametrize(
    ("tags", "kept", "warnings"),
    [
        (["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "e"], []),
        (["a", "b", "c", "d", "e", "f"], ["a", "b", "c", "d", "e"], ["tags_trimmed"]),
        (["x" * 32], ["x" * 32], []),
        (["x" * 33], ["x" * 32], ["tag_too_long"]),
        (["é" * 17], ["é" * 16], ["tag_too_long"]),
        (["a" + GRIN * 8], ["a" + GRIN * 7], ["tag_too_long"]),  # 33 bytes: cut before the code point, not in it
        ([GRIN * 9, *"bcdef"], [GRIN * 8, "b", "c", "d", "e"], ["tags_trimmed", "tag_too_long"]),
        ([" a ", "", "  "], ["a"], []),
        ([*"abcde", "x" * 99], [*"abcde"], ["tags_trimmed"]),
        ([], None, []),
    ],
)
async def test_tags_are_trimmed_with_a_warning_and_never_refused(
    server: RunningServer,
    phone: DeviceActor,
    sender: Program,
    tags: list[str],
    kept: list[str] | None,
    warnings: list[str],
):
    reply = await sender.send(tags=tags)
    assert reply.status_code == 200
    assert [warning["code"] for warning in reply.json()["warnings"]] == warnings
    assert (await latest(server, phone)).get("tags") == kept


@pytest.mark.parametrize(
    ("ttl", "seconds"),
    [
        (None, TTL_MAX),
        (1, 1),
        (59.999, 59),
        (60.0, 60),
        (TTL_MAX, TTL_MAX),
        (TTL_MAX + 1, TTL_MAX),
        (10**12, TTL_MAX),
        (1e300, TTL_MAX),
    ],
)
async def test_ttl_is_floored_and_clamped(
    server: RunningServer, phone: DeviceActor, sender: Program, ttl: float | None, seconds: int
):
    reply = await sender.send("Done", **({} if ttl is None else {"ttl": ttl}))
    assert reply.status_code == 200
    assert (await entries(server, phone))[-1].expires_at == NOW + seconds


async def test_a_message_is_gone_the_second_its_ttl_ends(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    await sender.send(ttl=60)
    clock.advance_to(NOW + 59.999)
    assert len(await waiting(server, phone)) == 1
    clock.advance_to(NOW + 60)
    assert await waiting(server, phone) == []


@pytest.mark.parametrize("ttl", [0, 0.9, -5, -0.1])
async def test_ttl_0_reaches_only_who_is_connected(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock, ttl: float
):
    away = await sender.send("Nobody is there", ttl=ttl)
    assert (away.status_code, away.json()["delivered_to"], away.json()["warnings"]) == (200, [], [])
    async with open_sync(phone) as stream:
        assert (await stream.envelope()).type == "token.created"
        reply = await sender.send("Now", ttl=ttl)
        assert [each["device_id"] for each in reply.json()["delivered_to"]] == [phone.id]
        assert (await stream.envelope()).payload["message"] == "Now"
    clock.advance(30)
    assert await waiting(server, phone) == []


async def test_the_envelope_may_have_2048_bytes_and_not_one_more(sender: Program):
    fields: dict[str, Any] = {"url": link(512), "actions": [action(url=link(300))]}
    over = await sender.send("x" * 1_500, **fields)
    assert over.status_code == 413
    details = over.json()["error"]["details"]
    assert (over.json()["error"]["code"], details["max"]) == ("payload_too_large", 2_048)
    fitting = 1_500 - (details["size"] - 2_048)
    assert (await sender.send("x" * fitting, **fields)).status_code == 200
    one_more = await sender.send("x" * (fitting + 1), **fields)
    assert one_more.json()["error"]["details"] == {"size": 2_049, "max": 2_048}
    assert "connection" not in one_more.headers  # all of the body was read, so the connection can go on


async def test_a_test_token_is_checked_like_any_other_and_reaches_nobody(server: RunningServer, phone: DeviceActor):
    trial = await phone.new_token("Trial", test=True)
    reply = await trial.send("x")
    assert reply.status_code == 200
    assert reply.json()["delivered_to"] == []
    assert [warning["code"] for warning in reply.json()["warnings"]] == ["test_token"]
    assert (await trial.send("")).status_code == 400
    assert await waiting(server, phone) == []
