"""Callbacks: the senders of emergencies are told that somebody acknowledged one."""

from collections.abc import Mapping
from typing import Protocol


class Callbacks(Protocol):
    """Calls the senders of emergencies back."""

    async def post(self, url: str, form: Mapping[str, str]) -> bool:
        """Post the form and tell whether it was taken; a failure of any kind is False, within some seconds."""

    async def close(self) -> None:
        """Close the connections to senders."""
