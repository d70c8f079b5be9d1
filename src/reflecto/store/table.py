"""A table as records: its columns are named once, and what selects, inserts and reads them is made from that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import msgspec

R = TypeVar("R", bound=msgspec.Struct)
Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Column:
    """The column of one field: its name where that differs, and how its value is written and read.

    `absent` is written where the record that the field is of is part of another and is None there.
    """

    name: str = ""
    write: Callable[[Any], Any] | None = None
    read: Callable[[Any], Any] | None = None
    absent: Any = None


def _joined(words: Sequence[str] | None) -> str | None:
    return None if words is None else " ".join(words)


FLAG: Final = Column(read=bool)
WORDS: Final = Column(
    write=_joined, read=lambda text: tuple(text.split()), absent=""
)  # words without spaces, as one text


def numbered(count: int, first: int = 1) -> str:
    """Return the places of so many values as PostgreSQL writes them: `$1, $2, …`."""
    return ", ".join(f"${place}" for place in range(first, first + count))


def unnested(types: Sequence[str]) -> str:
    """Return the rows that come as one array a column, each of its type: `unnest($1::text[], …)`."""
    return f"unnest({', '.join(f'${place}::{each}[]' for place, each in enumerate(types, 1))})"


class Table(Generic[R]):
    """The fields of `record` as columns of the table `name`, in their order; `special` are those that are not plain.

    A special field may be a record in columns of the same table: it is None where the first of these is NULL.
    """

    def __init__(self, record: type[R], name: str = "", **special: "Column | Table[Any]") -> None:
        self._record: Callable[..., R] = record
        self._fields: list[tuple[str, Column | Table[Any]]] = []
        self._reads: list[tuple[int, Callable[[Any], Any]]] = []  # by place
        self._parts: list[tuple[slice, Table[Any]]] = []  # the last one first, so that places before it stay
        self.names: list[str] = []
        self.absent: list[Any] = []
        for field in record.__struct_fields__:
            self._add(field, special.get(field, Column()))
        self.columns = ", ".join(self.names)
        self.assignments = ", ".join(f"{each} = ?" for each in self.names)
        self.select = f"SELECT {self.columns} FROM {name}"
        values = ", ".join("?" for _ in self.names)
        self.insert = f"INSERT INTO {name} ({self.columns}) VALUES ({values})"
        self.numbered_insert = f"INSERT INTO {name} ({self.columns}) VALUES ({numbered(len(self.names))})"

    def of(self, row: Row) -> R:
        """Return the record of a row of `columns`."""
        if not self._reads and not self._parts:
            return self._record(*row)
        values = list(row)
        for place, read in self._reads:
            values[place] = read(values[place])
        for places, part in self._parts:
            columns = values[places]
            values[places] = [None if columns[0] is None else part.of(columns)]
        return self._record(*values)

    def row(self, record: R) -> list[Any]:
        """Return the values of `columns`."""
        values: list[Any] = []
        for name, kind in self._fields:
            value = getattr(record, name)
            if isinstance(kind, Table):
                values += kind.absent if value is None else kind.row(value)
            else:
                values.append(kind.write(value) if kind.write else value)
        return values

    def _add(self, name: str, kind: "Column | Table[Any]") -> None:
        self._fields.append((name, kind))
        place = len(self.names)
        if isinstance(kind, Table):
            self._parts.insert(0, (slice(place, place + len(kind.names)), kind))
            self.names += kind.names
            self.absent += kind.absent
            return
        if kind.read is not None:
            self._reads.append((place, kind.read))
        self.names.append(kind.name or name)
        self.absent.append(kind.absent)
