"""What docs/scale.md says of numbers, settings and files is so."""

import re
from pathlib import Path
from typing import Final

import msgspec

from reflecto.api.long_polls import KEEP_ALIVE_SECONDS
from reflecto.api.store_load import MEASURE_SECONDS
from reflecto.config import Settings
from reflecto.contract.limits import HEARTBEAT_SECONDS, WAIT_MAX_SECONDS
from reflecto.server import OPEN_FILES_MAX
from reflecto.store.postgres.batches import BATCH_VERBS
from reflecto.store.postgres.connection import CONNECT_SECONDS
from reflecto.store.postgres.waiting import ANSWER_SECONDS

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "scale.md").read_text("utf-8")
PROSE: Final = " ".join(PAGE.split())


def section(heading: str) -> str:
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_each_setting_and_each_variable_is_one_that_there_is():
    names = {field.name for field in msgspec.structs.fields(Settings)}
    listed = re.findall(r"^\| `(\w+)` \|", section("Settings"), re.MULTILINE)
    assert listed
    assert set(listed) <= names
    assert {each.lower() for each in re.findall(r"\bREFLECTO_([A-Z_]+)\b", PAGE)} <= names


def test_each_file_is_there():
    paths = set(re.findall(r"`(deploy/[\w./]*)`", PAGE))
    assert len(paths) > 4
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_how_long_things_take_is_what_the_server_waits():
    assert f"requests wait for up to {ANSWER_SECONDS:g} seconds" in PROSE
    assert CONNECT_SECONDS == 2
    assert "asks all of them at once, two seconds each" in PROSE
    assert f"on which the server writes every {HEARTBEAT_SECONDS} seconds" in PROSE
    assert f"a long poll is silent for up to {WAIT_MAX_SECONDS}" in PROSE
    assert max(HEARTBEAT_SECONDS, WAIT_MAX_SECONDS, KEEP_ALIVE_SECONDS) < 90
    assert "unbuffered, 90 seconds to read" in PROSE
    assert MEASURE_SECONDS == 60 / 2
    assert "adds it up for all, twice a minute" in PROSE


def test_how_many_fit_is_what_the_server_takes():
    assert f"({OPEN_FILES_MAX:,} files a process at most)" in PROSE
    assert f"for up to {BATCH_VERBS} requests" in PROSE
    left_by_postgres, connections = 100 - 3, 4
    assert f"serves {left_by_postgres // connections} processes" in PROSE
