"""Reminders: set, listed, dropped, and fired once, in time, whatever the server went through."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from reflecto.core.ports.store import Store
from reflecto.crypto.envelopes import BoxKeys
from tests.actors import DeviceActor, Program, enroll
from tests.api.sent import entries, waiting
from tests.builders import NOW
from tests.fakes import BOUND_SECONDS, FakeClock
from tests.running import RunningServer, run_server
from tests.sync_reader import open_sync

YEAR = 365 * 86_400


async def remind(sender: Program, at: int | str = NOW + 600, message: str = "Stand-up", **fields: object):
    return await sender.call("POST", "/v1/reminders", json={"message": message, "at": at} | fields)


async def listed(sender: Program) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await sender.call("GET", "/v1/reminders")).json()["reminders"]
    return found


CHORES = 2  # of a server that look each second for what is due: one for the queues, one for callbacks


async def pass_to(server: RunningServer, instant: float) -> None:
    """Move the time on, and let the server fire what is due then."""
    server.clock.advance_to(instant)
    await server.clock.until_waited_for(instant + 1, CHORES)


async def test_it_is_listed_by_its_own_token_until_it_is_dropped(phone: DeviceActor, sender: Program, clock: FakeClock):
    later = (await remind(sender, NOW + 7_200, "Later", title="Daily")).json()
    clock.advance(1)
    sooner = await remind(sender, NOW + 600, "\U0001f600" * 500)
    assert (sooner.status_code, sooner.json()["fire_at"], sooner.json()["warnings"]) == (201, NOW + 600, [])
    other = await phone.new_token("Another")
    assert await listed(sender) == [
        {
            "reminder_id": sooner.json()["reminder_id"],
            "message": "\U0001f600" * 500,
            "title": None,
            "fire_at": NOW + 600,
            "created_at": NOW + 1,
        },
        {
            "reminder_id": later["reminder_id"],
            "message": "Later",
            "title": "Daily",
            "fire_at": NOW + 7_200,
            "created_at": NOW,
        },
    ]
    assert await listed(other) == []

    path = f"/v1/reminders/{later['reminder_id']}"
    assert (await other.call("DELETE", path)).status_code == 404
    dropped = await sender.call("DELETE", path)
    assert (dropped.status_code, dropped.content) == (204, b"")
    assert (await sender.call("DELETE", path)).status_code == 404
    assert (await sender.call("DELETE", "/v1/reminders/nonsense")).status_code == 404
    assert [each["reminder_id"] for each in await listed(sender)] == [sooner.json()["reminder_id"]]


@pytest.mark.parametrize("part", [0.0, 0.999])  # of the second in which it is asked
@pytest.mark.parametrize(
    ("ahead", "status"), [(59, 400), (60, 201), (61, 201), (YEAR, 201), (YEAR + 1, 400), (0, 400), (-5, 400)]
)
async def test_from_60_seconds_to_365_days_ahead_to_the_second(
    sender: Program, clock: FakeClock, ahead: int, status: int, part: float
):
    clock.advance_to(NOW + part)
    reply = await remind(sender, NOW + ahead)
    assert reply.status_code == status
    assert status == 201 or reply.json()["error"]["code"] == "invalid_at"


@pytest.mark.parametrize(  # NOW is 2025-08-10T04:26:40Z
    "at",
    [
        "2025-08-10T04:36:40Z",
        "2025-08-10T06:36:40+02:00",
        "2025-08-09T16:36:40-12:00",
        "2025-08-10t04:36:40z",
        "2025-08-10 04:36:40Z",
        "2025-08-10T04:36:40.999Z",
        "2025-08-10T10:06:40+05:30",
    ],
)
async def test_rfc_3339_with_an_offset_means_its_moment(sender: Program, at: str):
    reply = await remind(sender, at)
    assert (reply.status_code, reply.json()["fire_at"]) == (201, NOW + 600)


@pytest.mark.parametrize(
    "at",
    [
        "2025-08-10T04:36:40",
        "2025-08-10T04:36Z",
        "2025-08-10",
        "2025-02-30T04:36:40Z",
        "2025-08-10T24:36:40Z",
        "2025-08-10T04:36:60Z",
        "2025-08-10T04:36:40+2",
        "2025-08-10T04:36:40+25:00",
        "9999-12-31T23:59:59Z",
        "0000-01-01T00:00:00Z",
        "tomorrow",
        "",
        str(NOW + 600),
        NOW + 600.5,
        True,
        None,
        [NOW + 600],
    ],
)
async def test_anything_else_is_no_moment(sender: Program, at: Any):
    reply = await remind(sender, at)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_at")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"message": ""}, "invalid_message"),
        ({"message": "é" * 501}, "invalid_message"),
        ({"title": "é" * 51}, "invalid_title"),
        ({"title": ""}, "invalid_title"),
        ({"device": ""}, "invalid_device"),
    ],
)
async def test_each_other_field_is_named_when_it_is_wrong(sender: Program, fields: dict[str, Any], code: str):
    reply = await remind(sender, **fields)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, code)


async def test_it_comes_once_in_the_second_it_was_set_for(server: RunningServer, phone: DeviceActor, sender: Program):
    made = (await remind(sender, title="Daily")).json()
    await pass_to(server, NOW + 599)
    assert await waiting(server, phone, "reminder") == []
    async with open_sync(phone) as stream:
        assert (await stream.envelope()).type == "token.created"
        await pass_to(server, NOW + 600)
        envelope = await stream.envelope()  # the stream is woken, not only the queue filled
    assert (envelope.type, envelope.id, envelope.ts) == ("reminder", made["reminder_id"], NOW + 600)
    assert envelope.source == {"token": "Default", "token_id": sender.id, "colour": "teal"}
    assert envelope.payload == {"message": "Stand-up", "at": NOW + 600, "title": "Daily"}
    await pass_to(server, NOW + 660)
    assert len(await waiting(server, phone, "reminder")) == 1
    assert await listed(sender) == []
    assert (await sender.call("DELETE", f"/v1/reminders/{made['reminder_id']}")).status_code == 404


@pytest.mark.parametrize(("after", "flag"), [(0, {}), (2, {}), (3, {"late": True}), (86_400, {"late": True})])
async def test_after_a_downtime_it_comes_at_once_and_says_that_it_is_late(
    tmp_path: Path, after: int, flag: dict[str, bool]
):
    clock, keys = FakeClock(), BoxKeys.generate()
    async with run_server(tmp_path, clock, keys=keys) as server:
        phone = await enroll(server)
        await remind(phone.default_program())
    clock.advance_to(NOW + 600 + after)
    async with run_server(tmp_path, clock, keys=keys) as again:
        await clock.until_waited_for(NOW + 600 + after + 1, CHORES)
        [envelope] = await waiting(again, phone, "reminder")
        assert envelope.payload == {"message": "Stand-up", "at": NOW + 600} | flag
        assert (await entries(again, phone))[-1].expires_at == NOW + 600 + after + 259_200


async def test_many_for_the_same_second_come_in_the_same_second(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    for number in range(120):  # more than are fired at a time
        assert (await remind(sender, message=str(number))).status_code == 201
    await pass_to(server, NOW + 600)
    texts = {envelope.payload["message"] for envelope in await waiting(server, phone, "reminder")}
    assert texts == {str(number) for number in range(120)}


class Barrier:
    """A store that fires a reminder only once `parties` servers want to."""

    def __init__(self, store: Store, barrier: asyncio.Barrier) -> None:
        self._store, self._barrier = store, barrier

    async def fire_reminder(
        self, reminder_id: str, expires_at: int, *, late: bool, retry_at: int | None = None
    ) -> list[str] | None:
        await asyncio.wait_for(self._barrier.wait(), BOUND_SECONDS)
        return await self._store.fire_reminder(reminder_id, expires_at, late=late, retry_at=retry_at)

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._store, verb)


async def test_of_two_servers_on_one_store_that_fire_at_once_one_does(tmp_path: Path, clock: FakeClock):
    keys, barrier = BoxKeys.generate(), asyncio.Barrier(2)
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(
                run_server(tmp_path, clock, keys=keys, wrap_store=lambda store: Barrier(store, barrier))
            )
            for _ in range(2)
        ]
        phone = await enroll(servers[0])
        await remind(phone.default_program())
        clock.advance_to(NOW + 600)
        await clock.until_waited_for(NOW + 601, 2 * CHORES)
        assert barrier.n_waiting == 0
        assert len(await waiting(servers[1], phone, "reminder")) == 1


async def test_it_goes_to_the_devices_there_were_when_it_was_set_and_still_are(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    desk = await enroll(server, label="Desk", class_="desktop", type="web")
    gone = await enroll(server, label="Gone")
    await remind(sender, message="all")
    unknown = await remind(sender, message="desk", device="desk,nobody")
    assert [each["code"] for each in unknown.json()["warnings"]] == ["unknown_device"]
    later = await enroll(server, label="Later")
    await gone.call("DELETE", "/v1/devices/self")
    await pass_to(server, NOW + 600)
    messages = [
        sorted(envelope.payload["message"] for envelope in await waiting(server, device, "reminder"))
        for device in (phone, desk, later)
    ]
    assert messages == [["all"], ["all", "desk"], []]


async def test_revoking_its_token_drops_it(server: RunningServer, phone: DeviceActor, sender: Program):
    leaked = await phone.new_token("Leaked")
    await remind(leaked, message="from the leaked one")
    await remind(sender)
    assert (await phone.revoke(leaked)).status_code == 204
    await pass_to(server, NOW + 600)
    assert [envelope.payload["message"] for envelope in await waiting(server, phone, "reminder")] == ["Stand-up"]


async def test_it_needs_the_scope_and_a_test_token_s_reaches_nobody(server: RunningServer, phone: DeviceActor):
    assert (await remind(await phone.new_token(scopes=["send"]))).json()["error"]["code"] == "scope_denied"
    trial = await phone.new_token(test=True)
    made = await remind(trial)
    assert (made.status_code, [each["code"] for each in made.json()["warnings"]]) == (201, ["test_token"])
    assert len(await listed(trial)) == 1
    await pass_to(server, NOW + 600)
    assert await waiting(server, phone, "reminder") == []
    assert await listed(trial) == []


async def test_one_failing_round_does_not_end_all_reminders(tmp_path: Path, clock: FakeClock, caplog: Any):
    class Stumbling:
        def __init__(self, store: Store) -> None:
            self._store, self.stumbles = store, True

        async def list_due_reminders(self, now: float, limit: int) -> list[tuple[str, int]]:
            if self.stumbles and now >= NOW + 600:
                self.stumbles = False
                raise RuntimeError("a fault nobody thought of")
            return await self._store.list_due_reminders(now, limit)

        def __getattr__(self, verb: str) -> Any:
            return getattr(self._store, verb)

    async with run_server(tmp_path, clock, wrap_store=Stumbling) as server:
        phone = await enroll(server)
        await remind(phone.default_program())
        await pass_to(server, NOW + 600)
        assert await waiting(server, phone, "reminder") == []
        await pass_to(server, NOW + 601)
        assert len(await waiting(server, phone, "reminder")) == 1
    assert "a fault nobody thought of" in caplog.text
