"""Whether the phone's web app in this clone was built from the sources that lie beside it.

`scripts/build-web` asks (exit code 0: it was) and marks what it built; a server asks at its start, for `git pull` alone
changes the sources and not the app. A wheel has no sources, and its app is what was built with it.
"""

import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import Final, Literal

BUILT: Final = Path(__file__).parent / "webapp"
PAGE: Final = "index.html"
MARK: Final = "built-from"  # in the built app: the fingerprint of its sources
_ROOT: Final = Path(__file__).parents[2]

State = Literal["current", "stale", "missing"]


@cache  # what a process serves it has read at its start
def bundle_state() -> State:
    """Tell how the app that this process serves stands."""
    return state_of(BUILT, _ROOT)


def state_of(built: Path, root: Path) -> State:
    """Tell how the app in `built` stands to the sources under `root`, if there are any."""
    if not (built / PAGE).is_file() or not (built / "sw.js").is_file():
        return "missing"
    if not (root / "web").is_dir() or not (root / "package.json").is_file():
        return "current"
    mark = built / MARK
    return "current" if mark.is_file() and mark.read_text("utf-8") == fingerprint(root) else "stale"


def fingerprint(root: Path) -> str:
    """Return a hash of all that the app is made from; tests, and what they need, are not part of it."""
    whole = hashlib.sha256()
    files = [path for path in (root / "web").rglob("*") if path.is_file() and _is_source(path.relative_to(root))]
    for path in sorted([*files, root / "package.json", root / "package-lock.json"]):
        name = path.relative_to(root).as_posix().encode()
        content = path.read_bytes() if path.is_file() else b""
        whole.update(b"%d %s %d " % (len(name), name, len(content)) + content)
    return whole.hexdigest()


def _is_source(path: Path) -> bool:
    is_test = "test" in path.parts or path.name.endswith((".test.ts", ".testing.ts"))
    return "node_modules" not in path.parts and not is_test and path.suffix != ".tsbuildinfo"


if __name__ == "__main__":
    if sys.argv[1:] == ["mark"]:
        (BUILT / MARK).write_text(fingerprint(_ROOT), "utf-8")
    else:
        sys.exit(state_of(BUILT, _ROOT) != "current")
