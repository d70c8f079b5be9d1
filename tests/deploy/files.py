"""The files of deploy/, read: what several of its tests look at."""

import re
from pathlib import Path
from typing import Any, Final

import msgspec

from reflecto.api.operations import OPERATIONS
from reflecto.config import Settings

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
VARIABLES: Final = {f"REFLECTO_{field.name.upper()}" for field in msgspec.structs.fields(Settings)}
SERVED: Final = {operation.path for operation in OPERATIONS if operation.method == "GET"}


def text(name: str) -> str:
    """Return a file of deploy/."""
    return (DEPLOY / name).read_text("utf-8")


def documents(name: str) -> list[Any]:
    """Return the documents of a file of YAML."""
    return [msgspec.yaml.decode(document) for document in text(name).split("\n---\n")]


def image_environment() -> dict[str, str]:
    """Return what the image sets of REFLECTO_…."""
    return dict(re.findall(r"(REFLECTO_\w+)=(\S+)", text("Containerfile")))


def image_user() -> int:
    """Return the number of the user it runs as."""
    (user, group) = re.findall(r"^USER (\d+):(\d+)$", text("Containerfile"), re.MULTILINE)[0]
    assert user == group
    return int(user)
