"""The web app as the server hands it out: complete, closed to everything else, and hardened."""

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.routing import Router

from reflecto.api.webapp import CONTENT_SECURITY_POLICY, FOLDER, webapp_routes

PAGE = b"<!doctype html><script type=module src=/assets/app-1a2b.js></script>" + b" " * 2000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "webapp"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_bytes(PAGE)
    (folder / "sw.js").write_bytes(b"self")
    (folder / "assets" / "app-1a2b.js").write_bytes(b"export {}")
    (folder / "assets" / "licenses.md").write_bytes(b"MIT")
    (tmp_path / "server.key").write_bytes(b"secret")
    return folder


@pytest.fixture
async def client(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(Router(list(webapp_routes(folder)), redirect_slashes=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/enroll", "/pair"])
async def test_the_page_is_served_under_each_of_its_addresses_and_always_asked_for_anew(client, path):
    reply = await client.get(path)
    assert reply.status_code == 200
    assert reply.content == PAGE
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["cache-control"] == "no-cache"


async def test_files_named_by_their_content_are_kept_for_ever_and_the_worker_is_not(client):
    assert "immutable" in (await client.get("/assets/app-1a2b.js")).headers["cache-control"]
    assert (await client.get("/sw.js")).headers["cache-control"] == "no-cache"
    assert (await client.get("/sw.js")).headers["content-type"] == "text/javascript; charset=utf-8"


async def test_every_file_carries_the_hardening_headers(client):
    for path in ("/", "/sw.js", "/assets/app-1a2b.js"):
        headers = (await client.get(path)).headers
        assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere():
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert "default-src 'none'" in CONTENT_SECURITY_POLICY
    assert "frame-ancestors 'none'" in CONTENT_SECURITY_POLICY
    assert set(re.findall(r"(?:script|style|connect)-src ([^;]+)", CONTENT_SECURITY_POLICY)) == {"'self'"}
    assert re.findall(r"img-src ([^;]+)", CONTENT_SECURITY_POLICY) == ["'self' blob:"]  # pictures made on the page


@pytest.mark.parametrize(
    "path",
    [
        "/../server.key",
        "/assets/../../server.key",
        "/assets/%2e%2e/%2e%2e/server.key",
        "/assets/..%2f..%2fserver.key",
        "/assets//app-1a2b.js",
        "/assets/",
        "/assets/licenses.md",
        "/index.html",
        "/server.key",
    ],
)
async def test_what_is_not_in_the_table_is_not_there(client, path):
    request = client.build_request("GET", "http://test/")
    request.url = httpx.URL("http://test").copy_with(raw_path=path.encode())
    assert (await client.send(request)).status_code == 404


async def test_a_client_that_has_it_already_gets_304_without_a_body(client):
    first = await client.get("/")
    again = await client.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


async def test_text_is_compressed_for_those_who_take_it_and_plain_for_others(client):
    squeezed = await client.get("/", headers={"accept-encoding": "gzip"})
    assert squeezed.headers["content-encoding"] == "gzip"
    assert int(squeezed.headers["content-length"]) == len(gzip.compress(PAGE, mtime=0))
    assert squeezed.content == PAGE
    plain = await client.get("/", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert squeezed.headers["vary"] == plain.headers["vary"] == "accept-encoding"


async def test_head_has_the_headers_alone_and_writing_methods_are_refused(client):
    head = await client.head("/", headers={"accept-encoding": "identity"})
    assert (head.content, head.headers["content-length"]) == (b"", str(len(PAGE)))
    assert (await client.post("/")).status_code == 405


def test_without_a_built_app_there_are_no_routes_and_a_word_in_the_log(tmp_path, caplog):
    assert webapp_routes(tmp_path) == ()
    assert "make setup" in caplog.text


def test_a_start_with_an_app_older_than_its_sources_says_so_and_serves_it(monkeypatch, caplog):
    monkeypatch.setattr("reflecto.api.webapp.bundle_state", lambda: "stale")
    assert webapp_routes.__wrapped__()  # past the cache: what a process has read it keeps
    assert "older than its sources; `make setup` builds it anew" in caplog.text
    caplog.clear()
    monkeypatch.setattr("reflecto.api.webapp.bundle_state", lambda: "current")
    assert webapp_routes.__wrapped__()
    assert caplog.text == ""


def test_the_built_app_is_whole_and_within_its_size():
    index = (FOLDER / "index.html").read_text("utf-8")
    links = re.findall(r'(?:src|href)="([^"]+)"', index)
    assert all(link.startswith("./") for link in links), "under a path, other links would lead to another server"
    wanted = [link[1:] for link in links if link != "./manifest.webmanifest"]
    paths = {route.path for route in webapp_routes()}
    assert set(wanted) <= paths
    assert _gzipped(FOLDER / "sw.js") < 32_000
    started = [FOLDER / path[1:] for path in wanted if path.endswith((".js", ".css"))]
    largest_language = max(_gzipped(path) for path in (FOLDER / "assets").glob("*.json"))
    assert sum(map(_gzipped, started)) + largest_language < 75_000, "a page starts with one language"


def _gzipped(path: Path) -> int:
    return len(gzip.compress(path.read_bytes()))
