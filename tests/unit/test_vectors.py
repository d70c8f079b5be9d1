"""The shared test vectors: what other implementations make must open here, and what must fail must fail."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
import rfc8785
from nacl import bindings

from reflecto.contract.canonical_json import canonical_json
from reflecto.crypto.answers import (
    answer_message,
    answer_message_v2,
    comment_digest,
    question_digest,
    sign_answer,
    verify_answer,
)
from reflecto.crypto.envelopes import BadBlobError, BadKeyError, BoxKeys, open_blob, seal, shared_key
from reflecto.crypto.tokens import TokenKeys, token_hash

FOLDER: Final = Path(__file__).parent.parent / "vectors"
ENVELOPES: Final = json.loads((FOLDER / "envelope.json").read_text("utf-8"))
ANSWERS: Final = json.loads((FOLDER / "answer.json").read_text("utf-8"))
ANSWERS_V2: Final = json.loads((FOLDER / "answers-v2.json").read_text("utf-8"))
TOKEN: Final = json.loads((FOLDER / "token.json").read_text("utf-8"))


def named(vectors: list[dict[str, Any]]) -> Any:
    """Run a test on each of the vectors."""
    return pytest.mark.parametrize("vector", vectors, ids=[vector["name"] for vector in vectors])


@named(ENVELOPES["vectors"])
def test_a_blob_opens_for_its_recipient(vector: dict[str, str]):
    key = shared_key(bytes.fromhex(vector["sender_public"]), bytes.fromhex(vector["recipient_secret"]))
    assert key.hex() == vector["shared_key"]
    assert open_blob(key, bytes.fromhex(vector["blob"])) == vector["plaintext_utf8"].encode()


@named(ENVELOPES["vectors"])
def test_both_ends_derive_the_same_key(vector: dict[str, str]):
    key = shared_key(bytes.fromhex(vector["recipient_public"]), bytes.fromhex(vector["sender_secret"]))
    assert key.hex() == vector["shared_key"]
    for side in ("sender", "recipient"):
        assert BoxKeys.from_secret(bytes.fromhex(vector[f"{side}_secret"])).public.hex() == vector[f"{side}_public"]


@named(ENVELOPES["vectors"])
def test_sealing_with_the_vectors_nonce_gives_the_vectors_blob(vector: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bindings, "randombytes", lambda size: bytes.fromhex(vector["nonce"])[:size])
    sealed = seal(bytes.fromhex(vector["shared_key"]), vector["plaintext_utf8"].encode())
    assert sealed.hex() == vector["blob"]


@named(ENVELOPES["must_fail"])
def test_a_blob_that_must_fail_fails(vector: dict[str, str]):
    key = shared_key(bytes.fromhex(vector["sender_public"]), bytes.fromhex(vector["recipient_secret"]))
    with pytest.raises(BadBlobError):
        open_blob(key, bytes.fromhex(vector["blob"]))


@pytest.mark.parametrize("length", range(42))
def test_a_blob_shorter_than_its_frame_fails(length: int):
    with pytest.raises(BadBlobError):
        open_blob(bytes(32), b"\x01" * length)


def test_every_flipped_bit_is_noticed():
    key = bytes(range(32))
    blob = seal(key, b"Approve")
    for position in range(len(blob) * 8):
        changed = bytearray(blob)
        changed[position // 8] ^= 1 << position % 8
        with pytest.raises(BadBlobError):
            open_blob(key, bytes(changed))


@pytest.mark.parametrize("public", [bytes(32), b"\x01" + bytes(31), b"short", bytes(33)])
def test_a_key_that_would_be_everybodys_is_refused(public: bytes):
    with pytest.raises(BadKeyError):
        shared_key(public, BoxKeys.generate().secret)


def test_no_two_blobs_share_a_nonce():
    assert len({seal(bytes(32), b"")[1:25] for _ in range(100)}) == 100


@named(ANSWERS["vectors"])
def test_an_answer_is_signed_over_the_canonical_question(vector: dict[str, Any]):
    message = answer_message(
        vector["id"], vector["question"], vector["choices"], vector["choice_index"], vector["answered_at"]
    )
    assert question_digest(vector["question"], vector["choices"]) == vector["digest"]
    assert message == vector["message"].encode()
    signature = sign_answer(bytes.fromhex(vector["signing_seed"]), message)
    assert signature.hex() == vector["signature"]
    assert verify_answer(bytes.fromhex(vector["signing_key"]), message, signature)


@named(ANSWERS["vectors"])
def test_a_signature_proves_nothing_else(vector: dict[str, Any]):
    key, signature = bytes.fromhex(vector["signing_key"]), bytes.fromhex(vector["signature"])
    fields = [vector[name] for name in ("id", "question", "choices", "choice_index", "answered_at")]
    others = [
        ["int_" + "0" * 32, *fields[1:]],
        [fields[0], fields[1] + " ", *fields[2:]],
        [*fields[:2], list(reversed(fields[2])), *fields[3:]],
        [*fields[:3], 1 - min(fields[3], 1), fields[4]],
        [*fields[:4], fields[4] + 1],
    ]
    for other in others:
        assert not verify_answer(key, answer_message(*other), signature)
    assert not verify_answer(key, vector["message"].encode(), signature[:-1])
    assert not verify_answer(bytes(32), vector["message"].encode(), signature)


def test_a_token_is_stored_as_its_hash_and_seals_under_its_key():
    assert token_hash(TOKEN["token"]).hex() == TOKEN["token_sha256"]
    assert TokenKeys.derive(TOKEN["token"]).sealing.hex() == TOKEN["hkdf"]["key"]


def test_marks_differ_by_token_kind_and_text():
    keys, others = TokenKeys.derive(TOKEN["token"]), TokenKeys.derive(TOKEN["token"][:-1] + "0")
    marks = {
        keys.mark("key", b"deploy"),
        keys.mark("content", b"deploy"),
        keys.mark("key", b"Deploy"),
        others.mark("key", b"deploy"),
    }
    assert len(marks) == 4
    assert keys.mark("key", b"deploy") in marks
    assert keys.marking != keys.sealing


def message_v2_of(vector: dict[str, Any]) -> bytes:
    """Return what is signed in the vector, made from its parts."""
    digest = question_digest(vector["question"], vector["choices"], **vector["given"])
    comment, roster = vector["comment"], vector["roster"]
    return answer_message_v2(
        vector["id"],
        digest,
        vector["choice_index"],
        vector["answered_at"],
        asker=vector["from"],
        number=vector["number"],
        comment_sha256=comment and comment_digest(comment["text"], comment["salt"]),
        roster=roster and f"{roster['version']}.{roster['sha256']}",
    )


@named(ANSWERS_V2["vectors"])
def test_an_answer_v2_is_signed_over_all_that_was_given(vector: dict[str, Any]):
    shown = {"question": vector["question"], "choices": vector["choices"], **vector["given"]}
    assert rfc8785.dumps(shown).decode() == vector["canonical_json"]
    assert canonical_json(shown) == vector["canonical_json"].encode()
    message = message_v2_of(vector)
    assert message == vector["message"].encode()
    signature = sign_answer(bytes.fromhex(vector["signing_seed"]), message)
    assert signature.hex() == vector["signature"]
    assert verify_answer(bytes.fromhex(vector["signing_key"]), message, signature)


@named(ANSWERS_V2["vectors"])
def test_a_signature_v2_proves_nothing_else(vector: dict[str, Any]):
    key, signature = bytes.fromhex(vector["signing_key"]), bytes.fromhex(vector["signature"])
    changes: list[dict[str, Any]] = [
        {"id": "int_" + "0" * 32},
        {"from": "dev_" + "0" * 32},
        {"question": vector["question"] + " "},
        {"choices": [*vector["choices"][::-1]]},
        {"given": vector["given"] | {"source": {"app": "another"}}},
        {"given": {}},
        {"choice_index": vector["choice_index"] + 1},
        {"answered_at": vector["answered_at"] + 1},
        {"number": "99"},
        {"comment": {"text": "another", "salt": "A" * 22}},
        {"roster": {"version": 1, "sha256": "0" * 64}},
    ]
    for change in changes:
        assert not verify_answer(key, message_v2_of(vector | change), signature), change


def test_nothing_given_leaves_the_digest_as_it_was():
    for vector in ANSWERS["vectors"]:
        assert question_digest(vector["question"], vector["choices"]) == vector["digest"]
