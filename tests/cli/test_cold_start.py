"""What a command loads before it does its work: the part of a cold start that grows unnoticed."""

import json
import os
import re
import subprocess
import sys

from tests.agents.events import claude_code
from tests.client.sending_server import SendingServer

LARGE = {"httpx", "httpcore", "anyio", "asyncio", "certifi", "rich", "pygments"}
OF_THE_SERVER = {
    "starlette",
    "uvicorn",
    "sqlite3",
    "segno",
    "jinja2",
    "homoglyph",
    "reflecto.api",
    "reflecto.core",
    "reflecto.store",
}
CRYPTOGRAPHY = {"nacl", "rfc8785", "cryptography", "cffi"}
OF_QUESTIONS = {"reflecto.contract.interactions", "reflecto.contract.details", "reflecto.contract.canonical_json"}
OF_FILES = {"tomllib", "platformdirs", "tempfile"}  # of settings, where the environment has all of them
OF_THE_CLIENT = {"reflecto.client.sync", "http.client", "msgspec", "email"}


def loaded_by(*arguments: str, text: str = "") -> set[str]:
    """Return the modules, and the packages they are in, that this command loads in a fresh interpreter."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "reflecto.cli.main", *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env=os.environ | {"SSL_CERT_FILE": ""},
    )
    names = re.findall(r"^import time:.*\| +(\S+)$", ran.stderr, re.MULTILINE)
    assert len(names) > 50
    return {".".join(name.split(".")[: depth + 1]) for name in names for depth in range(name.count(".") + 1)}


def test_sending_loads_no_large_library_no_cryptography_and_nothing_of_the_server(sending: SendingServer):
    loaded = loaded_by("send", "Backup done")
    assert len(sending.accepted) == 1
    assert not (LARGE | OF_THE_SERVER | CRYPTOGRAPHY | OF_FILES | OF_QUESTIONS) & loaded
    assert len([name for name in loaded if name.startswith("reflecto.")]) < 50


def test_a_hook_with_nothing_to_ask_loads_no_client():
    loaded = loaded_by("hook", "claude-code", text=json.dumps(claude_code("session_start")))
    assert not (LARGE | OF_THE_SERVER | CRYPTOGRAPHY | OF_FILES | OF_THE_CLIENT) & loaded


def test_help_loads_no_command():
    loaded = loaded_by("--help")
    assert not (LARGE | OF_THE_SERVER | CRYPTOGRAPHY | OF_FILES | OF_THE_CLIENT) & loaded
    assert not {"reflecto.cli.send", "reflecto.cli.ask", "reflecto.cli.hook"} & loaded
