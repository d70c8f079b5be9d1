"""A reply that may take minutes, kept alive through proxies and given up when the client leaves.

JSON may begin with white space: a line feed now and then keeps proxies, which commonly cut an idle reply at 60 s, from
ending it, and the reply is still one JSON object.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

import msgspec

from reflecto.api.http import Call, ClientDisconnectedError, Reply
from reflecto.api.traffic import note_wait
from reflecto.core.clock import Clock

KEEP_ALIVE_SECONDS: Final = 20
_HEADERS: Final = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would hold the line feeds back
]


async def answer_keeping_alive(call: Call, work: Coroutine[Any, Any, Reply], clock: Clock) -> Reply | None:
    """Run `work` and return its reply, or None once it was sent here because it took long.

    The status of a reply that took longer than 20 seconds is 200, and that of a failure then is an empty object.
    `work` is cancelled when the client leaves. Raises: ClientDisconnectedError, what `work` raises in the first
    20 seconds.
    """
    note_wait(call.scope)
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_until_disconnected(call))
    happened = asyncio.Event()
    for task in (working, leaving):
        task.add_done_callback(lambda _: happened.set())
    started = False
    try:
        while not happened.is_set():
            await clock.wait(happened, clock.now() + KEEP_ALIVE_SECONDS)
            if happened.is_set():
                break
            if not started:
                await call.send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
                started = True
            await call.send({"type": "http.response.body", "body": b"\n", "more_body": True})
        if not working.done():
            raise ClientDisconnectedError
        if not started:
            return working.result()
        body = {} if working.exception() else working.result().body
        await call.send({"type": "http.response.body", "body": msgspec.json.encode(body)})
        return None
    finally:
        leaving.cancel()
        working.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def answer_unless_disconnected(call: Call, work: Coroutine[Any, Any, Reply]) -> Reply:
    """Run `work` and return its reply; it is cancelled when the client leaves. Raises: ClientDisconnectedError."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_until_disconnected(call))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnectedError
        return working.result()
    finally:
        leaving.cancel()
        working.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _until_disconnected(call: Call) -> None:
    while (await call.receive())["type"] != "http.disconnect":
        pass
