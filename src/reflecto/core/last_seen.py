"""When tokens were last used and devices last seen: noted in memory, written once a minute, not once a request."""

from typing import Final

from reflecto.core.ports.store import Store, StoreUnavailableError

FLUSH_SECONDS: Final = 60


class LastSeen:
    """The times that have not reached the store yet, as Unix seconds by id."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tokens: dict[str, int] = {}
        self._devices: dict[str, int] = {}

    def token_used(self, token_id: str, now: float) -> None:
        """Note that a request with this token was authenticated at `now`."""
        self._tokens[token_id] = int(now)

    def device_seen(self, device_id: str, now: float) -> None:
        """Note that a request of this device was authenticated at `now`."""
        self._devices[device_id] = int(now)

    def last_used_at(self, token_id: str, stored: int | None) -> int | None:
        """Return when the token was last used; `stored` is the time in the store, None for never."""
        return self._tokens.get(token_id, stored)

    def last_seen_at(self, device_id: str, stored: int | None) -> int | None:
        """Return when the device last called; `stored` is the time in the store, None for never."""
        return self._devices.get(device_id, stored)

    async def flush(self) -> None:
        """Write the times; they are kept for the next time if the store is unavailable."""
        tokens, devices = self._tokens, self._devices
        if not tokens and not devices:
            return
        self._tokens, self._devices = {}, {}
        try:
            await self._store.record_activity(tokens, devices)
        except StoreUnavailableError:
            self._tokens, self._devices = tokens | self._tokens, devices | self._devices
