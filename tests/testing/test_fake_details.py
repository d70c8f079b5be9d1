"""The fake server takes what a question may bring as the real one does, and replies in its words."""

from typing import Any

import msgspec

from reflecto.crypto.answers import question_digest
from reflecto.testing.fake_api import FakeApi, Reply

TOKEN = "rfk_test_x"
GIVEN: dict[str, Any] = {"details": [{"kind": "code", "text": "make"}], "confirm": "number"}


def call(api: FakeApi, method: str, path: str, **body: Any) -> Reply:
    """Make a request."""
    return api.reply_to(method, path, f"Bearer {TOKEN}", msgspec.json.encode(body))


def asked_with(api: FakeApi, **fields: Any) -> dict[str, Any]:
    """Ask, and return the reply's body as JSON."""
    return dict(msgspec.to_builtins(call(api, "POST", "/v1/interactions", question="Run it?", **fields).body))


def test_a_question_that_brought_more_has_number_and_digest_and_says_that_it_was_simulated():
    api = FakeApi(TOKEN)
    api.taps = "Approve"
    reply = asked_with(api, **GIVEN)
    assert len(reply["confirm_number"]) == 2
    assert api.asked[0].given == GIVEN
    state = msgspec.to_builtins(call(api, "GET", f"/v1/interactions/{reply['id']}").body)
    assert state["digest"] == question_digest("Run it?", ["Approve", "Deny"], **GIVEN)
    assert (state["choice"], state["simulated"]) == ("Approve", True)


def test_a_repeat_has_the_same_number_and_other_details_are_a_mismatch():
    api = FakeApi(TOKEN)
    first = asked_with(api, idempotency_key="k", **GIVEN)
    again = call(api, "POST", "/v1/interactions", question="Run it?", idempotency_key="k", **GIVEN)
    assert (again.status, msgspec.to_builtins(again.body)) == (200, first)
    assert "Idempotency-Mismatch" not in again.headers
    other = call(api, "POST", "/v1/interactions", question="Run it?", idempotency_key="k", danger="high")
    assert other.headers["Idempotency-Mismatch"] == "true"


def test_a_question_of_four_fields_is_answered_as_before():
    api = FakeApi(TOKEN)
    api.taps = "Deny"
    reply = asked_with(api)
    state = msgspec.to_builtins(call(api, "GET", f"/v1/interactions/{reply['id']}").body)
    assert set(reply) == {"id", "expires_at"}
    assert state.keys().isdisjoint({"digest", "simulated", "comment"})


def test_details_of_another_form_are_refused_with_the_real_code():
    refused = call(FakeApi(TOKEN), "POST", "/v1/interactions", question="Run it?", details=[{"kind": "html"}])
    assert (refused.status, refused.body["error"]["code"]) == (400, "invalid_details")
