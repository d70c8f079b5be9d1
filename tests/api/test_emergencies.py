"""Pushover's emergencies: they ring until somebody acknowledges them on a phone, or they expire, or are cancelled."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import httpx
import pytest

from reflecto.bootstrap import PushOptions
from reflecto.contract.envelopes import Envelope
from reflecto.crypto.webpush import VapidKeys
from reflecto.push.addresses import Resolve, resolve
from reflecto.store.sqlite.database import DATABASE_NAME
from tests.actors import DeviceActor, Program, enroll
from tests.api.sent import entries, waiting
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.push.push_service import PushServiceOnLoopback, reply
from tests.running import RunningServer, run_server

RECEIPT = {
    "status": 1,
    "acknowledged": 0,
    "acknowledged_at": 0,
    "acknowledged_by": "",
    "acknowledged_by_device": "",
    "last_delivered_at": NOW,
    "expired": 0,
    "expires_at": NOW + 3_600,
    "called_back": 0,
    "called_back_at": 0,
}


@pytest.fixture
async def knowing(server: RunningServer, phone: DeviceActor) -> DeviceActor:
    """A phone of the same owner that knows emergencies."""
    return await enroll(server, owner=phone, label="Fold", features=["emergency"])


async def raise_alarm(sender: Program, **fields: Any) -> dict[str, Any]:
    """Send an emergency and return the reply."""
    body = {"token": sender.token, "user": "me", "message": "Fire", "priority": 2, "retry": 60, "expire": 3_600}
    sent = await sender.http.post("/1/messages.json", json=body | fields)
    assert sent.status_code == 200, sent.text
    raised: dict[str, Any] = sent.json()
    return raised


async def read(sender: Program, raised: dict[str, Any]) -> dict[str, Any]:
    """Return the receipt without the request's id."""
    found = await sender.http.get(f"/1/receipts/{raised['receipt']}.json", params={"token": sender.token})
    assert found.status_code == 200, found.text
    receipt: dict[str, Any] = found.json()
    assert receipt.pop("request").startswith("msg_")
    return receipt


async def acknowledge(phone: DeviceActor, raised: dict[str, Any]) -> httpx.Response:
    return await phone.call("POST", f"/v1/emergencies/{raised['receipt']}/acknowledge")


async def cancel(sender: Program, raised: dict[str, Any]) -> httpx.Response:
    return await sender.http.post(f"/1/receipts/{raised['receipt']}/cancel.json", data={"token": sender.token})


async def pass_seconds(server: RunningServer, seconds: float) -> None:
    """Let the time pass, and whatever is due happen."""
    server.clock.advance(seconds)
    await server.services.emergencies.sound_due()


def ids(envelopes: Sequence[Envelope]) -> list[str]:
    return [envelope.id for envelope in envelopes]


async def test_a_device_that_knows_emergencies_gets_it_whole_and_its_sender_a_receipt(
    server: RunningServer, knowing: DeviceActor, sender: Program
):
    raised = await raise_alarm(sender, title="Cellar", url="app://x", html=1, timestamp=NOW, sound="siren")
    assert raised.keys() == {"status", "request", "receipt"}
    assert len(raised["receipt"]) == 30
    assert raised["receipt"].isalnum()
    [emergency] = await waiting(server, knowing, "emergency")
    assert (emergency.id, emergency.source) == (raised["request"], {"token": "Default", "token_id": sender.id})
    assert emergency.payload == {
        "receipt": raised["receipt"],
        "retry": 60,
        "expires_at": NOW + 3_600,
        "message": "Fire",
        "title": "Cellar",
        "url": "app://x",
        "html": True,
        "timestamp": NOW,
        "sound": "siren",
    }
    assert await waiting(server, knowing, "ring") == []
    assert await read(sender, raised) == RECEIPT


async def test_a_device_that_does_not_gets_the_message_once_and_a_ring_each_time(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    raised = await raise_alarm(sender, title="Cellar")
    await pass_seconds(server, 60)
    await pass_seconds(server, 60)
    notes = await waiting(server, phone)
    assert [(note.id, note.payload["message"], note.payload["priority"]) for note in notes] == [
        (raised["request"], "Fire", "high")
    ]
    rings = [entry for entry in await entries(server, phone) if phone.open(entry.blob).type == "ring"]
    [ring] = [phone.open(entry.blob) for entry in rings]  # those before are past their time
    assert (ring.payload["duration"], ring.payload["expires_at"]) == (30, NOW + 180)
    assert "Fire" not in str(ring.payload)
    assert await waiting(server, phone, "emergency") == []


async def test_it_rings_again_every_retry_the_same_each_time_until_it_is_acknowledged(
    server: RunningServer, phone: DeviceActor, knowing: DeviceActor, sender: Program
):
    raised = await raise_alarm(sender, retry=30)
    await pass_seconds(server, 29)
    assert len(await waiting(server, knowing, "emergency")) == 1
    await pass_seconds(server, 1)
    first, second = await waiting(server, knowing, "emergency")
    assert first == second
    await pass_seconds(server, 30)
    assert len(await waiting(server, knowing, "emergency")) == 2  # the first stays, the last round has taken its place
    assert (await read(sender, raised))["last_delivered_at"] == NOW + 60
    assert (await acknowledge(phone, raised)).status_code == 204
    await pass_seconds(server, 30)
    assert len(await waiting(server, knowing, "emergency")) == 1


async def test_a_picture_comes_with_the_first_round_only(server: RunningServer, knowing: DeviceActor, sender: Program):
    await raise_alarm(sender, attachment_base64="iVBORw0KGgoAAAA=")
    await pass_seconds(server, 60)
    first, again = await waiting(server, knowing, "emergency")
    assert first.payload.pop("image")["media_type"] == "image/png"
    assert first.payload == again.payload


async def test_an_acknowledgement_ends_it_everywhere_and_names_the_phone(
    server: RunningServer, phone: DeviceActor, knowing: DeviceActor, sender: Program
):
    desk = await enroll(server, owner=phone, label="desk", class_="desktop", features=["emergency"])
    raised = await raise_alarm(sender)
    server.clock.advance(42)
    assert (await acknowledge(phone, raised)).status_code == 204
    for device in (knowing, desk):
        [closed] = await waiting(server, device, "emergency.closed")
        assert (closed.id, closed.payload) == (
            raised["request"],
            {"status": "acknowledged", "receipt": raised["receipt"], "by": "Pixel"},
        )
    assert await waiting(server, phone, "emergency.closed") == []  # it does not know what that is
    assert await read(sender, raised) == RECEIPT | {
        "acknowledged": 1,
        "acknowledged_at": NOW + 42,
        "acknowledged_by": phone.owner_id,
        "acknowledged_by_device": "Pixel",
    }


async def test_a_repeat_by_whatever_phone_is_204_and_changes_nothing(
    server: RunningServer, phone: DeviceActor, knowing: DeviceActor, sender: Program
):
    raised = await raise_alarm(sender)
    replies = await asyncio.gather(*(acknowledge(each, raised) for each in (phone, knowing) * 4))
    assert {each.status_code for each in replies} == {204}
    winner = (await read(sender, raised))["acknowledged_by_device"]
    await pass_seconds(server, 10)
    assert (await acknowledge(knowing, raised)).status_code == 204
    receipt = await read(sender, raised)
    assert (receipt["acknowledged_at"], receipt["acknowledged_by_device"]) == (NOW, winner)
    assert len(await waiting(server, knowing, "emergency.closed")) == 1


async def test_time_ends_it_at_the_very_second_and_devices_are_told(
    server: RunningServer, phone: DeviceActor, knowing: DeviceActor, sender: Program
):
    raised = await raise_alarm(sender, retry=45, expire=100)
    server.clock.advance(99.9)
    assert (await read(sender, raised))["expired"] == 0
    server.clock.advance(0.1)
    assert (await read(sender, raised))["expired"] == 1
    refused = await acknowledge(phone, raised)
    assert refused.status_code == 409
    assert refused.json()["error"]["code"] == "emergency_closed"
    assert refused.json()["error"]["details"] == {"status": "expired"}
    await pass_seconds(server, 0)
    [closed] = await waiting(server, knowing, "emergency.closed")
    assert closed.payload == {"status": "expired", "receipt": raised["receipt"]}
    assert (await read(sender, raised))["acknowledged"] == 0
    await pass_seconds(server, 100)
    assert len(await waiting(server, knowing, "emergency.closed")) == 1


async def test_its_sender_cancels_it_and_may_do_so_again(
    server: RunningServer, phone: DeviceActor, knowing: DeviceActor, sender: Program
):
    raised = await raise_alarm(sender)
    server.clock.advance(10)
    for _ in range(2):
        cancelled = await cancel(sender, raised)
        assert (cancelled.status_code, cancelled.json().keys()) == (200, {"status", "request"})
    [closed] = await waiting(server, knowing, "emergency.closed")
    assert closed.payload == {"status": "cancelled", "receipt": raised["receipt"]}
    assert await read(sender, raised) == RECEIPT | {"expired": 1, "expires_at": NOW + 10}
    refused = await acknowledge(phone, raised)
    assert (refused.status_code, refused.json()["error"]["details"]) == (409, {"status": "cancelled"})


async def test_what_was_acknowledged_stays_so_when_it_is_cancelled(phone: DeviceActor, sender: Program):
    raised = await raise_alarm(sender)
    await acknowledge(phone, raised)
    assert (await cancel(sender, raised)).status_code == 200
    receipt = await read(sender, raised)
    assert (receipt["acknowledged"], receipt["expired"]) == (1, 0)


async def test_a_tag_cancels_all_that_carry_it_and_nothing_else(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    other = await phone.new_token()
    tagged = [await raise_alarm(sender, tags=tags) for tags in ("db1,eu", " eu ", ["eu", "db2"])]
    untouched = [await raise_alarm(sender, tags="db1"), await raise_alarm(sender)]
    strangers = await raise_alarm(other, tags="eu")
    path = "/1/receipts/cancel_by_tag/eu.json"
    cancelled = await server.http.post(path, data={"token": sender.token})
    assert cancelled.json() == {"status": 1, "canceled": 3, "request": cancelled.json()["request"]}
    assert [(await read(sender, each))["expired"] for each in (*tagged, *untouched)] == [1, 1, 1, 0, 0]
    assert (await read(other, strangers))["expired"] == 0
    again = await server.http.post(path, data={"token": sender.token})
    assert (again.status_code, again.json()["canceled"]) == (200, 0)


@pytest.mark.parametrize("tag", ["a/b", "a//b", "/", "eu/cancel", "x.json"])
async def test_a_tag_with_slashes_is_cancelled_by_too(server: RunningServer, sender: Program, tag: str):
    raised, other = await raise_alarm(sender, tags=tag), await raise_alarm(sender, tags="a")
    path = f"/1/receipts/cancel_by_tag/{quote(tag, safe='')}.json"
    cancelled = await server.http.post(path, data={"token": sender.token})
    assert (cancelled.status_code, cancelled.json()["canceled"]) == (200, 1)
    assert [(await read(sender, each))["expired"] for each in (raised, other)] == [1, 0]


async def test_only_its_token_finds_it_and_only_its_owner_s_phones_acknowledge_it(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    raised = await raise_alarm(sender)
    other = await phone.new_token()
    stranger = await enroll(server, await server.invite(new_owner=True))
    desk = await enroll(server, owner=phone, class_="desktop", features=["emergency"])
    for program in (other, stranger.default_program()):
        found = await server.http.get(f"/1/receipts/{raised['receipt']}.json", params={"token": program.token})
        assert (found.status_code, found.json()["errors"]) == (404, ["not_found"])
        assert (await cancel(program, raised)).status_code == 404
    assert (await acknowledge(stranger, raised)).status_code == 404
    assert (await acknowledge(desk, raised)).status_code == 403
    assert (await acknowledge(phone, {"receipt": "r" * 30})).status_code == 404
    assert (await acknowledge(phone, {"receipt": "nothing"})).status_code == 404
    assert await read(sender, raised) == RECEIPT


@pytest.mark.parametrize(
    ("fields", "retry", "expire", "warnings"),
    [
        ({"retry": 30, "expire": 10_800}, 30, 10_800, []),
        ({"retry": "60", "expire": "3600"}, 60, 3_600, []),
        ({"retry": 29}, 30, 3_600, ["retry_adjusted"]),
        ({"expire": 10_801}, 60, 10_800, ["expire_adjusted"]),
        ({"retry": None, "expire": None}, 60, 3_600, ["retry_adjusted", "expire_adjusted"]),
        ({"retry": "often", "expire": -1}, 60, 1, ["retry_adjusted", "expire_adjusted"]),
    ],
)
async def test_retry_and_expire_are_brought_within_bounds_and_the_alarm_goes_out(
    server: RunningServer,
    knowing: DeviceActor,
    sender: Program,
    fields: dict[str, Any],
    retry: int,
    expire: int,
    warnings: list[str],
):
    raised = await raise_alarm(sender, **fields)
    assert [warning["code"] for warning in raised.get("warnings", [])] == warnings
    [emergency] = await waiting(server, knowing, "emergency")
    assert (emergency.payload["retry"], emergency.payload["expires_at"]) == (retry, NOW + expire)


async def test_a_cap_below_high_or_a_missing_scope_refuses_it(
    server: RunningServer, phone: DeviceActor, knowing: DeviceActor
):
    for fields, code in (({"priority_cap": "default"}, "priority_capped"), ({"scopes": ["ask"]}, "scope_denied")):
        program = await phone.new_token(**fields)
        body = {"token": program.token, "message": "Fire", "priority": 2, "retry": 60, "expire": 60}
        refused = await server.http.post("/1/messages.json", json=body)
        assert (refused.status_code, refused.json()["errors"]) == (403, [code])
    await raise_alarm(await phone.new_token(priority_cap="high", scopes=["send"]))
    assert len(await waiting(server, knowing, "emergency")) == 1


async def test_a_test_token_s_emergency_reaches_nobody_and_can_be_read_and_cancelled(
    server: RunningServer, phone: DeviceActor, knowing: DeviceActor
):
    tester = await phone.new_token(test=True)
    raised = await raise_alarm(tester)
    await pass_seconds(server, 60)
    assert await waiting(server, knowing, "emergency") == []
    assert (await read(tester, raised))["acknowledged"] == 0
    assert (await cancel(tester, raised)).status_code == 200


async def test_revoking_the_token_ends_its_emergencies(
    server: RunningServer, phone: DeviceActor, knowing: DeviceActor, sender: Program
):
    program = await phone.new_token()
    await raise_alarm(program)
    kept = await raise_alarm(sender)
    assert (await phone.revoke(program)).status_code == 204
    [closed] = await waiting(server, knowing, "emergency.closed")
    assert closed.payload["status"] == "cancelled"
    assert await read(sender, kept) == RECEIPT


async def test_a_phone_that_has_learned_of_emergencies_gets_them_from_the_next_round_on(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    raised = await raise_alarm(sender)
    await phone.call("PATCH", "/v1/devices/self", json={"features": ["emergency"]})
    await pass_seconds(server, 60)
    assert ids(await waiting(server, phone, "emergency")) == [raised["request"]]


async def test_only_the_devices_it_is_for_ring(
    server: RunningServer, phone: DeviceActor, knowing: DeviceActor, sender: Program
):
    await raise_alarm(sender, device="Fold")
    assert len(await waiting(server, knowing, "emergency")) == 1
    assert (await waiting(server, phone, "ring"), await waiting(server, phone, "emergency")) == ([], [])
    assert "Fire" not in str(await waiting(server, phone))


async def test_it_goes_on_after_a_restart_and_a_missed_round_is_made_at_once(tmp_path: Path):
    clock = FakeClock()
    async with run_server(tmp_path, clock) as server:
        phone = await enroll(server, features=["emergency"])
        sender = phone.default_program()
        raised = await raise_alarm(sender)
    clock.advance(150)
    async with run_server(tmp_path, clock) as server:
        await server.services.emergencies.sound_due()
        store = server.services.store
        [emergency] = await store.list_due_emergencies(NOW + 210, 10)
        assert (emergency.receipt, emergency.next_round_at) == (raised["receipt"], NOW + 210)
        assert emergency.last_delivered_at == NOW + 150
        assert len(await store.read_queue(phone.id, 0, 10, clock.now()) or []) == 3  # token, first and this round


async def test_a_receipt_can_be_read_for_a_week(server: RunningServer, phone: DeviceActor, sender: Program):
    raised = await raise_alarm(sender)
    await acknowledge(phone, raised)
    server.clock.advance(7 * 86_400 - 1)
    assert (await read(sender, raised))["acknowledged"] == 1
    server.clock.advance(1)
    found = await server.http.get(f"/1/receipts/{raised['receipt']}.json", params={"token": sender.token})
    assert found.status_code == 404
    await server.services.store.sweep(server.clock.now())


@asynccontextmanager
async def calling_back(
    folder: Path, *, allow_private: bool = True, resolve: Resolve = resolve
) -> AsyncIterator[tuple[RunningServer, Program, Any]]:
    """A server that may call back on loopback, its sender, and who is called."""
    options = PushOptions(VapidKeys.generate(), callback_allow_private=allow_private, resolve=resolve)
    async with PushServiceOnLoopback.run() as called, run_server(folder, push=options) as server:
        yield server, (await enroll(server)).default_program(), called


async def acknowledged_with_callback(server: RunningServer, sender: Program, url: str) -> dict[str, Any]:
    """Send an emergency with a callback and let a new phone acknowledge it."""
    raised = await raise_alarm(sender, callback=url)
    phone = await enroll(server, label="Fold")
    assert (await acknowledge(phone, raised)).status_code == 204
    return raised | {"owner": phone.owner_id}


async def test_its_sender_is_called_back_once_with_pushover_s_fields(tmp_path: Path):
    async with calling_back(tmp_path) as (server, sender, called):
        raised = await acknowledged_with_callback(server, sender, f"{called.url}/ack?k=1")
        calling = asyncio.create_task(server.services.emergencies.call_back_due())
        request = await called.next()
        assert await calling == 1
        assert (request.method, request.path) == ("POST", "/ack?k=1")
        assert request.headers["content-type"] == "application/x-www-form-urlencoded"
        assert parse_qs(request.body.decode()) == {
            "receipt": [raised["receipt"]],
            "acknowledged": ["1"],
            "acknowledged_at": [str(NOW)],
            "acknowledged_by": [raised["owner"]],
            "acknowledged_by_device": ["Fold"],
        }
        receipt = await read(sender, raised)
        assert (receipt["called_back"], receipt["called_back_at"]) == (1, NOW)
        server.clock.advance(86_400)
        assert await server.services.emergencies.call_back_due() == 0


async def test_a_callback_that_fails_is_made_again_a_few_times_only(tmp_path: Path):
    async with calling_back(tmp_path) as (server, sender, called):
        called.answer_next(*[reply(status) for status in (500, 302, 404, 503, 500, 500)])
        raised = await acknowledged_with_callback(server, sender, called.url)
        for delay in (0, 60, 300, 900, 3_600, 14_400):
            server.clock.advance(delay)
            assert await server.services.emergencies.call_back_due() == 0
            await called.next()
        server.clock.advance(86_400)
        assert await server.services.emergencies.call_back_due() == 0
        assert (await read(sender, raised))["called_back"] == 0


async def test_a_private_address_is_not_called_back_unless_configured(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    async def inside(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    async with calling_back(tmp_path, allow_private=False, resolve=inside) as (server, sender, called):
        port = called.url.rpartition(":")[2]
        raised = await acknowledged_with_callback(server, sender, f"https://ops.example:{port}/secret-path")
        assert await server.services.emergencies.call_back_due() == 0
        assert called.accepted_connections == 0
        assert "callback_allow_private" in caplog.text
        assert "secret-path" not in caplog.text
        assert (await read(sender, raised))["called_back"] == 0


@pytest.mark.parametrize("host", ["127.0.0.1:9", "127.1", "0x7f000001", "10.0.0.8", "[::1]", "[fd00::1]", "localhost"])
async def test_a_callback_that_names_a_private_address_is_left_out_with_a_warning(sender: Program, host: str):
    raised = await raise_alarm(sender, callback=f"https://{host}/ack")
    assert [warning["code"] for warning in raised["warnings"]] == ["callback_dropped"]


async def test_a_callback_that_names_a_private_address_is_kept_where_those_may_be_called(tmp_path: Path):
    async with calling_back(tmp_path) as (_, sender, _called):
        assert "warnings" not in await raise_alarm(sender, callback="https://10.0.0.8/ack")


@pytest.mark.parametrize("host", ["1.1.1.1", "ops.example:8443", "[2606:4700::1111]"])
async def test_a_callback_to_a_public_address_or_a_name_is_kept(sender: Program, host: str):
    assert "warnings" not in await raise_alarm(sender, callback=f"https://{host}/ack")


@pytest.mark.parametrize(
    "callback",
    [
        "http://ops.example/",
        "https://me:pw@ops.example/",
        "ftp://ops.example/",
        "ops.example",
        "https://x/" + "y" * 512,
    ],
)
async def test_a_callback_that_is_not_https_is_left_out(sender: Program, callback: str):
    raised = await raise_alarm(sender, callback=callback)
    assert [warning["code"] for warning in raised["warnings"]] == ["callback_dropped"]


async def test_nothing_of_the_text_or_the_tags_is_stored_readable(
    server: RunningServer, tmp_path: Path, knowing: DeviceActor, sender: Program
):
    await raise_alarm(sender, message="Cellar is burning", tags="cellar-tag", callback="https://ops.example/readable")
    assert len(await waiting(server, knowing, "emergency")) == 1
    await server.services.store.close()
    stored = (tmp_path / DATABASE_NAME).read_bytes()
    assert b"burning" not in stored
    assert b"cellar-tag" not in stored
    assert b"ops.example/readable" in stored
