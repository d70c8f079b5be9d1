"""deploy/compose: servers, proxy and database know each other by what each of them is called and does."""

import re
import shutil
import subprocess
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import pytest

from reflecto.api.long_polls import KEEP_ALIVE_SECONDS
from reflecto.config import load_settings
from reflecto.contract.limits import HEARTBEAT_SECONDS, WAIT_MAX_SECONDS
from reflecto.server import STOP_SECONDS
from tests.deploy.files import SERVED, VARIABLES, documents, image_environment, text

CADDYFILE: Final = text("compose/Caddyfile")


def composed() -> dict[str, Any]:
    (composition,) = documents("compose/compose.yaml")
    services: dict[str, Any] = composition["services"]
    return services | {"networks": composition["networks"]}


def servers() -> dict[str, Any]:
    return {name: service for name, service in composed().items() if name.startswith("server")}


def test_there_are_two_servers_on_one_store_with_the_same_keys_and_settings_that_exist():
    environments = [service["environment"] for service in servers().values()]
    assert len(environments) == 2
    assert environments[0] == environments[1]
    assert set(environments[0]) <= VARIABLES
    assert {"REFLECTO_STORE", "REFLECTO_KEYS", "REFLECTO_PUBLIC_URL"} <= set(environments[0])
    filled = {name: re.sub(r"\$\{\w+[^}]*\}", "x", value) for name, value in environments[0].items()}
    assert load_settings({}, environ=filled).trusted_proxies == ("10.87.87.0/24",)


def test_the_proxy_that_is_trusted_is_in_the_network():
    (config,) = composed()["networks"]["inside"]["ipam"]["config"]
    trusted = servers()["server1"]["environment"]["REFLECTO_TRUSTED_PROXIES"]
    assert ip_network(trusted) == ip_network(config["subnet"])


def test_a_servers_root_cannot_be_written_and_its_stop_has_the_time_it_needs():
    for service in servers().values():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert int(service["stop_grace_period"].removesuffix("s")) > STOP_SECONDS


def test_each_variable_that_is_asked_for_is_explained():
    asked = set(re.findall(r"\$\{(\w+):\?", text("compose/compose.yaml")))
    assert set(re.findall(r"^(\w+)=", text("compose/example.env"), re.MULTILINE)) == asked


def test_caddy_asks_every_server_where_it_listens():
    upstreams = re.findall(r"^\s*reverse_proxy (.+) \{$", CADDYFILE, re.MULTILINE)[0].split()
    assert upstreams == [f"{name}:{image_environment()['REFLECTO_PORT']}" for name in servers()]
    assert set(re.findall(r"health_uri (\S+)", CADDYFILE)) <= SERVED


def test_caddy_sends_streams_on_at_once_and_waits_longer_than_any_reply_is_silent():
    assert "flush_interval -1\n" in CADDYFILE
    silences = (HEARTBEAT_SECONDS, WAIT_MAX_SECONDS, KEEP_ALIVE_SECONDS)
    for name in ("read_timeout", "write_timeout"):
        (seconds,) = re.findall(rf"{name} (\d+)s", CADDYFILE)
        assert int(seconds) > max(silences)


def test_caddy_keeps_the_metrics_to_itself_and_logs_no_paths():
    (paths,) = re.findall(r"@metrics path (.+)$", CADDYFILE, re.MULTILINE)
    assert "/metrics" in SERVED & set(paths.split())
    assert not re.search(r"^\s*log\b", CADDYFILE, re.MULTILINE)


@pytest.mark.skipif(shutil.which("caddy") is None, reason="no caddy here")
def test_caddy_reads_it(tmp_path: Path):
    (tmp_path / "Caddyfile").write_text(CADDYFILE, "utf-8")
    environment = {"REFLECTO_NAME": "reflecto.example", "HOME": str(tmp_path), "PATH": ""}
    read = subprocess.run(
        [str(shutil.which("caddy")), "validate", "--adapter", "caddyfile", "--config", tmp_path / "Caddyfile"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert read.returncode == 0, read.stderr
