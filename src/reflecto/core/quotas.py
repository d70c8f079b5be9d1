"""How much a sender may send: rolling windows, monthly counts and the order of the gates. Source: api.md "Limits"."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, Self, cast

import msgspec

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import RATE_LIMIT_EXCEEDED
from reflecto.core.clock import Clock
from reflecto.core.model import Token
from reflecto.core.networks import network_of
from reflecto.core.ports.counting import Counters, CounterStanding, Hit, Window
from reflecto.core.ports.store import Store

Resource = Literal["token_burst", "token_monthly", "receiver_daily", "ip_minute", "ip_hour"]

WRONG_TOKENS: Final = Window("wrong_tokens", 20, seconds=60)  # per address, in every profile
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


class Standing(msgspec.Struct, frozen=True):
    """How one layer stands: `reset_at` is when it next frees something, in Unix seconds."""

    resource: Resource
    limit: int
    remaining: int
    reset_at: int


class RateLimitedError(ApiError):
    """`rate_limit_exceeded` (429), with the standing of the layer that refused."""

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
        """Read this month's counts from the store, at the start. Raises: StoreUnavailableError."""
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
        """Return how many messages the token may still send this month, 0 or more."""
        self._turn(now)
        return max(0, self.limit - self._counts.get(token_id, 0))

    def add(self, token_id: str, now: float) -> None:
        """Count one message of the token."""
        self._turn(now)
        self._counts[token_id] = self._counts.get(token_id, 0) + 1
        self._unwritten.add(token_id)

    def take_back(self, token_id: str, when: float) -> None:
        """Uncount one that was counted at `when`, unless its month is over."""
        if _month_of(when) == self._month and self._counts.get(token_id):
            self._counts[token_id] -= 1
            self._unwritten.add(token_id)

    def reset_at(self, now: float) -> int:
        """Return when the next month (UTC) begins, in Unix seconds."""
        today = datetime.fromtimestamp(now, UTC)
        year, month = (today.year + 1, 1) if today.month == 12 else (today.year, today.month + 1)
        return int(datetime(year, month, 1, tzinfo=UTC).timestamp())

    def _turn(self, now: float) -> None:
        if _month_of(now) != self._month:
            self._month = _month_of(now)
            self._counts.clear()
            self._unwritten.clear()


class Quotas:
    """All layers, each counted in `counters` but the monthly one, which outlives a restart."""

    def __init__(self, profile: LimitProfile, counters: Counters, clock: Clock) -> None:
        self.counters = counters
        self._clock = clock
        self._burst = _window("token_burst", profile.token_burst, 60)
        self._daily = _window("receiver_daily", profile.receiver_daily, 86_400)
        minute, hour = _window("ip_minute", profile.ip_minute, 60), _window("ip_hour", profile.ip_hour, 3_600)
        self._address_windows = [window for window in (minute, hour) if window is not None]
        self.monthly = MonthlyCounts(UNLIMITED if profile.token_monthly is None else profile.token_monthly)

    async def count_stranger(self, address: str) -> None:
        """Count a limited call of this address that came without a valid token. Raises: RateLimitedError."""
        network = network_of(address)
        await self._hit([(window, network) for window in self._address_windows], self._clock.now())

    async def count_wrong_token(self, address: str) -> None:
        """Count a wrong token. Raises: RateLimitedError from the 21st in a minute on."""
        await self._hit([(WRONG_TOKENS, network_of(address))], self._clock.now())

    async def check(self, token: Token) -> None:
        """Refuse a token with nothing left, and count nothing: its body need not be read. Raises: RateLimitedError."""
        now = self._clock.now()
        for standing in await self._standings(token, now):
            if standing.remaining == 0:
                raise RateLimitedError(standing, now)

    def spend_burst(self, token: Token) -> "Spending":
        """Count a call in the burst layer, unless the block fails. Entering raises: RateLimitedError."""
        hits = [] if self._burst is None else [(self._burst, token.id)]
        return Spending(self, hits, self._clock.now())

    def spend_delivery(self, token: Token) -> "Spending":
        """Count something for the devices in the monthly and receiver layers, unless the block fails.

        Entering raises: RateLimitedError.
        """
        hits = [] if self._daily is None else [(self._daily, token.owner_id)]
        return Spending(self, hits, self._clock.now(), monthly=token)

    async def tightest(self, token: Token) -> Standing | None:
        """Return the standing of the token's layer with the least left. None: nothing is limited."""
        standings = await self._standings(token, self._clock.now())
        return min(standings, key=lambda standing: standing.remaining, default=None)

    def monthly_standing(self, token: Token, now: float | None = None) -> Standing:
        """Return how the token stands this month; without a monthly limit that of the layer is very large."""
        now = self._clock.now() if now is None else now
        remaining = self.monthly.remaining(token.id, now)
        return Standing("token_monthly", self.monthly.limit, remaining, self.monthly.reset_at(now))

    async def spend(self, hits: Sequence[Hit], monthly: Token | None, now: float) -> None:
        """Count in all of these layers, or in none. Raises: RateLimitedError."""
        if monthly is None:
            await self._hit(hits, now)
            return
        if self.monthly.limit != UNLIMITED and not self.monthly.remaining(monthly.id, now):
            raise RateLimitedError(self.monthly_standing(monthly, now), now)
        self.monthly.add(monthly.id, now)  # before anything is waited for: nobody else may get the same last place
        try:
            await self._hit(hits, now)
        except BaseException:
            self.monthly.take_back(monthly.id, now)
            raise

    async def _hit(self, hits: Sequence[Hit], now: float) -> None:
        full = await self.counters.hit(hits, now) if hits else None
        if full is not None:
            raise RateLimitedError(_standing(full), now)

    async def _standings(self, token: Token, now: float) -> list[Standing]:
        """Return how all layers of the token stand, in the order in which they refuse."""
        standings = []
        if self._burst is not None:
            standings.append(_standing(await self.counters.standing((self._burst, token.id), now)))
        if self.monthly.limit != UNLIMITED:
            standings.append(self.monthly_standing(token, now))
        if self._daily is not None:
            standings.append(_standing(await self.counters.standing((self._daily, token.owner_id), now)))
        return standings


class Spending:
    """Something that is counted while a block runs, and taken back should the block fail."""

    __slots__ = ("_counted", "_hits", "_monthly", "_quotas", "_when")

    def __init__(self, quotas: Quotas, hits: Sequence[Hit], when: float, monthly: Token | None = None) -> None:
        self._quotas = quotas
        self._hits = hits
        self._when = when
        self._monthly = monthly
        self._counted = False

    async def __aenter__(self) -> Self:
        await self._quotas.spend(self._hits, self._monthly, self._when)
        self._counted = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            await self.refund()

    async def refund(self) -> None:
        """Uncount what was counted, once, where the request stored nothing."""
        if not self._counted:
            return
        self._counted = False
        if self._monthly is not None:
            self._quotas.monthly.take_back(self._monthly.id, self._when)
        if self._hits:
            await self._quotas.counters.take_back(self._hits, self._when)


def _window(name: Resource, limit: int | None, seconds: int) -> Window | None:
    return None if limit is None else Window(name, limit, seconds)


def _standing(found: CounterStanding) -> Standing:
    resource: Resource = "ip_minute" if found.window is WRONG_TOKENS else cast("Resource", found.window.name)
    return Standing(resource, found.window.limit, found.remaining, int(found.reset_at))


def _month_of(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m")
