"""deploy/Containerfile: nothing here can build it, so what can be held to the code is."""

import re
import subprocess
import sys
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from reflecto.config import load_settings
from tests.deploy.files import DEPLOY, ROOT, SERVED, VARIABLES, image_environment, image_user, text


def test_what_it_sets_are_settings_that_the_server_takes():
    environment = image_environment()
    assert set(environment) <= VARIABLES
    settings = load_settings({}, environ=environment)
    assert (str(settings.data), settings.host, settings.log_format) == ("/data", "0.0.0.0", "json")  # noqa: S104
    assert re.findall(r"^EXPOSE (\d+)$", text("Containerfile"), re.MULTILINE) == [str(settings.port)]
    assert f"VOLUME {settings.data}\n" in text("Containerfile")


def test_its_health_is_asked_for_where_the_server_answers():
    port, path = re.findall(r"HEALTHCHECK (?:.|\n)*?http://127\.0\.0\.1:(\d+)(/\w+)'", text("Containerfile"))[0]
    assert port == image_environment()["REFLECTO_PORT"]
    assert path in SERVED


def test_it_runs_as_nobody_in_particular_who_owns_the_data_folder_alone():
    user = image_user()
    assert user > 1000
    assert f"RUN install -d -m 0700 -o {user} -g {user} /data\n" in text("Containerfile")


def test_nothing_names_a_registry():
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            images = re.findall(r"^(?:FROM|\s*image:) +(\S+)", path.read_text("utf-8"), re.MULTILINE)
            assert [each for each in images if "." in each.partition("/")[0] and "/" in each] == []


def test_each_file_that_the_build_runs_is_there():
    for path in re.findall(r"\b((?:deploy|scripts)/[\w.]*\w)", text("Containerfile") + text("install")):
        assert (ROOT / path).is_file(), path


def printed_lock() -> str:
    script = ROOT / "scripts" / "print_server_lock.py"
    return subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=30).stdout


def test_the_servers_part_of_the_lock_is_all_that_it_asks_for_and_nothing_of_what_developing_needs():
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    entries = re.findall(r"^(?:\S.*\n(?: .*\n)*)", printed_lock(), re.MULTILINE)
    assert all(entry in lock and "--hash=sha256:" in entry for entry in entries)
    names = {entry.partition("==")[0] for entry in entries}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    asked = [*project["project"]["dependencies"], *extras["server"], *extras["mcp"], *extras["postgres"]]
    wanted = {
        canonicalize_name(wish.name) for wish in map(Requirement, asked) if not wish.marker or wish.marker.evaluate()
    }
    assert wanted <= names
    assert {"h11", "idna", "markupsafe"} <= names  # what those need in turn
    assert not {"pytest", "mypy", "ruff", "uv", "hypothesis", "pip", "setuptools"} & names
