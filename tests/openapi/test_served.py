import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import msgspec
import pytest

from reflecto.api.openapi import document
from reflecto.api.operations import OPERATIONS
from reflecto.contract.errors import CATALOGUE
from reflecto.core.enrolment import PUBLIC_URL_FACT
from tests.actors import enroll
from tests.running import RunningServer

PAGES = {
    "/openapi.json": "application/json",
    "/openapi.yaml": "application/yaml",
    "/docs": "text/html; charset=utf-8",
    "/docs.css": "text/css; charset=utf-8",
    "/llms.txt": "text/plain; charset=utf-8",
}


class Page(HTMLParser):
    """What of a page a reader's browser would fetch, run or jump to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.inline: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in {"href", "src", "srcset", "action", "data"}:
                self.references.append(value or "")
            elif name == "style" or name.startswith("on"):
                self.inline.append(name)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
async def page(server: RunningServer) -> Page:
    return Page((await server.http.get("/docs")).text)


@pytest.mark.parametrize("path", PAGES)
async def test_the_description_is_served_to_everyone_with_its_type(path: str, server: RunningServer):
    reply = await server.http.get(path)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == PAGES[path]


@pytest.mark.parametrize("path", PAGES)
async def test_what_has_not_changed_is_not_sent_again(path: str, server: RunningServer):
    first = await server.http.get(path)
    again = await server.http.get(path, headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", PAGES)
async def test_head_tells_the_length_without_the_body(path: str, server: RunningServer):
    whole = await server.http.get(path)
    head = await server.http.head(path)
    assert head.content == b""
    assert head.headers["content-length"] == whole.headers["content-length"]


async def test_both_forms_of_the_document_are_served_whole(server: RunningServer):
    in_json = (await server.http.get("/openapi.json")).content
    day = datetime.fromtimestamp(server.clock.now() + 2 * 86_400, UTC).date().isoformat()
    assert in_json == document().replace(b"2025-08-10T09:00:00+02:00", f"{day}T09:00:00+02:00".encode())
    assert msgspec.yaml.decode((await server.http.get("/openapi.yaml")).content) == json.loads(in_json)


@pytest.mark.parametrize("days", [0, 1, 400])
async def test_the_example_of_a_reminder_can_be_set_whenever_it_is_read(server: RunningServer, days: int):
    server.clock.advance(days * 86_400)
    sender = (await enroll(server)).default_program()
    served = (await server.http.get("/openapi.json")).json()
    (example,) = served["components"]["schemas"]["ReminderRequest"]["properties"]["at"]["examples"]
    done = await sender.call("POST", "/v1/reminders", json={"message": "Stand-up", "at": example})
    assert done.status_code == 201, done.text


async def test_the_document_knows_the_keys_that_a_device_is_told(server: RunningServer):
    phone = await enroll(server)
    served = (await server.http.get("/openapi.json")).json()
    listed = (await phone.call("GET", "/v1/devices")).json()["devices"][0]
    assert set(served["components"]["schemas"]["PeerState"]["properties"]) == set(listed)


async def test_the_page_needs_nothing_but_its_own_style(page: Page):
    assert page.tags & {"script", "style", "iframe", "img", "object", "embed", "form"} == set()
    assert page.inline == []
    local = ("#", "docs.css", "openapi.json", "openapi.yaml", "llms.txt")
    assert [reference for reference in page.references if not reference.startswith(local)] == []


async def test_the_style_fetches_nothing(server: RunningServer):
    style = (await server.http.get("/docs.css")).text
    assert "url(" not in style
    assert "@import" not in style


async def test_a_browser_is_told_to_run_and_load_nothing_else(server: RunningServer):
    headers = (await server.http.get("/docs")).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


async def test_every_call_and_every_error_has_its_place_on_the_page(page: Page):
    assert len(page.ids) == len(set(page.ids)), "an id is there twice"
    assert {operation.id for operation in OPERATIONS} | CATALOGUE.keys() <= set(page.ids)
    anchors = {reference[1:] for reference in page.references if reference.startswith("#")}
    assert anchors - set(page.ids) == set(), "a link leads nowhere"


async def test_every_command_is_on_the_page_as_it_is_to_be_pasted(page: Page):
    assert [operation.id for operation in OPERATIONS if operation.curl not in page.text] == []


async def test_the_page_names_the_address_phones_know(server: RunningServer):
    await server.services.store.remember(PUBLIC_URL_FACT, "https://reflecto.example<&>")
    page = await server.http.get("/docs")
    assert "export REFLECTO_URL=https://reflecto.example&lt;&amp;&gt;\n" in page.text


async def test_llms_txt_has_the_form_such_files_have(server: RunningServer):
    await server.services.store.remember(PUBLIC_URL_FACT, "https://reflecto.example")
    lines = (await server.http.get("/llms.txt")).text.splitlines()
    assert lines[0] == "# Reflecto"
    assert lines[2].startswith("> ")
    assert [line for line in lines if line.startswith("## ")] == ["## Docs", "## Optional"]
    links = lines[lines.index("## Docs") :]
    form = re.compile(r"- \[[^]]+\]\(https://reflecto\.example/\S+\): .+")
    assert all(form.fullmatch(line) for line in links if line and not line.startswith("## "))


async def test_llms_txt_says_what_an_agent_must_not_get_wrong(server: RunningServer):
    text = (await server.http.get("/llms.txt")).text
    for needed in ("Silence is never consent", "?wait=50", "idempotency_key", "/openapi.yaml", "/docs", "`answered`"):
        assert needed in text


async def test_a_call_named_in_llms_txt_exists(server: RunningServer):
    text = (await server.http.get("/llms.txt")).text
    named = set(re.findall(r"`(GET|POST|DELETE) (/[^`?]*)", text))
    assert named
    assert named <= {(operation.method, operation.path) for operation in OPERATIONS}
