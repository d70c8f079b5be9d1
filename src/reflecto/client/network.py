"""One request over httpx at a time; what came of it is data. It decides nothing, and keeps nothing but connections."""

import ssl
from collections.abc import Callable

import httpx

from reflecto.client.errors import InvalidSettings, Unreachable
from reflecto.client.flows import Outcome
from reflecto.client.protocol import HttpReply, HttpRequest, base_url, common_headers


class Network:
    """Carries requests to one server with one token. `clock` is monotonic seconds. Raises: InvalidSettings."""

    def __init__(self, url: str, token: str, transport: httpx.BaseTransport | None, clock: Callable[[], float]) -> None:
        self.url = base_url(url)
        self._clock = clock
        headers = common_headers(token)
        try:
            self._http = httpx.Client(base_url=self.url, headers=headers, transport=transport)
        except (httpx.InvalidURL, ImportError, OSError, ValueError) as error:
            # Beside the URL: proxies and certificates that the environment names.
            raise InvalidSettings(f"the connection cannot be set up: {error}") from None

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def perform(self, request: HttpRequest) -> Outcome:
        """Send the request and return its reply or failure."""
        headers = {} if request.body is None else {"Content-Type": "application/json"}
        try:
            with self._http.stream(
                request.method, request.path, content=request.body, headers=headers, timeout=request.timeout_seconds
            ) as response:
                body = self._read_bounded(response, request.reply_max_bytes, self._clock() + request.timeout_seconds)
                reply = HttpReply(response.status_code, dict(response.headers), body)
        except (httpx.HTTPError, UnicodeError) as error:  # a host name that cannot be encoded is a UnicodeError
            return Outcome(self._clock(), failure=unreachable(self.url, error))
        return Outcome(self._clock(), reply)

    def _read_bounded(self, response: httpx.Response, max_bytes: int, until: float) -> bytes:
        """Return the body, or its first bytes if it is longer than the contract allows."""
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > max_bytes:
                break
            if self._clock() > until:
                raise httpx.ReadTimeout("the reply does not end")
        return bytes(body[:max_bytes])


def unreachable(url: str, error: Exception) -> Unreachable:
    """Return what a failure of httpx means to the caller."""
    reason = str(error) or type(error).__name__
    never_sent = (
        httpx.ConnectError,
        httpx.ConnectTimeout,
        httpx.PoolTimeout,
        httpx.ProxyError,
        httpx.UnsupportedProtocol,
        UnicodeError,
    )
    final = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeError)
    return Unreachable(
        f"cannot reach {url}: {reason}",
        may_have_arrived=not isinstance(error, never_sent),
        passing=not isinstance(error, final) and not _is_tls_refusal(error),
    )


def _is_tls_refusal(error: BaseException | None) -> bool:
    """Tell whether the other end is not trusted, or does not speak TLS at all: waiting mends neither."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
            return True
        error = error.__cause__ or error.__context__
    return False
