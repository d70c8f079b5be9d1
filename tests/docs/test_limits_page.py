"""docs/limits.md says what the code does."""

import re
from pathlib import Path

from reflecto.contract import limits
from reflecto.contract.errors import CATALOGUE
from scripts import write_limits_page
from scripts.write_limits_page import PAGE, render


def test_the_page_of_limits_is_what_the_code_makes_of_it():
    assert PAGE.read_text("utf-8") == render(), "run .venv/bin/python scripts/write_limits_page.py"


def test_each_error_named_there_is_one_that_there_is():
    rows = re.findall(r"^\|.*\| ([^|]*) \|$", render().partition("## Requests")[0], re.MULTILINE)
    named = {code for row in rows for code in re.findall(r"`(\w+)`", row)}
    assert named <= set(CATALOGUE)


# Bounds that nobody meets who uses the API, an app or a command: of devices' own traffic, of timing, and defaults.
WITHIN = {
    "APPROVAL_MAX_CHARS",
    "APP_BUILD_MAX",
    "BLOB_MIN_BYTES",
    "CALLBACK_TRIES_MAX",
    "CALLBACK_URL_MAX_CHARS",
    "COMMENT_SALT_BYTES",
    "DEFAULT_CHOICES",
    "ENDPOINT_MAX_CHARS",
    "FEATURES_MAX",
    "FEATURE_MAX_CHARS",
    "HEARTBEAT_SECONDS",
    "PENDING_RETRY_AFTER_SECONDS",
    "POLL_RETRY_AFTER_SECONDS",
    "PUSHOVER_BODY_MAX_BYTES",
    "PUSH_GRACE_SECONDS",
    "QUEUE_FULL_RETRY_AFTER_SECONDS",
    "RELAY_TARGETS_MAX",
    "REMINDER_LATE_SECONDS",
    "REVOKED_TOKEN_AUDIT_SECONDS",
    "SEQ_MAX",
    "SOUND_MAX_CHARS",
    "SYNC_PAGE_ENTRIES",
}


def test_each_bound_of_the_contract_is_on_the_page_or_among_those_that_nobody_meets():
    script = Path(write_limits_page.__file__).read_text("utf-8")
    on_the_page = set(re.findall(r"\bat\.([A-Z_]+)", script))
    assert {name for name in dir(limits) if name.isupper()} - on_the_page <= WITHIN
