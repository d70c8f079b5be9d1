"""Names of files and folders as a person at that machine would write them. No I/O."""

import re
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Final

from reflecto.agents.hook_call import Event, text_of

_AGENTS_OWN: Final = re.compile(r"^(?P<home>.+?)[\\/]\.(claude|codex)[\\/]")


def home_of(event: Event, known: str = "") -> str:
    """Return the home folder of whoever runs the agent: as known, or from where the agent keeps its sessions."""
    match = _AGENTS_OWN.match(text_of(event, "transcript_path"))
    return known or (match["home"] if match else "")


def short_folder(folder: str, home: str) -> str:
    """Return the folder with `~` for the home folder; empty if it is not known."""
    path = _pure(folder)
    if home and path.is_relative_to(_pure(home)):
        return str(_kind_of(folder)("~") / path.relative_to(_pure(home)))
    return folder


def short_file(file: str, folder: str, home: str) -> str:
    """Return the file's path from the folder, or with `~`, or whole, whichever fits."""
    if folder and _pure(file).is_relative_to(_pure(folder)) and ".." not in _pure(file).parts:
        return str(_pure(file).relative_to(_pure(folder)))
    return short_folder(file, home)


def _pure(path: str) -> PurePath:
    return _kind_of(path)(path)


def _kind_of(path: str) -> type[PurePath]:
    return PureWindowsPath if "\\" in path else PurePosixPath
