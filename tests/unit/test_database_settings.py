"""Which settings of a database may lose what was accepted."""

from typing import Any

import pytest

from reflecto.contract.store_concerns import CONCERNS
from reflecto.store.postgres.durability import Settings, judge_settings

GOOD = Settings(
    version=160_004,
    fsync="on",
    full_page_writes="on",
    synchronous_commit="on",
    standbys="ANY 1 (b, c)",
    connections=97,
    processes=2,
)


def test_a_database_with_a_synchronous_standby_has_nothing_against_it():
    assert judge_settings(GOOD) == ()


@pytest.mark.parametrize(
    ("changed", "concern"),
    [
        ({"fsync": "off"}, "fsync_off"),
        ({"full_page_writes": "off"}, "full_page_writes_off"),
        ({"synchronous_commit": "off"}, "synchronous_commit_off"),
        ({"synchronous_commit": "local"}, "standby_not_waited_for"),
        ({"standbys": ""}, "no_synchronous_standby"),
        ({"version": 130_015}, "old_postgresql"),
        ({"connections": 11}, "few_connections"),
    ],
)
def test_each_setting_that_may_lose_something_is_told_in_plain_words(changed: dict[str, Any], concern: str):
    assert judge_settings(GOOD._replace(**changed)) == (concern,)
    assert CONCERNS[concern].message
    assert CONCERNS[concern].advice


def test_connections_are_enough_when_one_more_process_finds_its_four():
    assert judge_settings(GOOD._replace(connections=12)) == ()
