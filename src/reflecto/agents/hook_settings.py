"""The hook in an agent's settings file: found, added and removed as text. No I/O.

Claude Code and Codex share the form `{"hooks": {"<event>": [{"matcher"?, "hooks": [{"type", …, "timeout"}]}]}}`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from reflecto.agents import json_edit

Group = dict[str, Any]

_COMMAND: Final = re.compile(r"\breflecto\S*\s+hook\s+(?P<agent>claude-code|codex)\b")
_URL: Final = re.compile(r"/hooks/(?P<agent>claude-code|codex)(\?|$)")
DEPTH_MAX: Final = 100  # lists and objects inside one another: changing them must not run into Python's own limit


class UnusableSettingsError(ValueError):
    """The agent itself could not read these settings; the message says where."""


def add_hooks(text: str, agent: str, groups: Mapping[str, Group]) -> str:
    """Return the settings with one group for each event; hooks of ours that were there for this agent are replaced.

    Text that already has exactly these stays as it is. Raises: UnusableSettingsError.
    """
    settings = read_settings(text)
    ours = list(_find(settings, agent))
    present = {event: settings["hooks"][event][index] for event, index, _ in ours}
    if present == groups and len(ours) == len(groups):
        return text
    text = remove_hooks(text, agent) if ours else text if text.strip() else "{}\n"
    for event, group in groups.items():
        hooks = read_settings(text).get("hooks")
        if hooks is None:
            text = json_edit.append(text, (), ("hooks", {event: [group]}))
        elif event not in hooks:
            text = json_edit.append(text, ("hooks",), (event, [group]))
        else:
            text = json_edit.append(text, ("hooks", event), group)
    read_settings(text)
    return text


def remove_hooks(text: str, agent: str) -> str:
    """Return the settings without this agent's hooks of ours, and without what that leaves empty.

    Raises: UnusableSettingsError.
    """
    while found := next(_find(read_settings(text), agent), None):
        text = _remove(text, *found)
    return text


def installed_events(text: str, agent: str) -> list[str]:
    """Return the events that have a hook of ours. Raises: UnusableSettingsError."""
    return list(dict.fromkeys(event for event, _, _ in _find(read_settings(text), agent)))


def has_anything(text: str) -> bool:
    """Tell whether a hook of ours is in it, of whichever agent. Raises: UnusableSettingsError."""
    return any(installed_events(text, agent) for agent in ("claude-code", "codex"))


def read_settings(text: str) -> dict[str, Any]:
    """Return the settings; nothing at all counts as empty. Raises: UnusableSettingsError."""
    try:
        settings = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise UnusableSettingsError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except ValueError:
        raise UnusableSettingsError("it holds a number of too many digits") from None
    except RecursionError:
        raise UnusableSettingsError("it is nested too deeply") from None
    if _is_deeper(settings, DEPTH_MAX):
        raise UnusableSettingsError("it is nested too deeply")
    if not isinstance(settings, dict):
        raise UnusableSettingsError("it is not a JSON object")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise UnusableSettingsError('"hooks" is not an object')
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise UnusableSettingsError(f'"hooks": {{"{event}"}} is not a list')
    return settings


def _is_deeper(value: object, depth_max: int) -> bool:
    """Tell, without recursion, whether lists and objects are nested deeper than that."""
    level = [value]
    for _ in range(depth_max):
        level = [item for each in level for item in _items_of(each)]
        if not level:
            return False
    return True


def _items_of(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _find(settings: Mapping[str, Any], agent: str) -> Iterator[tuple[str, int, int]]:
    """Yield event, index of the group, and index of the hook in it, of each hook of ours."""
    for event, groups in settings.get("hooks", {}).items():
        for index, group in enumerate(groups):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for number, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if _is_ours(hook, agent):
                    yield event, index, number


def _is_ours(hook: object, agent: str) -> bool:
    if not isinstance(hook, dict):
        return False
    for field, pattern in (("command", _COMMAND), ("url", _URL)):
        value = hook.get(field)
        if isinstance(value, str) and (match := pattern.search(value)) and match["agent"] == agent:
            return True
    return False


def _remove(text: str, event: str, index: int, number: int) -> str:
    """Remove one hook; a group, an event or `hooks` that had nothing else goes with it."""
    hooks = read_settings(text)["hooks"]
    path: json_edit.Path = ("hooks", event, index, "hooks", number)
    if len(hooks[event][index]["hooks"]) == 1:
        path = ("hooks", event, index)
        if len(hooks[event]) == 1:
            path = ("hooks", event) if len(hooks) > 1 else ("hooks",)
    return json_edit.delete(text, path)
