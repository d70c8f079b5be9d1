"""`reflecto serve --workers N`: a parent that binds once, keeps N processes of the server, and serves nothing itself.

Each worker has a listening socket of its own at the one address (SO_REUSEPORT), which the kernel spreads connections
over evenly; one socket for all would give most to whoever wakes first. The parent holds the sockets open: what arrives
while a worker is started again waits for it. What a worker needs to know goes through a pipe, so that no secret is on a
command line; and the pipe's end tells it that the parent is gone.
"""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import ExitStack, suppress
from threading import Event
from typing import Final

import msgspec

from reflecto.config import Settings, packed_settings
from reflecto.core.enrolment import Invitation
from reflecto.core.events import WORKER_RESTARTED
from reflecto.listening import Announce, bind_shared
from reflecto.logs import configure_logging

PAUSE_SECONDS: Final = 0.2  # before a worker is started again, doubled each time
PAUSE_MAX_SECONDS: Final = 5.0
STEADY_SECONDS: Final = 10.0  # of one that lived so long the pause is short again
STOP_SECONDS: Final = 10.0  # a worker that has not stopped by then is killed
PROGRAM: Final = (sys.executable, "-m", "reflecto.cli.worker")


class Orders(msgspec.Struct, frozen=True):
    """What a worker is told: its settings, as options, its socket, and whether it makes a first setup code."""

    settings: dict[str, object]
    listener: int
    invites: bool


class Ready(msgspec.Struct, frozen=True):
    """What a worker says once it takes requests: as `Announce` gets it."""

    url: str
    listening: str
    invitation: Invitation | None


class Workers:
    """The processes, by the number of their socket."""

    def __init__(self, settings: Settings) -> None:
        self._settings = packed_settings(settings)
        self._metrics_port = settings.metrics_port
        self._stopping = asyncio.Event()
        self._running: dict[int, Process] = {}

    async def run(self, listeners: list[socket.socket], announce: Announce) -> int:
        """Run until SIGTERM or SIGINT; return 0, or what a worker exited with that did not become ready at the start.

        The first brings the store up to date and makes the setup code, where there is no owner.
        """
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._stopping.set)
        try:
            first = await self._start(0, listeners[0], invites=True)
            found = [await self._ready(first)]
            if found[0] is not None:
                further = [await self._start(place, each) for place, each in enumerate(listeners[1:], 1)]
                found += await asyncio.gather(*map(self._ready, further))
            if found[0] is None or None in found:
                return await self._failed()
            announce(found[0].url, found[0].listening, found[0].invitation)
            await asyncio.gather(*(self._keep(place, each) for place, each in enumerate(listeners)))
            return 0
        finally:
            await self._stop()

    async def _start(self, place: int, listener: socket.socket, *, invites: bool = False) -> Process:
        orders = Orders(self._settings_of(place), listener.fileno(), invites)
        process = await asyncio.create_subprocess_exec(
            *PROGRAM,
            stdin=PIPE,
            stdout=PIPE,
            pass_fds=(listener.fileno(),),
            start_new_session=True,  # Ctrl-C is for the parent, which tells them
        )
        self._running[place] = process
        assert process.stdin is not None  # noqa: S101  a pipe was asked for
        process.stdin.write(msgspec.json.encode(orders) + b"\n")
        return process

    def _settings_of(self, place: int) -> dict[str, object]:
        """Return the settings of a worker, who has a port for its own numbers, if any has."""
        first = self._metrics_port
        return self._settings if first is None else self._settings | {"metrics_port": first + place}

    async def _ready(self, process: Process) -> Ready | None:
        """Return what it says when it is ready; None if it ends before, or is to end."""
        assert process.stdout is not None  # noqa: S101  a pipe was asked for
        saying = asyncio.ensure_future(process.stdout.readline())
        stopping = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait((saying, stopping), return_when=asyncio.FIRST_COMPLETED)
        line = saying.result() if saying.done() else b""
        for each in (saying, stopping):
            each.cancel()
        return msgspec.json.decode(line, type=Ready) if line else None

    async def _failed(self) -> int:
        """Return the exit code of the one that ended, which has said why; 0 where this process was told to stop."""
        if self._stopping.is_set():
            return 0
        ended = [asyncio.ensure_future(each.wait()) for each in self._running.values()]
        done, _ = await asyncio.wait(ended, return_when=asyncio.FIRST_COMPLETED)
        for each in ended:
            each.cancel()
        code = next(iter(done)).result()
        return code if code > 0 else 1

    async def _keep(self, place: int, listener: socket.socket) -> None:
        """Start the worker again whenever it ends, until all stop."""
        loop, pause = asyncio.get_running_loop(), PAUSE_SECONDS / 2
        while not self._stopping.is_set():
            began = loop.time()
            code = await self._end_of(self._running[place])
            if code is None:
                return
            pause = PAUSE_SECONDS if loop.time() - began >= STEADY_SECONDS else min(pause * 2, PAUSE_MAX_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()  # all were told to stop, and it was the first to hear it
                    return
            WORKER_RESTARTED.log(worker=place, code=code)
            await self._start(place, listener)

    async def _end_of(self, process: Process) -> int | None:
        """Return what it exited with; None where all are to stop before."""
        ending, stopping = asyncio.ensure_future(process.wait()), asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait((ending, stopping), return_when=asyncio.FIRST_COMPLETED)
        code = ending.result() if ending.done() and not stopping.done() else None
        for each in (ending, stopping):
            each.cancel()
        return code

    async def _stop(self) -> None:
        """End all, as this process was ended; kill whoever takes too long."""
        left = [each for each in self._running.values() if each.returncode is None]
        for each in left:
            with suppress(ProcessLookupError):
                each.terminate()
        waits = [asyncio.ensure_future(each.wait()) for each in left]
        if waits:
            _, late = await asyncio.wait(waits, timeout=STOP_SECONDS)
            for each in left:
                if late and each.returncode is None:
                    with suppress(ProcessLookupError):
                        each.kill()
            await asyncio.gather(*waits)


def run(settings: Settings, announce: Announce) -> int:
    """Run `settings.workers` processes until SIGTERM or SIGINT. Raises: AddressError."""
    configure_logging(settings.log_level, settings.log_format)
    with ExitStack() as stack:
        listeners = bind_shared(settings.host, settings.port, settings.workers)
        for each in listeners:
            stack.enter_context(each)
        return asyncio.run(Workers(settings).run(listeners, announce))


def end_with_parent() -> None:
    """Wait, in a thread of a worker, until the parent is gone; then end as on SIGTERM, at once if that takes long."""
    while os.read(0, 1):  # not through `sys.stdin`, whose lock the interpreter needs at its end
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    Event().wait(STOP_SECONDS)
    os._exit(1)
