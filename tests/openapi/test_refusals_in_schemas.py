"""What the models and use cases refuse, the document's schemas refuse too; what they take, the schemas take."""

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from reflecto.contract import errors, notes
from reflecto.contract.api_error import ApiError
from reflecto.contract.filenames import is_safe_filename
from reflecto.contract.ids import normalize_setup_code
from reflecto.contract.wire import is_not_blank
from reflecto.core.checks import check_web_url
from reflecto.core.push import is_callable_url
from reflecto.core.reminders import fire_time
from reflecto.core.targets import check_selector
from reflecto.crypto.encoding import decode_base64, decode_base64url, encode_base64, encode_base64url
from tests.builders import enrolment_body


def taken(check: Callable[[str], Any]) -> Callable[[str], bool]:
    """Return whether a check lets a text pass."""

    def passes(text: str) -> bool:
        try:
            check(text)
        except ApiError:
            return False
        return True

    return passes


KEY = encode_base64(bytes(range(32)))
SIGNATURE = encode_base64(bytes(range(64)))
SECRET = encode_base64url(bytes(range(16)))
NOON = 1_767_225_600  # 2026-01-01T00:00:00Z, and the reminders below are an hour later

RULES: dict[str, tuple[str, Callable[[str], Any], list[str], list[str]]] = {
    "not blank": (r"\S", is_not_blank, ["a", " a ", "é"], ["", " ", "\t\n", "\u00a0\u3000"]),
    "file name": (
        notes.filename_pattern(),
        is_safe_filename,
        ["a.txt", "Report.MD", "a b.json", "x.tar.log", "~.py"],
        ["", ".txt", ".env", "a", "a.html", "a.txt.exe", "a/b.txt", "a\\b.txt", " a.txt", "a\u202etxt.md", "a\n.txt"],
    ),
    "web address": (
        notes.WEB_URL,
        taken(lambda url: check_web_url(url, 512, errors.INVALID_URL)),
        ["https://ci.example/runs/42", "HTTP://a.example?x=1", "http://[::1]:8080/"],
        [
            "",
            "ci.example",
            "ftp://a.example",
            "javascript:alert(1)",
            "https://",
            "https://me:pw@a.example",
            "http://a b",
        ],
    ),
    "push endpoint": (
        notes.PUSH_ENDPOINT,
        lambda url: is_callable_url(url, allow_private=False),
        ["https://push.example/send/abc", "https://push.example:8443?a=@", "HTTPS://[2001:db8::1]/x"],
        [
            "",
            "http://push.example/",
            "https://",
            "https://a@push.example/",
            "https://push.example/#a",
            "https://ü.example",
        ],
    ),
    "key": (
        notes.BASE64_OF_32_BYTES,
        lambda text: decode_base64(text, length=32),
        [KEY],
        [
            "",
            "AA==",
            KEY[:-1],
            KEY + "=",
            KEY[:-2] + "B=",
            SIGNATURE,
            KEY.replace("A", "_"),
        ],
    ),
    "signature": (
        notes.BASE64_OF_64_BYTES,
        lambda text: decode_base64(text, length=64),
        [SIGNATURE],
        [
            "",
            KEY,
            SIGNATURE[:-3] + "B==",
            SIGNATURE[:-1],
        ],
    ),
    "push secret": (
        notes.BASE64URL_OF_16_BYTES,
        lambda text: decode_base64url(text, length=16),
        [
            SECRET,
            SECRET + "==",
        ],
        ["", KEY, SECRET[:-1], SECRET[:-1] + "B", SECRET[:-1] + "+"],
    ),
    "setup code": (
        notes.SETUP_CODE,
        normalize_setup_code,
        ["7F3K-Q2MA-9XTB-W4HD", "7f3k q2ma 9xtb w4hd", "OIL0OIL0OIL0OIL0"],
        ["", "7F3K-Q2MA-9XTB", "7F3K-Q2MA-9XTB-W4HU", "7F3K-Q2MA-9XTB-W4HD-0"],
    ),
    "time": (
        notes.DATE_TIME,
        taken(lambda at: fire_time(at, NOON)),
        ["2026-01-01T01:00:00Z", "2026-01-01 03:00:00.5+02:00", "2026-01-01t01:00:00z"],
        ["", "tomorrow", "2026-01-01T01:00:00", "2026-13-01T01:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01"],
    ),
    "selector": (
        notes.NAMES_SOMETHING,
        taken(check_selector),
        ["phone", " Pixel 9 , Tablet", ",all"],
        ["", " ", ",", " , ,"],
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_pattern_says_what_the_server_takes(rule: str):
    pattern, takes, good, bad = RULES[rule]
    schema = Draft202012Validator({"type": "string", "pattern": pattern})
    for text in good:
        assert takes(text), text
        assert schema.is_valid(text), text
    for text in bad:
        assert not takes(text), text
        assert not schema.is_valid(text), text


ENROLMENT = enrolment_body("7F3K-Q2MA-9XTB-W4HD")
REFUSED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("CreateInteractionRequest", {"question": "Go?"}, {"question": "  "}),
    ("CreateInteractionRequest", {"question": "Go?"}, {"choices": ["Yes", " "]}),
    ("CreateInteractionRequest", {"question": "Go?"}, {"choices": ["Yes", "Yes"]}),
    ("CreateInteractionRequest", {"question": "Go?"}, {"choices": ["Yes"]}),
    ("CreateInteractionRequest", {"question": "Go?"}, {"expires_in": 59}),
    ("CreateInteractionRequest", {"question": "Go?"}, {"tether": 4}),
    ("SendRequest", {"message": "Done"}, {"url": "ftp://a.example"}),
    ("SendRequest", {"message": "Done"}, {"device": " , "}),
    ("SendRequest", {"message": "Done"}, {"actions": [{"label": "Open", "url": "tel:1"}]}),
    ("DocumentRequest", {"filename": "a.md", "content": "x"}, {"filename": "a/b.md"}),
    ("ReminderRequest", {"message": "x", "at": NOON}, {"at": "tomorrow"}),
    ("CreateTokenRequest", {"label": "CI"}, {"label": " "}),
    ("CreateTokenRequest", {"label": "CI"}, {"scopes": ["send", "send"]}),
    ("SimulateRequest", {"choice": "Yes"}, {"choice": ""}),
    ("EnrollRequest", ENROLMENT, {"public_key": "AA=="}),
    ("EnrollRequest", ENROLMENT, {"label": " "}),
    ("EnrollRequest", ENROLMENT, {"code": "1234"}),
    ("UpdateDeviceRequest", {"label": "Pixel"}, {"label": "\t"}),
    ("NonceRequest", {"nonce": KEY}, {"nonce": SIGNATURE}),
    ("RelayRequest", {"to": ["dev_1"], "blobs": [encode_base64(b"\1" + bytes(100))]}, {"blobs": ["AAAA"]}),
]


@pytest.mark.parametrize(("name", "good", "bad"), REFUSED)
def test_a_body_the_server_refuses_breaks_its_schema(name: str, good: dict[str, Any], bad: dict[str, Any], api):
    schema = Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": api["components"]})
    schema.validate(good)
    assert not schema.is_valid(good | bad)


def test_an_empty_field_of_a_form_is_none_and_keeps_to_its_schema(api):
    content = api["paths"]["/v1/send"]["post"]["requestBody"]["content"]
    form = Draft202012Validator(content["application/x-www-form-urlencoded"]["schema"])
    assert form.is_valid({"message": "Done", "device": "", "url": ""})
    assert not form.is_valid({"message": "Done", "device": " , "})
