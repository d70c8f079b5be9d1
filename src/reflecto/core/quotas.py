"""How much a sender may send: rolling windows, monthly counts and the order of the gates. Source: api.md "Limits"."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from reflecto.contract.errors import RATE_LIMIT_EXCEEDED, ApiError
from reflecto.core.clock import Clock
from reflecto.core.model import Token
from reflecto.core.networks import network_of
from reflecto.core.ports.store import Store
from reflecto.core.windows import RollingWindow

Resource = Literal["token_burst", "token_monthly", "receiver_daily", "ip_minute", "ip_hour"]

WRONG_TOKENS_PER_MINUTE: Final = 20  # per address, in every profile
UNLIMITED: Final = 2**31 - 1  # fits what Pushover's clients read it into


class LimitProfile(msgspec.Struct, frozen=True, kw_only=True):
    """Requests allowed per layer; None: no limit."""

    token_burst: int | None
    token_monthly: int | None
    receiver_daily: int | None
    ip_minute: int | None
    ip_hour: int | None


PROFILES: Final[Mapping[str, LimitProfile]] = {
    "free": LimitProfile(token_burst=60, token_monthly=500, receiver_daily=1_000, ip_minute=20, ip_hour=200),
    "pro": LimitProfile(token_burst=600, token_monthly=10_000, receiver_daily=25_000, ip_minute=20, ip_hour=200),
    "self-hosted": LimitProfile(token_burst=600, token_monthly=None, receiver_daily=None, ip_minute=600, ip_hour=None),
}


@dataclass(frozen=True, slots=True)
class Standing:
    """How one layer stands: `reset_at` is when it next frees something, in Unix seconds."""

    resource: Resource
    limit: int
    remaining: int
    reset_at: int


class RateLimitedError(ApiError):
    """429, with the standing of the layer that refused."""

    def __init__(self, standing: Standing, now: float) -> None:
        retry_after_seconds = max(1, standing.reset_at - int(now))
        super().__init__(RATE_LIMIT_EXCEEDED, retry_after_seconds=retry_after_seconds)
        self.standing = standing


class MonthlyCounts:
    """Counts per token and calendar month (UTC), written now and then, never once a request."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._month = ""
        self._counts: dict[str, int] = {}
        self._unwritten: set[str] = set()

    async def load(self, store: Store, now: float) -> None:
        """Take up what was counted before the restart."""
        self._month = _month_of(now)
        self._counts = await store.load_monthly_counts(self._month)

    async def flush(self, store: Store, now: float) -> None:
        """Write what has changed. Raises: StoreUnavailableError; then it is written the next time."""
        self._turn(now)
        if not self._unwritten:
            return
        month, taken = self._month, self._unwritten
        self._unwritten = set()  # what is counted from here on, while the write is under way, is for the next one
        try:
            await store.record_monthly_counts(month, {token_id: self._counts[token_id] for token_id in taken})
        except BaseException:
            if self._month == month:
                self._unwritten |= taken
            raise

    def remaining(self, token_id: str, now: float) -> int:
        """Return how often the token may still send this month."""
        self._turn(now)
        return max(0, self.limit - self._counts.get(token_id, 0))

    def add(self, token_id: str, now: float) -> None:
        """Count one."""
        self._turn(now)
        self._counts[token_id] = self._counts.get(token_id, 0) + 1
        self._unwritten.add(token_id)

    def take_back(self, token_id: str, when: float) -> None:
        """Uncount one that was counted at `when`, unless its month is over."""
        if _month_of(when) == self._month and self._counts.get(token_id):
            self._counts[token_id] -= 1
            self._unwritten.add(token_id)

    def reset_at(self, now: float) -> int:
        """Return when the next month begins."""
        today = datetime.fromtimestamp(now, UTC)
        year, month = (today.year + 1, 1) if today.month == 12 else (today.year, today.month + 1)
        return int(datetime(year, month, 1, tzinfo=UTC).timestamp())

    def _turn(self, now: float) -> None:
        if _month_of(now) != self._month:
            self._month = _month_of(now)
            self._counts.clear()
            self._unwritten.clear()


class Quotas:
    """All layers. Counting is in memory, on the event loop, so that no two requests share a last place."""

    def __init__(self, profile: LimitProfile, clock: Clock) -> None:
        self._clock = clock
        self._burst = _window(profile.token_burst, 60)
        self._daily = _window(profile.receiver_daily, 86_400)
        self._address_minute = _window(profile.ip_minute, 60)
        self._address_hour = _window(profile.ip_hour, 3_600)
        self._wrong_tokens = RollingWindow(WRONG_TOKENS_PER_MINUTE, 60)
        self.monthly = MonthlyCounts(UNLIMITED if profile.token_monthly is None else profile.token_monthly)

    def count_stranger(self, address: str) -> None:
        """Count a limited call of this address that came without a valid token. Raises: RateLimitedError."""
        now, network = self._clock.now(), network_of(address)
        for standing in self._address_standings(network, now):
            if standing.remaining == 0:
                raise RateLimitedError(standing, now)
        for window in (self._address_minute, self._address_hour):
            if window is not None:
                window.add(network, now)

    def count_wrong_token(self, address: str) -> None:
        """Count a wrong token. Raises: RateLimitedError from the 21st in a minute on."""
        now, network = self._clock.now(), network_of(address)
        standing = _standing("ip_minute", self._wrong_tokens, network, now)
        if standing.remaining == 0:
            raise RateLimitedError(standing, now)
        self._wrong_tokens.add(network, now)

    def check(self, token: Token) -> None:
        """Refuse a token with nothing left, and count nothing: its body need not be read. Raises: RateLimitedError."""
        now = self._clock.now()
        for standing in self._standings(token, now):
            if standing.remaining == 0:
                raise RateLimitedError(standing, now)

    @contextmanager
    def spend_burst(self, token: Token) -> Iterator[None]:
        """Count a call in the burst layer, unless the block fails. Raises: RateLimitedError."""
        now = self._clock.now()
        if self._burst is None:
            yield
            return
        standing = _standing("token_burst", self._burst, token.id, now)
        if standing.remaining == 0:
            raise RateLimitedError(standing, now)
        self._burst.add(token.id, now)
        try:
            yield
        except BaseException:
            self._burst.take_back(token.id, now)
            raise

    @contextmanager
    def spend_delivery(self, token: Token) -> Iterator["Spending"]:
        """Count something for the devices in the monthly and receiver layers, unless the block fails.

        Raises: RateLimitedError.
        """
        now = self._clock.now()
        for standing in self._delivery_standings(token, now):
            if standing.remaining == 0:
                raise RateLimitedError(standing, now)
        spending = Spending(self, token, now)
        try:
            yield spending
        except BaseException:
            spending.refund()
            raise

    def tightest(self, token: Token) -> Standing | None:
        """Return the standing of the token's layer with the least left. None: nothing is limited."""
        return min(self._standings(token, self._clock.now()), key=lambda standing: standing.remaining, default=None)

    def monthly_standing(self, token: Token) -> Standing:
        """Return how the token stands this month; without a monthly limit that of the layer is very large."""
        now = self._clock.now()
        remaining = self.monthly.remaining(token.id, now)
        return Standing("token_monthly", self.monthly.limit, remaining, self.monthly.reset_at(now))

    def count_delivery(self, token: Token, now: float) -> None:
        """Count in the monthly and receiver layers."""
        self.monthly.add(token.id, now)
        if self._daily is not None:
            self._daily.add(token.owner_id, now)

    def uncount_delivery(self, token: Token, when: float) -> None:
        """Take back what was counted at `when`."""
        self.monthly.take_back(token.id, when)
        if self._daily is not None:
            self._daily.take_back(token.owner_id, when)

    def _address_standings(self, network: str, now: float) -> list[Standing]:
        named: list[tuple[Resource, RollingWindow | None]] = [
            ("ip_minute", self._address_minute),
            ("ip_hour", self._address_hour),
        ]
        return [_standing(resource, window, network, now) for resource, window in named if window is not None]

    def _standings(self, token: Token, now: float) -> list[Standing]:
        burst = [] if self._burst is None else [_standing("token_burst", self._burst, token.id, now)]
        return burst + self._delivery_standings(token, now)

    def _delivery_standings(self, token: Token, now: float) -> list[Standing]:
        standings = []
        if self.monthly.limit != UNLIMITED:
            standings.append(self.monthly_standing(token))
        if self._daily is not None:
            standings.append(_standing("receiver_daily", self._daily, token.owner_id, now))
        return standings


class Spending:
    """One delivery that was counted."""

    def __init__(self, quotas: Quotas, token: Token, when: float) -> None:
        self._quotas = quotas
        self._token = token
        self._when = when
        self._counted = True
        quotas.count_delivery(token, when)

    def refund(self) -> None:
        """Take it back: nothing was delivered after all."""
        if self._counted:
            self._counted = False
            self._quotas.uncount_delivery(self._token, self._when)


def _window(limit: int | None, window_seconds: int) -> RollingWindow | None:
    return None if limit is None else RollingWindow(limit, window_seconds)


def _standing(resource: Resource, window: RollingWindow, key: str, now: float) -> Standing:
    return Standing(resource, window.limit, window.remaining(key, now), window.reset_at(key, now))


def _month_of(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")
