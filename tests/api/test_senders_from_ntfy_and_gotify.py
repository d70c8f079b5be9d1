"""POST /v1/send as senders made for ntfy and for Gotify call it: only the URL and the token are changed."""

from base64 import b64encode
from email.header import Header
from typing import Any

import httpx
import pytest

from tests.actors import DeviceActor, Program
from tests.api.sent import latest, waiting
from tests.running import RunningServer

FORM = "application/x-www-form-urlencoded"


async def post(
    sender: Program, headers: dict[str, Any], body: bytes = b"Done", path: str = "/v1/send"
) -> httpx.Response:
    return await sender.call("POST", path, content=body, headers=headers)


def codes(reply: httpx.Response) -> list[str]:
    return [warning["code"] for warning in reply.json()["warnings"]]


@pytest.mark.parametrize("content_type", [None, "text/plain", FORM])
@pytest.mark.parametrize(
    ("headers", "payload"),
    [
        ({"Title": "NAS", "Tags": "warning, disk", "Click": "https://nas.example/", "Markdown": "yes"}, None),
        ({"X-Title": "NAS", "X-Tags": "warning,disk", "X-Click": "https://nas.example/", "X-Markdown": "1"}, None),
        ({"ti": "NAS", "ta": "warning,disk", "click": "https://nas.example/", "md": "true"}, None),
        ({"t": "NAS", "tag": "warning,disk", "Click": "https://nas.example/", "Markdown": "True"}, None),
        ({"X-Title": "first", "Title": "second"}, {"title": "first"}),
        ({"Title": "", "t": "third"}, {"title": "third"}),
        ({"Markdown": "no", "Title": ""}, {}),
        ({"Priority": "high", "X-Nothing": "1"}, {"priority": "high"}),
        ({"Prio": "URGENT"}, {"priority": "urgent"}),
        ({"p": "default"}, {}),
    ],
)
async def test_ntfys_headers_beside_plain_text_are_the_fields(
    server: RunningServer,
    phone: DeviceActor,
    sender: Program,
    headers: dict[str, str],
    payload: dict[str, Any] | None,
    content_type: str | None,
):
    if payload is None:
        payload = {"title": "NAS", "tags": ["warning", "disk"], "url": "https://nas.example/", "markdown": True}
    given = headers | ({"Content-Type": content_type} if content_type else {})
    for path in ("/v1/send", f"/v1/send/{sender.token}"):
        reply = await post(sender, given, path=path)
        assert (reply.status_code, codes(reply)) == (200, []), reply.text
        assert await latest(server, phone) == {"message": "Done"} | payload


@pytest.mark.parametrize(
    ("given", "priority"),
    [("1", "min"), ("2", "low"), ("3", "default"), ("4", "high"), ("5", "urgent"), ("max", "urgent")],
)
@pytest.mark.parametrize("name", ["Priority", "X-Priority", "prio", "p"])
async def test_a_number_in_the_header_is_ntfys_priority_and_a_warning_says_so(
    server: RunningServer, phone: DeviceActor, sender: Program, name: str, given: str, priority: str
):
    reply = await post(sender, {name: given})
    assert reply.json()["warnings"] == [
        {"code": "foreign_priority", "message": f"Priority {given} was read as ntfy's, which is {priority} here"}
    ]
    assert (await latest(server, phone)).get("priority", "default") == priority


@pytest.mark.parametrize("of_http", ["u=1, i", "u=5", "i", "i=?0", "u=9", "U=2,i"])
async def test_the_priority_that_browsers_and_proxies_set_is_none_of_ours(
    server: RunningServer, phone: DeviceActor, sender: Program, of_http: str
):
    reply = await post(sender, {"Priority": of_http})
    assert (reply.status_code, codes(reply)) == (200, [])
    assert await latest(server, phone) == {"message": "Done"}
    reply = await post(sender, {"Priority": of_http, "prio": "high"})
    assert (await latest(server, phone))["priority"] == "high"


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("Über 5 €".encode(), "Über 5 €"),
        ("Über".encode("latin-1"), "Über"),
        (b"=?UTF-8?B?w5xiZXIgNSDigqw=?=", "Über 5 €"),
        (b"=?utf-8?Q?=C3=9Cber_5_=E2=82=AC?=", "Über 5 €"),
        (b"=?iso-8859-1?q?=DCber?=", "Über"),
        (b"NAS =?utf-8?q?=C3=9Cber?= =?utf-8?q?_all?= done", "NAS Über all done"),
        (Header("Ü" * 50, "utf-8").encode(linesep="").encode(), "Ü" * 50),
        (b"=?utf-8?b??=NAS", "NAS"),
        (b"=?utf-8?b?!?=", "=?utf-8?b?!?="),
        (b"=?utf-8?q?=FF?=", "=?utf-8?q?=FF?="),
        (b"=?unicode_escape?q?=5Cud800?=", "=?unicode_escape?q?=5Cud800?="),
        (b"=?utf-8?q?not whole", "=?utf-8?q?not whole"),
    ],
)
async def test_a_title_beyond_ascii_arrives_however_the_client_writes_it(
    server: RunningServer, phone: DeviceActor, sender: Program, raw: bytes, title: str
):
    reply = await sender.call("POST", "/v1/send", content=b"Done", headers={"Title": raw})
    assert reply.status_code == 200, reply.text
    assert (await latest(server, phone))["title"] == title


@pytest.mark.parametrize(
    ("headers", "code", "details"),
    [
        ({"Title": "x" * 101}, "invalid_title", {"bytes": 101, "max": 100}),
        ({"Title": b"=?utf-8?b?" + b64encode(b"x" * 101) + b"?="}, "invalid_title", {"bytes": 101, "max": 100}),
        ({"Click": "https://nas.example/" + "a" * 500}, "invalid_url", {"bytes": 520, "max": 512}),
        ({"Click": "mailto:me@example.org"}, "invalid_url", None),
        ({"Priority": "6"}, "invalid_priority", None),
        ({"Priority": "0"}, "invalid_priority", None),
        ({"Priority": "highest"}, "invalid_priority", None),
        ({"X-Priority": "u=1"}, "invalid_priority", None),
        ({"Markdown": "maybe"}, "invalid_markdown", None),
    ],
)
async def test_a_header_is_bounded_as_its_field_is_and_nothing_is_sent(
    server: RunningServer,
    phone: DeviceActor,
    sender: Program,
    headers: dict[str, Any],
    code: str,
    details: dict[str, int] | None,
):
    reply = await post(sender, headers)
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (400, code)
    if details is not None:
        assert error["details"] == details
    assert await waiting(server, phone) == []


async def test_tags_of_a_header_are_trimmed_like_others(server: RunningServer, phone: DeviceActor, sender: Program):
    reply = await post(sender, {"Tags": "a,b,,c,d,e,f"})
    assert codes(reply) == ["tags_trimmed"]
    assert (await latest(server, phone))["tags"] == ["a", "b", "c", "d", "e"]


async def test_json_and_forms_say_everything_themselves(server: RunningServer, phone: DeviceActor, sender: Program):
    headers = {"Title": "of the header", "Priority": "nonsense", "Tags": "x"}
    for content_type, body in (("application/json", b'{"message": "Done"}'), (FORM, b"message=Done")):
        reply = await post(sender, headers | {"Content-Type": content_type}, body)
        assert (reply.status_code, codes(reply)) == (200, [])
        assert await latest(server, phone) == {"message": "Done"}


async def test_markdown_may_be_the_type_of_the_text(server: RunningServer, phone: DeviceActor, sender: Program):
    await post(sender, {"Content-Type": "text/markdown; charset=utf-8"}, b"**Done**")
    assert await latest(server, phone) == {"message": "**Done**", "markdown": True}
    await post(sender, {"Content-Type": "text/markdown", "Markdown": "no"}, b"**Done**")
    assert await latest(server, phone) == {"message": "**Done**"}


@pytest.mark.parametrize(
    "name",
    [
        *("Delay", "X-At", "In", "Attach", "a", "Actions", "Filename", "f", "Icon", "X-Icon", "Email", "X-Email"),
        *("E-Mail", "mail", "e", "Call", "X-Call", "Template", "X-Template", "tpl", "Cache", "X-Cache", "Firebase"),
        "X-Firebase",
    ],
)
async def test_a_header_that_does_nothing_here_is_named(
    server: RunningServer, phone: DeviceActor, sender: Program, name: str
):
    reply = await post(sender, {name: "tomorrow, 10am"})
    assert reply.json()["warnings"] == [
        {"code": "header_ignored", "message": f"Not taken here: the header {name.lower()}"}
    ]
    assert await latest(server, phone) == {"message": "Done"}


async def test_all_headers_that_do_nothing_here_are_named(server: RunningServer, phone: DeviceActor, sender: Program):
    reply = await post(
        sender, {"Delay": "30m", "Actions": "view, Open, https://nas.example", "Attach": "https://x.example"}
    )
    (warning,) = reply.json()["warnings"]
    assert warning == {"code": "header_ignored", "message": "Not taken here: the headers delay, actions, attach"}
    assert await latest(server, phone) == {"message": "Done"}


NTFY = {
    "topic": "nas",
    "click": "https://nas.example/",
    "attach": "https://nas.example/x.png",
    "filename": "x.png",
    "icon": "https://nas.example/i.png",
    "delay": "30m",
    "email": "me@example.org",
    "call": "yes",
}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        *(({name: value}, f"the field {name}") for name, value in NTFY.items()),
        (NTFY, f"the fields {', '.join(NTFY)}"),
        ({"extras": {"client::display": {"contentType": "text/markdown"}}}, "the field extras"),
        (
            {"actions": [{"action": "http", "label": "Off", "url": "https://nas.example/off", "method": "PUT"}]},
            "the fields actions.action, actions.method",
        ),
        (
            {"actions": [{"action": "view", "label": "Go", "url": "https://nas.example/", "clear": True}]},
            "the field actions.clear",
        ),
        ({"actions": [{"action": "view", "label": "Go", "url": "https://nas.example/"}]}, None),
        ({"icon": None, "extras": None, "click": ""}, None),
        ({"anything": "else"}, None),
    ],
)
async def test_fields_of_other_products_that_do_nothing_here_are_named(
    server: RunningServer, phone: DeviceActor, sender: Program, fields: dict[str, Any], named: str | None
):
    reply = await sender.call("POST", "/v1/send", json={"message": "Done"} | fields)
    warnings = [{"code": "fields_ignored", "message": f"Not taken here: {named}"}] if named else []
    assert (reply.status_code, reply.json()["warnings"]) == (200, warnings), reply.text
    assert (await latest(server, phone))["message"] == "Done"


async def test_fields_that_do_nothing_here_are_named_in_both_kinds_of_forms(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    actions = '[{"action": "http", "label": "Off", "url": "https://nas.example/off"}]'
    text = {"message": "Done", "icon": "https://nas.example/i.png", "actions": actions}
    picture = {"attach": ("x.png", b"\x89PNG" * 20_000, "image/png")}
    replies = [
        await sender.call("POST", "/v1/send", data=text | {"delay": "", "more": "1"}),
        await sender.call("POST", "/v1/send", data=text, files=picture),
    ]
    assert [each["message"] for reply in replies for each in reply.json()["warnings"]] == [
        "Not taken here: the fields icon, actions.action",
        "Not taken here: the fields attach, icon, actions.action",
    ]
    assert (await latest(server, phone))["actions"] == [{"label": "Off", "url": "https://nas.example/off"}]


@pytest.mark.parametrize(
    ("number", "priority"),
    [(0, "min"), *((n, "low") for n in (1, 2, 3)), *((n, "default") for n in (4, 5, 6, 7)), (8, "high"), (10, "high")],
)
async def test_a_number_in_the_body_is_gotifys_priority_and_a_warning_says_so(
    server: RunningServer, phone: DeviceActor, sender: Program, number: int, priority: str
):
    bodies = {
        "application/json": f'{{"message": "Done", "priority": {number}}}',
        FORM: f"message=Done&priority={number}",
    }
    for content_type, body in bodies.items():
        reply = await post(sender, {"Content-Type": content_type}, body.encode())
        assert reply.json()["warnings"] == [
            {"code": "foreign_priority", "message": f"Priority {number} was read as Gotify's, which is {priority} here"}
        ]
        assert (await latest(server, phone)).get("priority", "default") == priority


@pytest.mark.parametrize(
    ("content_type", "priority"),
    [
        *(("application/json", value) for value in ("-1", "11", "5.5", "true", '"5"', "[5]")),
        (FORM, "-1"),
        (FORM, "\u0665"),
    ],
)
async def test_any_other_number_is_no_priority(
    server: RunningServer, phone: DeviceActor, sender: Program, content_type: str, priority: str
):
    body = f"message=Done&priority={priority}"
    if content_type != FORM:
        body = f'{{"message": "Done", "priority": {priority}}}'
    reply = await post(sender, {"Content-Type": content_type}, body.encode())
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_priority")
    assert await waiting(server, phone) == []


async def test_a_capped_token_is_refused_whoevers_priority_it_is(server: RunningServer, phone: DeviceActor):
    made = await phone.call("POST", "/v1/tokens", json={"label": "capped", "priority_cap": "default"})
    capped = Program(server.http, made.json()["token"])
    for reply in (
        await post(capped, {"Priority": "4"}),
        await post(capped, {"Content-Type": "application/json"}, b'{"message": "Done", "priority": 8}'),
    ):
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "priority_capped")
    assert await waiting(server, phone) == []
    assert (await post(capped, {"Priority": "3"})).status_code == 200


@pytest.mark.parametrize("content_type", [None, "text/plain;charset=UTF-8", FORM])
@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        ('{"message": "Done", "title": "NAS"}', ["looks_like_json"]),
        (' {\n "priority": 5,\n}\n', ["looks_like_json"]),
        ("{{ msg }}", []),
        ('{"unfinished": ', []),
        ("[NAS] {down}", []),
    ],
)
async def test_text_that_looks_like_json_stays_text_and_a_warning_says_so(
    server: RunningServer, phone: DeviceActor, sender: Program, text: str, warnings: list[str], content_type: str | None
):
    reply = await post(sender, {"Content-Type": content_type} if content_type else {}, text.encode())
    assert codes(reply) == warnings
    assert await latest(server, phone) == {"message": text}
