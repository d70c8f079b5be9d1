"""What of a database's settings may lose what was accepted, or stop the server: for its log and `reflecto doctor`."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class StoreConcern:
    """`code` is stable. `message` says what is so and what may come of it, `advice` what to do."""

    code: str
    message: str
    advice: str


CONCERNS: Final[dict[str, StoreConcern]] = {
    each.code: each
    for each in (
        StoreConcern(
            "fsync_off",
            "fsync is off: if the database's machine stops without warning, the whole database may be damaged",
            "set fsync = on",
        ),
        StoreConcern(
            "full_page_writes_off",
            "full_page_writes is off: if the database's machine stops without warning, the database may be damaged",
            "set full_page_writes = on",
        ),
        StoreConcern(
            "synchronous_commit_off",
            "synchronous_commit is off: what the server has accepted last may be lost when the database stops",
            "set synchronous_commit = on, for the server's role and database too",
        ),
        StoreConcern(
            "standby_not_waited_for",
            "synchronous_commit is local: commits do not wait for the standby, so what was accepted last may be lost "
            "with the database's machine",
            "set synchronous_commit = on, for the server's role and database too",
        ),
        StoreConcern(
            "no_synchronous_standby",
            "no standby is waited for: if the database's machine is lost, so is what was accepted last",
            "name a standby in synchronous_standby_names; with a single machine and backups, this is as it must be",
        ),
        StoreConcern(
            "old_postgresql",
            "PostgreSQL is older than 14, for which the server is not made",
            "upgrade PostgreSQL",
        ),
        StoreConcern(
            "few_connections",
            "the database allows too few connections for one more process of the server, which needs four",
            "raise max_connections",
        ),
    )
}
