"""The address of a database: what may stand in it, and what of it is shown."""

import subprocess
import sys

import pytest

from reflecto.backing import open_postgres
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store.postgres import primary
from reflecto.store.postgres.addresses import DatabaseAddressError, split_addresses, without_password


def test_each_host_is_an_address_of_its_own_with_everything_else_kept():
    address = "postgresql://me:pa%40ss@db1:5433,[::1],db3/reflecto?sslmode=verify-full&target_session_attrs=primary"
    assert split_addresses(address) == [
        "postgresql://me:pa%40ss@db1:5433/reflecto?sslmode=verify-full",
        "postgresql://me:pa%40ss@[::1]/reflecto?sslmode=verify-full",
        "postgresql://me:pa%40ss@db3/reflecto?sslmode=verify-full",
    ]


def test_a_password_is_not_shown_wherever_it_stands():
    shown = without_password("postgresql://me:secret@db1,db2:5433/reflecto?password=secret")
    assert shown == "postgresql://me@db1,db2:5433/reflecto"


@pytest.mark.parametrize(
    "address",
    [
        "mysql://me:secret@db/reflecto",
        "postgresql://me:secret@db:port/reflecto",
        "postgresql://me:secret@db:99999/reflecto",
        "postgresql://me:secret@db1,db2:0/reflecto",
        "postgresql://me:secret@[::1/reflecto",
        "postgresql://me:secret@db/reflecto#part",
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(address: str):
    with pytest.raises(DatabaseAddressError) as refused:
        split_addresses(address)
    assert "secret" not in str(refused.value)


async def test_a_database_that_is_away_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(primary, "FIRST_SECONDS", 0)
    with pytest.raises(StoreUnavailableError, match=r"^postgresql://me@127\.0\.0\.1:1/reflecto: ") as away:
        await open_postgres("postgresql://me:secret@127.0.0.1:1/reflecto")
    assert "secret" not in str(away.value)


def test_a_server_on_sqlite_does_not_load_the_driver():
    looked = "import sys, reflecto.server; print('asyncpg' in sys.modules, 'reflecto.store.postgres' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True, check=True)
    assert ran.stdout == "False False\n"
