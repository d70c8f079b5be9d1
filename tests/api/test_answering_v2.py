"""Answers to questions that brought more than four fields: signed over all of it, with number and comment."""

import asyncio
import hashlib
from typing import Any, Final

import pytest
import rfc8785

from reflecto.contract.devices import ANSWER_V2
from reflecto.crypto.answers import answer_message_v2, verify_answer
from reflecto.crypto.encoding import decode_base64
from reflecto.crypto.envelopes import BoxKeys
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer, run_server
from tests.sync_reader import drain

SALT: Final = "0rJ9tB0vTzqYxk3n1m2c4A"
COMMENT: Final = {"text": "Pas avant « vendredi » 🙏", "salt": SALT}
COMMENT_SHA256: Final = hashlib.sha256(rfc8785.dumps(COMMENT)).hexdigest()


@pytest.fixture
async def phone(server: RunningServer) -> DeviceActor:
    """The owner's first phone, which knows version 2."""
    return await enroll(server, features=[ANSWER_V2])


@pytest.fixture
async def tablet(server: RunningServer, phone: DeviceActor) -> DeviceActor:
    """A second one."""
    return await enroll(server, label="Tablet", owner=phone, features=[ANSWER_V2])


async def digest_of(sender: Program, question: str) -> str:
    """Return what a phone signs over."""
    return str((await sender.read(question)).json()["digest"])


async def ask_for_number(sender: Program, **fields: Any) -> tuple[str, str, str, str]:
    """Ask for a number; return id, digest, the number, and a wrong one."""
    asked = (await sender.ask(confirm="number", **fields)).json()
    right = str(asked["confirm_number"])
    return asked["id"], await digest_of(sender, asked["id"]), right, f"{(int(right) + 1) % 100:02d}"


async def closings_of(server: RunningServer, device: DeviceActor) -> list[dict[str, Any]]:
    """Return what the device was told of questions' ends."""
    entries = await server.services.store.read_queue(device.id, 0, 99, NOW) or []
    opened = [device.open(entry.blob) for entry in entries]
    return [each.payload for each in opened if each.type == "interaction.closed"]


def code_of(reply: Any) -> tuple[int, str]:
    """Return status and code of a refusal."""
    return reply.status_code, reply.json()["error"]["code"]


async def test_a_signed_tap_comes_back_as_a_receipt_over_all_that_was_given(
    server: RunningServer, phone: DeviceActor, tablet: DeviceActor, sender: Program
):
    question = await sender.ask_id(details=[{"kind": "text", "text": "All of it"}])
    digest = await digest_of(sender, question)
    assert (await phone.answer_v2(question, digest, 1, answered_at=NOW - 3)).status_code == 200
    state = (await sender.read(question)).json()
    signature = phone.sign_v2(question, digest, 1, answered_at=NOW - 3)
    signed = {"device_id": phone.id, "choice_index": 1, "answered_at": NOW - 3, "signature": signature, "v": 2}
    assert state["receipt"] == signed | {"signing_key": state["receipt"]["signing_key"]}
    assert "simulated" not in state
    assert "comment" not in state
    key, raw = decode_base64(state["receipt"]["signing_key"], length=32), decode_base64(signature, length=64)
    assert key
    assert raw
    assert verify_answer(key, answer_message_v2(question, digest, 1, NOW - 3), raw)
    (closed,) = await closings_of(server, tablet)
    answered = {"status": "answered", "choice_index": 1, "answered_by": "Pixel", "answered_by_id": phone.id}
    assert closed == answered | {"receipt": signed}


@pytest.mark.parametrize("given", [{"details": []}, {"source": {}}, {"danger": "normal"}, {"confirm": "tap"}], ids=str)
async def test_an_unsigned_answer_or_one_of_version_1_is_refused_and_nothing_recorded(
    phone: DeviceActor, sender: Program, given: dict[str, Any]
):
    question = await sender.ask_id(**given)
    v1 = phone.sign(question, "Deploy to production?", ["Approve", "Deny"], 1)
    for fields in ({}, {"v": 2}, {"signature": v1}):
        assert code_of(await phone.answer(question, 1, **fields)) == (400, "invalid_signature"), fields
    assert (await sender.read(question)).json()["status"] == "pending"


@pytest.mark.parametrize("version", [1, 3, "2", None, True])
async def test_an_unknown_version_is_refused(phone: DeviceActor, sender: Program, version: Any):
    question = await sender.ask_id(danger="high")
    signature = phone.sign_v2(question, await digest_of(sender, question))
    refused = await phone.answer(question, 0, v=version, signature=signature)
    assert code_of(refused) == (400, "invalid_signature")


async def test_a_question_of_four_fields_takes_version_1_alone(
    server: RunningServer, phone: DeviceActor, tablet: DeviceActor, sender: Program
):
    question = await sender.ask_id()
    assert code_of(await phone.answer_v2(question, "0" * 64)) == (400, "invalid_signature")
    signature = phone.sign(question, "Deploy to production?", ["Approve", "Deny"], 0)
    assert (await phone.answer(question, 0, signature=signature)).status_code == 200
    receipt = (await sender.read(question)).json()["receipt"]
    assert set(receipt) == {"device_id", "signing_key", "choice_index", "answered_at", "signature"}
    (closed,) = await closings_of(server, tablet)
    assert set(closed) == {"status", "choice_index", "answered_by", "answered_by_id"}


# The number


async def test_the_number_is_told_to_the_asker_alone_and_to_each_of_its_repeats(phone: DeviceActor, sender: Program):
    asked = await sender.ask(confirm="number")
    number = asked.json()["confirm_number"]
    assert (asked.status_code, len(number), number.isdecimal()) == (201, 2, True)
    for again in (await sender.ask(confirm="number"), await sender.ask(confirm="number", tether=60)):
        assert (again.status_code, again.json()) == (200, asked.json())
    (prompt,) = await drain(phone, 1, after=1)
    state = (await sender.read(asked.json()["id"])).json()
    for told in (prompt.payload, state):
        assert "confirm_number" not in told
        assert "number" not in told


async def test_a_question_that_asks_for_none_has_none(sender: Program):
    for fields in ({}, {"confirm": "tap"}, {"confirm": "hold"}):
        assert set((await sender.ask(**fields)).json()) == {"id", "expires_at"}


async def test_the_number_outlives_a_restart_and_is_not_in_the_store(tmp_path: Any, clock: FakeClock):
    keys = BoxKeys.generate()
    async with run_server(tmp_path, clock, keys=keys) as server:
        phone = await enroll(server, features=[ANSWER_V2])
        token = phone.default_program().token
        asked = [(await phone.default_program().ask(f"{i}?", confirm="number")).json() for i in range(8)]
        kept = [await server.services.store.find_interaction(each["id"], NOW) for each in asked]
        assert all(each and each.asks_number and each.tap is None for each in kept)
    assert len({each["confirm_number"] for each in asked}) > 1
    async with run_server(tmp_path, clock, keys=keys) as server:
        again = [(await Program(server.http, token).ask(f"{i}?", confirm="number")).json() for i in range(8)]
    assert again == asked


async def test_the_right_number_approves_and_is_in_both_receipts(
    server: RunningServer, phone: DeviceActor, tablet: DeviceActor, sender: Program
):
    question, digest, right, _ = await ask_for_number(sender)
    assert (await phone.answer_v2(question, digest, 0, number=right)).status_code == 200
    assert (await phone.answer_v2(question, digest, 0, number=right)).status_code == 200  # its reply may be lost
    state = (await sender.read(question)).json()
    assert (state["choice"], state["receipt"]["number"], state["receipt"]["v"]) == ("Approve", right, 2)
    (closed,) = await closings_of(server, tablet)
    assert closed["receipt"]["number"] == right


async def test_another_choice_needs_no_number(phone: DeviceActor, sender: Program):
    question, digest, _, _ = await ask_for_number(sender)
    assert (await phone.answer_v2(question, digest, 1)).status_code == 200
    assert "number" not in (await sender.read(question)).json()["receipt"]


@pytest.mark.parametrize("number", [None, "", "7", "007", "\u0660\u0667", "0x", " 7", 42, "07\n", ["0", "7"]])
async def test_a_number_of_another_form_is_refused_and_costs_no_try(phone: DeviceActor, sender: Program, number: Any):
    question, digest, right, _ = await ask_for_number(sender)
    signature = phone.sign_v2(question, digest, 0)
    for fields in ({"number": number}, {}):
        refused = await phone.answer(question, 0, v=2, signature=signature, **fields)
        assert code_of(refused) == (400, "invalid_number")
    assert (await phone.answer_v2(question, digest, 0, number=right)).status_code == 200


async def test_a_number_where_none_is_asked_is_refused(phone: DeviceActor, sender: Program):
    for given in ({}, {"confirm": "hold"}):
        question = await sender.ask_id(**given)
        version = {"v": 2, "signature": phone.sign_v2(question, "0" * 64)} if given else {}
        assert code_of(await phone.answer(question, 0, number="07", **version)) == (400, "invalid_number")


async def test_one_wrong_number_leaves_one_try(phone: DeviceActor, sender: Program):
    question, digest, right, wrong = await ask_for_number(sender)
    refused = await phone.answer_v2(question, digest, 0, number=wrong)
    assert code_of(refused) == (403, "wrong_number")
    assert refused.json()["error"]["details"] == {"tries_left": 1}
    assert (await sender.read(question)).json()["status"] == "pending"
    assert (await phone.answer_v2(question, digest, 0, number=right)).status_code == 200


async def test_the_second_wrong_number_ends_the_question_whichever_phone_it_comes_from(
    server: RunningServer, phone: DeviceActor, tablet: DeviceActor, sender: Program
):
    question, digest, right, wrong = await ask_for_number(sender)
    await phone.answer_v2(question, digest, 0, number=wrong)
    ended = await tablet.answer_v2(question, digest, 0, number=wrong)
    assert (code_of(ended), ended.json()["error"]["details"]) == ((403, "wrong_number"), {"tries_left": 0})
    state = (await sender.read(question)).json()
    assert (state["status"], state["reason"], state["choice"], state["receipt"]) == (
        "cancelled",
        "wrong_number",
        None,
        None,
    )
    for device in (phone, tablet):
        (closed,) = await closings_of(server, device)
        assert (closed["status"], closed["reason"]) == ("cancelled", "wrong_number")
        late = await device.answer_v2(question, digest, 0, number=right)
        assert (code_of(late), late.json()["error"]["details"]) == (
            (409, "interaction_closed"),
            {"status": "cancelled"},
        )


async def test_the_same_wrong_tap_sent_again_is_no_second_try(phone: DeviceActor, sender: Program):
    question, digest, _, wrong = await ask_for_number(sender)
    for _ in range(3):
        refused = await phone.answer_v2(question, digest, 0, number=wrong)
        assert refused.json()["error"]["details"] == {"tries_left": 1}
    typed_again = await phone.answer_v2(question, digest, 0, number=wrong, answered_at=NOW + 1)
    assert typed_again.json()["error"]["details"] == {"tries_left": 0}


async def test_whoever_waits_hears_of_the_end_by_wrong_numbers(phone: DeviceActor, sender: Program):
    question, digest, _, wrong = await ask_for_number(sender)
    waiting = asyncio.ensure_future(sender.read(question, wait=30))
    for answered_at in (NOW, NOW + 1):
        await phone.answer_v2(question, digest, 0, number=wrong, answered_at=answered_at)
    assert (await waiting).json()["reason"] == "wrong_number"


async def test_a_wrong_number_after_the_end_counts_for_nothing(
    phone: DeviceActor, tablet: DeviceActor, sender: Program
):
    question, digest, right, wrong = await ask_for_number(sender)
    await phone.answer_v2(question, digest, 0, number=right)
    assert code_of(await tablet.answer_v2(question, digest, 0, number=wrong)) == (409, "already_answered")
    assert (await sender.read(question)).json()["choice"] == "Approve"


# A word with the tap


async def test_a_comment_comes_to_the_asker_with_its_salt_and_to_the_others_as_a_digest(
    server: RunningServer, phone: DeviceActor, tablet: DeviceActor, sender: Program
):
    question = await sender.ask_id(comment="optional")
    digest = await digest_of(sender, question)
    assert (await phone.answer_v2(question, digest, 1, comment=COMMENT)).status_code == 200
    state = (await sender.read(question)).json()
    assert state["comment"] == {"text": COMMENT["text"]}
    assert state["receipt"]["comment"] == COMMENT | {"sha256": COMMENT_SHA256}
    assert state["receipt"]["signature"] == phone.sign_v2(question, digest, 1, comment=COMMENT)
    assert (await sender.cancel(question)).json()["error"]["details"] == {"choice": "Deny", "choice_index": 1}
    (closed,) = await closings_of(server, tablet)
    assert closed["receipt"]["comment"] == {"sha256": COMMENT_SHA256}


async def test_a_comment_is_ciphertext_in_the_store(server: RunningServer, phone: DeviceActor, sender: Program):
    question = await sender.ask_id(comment="optional")
    await phone.answer_v2(question, await digest_of(sender, question), 1, comment=COMMENT)
    kept = await server.services.store.find_interaction(question, NOW)
    assert kept is not None
    assert kept.tap is not None
    assert kept.tap.comment is not None
    assert COMMENT["text"].encode() not in kept.tap.comment
    assert SALT.encode() not in kept.tap.comment


@pytest.mark.parametrize(
    "text", ["x", "x" * 500, "🚀" * 500, " \n" + "x" * 500 + "\t "], ids=["one", "500", "500 of four bytes", "padded"]
)
async def test_a_comment_at_its_bounds_is_taken_as_it_was_sent(phone: DeviceActor, sender: Program, text: str):
    question = await sender.ask_id(comment="optional")
    comment = {"text": text, "salt": SALT}
    taken = await phone.answer_v2(question, await digest_of(sender, question), 0, comment=comment)
    assert taken.status_code == 200
    assert (await sender.read(question)).json()["comment"] == {"text": text}


@pytest.mark.parametrize(
    "comment",
    [
        None,
        "no",
        {},
        {"text": "no"},
        {"salt": SALT},
        {"text": "", "salt": SALT},
        {"text": " \u200b\n", "salt": SALT},
        {"text": "x" * 501, "salt": SALT},
        {"text": 1, "salt": SALT},
        {"text": "no", "salt": SALT + "=="},
        {"text": "no", "salt": SALT[:-1]},
        {"text": "no", "salt": SALT[:-1] + "B"},
        {"text": "no", "salt": "+" * 21 + "A"},
        {"text": "no", "salt": SALT + "\n"},
        {"text": "no", "salt": ""},
    ],
)
async def test_a_comment_of_another_form_is_refused_and_nothing_recorded(
    phone: DeviceActor, sender: Program, comment: Any
):
    question = await sender.ask_id(comment="optional")
    signature = phone.sign_v2(question, await digest_of(sender, question))
    refused = await phone.answer(question, 0, v=2, signature=signature, comment=comment)
    assert code_of(refused) == (400, "invalid_comment")
    assert (await sender.read(question)).json()["status"] == "pending"


@pytest.mark.parametrize("given", [{}, {"comment": "none"}, {"danger": "high"}], ids=str)
async def test_a_comment_where_none_is_taken_is_refused(phone: DeviceActor, sender: Program, given: dict[str, Any]):
    question = await sender.ask_id(**given)
    version = {"v": 2, "signature": phone.sign_v2(question, "0" * 64)} if given else {}
    assert code_of(await phone.answer(question, 0, comment=COMMENT, **version)) == (400, "invalid_comment")


async def test_number_and_comment_go_together(phone: DeviceActor, sender: Program):
    question, digest, right, _ = await ask_for_number(sender, comment="optional")
    assert (await phone.answer_v2(question, digest, 0, number=right, comment=COMMENT)).status_code == 200
    receipt = (await sender.read(question)).json()["receipt"]
    assert (receipt["number"], receipt["comment"]["sha256"]) == (right, COMMENT_SHA256)


# Phones that do not know it, and test tokens


async def test_a_phone_that_does_not_know_it_gets_a_note_in_place_of_the_prompt(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    old = await enroll(server, label="Old", owner=phone, app_build=99, features=["emergency"])
    question = await sender.ask_id(danger="high")
    assert (await sender.ask(danger="high")).status_code == 200  # nobody is told twice
    entries = await server.services.store.read_queue(old.id, 0, 99, NOW) or []
    (note,) = [old.open(entry.blob) for entry in entries]
    assert (note.type, note.source) == ("notification", {"token": "Default", "token_id": sender.id, "colour": "teal"})
    assert (note.payload["title"], note.payload["message"]) == (
        "A question needs a newer Reflecto",
        "Update to answer Default.",
    )
    assert question not in str(note)
    assert entries[0].expires_at == NOW + 600
    await sender.ask_id()  # of four fields: it is for every phone
    entries = await server.services.store.read_queue(old.id, 1, 99, NOW) or []
    assert [old.open(entry.blob).type for entry in entries] == ["interaction"]


async def test_where_no_phone_knows_it_nothing_is_asked(server: RunningServer):
    old = await enroll(server, app_build=99)
    sender = old.default_program()
    every: list[dict[str, Any]] = [{"details": []}, {"source": {}}, {"danger": "normal"}, {"confirm": "tap"}]
    for given in (*every, {"comment": "none"}):
        assert code_of(await sender.ask(**given)) == (426, "phone_app_outdated"), given
    assert await server.services.store.read_queue(old.id, 1, 99, NOW) == []
    assert (await sender.ask(tether=60)).status_code == 201
    await old.call("PATCH", "/v1/devices/self", json={"features": [ANSWER_V2]})
    assert (await sender.ask(danger="high")).status_code == 201


async def test_a_build_that_is_too_old_is_no_target_whatever_it_says_it_knows(tmp_path: Any):
    async with run_server(tmp_path, min_phone_build=7) as server:
        phone = await enroll(server, app_build=6, features=[ANSWER_V2])
        assert code_of(await phone.default_program().ask(danger="high")) == (426, "phone_app_outdated")


async def test_a_test_token_answers_its_own_question_and_that_is_said(phone: DeviceActor):
    tester = await phone.new_token(test=True)
    asked = (await tester.ask(confirm="number", comment="optional", details=[])).json()
    assert len(asked["confirm_number"]) == 2
    state = (await tester.simulate(asked["id"])).json()
    assert (state["status"], state["choice"], state["simulated"], state["receipt"]) == (
        "answered",
        "Approve",
        True,
        None,
    )
    assert state["digest"]
    plain = await tester.ask_id()
    assert "simulated" not in (await tester.simulate(plain)).json()
