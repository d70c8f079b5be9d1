"""Pushover's calls: every form its clients send, cut instead of refused, and its shape for whatever goes wrong."""

import base64
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from reflecto.contract.ids import short_form
from reflecto.contract.tokens import CreateTokenRequest
from reflecto.core.tokens import new_token
from tests.actors import DeviceActor, Program, enroll
from tests.api.sent import latest, waiting
from tests.builders import NOW, make_token
from tests.running import RunningServer

PATH = "/1/messages.json"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
IMAGES = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(100),
    "image/gif": b"GIF89a" + bytes(100),
    "image/webp": b"RIFF\x10\0\0\0WEBP" + bytes(100),
}


async def send(sender: Program, **fields: Any) -> httpx.Response:
    """Send as JSON."""
    body = {"token": sender.token, "user": "me", "message": "Disk full"} | fields
    return await sender.http.post(PATH, json=body)


async def codes(sender: Program, **fields: Any) -> list[str]:
    """Send and return the codes of the warnings."""
    sent = await send(sender, **fields)
    assert sent.status_code == 200, sent.text
    return [warning["code"] for warning in sent.json().get("warnings", [])]


@pytest.fixture
def form(sender: Program) -> bytes:
    """A message as a urlencoded form."""
    return urlencode({"token": sender.token, "user": "me", "message": "50% ä & more", "priority": "1"}).encode()


async def test_a_body_that_names_no_field_is_the_message_itself(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    sent = await sender.http.post(PATH, params={"token": sender.token}, content="50% & more")
    assert sent.status_code == 200
    assert (await latest(server, phone))["message"] == "50% & more"


@pytest.mark.parametrize(
    "headers", [{"content-type": "application/x-www-form-urlencoded"}, {}, {"content-type": "text/plain"}]
)
async def test_a_form_is_read_whatever_it_calls_itself(
    server: RunningServer, phone: DeviceActor, form: bytes, headers: dict[str, str]
):
    sent = await server.http.post(PATH, content=form, headers=headers)
    assert (sent.status_code, sent.json().keys()) == (200, {"status", "request"})
    assert await latest(server, phone) == {"message": "50% ä & more", "priority": "high"}


async def test_fields_may_all_stand_in_the_query(server: RunningServer, phone: DeviceActor, form: bytes):
    sent = await server.http.post(f"{PATH}?{form.decode()}")
    assert sent.status_code == 200
    assert await latest(server, phone) == {"message": "50% ä & more", "priority": "high"}


async def test_the_body_goes_before_the_query_and_the_last_of_two_before_the_first(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    content = f"token={sender.token}&message=first&message=last".encode()
    sent = await server.http.post(f"{PATH}?message=query&title=kept", content=content)
    assert sent.status_code == 200
    assert await latest(server, phone) == {"message": "last", "title": "kept"}


async def test_json_is_read_whatever_it_calls_itself(server: RunningServer, phone: DeviceActor, sender: Program):
    for media_type in ("application/json", "application/x-www-form-urlencoded", "text/plain", ""):
        content = b'{"token": "%s", "message": "As %s", "priority": "-1"}' % (
            sender.token.encode(),
            media_type.encode(),
        )
        headers = {"content-type": media_type} if media_type else {}
        assert (await server.http.post(PATH, content=content, headers=headers)).status_code == 200
        assert await latest(server, phone) == {"message": f"As {media_type}", "priority": "low"}


async def test_what_is_no_utf_8_is_sent_with_marks_in_its_place(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    content = b"token=%s&message=Gr\xfc\xdfe%%FC" % sender.token.encode()
    assert (await server.http.post(PATH, content=content)).status_code == 200
    assert await latest(server, phone) == {"message": "Gr\ufffd\ufffde\ufffd"}


@pytest.mark.parametrize(
    ("name", "most"), [("message", 1_024), ("title", 250), ("url_title", 100)], ids=["message", "title", "url_title"]
)
@pytest.mark.parametrize("character", ["t", "ä", "界", "\U0001f600"], ids=ascii)
async def test_as_many_characters_as_pushover_takes_arrive_and_further_ones_are_cut(
    server: RunningServer, phone: DeviceActor, sender: Program, name: str, most: int, character: str
):
    url = {"url": "https://nas.example/"}
    assert await codes(sender, **url, **{name: character * most}) == []
    assert (await latest(server, phone))[name] == character * most
    assert await codes(sender, **url, **{name: character * (most + 1)}) == [f"{name}_cut"]
    assert (await latest(server, phone))[name] == character * most


async def test_everything_at_its_longest_fits(server: RunningServer, phone: DeviceActor, sender: Program):
    fields = {
        "message": "\x01" * 1_024,  # six bytes each in JSON
        "title": "\x01" * 250,
        "url": "https://nas.example/" + "x" * 492,
        "url_title": "\x01" * 100,
    }
    assert await codes(sender, **fields) == []
    assert await latest(server, phone) == fields


async def test_a_url_is_cut_at_512_characters(server: RunningServer, phone: DeviceActor, sender: Program):
    assert await codes(sender, url="https://nas.example/" + "x" * 493) == ["url_cut"]
    assert len((await latest(server, phone))["url"]) == 512


async def test_a_cut_leaves_no_half_of_a_tag_or_entity(server: RunningServer, phone: DeviceActor, sender: Program):
    for tail in ('<a href="https://nas.example/">nas</a>', "&amp;", "<b>bold</b>"):
        assert await codes(sender, html=1, message="x" * 1_022 + tail) == ["message_cut"]
        assert (await latest(server, phone))["message"] == "x" * 1_022
    assert await codes(sender, html=1, message="<" + "x" * 2_000) == ["message_cut"]
    assert len((await latest(server, phone))["message"]) == 1_024


@pytest.mark.parametrize(
    "url",
    [
        "homeassistant://navigate/x",
        "tel:+4930123456",
        "mailto:me@example.org?subject=x",
        "spotify:track:1",
        "shortcuts://run-shortcut?name=Lights",
        "HTTPS://NAS.example/",
        "http://192.168.1.2:8123/lovelace",
    ],
)
async def test_a_url_of_an_app_is_passed_on(server: RunningServer, phone: DeviceActor, sender: Program, url: str):
    assert await codes(sender, url=url) == []
    assert (await latest(server, phone))["url"] == url


async def test_blanks_in_a_url_are_escaped(server: RunningServer, phone: DeviceActor, sender: Program):
    assert await codes(sender, url=" app://open a door ") == []
    assert (await latest(server, phone))["url"] == "app://open%20a%20door"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,<script>",
        "file:///etc/passwd",
        "vbscript:x",
        "blob:https://nas.example/1",
        "filesystem:https://nas.example/1",
        "view-source:https://nas.example/",
        "about:blank",
        "content://contacts",
        "ms-msdt:/id",
        "\u200bjavascript:x",
        "no-scheme.example/x",
        "/relative",
        "https:\\evil.example",
        "http://evil.example\\@bank.example/",
        "https://",
        "http:///x",
    ],
)
async def test_a_url_that_no_phone_should_open_is_left_out_and_the_message_arrives(
    server: RunningServer, phone: DeviceActor, sender: Program, url: str
):
    assert await codes(sender, url=url, url_title="Job") == ["url_dropped"]
    assert await latest(server, phone) == {"message": "Disk full"}


@pytest.mark.parametrize("value", [1, "1", True, "true", "True"], ids=repr)
async def test_html_monospace_and_timestamp_are_passed_on(
    server: RunningServer, phone: DeviceActor, sender: Program, value: object
):
    assert await codes(sender, html=value, message="<b>Disk</b> full<br>&amp; more", timestamp=str(NOW - 60)) == []
    assert await latest(server, phone) == {
        "message": "<b>Disk</b> full<br>&amp; more",
        "html": True,
        "timestamp": NOW - 60,
    }
    assert await codes(sender, monospace=value) == []
    assert await latest(server, phone) == {"message": "Disk full", "monospace": True}
    assert await codes(sender, html=value, monospace=value) == ["monospace_dropped"]
    assert await latest(server, phone) == {"message": "Disk full", "html": True}


@pytest.mark.parametrize("value", [0, "0", False, "", None, "no"], ids=repr)
async def test_html_may_be_off(server: RunningServer, phone: DeviceActor, sender: Program, value: object):
    assert await codes(sender, html=value, monospace=value) == []
    assert await latest(server, phone) == {"message": "Disk full"}


@pytest.mark.parametrize("timestamp", ["yesterday", -1, 10**15, [], "nan"], ids=repr)
async def test_a_timestamp_of_no_calendar_is_left_out(
    server: RunningServer, phone: DeviceActor, sender: Program, timestamp: object
):
    assert await codes(sender, timestamp=timestamp) == ["timestamp_dropped"]
    assert await latest(server, phone) == {"message": "Disk full"}


async def test_a_sound_is_named_and_a_ttl_ends_the_message(server: RunningServer, phone: DeviceActor, sender: Program):
    assert await codes(sender, sound="none", ttl="60.0") == []
    assert await latest(server, phone) == {"message": "Disk full", "sound": "none", "delete_at": NOW + 60}
    server.clock.advance(60)
    assert await waiting(server, phone) == []


@pytest.mark.parametrize("ttl", ["soon", 0, -5])
async def test_a_ttl_that_is_none_is_left_out(server: RunningServer, phone: DeviceActor, sender: Program, ttl: object):
    assert await codes(sender, ttl=ttl) == ["ttl_dropped"]
    assert await latest(server, phone) == {"message": "Disk full"}


@pytest.mark.parametrize("media_type", IMAGES)
async def test_a_picture_goes_with_the_message_however_it_is_attached(
    server: RunningServer, phone: DeviceActor, sender: Program, media_type: str
):
    content = IMAGES[media_type]
    expected = {"media_type": media_type, "data": base64.b64encode(content).decode()}
    fields = {"token": sender.token, "message": "Door"}
    # Some clients name no type, or a general one: the picture itself tells.
    for sent_type in (media_type, "application/octet-stream"):
        files = {"attachment": ("door", content, sent_type)}
        sent = await server.http.post(PATH, data=fields, files=files)
        assert sent.json().keys() == {"status", "request"}
        assert await latest(server, phone) == {"message": "Door", "image": expected}
    in_text = {"attachment_base64": expected["data"], "attachment_type": media_type}
    for form, body in ((fields | in_text, None), (None, fields | in_text)):
        sent = await server.http.post(PATH, data=form, json=body)
        assert sent.json().keys() == {"status", "request"}
        assert await latest(server, phone) == {"message": "Door", "image": expected}


async def test_base64_may_be_broken_into_lines(server: RunningServer, phone: DeviceActor, sender: Program):
    broken = base64.encodebytes(PNG * 5).decode().replace("\n", "\r\n")
    for form, body in (({"attachment_base64": broken}, None), (None, {"attachment_base64": broken})):
        fields = {"token": sender.token, "message": "Door"}
        sent = await server.http.post(PATH, data=form and fields | form, json=body and fields | body)
        assert sent.json().keys() == {"status", "request"}
        assert (await latest(server, phone))["image"]["data"] == base64.b64encode(PNG * 5).decode()


async def test_a_picture_of_40_kib_is_passed_on_and_a_larger_one_dropped(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    largest = PNG + bytes(40_960 - len(PNG))
    for content, warnings in ((largest, []), (largest + b"x", ["attachment_dropped"])):
        encoded = base64.b64encode(content).decode()
        fields = {"token": sender.token, "message": "Door"}
        replies = [
            await server.http.post(PATH, data=fields, files={"attachment": ("door.png", content)}),
            await server.http.post(PATH, data=fields | {"attachment_base64": encoded}),
            await server.http.post(PATH, json=fields | {"attachment_base64": encoded}),
        ]
        for sent in replies:
            assert sent.status_code == 200
            assert [warning["code"] for warning in sent.json().get("warnings", [])] == warnings
    carried = [set(envelope.payload) == {"message", "image"} for envelope in await waiting(server, phone)]
    assert carried == [True] * 3 + [False] * 3


@pytest.mark.parametrize("content", [b"%PDF-1.7" + bytes(100), b"<svg onload=alert(1)>", b"GIF8"])
async def test_what_is_no_picture_is_dropped_with_a_warning(
    server: RunningServer, phone: DeviceActor, sender: Program, content: bytes
):
    fields = {"token": sender.token, "message": "Door"}
    sent = await server.http.post(PATH, data=fields, files={"attachment": ("a.png", content, "image/png")})
    assert [warning["code"] for warning in sent.json()["warnings"]] == ["attachment_dropped"]
    assert await codes(sender, attachment_base64="?" + base64.b64encode(content).decode()) == ["attachment_dropped"]
    assert [envelope.payload.keys() for envelope in await waiting(server, phone)] == [{"message"}, {"message"}]


@pytest.mark.parametrize("encoding", ["form", "json"])
async def test_a_picture_of_5_mib_in_base64_costs_a_warning_only(
    server: RunningServer, phone: DeviceActor, sender: Program, encoding: str
):
    fields = {"token": sender.token, "message": "Door", "attachment_base64": "A" * (5_242_880 * 4 // 3)}
    form, body = (None, fields) if encoding == "json" else (fields, None)
    sent = await server.http.post(PATH, data=form, json=body)
    assert sent.status_code == 200
    assert [warning["code"] for warning in sent.json()["warnings"]] == ["attachment_dropped"]
    assert await latest(server, phone) == {"message": "Door"}


async def test_numbers_may_stand_where_a_text_should(server: RunningServer, phone: DeviceActor, sender: Program):
    assert await codes(sender, message=42, title=1.5) == []
    assert await latest(server, phone) == {"message": "42", "title": "1.5"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"message": ""}, "invalid_message"),
        ({"message": None}, "invalid_message"),
        ({"message": []}, "invalid_message"),
        ({"priority": 3}, "invalid_priority"),
        ({"priority": "high"}, "invalid_priority"),
        ({"token": None}, "missing_token"),
        ({"token": "rfk_live_" + "b" * 32}, "invalid_token"),
        ({"token": "b" * 30}, "invalid_token"),
    ],
)
async def test_what_says_nothing_is_refused_in_pushover_s_shape(
    server: RunningServer, phone: DeviceActor, sender: Program, fields: dict[str, Any], code: str
):
    refused = await send(sender, **fields)
    assert refused.json().keys() == {"status", "errors", "request"}
    assert (refused.json()["status"], refused.json()["errors"]) == (0, [code])
    assert refused.status_code == (401 if "token" in code else 400)
    assert await waiting(server, phone) == []


@pytest.mark.parametrize("priority", [" 1", "1 ", "\t1\n"])
async def test_blanks_around_a_priority_are_none_of_it(
    server: RunningServer, phone: DeviceActor, sender: Program, priority: str
):
    assert await codes(sender, priority=priority) == []
    assert (await latest(server, phone))["priority"] == "high"


async def test_a_blank_priority_is_the_default(server: RunningServer, phone: DeviceActor, sender: Program):
    assert await codes(sender, priority=" ") == []
    assert "priority" not in await latest(server, phone)


async def test_nothing_under_1_is_answered_in_another_shape(server: RunningServer, sender: Program):
    token = {"token": sender.token}
    refusals = {
        404: [
            await server.http.get("/1/glances.json"),
            await server.http.post("/1/groups/1.json", data=token),
            await server.http.get("/1/receipts/r" + "x" * 29 + ".json", params=token),
            await server.http.post("/1/receipts/nothing/cancel.json", data=token),
            await server.http.get("/1/"),
        ],
        405: [await server.http.get(PATH), await server.http.delete("/1/sounds.json")],
        413: [await server.http.post(PATH, json=token | {"message": "x" * 400_000})],
        400: [await server.http.post(PATH, content=b"{", headers={"content-type": "application/json"})],
    }
    for status, replies in refusals.items():
        for reply in replies:
            assert reply.status_code == status, reply.url
            assert reply.headers["content-type"] == "application/json"
            assert (reply.json().keys(), reply.json()["status"]) == ({"status", "errors", "request"}, 0)


async def test_the_first_30_characters_open_pushover_s_calls_and_no_others(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    short = sender.token.removeprefix("rfk_live_")[:30]
    for path in (PATH, "/v1/messages.json"):
        sent = await server.http.post(path, data={"token": short, "message": "Short"})
        assert sent.status_code == 200
    assert len(await waiting(server, phone)) == 2
    assert (await server.http.get("/1/sounds.json", params={"token": short})).status_code == 200
    as_bearer = {"authorization": f"Bearer {short}"}
    refused = [
        await server.http.post("/v1/send", content=b"x", headers=as_bearer),
        await server.http.post(f"/v1/send/{short}", content=b"x"),
        await server.http.post("/v1/interactions", json={"question": "Deploy?"}, headers=as_bearer),
        await server.http.get("/v1/devices", headers=as_bearer),
    ]
    assert [(each.status_code, each.json()) for each in refused] == [(401, {"error": "invalid_token"})] * 4
    for wrong in (short[:29], short + "x", short[:29] + "-", sender.token[:39]):
        assert (await server.http.post(PATH, data={"token": wrong, "message": "x"})).status_code == 401


async def test_the_short_form_of_a_revoked_token_opens_nothing(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    program = await phone.new_token()
    await phone.revoke(program)
    assert (await send(Program(server.http, short_form(program.token)))).status_code == 401
    assert (await send(Program(server.http, short_form(sender.token)))).status_code == 200


async def test_an_older_token_has_its_short_form_from_its_next_use_in_full(server: RunningServer, phone: DeviceActor):
    made, reply = new_token(phone.owner_id, CreateTokenRequest(label="CI"), NOW)
    old = make_token(phone.owner_id, hash=made.hash)
    await server.services.store.add_token(old)
    short = Program(server.http, short_form(reply.token))
    assert (await send(short)).status_code == 401
    assert (await send(Program(server.http, reply.token))).status_code == 200
    assert (await send(short)).status_code == 200


async def test_a_test_token_reaches_nobody_through_its_short_form_either(server: RunningServer, phone: DeviceActor):
    program = await phone.new_token(test=True)
    assert await codes(Program(server.http, short_form(program.token))) == ["test_token"]
    assert await waiting(server, phone) == []


async def test_a_name_that_nobody_has_means_everybody_and_says_so(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    desktop = await enroll(server, owner=phone, label="desk", class_="desktop")
    assert await codes(sender, device="retired") == ["unknown_device"]
    assert await codes(sender, device="desk", message="For the desk") == []
    assert (await latest(server, desktop))["message"] == "For the desk"
    assert [envelope.payload["message"] for envelope in await waiting(server, phone)][-1] == "Disk full"


async def test_a_picture_of_any_size_in_json_costs_the_message_nothing(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    for length, sent in ((7_000_000, 200), (170_000, 200)):
        body = {"token": sender.token, "attachment_base64": "A" * length, "message": "Motion"}
        reply = await server.http.post(PATH, json=body)
        assert (reply.status_code, [each["code"] for each in reply.json()["warnings"]]) == (
            sent,
            ["attachment_dropped"],
        )
    assert len(await waiting(server, phone)) == 2


async def test_json_that_is_long_without_its_picture_is_refused_before_it_is_parsed(
    server: RunningServer, sender: Program
):
    reply = await server.http.post(PATH, json={"token": sender.token, "message": "m", "x": [0] * 200_000})
    assert (reply.status_code, reply.json()["errors"]) == (413, ["payload_too_large"])
