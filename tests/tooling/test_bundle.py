"""Whether the built web app is what its sources make: asked at a build, at a server's start and by `doctor`."""

import os
import subprocess
from pathlib import Path

import pytest

from reflecto.api.webapp import FOLDER
from reflecto.bundle import MARK, fingerprint, state_of

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in ("package.json", "package-lock.json", "web/apps/phone/src/main.tsx", "web/apps/phone/src/main.test.ts"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")
    return tmp_path


@pytest.fixture
def built(clone: Path) -> Path:
    folder = clone / "src" / "reflecto" / "webapp"
    folder.mkdir(parents=True)
    for name, text in (("index.html", ""), ("sw.js", ""), (MARK, fingerprint(clone))):
        (folder / name).write_text(text, "utf-8")
    return folder


def test_what_was_just_built_is_current(clone: Path, built: Path):
    assert state_of(built, clone) == "current"


@pytest.mark.parametrize("name", ["web/apps/phone/src/main.tsx", "web/apps/phone/src/new.ts", "package-lock.json"])
def test_a_source_that_changed_or_came_makes_it_stale(clone: Path, built: Path, name: str):
    (clone / name).write_text("changed", "utf-8")
    assert state_of(built, clone) == "stale"


def test_a_source_that_went_makes_it_stale_and_so_does_a_build_without_a_mark(clone: Path, built: Path):
    (built / MARK).unlink()
    assert state_of(built, clone) == "stale"
    (built / MARK).write_text(fingerprint(clone), "utf-8")
    (clone / "web/apps/phone/src/main.tsx").unlink()
    assert state_of(built, clone) == "stale"


@pytest.mark.parametrize(
    "name", ["web/apps/phone/src/main.test.ts", "web/packages/core/test/fake.ts", "web/node_modules/a/index.js"]
)
def test_tests_and_installed_packages_do_not(clone: Path, built: Path, name: str):
    (clone / name).parent.mkdir(parents=True, exist_ok=True)
    (clone / name).write_text("changed", "utf-8")
    assert state_of(built, clone) == "current"


def test_a_wheel_has_no_sources_and_its_app_is_current(built: Path, tmp_path: Path):
    assert state_of(built, tmp_path / "site-packages") == "current"


def test_where_nothing_was_built_it_is_missing(clone: Path):
    assert state_of(clone / "src" / "reflecto" / "webapp", clone) == "missing"


def test_what_set_up_built_here_is_current_so_that_no_start_complains():
    assert state_of(FOLDER, ROOT) == "current"


def test_a_start_with_a_stale_app_builds_it_first(tmp_path: Path):
    """`make run` and everything else of make goes through this script."""
    script = (ROOT / "scripts" / "build-web").read_text("utf-8")
    decision = script[script.index("if ! .venv/bin/python -m reflecto.bundle") :]
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    called = tmp_path / "called"
    for name, body in ((".venv/bin/python", '[ "$3" = mark ] || exit "$STALE"'), ("npm", "")):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho "{program.name} $*" >>"{called}"\n{body}\n', "utf-8")
        program.chmod(0o700)
    for stale in ("0", "1"):
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "STALE": stale}
        commands = f'set -eu\nquietly() {{ "$@"; }}\n{decision}'
        subprocess.run(["sh", "-c", commands], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert called.read_text("utf-8").splitlines() == [
        "python -m reflecto.bundle",
        "python -m reflecto.bundle",
        "npm run --silent build",
        "python -m reflecto.bundle mark",
    ]
