"""Inputs as the agents give them to their hooks: made for these tests, with the fields that the agents document."""

import json
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parent / "data"


def claude_code(name: str, **fields: Any) -> dict[str, Any]:
    """Return an event of Claude Code's, with other fields where given."""
    return _read("claude_code", name) | fields


def codex(name: str, **fields: Any) -> dict[str, Any]:
    """Return an event of Codex's, or what its `notify` program is called with."""
    return _read("codex", name) | fields


def with_input(event: dict[str, Any], **tool_input: Any) -> dict[str, Any]:
    """Return the event with other fields of the tool's input."""
    return event | {"tool_input": event["tool_input"] | tool_input}


def _read(agent: str, name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((DATA / agent / f"{name}.json").read_text("utf-8"))
    return event
