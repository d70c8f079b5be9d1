"""A running phone and a real server: everything that can be sent arrives, once."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reflecto.client.sync import Reflecto
from reflecto.phone import effects
from reflecto.phone.downloads import Downloads
from reflecto.phone.state import PhoneState
from reflecto.phone.state_file import StateFile
from tests.e2e.phones import HTTP, make_codes
from tests.e2e.server_process import ServerProcess
from tests.phone.handset import enrol, running


def within(play: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(50):
            await play()

    asyncio.run(bounded())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "phone" / "state.json"


def saved_state(path: Path) -> PhoneState:
    with StateFile(path) as store:
        return store.load()


def test_an_emergency_is_acknowledged_for_all_and_a_ring_stopped_for_all(tmp_path: Path, path: Path):
    other = tmp_path / "other" / "state.json"

    async def play(server: ServerProcess) -> None:
        held = await enrol(path, server.url, server.ready["code"])
        assert held is not None
        [code] = await asyncio.to_thread(make_codes, server.data, 1)
        await enrol(other, server.url, code, "Second")
        fields = {"token": held.token, "message": "Fire", "priority": 2, "retry": 60, "expire": 600}
        async with running(path) as first, running(other) as second:
            raised = await asyncio.to_thread(lambda: HTTP.post(f"{server.url}/1/messages.json", json=fields).json())
            for handset in (first, second):
                alarmed = await handset.wait_for(effects.Alarmed)
                assert (alarmed.receipt, alarmed.message) == (raised["receipt"], "Fire")
                await handset.wait_for(effects.AlarmRang)
            second.phone.acknowledge(raised["request"])
            assert (await first.wait_for(effects.AlarmEnded)).by == "Second"
            await second.wait_for(effects.AlarmEnded, outcome="acknowledged")
            with Reflecto(server.url, held.token) as reflecto:
                rang = await asyncio.to_thread(reflecto.ring, 5)
            for handset in (first, second):
                await handset.wait_for(effects.Rang)
            first.phone.stop_rings([rang.id])
            assert await second.wait_for(effects.RingStopped) == effects.RingStopped(id=rang.id, by="Terminal")
        found = HTTP.get(f"{server.url}/1/receipts/{raised['receipt']}.json", params={"token": held.token}).json()
        assert (found["acknowledged"], found["acknowledged_by_device"]) == (1, "Second")

    with ServerProcess(tmp_path / "data") as server:
        within(lambda: play(server))


def test_a_phone_of_an_older_version_reports_what_it_has_learned(tmp_path: Path, path: Path):
    async def play(server: ServerProcess) -> None:
        held = await enrol(path, server.url, server.ready["code"])
        assert held is not None
        with StateFile(path) as store:
            store.save(msgspec.structs.replace(store.load(), features=()))
        async with running(path) as handset:
            await handset.wait_for(effects.Connected)
            async with asyncio.timeout(20):
                while not handset.phone.state.features:
                    await asyncio.to_thread(lambda: HTTP.get(f"{server.url}/healthz"))
        assert saved_state(path).features == ("answer_v2", "emergency")

    with ServerProcess(tmp_path / "data") as server:
        within(lambda: play(server))


def test_everything_that_can_be_sent_is_told_and_a_document_is_in_the_folder(tmp_path: Path, path: Path):
    folder = tmp_path / "Downloads"

    async def play(server: ServerProcess) -> None:
        held = await enrol(path, server.url, server.ready["code"])
        assert held is not None
        with Reflecto(server.url, held.token) as reflecto:
            async with running(path, downloads=Downloads(folder)) as handset:
                await asyncio.to_thread(reflecto.send, "Done", title="Backup", tags=["nas"], url="https://nas.example/")
                notified = await handset.wait_for(effects.Notified)
                assert (notified.title, notified.message, notified.tags) == ("Backup", "Done", ("nas",))
                assert notified.url == "https://nas.example/"

                await asyncio.to_thread(reflecto.ring, 5, "Here")
                rang = await handset.wait_for(effects.Rang)
                assert (rang.duration, rang.message) == (5, "Here")

                for content in ("one\n", "two\n"):
                    await asyncio.to_thread(reflecto.send_file, filename="report.csv", content=content)
                document = await handset.wait_for(effects.DocumentSaved, 2)
                assert Path(document.path) == folder / "report (2).csv"
                assert document.byte_length == 4
            assert [path.read_text("utf-8") for path in sorted(folder.iterdir())] == ["two\n", "one\n"]

            async with running(path, downloads=Downloads(folder)) as again:
                await asyncio.to_thread(reflecto.send, "After a restart")
                await again.wait_for(effects.Notified)
                assert [effect.message for effect in again.all(effects.Notified)] == ["After a restart"]
                assert again.all(effects.DocumentSaved) == []
                assert again.all(effects.Rang) == []

    with ServerProcess(tmp_path / "data") as server:
        within(lambda: play(server))
    assert saved_state(path).documents == ()


def test_a_document_without_a_place_is_kept_over_restarts_until_it_has_one(tmp_path: Path, path: Path):
    occupied = tmp_path / "occupied"
    occupied.write_text("a file", "utf-8")

    async def play(server: ServerProcess) -> None:
        held = await enrol(path, server.url, server.ready["code"])
        assert held is not None
        with Reflecto(server.url, held.token) as reflecto:
            async with running(path, downloads=Downloads(occupied)) as handset:
                await asyncio.to_thread(reflecto.send_file, filename="report.csv", content="x")
                unsaved = await handset.wait_for(effects.DocumentUnsaved)
                assert (unsaved.filename, unsaved.kept) == ("report.csv", True)
                await asyncio.to_thread(reflecto.send, "It goes on")
                await handset.wait_for(effects.Notified)
                assert len(handset.all(effects.DocumentUnsaved)) == 1
            assert len(saved_state(path).documents) == 1

            async with running(path, downloads=Downloads(tmp_path / "free")) as handset:
                await handset.wait_for(effects.DocumentSaved)

    with ServerProcess(tmp_path / "data") as server:
        within(lambda: play(server))
    assert saved_state(path).documents == ()
    assert (tmp_path / "free" / "report.csv").read_text("utf-8") == "x"
