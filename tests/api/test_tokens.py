"""GET, POST and DELETE /v1/tokens: made and revoked on a phone."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer

ALL_SCOPES = ["send", "ask", "ring", "remind", "files"]


@pytest.fixture
async def desktop(server: RunningServer, phone: DeviceActor) -> DeviceActor:
    """A browser of the same owner."""
    return await enroll(server, owner=phone, type="extension", class_="desktop")


async def test_a_new_token_is_shown_once(phone: DeviceActor):
    made = await phone.call("POST", "/v1/tokens", json={"label": "CI"})
    assert made.status_code == 201
    assert set(made.json()) == {"id", "label", "token"}
    assert re.fullmatch(r"tok_[0-9a-f]{32}", made.json()["id"])
    assert re.fullmatch(r"rfk_live_[A-Za-z0-9]{32}", made.json()["token"])
    listed = await phone.call("GET", "/v1/tokens")
    assert made.json()["token"] not in listed.text


async def test_the_list_tells_a_phone_everything_but_the_plaintext(phone: DeviceActor, clock: FakeClock):
    clock.advance(5)
    made = await phone.new_token("CI", priority_cap="high", scopes=["files", "ask"], test=True)
    listed = await phone.call("GET", "/v1/tokens")
    assert listed.status_code == 200
    assert listed.json() == {
        "tokens": [
            {
                "id": phone.enrolled["default_token"]["id"],
                "label": "Default",
                "test": False,
                "priority_cap": None,
                "scopes": ALL_SCOPES,
                "created_at": NOW,
                "last_used_at": None,
                "colour": "teal",
                "muted_until": None,
            },
            {
                "id": made.id,
                "label": "CI",
                "test": True,
                "priority_cap": "high",
                "scopes": ["ask", "files"],
                "created_at": NOW + 5,
                "last_used_at": None,
                "colour": "violet",
                "muted_until": None,
            },
        ]
    }


async def test_a_desktop_sees_ids_and_labels_and_changes_nothing(desktop: DeviceActor, sender: Program):
    listed = await desktop.call("GET", "/v1/tokens")
    assert listed.json() == {"tokens": [{"id": sender.id, "label": "Default"}]}
    for refused in (
        await desktop.call("POST", "/v1/tokens", json={"label": "CI"}),
        await desktop.call("DELETE", f"/v1/tokens/{sender.id}"),
    ):
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_denied")
    assert (await sender.ask()).status_code == 201


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"label": ""}, "invalid_label"),
        ({"label": " \t"}, "invalid_label"),
        ({"label": "x" * 61}, "invalid_label"),
        ({"label": None}, "invalid_label"),
        ({"label": 1}, "invalid_label"),
        ({"priority_cap": "highest"}, "invalid_priority_cap"),
        ({"priority_cap": 1}, "invalid_priority_cap"),
        ({"scopes": []}, "invalid_scopes"),
        ({"scopes": ["ask", "ask"]}, "invalid_scopes"),
        ({"scopes": ["admin"]}, "invalid_scopes"),
        ({"scopes": "ask"}, "invalid_scopes"),
        ({"scopes": None}, "invalid_scopes"),
        ({"scopes": ["send", "ask"], "priority_cap": "default"}, "invalid_scopes"),
        ({"scopes": ["ask"], "priority_cap": "min", "test": True}, "invalid_scopes"),
        ({"test": "true"}, "invalid_test"),
        ({"test": 1}, "invalid_test"),
        ({"test": None}, "invalid_test"),
    ],
)
async def test_a_field_out_of_bounds_is_named_and_no_token_made(
    phone: DeviceActor, fields: dict[str, object], code: str
):
    refused = await phone.call("POST", "/v1/tokens", json={"label": "CI"} | fields)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    assert len((await phone.call("GET", "/v1/tokens")).json()["tokens"]) == 1


async def test_a_label_is_required_and_no_cap_may_be_written_as_null(phone: DeviceActor):
    refused = await phone.call("POST", "/v1/tokens", json={})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_label")
    assert (await (await phone.new_token("x" * 60, priority_cap=None)).ask()).status_code == 201


async def test_a_revoked_token_fails_on_the_very_next_request(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    revoked = await phone.revoke(sender)
    assert (revoked.status_code, revoked.content) == (204, b"")
    for refused in (await sender.ask(), await sender.read(question), await sender.cancel(question)):
        assert (refused.status_code, refused.json()) == (401, {"error": "invalid_token"})
    assert (await phone.call("GET", "/v1/tokens")).json() == {"tokens": []}


async def test_revoking_withdraws_what_the_token_still_asks_and_frees_its_places(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    other = await phone.new_token()
    answered = await sender.ask_id("Answered?")
    await phone.answer(answered)
    pending = [await sender.ask_id(f"Question {number}?") for number in range(6)]
    kept = [await other.ask_id(f"Question {number}?") for number in range(4)]
    await phone.revoke(sender)
    entries = await server.services.store.read_queue(phone.id, 0, 99, NOW)
    assert entries is not None
    envelopes = [phone.open(entry.blob) for entry in entries]
    closed = {each.id: each.payload["status"] for each in envelopes if each.type == "interaction.closed"}
    assert closed == dict.fromkeys(pending, "cancelled")
    assert {(await other.read(each)).json()["status"] for each in kept} == {"pending"}
    for number in range(6):
        assert (await other.ask(f"More {number}?")).status_code == 201
    assert (await phone.answer(pending[0])).json()["error"]["code"] == "interaction_closed"


async def test_foreign_unknown_and_malformed_ids_are_not_found(server: RunningServer, phone: DeviceActor):
    neighbour = await enroll(server, await server.invite(new_owner=True))
    for token_id in (neighbour.enrolled["default_token"]["id"], f"tok_{'0' * 32}", "tok_x", phone.id):
        refused = await phone.call("DELETE", f"/v1/tokens/{token_id}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")
    assert (await neighbour.default_program().ask()).status_code == 201


async def test_a_token_is_revoked_only_once(phone: DeviceActor, sender: Program):
    assert [(await phone.revoke(sender)).status_code for _ in range(2)] == [204, 404]


async def test_last_use_is_told_at_once_and_written_once_a_minute_not_once_a_request(
    server: RunningServer, tmp_path: Path, phone: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id()
    with closing(sqlite3.connect(tmp_path / "reflecto.sqlite3")) as observer:
        (before,) = observer.execute("PRAGMA data_version").fetchone()  # changes with every commit of others
        clock.advance(30)
        for _ in range(50):
            await sender.read(question)
        listed = (await phone.call("GET", "/v1/tokens")).json()["tokens"]
        assert [token["last_used_at"] for token in listed] == [NOW + 30]
        assert observer.execute("PRAGMA data_version").fetchone() == (before,)
        assert observer.execute("SELECT last_used_at FROM tokens").fetchall() == [(None,)]
        await server.services.last_seen.flush()
        assert observer.execute("SELECT last_used_at FROM tokens").fetchall() == [(NOW + 30,)]


async def test_the_minute_writes_what_was_noted(tmp_path: Path, sender: Program, clock: FakeClock):
    await clock.until_waited_for(NOW + 60)  # the housekeeping of the start is over
    await sender.ask_id()
    clock.advance(60)
    await clock.until_waited_for(NOW + 120)  # the housekeeping has run and waits for its next round
    with closing(sqlite3.connect(tmp_path / "reflecto.sqlite3")) as observer:
        assert observer.execute("SELECT last_used_at FROM tokens").fetchall() == [(NOW,)]
