"""Addresses, read as a browser reads them (WHATWG URL), or refused: what is shown is where they lead."""

import re
from typing import Final, NamedTuple

WEB_SCHEMES: Final = frozenset({"http", "https"})
# An address of these runs something, shows what it was given as if a site said it, or reads what is on the device.
NEVER_OPENED: Final = frozenset(
    {
        "about",
        "blob",
        "chrome",
        "content",
        "data",
        "edge",
        "file",
        "filesystem",
        "intent",
        "jar",
        "javascript",
        "livescript",
        "mhtml",
        "mocha",
        "ms-msdt",
        "res",
        "resource",
        "search-ms",
        "shell",
        "vbscript",
        "view-source",
        "wyciwyg",
    }
)
# The patterns are compiled, and kept, by the first match: a start need not wait for that.
# A browser drops some of these, and takes a backslash for a slash; other readers do neither.
_READ_DIFFERENTLY: Final = r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff\\]"
_SCHEME: Final = r"[a-z][a-z0-9+.-]*:"
# What begins an address inside an address, `feed:javascript:…`: programs take the first scheme off and open the rest.
_SCHEMES: Final = rf"(?i)(?:{_SCHEME}(?!//[^/])/*)*{_SCHEME}"
# A host or a text that a program takes for one of its options, `ssh://-oProxyCommand=…`; `geo:-33.8,151.2` is a place.
_OPTION: Final = rf"(?i){_SCHEME}(?://(?:-|%2d)|(?:-|%2d)[^0-9.])"
_WEB: Final = r"(?i)https?://[^/?#@]+(?:[/?#]|$)"
_APP: Final = r"(?i)[a-z][a-z0-9+.-]*:(?://[^/?#@]*(?:[/?#]|$)|(?!//)[^/])"


class Link(NamedTuple):
    """Where an address leads: `target` is what a person is shown in front of it, in ASCII.

    For the web that is the host, with its port unless it is the usual one; names beyond ASCII come in their ASCII form,
    since letters of different scripts look alike. For an app it is all of `scheme://host`, or the address itself.
    """

    scheme: str
    target: str


def read_link(url: str) -> Link | None:
    """Return where the address leads, or None for one that is not the same to every reader, or must not be opened.

    Refused are white space and control characters, backslashes, user names and passwords, port 0, and for an app what
    begins with a dash behind the scheme.
    """
    from ada_url import URL  # noqa: PLC0415  a start is sooner without

    if re.search(_READ_DIFFERENTLY, url) or not (re.match(_WEB, url) or re.match(_APP, url)):
        return None
    try:
        read = URL(url)
    except ValueError:
        return None
    scheme = read.protocol.removesuffix(":")
    if not NEVER_OPENED.isdisjoint(_schemes_of(url)) or read.port == "0" or read.username or read.password:
        return None
    if scheme in WEB_SCHEMES:
        return Link(scheme, read.host) if re.match(_WEB, url) else None
    if re.match(_OPTION, url):
        return None
    return Link(scheme, f"{scheme}://{read.host}" if read.host else f"{scheme}:{read.pathname}")


def _schemes_of(url: str) -> list[str]:
    found = re.match(_SCHEMES, url)
    return found[0].lower().replace("/", "").split(":") if found else []


def read_web_link(url: str) -> Link | None:
    """Return where an http or https address leads, or None for any other."""
    link = read_link(url)
    return link if link is not None and link.scheme in WEB_SCHEMES else None
