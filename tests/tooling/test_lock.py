import re
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
PINS = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", LOCK, flags=re.MULTILINE))


def direct_requirements() -> list[Requirement]:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lists = [
        pyproject["build-system"]["requires"],
        pyproject["project"]["dependencies"],
        *pyproject["project"]["optional-dependencies"].values(),
        *pyproject["dependency-groups"].values(),
    ]
    return [Requirement(line) for line in chain.from_iterable(lists)]


def is_locked(wish: Requirement) -> bool:
    version = PINS.get(canonicalize_name(wish.name))
    return version is not None and wish.specifier.contains(version)


def test_everything_pyproject_asks_for_is_locked_at_a_version_it_accepts():
    assert [str(wish) for wish in direct_requirements() if not is_locked(wish)] == [], "run `make lock`"


def test_lock_is_pinned_versions_with_hashes_and_nothing_else():
    entry = re.compile(
        r"^[a-z0-9.-]+==\S+( ; [^\\]+)? \\(\n    --hash=sha256:[0-9a-f]{64}( \\)?)+$", flags=re.MULTILINE
    )
    assert entry.sub("", LOCK).strip() == ""


def test_lock_names_no_address():
    assert "://" not in LOCK
    assert " @ " not in LOCK
