"""A question with details, source, danger, confirm or comment: what goes out, and which answers are believed."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from reflecto import (
    BrokenContract,
    CodeBlock,
    DetailField,
    FieldsBlock,
    IdempotencyMismatch,
    InvalidReceipt,
    PermissionDenied,
    QuestionCancelled,
    Reflecto,
)
from reflecto.contract.details import Block
from tests.client.asker_server import AskerServer, Reply, replying, rewriting
from tests.client.signing_phone import SALT, SigningPhone

Connect = Callable[..., Reflecto]
TEST_TOKEN: Final = "rfk_test_" + "a" * 32
DETAILS: Final[list[Mapping[str, Any]]] = [
    {"kind": "code", "label": "drop.sql", "text": "DROP TABLE users;\n"},
    {"kind": "fields", "fields": [{"name": "Host", "value": "db1"}]},
]
EACH: Final[dict[str, dict[str, Any]]] = {
    "details": {"details": DETAILS},
    "source": {"source": {"app": "Claude Code", "where": "~/shop"}},
    "danger": {"danger": "high"},
    "normal danger": {"danger": "normal"},
    "confirm": {"confirm": "hold"},
    "comment": {"comment": "optional"},
}


@pytest.fixture
def phone() -> SigningPhone:
    return SigningPhone()


def on_poll(server: AskerServer, act: Callable[[], object]) -> None:
    server.on_poll = lambda _count: act()


@pytest.mark.parametrize("given", EACH.values(), ids=EACH)
def test_what_is_given_goes_out_as_given_and_an_answer_signed_over_it_is_taken(
    server: AskerServer, phone: SigningPhone, connect: Connect, given: dict[str, Any]
):
    on_poll(server, lambda: phone.answers(server))

    answer = connect().ask("Drop?", **given)

    sent = server.prompts[0]
    assert {name: sent[name] for name in given} == given
    assert set(sent) == {"question", "choices", "expires_in", "idempotency_key", *given}
    assert (answer.choice, answer.verified, answer.simulated) == ("Approve", True, False)
    assert answer.receipt is not None
    assert answer.receipt.version == 2
    answer.receipt.verify(phone.key)


def test_blocks_may_be_objects_and_what_is_none_is_not_given(
    server: AskerServer, phone: SigningPhone, connect: Connect
):
    on_poll(server, lambda: phone.answers(server))
    blocks: list[Block] = [
        CodeBlock(label="drop.sql", text="DROP TABLE users;\n"),
        FieldsBlock(fields=(DetailField("Host", "db1"),)),
    ]

    connect().ask("Drop?", details=blocks, source=None, danger=None)

    assert server.prompts[0]["details"] == DETAILS
    assert "source" not in server.prompts[0]
    assert "danger" not in server.prompts[0]


def test_a_question_without_these_fields_is_asked_as_ever(server: AskerServer, phone: SigningPhone, connect: Connect):
    on_poll(server, lambda: phone.answers(server))

    answer = connect().ask("Drop?", idempotency_key="k", danger=None)

    assert (
        server.received[0].body
        == json.dumps(
            {"question": "Drop?", "choices": ["Approve", "Deny"], "expires_in": 600, "idempotency_key": "k"}
        ).encode()
    )
    assert answer.receipt is not None
    assert (answer.receipt.version, answer.verified) == (1, True)


def first_form(server: AskerServer, phone: SigningPhone) -> None:
    server.answer(0, receipt=phone.receipt(server.latest, {}, 0))


def unsigned(server: AskerServer, _phone: SigningPhone) -> None:
    server.answer(0, receipt=None)


def over_less(server: AskerServer, phone: SigningPhone) -> None:
    server.answer(0, receipt=phone.receipt(server.latest, {"danger": "normal"}, 0))


def called_first(server: AskerServer, phone: SigningPhone) -> None:
    receipt = phone.receipt(server.latest, server.given[server.latest["id"]], 0)
    server.answer(0, receipt={name: value for name, value in receipt.items() if name != "v"})


def of_another_form(server: AskerServer, phone: SigningPhone) -> None:
    server.answer(0, receipt=phone.receipt(server.latest, server.given[server.latest["id"]], 0) | {"v": 3})


@pytest.mark.parametrize("answering", [first_form, unsigned, over_less, called_first, of_another_form])
@pytest.mark.parametrize("by_id", [False, True], ids=["question", "id"])
def test_no_other_answer_to_it_is_taken(
    server: AskerServer,
    phone: SigningPhone,
    connect: Connect,
    answering: Callable[[AskerServer, SigningPhone], None],
    *,
    by_id: bool,
):
    client = connect()
    asked = client.create("Drop?", details=DETAILS, danger="high")
    answering(server, phone)

    with pytest.raises(InvalidReceipt) as refused:
        client.wait(asked.id if by_id else asked)
    assert (refused.value.exit_code, refused.value.code) == (11, "invalid_receipt")


def test_unsigned_is_an_answer_only_if_it_was_simulated_with_the_client_s_own_test_token(
    server: AskerServer, connect: Connect
):
    client = Reflecto(server.url, TEST_TOKEN)
    asked = connect().create("Drop?", danger="high")
    server.token = TEST_TOKEN

    server.answer(0, answered_by=None)

    answer = client.wait(asked)
    assert (answer.simulated, answer.verified, answer.receipt) == (True, False, None)
    server.latest["answered_by"] = {"device_id": "dev_1", "label": "Pixel"}
    with pytest.raises(InvalidReceipt):
        client.wait(asked)
    client.close()


def test_whoever_has_the_id_only_checks_against_the_server_s_digest_and_says_so(
    server: AskerServer, phone: SigningPhone, connect: Connect
):
    client = connect()
    asked = client.create("Drop?", details=DETAILS)
    phone.answers(server)

    state = client.get(asked.id).answer
    assert state is not None
    assert (client.wait(asked.id).verified, state.verified) == (False, False)
    known = client.get(asked).answer
    assert known is not None
    assert (client.wait(asked).verified, known.verified) == (True, True)


def test_the_number_is_told_once_the_question_is_stored_and_has_to_be_the_one_that_was_typed(
    server: AskerServer, phone: SigningPhone, connect: Connect
):
    shown: list[str | None] = []
    on_poll(server, lambda: phone.answers(server, number="07"))

    answer = connect().ask("Drop?", confirm="number", on_pending=lambda asked: shown.append(asked.confirm_number))

    assert shown == ["07"]
    assert answer.receipt is not None
    assert (answer.choice, answer.receipt.number) == ("Approve", "07")


@pytest.mark.parametrize("typed", [{}, {"number": "70"}], ids=["none", "another"])
def test_the_first_choice_with_another_number_is_no_answer(
    server: AskerServer, phone: SigningPhone, connect: Connect, typed: dict[str, Any]
):
    client = connect()
    asked = client.create("Drop?", confirm="number")
    phone.answers(server, **typed)

    with pytest.raises(InvalidReceipt, match="another number"):
        client.wait(asked)


def test_other_choices_need_no_number(server: AskerServer, phone: SigningPhone, connect: Connect):
    client = connect()
    asked = client.create("Drop?", confirm="number")
    phone.answers(server, 1)

    assert client.wait(asked).choice == "Deny"


def test_a_repeat_has_the_number_too(connect: Connect):
    client = connect()
    asked = [client.create("Drop?", confirm="number", idempotency_key="k") for _ in range(2)]

    assert [(each.replayed, each.confirm_number) for each in asked] == [(False, "07"), (True, "07")]


def test_the_number_is_not_in_what_a_log_may_show(connect: Connect):
    assert "confirm_number" not in repr(connect().create("Drop?", confirm="number"))


def test_asking_for_a_number_that_nobody_would_see_is_refused_at_once(server: AskerServer, connect: Connect):
    with pytest.raises(TypeError, match="on_pending"):
        connect().ask("Drop?", confirm="number")
    assert server.received == []


def test_a_server_that_gives_no_number_is_too_old_for_it(server: AskerServer, connect: Connect):
    server.faults["POST"].append(rewriting(lambda fields: fields.pop("confirm_number")))

    with pytest.raises(BrokenContract, match="too old"):
        connect().create("Drop?", confirm="number")


def test_a_server_that_drops_the_fields_is_too_old_for_them(server: AskerServer, phone: SigningPhone, connect: Connect):
    client = connect()
    asked = client.create("Drop?", details=DETAILS)
    del server.latest["digest"]
    phone.answers(server)

    with pytest.raises(BrokenContract, match="too old"):
        client.wait(asked)


def test_a_word_with_the_tap_is_in_the_answer(server: AskerServer, phone: SigningPhone, connect: Connect):
    on_poll(server, lambda: phone.answers(server, 1, comment="Not on a Friday \U0001f343"))

    answer = connect().ask("Drop?", comment="optional")

    assert (answer.choice, answer.comment) == ("Deny", "Not on a Friday \U0001f343")
    assert answer.receipt is not None
    assert answer.receipt.comment is not None
    assert answer.receipt.comment.salt == SALT


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state["comment"].update(text="On a Friday"),
        lambda state: state.pop("comment"),
        lambda state: (state["comment"].update(text="x"), state["receipt"]["comment"].update(text="x")),
        lambda state: state["receipt"]["comment"].update(salt="B" + SALT[1:]),
        lambda state: state["receipt"]["comment"].pop("text"),
        lambda state: state["receipt"].pop("comment"),
        lambda state: (state["receipt"].pop("comment"), state.pop("comment")),
    ],
    ids=["another", "none", "both", "salt", "no text", "not in the receipt", "nowhere"],
)
def test_a_word_that_was_not_signed_is_no_answer(
    server: AskerServer, phone: SigningPhone, connect: Connect, change: Callable[[dict[str, Any]], object]
):
    client = connect()
    asked = client.create("Drop?", comment="optional")
    phone.answers(server, 1, comment="Not on a Friday")
    server.faults["GET"].append(rewriting(change))

    with pytest.raises(BrokenContract):
        client.wait(asked)


def test_a_key_that_belongs_to_a_question_with_other_details_is_not_taken(connect: Connect):
    client = connect()
    client.create("Drop?", details=DETAILS, idempotency_key="k")

    with pytest.raises(IdempotencyMismatch):
        client.create("Drop?", details=DETAILS[:1], idempotency_key="k")


def test_an_answer_under_other_details_than_were_asked_is_not_taken(server: AskerServer, connect: Connect):
    client = connect()
    asked = client.create("Drop?", details=DETAILS)
    server.faults["GET"].append(rewriting(lambda state: state.update(digest="0" * 64)))

    with pytest.raises(IdempotencyMismatch, match="other details"):
        client.wait(asked)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("dismissed", "the question was refused on the phone"),
        ("wrong_number", "the number was typed wrong twice"),
        ("abandoned", "nobody waited for the question"),
        ("revoked", "the token was revoked"),
        ("withdrawn", "the question was withdrawn"),
        ("something new", "the question was withdrawn"),
    ],
)
def test_each_way_to_end_without_an_answer_is_told(server: AskerServer, connect: Connect, reason: str, told: str):
    client = connect()
    asked = client.create("Drop?")
    server.end(status="cancelled", reason=reason)

    with pytest.raises(QuestionCancelled, match=told) as ended:
        client.wait(asked)
    assert ended.value.reason == reason


@pytest.mark.parametrize(
    "given", [{"details": "text"}, {"details": {"kind": "text", "text": "x"}}, {"dangers": "high"}], ids=str
)
def test_what_is_no_such_field_is_a_type_error(server: AskerServer, connect: Connect, given: dict[str, Any]):
    with pytest.raises(TypeError):
        connect().create("Drop?", **given)
    assert server.received == []


def test_a_muted_sender_is_told_for_how_long(server: AskerServer, connect: Connect):
    server.faults["POST"].append(replying(Reply.error(403, "sender_muted", {"Retry-After": "900"})))

    with pytest.raises(PermissionDenied) as muted:
        connect().create("Drop?")
    assert (muted.value.code, muted.value.retry_after, muted.value.exit_code) == ("sender_muted", 900, 7)
