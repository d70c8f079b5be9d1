"""The steps of the schema, as files: the n-th makes schema n. What a step is, its first line says.

A step that expands has no such line: code of the schema before works beside it. One that contracts begins with
`-- oldest reader N`: code that knows less than schema N does not work after it. One that cannot run inside a
transaction (`CREATE INDEX CONCURRENTLY IF NOT EXISTS …`) begins with `-- concurrently` and is one statement.
"""

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

_OLDEST_READER: Final = re.compile(r"-- oldest reader (\d+)\n")
_CONCURRENTLY: Final = "-- concurrently\n"


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `oldest_reader`: it contracts, and older code does not work after it."""

    name: str
    sql: str
    oldest_reader: int | None = None
    concurrently: bool = False

    @classmethod
    def of(cls, name: str, text: str) -> "Step":
        """Return the step of a file."""
        contracts = _OLDEST_READER.match(text)
        oldest_reader = int(contracts[1]) if contracts else None
        return cls(name, text, oldest_reader, concurrently=text.startswith(_CONCURRENTLY))


def load_steps() -> list[Step]:
    """Return the steps this version knows, in their order."""
    found = [each for each in files(f"{__package__}.migrations").iterdir() if each.name.endswith(".sql")]
    return [Step.of(each.name, each.read_text("utf-8")) for each in sorted(found, key=lambda each: each.name)]
