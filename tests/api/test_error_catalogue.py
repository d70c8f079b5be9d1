"""Every code of the catalogue can be provoked, with its status, and with no details but those its row names."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from reflecto.contract.errors import CATALOGUE
from tests.actors import enroll
from tests.api.provocations import MIN_PHONE_BUILD, PROVOCATIONS, World, code_of
from tests.fakes import FakeClock, FaultyStore
from tests.running import run_server


@pytest.fixture
async def world(tmp_path: Path, clock: FakeClock) -> AsyncIterator[World]:
    """What the provocations work on."""
    async with run_server(tmp_path, clock, min_phone_build=MIN_PHONE_BUILD, wrap_store=FaultyStore) as server:
        phone = await enroll(server)
        store = server.services.store
        assert isinstance(store, FaultyStore)
        yield World(server, clock, store, phone, phone.default_program())


def test_every_code_is_provoked_here_or_named_by_a_test_of_its_capability():
    here = Path(__file__)
    others = [path for path in here.parent.glob("test_*.py") if path != here]
    named = "\n".join(path.read_text("utf-8") for path in others)
    assert [code for code in CATALOGUE if code not in PROVOCATIONS and f'"{code}"' not in named] == []
    assert set(PROVOCATIONS) <= set(CATALOGUE)


@pytest.mark.parametrize("code", sorted(PROVOCATIONS))
async def test_the_code_comes_with_its_status_message_and_details(world: World, code: str):
    spec = CATALOGUE[code]
    reply = await PROVOCATIONS[code](world)
    assert (code_of(reply), reply.status_code) == (code, spec.status)
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["content-type"] == "application/json"
    if spec.status in {429, 503}:
        assert int(reply.headers["retry-after"]) >= 1
    error = reply.json().get("error")
    if spec.status == 401 or error is None:  # flat, or in Pushover's shape
        return
    assert set(error) <= {"code", "message", "details"}
    assert error["message"]
    assert error.get("details") is None or set(error["details"]) <= set(spec.detail_keys)
