from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.asker_server import TOKEN, AskerServer


@pytest.fixture
def asker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AskerServer]:
    """A server whose faults can be chosen, with its address and a token in the environment."""
    server = AskerServer()
    server.start()
    monkeypatch.setenv("REFLECTO_CLIENT_CONFIG", str(tmp_path / "client.toml"))
    monkeypatch.setenv("REFLECTO_URL", server.url)
    monkeypatch.setenv("REFLECTO_TOKEN", TOKEN)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # where hooks that run at the same time see each other
    yield server
    server.stop()
