"""The phone's web app, served from a table of files read at start: a path that is not in the table is not served.

`npm run build` puts the files into `reflecto/webapp`; a wheel carries them.
"""

import gzip
import hashlib
import logging
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from starlette.routing import Route

from reflecto.api.http import Call, Endpoint
from reflecto.bundle import BUILT, PAGE, bundle_state

FOLDER: Final = BUILT
PAGE_PATHS: Final = ("/", "/enroll", "/pair")
ROUTE: Final = "app"  # what requests for any of its files are counted as
GZIP_MIN_BYTES: Final = 1024

CONTENT_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
COMPRESSIBLE: Final = (".css", ".html", ".js", ".json", ".svg", ".webmanifest")

# Nothing inline, nothing from elsewhere; the pictures in messages are made on the page (`blob:`), and scripts reach the
# page's sinks only through the app's own policy.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "manifest-src 'self'; worker-src 'self'; "
    "require-trusted-types-for 'script'; trusted-types reflecto"
)
HEADERS: Final = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"vary", b"accept-encoding"),
)
IMMUTABLE: Final = b"public, max-age=31536000, immutable"  # for names that carry their content's hash
REVALIDATE: Final = b"no-cache"

logger = logging.getLogger(__name__)


class WebFile(msgspec.Struct, frozen=True):
    """One file, ready to be sent: plain and, where that is smaller, compressed."""

    content_type: bytes
    cache_control: bytes
    etag: bytes
    plain: bytes
    gzipped: bytes | None

    @classmethod
    def read(cls, path: Path, *, is_immutable: bool) -> "WebFile":
        """Read a file of the web app and compress it where that makes it smaller. Raises: OSError."""
        plain = path.read_bytes()
        squeeze = path.suffix in COMPRESSIBLE and len(plain) >= GZIP_MIN_BYTES
        return cls(
            content_type=CONTENT_TYPES[path.suffix].encode(),
            cache_control=IMMUTABLE if is_immutable else REVALIDATE,
            etag=f'"{hashlib.sha256(plain).hexdigest()[:32]}"'.encode(),
            plain=plain,
            gzipped=gzip.compress(plain, mtime=0) if squeeze else None,
        )

    async def answer(self, call: Call) -> None:
        """Send the file, gzipped for a client that takes it; 304 where the client's ETag is this one."""
        headers = [*HEADERS, (b"cache-control", self.cache_control), (b"etag", self.etag)]
        if self.etag.decode() in (call.header(b"if-none-match") or ""):
            await call.send({"type": "http.response.start", "status": 304, "headers": headers})
            await call.send({"type": "http.response.body", "body": b""})
            return
        body = self.plain
        if self.gzipped is not None and "gzip" in (call.header(b"accept-encoding") or ""):
            body = self.gzipped
            headers.append((b"content-encoding", b"gzip"))
        headers += [(b"content-type", self.content_type), (b"content-length", str(len(body)).encode())]
        await call.send({"type": "http.response.start", "status": 200, "headers": headers})
        await call.send({"type": "http.response.body", "body": b"" if call.scope["method"] == "HEAD" else body})


@cache  # what a process has read it keeps, however many apps it makes
def webapp_routes(folder: Path = FOLDER) -> tuple[Route, ...]:
    """Return a route for each file under `folder`, and the page's own; none where the app was not built."""
    if not (folder / PAGE).is_file():
        logger.warning("the phone's web app is not built; `make setup` builds it")
        return ()
    if folder == FOLDER and bundle_state() == "stale":
        logger.warning("the phone's web app is older than its sources; `make setup` builds it anew, then start again")
    routes = (_route(f"/{path.relative_to(folder).as_posix()}", path) for path in _files_of(folder))
    return (*(_route(path, folder / PAGE) for path in PAGE_PATHS), *routes)


def _files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in CONTENT_TYPES and path.name != PAGE)


def _route(path: str, file_path: Path) -> Route:
    file = WebFile.read(file_path, is_immutable=path.startswith("/assets/"))
    return Route(path, Endpoint(ROUTE, GET=file.answer))
