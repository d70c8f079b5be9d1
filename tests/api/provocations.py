"""For each code of the error catalogue, a way to get it over HTTP."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx

from reflecto.core.model import Delivery
from reflecto.core.ports.store import OutcomeUnknownError
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW, enrolment_body, make_reminder, make_token
from tests.fakes import FakeClock, FaultyStore
from tests.running import RunningServer

MIN_PHONE_BUILD: Final = 7
UNKNOWN: Final = "/v1/interactions/int_" + "0" * 32


@dataclass(frozen=True, slots=True)
class World:
    """A server that wants phones of `MIN_PHONE_BUILD`, an owner with one phone, and a store that can fail."""

    server: RunningServer
    clock: FakeClock
    store: FaultyStore
    phone: DeviceActor
    sender: Program


Provoke = Callable[[World], Awaitable[httpx.Response]]


def ask(**fields: Any) -> Provoke:
    """Ask with these fields."""
    return lambda world: world.sender.call("POST", "/v1/interactions", json={"question": "Deploy?"} | fields)


def send(**fields: Any) -> Provoke:
    """Send a message with these fields."""
    return lambda world: world.sender.call("POST", "/v1/send", json={"message": "Backup done"} | fields)


def post(path: str, **body: Any) -> Provoke:
    """Make another call as the sender."""
    return lambda world: world.sender.call("POST", path, json=body)


def answer(**fields: Any) -> Provoke:
    """Ask, then tap with these fields."""

    async def provoke(world: World) -> httpx.Response:
        question = await world.sender.ask_id()
        return await world.phone.answer(question, **{"choice_index": 0} | fields)

    return provoke


async def use_a_key_for_two_messages(world: World) -> httpx.Response:
    """Send one message, then another under the same Idempotency-Key."""
    headers = {"Idempotency-Key": "one"}
    await world.sender.call("POST", "/v1/send", json={"message": "One"}, headers=headers)
    return await world.sender.call("POST", "/v1/send", json={"message": "Two"}, headers=headers)


def enrol(**fields: Any) -> Provoke:
    """Redeem a fresh code with these fields."""

    async def provoke(world: World) -> httpx.Response:
        body = enrolment_body(await world.server.invite()) | fields
        return await world.server.http.post("/v1/enroll", json=body)

    return provoke


def report(**fields: Any) -> Provoke:
    """Report something of the phone."""
    return lambda world: world.phone.call("PATCH", "/v1/devices/self", json=fields)


def make(**fields: Any) -> Provoke:
    """Make a token."""
    return lambda world: world.phone.call("POST", "/v1/tokens", json={"label": "CI"} | fields)


async def wait_too_long(world: World) -> httpx.Response:
    return await world.sender.read(await world.sender.ask_id(), wait=61)


async def ask_capped(world: World) -> httpx.Response:
    return await (await world.phone.new_token(priority_cap="low")).send(priority="high")


async def simulate_with_a_live_token(world: World) -> httpx.Response:
    return await world.sender.simulate(await world.sender.ask_id())


async def ask_without_a_phone(world: World) -> httpx.Response:
    await world.phone.call("DELETE", "/v1/devices/self")
    return await world.sender.ask()


async def ask_an_old_phone(world: World) -> httpx.Response:
    await world.phone.call("PATCH", "/v1/devices/self", json={"app_build": MIN_PHONE_BUILD - 1})
    return await world.sender.ask()


async def answer_too_late(world: World) -> httpx.Response:
    tablet = await enroll(world.server, owner=world.phone)
    question = await world.sender.ask_id()
    await tablet.answer(question)
    return await world.phone.answer(question)


async def ask_for_number(world: World) -> tuple[str, str]:
    """Let the phone know version 2, ask for a number, and return the question's id and a wrong number."""
    await world.phone.call("PATCH", "/v1/devices/self", json={"features": ["answer_v2"]})
    asked = (await world.sender.ask(confirm="number")).json()
    return asked["id"], f"{(int(asked['confirm_number']) + 1) % 100:02d}"


async def answer_without_a_number(world: World) -> httpx.Response:
    question, _ = await ask_for_number(world)
    return await world.phone.answer_v2(question, "0" * 64)


async def answer_with_a_wrong_number(world: World) -> httpx.Response:
    question, wrong = await ask_for_number(world)
    return await world.phone.answer_v2(question, "0" * 64, number=wrong)


async def answer_a_closed_question(world: World) -> httpx.Response:
    question = await world.sender.ask_id()
    await world.sender.cancel(question)
    return await world.phone.answer(question)


async def guess_too_often(world: World) -> httpx.Response:
    for _ in range(5):
        await world.server.http.post("/v1/enroll", json=enrolment_body("0000-0000-0000-0000"))
    return await world.server.http.post("/v1/enroll", json=enrolment_body("0000-0000-0000-0000"))


async def ask_an_eleventh(world: World) -> httpx.Response:
    for number in range(10):
        await world.sender.ask_id(f"Question {number}?")
    return await world.sender.ask("One more?")


async def hit_a_bug(world: World) -> httpx.Response:
    world.store.fail("create_interaction_once", error=RuntimeError("a bug"))
    return await world.sender.ask()


async def fill_the_disk(world: World) -> httpx.Response:
    world.store.fail("create_interaction_once")
    return await world.sender.ask()


async def ask_a_database_that_does_not_say(world: World) -> httpx.Response:
    world.store.fail("create_interaction_once", error=OutcomeUnknownError("the database has not answered in time"))
    return await world.sender.ask()


async def raise_emergency(world: World) -> httpx.Response:
    body = {"token": world.sender.token, "message": "Fire", "priority": 2, "expire": 60}
    return await world.server.http.post("/1/messages.json", json=body)


async def raise_a_51st_emergency(world: World) -> httpx.Response:
    for _ in range(50):
        assert (await raise_emergency(world)).status_code == 200
    return await raise_emergency(world)


async def acknowledge_too_late(world: World) -> httpx.Response:
    receipt = (await raise_emergency(world)).json()["receipt"]
    world.clock.advance(60)
    return await world.phone.call("POST", f"/v1/emergencies/{receipt}/acknowledge")


async def bring_a_33rd_device(world: World) -> httpx.Response:
    for _ in range(31):
        await enroll(world.server)
    return await enrol()(world)


async def make_a_201st_token(world: World) -> httpx.Response:
    tokens = [make_token(world.phone.owner_id) for _ in range(199)]
    await asyncio.gather(*map(world.store.add_token, tokens))
    return await make()(world)


async def set_a_1001st_reminder(world: World) -> httpx.Response:
    token = make_token(world.phone.owner_id, id=world.sender.id)
    await asyncio.gather(*(world.store.add_reminder(make_reminder(token), []) for _ in range(1_000)))
    return await post("/v1/reminders", message="Tea", at=NOW + 3_600)(world)


async def fill_the_queue(world: World) -> httpx.Response:
    await world.store.append_to_queues([Delivery(world.phone.id, b"x", NOW + 60)] * 4_000)
    return await send()(world)


PROVOCATIONS: Final[Mapping[str, Provoke]] = {
    "invalid_json": lambda world: world.sender.call("POST", "/v1/interactions", content=b"{"),
    "invalid_body": lambda world: world.sender.call(
        "POST", "/v1/send", content=b"\xff", headers={"content-type": "text/plain"}
    ),
    "invalid_question": ask(question=""),
    "invalid_choices": ask(choices=["a"]),
    "invalid_expires_in": ask(expires_in=1),
    "invalid_tether": ask(tether=4),
    "invalid_details": ask(details=[{"kind": "code", "text": "x" * 49_152}]),
    "invalid_source": ask(source={"app": "x" * 101}),
    "invalid_danger": ask(danger="low"),
    "invalid_confirm": ask(confirm="press"),
    "invalid_number": answer_without_a_number,
    "wrong_number": answer_with_a_wrong_number,
    "invalid_comment": ask(comment="required"),
    "invalid_idempotency_key": ask(idempotency_key=""),
    "invalid_choice": answer(choice_index=3),
    "invalid_message": send(message=""),
    "message_too_long": send(message="x" * 1_501),
    "invalid_title": send(title="x" * 101),
    "invalid_priority": send(priority="highest"),
    "invalid_tags": send(tags=5),
    "invalid_url": send(url="ftp://example.org"),
    "invalid_url_title": send(url="https://example.org", url_title="x" * 101),
    "invalid_action": send(actions=[{"label": "", "url": "https://example.org"}]),
    "invalid_device": send(device=""),
    "invalid_markdown": send(markdown="yes"),
    "invalid_ttl": send(ttl="soon"),
    "invalid_filename": post("/v1/documents", filename="../a.txt", content="x"),
    "invalid_content": post("/v1/documents", filename="a.txt", content=""),
    "invalid_at": post("/v1/reminders", message="Tea", at=NOW),
    "invalid_duration": post("/v1/ring", duration=1),
    "invalid_wait": wait_too_long,
    "missing_token": lambda world: world.server.http.get("/v1/tokens"),
    "invalid_token": lambda world: world.sender.call("GET", "/v1/tokens"),
    "priority_capped": ask_capped,
    "scope_denied": simulate_with_a_live_token,
    "not_found": lambda world: world.sender.call("GET", UNKNOWN),
    "method_not_allowed": lambda world: world.sender.call("PUT", UNKNOWN),
    "unsupported_media_type": lambda world: world.sender.call(
        "POST", "/v1/interactions", content=b"question=x", headers={"content-type": "text/plain"}
    ),
    "no_phone_device": ask_without_a_phone,
    "already_answered": answer_too_late,
    "interaction_closed": answer_a_closed_question,
    "idempotency_key_reused": use_a_key_for_two_messages,
    "payload_too_large": lambda world: world.sender.call("POST", "/v1/interactions", content=b" " * 327_681),
    "phone_app_outdated": ask_an_old_phone,
    "rate_limit_exceeded": guess_too_often,
    "too_many_pending": ask_an_eleventh,
    "queue_full": fill_the_queue,
    "internal_error": hit_a_bug,
    "unavailable": fill_the_disk,
    "outcome_unknown": ask_a_database_that_does_not_say,
    "invalid_code": enrol(code="0000-0000-0000-0000"),
    "invalid_public_key": enrol(public_key=""),
    "invalid_signing_key": enrol(signing_key=""),
    "invalid_label": enrol(label=""),
    "invalid_type": enrol(type="ios"),
    "invalid_class": enrol(**{"class": "tablet"}),
    "invalid_app_build": enrol(app_build=-1),
    "invalid_features": enrol(features=["two words"]),
    "invalid_push": report(push={"endpoint": "http://192.0.2.1/", "keys": {"p256dh": "", "auth": ""}}),
    "invalid_seq": lambda world: world.phone.ack(99),
    "invalid_answered_at": answer(answered_at=-1),
    "invalid_signature": answer(signature="x"),
    "invalid_priority_cap": make(priority_cap="highest"),
    "invalid_scopes": make(scopes=[]),
    "invalid_test": make(test="no"),
    "too_many_devices": bring_a_33rd_device,
    "too_many_reminders": set_a_1001st_reminder,
    "too_many_emergencies": raise_a_51st_emergency,
    "emergency_closed": acknowledge_too_late,
    "too_many_tokens": make_a_201st_token,
}


def code_of(reply: httpx.Response) -> str:
    """Return the code of a refusal in any of the three shapes."""
    body: dict[str, Any] = json.loads(reply.content)
    if "errors" in body:
        return str(body["errors"][0])
    error = body["error"]
    return str(error if isinstance(error, str) else error["code"])
