"""How this machine reaches servers: whose certificates it trusts, and through which proxy it goes."""

import base64
import os
import ssl
import sys
import urllib.parse
from dataclasses import dataclass, field
from typing import Final

from reflecto.client.errors import InvalidSettings

_SYSTEM_WIDE_PROXIES: Final = frozenset({"darwin", "win32"})  # set in a dialog, not in the environment


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy; `headers` are its own, with its password if it has one."""

    host: str
    port: int
    headers: dict[str, str] = field(repr=False)


def make_tls_context() -> ssl.SSLContext:
    """Return what to check certificates with: the system's authorities, or those that SSL_CERT_FILE or -DIR names.

    Raises: InvalidSettings.
    """
    file, folder = os.environ.get("SSL_CERT_FILE") or None, os.environ.get("SSL_CERT_DIR") or None
    try:
        context = ssl.create_default_context(cafile=file, capath=folder)
    except (OSError, ValueError) as error:
        names = f"SSL_CERT_FILE={file}" if file else f"SSL_CERT_DIR={folder}"
        raise InvalidSettings(f"the connection cannot be set up: {names}: {error}") from None
    system = ssl.get_default_verify_paths()
    if not (file or folder or system.cafile or system.capath) and sys.platform != "win32":
        import certifi  # noqa: PLC0415 -- only for a Python that knows no authorities of its own

        context.load_verify_locations(certifi.where())
    return context


def find_proxy(scheme: str, host: str) -> Proxy | None:
    """Return the proxy that the machine wants used for this server. Raises: InvalidSettings."""
    is_set = any(name.lower().endswith("_proxy") and value for name, value in os.environ.items())
    if not is_set and sys.platform not in _SYSTEM_WIDE_PROXIES:
        return None
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 -- few need it, and it brings a lot along

    proxies = getproxies()
    text = proxies.get(scheme) or proxies.get("all")
    if not text or proxy_bypass(host):
        return None
    try:
        parts = urllib.parse.urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port or 80
    except ValueError:
        raise InvalidSettings("the connection cannot be set up: the proxy's address is no URL") from None
    if parts.scheme != "http" or not parts.hostname:
        raise InvalidSettings(f"the connection cannot be set up: a proxy must be http://, not {parts.scheme}://")
    return Proxy(parts.hostname, port, _credentials(parts))


def _credentials(parts: urllib.parse.SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    pair = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def is_tls_refusal(error: BaseException | None) -> bool:
    """Tell whether the server is not trusted, or does not speak TLS at all: trying again would not help."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
            return True
        error = error.__cause__ or error.__context__
    return False
