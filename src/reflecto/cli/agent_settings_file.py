"""A settings file of somebody else's program: read, changed and replaced in one step, with a backup beside it."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from reflecto.agents.hook_settings import (
    Group,
    UnusableSettingsError,
    add_hooks,
    has_anything,
    installed_events,
    remove_hooks,
)
from reflecto.agents.tool_rules import add_rule, remove_rule

BACKUP_SUFFIX: Final = ".before-reflecto"  # what the file was before our first change, forever
ADDED_SUFFIX: Final = ".added-by-reflecto"  # the rule that the file did not have before us, on a line of its own
_NEW_FILE_MODE: Final = 0o644
_BYTE_ORDER_MARK: Final = "\ufeff"


class SettingsFileError(Exception):
    """The file cannot be read, understood or written; it is as it was."""


class UnusableSettingsFileError(SettingsFileError):
    """The file cannot be read or understood."""

    exit_code: ClassVar[int] = 2


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a file: `events` are those that have, or had, a hook of ours."""

    path: Path
    events: list[str]
    changed: bool
    backup: Path | None

    def fields(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        backup = str(self.backup) if self.backup else None
        return {"path": str(self.path), "events": self.events, "changed": self.changed, "backup": backup}


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """`path` is the file itself, also where a link was named; `text` is None where there is none yet."""

    path: Path
    text: str | None
    mark: str = ""

    @classmethod
    def read(cls, path: Path) -> "SettingsFile":
        """Return the file as it is. Raises: SettingsFileError."""
        real = Path(os.path.realpath(path))  # a link, as dotfile managers make them, stays one
        try:
            text = real.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return cls(real, None)
        except (OSError, UnicodeDecodeError) as error:
            raise UnusableSettingsFileError(f"cannot read {path}: {error}") from None
        mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
        return cls(real, text.removeprefix(mark), mark)

    def add_hooks(self, agent: str, groups: Mapping[str, Group], rule: str | None = None) -> Change:
        """Put the hooks in, and the rule that allows our tools. Raises: SettingsFileError; the file is as it was."""
        try:
            with_hooks = add_hooks(self.text or "", agent, groups)
            text = add_rule(with_hooks, rule) if rule else with_hooks
        except UnusableSettingsError as error:
            raise self._unusable(error) from None
        change = self._replace(text, list(groups))
        if rule and text != with_hooks:
            self._remember(rule)
        return change

    def remove_hooks(self, agent: str, rule: str | None = None) -> Change:
        """Take the hooks out, and the rule if we put it in. Raises: SettingsFileError; then the file is as it was."""
        try:
            events = installed_events(self.text or "", agent)
            text = remove_hooks(self.text or "", agent)
            text = remove_rule(text, rule) if rule and self._has_added(rule) else text
        except UnusableSettingsError as error:
            raise self._unusable(error) from None
        change = self._replace(text, events)
        if rule:
            self._remember(None)
        return change

    def _unusable(self, error: UnusableSettingsError) -> SettingsFileError:
        return UnusableSettingsFileError(f"{self.path} is left as it is, it cannot be used: {error}")

    @property
    def _memory(self) -> Path:
        return self.path.with_name(self.path.name + ADDED_SUFFIX)

    def _has_added(self, rule: str) -> bool:
        """Tell whether we put the rule in; where that is not known it is somebody's own."""
        try:
            return self._memory.read_text("utf-8").strip() == rule
        except (OSError, UnicodeDecodeError):
            return False

    def _remember(self, rule: str | None) -> None:
        """Note which rule we put in, after the fact: a rule too many is better than one that somebody misses."""
        with suppress(OSError):
            if rule is None:
                self._memory.unlink(missing_ok=True)
            else:
                self._memory.write_text(f"{rule}\n", "utf-8")

    def _replace(self, text: str, events: list[str]) -> Change:
        if text == (self.text or ""):
            return Change(self.path, events, changed=False, backup=None)
        try:
            backup = self._back_up()
            self._write(text)
        except OSError as error:
            raise SettingsFileError(f"cannot write {self.path}: {error}") from None
        return Change(self.path, events, changed=True, backup=backup)

    def _back_up(self) -> Path | None:
        """Keep what was there before our first change; a file that has something of ours is not that any more."""
        backup = self.path.with_name(self.path.name + BACKUP_SUFFIX)
        if self.text is None or backup.exists() or has_anything(self.text):
            return backup if backup.exists() else None
        shutil.copy2(self.path, backup)
        return backup

    def _write(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write((self.mark + text).encode())
                file.flush()
                os.fsync(file.fileno())
            self._keep_mode(Path(draft))
            Path(draft).replace(self.path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise

    def _keep_mode(self, draft: Path) -> None:
        if self.text is None:
            draft.chmod(_NEW_FILE_MODE)
            return
        status = self.path.stat()
        with suppress(OSError, AttributeError):  # not its owner, or no Unix
            os.chown(draft, status.st_uid, status.st_gid)
        shutil.copymode(self.path, draft)
