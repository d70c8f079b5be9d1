"""Who counts as one guesser, and what counting costs."""

from typing import cast

import pytest

from reflecto.contract.api_error import ApiError
from reflecto.contract.errors import RATE_LIMIT_EXCEEDED
from reflecto.core.failed_attempts import FailedAttempts
from reflecto.core.networks import network_of
from reflecto.core.ports.store import Store
from reflecto.core.rules.windows import QUIET_KEYS_MAX
from reflecto.store.memory.counters import MemoryCounters
from tests.builders import NOW


@pytest.fixture
def counters() -> MemoryCounters:
    return MemoryCounters(cast("Store", None))  # wrong guesses are no matter of a store


async def guesses_left(limiter: FailedAttempts, address: str, now: float = NOW) -> int:
    """Use up the address's guesses and return how many they were."""
    for passed in range(10):
        try:
            await limiter.attempt(address, now)
        except ApiError:
            return passed
    pytest.fail("never refused")


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:0DB8:0001:0002::1", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
        ("", ""),
    ],
)
def test_one_client_is_an_ipv4_address_or_an_ipv6_64(address: str, network: str):
    assert network_of(address) == network


async def test_addresses_of_one_64_share_their_guesses_and_other_64s_do_not(counters: MemoryCounters):
    limiter = FailedAttempts(counters, "guesses")
    for last in range(5):
        await limiter.attempt(f"2001:db8::{last:x}", NOW)
    assert await guesses_left(limiter, "2001:db8::ffff:ffff:ffff:ffff") == 0
    assert await guesses_left(limiter, "2001:db8:0:1::1") == 5


async def test_an_ipv4_address_and_its_mapped_form_are_one(counters: MemoryCounters):
    limiter = FailedAttempts(counters, "guesses")
    for _ in range(5):
        await limiter.attempt("192.0.2.1", NOW)
    assert await guesses_left(limiter, "::ffff:192.0.2.1") == 0


async def test_the_wait_is_told_to_the_second_and_ends_with_it(counters: MemoryCounters):
    limiter = FailedAttempts(counters, "guesses")
    for _ in range(5):
        await limiter.attempt("192.0.2.1", NOW)
    for now, seconds in ((NOW, 60), (NOW + 0.5, 60), (NOW + 1, 59), (NOW + 59, 1), (NOW + 59.999, 1)):
        with pytest.raises(ApiError) as refused:
            await limiter.attempt("192.0.2.1", now)
        assert (refused.value.spec, refused.value.retry_after_seconds) == (RATE_LIMIT_EXCEEDED, seconds)
    await limiter.attempt("192.0.2.1", NOW + 60)


async def test_forgiving_an_unknown_address_is_nothing(counters: MemoryCounters):
    await FailedAttempts(counters, "guesses").forgive("192.0.2.1")


async def test_memory_is_bounded_and_the_longest_quiet_are_forgotten_first(counters: MemoryCounters):
    limiter = FailedAttempts(counters, "guesses")
    for _ in range(5):
        await limiter.attempt("192.0.2.1", NOW)
    for number in range(QUIET_KEYS_MAX - 1):
        await limiter.attempt(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", NOW)
    assert await guesses_left(limiter, "192.0.2.1") == 0
    await limiter.attempt("198.51.100.1", NOW)
    assert await guesses_left(limiter, "192.0.2.1") == 5


async def test_an_address_does_not_wait_longer_because_the_clock_was_put_back(counters: MemoryCounters):
    limiter = FailedAttempts(counters, "guesses")
    assert await guesses_left(limiter, "192.0.2.1", NOW + 3_600) == 5
    assert await guesses_left(limiter, "192.0.2.1", NOW) == 5
