"""Checks of the way to the server, from the URL to its health. Each yields findings."""

import ipaddress
import socket
import ssl
import time
import urllib.parse
import urllib.request
from collections.abc import Generator, Iterator
from typing import Any, Final

import httpx

from reflecto import RELEASE
from reflecto.cli.findings import Finding, failed, ok, skipped, warning
from reflecto.client.errors import InvalidSettings
from reflecto.client.network_settings import make_tls_context
from reflecto.client.protocol import HttpReply, base_url
from reflecto.contract.json_text import UnreadableJsonError, read_json
from reflecto.contract.loopback import is_loopback
from reflecto.contract.store_concerns import CONCERNS

CONNECT_SECONDS: Final = 10.0
CERTIFICATE_MIN_DAYS: Final = 14  # automatic renewal is done a month before the end, so something is wrong by then
SKEW_MAX_SECONDS: Final = 5
_DAY_SECONDS: Final = 86_400


def check_url(given: str) -> Generator[Finding, None, str | None]:
    """Check the form of the URL; return it as it is used."""
    try:
        url = base_url(given)
    except InvalidSettings as error:
        yield failed("url", str(error), "correct it in `reflecto login`, REFLECTO_URL or --url")
        return None
    if url.lower().startswith("http://") and not is_loopback(url):
        advice = "put TLS in front of the server: whoever is in between can read the token and approve in your place"
        yield warning("url", f"{url} is not encrypted", advice)
    else:
        yield ok("url", url)
    return url


def check_server(url: str) -> Generator[Finding, None, bool]:
    """Check DNS, TLS, health, store and clock; return whether a Reflecto server replies."""
    parts = urllib.parse.urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    proxy = urllib.request.getproxies().get(parts.scheme)
    if proxy and not urllib.request.proxy_bypass(host):
        yield skipped("dns", "not checked: the environment names a proxy for this URL, which looks it up")
        yield skipped("tls", "not checked for the same reason")
    else:
        found = yield from _check_dns(host, port)
        trusted = found and (parts.scheme == "http" or (yield from _check_tls(host, port)))
        if not trusted:
            return False
    return (yield from _check_health(url))


def _check_dns(host: str, port: int) -> Generator[Finding, None, bool]:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        return True  # an address needs no look-up
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no host name"
        yield failed(
            "dns", f"{host} is not found: {reason}", "is it spelled right, and does this machine have a network?"
        )
        return False
    yield ok("dns", f"{host} is {', '.join(sorted({str(each[4][0]) for each in found}))}")
    return True


def _check_tls(host: str, port: int) -> Generator[Finding, None, bool]:
    try:
        context = make_tls_context()  # what the client trusts
        with (
            socket.create_connection((host, port), timeout=CONNECT_SECONDS) as connection,
            context.wrap_socket(connection, server_hostname=host) as encrypted,
        ):
            certificate = encrypted.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        yield failed("tls", f"the certificate is not trusted: {error.verify_message}", _certificate_advice(error))
        return False
    except ssl.SSLError as error:
        yield failed("tls", f"no TLS: {error.reason or error}", "is it https, and the right port?")
        return False
    except OSError as error:
        yield failed("tls", f"no connection to port {port}: {error.strerror or error}", _connection_advice(port))
        return False
    left = ssl.cert_time_to_seconds(str(certificate["notAfter"])) - time.time()
    days = int(left // _DAY_SECONDS)
    if days < CERTIFICATE_MIN_DAYS:
        yield warning("tls", f"the certificate ends in {days} days", "renew it; see why that did not happen by itself")
    else:
        yield ok("tls", f"the certificate is trusted and good for {days} days")
    return True


def _certificate_advice(error: ssl.SSLCertVerificationError) -> str:
    match error.verify_code:
        case 9 | 10:  # not yet valid, or expired
            return "renew it, or set this machine's clock right"
        case 62 | 64:  # host name or address mismatch
            return "use the name that the certificate is for, or get one for this name"
        case _:
            return "get one from a public authority, or name your own authority's file in SSL_CERT_FILE"


def _connection_advice(port: int) -> str:
    return f"does the server run, does it listen on that address, and does a firewall let port {port} through?"


def _check_health(url: str) -> Generator[Finding, None, bool]:
    port = urllib.parse.urlsplit(url).port or 443
    with httpx.Client(timeout=CONNECT_SECONDS, verify=make_tls_context()) as http:
        try:
            asked_at = time.time()
            health = http.get(f"{url}/healthz")
            replied_at = time.time()
        except httpx.HTTPError as error:
            yield failed("server", f"no reply: {str(error) or type(error).__name__}", _connection_advice(port))
            return False
        version = _version_of(health)
        if version is None:
            yield failed("server", *_stranger(health))
            return False
        yield from _compare_versions(version)
        yield from _check_app(health)
        yield from _check_proxy(health)
        yield from _check_store(http, url)
        yield from _check_clock(health, asked_at, replied_at)
    return True


def _version_of(health: httpx.Response) -> str | None:
    try:
        fields = read_json(health.content, dict[str, Any])
    except UnreadableJsonError:
        return None
    version = fields.get("version") if health.status_code == 200 else None
    return version if isinstance(version, str) else None


def _stranger(health: httpx.Response) -> tuple[str, str]:
    if health.has_redirect_location:
        return f"a redirect to {health.headers['location']}", "if that is your server, make it the URL"
    if health.status_code in {502, 503, 504}:
        return f"a proxy replies with status {health.status_code}", "the server behind it is down: start it"
    return f"status {health.status_code}, and not from Reflecto", "is the URL right, up to the path before /v1?"


def _compare_versions(version: str) -> Iterator[Finding]:
    if version.split(".")[:2] == RELEASE.split(".")[:2]:
        yield ok("server", f"Reflecto {version} is up")
    else:
        yield warning("server", f"Reflecto {version} is up; this is {RELEASE}", "upgrade the older one")


def _check_app(health: httpx.Response) -> Iterator[Finding]:
    """Warn if the web app is not what its sources make; an older server does not tell."""
    rebuild = "run `make setup` in its clone, then restart it"
    match health.json().get("app"):
        case "stale":
            yield warning("app", "the server hands out a web app that is older than its sources", rebuild)
        case "missing":
            yield warning("app", "the server has no web app to hand out", rebuild)


def _check_proxy(health: httpx.Response) -> Iterator[Finding]:
    """Warn if the server does not know the proxy that this request came through; an older server does not tell."""
    if health.json().get("proxy") == "not_trusted":
        said = "the server is behind a proxy that it does not trust, so strangers share one address and its limits"
        yield warning("proxy", said, "name the proxy's address in trusted_proxies")


def _check_store(http: httpx.Client, url: str) -> Iterator[Finding]:
    try:
        ready = http.get(f"{url}/readyz")
    except httpx.HTTPError as error:
        yield failed("store", f"no reply: {str(error) or type(error).__name__}", "see the server's log")
        return
    if ready.status_code == 200:
        yield ok("store", "it can be written")
        yield from _check_settings(ready)
    else:
        yield failed("store", "the server can store nothing", "see its log; is the disk full?")


def _check_settings(ready: httpx.Response) -> Iterator[Finding]:
    """Warn of what in the database's settings may lose something; an older server does not tell."""
    try:
        codes = read_json(ready.content, dict[str, Any]).get("concerns")
    except UnreadableJsonError:
        return
    for code in codes if isinstance(codes, list) else ():
        known = CONCERNS.get(code)
        if known is not None:
            yield warning("database", known.message, known.advice)
        else:
            yield warning("database", f"its settings may lose what was accepted ({code})", "see the server's log")


def _check_clock(health: httpx.Response, asked_at: float, replied_at: float) -> Iterator[Finding]:
    sent_at = HttpReply(health.status_code, dict(health.headers), b"").sent_at
    if sent_at is None:
        yield skipped("clock", "not checked: the reply has no date")
        return
    # The date has whole seconds: the server's clock was somewhere in the second that it names.
    ahead = max(asked_at - (sent_at + 1), min(0.0, replied_at - sent_at), key=abs)
    if abs(ahead) <= SKEW_MAX_SECONDS:
        yield ok("clock", "this machine's and the server's agree")
        return
    which = "ahead of" if ahead > 0 else "behind"
    yield warning(
        "clock",
        f"this machine's is {abs(ahead):.0f} s {which} the server's",
        "let both follow network time; until then `remind --at` is off by that, `remind --in` is not",
    )
