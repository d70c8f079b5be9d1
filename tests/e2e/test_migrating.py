"""`reflecto migrate`: a server goes from SQLite to PostgreSQL and back, and who is paired with it notices nothing."""

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reflecto.config import Settings
from reflecto.core.ports.store import StoreUnavailableError
from reflecto.store_move import MoveError, move
from tests.databases import Databases
from tests.e2e.conftest import StartServer
from tests.e2e.phones import HTTP, Phone, ask, bearer, read
from tests.e2e.server_process import run_reflecto
from tests.push.subscriber import Subscriber

NEAR = {"REFLECTO_PUSH_ALLOW_PRIVATE": "true"}  # nobody listens where pushes go
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no binaries of PostgreSQL for it")


@pytest.fixture
def database(databases: Databases, tmp_path: Path) -> str:
    """An empty database."""
    return asyncio.run(databases.of(tmp_path))


@dataclass
class Before:
    """What a server was left with: questions, and how far the phone had read."""

    pending: str
    answered: dict[str, Any]
    token: str
    sent: dict[str, Any]
    reminder: str
    seen: int


def leave(phone: Phone, label: str) -> Before:
    """Let the phone and a program of its owner, with a token of this name, do a bit of everything."""
    token = phone.create_token(label)["token"]
    pending = ask(phone.url, token, "Deploy?", expires_in=3600).json()["id"]
    answered = ask(phone.url, phone.token, "Merge?").json()["id"]
    assert phone.answer(answered, 0).status_code == 200
    at = read(phone.url, token, pending).json()["expires_at"]  # in an hour
    body = {"message": "Tea", "at": at}
    reminded = HTTP.post(f"{phone.url}/v1/reminders", headers=bearer(phone.token), json=body)
    assert reminded.status_code == 201, reminded.text
    reminder = reminded.json()["reminder_id"]
    state = Subscriber("https://127.0.0.1:9/a").state()
    assert phone.call("PATCH", "/v1/devices/self", {"push": state}).status_code == 200
    entries = phone.read_until("interaction", pending)
    phone.ack(entries[0][0])
    sent = send_once(phone, token)
    return Before(pending, read(phone.url, phone.token, answered).json(), token, sent, reminder, entries[-1][0])


def send_once(phone: Phone, token: str) -> dict[str, Any]:
    """Send a message under an Idempotency-Key of this token and return the reply."""
    headers = bearer(token) | {"Idempotency-Key": "once"}
    reply = HTTP.post(f"{phone.url}/v1/send", headers=headers, json={"message": "Done"})
    assert reply.status_code in {200, 202}, reply.text
    sent: dict[str, Any] = reply.json()
    return sent


def check_all_goes_on(phone: Phone, before: Before, *, choice: int) -> None:
    """Hold a server against what the one before it was left with."""
    assert read(phone.url, phone.token, before.answered["id"]).json() == before.answered
    assert phone.call("GET", "/v1/devices").json()["devices"][0]["device_id"] == phone.device_id
    assert send_once(phone, before.token)["id"] == before.sent["id"]
    reminders = HTTP.get(f"{phone.url}/v1/reminders", headers=bearer(phone.token)).json()["reminders"]
    assert before.reminder in [each["reminder_id"] for each in reminders]
    waiting = [(seq, entry["id"]) for seq, entry in phone.read_until("interaction", before.pending)]
    assert waiting[-1][1] == before.pending
    assert phone.answer(before.pending, choice).status_code == 200
    assert read(phone.url, before.token, before.pending).json()["choice_index"] == choice
    asked = ask(phone.url, before.token, "And now?").json()["id"]
    resumed = phone.read_until("interaction", asked, after=before.seen)  # opened with the keys of the first server
    assert all(seq > before.seen for seq, _ in resumed)


def migrate(source: object, target: object, *options: object) -> dict[str, int]:
    """Run the command and return how many rows it says it moved."""
    ran = run_reflecto("migrate", "--from", str(source), "--to", str(target), "--json", *map(str, options))
    assert ran.returncode == 0, ran.stderr  # which has warnings: databases of tests survive no power cut
    rows: dict[str, int] = json.loads(ran.stdout)["rows"]
    return rows


def refused(source: object, target: object, keys_in: Path) -> str:
    """Move what must not move, and return what is said of it."""
    with pytest.raises((MoveError, StoreUnavailableError)) as caught:
        asyncio.run(move(str(source), str(target), Settings(data=keys_in)))
    return str(caught.value)


def test_a_server_goes_to_postgresql_and_back_and_phones_notice_nothing(
    data: Path, database: str, start_server: StartServer, tmp_path: Path
):
    server = start_server(env=NEAR)
    phone = Phone.enrol(server.url, server.ready["code"])
    before = leave(phone, "CI")
    assert "a server is running" in refused(data, database, data)
    assert server.stop() == 0
    rows = migrate(data, database)
    assert (rows["owners"], rows["devices"], rows["interactions"], rows["push_subscriptions"]) == (1, 1, 2, 1)

    on_postgres = start_server("--store", database, env=NEAR)
    phone.url = on_postgres.url
    check_all_goes_on(phone, before, choice=1)
    before = leave(phone, "CI on PostgreSQL")
    assert "a server is running" in refused(database, tmp_path / "back", data)
    assert on_postgres.stop() == 0
    assert "has a server already" in refused(database, data, data)
    assert "has a server already" in refused(data, database, data)
    migrate(database, tmp_path / "back", "--data", data)

    phone.url = start_server(folder=tmp_path / "back", env=NEAR).url
    check_all_goes_on(phone, before, choice=0)
