"""What people and scripts say, and what they identify themselves with, is in no file of the server and in no log line.

Labels of devices and tokens are the exception that the documentation names.
"""

import json
import signal
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reflecto.contract.devices import ANSWER_V2
from reflecto.crypto.answers import answer_message_v2, comment_digest
from reflecto.crypto.encoding import encode_base64
from reflecto.store.sqlite.database import DATABASE_NAME
from tests.e2e.conftest import StartServer
from tests.e2e.full_disks import FileSizeLimit
from tests.e2e.phones import HTTP, WAIT_SECONDS, Phone, ask, bearer, make_codes, read
from tests.e2e.plaintext_search import files_of, find_texts, forms_of
from tests.e2e.server_process import ServerProcess

QUESTION = "Überweisung an Zoë – 4 711 € freigeben? \N{ROCKET}"
CHOICES = ["Ja, überweisen \N{THUMBS UP SIGN}", "Nein, auf keinen Fall", "日本語の選択肢です"]
KEY = "idempotency-key-überweisung"
REFUSED_QUESTION = "Refused for its choices \N{NO ENTRY SIGN}"
UNREADABLE_QUESTION = "Cut short in the middle"
MESSAGE = "Message with a secret: Jürgen’s 40th"
DOCUMENT = "Document with a secret: Größe 42, Zürich"
REMINDER = "Reminder with a secret: Müllabfuhr morgen"
DETAIL = "psql -c 'drop table übungen' # verschlüsselt"
PATH = "src/geheim/Zugänge.py"
SOURCE = "Laptop von Jürgen, ~/Geheimes"
COMMENT = "Nicht vor Freitag, sagt Zoë"
SALT = "0rJ9tB0vTzqYxk3n1m2c4A"
DETAILS = [
    {"kind": "code", "label": PATH, "text": DETAIL},
    {"kind": "fields", "fields": [{"name": "Why", "value": DETAIL}]},
]
ASKED = [QUESTION, *CHOICES, KEY, DETAIL, PATH, SOURCE, COMMENT, SALT, REFUSED_QUESTION, UNREADABLE_QUESTION]
TEXTS = [*ASKED, MESSAGE, DOCUMENT, REMINDER]
DEVICE_LABEL = "Käthes Handy, the documented exception"


def say_everything(server: ServerProcess, phone: Phone, test_token: str) -> None:
    """Use each call that takes text, rightly."""
    fields = {"choices": CHOICES, "idempotency_key": KEY}
    for expected in (201, 200):
        asked = ask(server.url, phone.token, QUESTION, **fields)
        assert asked.status_code == expected
    assert read(server.url, phone.token, asked.json()["id"]).json()["question"] == QUESTION
    assert phone.answer(asked.json()["id"], 2).status_code == 200
    assert phone.answer(asked.json()["id"], 1).status_code == 409
    state = read(server.url, phone.token, asked.json()["id"], wait_seconds=1).json()
    assert state["choice"] == CHOICES[2]
    tested = ask(server.url, test_token, QUESTION, **fields).json()["id"]
    path = f"{server.url}/v1/interactions/{tested}/simulate"
    assert HTTP.post(path, json={"choice": CHOICES[0]}, headers=bearer(test_token)).json()["choice"] == CHOICES[0]
    left_pending = ask(server.url, phone.token, QUESTION + QUESTION, choices=CHOICES)
    assert left_pending.status_code == 201
    say_all_that_a_question_takes(server, phone)
    for sending, body in (
        ("send", {"message": MESSAGE, "title": MESSAGE}),
        (f"send/{phone.token}", {"message": MESSAGE}),
        ("messages.json", {"token": phone.token, "user": phone.device_token, "message": MESSAGE}),
        ("documents", {"filename": "notes.txt", "content": DOCUMENT, "title": DOCUMENT}),
        ("ring", {"message": MESSAGE}),
        ("reminders", {"message": REMINDER, "at": "2027-06-01T08:00:00+02:00", "title": REMINDER}),
    ):
        reply = HTTP.post(f"{server.url}/v1/{sending}", json=body, headers=bearer(phone.token))
        assert reply.status_code in {200, 201}, (sending, reply.text)


def say_all_that_a_question_takes(server: ServerProcess, phone: Phone) -> None:
    """Ask with details, source and a number, and answer with a word; wrongly too."""
    given = {"details": DETAILS, "source": {"host": SOURCE}, "danger": "high", "confirm": "number"}
    asked = ask(server.url, phone.token, QUESTION, choices=CHOICES, comment="optional", **given).json()
    digest, path = read(server.url, phone.token, asked["id"]).json()["digest"], f"/v1/interactions/{asked['id']}/answer"
    right, comment = asked["confirm_number"], {"text": COMMENT, "salt": SALT}
    sha256 = comment_digest(COMMENT, SALT)
    for number, status in ((f"{(int(right) + 1) % 100:02d}", 403), (right, 200)):
        signed = answer_message_v2(asked["id"], digest, 0, 1_754_800_000, number=number, comment_sha256=sha256)
        signature = encode_base64(phone.keys.signing.sign(signed).signature)
        tap = {"choice_index": 0, "answered_at": 1_754_800_000, "v": 2, "signature": signature}
        assert phone.call("POST", path, tap | {"number": number, "comment": comment}).status_code == status
    assert read(server.url, phone.token, asked["id"]).json()["comment"] == {"text": COMMENT}


def say_it_wrongly(server: ServerProcess, secrets: list[str]) -> None:
    """Put texts and tokens where they do not belong, and make each kind of error."""
    for secret in secrets:
        headers = {b"Authorization": b"Bearer " + secret.encode(), b"Cookie": secret.encode()}
        for path in (f"/{secret}", f"/v1/send/{secret}/x", f"/v1/interactions/{secret}", f"/v1/sync?after={secret}"):
            assert HTTP.get(server.url + path).status_code in {401, 404, 405, 429}
        assert HTTP.get(f"{server.url}/v1/interactions/int_{'0' * 32}?wait={secret}").status_code in {401, 429}
        assert HTTP.get(f"{server.url}/healthz", headers=headers).status_code == 200
        assert HTTP.put(f"{server.url}/v1/{secret}", headers=headers).status_code == 404
        assert HTTP.post(f"{server.url}/v1/enroll", content=secret).status_code == 400
        assert HTTP.post(f"{server.url}/v1/enroll", json={"code": secret, secret: secret}).status_code in {400, 403}
        say_in_bare_bytes(server, secret.encode() + b" /" + secret.encode() + b"\r\n" + secret.encode() + b"\r\n\r\n")


def refuse_texts(server: ServerProcess, token: str, phone: Phone) -> None:
    """Have texts refused, each for another reason."""
    for body, status in (
        ({"question": REFUSED_QUESTION, "choices": [CHOICES[0], CHOICES[0]]}, 400),
        ({"question": REFUSED_QUESTION, "expires_in": REFUSED_QUESTION}, 400),
        ({"question": [REFUSED_QUESTION], "choices": {QUESTION: QUESTION}}, 400),
        ({"question": REFUSED_QUESTION * 100}, 400),
        ({"question": REFUSED_QUESTION * 15_000}, 413),
        ({"question": REFUSED_QUESTION, "details": DETAILS * 13}, 400),
        ({"question": REFUSED_QUESTION, "details": [{"kind": DETAIL, "text": DETAIL}]}, 400),
        ({"question": REFUSED_QUESTION, "source": {"app": SOURCE * 10, "host": SOURCE}}, 400),
        ({"question": REFUSED_QUESTION, "danger": SOURCE, "comment": COMMENT}, 400),
    ):
        reply = HTTP.post(f"{server.url}/v1/interactions", json=body, headers=bearer(token))
        assert reply.status_code == status, reply.text
    half = json.dumps({"question": UNREADABLE_QUESTION}).encode()[:-1]
    for content in (half, half + b"\xff}", half + b', "question": "twice"}', b'"\\ud800' + half):
        assert HTTP.post(f"{server.url}/v1/interactions", content=content, headers=bearer(token)).status_code == 400
    form = {"message": MESSAGE, "actions": MESSAGE}
    assert (
        HTTP.post(f"{server.url}/v1/send", data=form, headers={"Authorization": f"Bearer {token}"}).status_code == 400
    )
    answer = {"choice_index": QUESTION, "answered_at": QUESTION, "signature": QUESTION}
    for more in ({}, {"v": 2, "number": QUESTION, "comment": {"text": COMMENT, "salt": COMMENT}}, {"comment": COMMENT}):
        assert phone.call("POST", f"/v1/interactions/int_{'1' * 32}/answer", answer | more).status_code == 400
    head = f"POST /v1/interactions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 9999\r\n\r\n"
    say_in_bare_bytes(server, head.encode() + half)


def break_inside(server: ServerProcess, phone: Phone) -> None:
    """Make the server fail in the middle of a request, which it logs with a traceback."""
    asked = ask(server.url, phone.token, QUESTION + MESSAGE, choices=CHOICES).json()["id"]
    with closing(sqlite3.connect(server.data / DATABASE_NAME)) as store, store:
        store.execute("UPDATE interactions SET sealed = zeroblob(100) WHERE id = ?", (asked,))
    broken = read(server.url, phone.token, asked)
    assert (broken.status_code, broken.json()["error"]["code"]) == (500, "internal_error")
    assert "Traceback" not in broken.text


def say_in_bare_bytes(server: ServerProcess, content: bytes) -> None:
    """Send bytes that no client would, and leave."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_SECONDS) as client:
        client.sendall(content)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_file_and_no_log_line_holds_what_was_said_or_a_secret(
    how: signal.Signals, start_server: StartServer, data: Path
):
    server = start_server("--log-level", "debug")
    code, (unused_code,) = server.ready["code"], make_codes(data, 1)
    phone = Phone.enrol(server.url, code, DEVICE_LABEL)
    assert phone.call("PATCH", "/v1/devices/self", {"features": [ANSWER_V2]}).status_code == 200
    test_token = phone.create_token("CI", test=True)["token"]
    revoked = phone.create_token("Revoked")
    assert phone.call("DELETE", f"/v1/tokens/{revoked['id']}").status_code == 204
    secrets = [phone.token, phone.device_token, test_token, revoked["token"], code, unused_code, code.replace("-", "")]

    say_everything(server, phone, test_token)
    refuse_texts(server, phone.token, phone)
    say_it_wrongly(server, [*secrets, QUESTION])
    break_inside(server, phone)
    disk = FileSizeLimit()
    disk.fill(server)
    assert ask(server.url, phone.token, REFUSED_QUESTION, choices=CHOICES).status_code == 503
    disk.free(server)
    assert ask(server.url, phone.token, "One more?", choices=CHOICES).status_code == 201
    running = files_of(data)
    server.stop(how)
    stopped = files_of(data)

    assert {"reflecto.sqlite3", "reflecto.sqlite3-wal", "reflecto.sqlite3-shm", "server.key"} <= dict(running).keys()
    assert "store unavailable" in server.log
    assert "Traceback" in server.log
    wanted = [*TEXTS, *secrets, *(token.rpartition("_")[2] for token in secrets if token.startswith("rf"))]
    assert find_texts(wanted, [*running, *stopped, ("log", server.log.encode())]) == []
    # The search does find what is there.
    assert {name for _, name in find_texts([DEVICE_LABEL], stopped)} & {"reflecto.sqlite3", "reflecto.sqlite3-wal"}


def test_the_search_finds_each_form():
    for number, form in enumerate(sorted(forms_of(QUESTION))):
        place = (str(number), b"...." + form + b"....")
        assert find_texts([QUESTION], [place]) == [(QUESTION, str(number))]
    assert find_texts([QUESTION], [("another", b"Something else")]) == []
