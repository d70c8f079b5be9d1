"""`Idempotency-Key` on every POST that creates: the first reply is kept, in the transaction of what it is about."""

import asyncio
import itertools
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from reflecto.core.ports.store import StoreUnavailableError
from reflecto.core.quotas import PROFILES
from tests.actors import DeviceActor, Program, enroll
from tests.api.sent import entries, waiting
from tests.builders import NOW, DeviceKeys, enrolment_body
from tests.fakes import BOUND_SECONDS, FakeClock, FaultyStore, Gate
from tests.running import RunningServer, run_server

DAY: Final = 86_400
KEY: Final = "8e03978e-40d5-43e8-bc93-6894a57f9324"


def keyed(key: str = KEY) -> dict[str, Any]:
    """Return the options of a request under a key."""
    return {"headers": {"Idempotency-Key": key}}


class World:
    """A server with an owner, and further devices' worth of codes and pairings."""

    def __init__(self, server: RunningServer, phone: DeviceActor) -> None:
        self.server = server
        self.phone = phone
        self.sender = phone.default_program()
        self.keys = DeviceKeys()
        self.code = ""
        self.pairing = ""

    async def prepare(self) -> None:
        self.code = await self.server.invite(owner_id=self.phone.owner_id)
        opened = await self.phone.call("POST", "/v1/pairings", json={})
        self.pairing = opened.json()["pairing_id"]

    async def enroll(self, **options: Any) -> httpx.Response:
        body = enrolment_body(self.code, self.keys, label="Fold")
        return await self.server.http.post("/v1/enroll", json=body, **options)

    async def claim(self, **options: Any) -> httpx.Response:
        body = enrolment_body("", self.keys, label="Fold", type="web", class_="desktop")
        body |= {"proof": b64encode(bytes(32)).decode()}
        return await self.server.http.post(f"/v1/pairings/{self.pairing}/claim", json=body, **options)

    async def relay(self, **options: Any) -> httpx.Response:
        body = {"to": [self.phone.id], "blobs": [b64encode(b"\1" + bytes(60)).decode()]}
        return await self.phone.call("POST", "/v1/relay", json=body, **options)

    async def holdings(self) -> list[Any]:
        """Return all that any of the calls could have made."""
        store, owner_id = self.server.services.store, self.phone.owner_id
        return [
            [device.id for device in await store.list_devices(owner_id)],
            [token.id for token in await store.list_tokens(owner_id)],
            (await self.sender.call("GET", "/v1/reminders")).json(),
            (await self.phone.call("GET", f"/v1/pairings/{self.pairing}")).json(),
            await entries(self.server, self.phone),
        ]


Call = Callable[..., Awaitable[httpx.Response]]

CALLS: Final[dict[str, Callable[[World], Call]]] = {
    "send": lambda world: lambda **options: world.sender.call("POST", "/v1/send", json={"message": "Hi"}, **options),
    "send in a form": lambda world: (
        lambda **options: world.sender.call("POST", "/v1/send", data={"message": "Hi"}, **options)
    ),
    "send by url": lambda world: (
        lambda **options: world.server.http.post(f"/v1/send/{world.sender.token}", content=b"Hi", **options)
    ),
    "send to nobody": lambda world: (
        lambda **options: world.sender.call(
            "POST", "/v1/send", json={"message": "Hi", "device": "dev_" + "0" * 32}, **options
        )
    ),
    "document": lambda world: (
        lambda **options: world.sender.call(
            "POST", "/v1/documents", json={"filename": "a.txt", "content": "text"}, **options
        )
    ),
    "ring": lambda world: lambda **options: world.sender.call("POST", "/v1/ring", json={}, **options),
    "reminder": lambda world: (
        lambda **options: world.sender.call(
            "POST", "/v1/reminders", json={"message": "Hi", "at": NOW + 3_600}, **options
        )
    ),
    "pushover": lambda world: (
        lambda **options: world.server.http.post(
            "/1/messages.json", data={"token": world.sender.token, "user": "me", "message": "Hi"}, **options
        )
    ),
    "emergency": lambda world: (
        lambda **options: world.server.http.post(
            "/1/messages.json",
            data={"token": world.sender.token, "user": "me", "message": "Hi", "priority": "2"},
            **options,
        )
    ),
    "token": lambda world: lambda **options: world.phone.call("POST", "/v1/tokens", json={"label": "CI"}, **options),
    "invitation": lambda world: lambda **options: world.phone.call("POST", "/v1/invitations", **options),
    "pairing": lambda world: lambda **options: world.phone.call("POST", "/v1/pairings", json={}, **options),
    "claim": lambda world: world.claim,
    "enrolment": lambda world: world.enroll,
    "relay": lambda world: world.relay,
}


@pytest.fixture
async def server(tmp_path: Path, clock: FakeClock) -> AsyncIterator[RunningServer]:
    """A server whose store can hold calls back."""
    async with run_server(tmp_path, clock, wrap_store=FaultyStore) as running:
        yield running


@pytest.fixture
def store(server: RunningServer) -> FaultyStore:
    """That store."""
    assert isinstance(server.services.store, FaultyStore)
    return server.services.store


@pytest.fixture
async def world(server: RunningServer, phone: DeviceActor) -> World:
    """That server with an owner."""
    made = World(server, phone)
    await made.prepare()
    return made


@pytest.fixture(params=sorted(CALLS))
def call(request: pytest.FixtureRequest, world: World) -> Call:
    """Each call that creates."""
    return CALLS[request.param](world)


async def test_the_same_request_under_the_same_key_gets_the_first_reply_and_makes_nothing(world: World, call: Call):
    first = await call(**keyed())
    assert first.status_code in {200, 201, 204}, first.text
    assert "idempotent-replayed" not in first.headers
    before = await world.holdings()
    for _ in range(2):
        again = await call(**keyed())
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert again.headers["idempotent-replayed"] == "true"
    assert await world.holdings() == before


async def test_a_repeat_whose_first_is_under_way_waits_for_it(call: Call):
    replies = await asyncio.gather(*(call(**keyed()) for _ in range(8)))
    assert len({(each.status_code, each.content) for each in replies}) == 1
    assert replies[0].status_code < 300
    assert sum("idempotent-replayed" not in each.headers for each in replies) == 1


async def test_a_key_of_no_or_more_than_128_characters_is_refused(world: World, call: Call):
    before = await world.holdings()
    for key in ("", "k" * 129):
        refused = await call(**keyed(key))
        assert refused.status_code == 400
        assert "invalid_idempotency_key" in refused.text
    assert await world.holdings() == before
    assert (await call(**keyed("k" * 128))).status_code < 300


async def test_two_keys_for_one_request_are_refused(server: RunningServer, sender: Program):
    headers = [("Authorization", f"Bearer {sender.token}"), ("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    refused = await server.http.post("/v1/send", json={"message": "Hi"}, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_idempotency_key")


async def test_another_request_under_the_key_is_refused_and_makes_nothing(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    first = await sender.call("POST", "/v1/send", json={"message": "One"}, **keyed())
    for path, body in (
        ("/v1/send", {"message": "Two"}),
        ("/v1/send", {"message": "One", "title": "x"}),
        ("/v1/ring", {"message": "One"}),
    ):
        refused = await sender.call("POST", path, json=body, **keyed())
        assert refused.status_code == 422
        assert refused.json()["error"]["code"] == "idempotency_key_reused"
    assert [envelope.id for envelope in await waiting(server, phone)] == [first.json()["id"]]
    assert not await waiting(server, phone, "ring")


async def test_requests_are_compared_as_parsed_whatever_form_they_came_in(sender: Program):
    first = await sender.call("POST", "/v1/send", json={"message": "Hi", "priority": "default"}, **keyed())
    for form in (
        {"json": {"message": "Hi", "unknown": 1}},
        {"data": {"message": "Hi"}},
        {"content": b"Hi"},
        {"files": {"message": (None, "Hi")}},
    ):
        again = await sender.call("POST", "/v1/send", **form, **keyed())
        assert (again.status_code, again.json()) == (200, first.json())


async def test_a_key_is_good_for_one_token_only(phone: DeviceActor, sender: Program):
    other = await phone.new_token()
    first, second = [await each.call("POST", "/v1/send", json={"message": "Hi"}, **keyed()) for each in (sender, other)]
    assert first.json()["id"] != second.json()["id"]
    assert "idempotent-replayed" not in second.headers


async def test_without_a_key_every_request_is_its_own(server: RunningServer, phone: DeviceActor, sender: Program):
    for _ in range(2):
        assert (await sender.send("Hi")).status_code == 200
    assert len(await waiting(server, phone)) == 2


async def test_a_reply_is_kept_for_24_hours(clock: FakeClock, sender: Program):
    first = await sender.call("POST", "/v1/send", json={"message": "Hi"}, **keyed())
    clock.advance(DAY - 1)
    assert (await sender.call("POST", "/v1/send", json={"message": "Hi"}, **keyed())).json() == first.json()
    clock.advance(1)
    again = await sender.call("POST", "/v1/send", json={"message": "Another"}, **keyed())
    assert again.status_code == 200
    assert again.json()["id"] != first.json()["id"]


async def test_a_refusal_is_not_kept_so_the_same_request_may_succeed_later(phone: DeviceActor, sender: Program):
    limited = await phone.new_token(scopes=["ask"])
    assert (await limited.call("POST", "/v1/send", json={"message": "Hi"}, **keyed())).status_code == 403
    long = {"message": "x" * 1_501}
    assert (await sender.call("POST", "/v1/send", json=long, **keyed())).status_code == 400
    assert (await sender.call("POST", "/v1/send", json={"message": "Hi"}, **keyed())).status_code == 200


async def test_where_the_first_failed_whoever_waited_for_it_goes_on(
    store: FaultyStore, server: RunningServer, phone: DeviceActor, sender: Program
):
    failing, gate = itertools.count(), Gate()

    async def fail_the_first() -> None:
        if next(failing) == 0:
            await gate()
            raise StoreUnavailableError("database or disk is full")

    store.before["send_to_queues"] = fail_the_first
    calls = [asyncio.create_task(sender.call("POST", "/v1/send", json={"message": "Hi"}, **keyed())) for _ in range(2)]
    await gate.until_held()
    gate.open()
    async with asyncio.timeout(BOUND_SECONDS):
        replies = await asyncio.gather(*calls)
    assert sorted(each.status_code for each in replies) == [200, 503]
    assert len(await waiting(server, phone)) == 1


async def test_a_reply_lost_after_the_commit_does_not_use_the_setup_code_up(
    store: FaultyStore, server: RunningServer, world: World
):
    committed = store.after["redeem_setup_code"] = Gate()
    calling = asyncio.create_task(world.enroll(**keyed()))
    await committed.until_held()
    calling.cancel()  # closes the connection
    assert isinstance((await asyncio.gather(calling, return_exceptions=True))[0], asyncio.CancelledError)
    committed.open()
    enrolled = await world.enroll(**keyed())
    assert enrolled.status_code == 201
    assert enrolled.headers["idempotent-replayed"] == "true"
    device = DeviceActor(server.http, enrolled.json(), world.keys)
    listed = await device.call("GET", "/v1/devices")  # its token is good
    assert sorted(each["label"] for each in listed.json()["devices"]) == ["Fold", "Pixel"]
    refused = await world.enroll(**keyed("another key"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "invalid_code")


async def test_the_code_alone_or_the_key_alone_gets_nobody_the_reply(server: RunningServer, world: World):
    assert (await world.enroll(**keyed())).status_code == 201
    stranger = DeviceKeys()
    stolen = await server.http.post("/v1/enroll", json=enrolment_body(world.code, stranger, label="Fold"), **keyed())
    assert (stolen.status_code, stolen.json()["error"]["code"]) == (422, "idempotency_key_reused")
    wrong = await server.http.post("/v1/enroll", json=enrolment_body("AAAA-AAAA-AAAA-AAAA", world.keys), **keyed())
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (403, "invalid_code")


async def test_the_first_owners_enrolment_can_be_repeated_too(server: RunningServer):
    code, keys = await server.invite(), DeviceKeys()
    replies = [await server.http.post("/v1/enroll", json=enrolment_body(code, keys), **keyed()) for _ in range(2)]
    assert [each.status_code for each in replies] == [201, 201]
    assert replies[0].content == replies[1].content
    assert len(await server.services.store.list_owners()) == 1


async def test_a_repeat_counts_in_the_burst_layer_only(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock, limits=PROFILES["free"]) as server:
        sender = (await enroll(server)).default_program()
        counts = []
        for _ in range(3):
            sent = await sender.call("POST", "/v1/send", json={"message": "Hi"}, **keyed())
            month = await server.http.get("/1/apps/limits.json", params={"token": sender.token})
            assert sent.headers["x-ratelimit-resource"] == "token_burst"
            counts.append((int(sent.headers["x-ratelimit-remaining"]), month.json()["remaining"]))
        assert counts == [(59, 499), (58, 499), (57, 499)]


async def test_repeats_are_refused_once_the_burst_is_spent(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock, limits=PROFILES["free"]) as server:
        sender = (await enroll(server)).default_program()
        replies = [await sender.call("POST", "/v1/send", json={"message": "Hi"}, **keyed()) for _ in range(61)]
        assert [each.status_code for each in replies] == [200] * 60 + [429]
        assert int(replies[-1].headers["retry-after"]) >= 1


async def test_two_processes_on_one_store_send_it_once(tmp_path: Path, clock: FakeClock):
    async with run_server(tmp_path, clock) as one, run_server(tmp_path, clock) as two:
        phone = await enroll(one)
        token = phone.default_program().token
        programs = [Program(one.http, token), Program(two.http, token)] * 16
        replies = await asyncio.gather(
            *(each.call("POST", "/v1/send", json={"message": "Hi"}, **keyed()) for each in programs)
        )
        assert {each.status_code for each in replies} == {200}
        assert len({each.content for each in replies}) == 1
        assert sum("idempotent-replayed" not in each.headers for each in replies) == 1
        assert len(await waiting(one, phone)) == 1


async def test_a_revoked_token_gets_no_kept_reply(phone: DeviceActor):
    program = await phone.new_token()
    assert (await program.call("POST", "/v1/send", json={"message": "Hi"}, **keyed())).status_code == 200
    await phone.revoke(program)
    assert (await program.call("POST", "/v1/send", json={"message": "Hi"}, **keyed())).status_code == 401


async def test_questions_keep_their_own_key_and_ignore_the_header(sender: Program):
    first, second = [
        await sender.call("POST", "/v1/interactions", json={"question": text}, **keyed()) for text in ("One?", "Two?")
    ]
    assert (first.status_code, second.status_code) == (201, 201)


async def test_nothing_readable_is_kept(tmp_path: Path, world: World):
    made = await world.phone.call("POST", "/v1/tokens", json={"label": "CI"}, **keyed())
    enrolled = await world.enroll(**keyed())
    files = await asyncio.to_thread(lambda: [path.read_bytes() for path in tmp_path.iterdir() if path.is_file()])
    for secret in (made.json()["token"], enrolled.json()["device_token"], KEY):
        assert not any(secret.encode() in content for content in files)


async def test_a_code_that_another_process_redeems_meanwhile_for_the_same_request_gives_the_same_device(
    tmp_path: Path, clock: FakeClock
):
    async with run_server(tmp_path, clock) as one, run_server(tmp_path, clock, wrap_store=FaultyStore) as two:
        store = two.services.store
        assert isinstance(store, FaultyStore)
        body = enrolment_body(await one.invite())
        gate = store.hold("find_setup_code")  # behind the look for a kept reply
        late = asyncio.create_task(two.http.post("/v1/enroll", json=body, **keyed()))
        await gate.until_held()
        first = await one.http.post("/v1/enroll", json=body, **keyed())
        gate.open()
        async with asyncio.timeout(BOUND_SECONDS):
            second = await late
        assert (first.status_code, second.status_code) == (201, 201)
        assert second.json() == first.json()
        assert second.headers["idempotent-replayed"] == "true"
