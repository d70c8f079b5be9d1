"""Callers of a server whose database fails."""

import asyncio
from collections import Counter
from typing import Final

import httpx

from tests.e2e.phones import Phone, bearer
from tests.e2e.server_process import ServerProcess

SENDERS: Final = 4


class Senders:
    """Send numbered messages, each under a key of its own, again for as long as the reply is 429 or 503."""

    def __init__(self, server: ServerProcess, phone: Phone) -> None:
        self.statuses: Counter[int] = Counter()
        self.accepted: list[str] = []  # texts
        self._client = httpx.AsyncClient(base_url=server.url, timeout=30, trust_env=False)
        self._headers = bearer(phone.token)
        self._grown = asyncio.Condition()
        self._stopping = False

    async def run(self) -> None:
        """Send until `stop`."""
        async with self._client, asyncio.TaskGroup() as group:
            for sender in range(SENDERS):
                group.create_task(self._send(sender))

    def stop(self) -> None:
        """Let each finish its message."""
        self._stopping = True

    async def wait_for_more(self, count: int) -> None:
        """Wait until so many more messages were accepted."""
        until = len(self.accepted) + count
        async with self._grown:
            await self._grown.wait_for(lambda: len(self.accepted) >= until)

    async def _send(self, sender: int) -> None:
        number = 0
        while not self._stopping:
            number += 1
            text = f"{sender}.{number}"
            headers = {**self._headers, "Idempotency-Key": text}
            while (reply := await self._client.post("/v1/send", json={"message": text}, headers=headers)).is_error:
                self.statuses[reply.status_code] += 1
                assert int(reply.headers["retry-after"]) >= 1  # and yet it is not waited for, so as to see more
            self.accepted.append(text)
            async with self._grown:
                self._grown.notify_all()
