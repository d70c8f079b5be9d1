"""Writes docs/errors.md from the catalogue: `.venv/bin/python scripts/write_error_page.py`. A test compares."""
# ruff: noqa: INP001  a script, no package

from pathlib import Path
from typing import Final

from reflecto.contract.api_error import ErrorSpec
from reflecto.contract.errors import CATALOGUE

PAGE: Final = Path(__file__).parents[1] / "docs" / "errors.md"

INTRODUCTION: Final = """\
# Errors

<!-- Made from the catalogue by scripts/write_error_page.py; change src/reflecto/contract/errors.py. -->

Every error but 401 is

```json
{"error": {"code": "message_too_long", "message": "…", "details": {"bytes": 1612, "max": 1500}}}
```

with `details` where the table names any. 401 is flat: `{"error": "missing_token", "message": "…"}` or
`{"error": "invalid_token"}`; a token that is malformed, unknown, revoked or of the wrong kind looks the same.
Pushover's calls answer `{"status": 0, "errors": ["<code>"], "request": "…"}` with the same status and headers.
Codes are stable, messages may be reworded.

A request with several faults is named by its first offending field, in the order of the fields on the page of its call.
Nothing that is refused is stored, sent or counted against a quota; `outcome_unknown` alone leaves that open. 429 and
503 carry `Retry-After` in seconds.
"""
HEADINGS: Final = {
    400: "The request is wrong",
    401: "Who are you?",
    403: "You may not",
    404: "Not there",
    405: "Not that way",
    409: "Not as things stand",
    413: "Too large",
    415: "Not in that form",
    422: "Not under that key",
    426: "Too old",
    429: "Too often",
    500: "The server failed",
    503: "The server cannot store, or does not know whether it has",
}


def render() -> str:
    """Return the page."""
    return "\n".join([INTRODUCTION, *(_section(status, heading) for status, heading in HEADINGS.items())])


def _section(status: int, heading: str) -> str:
    rows = [_row(spec) for spec in CATALOGUE.values() if spec.status == status]
    return "\n".join(
        [f"## {status}: {heading}", "", "| code | meaning | details | what to do |", "|---|---|---|---|", *rows, ""]
    )


def _row(spec: ErrorSpec) -> str:
    details = ", ".join(f"`{key}`" for key in spec.detail_keys)
    return f"| `{spec.code}` | {spec.message} | {details} | {spec.remedy} |"


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
