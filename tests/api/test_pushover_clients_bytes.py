"""What clients in other languages send, byte for byte as it was recorded from them with these arguments.

They are npm's pushover-notifications 0.2.2 (also inside Node-RED) and 1.2.2, python-pushover2 0.5, and Go's
gregdel/pushover 1.3, which takes nothing for a token but 30 letters and digits.
"""

import re

import pytest

from reflecto.contract.ids import short_form
from tests.actors import DeviceActor, Program
from tests.api.sent import latest
from tests.builders import NOW
from tests.running import RunningServer

USER = b"uQiRzpo4DXghDmr9QzzfQu27cmVRsG"
EXPECTED = {"message": "Node \u00e4 & 50%", "title": "Backup", "priority": "high", "sound": "magic"}


def part(name: bytes, value: bytes) -> bytes:
    return b'Content-Disposition: form-data; name="%s"\r\n\r\n%s' % (name, value)


NODE_0_2 = (
    b"token=TOKEN&user=" + USER + b"&message=Node%20%C3%A4%20%26%2050%25&title=Backup&sound=magic&device=&priority=1"
    b"&url=&url_title=&timestamp="
)
MARK = b"--56o7c3bjg9r"
NODE_1_2 = (
    (MARK + b"\r\n")
    + (b"\r\n" + MARK + b"\r\n").join(
        [
            part(b"token", b"TOKEN"),
            part(b"user", USER),
            part(b"message", "Node \u00e4 & 50%".encode()),
            part(b"title", b"Backup"),
            part(b"sound", b"magic"),
            part(b"priority", b"1"),
        ]
    )
    + MARK
    + b"--\r\n"
)  # no line break before the last boundary
NODE_1_2_FILE = (
    (MARK + b"\r\n")
    + (b"\r\n" + MARK + b"\r\n").join(
        [
            part(b"token", b"TOKEN"),
            part(b"user", USER),
            part(b"message", b"Node"),
            part(b"title", b"Door"),
            (
                b'Content-Disposition: form-data; name="attachment"; filename="d.png"\r\n'
                b"Content-Type: application/octet-stream\r\n\r\n\x89PNG\r\n\x1a\n\0"
            ),
        ]
    )
    + b"\r\n"
    + MARK
    + b"--\r\n"
)
PYTHON_2 = "user=USER&message=Node+%C3%A4+%26+50%25&title=Backup&sound=magic&priority=1&html=True&token=TOKEN"
GO = b"message=Fire&monospace=1&priority=2&retry=60&expire=3600&timestamp=1754800000&token=TOKEN&ttl=60&user=" + USER


@pytest.mark.parametrize("path", ["/1/messages.json", "/v1/messages.json"])
@pytest.mark.parametrize(
    ("headers", "content"),
    [
        ({}, NODE_0_2),
        ({"content-type": "multipart/form-data; boundary=56o7c3bjg9r"}, NODE_1_2),
    ],
    ids=["0.2.2", "1.2.2"],
)
async def test_node(
    server: RunningServer, phone: DeviceActor, sender: Program, headers: dict[str, str], content: bytes, path: str
):
    content = content.replace(b"TOKEN", sender.token.encode())
    sent = await server.http.post(path, content=content, headers=headers)
    assert (sent.status_code, sent.json()["status"]) == (200, 1)
    assert await latest(server, phone) == EXPECTED


async def test_node_with_a_file(server: RunningServer, phone: DeviceActor, sender: Program):
    content = NODE_1_2_FILE.replace(b"TOKEN", sender.token.encode())
    headers = {"content-type": "multipart/form-data; boundary=56o7c3bjg9r"}
    assert (await server.http.post("/1/messages.json", content=content, headers=headers)).status_code == 200
    image = {"media_type": "image/png", "data": "iVBORw0KGgoA"}
    assert await latest(server, phone) == {"message": "Node", "title": "Door", "image": image}


async def test_a_last_value_without_its_boundary_is_refused(server: RunningServer, sender: Program):
    content = NODE_1_2.replace(b"TOKEN", sender.token.encode()).removesuffix(MARK + b"--\r\n")
    headers = {"content-type": "multipart/form-data; boundary=56o7c3bjg9r"}
    refused = await server.http.post("/1/messages.json", content=content, headers=headers)
    assert (refused.status_code, refused.json()["errors"]) == (400, ["invalid_body"])


async def test_python_pushover2_writes_its_fields_into_the_query(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    query = PYTHON_2.replace("USER", USER.decode()).replace("TOKEN", sender.token)
    sent = await server.http.post(f"/1/messages.json?{query}", headers={"content-length": "0"})
    assert sent.status_code == 200
    assert await latest(server, phone) == EXPECTED | {"html": True}
    emergency = query.replace("priority=1", "priority=2&retry=60&expire=600")
    raised = (await server.http.post(f"/1/messages.json?{emergency}")).json()
    polled = await server.http.get(f"/1/receipts/{raised['receipt']}.json?token={sender.token}")
    assert {"expired", "called_back", "acknowledged", "acknowledged_by_device"} <= polled.json().keys()
    cancelled = await server.http.post(f"/1/receipts/{raised['receipt']}/cancel.json?token={sender.token}")
    assert cancelled.json()["status"] == 1
    unknown = await server.http.post(f"/1/glances.json?token={sender.token}&text=x")
    assert (unknown.status_code, unknown.json()["errors"]) == (404, ["not_found"])  # it reads `errors` of any 4xx


async def test_go_sends_the_short_form_and_reads_quota_and_receipt(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    short = short_form(sender.token)
    assert re.fullmatch(r"[A-Za-z0-9]{30}", short)
    content = GO.replace(b"TOKEN", short.encode())
    headers = {"content-type": "application/x-www-form-urlencoded"}
    raised = await server.http.post("/1/messages.json", content=content, headers=headers)
    assert raised.status_code == 200
    for name in ("limit", "remaining", "reset"):
        assert int(raised.headers[f"X-Limit-App-{name}"]) > 0
    receipt = raised.json()["receipt"]
    assert re.fullmatch(r"[A-Za-z0-9]{30}", receipt)
    details = (await server.http.get(f"/1/receipts/{receipt}.json?token={short}")).json()
    for name in ("acknowledged_at", "last_delivered_at", "expires_at", "called_back_at"):
        assert isinstance(details[name], int)  # it takes them for times without asking
    assert (await latest(server, phone)) == {
        "message": "Fire",
        "priority": "high",
        "monospace": True,
        "timestamp": NOW,
    }
    cancelled = await server.http.post(
        f"/1/receipts/{receipt}/cancel.json", content=b"token=" + short.encode(), headers=headers
    )
    assert cancelled.json()["status"] == 1


async def test_json_with_the_byte_order_mark_of_windows_is_read(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    body = b'\xef\xbb\xbf{"token": "%s", "message": "Node"}' % sender.token.encode()
    for media_type in ("application/json", "application/x-www-form-urlencoded"):
        sent = await server.http.post("/1/messages.json", content=body, headers={"content-type": media_type})
        assert (sent.status_code, sent.json()["status"]) == (200, 1)
        assert (await latest(server, phone))["message"] == "Node"
