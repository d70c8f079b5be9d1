"""`reflecto serve` processes on one PostgreSQL database."""

import asyncio
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.databases import Databases
from tests.e2e.phones import HTTP, DeviceKeys, Phone, bearer
from tests.e2e.server_process import ServerProcess, run_reflecto
from tests.fakes import BOUND_SECONDS
from tests.postgres import connected

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no binaries of PostgreSQL")

PASSWORD = "pa55word"  # the test's cluster asks for none


@pytest.fixture
def store(tmp_path: Path, databases: Databases) -> Iterator[str]:
    """The address of an empty database, with a password."""
    address = asyncio.run(databases.of(tmp_path))
    yield address.replace("reflecto@", f"reflecto:{PASSWORD}@")
    databases.give_back(tmp_path)


@pytest.fixture
def two(data: Path, store: str) -> Iterator[list[ServerProcess]]:
    """Two processes, started at once on nothing."""
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        starting = [pool.submit(ServerProcess, data, env={"REFLECTO_STORE": store}) for _ in range(2)]
        yield [stack.enter_context(each.result()) for each in starting]


async def addresses_of_processes(store: str) -> list[str]:
    """Return where the processes of the server say that they listen, once both have."""
    async with connected(store) as connection:
        async with asyncio.timeout(BOUND_SECONDS):
            while len(rows := await connection.fetch("SELECT address FROM processes")) < 2:
                pass
    return [row[0] for row in rows]


def test_two_that_start_on_nothing_both_let_a_phone_in_and_what_one_promised_the_other_keeps(
    two: list[ServerProcess], data: Path, store: str
):
    first, second = two
    assert sorted(asyncio.run(addresses_of_processes(store))) == sorted([first.url, second.url])
    phone = Phone.enrol(first.url, first.ready["code"])
    late = HTTP.post(f"{second.url}/v1/enroll", json=DeviceKeys().enrolment(second.ready["code"]))
    assert (late.status_code, late.json()["owner_id"], late.json()["default_token"]) == (201, phone.owner_id, None)
    assert late.json()["server_key"] == phone.server_key

    headers = bearer(phone.token)
    asked = [
        HTTP.post(f"{first.url}/v1/interactions", headers=headers, json={"question": f"{n}?"}).json()["id"]
        for n in range(5)
    ]
    first.kill()
    elsewhere = Phone(second.url, phone.keys, vars(phone))
    entries = elsewhere.read_until("interaction", asked[-1])
    assert [envelope["id"] for _, envelope in entries if envelope["type"] == "interaction"] == asked
    assert elsewhere.answer(asked[0], 1).status_code == 200
    state = HTTP.get(f"{second.url}/v1/interactions/{asked[0]}", headers=headers).json()
    assert (state["status"], state["choice"]) == ("answered", "Deny")

    invited = run_reflecto("invite", "--data", data, "--new-owner", env={"REFLECTO_STORE": store})
    assert invited.returncode == 0, invited.stderr
    assert HTTP.get(f"{second.url}/readyz").json()["status"] == "ready"
    assert second.stop() == 0
    for said in (first.log, second.log, invited.stdout, invited.stderr):
        assert PASSWORD not in said
    assert second.complaints == []


def test_what_is_no_address_of_a_database_is_refused_without_its_password(data: Path):
    wrong = run_reflecto("serve", "--data", data, "--store", f"postgresql://reflecto:{PASSWORD}@db:port/reflecto")
    assert (wrong.returncode, PASSWORD in wrong.stderr) == (2, False)
    assert "store must look like postgresql://" in wrong.stderr
