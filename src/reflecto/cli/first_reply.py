"""How long an agent is held up by a server that does not reply."""

import threading
from collections.abc import Callable
from typing import TypeVar

from reflecto.client.errors import Unreachable

T = TypeVar("T")


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """Return what `call` returns, waiting for it no longer than `seconds`; None: as long as it takes.

    The time-outs of sockets do not bound a call: looking up a name, each of its addresses, TLS and each piece of a
    reply have one of their own, or none. What is given up here ends with the process.

    Raises: Unreachable; what `call` raises.
    """
    if seconds is None:
        return call()
    results: list[T] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 -- raised again in the thread that waits
            errors.append(error)
        done.set()

    threading.Thread(target=run, daemon=True).start()
    if not done.wait(seconds):
        raise Unreachable(f"no reply from the server within {seconds:g} seconds", may_have_arrived=True)
    if errors:
        raise errors[0]
    return results[0]
