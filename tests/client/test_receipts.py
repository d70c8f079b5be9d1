"""Signed answers as the asker reads them, on the vectors that every implementation shares."""

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reflecto import InvalidReceipt
from reflecto.client.protocol import HttpReply
from reflecto.client.replies import read_state
from reflecto.client.results import Receipt

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "answer.json").read_text("utf-8"))["vectors"]
OTHER_KEY = base64.b64encode(bytes.fromhex(VECTORS[1]["signing_key"])).decode()


def state_of(vector: dict[str, Any]) -> dict[str, Any]:
    index = vector["choice_index"]
    receipt = {
        "device_id": "dev_1",
        "signing_key": base64.b64encode(bytes.fromhex(vector["signing_key"])).decode(),
        "choice_index": index,
        "answered_at": vector["answered_at"],
        "signature": base64.b64encode(bytes.fromhex(vector["signature"])).decode(),
    }
    return {
        "id": vector["id"],
        "status": "answered",
        "question": vector["question"],
        "choices": vector["choices"],
        "choice": vector["choices"][index],
        "choice_index": index,
        "created_at": vector["answered_at"] - 10,
        "expires_at": vector["answered_at"] + 590,
        "answered_at": vector["answered_at"] + 1,
        "answered_by": {"device_id": "dev_1", "label": "Pixel"},
        "receipt": receipt,
    }


def read_receipt(state: dict[str, Any]) -> Receipt:
    answer = read_state(HttpReply(200, {}, msgspec.json.encode(state)), state["id"]).answer
    assert answer is not None
    assert answer.receipt is not None
    return answer.receipt


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_signed_answer_verifies_under_the_phones_key(vector: dict[str, Any]):
    receipt = read_receipt(state_of(vector))
    receipt.verify()
    receipt.verify(receipt.signing_key)


def test_a_key_of_the_servers_own_is_found_out_by_whoever_knows_the_phones():
    receipt = read_receipt(state_of(VECTORS[0]))
    with pytest.raises(InvalidReceipt, match="another key"):
        receipt.verify(OTHER_KEY)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("choice_index", 1),
        ("answered_at", 1),
        ("signing_key", OTHER_KEY),
        ("signing_key", "not base64"),
        ("signature", base64.b64encode(bytes(64)).decode()),
        ("signature", ""),
        ("device_id", "dev_2"),
    ],
)
def test_an_answer_whose_receipt_does_not_prove_it_is_no_answer(field: str, value: object):
    state = state_of(VECTORS[0])
    state["receipt"][field] = value
    with pytest.raises(InvalidReceipt):
        read_receipt(state)


@pytest.mark.parametrize(
    "changed",
    [
        {"question": "Delete production?"},
        {"choices": ["Deny", "Approve"], "choice": "Deny"},
        {"choice": "Deny", "choice_index": 1},
    ],
    ids=str,
)
def test_a_receipt_for_another_question_or_choice_is_refused(changed: dict[str, object]):
    with pytest.raises(InvalidReceipt):
        read_receipt(state_of(VECTORS[0]) | changed)
