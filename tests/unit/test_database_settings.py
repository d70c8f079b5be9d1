"""Which settings of a database may lose what was accepted."""

import logging
from pathlib import Path
from typing import Any

import pytest

from reflecto.bootstrap import open_services, open_store
from reflecto.config import Settings as ServerSettings
from reflecto.contract.store_concerns import CONCERNS
from reflecto.store.postgres.durability import Settings, judge_settings
from tests.databases import Databases

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


async def test_a_server_warns_of_its_database_at_the_start_and_a_command_beside_it_does_not(
    tmp_path: Path, databases: Databases, caplog: pytest.LogCaptureFixture
):
    settings = ServerSettings(data=tmp_path, store=await databases.of(tmp_path))
    caplog.set_level(logging.WARNING)
    services = await open_services(settings, serves_at="http://127.0.0.1:8787")
    await services.store.close()
    assert CONCERNS["fsync_off"].message in caplog.text  # as the tests' databases are
    caplog.clear()
    store = await open_store(settings, is_server=False)
    await store.close()
    assert caplog.text == ""
    databases.give_back(tmp_path)
