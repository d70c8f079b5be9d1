"""On a disk that is full or read-only nothing is accepted, nothing is lost, and it goes on as soon as there is room.

Everywhere: a limit on the size of the server's files, which needs no privileges. Where a tmpfs can be mounted, that is
as root: also a file system that is really full, and one that is read-only. A write-protected folder is in
test_starting.
"""

import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from reflecto.store.sqlite.database import DATABASE_NAME
from tests.e2e.conftest import StartServer
from tests.e2e.full_disks import Disk, FileSizeLimit, Tmpfs, can_mount, mounted_tmpfs, wait_until_ready
from tests.e2e.phones import HTTP, DeviceKeys, Phone, ask, bearer, make_codes, read
from tests.e2e.server_process import ServerProcess, run_reflecto

with tempfile.TemporaryDirectory() as _folder:
    CAN_MOUNT = can_mount(Path(_folder) / "mount")
DISKS = ["file size limit", "tmpfs"] if CAN_MOUNT else ["file size limit"]

ASKED_MAX = 3_000  # until the disk takes no more
RETRY_AFTER = re.compile(r"[1-9]\d*")


@pytest.fixture(params=DISKS)
def disk(request: pytest.FixtureRequest, data: Path) -> Iterator[Disk]:
    """A disk under the data folder."""
    if request.param == "tmpfs":
        with mounted_tmpfs(data):
            yield Tmpfs(data)
    else:
        yield FileSizeLimit()


@pytest.fixture
def limits_off(tmp_path: Path) -> list[str]:
    """Options for a server that takes any number of requests."""
    config = tmp_path / "reflecto.toml"
    config.write_text("[limit_overrides]\ntoken_burst = 1_000_000\nip_minute = 1_000_000\n", "utf-8")
    return ["--config", str(config)]


@pytest.fixture
def server(start_server: StartServer, limits_off: list[str], disk: Disk) -> Iterator[ServerProcess]:
    """A server on that disk, stopped before the disk goes."""
    assert disk
    with start_server(*limits_off) as running:
        yield running


def ask_until_refused(server: ServerProcess, phone: Phone) -> tuple[list[str], str, httpx.Response]:
    """Ask and withdraw until there is no room; return the ids that were accepted, the refused key and the refusal."""
    accepted: list[str] = []
    for number in range(ASKED_MAX):
        key = f"key-{number}"
        reply = ask(server.url, phone.token, f"Question {number}?", idempotency_key=key)
        if reply.status_code != 201:
            return accepted, key, reply
        accepted.append(reply.json()["id"])
        HTTP.delete(f"{server.url}/v1/interactions/{accepted[-1]}", headers=bearer(phone.token))
    raise AssertionError("the disk is not full")


def is_unavailable(reply: httpx.Response) -> bool:
    """Tell whether this is the refusal that says so and when to come back."""
    return (
        reply.status_code == 503
        and reply.json()["error"]["code"] == "unavailable"
        and RETRY_AFTER.fullmatch(reply.headers["retry-after"]) is not None
    )


@pytest.mark.parametrize("disk", ["file size limit"], indirect=True)
def test_a_disk_that_takes_no_byte_refuses_writes_serves_reads_and_recovers_by_itself(
    server: ServerProcess, disk: Disk, data: Path, phone: Phone
):
    asked = ask(server.url, phone.token, "Before?").json()["id"]
    spare_token = phone.create_token("Spare")
    (code,) = make_codes(data, 1)
    disk.fill(server)

    accepted, refused_key, refusal = ask_until_refused(server, phone)

    # Nothing is accepted
    assert is_unavailable(refusal)
    assert is_unavailable(phone.answer(asked, 0))
    assert is_unavailable(phone.ack(1))
    assert is_unavailable(phone.call("POST", "/v1/tokens", {"label": "CI"}))
    assert is_unavailable(phone.call("DELETE", f"/v1/tokens/{spare_token['id']}"))
    assert is_unavailable(HTTP.delete(f"{server.url}/v1/interactions/{asked}", headers=bearer(phone.token)))
    assert is_unavailable(HTTP.post(f"{server.url}/v1/enroll", json=DeviceKeys().enrolment(code)))
    wait_until_ready(server, status=503)
    # Reads go on
    assert HTTP.get(f"{server.url}/healthz").status_code == 200
    assert read(server.url, phone.token, asked, wait_seconds=1).json()["status"] == "pending"
    assert all(read(server.url, phone.token, each).status_code == 200 for each in accepted[-3:])
    assert len(phone.call("GET", "/v1/devices").json()["devices"]) == 1
    assert read(server.url, spare_token["token"], asked).status_code == 404
    backlog = phone.read_until("interaction", accepted[-1] if accepted else asked)
    assert backlog[0][1]["type"] == "token.created"

    disk.free(server)

    # Nothing was half-written: what was refused is new
    assert ask(server.url, phone.token, "After?", idempotency_key=refused_key).status_code == 201
    assert phone.answer(asked, 1).status_code == 200
    assert phone.ack(1).status_code == 204
    assert phone.call("DELETE", f"/v1/tokens/{spare_token['id']}").status_code == 204
    assert Phone.enrol(server.url, code).owner_id == phone.owner_id
    wait_until_ready(server)
    assert read(server.url, phone.token, asked).json()["choice"] == "Deny"
    assert server.stop() == 0
    told = [line for line in server.log.splitlines() if " store " in line or "Traceback" in line]
    assert len(told) == 2, server.log
    assert " ERROR " in told[0]
    assert "store unavailable" in told[0]
    assert str(data / DATABASE_NAME) in told[0]
    assert "store available again" in told[1]
    store = sqlite3.connect(data / DATABASE_NAME)
    assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert store.execute("SELECT count(*) FROM interactions").fetchall() == [(len(accepted) + 2,)]
    store.close()


def test_a_server_on_a_full_disk_stops_cleanly(server: ServerProcess, disk: Disk, phone: Phone):
    assert phone.call("GET", "/v1/devices").status_code == 200
    disk.fill(server)

    assert server.stop() == 0

    assert "Traceback" not in server.log


def test_questions_asked_before_the_disk_filled_are_there_after_a_crash_on_the_full_disk(
    server: ServerProcess, disk: Disk, data: Path, phone: Phone, start_server: StartServer
):
    asked = ask(server.url, phone.token, "Before?").json()["id"]
    disk.fill(server)
    accepted, _, _ = ask_until_refused(server, phone)
    server.kill()
    if isinstance(disk, Tmpfs):
        disk.free(server)

    with start_server(folder=data) as again:
        for each in [asked, *accepted]:
            assert read(again.url, phone.token, each).status_code == 200


if CAN_MOUNT:

    def test_a_read_only_file_system_is_named_at_the_start(data: Path):
        with mounted_tmpfs(data):
            with ServerProcess(data) as server:
                assert server.stop() == 0
            subprocess.run(["mount", "-o", "remount,ro", str(data)], check=True)

            failed = run_reflecto("serve", "--data", data, "--port", "0")

            assert failed.returncode > 0
            assert str(data / DATABASE_NAME) in failed.stderr
            assert len(failed.stderr.splitlines()) == 1
