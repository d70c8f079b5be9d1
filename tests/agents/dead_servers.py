"""Servers that are dead in different ways, on loopback."""

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final

FILL: Final = 8  # connections that are enough for a backlog of none


@contextmanager
def nobody_listens() -> Iterator[int]:
    """Give a port that refuses connections."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@contextmanager
def never_replies() -> Iterator[int]:
    """Give a port that accepts connections and what is sent, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@contextmanager
def swallows_packets(host: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """Give a port whose backlog is full, so that nothing comes back, as from a host that is gone."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind((host, port))
        listener.listen(0)
        for _ in range(FILL):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


@contextmanager
def several_dead_addresses() -> Iterator[int]:
    """Give a port that swallows packets on 127.0.0.1 to 127.0.0.4; the test lets a name have these addresses."""
    with ExitStack() as stack:
        port = stack.enter_context(swallows_packets())
        for number in range(2, 5):
            stack.enter_context(swallows_packets(f"127.0.0.{number}", port))
        yield port


DEAD: Final[dict[str, Callable[[], AbstractContextManager[int]]]] = {
    "nobody listens": nobody_listens,
    "accepts and never replies": never_replies,
    "swallows packets": swallows_packets,
    "a name with four dead addresses": several_dead_addresses,
}


def four_addresses(_host: object, port: int, *_arguments: Any, **_named: Any) -> list[Any]:
    """Be `socket.getaddrinfo` for a name with four addresses."""
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{number}", port)) for number in range(1, 5)]
