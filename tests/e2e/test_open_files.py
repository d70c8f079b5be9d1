"""A server with few files to open: it says so, serves whom it has, and recovers by itself."""

import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.e2e.phones import WAIT_SECONDS, Phone, ask
from tests.e2e.server_process import ServerProcess

FILES_MAX: Final = 200
SOFT_MAX: Final = 150  # it raises its own limit
CROWD: Final = 400
SERVED_MIN: Final = 70
TRIES: Final = 50
CROWDED: Final = (
    sys.executable,
    "-c",
    f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({SOFT_MAX}, {FILES_MAX}))
from reflecto.cli.main import main
main()
""",
)


def first_reply(client: socket.socket) -> bytes:
    """Return what comes back for a request, b"" where the connection was closed without a word."""
    try:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        return client.recv(65_536)
    except (ConnectionResetError, BrokenPipeError):
        return b""


def test_a_server_out_of_open_files_says_so_once_and_goes_on_serving(tmp_path: Path):
    with ServerProcess(tmp_path / "data", program=CROWDED) as server, ExitStack() as crowd:

        def connected() -> socket.socket:
            return crowd.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_SECONDS))

        phone = Phone.of_new_owner(server)
        early = connected()
        clients = [connected() for _ in range(CROWD)]
        assert first_reply(early).startswith(b"HTTP/1.1 200")
        replies = [first_reply(client) for client in clients]
        told = [reply for reply in replies if reply.startswith(b"HTTP/1.1 503")]
        assert sum(reply.startswith(b"HTTP/1.1 200") for reply in replies) >= SERVED_MIN
        assert b'"code":"unavailable"' in told[0]
        assert b"retry-after: 5\r\n" in told[0]
        crowd.close()
        assert any(ask(server.url, phone.token, "Is there room again?").status_code == 201 for _ in range(TRIES))
        server.stop()
    full = [line for line in server.log.splitlines() if "connections_full" in line]
    assert len(full) == 1
    assert f"files_max={FILES_MAX}" in full[0]
    assert server.log.count("connections_free") == 1
    assert server.complaints == []
