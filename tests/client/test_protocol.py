"""Requests, and what goes into them, without any network."""

import json

import pytest

from reflecto import RELEASE, InvalidSettings
from reflecto.client.protocol import (
    Draft,
    HttpReply,
    base_url,
    common_headers,
    create_request,
    state_request,
)
from reflecto.contract.loopback import is_loopback
from tests.client.asker_server import TOKEN

QUESTION_ID = "int_" + "0" * 32


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://reflecto.example", "https://reflecto.example"),
        ("https://reflecto.example/", "https://reflecto.example"),
        (" http://127.0.0.1:8787\n", "http://127.0.0.1:8787"),
        ("https://example.org/reflecto//", "https://example.org/reflecto"),
        ("HTTPS://Example.org", "HTTPS://Example.org"),
        ("http://[::1]:8787", "http://[::1]:8787"),
        ("https://bücher.example", "https://bücher.example"),
    ],
)
def test_a_usable_url_loses_only_its_ends(given: str, used: str):
    assert base_url(given) == used


@pytest.mark.parametrize(
    "given",
    [
        "",
        "reflecto.example",
        "reflecto.example:8787",
        "ftp://reflecto.example",
        "file:///etc/passwd",
        "https://",
        "https://:8787",
        "https://reflecto.example:port",
        "https://reflecto.example:99999",
        "https://reflecto.example:0",
        "https://user:sesame@reflecto.example",
        "https://sesame@reflecto.example",
        "https://reflecto.example/?key=sesame",
        "https://reflecto.example/#sesame",
        "https://reflecto.example/a b",
        "https://reflecto.example\r\nX-Evil: 1",
        'https://reflecto.example/"',
        "https://[::1",
    ],
)
def test_any_other_url_is_refused_without_repeating_it(given: str):
    with pytest.raises(InvalidSettings) as caught:
        base_url(given)
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "sesame",
        "rfk_live_" + "a" * 31,
        "rfk_live_" + "a" * 33,
        "rfk_prod_" + "a" * 32,
        "rfd_live_" + "a" * 32,
        f"Bearer {TOKEN}",
        f"{TOKEN}\r\nX-Evil: 1",
        "rfk_live_" + "ä" * 32,
    ],
)
def test_what_cannot_be_a_sender_token_is_never_sent_and_never_repeated(given: str):
    with pytest.raises(InvalidSettings) as caught:
        common_headers(given)
    assert not given or given not in str(caught.value)


def test_every_request_says_who_asks_and_takes_nothing_compressed():
    headers = common_headers(TOKEN)
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert headers["User-Agent"] == f"reflecto/{RELEASE}"
    assert headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.8.0.1", "http://[::1]:1", "http://r.localhost"])
def test_loopback_needs_no_encryption(url: str):
    assert is_loopback(url)


@pytest.mark.parametrize(
    "url", ["http://192.168.1.5", "http://localhost.example", "http://127.0.0.1.example", "http://[::1", "http://[x]"]
)
def test_other_hosts_do(url: str):
    assert not is_loopback(url)


def test_a_question_with_a_lone_surrogate_is_left_for_the_server_to_refuse():
    request = create_request(Draft.make("\udc80", None, None, "key"))
    assert request.body is not None
    assert json.loads(request.body) == {
        "question": "\udc80",
        "choices": ["Approve", "Deny"],
        "expires_in": 600,
        "idempotency_key": "key",
    }


def test_one_text_as_choices_is_a_mistake_not_seven_labels():
    with pytest.raises(TypeError, match="sequence of labels"):
        Draft.make("Deploy?", "Approve", None, "key")


def test_a_held_back_reply_is_given_the_time_it_is_held_back_for():
    assert state_request(QUESTION_ID, 50).timeout_seconds == 65
    assert state_request(QUESTION_ID, 50).within(3).timeout_seconds == 3
    assert state_request(QUESTION_ID).within(0).timeout_seconds == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("9" * 400, None),
        ("٣", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_by_the_servers_clock(value: str, seconds: float | None):
    reply = HttpReply(503, {"date": "Fri, 15 Jan 2027 08:00:00 GMT", "retry-after": value}, b"")
    assert reply.seconds_of("retry-after") == seconds


def test_a_date_to_retry_after_means_nothing_without_the_servers_clock():
    assert HttpReply(503, {"retry-after": "Fri, 15 Jan 2027 08:01:00 GMT"}, b"").seconds_of("retry-after") is None
