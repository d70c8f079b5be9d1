"""Records that hold a secret."""

from typing import Any

import msgspec


class SecretRecord(msgspec.Struct, frozen=True):
    """A record whose `repr` names no field, so that tracebacks and logs do not tell its secret either."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return []
