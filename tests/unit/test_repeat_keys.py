"""What is derived from a caller's secret and its Idempotency-Key."""

import hashlib
import hmac

import pytest

from reflecto.api.pushover_fields import PushoverFields
from reflecto.contract.api_error import ApiError
from reflecto.core.repeats import KeyedRequest
from reflecto.crypto.envelopes import BadBlobError
from reflecto.crypto.repeats import RepeatKeys

TOKEN = "rfk_live_" + "a" * 32


def test_keys_are_what_an_independent_hkdf_makes_of_token_and_key():
    # hkdf(ikm="rfk_live_aaa…\nkey-1", info="reflecto idempotency v1", 64 bytes), by hmac alone
    pseudo_random = hmac.digest(bytes(32), f"{TOKEN}\nkey-1".encode(), hashlib.sha256)
    stream, block = b"", b""
    for number in (1, 2):
        block = hmac.digest(pseudo_random, block + b"reflecto idempotency v1" + bytes([number]), hashlib.sha256)
        stream += block
    keys = RepeatKeys.derive(TOKEN, "key-1")
    assert (keys.mark, keys.sealing) == (stream[:32], stream[32:])


def test_another_token_or_another_key_makes_other_marks():
    marks = {RepeatKeys.derive(token, key).mark for token in (TOKEN, TOKEN[:-1]) for key in ("a", "b")}
    assert len(marks) == 4


def test_a_kept_reply_opens_for_the_same_request_and_says_so_where_it_is_another():
    request = KeyedRequest.of(TOKEN, "key", ["sendMessage", {"message": "hi"}])
    sealed = request.seal(200, {"id": "msg_1"})
    again = KeyedRequest.of(TOKEN, "key", ["sendMessage", {"message": "hi"}]).open(sealed)
    assert (again.status, again.body) == (200, b'{"id":"msg_1"}')
    for other in (["sendMessage", {"message": "ho"}], ["ring", {"message": "hi"}]):
        with pytest.raises(ApiError, match="idempotency_key_reused"):
            KeyedRequest.of(TOKEN, "key", other).open(sealed)


@pytest.mark.parametrize("value", ["\ud800", 10**30, float("nan"), b"\x00\xff", {"b": 1, "a": [None]}])
def test_whatever_a_body_may_hold_can_be_compared(value: object):
    request = KeyedRequest.of(TOKEN, "key", ["id", PushoverFields({"message": value})])
    again = KeyedRequest.of(TOKEN, "key", ["id", PushoverFields({"message": value})])
    assert request.digest == again.digest
    assert request.digest != KeyedRequest.of(TOKEN, "key", ["id", PushoverFields({"message": "x"})]).digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (float("nan"), None),
        (1, True),
        (1, 1.0),
        ("\ud800", "\ud801"),
        ("\ud800", "\\ud800"),
        (10**30, str(10**30)),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        (["a", "b"], ["b", "a"]),
        (["a", "b"], ["ab"]),
    ],
)
def test_requests_that_differ_have_other_digests(one: object, other: object):
    first, second = (KeyedRequest.of(TOKEN, "key", ["id", {"message": value}]) for value in (one, other))
    assert first.digest != second.digest


@pytest.mark.parametrize("beside", ["x", "\ud800"])
def test_the_order_of_fields_makes_no_difference(beside: str):
    first, second = (
        KeyedRequest.of(TOKEN, "key", ["id", PushoverFields(fields)])
        for fields in ({"message": beside, "title": "T"}, {"title": "T", "message": beside})
    )
    assert first.digest == second.digest


def test_what_is_kept_opens_under_no_other_token_and_no_other_key_and_shows_nothing():
    request = KeyedRequest.of(TOKEN, "key", ["createToken", {}])
    sealed = request.seal(201, {"token": "rfk_live_secret"})
    assert b"secret" not in sealed
    for token, key in ((TOKEN[:-1], "key"), (TOKEN, "k")):
        with pytest.raises(BadBlobError):
            KeyedRequest.of(token, key, ["createToken", {}]).open(sealed)
    assert repr(request.keys) == f"RepeatKeys(mark={request.keys.mark!r})"
