"""A TCP proxy on loopback whose network a test can cut: nothing goes through any more, and nobody is told."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self


class CuttableProxy:
    """Passes bytes on to a port of loopback. `async with` starts it and ends it."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._whole = asyncio.Event()
        self._whole.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.close()
        self.drop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.sockets[0].getsockname()[1])

    def cut(self) -> None:
        """Let nothing through, in either direction."""
        self._whole.clear()

    def mend(self) -> None:
        """Let everything through again, what came meanwhile too."""
        self._whole.set()

    def drop(self) -> None:
        """End every connection, at both ends. New ones come through."""
        for task in self._tasks:
            task.cancel()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with suppress(OSError, asyncio.CancelledError):
            await self._whole.wait()
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass(reader, far_writer))
                    both.create_task(self._pass(far_reader, writer))
            finally:
                far_writer.close()
                writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self._whole.wait()
                writer.write(data)
                await writer.drain()
        writer.close()
