"""A small real server of the asker's API on loopback, for what a good server never does: losing replies, lying, dying.

It stands in for the network's and the server's failures only; tests/e2e asks the real one.
"""

import http.server
import json
import re
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from reflecto.contract.question_states import SIGNED_FIELDS
from reflecto.crypto.answers import question_digest

TOKEN = "rfk_live_" + "a" * 32
OPENED_AT = 1_800_000_000  # the server's clock when a question is stored; no relation to the client's
HOLD_MAX_SECONDS = 20


@dataclass(frozen=True)
class Reply:
    """What goes over the wire; `lost` closes the connection instead."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    lost: bool = False

    @classmethod
    def json(cls, status: int, fields: object, headers: dict[str, str] | None = None) -> "Reply":
        return cls(status, json.dumps(fields).encode(), {"Content-Type": "application/json"} | (headers or {}))

    @classmethod
    def error(cls, status: int, code: str, headers: dict[str, str] | None = None, /, **details: object) -> "Reply":
        return cls.json(status, {"error": {"code": code, "message": f"about {code}", "details": details}}, headers)


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Fault = Callable[[Callable[[], Reply]], Reply]  # is given the way to handle the request


def lost_after_handling(handle: Callable[[], Reply]) -> Reply:
    return Reply(handle().status, b"", lost=True)


def lost_before_handling(_handle: Callable[[], Reply]) -> Reply:
    return Reply(0, b"", lost=True)


def replying(reply: Reply) -> Fault:
    return lambda _handle: reply


def rewriting(change: Callable[[dict[str, Any]], object]) -> Fault:
    """Handle the request, then let `change` edit the fields of the reply."""

    def fault(handle: Callable[[], Reply]) -> Reply:
        honest = handle()
        fields = json.loads(honest.body)
        change(fields)
        return Reply.json(honest.status, fields, honest.headers)

    return fault


class AskerServer:
    """Its own questions, and a queue of faults for the next requests of each method."""

    def __init__(self) -> None:
        self.token = TOKEN
        self.received: list[Received] = []
        self.prompts: list[dict[str, Any]] = []
        self.faults: dict[str, deque[Fault]] = {"POST": deque(), "GET": deque(), "DELETE": deque()}
        self.on_poll: Callable[[int], object] = lambda _count: None
        self.polls = 0
        self.holds_polls = False
        self.clock_offset_seconds: float | None = 0  # of its Date header; None leaves the header out
        self.confirm_number = "07"
        self.given: dict[str, dict[str, Any]] = {}  # by question: what it has beside the contract's four fields
        self._states: dict[str, dict[str, Any]] = {}
        self._by_key: dict[str, str] = {}
        self._changed = threading.Condition()
        self._connections: set[socket.socket] = set()
        self._http: http.server.ThreadingHTTPServer | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def running(self) -> bool:
        return self._http is not None

    def start(self) -> None:
        handler = type("Handler", (_Handler,), {"asker": self})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", self._port), handler)
        server.daemon_threads, server.block_on_close = True, False
        self._port = server.server_address[1]
        self._http = server
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        server, self._http = self._http, None
        if server is None:
            return
        server.shutdown()
        server.server_close()
        with self._changed:
            self._changed.notify_all()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def answer(self, index: int = 0, state: dict[str, Any] | None = None, **fields: object) -> None:
        """Tap a choice of a question, by default of the latest."""
        state = state or self.latest
        label = state["choices"][index]
        taps = {"status": "answered", "choice": label, "choice_index": index, "answered_at": OPENED_AT + 5}
        self.end(state, **(taps | {"answered_by": {"device_id": "dev_1", "label": "Pixel"}} | fields))

    def end(self, state: dict[str, Any] | None = None, **fields: object) -> None:
        with self._changed:
            (state or self.latest).update(fields)
            self._changed.notify_all()

    @property
    def pending(self) -> list[dict[str, Any]]:
        return [state for state in self._states.values() if state["status"] == "pending"]

    @property
    def latest(self) -> dict[str, Any]:
        return list(self._states.values())[-1]

    def wait_until_polled(self, times: int = 1) -> None:
        """Return once a poll is being held back. Fails after 20 s."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.polls >= times, HOLD_MAX_SECONDS)

    def reply_to(self, request: Received) -> Reply:
        self.received.append(request)
        faults = self.faults[request.method]
        fault = faults.popleft() if faults else None
        return fault(lambda: self._handle(request)) if fault else self._handle(request)

    def _handle(self, request: Received) -> Reply:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return Reply.json(401, {"error": "invalid_token"})
        if request.method == "POST" and request.path.endswith("/simulate"):
            return self._simulate(request.path.split("/")[3], request.json["choice"])
        if request.method == "POST":
            return self._create(request.json)
        question_id, _, query = request.path.removeprefix("/v1/interactions/").partition("?")
        if question_id not in self._states:
            return Reply.error(404, "not_found")
        return self._poll(question_id, query) if request.method == "GET" else self._cancel(question_id)

    def _create(self, fields: dict[str, Any]) -> Reply:
        if not fields["question"].strip():
            return Reply.error(400, "invalid_question")
        if not fields["idempotency_key"]:
            return Reply.error(400, "invalid_idempotency_key")
        known = self._by_key.get(fields["idempotency_key"])
        given: dict[str, Any] = {name: fields[name] for name in SIGNED_FIELDS if name in fields}
        number = {"confirm_number": self.confirm_number} if given.get("confirm") == "number" else {}
        if known:
            state = self._states[known]
            headers = {"Idempotent-Replayed": "true"}
            if (fields["question"], fields["choices"], given) != (
                state["question"],
                state["choices"],
                self.given[known],
            ):
                headers["Idempotency-Mismatch"] = "true"
            return Reply.json(200, {"id": known, "expires_at": state["expires_at"]} | number, headers)
        question_id = f"int_{len(self._states):032x}"
        self._by_key[fields["idempotency_key"]] = question_id
        empty = dict.fromkeys(("choice", "choice_index", "answered_at", "answered_by", "receipt"))
        times = {"created_at": OPENED_AT, "expires_at": OPENED_AT + fields["expires_in"]}
        asked = {"question": fields["question"], "choices": fields["choices"]}
        digest = {"digest": question_digest(**asked, **given)} if given else {}
        self._states[question_id] = {"id": question_id, "status": "pending"} | asked | times | empty | digest
        self.given[question_id] = given
        self.prompts.append(fields)
        return Reply.json(201, {"id": question_id, "expires_at": times["expires_at"]} | number)

    def _poll(self, question_id: str, query: str) -> Reply:
        state = self._states[question_id]
        with self._changed:
            self.polls += 1
            self._changed.notify_all()
        self.on_poll(self.polls)
        hold = re.fullmatch(r"wait=(\d+)", query)
        with self._changed:
            if self.holds_polls and hold:
                seconds = min(int(hold[1]), HOLD_MAX_SECONDS)
                self._changed.wait_for(lambda: state["status"] != "pending" or self._http is None, seconds)
            pending = state["status"] == "pending"
            return Reply.json(200, state, {"Retry-After": "2"} if pending else {})

    def _cancel(self, question_id: str) -> Reply:
        with self._changed:
            state = self._states[question_id]
            if state["status"] == "answered":
                return Reply.error(409, "already_answered", choice=state["choice"], choice_index=state["choice_index"])
            if state["status"] == "expired":
                return Reply.error(409, "interaction_closed", status="expired")
            state["status"] = "cancelled"
            self._changed.notify_all()
            return Reply.json(200, state)

    def _simulate(self, question_id: str, choice: str) -> Reply:
        state = self._states[question_id]
        if state["choice"] == choice:
            return Reply.json(200, state)
        if state["status"] == "answered":
            return Reply.error(409, "already_answered", choice_index=state["choice_index"])
        self.answer(state["choices"].index(choice), state, answered_by=None)
        return Reply.json(200, state)

    @contextmanager
    def connected(self, connection: socket.socket) -> Iterator[None]:
        self._connections.add(connection)
        try:
            yield
        finally:
            self._connections.discard(connection)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: two would meet delayed acknowledgements
    asker: AskerServer

    def handle(self) -> None:
        with self.asker.connected(self.connection), suppress(OSError):
            super().handle()

    def finish(self) -> None:
        with suppress(OSError):
            super().finish()

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.asker.reply_to(Received(self.command, self.path, headers, body))
        if reply.lost:
            self.close_connection = True
            return
        self.send_response_only(reply.status)
        offset = self.asker.clock_offset_seconds
        if offset is not None:
            self.send_header("Date", formatdate(OPENED_AT + offset, usegmt=True))
        for name, value in ({"Content-Length": str(len(reply.body))} | reply.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = do_DELETE = _any  # noqa: N815 -- http.server's names

    def log_message(self, *_args: object) -> None:
        pass


class FakeClock:
    """Monotonic seconds that pass only while the client pauses. `on_pause` sees each pause by its number, from 1."""

    def __init__(self) -> None:
        self.now = 50.0
        self.pauses: list[float] = []
        self.on_pause: Callable[[int], object] = lambda _count: None

    def read(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds
        self.pauses.append(seconds)
        self.on_pause(len(self.pauses))
