"""GET /metrics: counts in Prometheus' text format."""

from reflecto.version import version
from tests.actors import DeviceActor, Program
from tests.api.test_long_poll import polling
from tests.builders import NOW
from tests.fakes import FakeClock
from tests.running import RunningServer
from tests.sync_reader import open_sync


async def values(server: RunningServer) -> dict[str, str]:
    reply = await server.http.get("/metrics")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return dict(line.rsplit(" ", 1) for line in reply.text.splitlines() if not line.startswith("#"))


async def test_open_streams_and_long_polls_are_counted_while_they_are_open(
    server: RunningServer, phone: DeviceActor, sender: Program, clock: FakeClock
):
    question = await sender.ask_id()
    async with open_sync(phone) as stream, polling(clock, sender, question, 50, NOW + 50, count=2):
        await stream.event()
        counted = await values(server)
        await phone.answer(question)
    assert (counted["reflecto_streams_open"], counted["reflecto_waits_open"]) == ("1", "2")
    assert (await values(server))["reflecto_waits_open"] == "0"


async def test_health_names_the_version_with_its_commit_and_how_the_app_stands(server: RunningServer):
    health = (await server.http.get("/healthz")).json()
    assert health == {"status": "ok", "version": version(), "app": "current"}
