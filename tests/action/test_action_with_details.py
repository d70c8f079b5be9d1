"""The GitHub Action with details, danger, a number, a word."""

import pytest

from tests.action.conftest import StepOf
from tests.client.asker_server import AskerServer, rewriting
from tests.client.signing_phone import SigningPhone

DIFF = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-ä\n+ö\n"


@pytest.fixture
def phone(asker: AskerServer) -> SigningPhone:
    phone = SigningPhone()
    asker.on_poll = lambda _count: phone.answers_all(asker)
    return phone


@pytest.mark.usefixtures("phone")
def test_what_is_given_goes_out_and_the_signed_answer_passes(asker: AskerServer, step: StepOf):
    runner = {"GITHUB_REPOSITORY": "ada/shop", "GITHUB_RUN_ID": "7001"}
    given = {"details": DIFF, "source": "Release", "danger": "high", "confirm": "hold", "comment": "optional"}

    assert step(runner, url=asker.url, question="Deploy?", **given).run()[0] == 0

    asked = asker.prompts[0]
    assert asked["details"] == [{"kind": "diff", "text": DIFF}]
    assert asked["source"] == {"app": "Release", "where": "ada/shop", "session": "7001"}
    assert (asked["danger"], asked["confirm"], asked["comment"]) == ("high", "hold", "optional")


@pytest.mark.usefixtures("phone")
def test_without_these_inputs_the_question_is_what_it_was(asker: AskerServer, step: StepOf):
    assert step(url=asker.url, question="Deploy?").run()[0] == 0
    assert set(asker.prompts[0]) == {"question", "choices", "expires_in", "idempotency_key"}


@pytest.mark.usefixtures("phone")
def test_above_48_kib_the_text_says_how_much_is_missing(asker: AskerServer, step: StepOf):
    assert step(url=asker.url, question="Deploy?", details="ä" * 40_000).run()[0] == 0

    missing, cut = asker.prompts[0]["details"]
    (field,) = missing["fields"]
    left = len(cut["text"].replace("ä", "").encode())
    kept = len(cut["text"].encode()) - left
    assert field == {"name": "Missing", "value": f"{80_000 - kept:,} of 80,000 bytes"}
    assert kept > 40_000


def test_the_number_is_in_the_log_and_has_to_be_the_one_that_was_typed(asker: AskerServer, step: StepOf):
    phone = SigningPhone()
    asker.on_poll = lambda _count: phone.answers_all(asker)
    code, out = step(url=asker.url, question="Deploy?", confirm="number").run()
    assert code == 0
    assert "::notice::Type 07 on the phone to choose Approve\n" in out

    asker.on_poll = lambda _count: phone.answers(asker, number="70")
    code, out = step(url=asker.url, question="Deploy again?", confirm="number").run()
    assert code == 1
    assert "another number was typed" in out


def test_an_answer_that_no_phone_signed_over_it_fails(asker: AskerServer, step: StepOf):
    asker.on_poll = lambda _count: asker.answer(0)
    code, out = step(url=asker.url, question="Deploy?", danger="high").run()
    assert code == 1
    assert "no phone signed" in out


def test_a_server_that_dropped_the_details_is_told(asker: AskerServer, phone: SigningPhone, step: StepOf):
    asker.on_poll = lambda _count: phone.answers(asker)
    asker.faults["GET"].append(rewriting(lambda state: state.update(digest="")))
    code, out = step(url=asker.url, question="Deploy?", details="Why").run()
    assert code == 1
    assert "does not know these details" in out


def test_a_word_is_an_output(asker: AskerServer, step: StepOf):
    phone = SigningPhone()
    asker.on_poll = lambda _count: phone.answers(asker, 1, comment="Not on a Friday")
    asking = step(url=asker.url, question="Deploy?", comment="optional")
    assert asking.run()[0] == 1
    assert asking.outputs["comment"] == "Not on a Friday"
