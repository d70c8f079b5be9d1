"""Which addresses a host has, looked up without holding anything else up."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """Return the host's addresses, in the order they should be tried. Raises: OSError, UnicodeError.

    In a thread of its own: a resolver that hangs must neither occupy the loop's threads nor hold up the server's stop.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list[str]] = loop.create_future()

    def look_up() -> None:
        addresses: list[str] = []
        error: OSError | UnicodeError | None = None
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
            addresses = list(dict.fromkeys(str(address[0]) for *_, address in entries))
        except (OSError, UnicodeError) as caught:
            error = caught
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, addresses, error)

    def tell(addresses: list[str], error: OSError | UnicodeError | None) -> None:
        if not found.done():
            found.set_exception(error) if error else found.set_result(addresses)

    threading.Thread(target=look_up, name="push-resolver", daemon=True).start()
    return await found
