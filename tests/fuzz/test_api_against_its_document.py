import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import CheckContext
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import ignored_auth, negative_data_rejection, positive_data_acceptance

from reflecto.api.openapi import document
from tests.fuzz.fuzzed_server import FuzzedServer
from tests.fuzz.stand_ins import StandIns

# `make test ARGS="tests/fuzz --hypothesis-profile=thorough"` asks far more, and other things each time.
THOROUGH = settings.get_current_profile_name() == "thorough"
EXAMPLES = 500 if THOROUGH else 5

SCHEMA = schemathesis.openapi.from_dict(json.loads(document()))
# The stream never ends; tests/api reads it.
API = SCHEMA.exclude(path="/v1/sync")

# Why a body that keeps to its schema may be refused with 400 all the same. Any other such refusal is a failure.
NOT_IN_SCHEMAS = {
    "invalid_choices": "labels that look alike, or of nothing but invisible characters",
    "invalid_question": "nothing but invisible characters",
    "invalid_label": "nothing but invisible characters",
    "invalid_choice": "the choices are those of the question",
    "invalid_comment": "characters are counted without the white space around them",
    "invalid_scopes": "a question has high priority, so `ask` needs a cap that allows that",
    "invalid_filename": "a device of Windows, or one of the rarer invisible characters",
    "invalid_message": "a form that names other fields only",
    "message_too_long": "bytes are counted, of UTF-8",
    "invalid_title": "bytes are counted, of UTF-8",
    "invalid_url_title": "bytes are counted, of UTF-8; and only with `url`",
    "invalid_url": "a host that no browser takes",
    "invalid_action": "the same, and bytes of a label; and JSON inside a form's text",
    "invalid_device": "names are counted once each",
    "invalid_at": "from a minute to a year ahead of now; a day the month does not have",
    "invalid_public_key": "not every 32 bytes are a key",
    "invalid_signing_key": "not every 32 bytes are a key",
    "invalid_push": "not every point is on the curve; a port that is no number",
    "invalid_signature": "it covers the question",
    "invalid_relay": "as many blobs as ids",
    "invalid_seq": "what the queue has reached",
    "invalid_class": "the first device of an owner is a phone",
    "invalid_body": "a form that gives a field twice, or NUL",
}
HEADERS_BESIDE_TEXT = {"invalid_priority", "invalid_url", "invalid_action"}  # ntfy's; its own words for each


@schemathesis.check
def documented_error_code(_context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Fail if an error's code is not among the examples of its status."""
    if response.status_code < 400 or case.meta is None:
        return
    documented = case.operation.definition.raw["responses"].get(str(response.status_code))
    if documented is None:  # status_code_conformance has its say
        return
    assert code_of(response.json()) in examples_of(documented), response.text


def code_of(body: Any) -> str:
    if "errors" in body:
        return str(body["errors"][0])
    return str(body["error"] if isinstance(body["error"], str) else body["error"]["code"])


def examples_of(response: dict[str, Any]) -> set[str]:
    if "$ref" in response:
        response = SCHEMA.raw_schema["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return set(response["content"]["application/json"]["examples"])


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as kept:
        kept.trust_env = False
        yield kept


@pytest.mark.no_cover  # tracing each of thousands of requests would double the time, and shows nothing new
@API.parametrize()
@settings(
    max_examples=EXAMPLES,
    derandomize=not THOROUGH,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_reply_is_one_the_document_promises(
    case: Case[Any], server: FuzzedServer, stand_ins: StandIns, session: requests.Session
):
    response = case.call(base_url=server.url, session=session, headers=stand_ins.fill(case))
    case.validate_response(response, excluded_checks=unfair_checks(case, response) + checks_done(case))
    if response.status_code < 300:
        GUARDED.add(case.operation.label)


GUARDED: set[str] = set()  # operations that were seen to refuse the same request without a token


def checks_done(case: Case[Any]) -> list[Any]:
    return [ignored_auth] if case.operation.label in GUARDED else []


def unfair_checks(case: Case[Any], response: Response) -> list[Any]:
    unfair = [] if is_for_the_schema_to_say(case, response) else [positive_data_acceptance]
    if case.media_type == "text/plain" and not isinstance(case.body, str):
        unfair.append(negative_data_rejection)  # a number is text too
    if case.meta and case.meta.is_negative_at(ParameterLocation.HEADER):
        unfair.append(negative_data_rejection)  # the missing token was put back
    if case.path.endswith("/messages.json"):
        unfair.append(
            negative_data_rejection
        )  # by design: what a Pushover client gets wrong is left out, with a warning
    return unfair


def is_for_the_schema_to_say(case: Case[Any], response: Response) -> bool:
    if response.status_code != 400:  # who calls and how things stand is no matter of a schema
        return False
    beside_text = HEADERS_BESIDE_TEXT if case.media_type == "text/plain" else set()
    return code_of(response.json()) not in NOT_IN_SCHEMAS.keys() | beside_text


@pytest.fixture(scope="module", autouse=True)
def _no_server_errors(server: FuzzedServer):
    yield
    assert server.ledger.failures == 0, str(server.ledger)
