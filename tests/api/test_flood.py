"""A sender that asks far too much: refused with stable codes, told to the owner once, and silenced by a mute."""

from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reflecto.core.places import holding_of
from tests.actors import DeviceActor, Program, enroll
from tests.api.limited import limited
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import drain, open_sync

TEN_MINUTES = 600


async def fill(program: Program, count: int = 10) -> list[str]:
    """Ask so many questions, which are open for an hour."""
    return [await program.ask_id(f"{program.id} {number}?", expires_in=3_600) for number in range(count)]


async def refused(program: Program, question: str = "One more?") -> tuple[int, str]:
    reply = await program.ask(question)
    assert int(reply.headers["retry-after"]) > 0
    return reply.status_code, reply.json()["error"]["code"]


async def notices(phone: DeviceActor) -> list[dict[str, Any]]:
    """Return what the phone was told by the server itself."""
    entries = (await phone.call("GET", "/v1/sync/entries?after=1")).json()["entries"]
    envelopes = [phone.open(b64decode(each["blob"])) for each in entries]
    return [each.payload for each in envelopes if each.source == {"server": "Reflecto"}]


async def test_the_owner_learns_once_who_was_refused_and_who_holds_all_places(phone: DeviceActor):
    holding, bot = await phone.new_token("CI"), await phone.new_token("Release bot")
    await fill(holding)
    for number in range(3):
        assert await refused(bot, f"{number}?") == (429, "too_many_pending")
    assert await notices(phone) == [
        {"title": "Release bot was refused", "message": "CI holds all ten places.", "priority": "low"}
    ]


async def test_each_sender_that_is_refused_is_told_of(phone: DeviceActor):
    holding, bot = await phone.new_token("CI"), await phone.new_token("Release bot")
    await fill(holding)
    for program in (holding, bot, holding, bot):
        await refused(program)
    assert [(each["title"], each["message"]) for each in await notices(phone)] == [
        ("CI was refused", "It holds all ten places itself."),
        ("Release bot was refused", "CI holds all ten places."),
    ]


async def test_a_place_that_came_free_and_was_taken_is_told_of_again_but_not_at_once(
    phone: DeviceActor, clock: FakeClock
):
    holding, bot = await phone.new_token("CI"), await phone.new_token("Release bot")
    asked = await fill(holding)
    await refused(bot)
    for number in range(5):  # the owner answers, and the sender has the place again
        await phone.answer(asked[number])
        asked.append(await holding.ask_id(f"Again {number}?", expires_in=3_600))
        await refused(bot)
    assert len(await notices(phone)) == 1
    clock.advance(TEN_MINUTES + 1)
    await refused(bot)
    assert len(await notices(phone)) == 1  # nothing came free since
    await phone.answer(asked[5])
    await holding.ask_id("Once more?", expires_in=3_600)
    await refused(bot)
    assert len(await notices(phone)) == 2


async def test_a_test_token_has_places_of_its_own_and_tells_nobody(phone: DeviceActor):
    program = await phone.new_token(test=True)
    await fill(program)
    await refused(program)
    assert await notices(phone) == []


async def test_every_phone_is_told_and_an_open_stream_at_once(server: RunningServer, phone: DeviceActor):
    tablet = await enroll(server, owner=phone, label="Tablet")
    bot = phone.default_program()
    await fill(bot)
    async with open_sync(tablet, after=10) as stream:
        await refused(bot)
        assert (await stream.envelope()).payload["title"] == "Default was refused"
    assert len(await notices(phone)) == 2  # the other is that a device has joined


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["CI"], "CI holds all ten places."),
        (["CI", "Nightly"], "CI and Nightly hold all ten places."),
        (["CI", "Nightly", "Bot"], "CI, Nightly and Bot hold all ten places."),
        (["CI", "Nightly", "Bot", "Cron", "Me"], "CI, Nightly, Bot and 2 more hold all ten places."),
        (["Bot", "CI"], "Bot and CI hold all ten places."),
    ],
)
def test_those_who_hold_the_places_are_named_the_first_three(names: Sequence[str], said: str):
    assert holding_of(names, "Bot") == said


async def test_beyond_its_caps_a_sender_is_refused_and_what_is_open_stays(tmp_path: Path, clock: FakeClock):
    async with limited(tmp_path, clock, token_burst=15) as world:
        asked = await fill(world.sender)
        for number in range(4):
            assert await refused(world.sender, f"More {number}?") == (429, "too_many_pending")
        told = {(await world.sender.ask("A flood?")).json()["error"]["code"] for _ in range(20)}
        assert told <= {"too_many_pending", "rate_limit_exceeded"}
        assert (await world.phone.answer(asked[0])).status_code == 200
        clock.advance(60)
        states = [(await world.sender.read(each)).json()["status"] for each in asked]
        assert states == ["answered"] + ["pending"] * 9


async def test_a_mute_stops_a_flood_and_keeps_what_is_open(phone: DeviceActor):
    bot, other = await phone.new_token("Release bot"), phone.default_program()
    asked = await fill(bot, 3)
    muted = await phone.call("PATCH", f"/v1/tokens/{bot.id}", json={"muted_until": NOW + 900})
    assert muted.status_code == 200
    for number in range(20):
        reply = await bot.ask(f"Flood {number}?")
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "sender_muted")
        assert reply.headers["retry-after"] == "900"
    assert (await bot.ask(f"{bot.id} 0?", expires_in=3_600)).json()["id"] == asked[0]  # a repeat is found first
    assert (await phone.answer(asked[0])).status_code == 200
    assert (await other.ask("Another sender?")).status_code == 201
    await phone.call("PATCH", f"/v1/tokens/{bot.id}", json={"muted_until": "forever"})
    assert "retry-after" not in (await bot.ask("For good?")).headers
    await phone.call("PATCH", f"/v1/tokens/{bot.id}", json={"muted_until": None})
    assert (await bot.ask("Again?")).status_code == 201
    assert [each.type for each in await drain(phone, 4, after=1)].count("interaction") == 4
