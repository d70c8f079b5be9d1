"""One request over httpx at a time, awaited; what came of it is data. The counterpart of `network`."""

import ssl
from collections.abc import Callable

import httpx

from reflecto.client.errors import InvalidSettings, Unreachable
from reflecto.client.flows import Outcome
from reflecto.client.network_settings import is_tls_refusal, make_tls_context
from reflecto.client.protocol import REQUEST_TIMEOUT_SECONDS, HttpReply, HttpRequest, base_url, common_headers


class AsyncNetwork:
    """Carries requests to one server with one token. `clock` is monotonic seconds. Raises: InvalidSettings."""

    def __init__(
        self,
        url: str,
        token: str,
        transport: httpx.AsyncBaseTransport | None,
        clock: Callable[[], float],
        connect_seconds: float = REQUEST_TIMEOUT_SECONDS,
    ) -> None:
        self._connect_seconds = connect_seconds
        self.url = base_url(url)
        self._clock = clock
        headers = common_headers(token)
        try:
            self._http = httpx.AsyncClient(
                base_url=self.url, headers=headers, transport=transport, verify=_context_for(self.url)
            )
        except (httpx.InvalidURL, ImportError, OSError, ValueError) as error:
            # Beside the URL: proxies and certificates that the environment names.
            raise InvalidSettings(f"the connection cannot be set up: {error}") from None

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def perform(self, request: HttpRequest) -> Outcome:
        """Send the request and return its reply or failure."""
        connect_seconds = min(request.timeout_seconds, self._connect_seconds)
        timeout = httpx.Timeout(request.timeout_seconds, connect=connect_seconds)
        try:
            async with self._http.stream(
                request.method, request.path, content=request.body, headers=request.headers, timeout=timeout
            ) as response:
                until = self._clock() + request.timeout_seconds
                body = await self._read_bounded(response, request.reply_max_bytes, until)
                reply = HttpReply(response.status_code, dict(response.headers), body)
        except (httpx.HTTPError, UnicodeError) as error:  # a host name that cannot be encoded is a UnicodeError
            return Outcome(self._clock(), failure=_unreachable(self.url, error))
        return Outcome(self._clock(), reply)

    async def _read_bounded(self, response: httpx.Response, max_bytes: int, until: float) -> bytes:
        """Return the body, or its first bytes if it is longer than the contract allows."""
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > max_bytes:
                break
            if self._clock() > until:
                raise httpx.ReadTimeout("the reply does not end")
        return bytes(body[:max_bytes])


def _context_for(url: str) -> ssl.SSLContext:
    """Return what the blocking client trusts; where there is no TLS, nothing need be read for that."""
    return make_tls_context() if url.lower().startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _unreachable(url: str, error: Exception) -> Unreachable:
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
        passing=not isinstance(error, final) and not is_tls_refusal(error),
    )
