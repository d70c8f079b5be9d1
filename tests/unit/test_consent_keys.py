"""What a question's number and comment are drawn from: always the same, or those who asked before an update lose it."""

import hmac
from hashlib import sha256

import pytest
from nacl.public import PrivateKey, SealedBox

from reflecto.crypto.consent import comment_keys, confirm_number, open_comment, seal_comment
from reflecto.crypto.envelopes import BadBlobError, BoxKeys

TOKEN = "rfk_live_" + "a" * 32
QUESTION = "int_" + "5" * 32


def hkdf_sha256(secret: bytes, info: bytes) -> bytes:
    """Return 32 bytes of RFC 5869 without salt, written out."""
    extracted = hmac.digest(bytes(32), secret, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


def test_the_secret_of_a_comment_is_drawn_from_the_token_and_the_question_as_the_protocol_says():
    keys = comment_keys(TOKEN, QUESTION)
    assert keys.secret == hkdf_sha256(TOKEN.encode(), b"reflecto comment v1\n" + QUESTION.encode())
    assert keys.public == bytes(PrivateKey(keys.secret).public_key)


def test_a_comment_is_a_sealed_box_that_this_token_opens_and_no_other():
    keys = comment_keys(TOKEN, QUESTION)
    sealed = seal_comment(keys.public, b"no")
    assert SealedBox(PrivateKey(keys.secret)).decrypt(sealed) == b"no"
    assert open_comment(keys, sealed) == b"no"
    assert seal_comment(keys.public, b"no") != sealed
    for other in (comment_keys(TOKEN + "b", QUESTION), comment_keys(TOKEN, QUESTION[:-1] + "6")):
        with pytest.raises(BadBlobError):
            open_comment(other, sealed)
    with pytest.raises(BadBlobError):
        open_comment(keys, sealed[:-1] + bytes([sealed[-1] ^ 1]))


def test_every_number_is_drawn_about_as_often_as_any_other():
    secret = BoxKeys.generate().secret
    drawn = [confirm_number(secret, f"int_{sha256(b'%d' % i).hexdigest()[:32]}") for i in range(5_000)]
    counts = {number: drawn.count(number) for number in drawn}
    assert set(counts) == {f"{number:02d}" for number in range(100)}
    assert max(counts.values()) < 3 * 50


def test_a_number_is_one_servers_alone():
    questions = [f"int_{i:032x}" for i in range(50)]
    one, other = BoxKeys.generate().secret, BoxKeys.generate().secret
    assert [confirm_number(one, each) for each in questions] == [confirm_number(one, each) for each in questions]
    assert [confirm_number(one, each) for each in questions] != [confirm_number(other, each) for each in questions]
