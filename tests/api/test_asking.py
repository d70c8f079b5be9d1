"""POST /v1/interactions: what a question may be, and where it goes."""

import re

import pytest

from reflecto.contract.envelopes import Envelope
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import drain


async def test_a_question_gets_201_with_a_fresh_id_and_its_expiry(sender: Program):
    asked = await sender.ask()
    assert asked.status_code == 201
    assert asked.json() == {"id": asked.json()["id"], "expires_at": NOW + 600}
    assert re.fullmatch(r"int_[0-9a-f]{32}", asked.json()["id"])
    assert "idempotent-replayed" not in asked.headers
    assert "idempotency-mismatch" not in asked.headers


async def test_defaults_are_approve_and_deny_for_ten_minutes(sender: Program):
    state = (await sender.read(await sender.ask_id())).json()
    assert state["choices"] == ["Approve", "Deny"]
    assert state["expires_at"] - state["created_at"] == 600


async def test_every_phone_gets_the_prompt_sealed_for_it_with_the_exact_text(server: RunningServer, phone: DeviceActor):
    tablet = await enroll(server, label="Tablet")
    program = await phone.new_token("CI")
    question, choices = "  Fusionner la PR n° 482 ? 🚀\n", ["Oui ", "Plus tard", "Non"]
    asked = (await program.ask(question, choices=choices, expires_in=300)).json()
    for device, behind in ((phone, 2), (tablet, 0)):  # the phone has its token and the tablet's arrival before it
        (prompt,) = await drain(device, 1, after=behind)
        assert prompt == Envelope(
            "interaction",
            asked["id"],
            NOW,
            {"token": "CI", "token_id": program.id, "colour": "violet"},
            {"question": question, "choices": choices, "expires_at": NOW + 300},
        )
    state = (await program.read(asked["id"])).json()
    assert (state["question"], state["choices"]) == (question, choices)


async def test_a_desktop_gets_no_prompt(server: RunningServer, sender: Program):
    desktop = await enroll(server, type="extension", class_="desktop")
    await sender.ask_id()
    assert await server.services.store.read_queue(desktop.id, 0, 10, NOW) == []


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"question": ""}, "invalid_question"),
        ({"question": " \n\t\u2003"}, "invalid_question"),
        ({"question": "x" * 1001}, "invalid_question"),
        ({"question": 7}, "invalid_question"),
        ({"question": None}, "invalid_question"),
        ({"question": ["Deploy?"]}, "invalid_question"),
        ({"choices": []}, "invalid_choices"),
        ({"choices": ["Only"]}, "invalid_choices"),
        ({"choices": ["a", "b", "c", "d", "e"]}, "invalid_choices"),
        ({"choices": ["a", ""]}, "invalid_choices"),
        ({"choices": ["a", "  "]}, "invalid_choices"),
        ({"choices": ["a", "b" * 101]}, "invalid_choices"),
        ({"choices": ["a", 1]}, "invalid_choices"),
        ({"choices": "ab"}, "invalid_choices"),
        ({"choices": {"a": 1, "b": 2}}, "invalid_choices"),
        ({"choices": None}, "invalid_choices"),
        ({"choices": ["Yes", "Yes"]}, "invalid_choices"),
        ({"choices": ["Yes", " Yes "]}, "invalid_choices"),
        ({"choices": ["Caf\u00e9", "Cafe\u0301"]}, "invalid_choices"),
        ({"choices": ["Approve", "Approve\u200b"]}, "invalid_choices"),
        ({"choices": ["Approve", "\u202eApprove"]}, "invalid_choices"),
        ({"choices": ["Approve", "\u0410pprove"]}, "invalid_choices"),
        ({"choices": ["Keep modem", "Deny", "Keep modern"]}, "invalid_choices"),
        ({"choices": ["Approve all", "Approve\u00a0 all"]}, "invalid_choices"),
        ({"choices": ["a", "\u2800\u200d"]}, "invalid_choices"),
        ({"question": "\u200b\u3164"}, "invalid_question"),
        ({"expires_in": 59}, "invalid_expires_in"),
        ({"expires_in": 86_401}, "invalid_expires_in"),
        ({"expires_in": 600.5}, "invalid_expires_in"),
        ({"expires_in": "600"}, "invalid_expires_in"),
        ({"expires_in": True}, "invalid_expires_in"),
        ({"expires_in": -600}, "invalid_expires_in"),
        ({"expires_in": 2**62}, "invalid_expires_in"),
        ({"expires_in": None}, "invalid_expires_in"),
        ({"tether": 4}, "invalid_tether"),
        ({"tether": 301}, "invalid_tether"),
        ({"tether": 20.5}, "invalid_tether"),
        ({"tether": "20"}, "invalid_tether"),
        ({"tether": None}, "invalid_tether"),
        ({"tether": True}, "invalid_tether"),
        ({"idempotency_key": ""}, "invalid_idempotency_key"),
        ({"idempotency_key": "k" * 129}, "invalid_idempotency_key"),
        ({"idempotency_key": 5}, "invalid_idempotency_key"),
        ({"idempotency_key": None}, "invalid_idempotency_key"),
        # the first offending field of several, in the contract's order
        ({"question": " ", "expires_in": 5}, "invalid_question"),
        ({"question": "", "choices": [], "expires_in": 5, "idempotency_key": ""}, "invalid_question"),
        ({"choices": ["a", " a"], "expires_in": 5}, "invalid_choices"),
        ({"expires_in": 5, "idempotency_key": ""}, "invalid_expires_in"),
    ],
)
async def test_a_field_out_of_bounds_is_named_and_nothing_is_stored_or_sent(
    server: RunningServer, phone: DeviceActor, sender: Program, fields: dict[str, object], code: str
):
    refused = await sender.call("POST", "/v1/interactions", json={"question": "Deploy?"} | fields)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    assert set(refused.json()["error"]) == {"code", "message"}
    assert await server.services.store.list_pending(sender.id, NOW) == []
    entries = await server.services.store.read_queue(phone.id, 1, 10, NOW)
    assert entries == []


async def test_a_missing_question_is_named_before_what_else_is_wrong(sender: Program):
    refused = await sender.call("POST", "/v1/interactions", json={"choices": ["a"]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_question")


@pytest.mark.parametrize(
    "fields",
    [
        {"question": "x"},
        {"question": "x" * 1000},
        {"question": "🚀" * 1000, "choices": ["🚀" * 100, "é" * 100, "b", "c"]},
        {"expires_in": 60},
        {"expires_in": 86_400},
        {"idempotency_key": "k"},
        {"idempotency_key": "🔑" * 128},
        {"choices": ["yes", "Yes"]},
        {"unknown": {"nested": [1, None]}},
    ],
)
async def test_the_bounds_themselves_are_allowed_and_count_code_points(sender: Program, fields: dict[str, object]):
    asked = await sender.call("POST", "/v1/interactions", json={"question": "Deploy?"} | fields)
    assert asked.status_code == 201, asked.text


async def test_a_whole_number_may_be_written_as_a_float(sender: Program):
    asked = await sender.call("POST", "/v1/interactions", content=b'{"question": "Deploy?", "expires_in": 60.0}')
    assert asked.status_code == 201
    assert asked.json()["expires_at"] == NOW + 60


async def test_expiry_counts_from_the_whole_second(sender: Program, clock: FakeClock):
    clock.advance(0.75)
    asked = (await sender.ask()).json()
    assert asked["expires_at"] == NOW + 600
