"""What holds for every test; the rest of the strictness is in pyproject.toml."""

import sys
from typing import Any

import pytest
from hypothesis import settings

# How fast this machine is today proves nothing; pytest-timeout bounds each test as a whole.
settings.register_profile("reflecto", settings(), deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)  # for `--hypothesis-profile=thorough`
settings.load_profile("reflecto")


def pytest_configure(config: pytest.Config) -> None:
    """Let `async def` be enough to make a test asynchronous."""
    config.option.anyio_mode = "auto"


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """Run asynchronous tests on the loop the server runs on; an exception in any task of theirs fails them."""
    return "asyncio", {"use_uvloop": sys.platform != "win32"}
