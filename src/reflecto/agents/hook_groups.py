"""What `reflecto hook install` puts into an agent's settings: one group of hooks per event, always with a timeout."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from reflecto.agents.hook_call import DEFAULTS, HookOptions
from reflecto.agents.hook_settings import Group

ASK_SECONDS: Final = 600  # Claude Code shows its own dialog meanwhile
BLOCKING_SECONDS: Final = 120  # while this hook runs, the terminal does not ask
CODEX_ASK_SECONDS: Final = 300  # the same, but the question may come when nobody is there
NOTICE_SECONDS: Final = 30
TIMEOUT_MIN_SECONDS: Final = 20  # to start, ask, withdraw

# Names as the option takes them; AskUserQuestion is a PreToolUse of that tool.
OVER_SECONDS: Final = 10  # of a hook that runs beside the agent
OVER_HTTP_SECONDS: Final = 2  # the agent waits for this one after each call of a tool
WAITING: Final = "Waiting for a tap on the phone"  # beside the agent's spinner
OVER_EVENTS: Final = ("PostToolUse", "PostToolUseFailure")  # the call was decided, here or on the phone

CLAUDE_CODE_EVENTS: Final = ("PermissionRequest", "AskUserQuestion", "Notification", "Stop", "SubagentStop")
CLAUDE_CODE_DEFAULT: Final = ("PermissionRequest", "AskUserQuestion", "Notification")
CODEX_EVENTS: Final = ("PermissionRequest", "Stop")
CODEX_DEFAULT: Final = ("PermissionRequest",)


@dataclass(frozen=True, slots=True)
class CommandHook:
    """Our command as the hook; `command` is everything before its options, ready for a shell."""

    command: str
    wishes: HookOptions = DEFAULTS

    def handler(self, timeout_seconds: int, *, asks: bool, skip: str | None = None) -> dict[str, Any]:
        """Return one entry of `hooks`."""
        options = f" --timeout {timeout_seconds}" if asks else f" --skip {skip}" if skip else ""
        if asks:
            options += "".join(f" --{name} {value}" for name, value in _wished(self.wishes))
        status = {"statusMessage": WAITING} if asks else {}
        return {"type": "command", "command": self.command + options, "timeout": timeout_seconds} | status

    def over_handler(self) -> dict[str, Any]:
        """Return the entry for the events that end a call of a tool; the agent does not wait for it."""
        return {"type": "command", "command": self.command, "timeout": OVER_SECONDS, "async": True}


@dataclass(frozen=True, slots=True)
class HttpHook:
    """The server as the hook; the agent takes the token from the environment variable."""

    server_url: str
    wishes: HookOptions = DEFAULTS
    token_variable: str = "REFLECTO_TOKEN"

    def handler(self, timeout_seconds: int, *, asks: bool, skip: str | None = None) -> dict[str, Any]:
        """Return one entry of `hooks`."""
        query = f"?timeout={timeout_seconds}" if asks else f"?skip={skip}" if skip else ""
        if asks:
            query += "".join(f"&{name}={value}" for name, value in _wished(self.wishes))
        handler = {
            "type": "http",
            "url": f"{self.server_url}/hooks/claude-code{query}",
            "timeout": timeout_seconds,
            "headers": {"Authorization": f"Bearer ${self.token_variable}"},
            "allowedEnvVars": [self.token_variable],
        }
        return handler | ({"statusMessage": WAITING} if asks else {})

    def over_handler(self) -> dict[str, Any]:
        """Return the entry for the events that end a call of a tool."""
        return self.handler(OVER_HTTP_SECONDS, asks=False)


def _wished(options: HookOptions) -> list[tuple[str, str]]:
    """Return what the person chose otherwise than by default."""
    chosen = (("danger", options.danger, DEFAULTS.danger), ("confirm", options.confirm, DEFAULTS.confirm))
    return [(name, value) for name, value, default in chosen if value != default]


def claude_code_groups(
    hook: CommandHook | HttpHook, events: Sequence[str], timeout_seconds: int | None
) -> dict[str, Group]:
    """Return the groups for Claude Code's settings.json."""
    groups: dict[str, Group] = {}
    for name in events:
        match name:
            case "PermissionRequest":
                handler = hook.handler(timeout_seconds or ASK_SECONDS, asks=True)
                groups[name] = {"matcher": "*", "hooks": [handler]}
                groups |= {over: {"matcher": "*", "hooks": [hook.over_handler()]} for over in OVER_EVENTS}
            case "AskUserQuestion":
                handler = hook.handler(timeout_seconds or BLOCKING_SECONDS, asks=True)
                groups["PreToolUse"] = {"matcher": name, "hooks": [handler]}
            case "Notification":
                # The question itself comes to the phone; that the terminal asks too need not.
                skip = "permission_prompt" if "PermissionRequest" in events else None
                groups[name] = {"hooks": [hook.handler(NOTICE_SECONDS, asks=False, skip=skip)]}
            case _:
                groups[name] = {"hooks": [hook.handler(NOTICE_SECONDS, asks=False)]}
    return groups


def codex_groups(hook: CommandHook, events: Sequence[str], timeout_seconds: int | None) -> dict[str, Group]:
    """Return the groups for Codex's hooks.json."""
    asks = {"PermissionRequest": timeout_seconds or CODEX_ASK_SECONDS}
    return {name: {"hooks": [hook.handler(asks.get(name, NOTICE_SECONDS), asks=name in asks)]} for name in events}
