"""The version says which commit runs: in a clone, in what is built from it, and as far as it can elsewhere."""

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from reflecto import RELEASE

ROOT = Path(__file__).parents[2]
SOURCES = (
    ".gitattributes",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "src/reflecto/__init__.py",
    "src/reflecto/version.py",
)
IDENTITY = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | IDENTITY
    command = ["git", "-C", str(folder), "-c", "commit.gpgsign=false", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """As much of this checkout as a version needs, in no repository."""
    folder = tmp_path / "reflecto"
    for name in SOURCES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def clone(sources: Path) -> Path:
    git(sources, "init", "--quiet")
    git(sources, "add", ".")
    git(sources, "commit", "--quiet", "--message", "First")
    return sources


def version_in(folder: Path, **environ: str) -> str:
    """Ask in a process of its own, with nothing but the standard library."""
    code = "import sys; sys.path.insert(0, 'src'); import reflecto; print(reflecto.__version__)"
    command = [sys.executable, "-I", "-S", "-c", code]
    ran = subprocess.run(
        command, cwd=folder, env=os.environ | environ, capture_output=True, text=True, check=True, timeout=30
    )
    return ran.stdout.strip()


def test_in_a_clone_it_names_the_commit_and_moves_with_it(clone: Path):
    first = git(clone, "rev-parse", "--short", "HEAD")
    assert version_in(clone) == f"{RELEASE}+g{first}"
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "Second")
    second = git(clone, "rev-parse", "--short", "HEAD")
    assert first != second
    assert version_in(clone) == f"{RELEASE}+g{second}"


def test_a_git_hook_that_runs_it_does_not_lend_it_its_own_repository(clone: Path, tmp_path: Path):
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", str(other))
    version = version_in(clone, GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other))
    assert version == f"{RELEASE}+g{git(clone, 'rev-parse', '--short', 'HEAD')}"


def test_a_tree_without_a_repository_is_the_release(sources: Path):
    assert version_in(sources) == RELEASE


def test_without_git_on_the_path_a_clone_is_the_release(clone: Path):
    assert version_in(clone, PATH="/nowhere") == RELEASE


def test_an_archive_of_a_commit_names_it(clone: Path, tmp_path: Path):
    command = ["git", "-C", str(clone), "archive", "--format=tar", "HEAD"]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    unpacked = tmp_path / "unpacked"
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(unpacked, filter="data")
    assert version_in(unpacked) == f"{RELEASE}+g{git(clone, 'rev-parse', '--short', 'HEAD')}"


def test_a_wheel_carries_the_commit_also_where_it_was_built_from_a_source_distribution(clone: Path, tmp_path: Path):
    wanted = f"{RELEASE}+g{git(clone, 'rev-parse', '--short', 'HEAD')}"
    built = tmp_path / "built"
    build(clone, built, "sdist")
    with tarfile.open(built / f"reflecto-{wanted}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    distribution = tmp_path / f"reflecto-{wanted}"
    assert version_in(distribution) == wanted
    for folder in (clone, distribution):
        wheels = tmp_path / "wheels" / folder.name
        build(folder, wheels, "wheel")
        (wheel,) = wheels.glob("*.whl")
        site = tmp_path / "site" / folder.name / "src"  # where a package finds no repository above itself
        shutil.unpack_archive(wheel, site, "zip")
        assert version_in(site.parent) == wanted


def build(folder: Path, target: Path, kind: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(target)]
    subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=60)


def test_the_command_and_the_server_say_the_same(capsys: pytest.CaptureFixture[str]):
    from reflecto.api.metrics import build_info, exposition  # noqa: PLC0415  the server's modules, in this test alone
    from reflecto.cli.main import main  # noqa: PLC0415
    from reflecto.version import version  # noqa: PLC0415

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"reflecto, version {version()}\n"
    assert f'version="{version()}"' in exposition([build_info()])
    assert re.fullmatch(r"\d+\.\d+\.\d+(\+g[0-9a-f]{4,40})?", version())
