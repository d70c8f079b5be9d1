"""Whose signature makes an answer: pinned keys, and `verify`."""

from collections.abc import Callable
from dataclasses import replace

import pytest

import reflecto
from reflecto import AsyncReflecto, Reflecto, verify
from tests.client.asker_server import TOKEN, AskerServer
from tests.client.signing_phone import SigningPhone

Connect = Callable[..., Reflecto]


@pytest.fixture
def phone() -> SigningPhone:
    return SigningPhone()


def test_an_answer_that_a_pinned_key_signed_is_taken(server: AskerServer, connect: Connect, phone: SigningPhone):
    server.on_poll = lambda _count: phone.answers(server)
    answer = connect(signing_keys=[SigningPhone().key, phone.key]).ask("Deploy?")
    assert answer.receipt is not None
    assert (answer.choice, answer.receipt.signing_key) == ("Approve", phone.key)


def test_a_server_that_signs_with_a_key_of_its_own_is_found_out(
    server: AskerServer, connect: Connect, phone: SigningPhone
):
    server.on_poll = lambda _count: phone.answers(server)
    with pytest.raises(reflecto.InvalidReceipt, match="another key"):
        connect(signing_keys=[SigningPhone().key]).ask("Deploy?")


def test_an_unsigned_answer_is_refused_where_a_signature_is_expected(
    server: AskerServer, connect: Connect, phone: SigningPhone
):
    server.on_poll = lambda _count: server.answer()
    with pytest.raises(reflecto.InvalidReceipt, match="not signed"):
        connect(signing_keys=[phone.key]).ask("Deploy?")


def test_reading_a_question_is_as_strict_as_waiting_for_it(server: AskerServer, connect: Connect, phone: SigningPhone):
    client = connect(signing_keys=[phone.key])
    question = client.create("Deploy?")
    assert client.get(question.id).status == "pending"
    server.answer()
    with pytest.raises(reflecto.InvalidReceipt):
        client.get(question.id)


async def test_the_asynchronous_client_pins_keys_too(server: AskerServer, phone: SigningPhone):
    server.on_poll = lambda _count: server.answer()
    async with AsyncReflecto(server.url, TOKEN, signing_keys=[phone.key]) as client:
        with pytest.raises(reflecto.InvalidReceipt):
            await client.ask("Deploy?")


@pytest.mark.parametrize("keys", [[], ["not a key"], [""], ["A" * 42]], ids=["none", "text", "empty", "short"])
def test_keys_that_can_match_nothing_are_refused_at_once(server: AskerServer, keys: list[str]):
    with pytest.raises(reflecto.InvalidSettings):
        Reflecto(server.url, TOKEN, signing_keys=keys)


def test_one_text_is_no_collection_of_keys(server: AskerServer, phone: SigningPhone):
    with pytest.raises(TypeError):
        Reflecto(server.url, TOKEN, signing_keys=phone.key)


def test_verify_takes_a_receipt_and_whose_it_must_be(server: AskerServer, connect: Connect, phone: SigningPhone):
    server.on_poll = lambda _count: phone.answers(server)
    receipt = connect().ask("Deploy?").receipt
    assert receipt is not None
    verify(receipt)
    verify(receipt, phone.key)
    with pytest.raises(reflecto.InvalidReceipt):
        verify(receipt, SigningPhone().key)
    with pytest.raises(reflecto.InvalidReceipt):
        verify(replace(receipt, question="Delete everything?"))


def test_verify_does_not_take_the_absence_of_a_receipt_for_one():
    with pytest.raises(reflecto.InvalidReceipt, match="not signed"):
        verify(None)
