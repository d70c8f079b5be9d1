from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.asker_server import TOKEN, AskerServer
from tests.client.sending_server import SendingServer


@pytest.fixture
def server() -> Iterator[AskerServer]:
    asker = AskerServer()
    asker.start()
    yield asker
    asker.stop()


@pytest.fixture
def client_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where `reflecto login` writes in this test; nothing is set and nothing is written yet."""
    path = tmp_path / "reflecto" / "client.toml"
    monkeypatch.setenv("REFLECTO_CLIENT_CONFIG", str(path))
    monkeypatch.delenv("REFLECTO_URL", raising=False)
    monkeypatch.delenv("REFLECTO_TOKEN", raising=False)
    return path


@pytest.fixture
def asker(server: AskerServer, client_file: Path, monkeypatch: pytest.MonkeyPatch) -> AskerServer:  # noqa: ARG001
    """The server, with its address and a token in the environment."""
    monkeypatch.setenv("REFLECTO_URL", server.url)
    monkeypatch.setenv("REFLECTO_TOKEN", TOKEN)
    return server


@pytest.fixture
def sending(client_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SendingServer]:  # noqa: ARG001
    """A server that takes everything that can be sent, with its address and a token in the environment."""
    server = SendingServer()
    server.start()
    monkeypatch.setenv("REFLECTO_URL", server.url)
    monkeypatch.setenv("REFLECTO_TOKEN", TOKEN)
    yield server
    server.stop()
