"""A proxy that the server does not trust: said once in the log, and to whoever calls through it."""

import logging
from pathlib import Path

import pytest

from tests.api.limited import limited
from tests.fakes import FakeClock

FORWARDED = {"x-forwarded-for": "203.0.113.1"}


async def test_an_untrusted_proxy_is_told_of_once(tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "reflecto.api.forwarded"):
        async with limited(tmp_path, clock, trusted_proxies=["10.0.0.0/8"]) as world:
            for _ in range(3):
                reply = await world.server.http.get("/healthz", headers=FORWARDED)
                assert reply.json()["proxy"] == "not_trusted"
            assert "proxy" not in (await world.server.http.get("/healthz")).json()
    (line,) = [record.getMessage() for record in caplog.records if record.name == "reflecto.api.forwarded"]
    assert line.startswith("127.0.0.1 sends X-Forwarded-For and is no trusted proxy")


@pytest.mark.parametrize("proxy", ["127.0.0.1", "127.0.0.0/8"])
async def test_a_trusted_proxy_is_nothing_to_tell_of(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture, proxy: str
):
    with caplog.at_level(logging.WARNING, "reflecto.api.forwarded"):
        async with limited(tmp_path, clock, trusted_proxies=[proxy]) as world:
            assert "proxy" not in (await world.server.http.get("/healthz", headers=FORWARDED)).json()
    assert [record for record in caplog.records if record.name == "reflecto.api.forwarded"] == []
