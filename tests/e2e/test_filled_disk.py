"""On a file system that is really full: nothing new is taken, and all that makes room goes on.

As root only, since a tmpfs must be mounted.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from reflecto.store.sqlite.database import DATABASE_NAME
from reflecto.store.sqlite.room import RESERVE_NAME
from tests.e2e.full_disks import Tmpfs, can_mount, mounted_tmpfs, wait_until, wait_until_ready
from tests.e2e.phones import HTTP, DeviceKeys, Phone, ask, bearer, make_codes, read
from tests.e2e.server_process import ServerProcess, run_reflecto

with tempfile.TemporaryDirectory() as _folder:
    CAN_MOUNT = can_mount(Path(_folder) / "mount")
pytestmark = pytest.mark.skipif(not CAN_MOUNT, reason="a tmpfs cannot be mounted here")

DISK_SIZE: Final = "24m"
DOCUMENT: Final = {"filename": "log.txt", "content": "x" * 131_072}
DOCUMENTS_MAX: Final = 200  # 26 MB: more than the disk has


@pytest.fixture
def disk(data: Path) -> Iterator[Tmpfs]:
    """A small disk under the data folder."""
    with mounted_tmpfs(data, DISK_SIZE):
        yield Tmpfs(data)


@pytest.fixture
def server(disk: Tmpfs, data: Path, tmp_path: Path) -> Iterator[ServerProcess]:
    """A server on it that takes any number of requests."""
    assert disk
    with ServerProcess(data, *options(tmp_path)) as running:
        wait_until((data / RESERVE_NAME).exists)
        yield running


def options(tmp_path: Path) -> list[str]:
    config = tmp_path / "reflecto.toml"
    config.write_text("[limit_overrides]\ntoken_burst = 1_000_000\nip_minute = 1_000_000\n", "utf-8")
    return ["--config", str(config)]


def send_document(server: ServerProcess, phone: Phone) -> httpx.Response:
    return HTTP.post(f"{server.url}/v1/documents", json=DOCUMENT, headers=bearer(phone.token))


def fill_with_documents(server: ServerProcess, phone: Phone) -> int:
    """Send until the server takes no more; return how many it took."""
    for count in range(DOCUMENTS_MAX):
        sent = send_document(server, phone)
        if sent.status_code != 201:
            assert (sent.status_code, sent.json()["error"]["code"]) == (503, "unavailable")
            assert int(sent.headers["retry-after"]) >= 1
            return count
    raise AssertionError("the disk is not full")


def newest_seq(phone: Phone) -> int:
    """Return the number of the last thing that waits."""
    after = 0
    while entries := phone.call("GET", f"/v1/sync/entries?after={after}").json()["entries"]:
        after = entries[-1]["seq"]
    return int(after)


def test_one_sender_cannot_fill_the_disk_so_far_that_acknowledging_fails(
    server: ServerProcess, phone: Phone, data: Path, tmp_path: Path
):
    for _ in range(3):
        asked = ask(server.url, phone.token, "Before?").json()["id"]
        assert fill_with_documents(server, phone) > 50
        wait_until_ready(server, status=503)
        assert send_document(server, phone).status_code == 503
        assert phone.answer(asked, 0).status_code == 200
        assert phone.ack(newest_seq(phone)).status_code == 204
        wait_until_ready(server)
        assert send_document(server, phone).status_code == 201
    assert server.stop() == 0
    assert "Traceback" not in server.log
    with ServerProcess(data, *options(tmp_path)) as again:
        phone.url = again.url
        assert len(phone.call("GET", "/v1/sync/entries").json()["entries"]) == 1


def test_when_others_have_filled_the_disk_what_makes_room_goes_on(
    server: ServerProcess, disk: Tmpfs, data: Path, phone: Phone
):
    first, second = (ask(server.url, phone.token, text).json()["id"] for text in ("First?", "Second?"))
    spare = phone.create_token("Spare")
    (code,) = make_codes(data, 1)
    for _ in range(40):
        assert send_document(server, phone).status_code == 201
    disk.fill(server)

    for refused in (
        ask(server.url, phone.token, "Third?"),
        send_document(server, phone),
        phone.call("POST", "/v1/tokens", {"label": "CI"}),
        HTTP.post(f"{server.url}/v1/enroll", json=DeviceKeys().enrolment(code)),
    ):
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
    wait_until_ready(server, status=503)
    assert phone.answer(first, 1).status_code == 200
    assert HTTP.delete(f"{server.url}/v1/interactions/{second}", headers=bearer(phone.token)).status_code == 200
    assert phone.call("DELETE", f"/v1/tokens/{spare['id']}").status_code == 204
    assert phone.ack(newest_seq(phone)).status_code == 204
    assert phone.call("GET", "/v1/sync/entries").json()["entries"] == []
    assert read(server.url, phone.token, first).json()["choice"] == "Deny"

    disk.free(server)

    wait_until_ready(server)
    assert ask(server.url, phone.token, "Third?").status_code == 201
    assert Phone.enrol(server.url, code).owner_id == phone.owner_id
    assert server.stop() == 0
    told = [line for line in server.log.splitlines() if " store " in line or "Traceback" in line]
    assert ["nearly full" in told[0], "available again" in told[-1]] == [True, True], told


def test_a_server_that_starts_on_a_full_disk_takes_what_makes_room(
    server: ServerProcess, disk: Tmpfs, data: Path, phone: Phone, tmp_path: Path
):
    for _ in range(40):
        send_document(server, phone)
    newest = newest_seq(phone)
    server.kill()
    disk.fill(server)

    with ServerProcess(data, *options(tmp_path)) as again:
        phone.url = again.url
        assert send_document(again, phone).status_code == 503
        assert phone.ack(newest).status_code == 204
        assert phone.call("GET", "/v1/sync/entries").json()["entries"] == []
        disk.free(again)
        wait_until_ready(again)
        assert send_document(again, phone).status_code == 201
        assert phone.call("GET", "/v1/sync/entries").json()["entries"][0]["seq"] > newest


def test_where_not_even_the_reserve_is_left_a_start_says_that_the_disk_is_full(
    server: ServerProcess, disk: Tmpfs, data: Path, phone: Phone
):
    assert send_document(server, phone).status_code == 201
    assert server.stop() == 0
    (data / RESERVE_NAME).unlink()
    disk.fill(server)

    failed = run_reflecto("serve", "--data", data, "--port", "0")

    assert (failed.returncode, failed.stdout) == (9, "")
    assert len(failed.stderr.splitlines()) == 1
    assert f"{data / DATABASE_NAME}: the disk is full" in failed.stderr
