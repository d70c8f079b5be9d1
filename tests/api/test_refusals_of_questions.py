"""When a question is refused: full, no phone, old phone, capped or narrow token."""

from pathlib import Path

import httpx
import pytest

from reflecto.contract.tokens import Priority
from reflecto.crypto.tokens import token_hash
from tests.actors import DeviceActor, Program, enroll
from tests.api.older_tokens import capped_as_once
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer, run_server


async def fill(sender: Program, count: int = 10) -> list[str]:
    """Ask different questions and return their ids."""
    return [await sender.ask_id(f"Question {number}?") for number in range(count)]


def error_of(reply: httpx.Response) -> tuple[int, str]:
    """Return status and code of a refusal, whose shape is checked."""
    error = reply.json()["error"]
    assert set(error) <= {"code", "message", "details"}
    assert isinstance(error["message"], str)
    return reply.status_code, error["code"]


async def test_the_eleventh_pending_question_is_refused(server: RunningServer, phone: DeviceActor, sender: Program):
    await fill(sender)
    refused = await sender.ask("One more?")
    assert error_of(refused) == (429, "too_many_pending")
    assert int(refused.headers["retry-after"]) >= 1
    entries = await server.services.store.read_queue(phone.id, 0, 100, NOW)
    assert entries is not None
    assert len(entries) == 12  # the Default token, ten prompts, and word of the refusal


async def test_the_ten_places_are_the_owners_whatever_token_asks(phone: DeviceActor, sender: Program):
    other = await phone.new_token()
    await fill(sender, 5)
    await fill(other, 5)
    assert error_of(await sender.ask("One more?")) == (429, "too_many_pending")
    assert error_of(await other.ask("One more?")) == (429, "too_many_pending")


async def test_owners_do_not_share_places(server: RunningServer, sender: Program):
    await fill(sender)
    neighbour = await enroll(server, await server.invite(new_owner=True))
    assert (await neighbour.default_program().ask()).status_code == 201


@pytest.mark.parametrize("ending", ["answered", "cancelled"])
async def test_an_ended_question_gives_its_place_up_at_once(phone: DeviceActor, sender: Program, ending: str):
    (first, *_) = await fill(sender)
    await (phone.answer(first) if ending == "answered" else sender.cancel(first))
    assert (await sender.ask("One more?")).status_code == 201
    assert error_of(await sender.ask("And another?")) == (429, "too_many_pending")


async def test_expiry_frees_a_place_at_the_exact_instant(sender: Program, clock: FakeClock):
    await sender.ask_id("Short?", expires_in=60)
    await fill(sender, 9)
    clock.advance_to(NOW + 59.999)
    assert error_of(await sender.ask("One more?")) == (429, "too_many_pending")
    clock.advance_to(NOW + 60)
    assert (await sender.ask("One more?")).status_code == 201


async def test_without_a_phone_nothing_is_asked(server: RunningServer, phone: DeviceActor, sender: Program):
    desktop = await enroll(server, type="web", class_="desktop")
    await phone.call("DELETE", "/v1/devices/self")
    assert error_of(await sender.ask()) == (409, "no_phone_device")
    assert await server.services.store.read_queue(desktop.id, 0, 10, NOW) == []


async def test_if_every_phone_is_known_to_be_too_old_nothing_is_sent(tmp_path: Path):
    async with run_server(tmp_path, min_phone_build=7) as server:
        phone = await enroll(server, app_build=6)
        await enroll(server, app_build=0)
        assert error_of(await phone.default_program().ask()) == (426, "phone_app_outdated")
        entries = await server.services.store.read_queue(phone.id, 0, 10, NOW)
        assert entries is not None
        assert [phone.open(entry.blob).type for entry in entries] == ["token.created", "notification"]


async def test_a_phone_that_never_reported_its_build_is_let_through(tmp_path: Path):
    async with run_server(tmp_path, min_phone_build=7) as server:
        phone = await enroll(server)
        assert (await phone.default_program().ask()).status_code == 201


async def test_of_several_phones_only_those_new_enough_are_asked(tmp_path: Path):
    async with run_server(tmp_path, min_phone_build=7) as server:
        old = await enroll(server, app_build=6)
        new = await enroll(server, app_build=7)
        asked = await old.default_program().ask_id()
        new_entries = await server.services.store.read_queue(new.id, 0, 10, NOW)
        assert new_entries is not None
        assert [new.open(entry.blob).id for entry in new_entries] == [asked]
        old_entries = await server.services.store.read_queue(old.id, 0, 10, NOW)
        assert old_entries is not None
        assert "interaction" not in [old.open(entry.blob).type for entry in old_entries]


@pytest.mark.parametrize("cap", ["min", "low", "default"])
async def test_a_token_capped_below_high_that_could_ask_once_is_told_cap_and_request(
    server: RunningServer, phone: DeviceActor, cap: Priority
):
    capped = await capped_as_once(server.services.store, phone, cap)
    refused = await capped.ask()
    assert refused.status_code == 403
    assert refused.json() == {
        "error": {"code": "priority_capped", "message": f"Token's priority_cap is '{cap}'; requested 'high'"}
    }


@pytest.mark.parametrize("cap", ["high", "urgent"])
async def test_a_cap_at_or_above_high_lets_questions_through(phone: DeviceActor, cap: str):
    capped = await phone.new_token(priority_cap=cap)
    assert (await capped.ask()).status_code == 201


async def test_a_token_without_the_scope_ask_may_not_ask(phone: DeviceActor):
    narrow = await phone.new_token(scopes=["send", "ring", "remind", "files"])
    assert error_of(await narrow.ask()) == (403, "scope_denied")
    asking = await phone.new_token(scopes=["ask"])
    assert (await asking.ask()).status_code == 201


async def test_the_body_is_checked_before_what_the_token_may_do(phone: DeviceActor):
    capped = await phone.new_token(priority_cap="low", scopes=["send"])
    assert error_of(await capped.ask("")) == (400, "invalid_question")


async def test_a_refused_question_spends_nothing_of_the_tokens_quota(server: RunningServer, sender: Program):
    quotas, token = server.services.quotas, (await server.services.store.find_token(token_hash(sender.token)))
    assert token is not None
    await sender.ask("First?")
    before = await quotas.tightest(token)
    for refused in ("", "First?" * 500):
        assert (await sender.ask(refused)).status_code == 400
    assert await quotas.tightest(token) == before
