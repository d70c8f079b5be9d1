"""The address of a database: several hosts in one, each of which is tried by itself."""

from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

SCHEMES: Final = ("postgresql", "postgres")
# What libpq would choose a host by: the server looks itself, see `primary.py`.
_CHOOSES_HOST: Final = {"target_session_attrs", "load_balance_hosts"}
_FORM: Final = "the store must look like postgresql://user@host:5432/database"


class DatabaseAddressError(ValueError):
    """It is no address of a PostgreSQL database."""


def split_addresses(address: str) -> list[str]:
    """Return an address for each host in `postgresql://user:password@host:port,host:port/database?sslmode=…`.

    Raises: DatabaseAddressError.
    """
    try:
        parts = urlsplit(address)
        hosts = parts.netloc.rpartition("@")[2].split(",")
        is_usable = all(urlsplit(f"//{host}").port != 0 for host in hosts)
    except ValueError:  # a port that is no number, half an IPv6 address
        raise DatabaseAddressError(_FORM) from None
    if parts.scheme not in SCHEMES or parts.fragment or not is_usable:
        raise DatabaseAddressError(_FORM)
    user, at, _ = parts.netloc.rpartition("@")
    options = [(name, value) for name, value in parse_qsl(parts.query) if name not in _CHOOSES_HOST]
    return [urlunsplit((parts.scheme, f"{user}{at}{host}", parts.path, urlencode(options), "")) for host in hosts]


def without_password(address: str) -> str:
    """Return the address as a log may show it."""
    parts = urlsplit(address)
    user, at, hosts = parts.netloc.rpartition("@")
    return urlunsplit((parts.scheme, f"{user.partition(':')[0]}{at}{hosts}", parts.path, "", ""))
