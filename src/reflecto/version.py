"""Which version this is: the release, and in a clone the commit as well, `0.1.0+g1a2b3c4`.

Hatchling asks it too, to name what it builds (`[tool.hatch.version]` in pyproject.toml): a wheel carries the commit in
its own version. Nothing but the standard library is there then.
"""

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from reflecto import RELEASE

ARCHIVED: Final = "$Format:%h$"  # `git archive` writes the commit here (.gitattributes)
GIT_SECONDS: Final = 5

_ROOT: Final = Path(__file__).parents[2]


@cache
def version() -> str:
    """Return it as PEP 440 writes it. A process in a clone keeps the commit that it found at its first call."""
    if Path(__file__).parents[1].name == "src" and (_ROOT / ".git").exists():
        return _with(_commit_of(_ROOT))
    if not ARCHIVED.startswith("$"):
        return _with(ARCHIVED)
    from importlib import metadata  # noqa: PLC0415  a clone and an archive start sooner without

    if (_ROOT / "PKG-INFO").is_file():  # an unpacked source distribution
        return metadata.PathDistribution(_ROOT).version
    try:
        return metadata.version("reflecto")
    except metadata.PackageNotFoundError:  # unpacked from something that kept no commit
        return RELEASE


def _with(commit: str) -> str:
    return f"{RELEASE}+g{commit}" if commit else RELEASE


def _commit_of(root: Path) -> str:
    """Return the commit's short name, empty where there is no git to ask."""
    # Variables of a git hook that runs us would name another repository; and a server under a user of its own may read
    # the clone that root made, which git refuses unless it is told so.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(root), "-c", f"safe.directory={root}", "rev-parse", "--short", "HEAD"]
    try:
        asked = subprocess.run(  # noqa: S603  our own words
            command, env=environment, capture_output=True, text=True, timeout=GIT_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.strip()
