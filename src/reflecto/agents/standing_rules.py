"""Rules for the future that Claude Code proposes with a question, in words. No I/O.

Only what it proposed itself is offered, and only where all of it can be said on a button.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from reflecto.agents.hook_call import Event
from reflecto.agents.places import short_folder
from reflecto.agents.shown import shown_line
from reflecto.contract.limits import CHOICE_MAX_CHARS

UPDATES_MAX: Final = 4  # more than that cannot be said on a button
_WHERE: Final = {
    "session": "in this session",
    "localSettings": "in this project",
    "projectSettings": "in this project, for everybody",
    "userSettings": "in all projects",
}
_BASH_PREFIX: Final = re.compile(r"(?P<prefix>.+?)(?::\*| \*)")
_DOMAIN: Final = re.compile(r"domain:(?P<domain>.+)")
_MCP: Final = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)")


class StandingRule(NamedTuple):
    """The label of its choice, and the agent's own updates, which go back to it as they came."""

    label: str
    updates: tuple[Any, ...]


def offered_rule(event: Event, home: str) -> StandingRule | None:
    """Return the rule that the agent proposes with this question, if it can be offered."""
    proposed = event.get("permission_suggestions")
    if not isinstance(proposed, list) or not 0 < len(proposed) <= UPDATES_MAX:
        return None
    parts: dict[str, list[str]] = {}
    for update in proposed:
        words = _words(update, home) if isinstance(update, Mapping) else None
        where = _WHERE.get(str(update.get("destination"))) if words else None
        if not words or where is None:
            return None
        parts.setdefault(where, []).append(words)
    said = "; ".join(f"{' and '.join(words)}, {where}" for where, words in parts.items())
    label = f"Allow, and don't ask again for {said}"
    is_plain = shown_line(label) == label
    return StandingRule(label, tuple(proposed)) if is_plain and len(label) <= CHOICE_MAX_CHARS else None


def _words(update: Mapping[str, Any], home: str) -> str | None:
    """Return what would not be asked again; None for what nobody should allow with a tap, or has no words here."""
    match update.get("type"):
        case "addRules" if update.get("behavior") == "allow":
            rules = update.get("rules")
            words = [_rule_words(rule) for rule in rules] if isinstance(rules, list) else []
            return " and ".join(filter(None, words)) if words and all(words) else None
        case "setMode" if update.get("mode") == "acceptEdits":
            return "edits and common file commands"  # its own words for what the mode lets through
        case "addDirectories":
            folders = update.get("directories")
            if not isinstance(folders, list) or not folders or not all(isinstance(each, str) for each in folders):
                return None
            return "files in " + " and ".join(short_folder(each, home) for each in folders)
    return None


def _rule_words(rule: object) -> str | None:
    if not isinstance(rule, Mapping) or not isinstance(tool := rule.get("toolName"), str) or not tool:
        return None
    content = rule.get("ruleContent")
    if content is None:
        match = _MCP.fullmatch(tool)
        return f"{match['tool']} of {match['server']}" if match else f"any {tool}"
    if not isinstance(content, str) or not content:
        return None
    if tool == "Bash":
        match = _BASH_PREFIX.fullmatch(content)
        return f'commands that begin with "{match["prefix"]}"' if match else f'"{content}"'
    if tool == "WebFetch" and (match := _DOMAIN.fullmatch(content)):
        return f"pages of {match['domain']}"
    return f"{tool}({content})"
