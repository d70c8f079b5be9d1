"""Whose word an error reply is: this project's server's, or that of something in between.

Only the exact body of this server is a refusal. A proxy's own 401, 403 or 404, a sign-in page or another program's JSON
says nothing about a token, a question or a device. Source: docs/protocol.md "Whose word it is".
"""

import re
from typing import Any, Final, NamedTuple

from reflecto.contract.errors import CATALOGUE
from reflecto.contract.json_text import UnreadableJsonError, read_json

_CODE_PATTERN: Final = re.compile(r"[a-z][a-z0-9_]{2,63}")


class Refusal(NamedTuple):
    """What the server refused with; `message` may be empty."""

    status: int
    code: str
    message: str
    details: dict[str, Any]

    @property
    def is_known(self) -> bool:
        """Whether the code is in this version's catalogue, under this status."""
        spec = CATALOGUE.get(self.code)
        return spec is not None and spec.status == self.status


def read_refusal(status: int, body: bytes) -> Refusal | None:
    """Return the refusal in an error reply, None where the reply is not in this server's form."""
    try:
        parsed = read_json(body, dict[str, Any])
    except UnreadableJsonError:
        return None
    if status == 401:  # flat, and without a message for a token that is not taken
        error: object = {"code": parsed.get("error"), **{key: parsed[key] for key in parsed if key != "error"}}
    else:
        error = parsed.get("error") if parsed.keys() == {"error"} else None
    if not isinstance(error, dict) or not error.keys() <= {"code", "message", "details"}:
        return None
    code, message, details = error.get("code"), error.get("message", ""), error.get("details", {})
    if not isinstance(code, str) or not _CODE_PATTERN.fullmatch(code):
        return None
    if not isinstance(message, str) or not isinstance(details, dict):
        return None
    return Refusal(status, code, message, details)
