"""POST /v1/interactions/{id}/answer: the tap, its receipt, and what losers are told."""

import pytest

from reflecto.crypto.answers import answer_message, verify_answer
from reflecto.crypto.encoding import decode_base64
from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer

CHOICES = ["Merge", "Wait", "Close"]


@pytest.fixture
async def tablet(server: RunningServer, phone: DeviceActor) -> DeviceActor:
    """A second phone of the same owner."""
    return await enroll(server, label="Tablet", owner=phone)


async def test_the_first_tap_wins_by_the_servers_clock(phone: DeviceActor, sender: Program, clock: FakeClock):
    question = await sender.ask_id(choices=CHOICES)
    clock.advance(12.5)
    tapped = await phone.answer(question, 2, answered_at=7)
    assert tapped.status_code == 200
    assert tapped.json() == {"id": question, "status": "answered", "choice_index": 2, "answered_at": NOW + 12}


async def test_a_signed_tap_comes_back_as_a_receipt_that_proves_it(phone: DeviceActor, sender: Program):
    question = await sender.ask_id("Fusionner ? 🚀", choices=CHOICES)
    signature = phone.sign(question, "Fusionner ? 🚀", CHOICES, 1, NOW - 3)
    await phone.answer(question, 1, answered_at=NOW - 3, signature=signature)
    receipt = (await sender.read(question)).json()["receipt"]
    assert receipt == {
        "device_id": phone.id,
        "signing_key": receipt["signing_key"],
        "choice_index": 1,
        "answered_at": NOW - 3,
        "signature": signature,
    }
    key, raw = decode_base64(receipt["signing_key"], length=32), decode_base64(receipt["signature"], length=64)
    assert key == phone.keys.signing_key
    assert raw is not None
    assert verify_answer(key, answer_message(question, "Fusionner ? 🚀", CHOICES, 1, NOW - 3), raw)


@pytest.mark.parametrize(
    "signature",
    ["", "x", "A" * 88, "A" * 86, "A" * 85 + "B==", "-" * 86 + "==", "AA==", 5, None, ["A"]],
    ids=["empty", "short", "66 bytes", "unpadded", "not canonical", "url-safe", "one byte", "number", "null", "list"],
)
async def test_a_signature_that_is_not_64_bytes_of_base64_is_refused_and_nothing_recorded(
    phone: DeviceActor, sender: Program, signature: object
):
    question = await sender.ask_id()
    refused = await phone.answer(question, 0, signature=signature)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_signature")
    assert (await sender.read(question)).json()["status"] == "pending"


async def test_the_loser_is_told_who_won_and_how(
    phone: DeviceActor, tablet: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id(choices=CHOICES)
    clock.advance(5)
    await tablet.answer(question, 2)
    lost = await phone.answer(question, 0)
    assert lost.status_code == 409
    assert lost.json()["error"]["code"] == "already_answered"
    assert lost.json()["error"]["details"] == {
        "choice_index": 2,
        "answered_at": NOW + 5,
        "answered_by": {"device_id": tablet.id, "label": "Tablet"},
    }


async def test_the_winner_may_repeat_its_answer_also_after_the_questions_end(
    phone: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id()
    first = await phone.answer(question, 1)
    clock.advance(601)
    again = await phone.answer(question, 1)
    assert (again.status_code, again.json()) == (200, first.json())


async def test_the_winner_may_not_change_its_mind(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    await phone.answer(question, 1)
    changed = await phone.answer(question, 0)
    assert (changed.status_code, changed.json()["error"]["code"]) == (409, "already_answered")
    assert changed.json()["error"]["details"]["choice_index"] == 1
    assert (await sender.read(question)).json()["choice"] == "Deny"


async def test_a_repeat_keeps_the_first_receipt(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    signature = phone.sign(question, "Deploy to production?", ["Approve", "Deny"], 0)
    await phone.answer(question, 0, signature=signature)
    await phone.answer(question, 0, answered_at=NOW + 9)
    assert (await sender.read(question)).json()["receipt"]["signature"] == signature


async def test_a_tap_counts_up_to_the_instant_of_expiry(phone: DeviceActor, sender: Program, clock: FakeClock):
    in_time, late = await sender.ask_id("In time?"), await sender.ask_id("Late?")
    clock.advance_to(NOW + 599.999)
    assert (await phone.answer(in_time)).status_code == 200
    clock.advance_to(NOW + 600)
    refused = await phone.answer(late)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "interaction_closed")
    assert refused.json()["error"]["details"] == {"status": "expired"}


async def test_a_cancelled_question_takes_no_answer(phone: DeviceActor, sender: Program):
    question = await sender.ask_id()
    await sender.cancel(question)
    refused = await phone.answer(question)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "interaction_closed")
    assert refused.json()["error"]["details"] == {"status": "cancelled"}


@pytest.mark.parametrize("index", [2, 3, 4, -1, 2**63, 0.5, "0", True, None, [0]])
async def test_an_index_beyond_the_choices_is_refused(phone: DeviceActor, sender: Program, index: object):
    question = await sender.ask_id()
    refused = await phone.call(
        "POST", f"/v1/interactions/{question}/answer", json={"choice_index": index, "answered_at": NOW}
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_choice")
    assert (await sender.read(question)).json()["status"] == "pending"


@pytest.mark.parametrize("when", [-1, 2**53, "now", None, 1.5, True])
async def test_a_phones_clock_out_of_bounds_is_refused(phone: DeviceActor, sender: Program, when: object):
    question = await sender.ask_id()
    refused = await phone.answer(question, 0, answered_at=when)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_answered_at")


@pytest.mark.parametrize("missing", ["choice_index", "answered_at"])
async def test_both_index_and_time_are_required(phone: DeviceActor, sender: Program, missing: str):
    question = await sender.ask_id()
    body = {"choice_index": 0, "answered_at": NOW}
    del body[missing]
    refused = await phone.call("POST", f"/v1/interactions/{question}/answer", json=body)
    expected = {"choice_index": "invalid_choice", "answered_at": "invalid_answered_at"}[missing]
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, expected)


async def test_a_desktop_may_not_answer(server: RunningServer, phone: DeviceActor, sender: Program):
    desktop = await enroll(server, owner=phone, type="extension", class_="desktop")
    question = await sender.ask_id()
    refused = await desktop.answer(question)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "scope_denied")


async def test_foreign_unknown_and_test_questions_get_the_same_404(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    neighbour = await enroll(server, await server.invite(new_owner=True))
    tester = await phone.new_token(test=True)
    attempts = [
        (neighbour, await sender.ask_id()),
        (phone, await tester.ask_id()),
        (phone, f"int_{'0' * 32}"),
        (phone, "int_x"),
        (phone, "%00"),
    ]
    for device, question in attempts:
        refused = await device.answer(question)
        assert (refused.status_code, refused.json()) == (
            404,
            {"error": {"code": "not_found", "message": "Not found"}},
        )


async def test_the_other_phones_are_told_to_withdraw_and_the_winner_is_not(
    server: RunningServer, phone: DeviceActor, tablet: DeviceActor, sender: Program
):
    desktop = await enroll(server, owner=phone, type="extension", class_="desktop")
    question = await sender.ask_id()
    await tablet.answer(question, 1)
    store = server.services.store
    told = {
        device.id: [device.open(entry.blob) for entry in await store.read_queue(device.id, 0, 99, NOW) or []]
        for device in (phone, tablet, desktop)
    }
    (closed,) = [each for each in told[phone.id] if each.type == "interaction.closed"]
    assert closed.id == question
    assert closed.payload == {
        "status": "answered",
        "choice_index": 1,
        "answered_by": "Tablet",
        "answered_by_id": tablet.id,
    }
    assert "interaction.closed" not in [each.type for device in (tablet, desktop) for each in told[device.id]]


async def test_a_withdrawal_is_sent_to_phones_that_joined_after_the_question(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    question = await sender.ask_id()
    late = await enroll(server, owner=phone, label="Late")
    await phone.answer(question)
    entries = await server.services.store.read_queue(late.id, 0, 99, NOW)
    assert entries is not None
    assert [late.open(entry.blob).type for entry in entries] == ["interaction.closed"]
