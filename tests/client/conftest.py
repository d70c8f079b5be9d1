from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from reflecto import Reflecto
from tests.client.asker_server import TOKEN, AskerServer, FakeClock


@pytest.fixture
def server() -> Iterator[AskerServer]:
    asker = AskerServer()
    asker.start()
    yield asker
    asker.stop()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def connect(server: AskerServer, clock: FakeClock) -> Iterator[Callable[..., Reflecto]]:
    """Clients of the server that live on the fake clock; keyword arguments override."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(
            Reflecto(
                server.url,
                TOKEN,
                **({"clock": clock.read, "sleep": clock.pause, "jitter": lambda: 0.5} | options),
            )
        )
