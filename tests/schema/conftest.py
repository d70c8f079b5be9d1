"""Databases for tests of the schema."""

from collections.abc import Iterator

import pytest

from tests.postgres import Cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One PostgreSQL server for all of them."""
    made = Cluster.create()
    yield made
    made.remove()


@pytest.fixture
async def address(cluster: Cluster) -> str:
    """An empty database."""
    return await cluster.create_database()
