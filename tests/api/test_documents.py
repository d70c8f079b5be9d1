"""POST /v1/documents: names that are safe everywhere, sizes to the byte."""

import pytest

from tests.actors import DeviceActor, Program, enroll
from tests.api.sent import entries, latest, waiting
from tests.builders import NOW
from tests.running import RunningServer

SIZE_MAX = 131_072


async def post(sender: Program, filename: str = "report.csv", content: str = "day,orders\n", **fields: object):
    return await sender.call("POST", "/v1/documents", json={"filename": filename, "content": content} | fields)


async def test_a_document_arrives_to_the_byte(server: RunningServer, phone: DeviceActor, sender: Program):
    content = "Ä;\r\n\t\U0001f600\u2028\n"
    reply = await post(sender, content=content, title="Orders")
    assert reply.status_code == 201
    assert reply.json() == {
        "document_id": reply.json()["document_id"],
        "byte_length": len(content.encode()),
        "delivered_to": [{"device_id": phone.id, "type": "android"}],
        "warnings": [],
    }
    [envelope] = await waiting(server, phone, "document")
    assert (envelope.id, envelope.source) == (
        reply.json()["document_id"],
        {"token": "Default", "token_id": sender.id, "colour": "teal"},
    )
    assert envelope.payload == {"filename": "report.csv", "content": content, "title": "Orders"}
    assert (await entries(server, phone))[-1].expires_at == NOW + 259_200


@pytest.mark.parametrize(
    "filename",
    [
        "a.txt",
        "REPORT.TXT",
        "two words (2).md",
        "Übersicht – März.csv",
        "報告.log",
        "\U0001f600.json",
        "archive.tar.txt",
        "con-troller.txt",
        "console.txt",
        "my.con.txt",
        "com10.txt",
        "x" * 116 + ".txt",
        "main.rs",
        "fix.patch",
    ],
)
async def test_an_honest_name_is_taken(server: RunningServer, phone: DeviceActor, sender: Program, filename: str):
    assert (await post(sender, filename)).status_code == 201
    assert (await latest(server, phone, "document"))["filename"] == filename


@pytest.mark.parametrize(
    "filename",
    [
        "",
        ".",
        "..",
        ".txt",
        ".bashrc.txt",
        "txt",
        "no-extension",
        "x" * 117 + ".txt",
        "../up.txt",
        "a/b.txt",
        "a\\b.txt",
        "/etc/passwd.txt",
        "C:file.txt",
        "stream.txt:hidden.txt",
        "new\nline.txt",
        "nul\x00.txt",
        "tab\t.txt",
        "del\x7f.txt",
        "c1\x9b.txt",
        "invoice\u202etxt.exe",
        "invoice\u202egpj.txt",
        "zero\u200bwidth.txt",
        "line\u2028.txt",
        "bom\ufeff.txt",
        "CON.txt",
        "con.txt",
        "Con .txt",
        "AUX.tar.txt",
        "nul.txt",
        "COM1.txt",
        "COM\u00b9.txt",
        "lpt9.csv",
        "CONIN$.txt",
        "trailing.txt.",
        "trailing.txt ",
        " leading.txt",
        "what?.txt",
        "star*.txt",
        "pipe|.txt",
        'quote".txt',
        "<b>.txt",
        "page.html",
        "page.htm",
        "page.xhtml",
        "image.svg",
        "run.sh",
        "run.bat",
        "run.cmd",
        "run.ps1",
        "run.exe",
        "run.js",
        "run.mjs",
        "run.desktop",
        "run.url",
        "run.lnk",
        "run.command",
        "run.jar",
        "doc.pdf",
        "page.html.",
        "txt.",
    ],
)
async def test_a_name_that_is_unsafe_anywhere_is_refused(
    server: RunningServer, phone: DeviceActor, sender: Program, filename: str
):
    reply = await post(sender, filename)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_filename")
    assert await waiting(server, phone, "document") == []


async def test_128_kib_and_not_one_byte_more(server: RunningServer, phone: DeviceActor, sender: Program):
    for content in ("x" * SIZE_MAX, "\U0001f600" * (SIZE_MAX // 4), "\x01" * SIZE_MAX):
        reply = await post(sender, content=content)
        assert (reply.status_code, reply.json()["byte_length"]) == (201, SIZE_MAX)
    assert [len(each.payload["content"].encode()) for each in await waiting(server, phone, "document")] == [
        SIZE_MAX
    ] * 3
    for content in ("x" * (SIZE_MAX + 1), "é" + "x" * (SIZE_MAX - 1)):
        reply = await post(sender, content=content)
        assert (reply.status_code, reply.json()["error"]["code"]) == (413, "payload_too_large")
        assert reply.json()["error"]["details"] == {"size": SIZE_MAX + 1, "max": SIZE_MAX}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"content": ""}, "invalid_content"),
        ({"content": 5}, "invalid_content"),
        ({"title": ""}, "invalid_title"),
        ({"title": "x" * 101}, "invalid_title"),
        ({"device": ","}, "invalid_device"),
        ({"filename": 5}, "invalid_filename"),
    ],
)
async def test_each_other_field_is_named_when_it_is_wrong(sender: Program, fields: dict[str, object], code: str):
    reply = await post(sender, **fields)  # type: ignore[arg-type]
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, code)


async def test_it_needs_the_scope_and_goes_to_whom_it_is_meant_for(server: RunningServer, phone: DeviceActor):
    desk = await enroll(server, label="Desk", class_="desktop", type="web")
    assert (await post(await phone.new_token(scopes=["send"]))).status_code == 403
    reply = await post(await phone.new_token(scopes=["files"]), device="desk,nobody")
    assert [each["device_id"] for each in reply.json()["delivered_to"]] == [desk.id]
    assert [each["code"] for each in reply.json()["warnings"]] == ["unknown_device"]
    assert await waiting(server, phone, "document") == []
    trial = await post(await phone.new_token(test=True))
    assert (trial.status_code, trial.json()["delivered_to"]) == (201, [])
