"""The rule in Claude Code's settings that lets an agent use our MCP tools without asking first. No I/O.

What they do is ask or tell a person; to ask whether they may be asked would put two questions for one.
"""

from typing import Any, Final

from reflecto.agents import json_edit
from reflecto.agents.hook_settings import UnusableSettingsError, read_settings

OUR_TOOLS: Final = "mcp__reflecto__*"  # of the server that `claude mcp add reflecto` names


def add_rule(text: str, rule: str) -> str:
    """Return the settings with `rule` in `permissions.allow`. Raises: UnusableSettingsError."""
    permissions = _permissions_of(text)
    if permissions is None:
        return json_edit.append(text, (), ("permissions", {"allow": [rule]}))
    if "allow" not in permissions:
        return json_edit.append(text, ("permissions",), ("allow", [rule]))
    return text if rule in permissions["allow"] else json_edit.append(text, ("permissions", "allow"), rule)


def remove_rule(text: str, rule: str) -> str:
    """Return the settings without `rule`, and without what that leaves empty. Raises: UnusableSettingsError."""
    permissions = _permissions_of(text)
    allow = (permissions or {}).get("allow", [])
    if permissions is None or rule not in allow:
        return text
    path: json_edit.Path = ("permissions", "allow", allow.index(rule))
    if len(allow) == 1:
        path = ("permissions", "allow") if len(permissions) > 1 else ("permissions",)
    return json_edit.delete(text, path)


def _permissions_of(text: str) -> dict[str, Any] | None:
    permissions = read_settings(text).get("permissions")
    if permissions is None:
        return None
    if not isinstance(permissions, dict) or not isinstance(permissions.get("allow", []), list):
        raise UnusableSettingsError('"permissions": {"allow"} is not a list')
    return permissions
