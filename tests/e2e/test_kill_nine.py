"""A server that is killed at any instant has kept what it answered, and only that once."""

from pathlib import Path

import pytest

from tests.e2e.crash_load import run_rounds

ROUNDS = 6  # `python -m bench.kill_nine --rounds N` does more


@pytest.mark.timeout(180)
def test_everything_that_was_answered_2xx_survives_kill_nine(tmp_path: Path):
    ledger = run_rounds(tmp_path, ROUNDS, seed=9)

    # The load has touched all it should: it would prove nothing otherwise.
    assert ledger.promises > ROUNDS * 20
    assert any(status == "cancelled" for status, _ in ledger.ended.values())
    assert {choice for status, choice in ledger.ended.values() if status == "answered"} == {0, 1, 2}
    assert ledger.used_codes
    assert len(ledger.messages) > ROUNDS * 5
    assert ledger.dead_tokens
    assert all(inbox.acked for inbox in ledger.inboxes)
