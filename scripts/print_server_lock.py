#!/usr/bin/env python3
"""Print the part of requirements.lock that the server needs, with all its extras: what goes into an image.

It asks the packages installed in .venv what they require, so run it with that interpreter after `make setup`.
"""

import re
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK: Final = Path(__file__).parents[1] / "requirements.lock"
EXTRAS: Final = frozenset({"server", "mcp", "postgres"})


def required(name: str, extras: frozenset[str], seen: set[tuple[str, str]]) -> set[str]:
    """Return the names of all that `name` with `extras` needs on this system; `seen` is what was followed already."""
    found: set[str] = set()
    for line in distribution(name).requires or []:
        wish = Requirement(line)
        for extra in ["", *extras]:
            if (line, extra) in seen or (wish.marker is not None and not wish.marker.evaluate({"extra": extra})):
                continue
            seen.add((line, extra))
            found |= {canonicalize_name(wish.name), *required(wish.name, frozenset(wish.extras), seen)}
    return found


def server_lock() -> str:
    """Return the entries, as they stand in the lock."""
    wanted = required("reflecto", EXTRAS, set())
    entries = re.finditer(r"^([a-z0-9.-]+)==(?:.*\\\n)+.*\n", LOCK.read_text("utf-8"), re.MULTILINE)
    return "".join(entry[0] for entry in entries if entry[1] in wanted)


if __name__ == "__main__":
    sys.stdout.write(server_lock())
