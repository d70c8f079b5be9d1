"""A server on loopback that answers as a test tells it to. It takes what the asker's API takes, and stores nothing."""

import http.server
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

import msgspec

from reflecto.contract.ids import new_sender_token
from reflecto.contract.wire import IDEMPOTENCY_KEY_HEADER
from reflecto.testing.fake_api import Asked, FakeApi, SentOut, Taps


class FakeReflecto:
    """A server that is none: no phone, no store, nothing that outlives it.

        with FakeReflecto() as fake:
            fake.taps = "Approve"
            deploy(Reflecto(fake.url, fake.token))
            assert fake.asked[0].question == "Deploy?"

    `taps` is the label tapped on every question, or a function that chooses one; None is silence, which no program may
    take for consent: a question has expired as soon as somebody waits for its answer. The form of each request is
    checked as the real server does; limits, scopes and the names of devices are not.
    """

    def __init__(self, taps: Taps = None) -> None:
        self.token = new_sender_token(test=True)
        self._api = FakeApi(self.token)
        self._api.taps = taps
        lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"api": self._api, "lock": lock})
        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads, self._http.block_on_close = True, False
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def taps(self) -> Taps:
        """What is tapped on questions that are asked from now on."""
        return self._api.taps

    @taps.setter
    def taps(self, taps: Taps) -> None:
        self._api.taps = taps

    @property
    def asked(self) -> list[Asked]:
        """The questions so far."""
        return self._api.asked

    @property
    def sent(self) -> list[SentOut]:
        """What was sent so far."""
        return self._api.sent

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: two would meet delayed acknowledgements
    api: FakeApi
    lock: threading.Lock

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.lock:
            status, reply, headers = self.api.reply_to(
                self.command, self.path, self.headers["Authorization"], body, self.headers[IDEMPOTENCY_KEY_HEADER]
            )
        content = b"" if reply is None else msgspec.json.encode(reply)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _any  # noqa: N815  http.server's names

    def finish(self) -> None:
        with suppress(OSError):  # the program under test has hung up
            super().finish()

    def log_message(self, *_: object) -> None:
        """Print nothing."""
