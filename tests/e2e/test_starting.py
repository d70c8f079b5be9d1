"""A server starts soon, keeps its folder to itself, takes settings from four places, or says in one line why not."""

import os
import shutil
import socket
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflecto.store.sqlite.database import DATABASE_NAME
from tests.e2e.conftest import StartServer
from tests.e2e.phones import HTTP, Phone
from tests.e2e.server_process import ServerProcess, run_reflecto

KEY = "server.key"


def serve_expecting_failure(
    *options: str | Path, env: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
) -> str:
    """Run `reflecto serve` and return the one line it must fail with."""
    failed = run_reflecto("serve", "--port", "0", *options, env=env, prefix=prefix)
    assert failed.returncode > 0, (failed.stdout, failed.stderr)
    assert failed.stdout == ""
    assert "Traceback" not in failed.stderr
    # click puts its usage hint before the line that says what is wrong
    lines = [line for line in failed.stderr.splitlines() if line and not line.startswith(("Usage:", "Try "))]
    assert len(lines) == 1, failed.stderr
    return lines[0]


def test_a_fresh_server_is_healthy_and_ready_when_it_says_so(server: ServerProcess):
    health = HTTP.get(f"{server.url}/healthz")

    assert (health.status_code, health.json()["status"]) == (200, "ok")
    assert HTTP.get(f"{server.url}/readyz").status_code == 200
    assert set(server.ready) == {"url", "listening", "code", "link", "expires_at"}
    assert server.ready["link"] == f"{server.url}/enroll#{server.ready['code']}"


def test_the_data_folder_and_all_its_files_are_for_their_owner_alone(server: ServerProcess, data: Path, phone: Phone):
    assert phone.call("GET", "/v1/devices").status_code == 200

    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in data.iterdir()}
    assert {KEY, DATABASE_NAME, f"{DATABASE_NAME}-wal"} <= modes.keys()
    assert set(modes.values()) == {"0o600"}
    assert server.stop() == 0


def test_a_loose_umask_opens_nothing(data: Path):
    before = os.umask(0)
    try:
        with ServerProcess(data) as server:
            Phone.enrol(server.url, server.ready["code"])
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.iterdir()}
    finally:
        os.umask(before)

    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}


def test_a_restarted_server_prints_no_code_and_still_knows_its_phone(
    server: ServerProcess, phone: Phone, start_server: StartServer
):
    assert server.stop() == 0

    again = start_server()

    assert (again.ready["code"], again.ready["link"], again.ready["expires_at"]) == (None, None, None)
    phone.url = again.url
    assert phone.call("GET", "/v1/devices").json()["devices"][0]["device_id"] == phone.device_id


def test_options_win_over_the_environment_and_that_over_the_file(start_server: StartServer, tmp_path: Path):
    config = tmp_path / "reflecto.toml"
    config.write_text('public_url = "http://from-file.example"\nlog_level = "error"\n', "utf-8")
    variables = {"REFLECTO_CONFIG": str(config)}

    by_file = start_server(env=variables)
    assert by_file.ready["url"] == "http://from-file.example"
    by_file.close()

    variables["REFLECTO_PUBLIC_URL"] = "http://from-environment.example"
    by_environment = start_server(env=variables)
    assert by_environment.ready["url"] == "http://from-environment.example"
    by_environment.close()

    by_option = start_server("--public-url", "http://from-option.example", env=variables)
    assert by_option.ready["url"] == "http://from-option.example"


def test_the_file_named_by_the_option_is_read(start_server: StartServer, tmp_path: Path):
    config = tmp_path / "reflecto.toml"
    config.write_text('public_url = "http://from-file.example"\n', "utf-8")

    assert start_server("--config", str(config)).ready["url"] == "http://from-file.example"


def test_the_environment_names_the_data_folder(tmp_path: Path, data: Path):
    moved = tmp_path / "moved"
    with ServerProcess(moved):
        invited = run_reflecto("invite", "--json", env={"REFLECTO_DATA": str(moved)})

    assert invited.returncode == 0, invited.stderr
    assert not data.exists()


@pytest.mark.parametrize(
    ("options", "env", "named"),
    [
        (["--port", "70000"], {}, "port"),
        (["--public-url", "reflecto.example"], {}, "public_url"),
        ([], {"REFLECTO_LOG_LEVEL": "loud"}, "log_level"),
        ([], {"REFLECTO_MIN_PHONE_BUILD": "-1"}, "min_phone_build"),
        (["--port", "many"], {}, "port"),
        (["--config", "missing.toml"], {}, "missing.toml"),
    ],
)
def test_a_bad_setting_is_named(options: list[str], env: dict[str, str], named: str, data: Path):
    assert named in serve_expecting_failure("--data", data, *options, env=env)
    assert not data.exists()


@pytest.mark.parametrize(
    ("content", "named"), [("colour = 'red'", "colour"), ("port = [", "reflecto.toml"), ("host = 5", "host")]
)
def test_a_bad_configuration_file_is_named(content: str, named: str, tmp_path: Path, data: Path):
    config = tmp_path / "reflecto.toml"
    config.write_text(content, "utf-8")

    assert named in serve_expecting_failure("--data", data, "--config", config)


def test_an_occupied_port_is_named(data: Path):
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = occupied.getsockname()[1]
        line = serve_expecting_failure("--data", data, "--port", str(port))

    assert str(port) in line
    assert "in use; --port takes another one" in line


def test_an_address_that_is_not_this_machine_is_named(data: Path):
    assert "192.0.2.1" in serve_expecting_failure("--data", data, "--host", "192.0.2.1")


def test_a_data_folder_below_a_file_is_named(tmp_path: Path):
    (tmp_path / "file").touch()

    assert str(tmp_path / "file" / "data") in serve_expecting_failure("--data", tmp_path / "file" / "data")


@pytest.fixture(scope="module")
def store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a server that has run and stopped."""
    folder = tmp_path_factory.mktemp("stopped") / "data"
    with ServerProcess(folder) as server:
        assert server.stop() == 0
    return folder


@pytest.fixture
def stopped(store_folder: Path, data: Path) -> Path:
    """A copy of it."""
    shutil.copytree(store_folder, data)
    return data


@pytest.fixture
def without_privileges() -> tuple[str, ...]:
    """What to put before a program so that file modes bind it, also where the tests run as root."""
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    assert setpriv, "as root, these tests need util-linux's setpriv"
    return (setpriv, "--bounding-set", "-dac_override,-dac_read_search")


@pytest.fixture
def write_protected(data: Path) -> Iterator[Path]:
    """A folder that nothing can be written to until the test is over."""
    data.mkdir()
    data.chmod(0o500)
    yield data
    data.chmod(0o700)


def test_a_write_protected_parent_is_named(write_protected: Path, without_privileges: tuple[str, ...]):
    line = serve_expecting_failure("--data", write_protected / "below", prefix=without_privileges)

    assert str(write_protected / "below") in line
    assert "Permission denied" in line


def test_a_write_protected_data_folder_is_named(write_protected: Path, without_privileges: tuple[str, ...]):
    line = serve_expecting_failure("--data", write_protected, prefix=without_privileges)

    assert str(write_protected) in line


def test_a_write_protected_store_is_named(stopped: Path, without_privileges: tuple[str, ...]):
    (stopped / DATABASE_NAME).chmod(0o400)

    line = serve_expecting_failure("--data", stopped, prefix=without_privileges)

    assert str(stopped / DATABASE_NAME) in line


def test_a_store_of_a_newer_version_is_refused_untouched(stopped: Path):
    store = sqlite3.connect(stopped / DATABASE_NAME)
    store.execute("PRAGMA user_version = 99")
    store.close()

    assert "schema 99" in serve_expecting_failure("--data", stopped)


def test_a_file_that_is_not_a_store_is_refused(data: Path):
    data.mkdir()
    (data / DATABASE_NAME).write_bytes(b"not a database at all, but long enough to look at" * 40)
    (data / DATABASE_NAME).chmod(0o600)

    assert DATABASE_NAME in serve_expecting_failure("--data", data)


def test_a_missing_server_key_is_not_replaced(stopped: Path):
    (stopped / KEY).unlink()

    line = serve_expecting_failure("--data", stopped)

    assert KEY in line
    assert "backup" in line
    assert not (stopped / KEY).exists()


@pytest.mark.parametrize("content", ["00" * 31, "zz" * 32, "", "1f" * 32])
def test_a_damaged_or_foreign_server_key_is_refused(content: str, stopped: Path):
    (stopped / KEY).write_text(content, "ascii")

    assert KEY in serve_expecting_failure("--data", stopped)
