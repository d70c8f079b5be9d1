"""A real `reflecto serve` that stops and starts while an agent waits."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.phones import Phone
from tests.e2e.server_process import ServerProcess
from tests.mcp.calling import QUESTION, calling, content

BOUND_SECONDS = 50


async def connected(stack: AsyncExitStack, url: str, token: str) -> Client:
    headers = {"authorization": f"Bearer {token}"}
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False))
    client: Client = await stack.enter_async_context(
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode="legacy")
    )
    return client


async def test_an_agent_waits_through_a_restart_and_the_stop_is_quick_and_quiet(tmp_path: Path):
    async with asyncio.timeout(BOUND_SECONDS), AsyncExitStack() as stack:
        server = stack.enter_context(await asyncio.to_thread(ServerProcess, tmp_path / "data"))
        phone = await asyncio.to_thread(Phone.enrol, server.url, server.ready["code"])
        client = await connected(stack, server.url, phone.token)
        await client.list_tools()
        async with calling(client, "ask_user", QUESTION) as call:
            entries = phone.entries()
            kinds = {}
            while "interaction" not in kinds:
                _, envelope = await asyncio.to_thread(next, entries)
                kinds[envelope["type"]] = envelope
            entries.close()
            assert await asyncio.to_thread(server.stop) == 0
            pending = content(await call)
        assert (pending["status"], pending["id"]) == ("pending", kinds["interaction"]["id"])
        assert server.complaints == []
        assert "Drop table" not in server.log

        again = stack.enter_context(
            await asyncio.to_thread(ServerProcess, tmp_path / "data", "--port", str(server.port))
        )
        async with calling(client, "wait_for_answer", {"id": pending["id"]}) as call:
            tapped = await asyncio.to_thread(phone.answer, pending["id"], 1)
            assert tapped.status_code == 200
            assert content(await call)["choice"] == "Deny"
        assert again.complaints == []
