"""How much a sender may send: rolling windows, monthly counts and the order of the gates. Source: api.md "Limits"."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, Self, cast

import msgspec

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import RATE_LIMIT_EXCEEDED
from reflecto.core.clock import Clock
from reflecto.core.model import Token
from reflecto.core.networks import network_of
from reflecto.core.ports.counting import Counters, CounterStanding, Hit, Window

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


class Quotas:
    """All layers, each counted in `counters`."""

    def __init__(self, profile: LimitProfile, counters: Counters, clock: Clock) -> None:
        self.counters = counters
        self._clock = clock
        self._burst = _window("token_burst", profile.token_burst, 60)
        self._daily = _window("receiver_daily", profile.receiver_daily, 86_400)
        minute, hour = _window("ip_minute", profile.ip_minute, 60), _window("ip_hour", profile.ip_hour, 3_600)
        self._address_windows = [window for window in (minute, hour) if window is not None]
        # Counted without a limit too: Pushover's clients are told how much they sent.
        most = UNLIMITED if profile.token_monthly is None else profile.token_monthly
        self.monthly = Window("token_monthly", most, seconds=0, monthly=True)

    async def count_stranger(self, address: str) -> None:
        """Count a limited call of this address that came without a valid token. Raises: RateLimitedError."""
        network = network_of(address)
        await self.spend([(window, network) for window in self._address_windows], self._clock.now())

    async def count_wrong_token(self, address: str) -> None:
        """Count a wrong token. Raises: RateLimitedError from the 21st in a minute on."""
        await self.spend([(WRONG_TOKENS, network_of(address))], self._clock.now())

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
        hits = [(self.monthly, token.id)]
        if self._daily is not None:
            hits.append((self._daily, token.owner_id))
        return Spending(self, hits, self._clock.now())

    async def tightest(self, token: Token) -> Standing | None:
        """Return the standing of the token's layer with the least left. None: nothing is limited."""
        standings = await self._standings(token, self._clock.now())
        return min(standings, key=lambda standing: standing.remaining, default=None)

    async def monthly_standing(self, token: Token) -> Standing:
        """Return how the token stands this month; without a monthly limit that of the layer is very large."""
        (found,) = await self.counters.standings([(self.monthly, token.id)], self._clock.now())
        return _standing(found)

    async def spend(self, hits: Sequence[Hit], now: float) -> None:
        """Count in all of these layers, or in none. Raises: RateLimitedError."""
        full = await self.counters.hit(hits, now) if hits else None
        if full is not None:
            raise RateLimitedError(_standing(full), now)

    async def _standings(self, token: Token, now: float) -> list[Standing]:
        """Return how all layers of the token stand, in the order in which they refuse."""
        layers: list[Hit] = []
        if self._burst is not None:
            layers.append((self._burst, token.id))
        if self.monthly.limit != UNLIMITED:
            layers.append((self.monthly, token.id))
        if self._daily is not None:
            layers.append((self._daily, token.owner_id))
        return list(map(_standing, await self.counters.standings(layers, now))) if layers else []


class Spending:
    """Something that is counted while a block runs, and taken back should the block fail."""

    __slots__ = ("_counted", "_hits", "_quotas", "_when")

    def __init__(self, quotas: Quotas, hits: Sequence[Hit], when: float) -> None:
        self._quotas = quotas
        self._hits = hits
        self._when = when
        self._counted = False

    async def __aenter__(self) -> Self:
        await self._quotas.spend(self._hits, self._when)
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
        if self._hits:
            await self._quotas.counters.take_back(self._hits, self._when)


def _window(name: Resource, limit: int | None, seconds: int) -> Window | None:
    return None if limit is None else Window(name, limit, seconds)


def _standing(found: CounterStanding) -> Standing:
    resource: Resource = "ip_minute" if found.window is WRONG_TOKENS else cast("Resource", found.window.name)
    return Standing(resource, found.window.limit, found.remaining, int(found.reset_at))
