"""A worker of `reflecto serve --workers N`: started by that, never by a person."""

import socket
import sys
from threading import Thread

import msgspec

from reflecto import server
from reflecto.cli.exits import report
from reflecto.config import load_settings
from reflecto.core.enrolment import Invitation
from reflecto.workers import Orders, Ready, end_with_parent


def main() -> int:
    """Read orders from standard input, serve, and say on standard output when it takes requests."""
    try:
        orders = msgspec.json.decode(sys.stdin.buffer.readline(), type=Orders)
        settings = load_settings(orders.settings, environ={})
        Thread(target=end_with_parent, daemon=True).start()
        server.run(settings, _say, listener=socket.socket(fileno=orders.listener), invites=orders.invites)
    except Exception as error:  # noqa: BLE001 -- the last stop before the interpreter
        return report(error)
    return 0


def _say(url: str, listening: str, invitation: Invitation | None) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(Ready(url, listening, invitation)) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
