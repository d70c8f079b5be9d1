"""PATCH /v1/tokens/{id}: name, colour and muting of a sender, from a phone."""

import asyncio

import pytest

from reflecto.contract.tokens import COLOURS
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import drain


async def change(phone: DeviceActor, program: Program, **fields: object) -> dict[str, object]:
    reply = await phone.call("PATCH", f"/v1/tokens/{program.id}", json=fields)
    assert reply.status_code == 200, reply.text
    changed: dict[str, object] = reply.json()
    return changed


async def test_new_tokens_get_the_eight_colours_in_order_and_then_the_first_again(phone: DeviceActor):
    for _ in range(8):
        await phone.new_token()
    listed = (await phone.call("GET", "/v1/tokens")).json()["tokens"]
    assert sorted(each["colour"] for each in listed) == sorted([*COLOURS, COLOURS[0]])
    assert {each["id"]: each["colour"] for each in listed}[phone.default_program().id] == COLOURS[0]


async def test_what_is_given_is_changed_and_the_rest_stays(phone: DeviceActor, sender: Program):
    assert (await change(phone, sender, label="Release bot"))["label"] == "Release bot"
    assert (await change(phone, sender, colour="brick"))["colour"] == "brick"
    until = NOW + 900
    changed = await change(phone, sender, muted_until=until)
    assert (changed["label"], changed["colour"], changed["muted_until"]) == ("Release bot", "brick", until)
    assert (await change(phone, sender, muted_until="forever"))["muted_until"] == "forever"
    assert await change(phone, sender) == changed | {"muted_until": "forever"}
    assert (await change(phone, sender, muted_until=None))["muted_until"] is None


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"label": ""}, "invalid_label"),
        ({"label": None}, "invalid_label"),
        ({"colour": "pink"}, "invalid_colour"),
        ({"colour": None}, "invalid_colour"),
        ({"muted_until": "tomorrow"}, "invalid_muted_until"),
        ({"muted_until": -1}, "invalid_muted_until"),
        ({"muted_until": 1.5}, "invalid_muted_until"),
        ({"muted_until": 2**53}, "invalid_muted_until"),
    ],
)
async def test_a_bad_field_is_named_and_nothing_changes(
    phone: DeviceActor, sender: Program, fields: dict[str, object], code: str
):
    before = (await phone.call("GET", "/v1/tokens")).json()
    refused = await phone.call("PATCH", f"/v1/tokens/{sender.id}", json={"label": "New"} | fields)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    assert (await phone.call("GET", "/v1/tokens")).json() == before


@pytest.mark.parametrize("twin", ["CI", "C\u200bI", " CI ", "\u0421\u0406"])
async def test_no_two_tokens_of_an_owner_look_the_same_by_name(phone: DeviceActor, sender: Program, twin: str):
    await phone.new_token("CI")
    made = await phone.call("POST", "/v1/tokens", json={"label": twin})
    named = await phone.call("PATCH", f"/v1/tokens/{sender.id}", json={"label": twin})
    for refused in (made, named):
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "label_taken")
    assert len((await phone.call("GET", "/v1/tokens")).json()["tokens"]) == 2


async def test_the_name_of_a_revoked_token_is_free_again(phone: DeviceActor):
    await phone.revoke(await phone.new_token("CI"))
    await phone.new_token("CI")


async def test_of_two_tokens_made_at_once_under_one_name_one_is_made(phone: DeviceActor):
    made = await asyncio.gather(*(phone.call("POST", "/v1/tokens", json={"label": "CI"}) for _ in range(2)))
    assert sorted(each.status_code for each in made) == [201, 409]


async def test_a_cap_below_high_leaves_ask_out_and_says_so(phone: DeviceActor):
    made = await phone.call("POST", "/v1/tokens", json={"label": "CI", "priority_cap": "default"})
    assert made.status_code == 201
    assert [each["code"] for each in made.json()["warnings"]] == ["ask_left_out"]
    listed = {each["id"]: each for each in (await phone.call("GET", "/v1/tokens")).json()["tokens"]}
    assert listed[made.json()["id"]]["scopes"] == ["send", "ring", "remind", "files"]


async def test_the_first_token_takes_the_name_that_the_enrolment_gives(server: RunningServer):
    phone = await enroll(server, token_label="Release bot")
    assert phone.enrolled["default_token"]["label"] == "Release bot"
    assert [each["label"] for each in (await phone.call("GET", "/v1/tokens")).json()["tokens"]] == ["Release bot"]


async def test_only_a_phone_of_the_owner_changes_a_token(server: RunningServer, phone: DeviceActor, sender: Program):
    desktop = await enroll(server, owner=phone, type="extension", class_="desktop")
    refused = await desktop.call("PATCH", f"/v1/tokens/{sender.id}", json={"colour": "rose"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_denied")
    unknown = await phone.call("PATCH", f"/v1/tokens/tok_{'0' * 32}", json={"colour": "rose"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")


async def test_the_owner_s_other_phones_learn_what_was_changed_and_by_whom(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    tablet = await enroll(server, owner=phone, label="Tablet")
    await change(phone, sender, muted_until=NOW + 60)
    (told,) = await drain(tablet, 1)
    assert (told.type, told.source["token_id"]) == ("token.changed", sender.id)
    assert told.payload == {"token_id": sender.id, "by": "Pixel", "by_id": phone.id, "muted_until": NOW + 60}


async def test_a_muted_sender_s_new_question_is_refused_and_says_until_when(
    phone: DeviceActor, sender: Program, clock: FakeClock
):
    open_one = await sender.ask_id("Open before?")
    await change(phone, sender, muted_until=NOW + 900)
    refused = await sender.ask("Another?")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "sender_muted")
    assert refused.headers["retry-after"] == "900"
    repeat = await sender.ask("Open before?")
    assert (repeat.status_code, repeat.json()["id"]) == (200, open_one)
    assert (await sender.read(open_one)).json()["status"] == "pending"
    assert (await phone.answer(open_one)).status_code == 200
    clock.advance(900)
    assert (await sender.ask("Another?")).status_code == 201


async def test_who_is_muted_for_good_gets_no_retry_after_until_a_phone_unmutes_it(phone: DeviceActor, sender: Program):
    await change(phone, sender, muted_until="forever")
    refused = await sender.ask()
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "sender_muted")
    assert "retry-after" not in refused.headers
    await change(phone, sender, muted_until=None)
    assert (await sender.ask()).status_code == 201


async def test_a_muted_sender_s_message_arrives_silently_and_its_ring_does_not_ring(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    await change(phone, sender, muted_until="forever")
    sent = await sender.send("31 files formatted.", priority="urgent")
    assert [each["code"] for each in sent.json()["warnings"]] == ["sender_muted"]
    ring = await sender.call("POST", "/v1/ring", json={})
    assert (ring.status_code, ring.json()["error"]["code"]) == (403, "sender_muted")
    _, message = await drain(phone, 2)
    assert (message.type, message.payload["priority"]) == ("notification", "low")
    entries = await server.services.store.read_queue(phone.id, 0, 10, NOW)
    assert entries is not None
    assert [each.urgency for each in entries][-1:] == ["low"]
