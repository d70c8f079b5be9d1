"""A running server, and the document it serves."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from reflecto.api.openapi import document
from reflecto.core.clock import SystemClock
from tests.fakes import FakeClock
from tests.running import RunningServer, run_server


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RunningServer]:
    """A server on an empty store; its clock stands at the present, for commands that ask `date`."""
    async with run_server(tmp_path, FakeClock(SystemClock().now())) as running:
        yield running


@pytest.fixture(scope="session")
def api() -> dict[str, Any]:
    """The document."""
    parsed: dict[str, Any] = json.loads(document())
    return parsed
