"""The largest and ugliest bodies that each endpoint takes, or has to read before it refuses them.

A new kind of body gets a row here; `bench.stalls` measures how long the server's loop stands still over each.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from reflecto.contract.limits import (
    DETAILS_MAX_BYTES,
    DOCUMENT_BODY_MAX_BYTES,
    DOCUMENT_MAX_BYTES,
    EVENT_MAX_BYTES,
    IMAGE_MAX_BYTES,
    JSON_BODY_MAX_BYTES,
    JSON_VALUES_MAX,
    MCP_BODY_MAX_BYTES,
    PICTURE_MAX_BYTES,
    PUSHOVER_BODY_MAX_BYTES,
    QUESTION_BODY_MAX_BYTES,
    RELAY_BLOB_MAX_BYTES,
    RELAY_BODY_MAX_BYTES,
    SEND_BODY_MAX_BYTES,
)
from tests.builders import DeviceKeys, enrolment_body

Caller = Literal["sender", "test", "device", "nobody"]

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data; boundary=frontier"
TEXT: Final = "text/plain"
NO_BREAK_SPACE: Final = "\u00a0"
HOOK: Final = "/hooks/claude-code"
HOOK_AT_ONCE: Final = f"{HOOK}?timeout=1"  # nobody taps: it asks, withdraws and replies
QUERY_BYTES: Final = 60_000  # what a request line may have, with its headers
PAIRING: Final = f"par_{'0' * 32}"
QUESTION: Final = f"int_{'0' * 32}"


@dataclass(frozen=True, slots=True)
class Ugly:
    """One request."""

    endpoint: str
    name: str
    body: bytes = b""
    content_type: str = JSON
    caller: Caller = "sender"
    path: str = ""  # where it is not the endpoint's
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """GET, POST, …."""
        return self.endpoint.partition(" ")[0]

    @property
    def target(self) -> str:
        """Where it goes."""
        return self.path or self.endpoint.partition(" ")[2].replace(HOOK, HOOK_AT_ONCE)


def filled(head: str, piece: str, max_bytes: int, tail: str) -> bytes:
    """Return `head`, as many pieces as fit, and `tail`."""
    room = max_bytes - len(head.encode()) - len(tail.encode())
    return (head + piece * (room // len(piece.encode())) + tail).encode()


def ugly_json(fields: str, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield JSON objects as large as they may be: `fields` ends with a comma, and what grows is a field unknown."""
    head = "{" + fields
    yield "deep JSON", filled(head + '"x":', "[", max_bytes, "}")
    yield "deep objects", filled(head + '"x":', '{"a":', max_bytes, "}")
    yield "a list of numbers", filled(head + '"x":[0', ",0", max_bytes, "]}")
    yield "a list of fractions", filled(head + '"x":[0', ",0.5", max_bytes, "]}")
    yield "a list of objects", filled(head + '"x":[{}', ",{}", max_bytes, "]}")
    yield "a list of pairs", filled(head + '"x":[{}', ',{"a":0}', max_bytes, "]}")
    yield "a list of lists", filled(head + '"x":[[]', ",[[]]", max_bytes, "]}")
    yield "many keys", many_keys(head, max_bytes)
    for name, piece, marks in (("pairs", ',{"a":0}', 3), ("lists", ",[[]]", 3), ("texts", ',"x"', 2)):
        count = min(JSON_VALUES_MAX // marks, max_bytes // len(piece)) - 40
        yield f"as many {name} as there may be", (head + '"x":[{}' + piece * count + "]}").encode()
    yield "a long text", filled(head + '"x":"', "x", max_bytes, '"}')
    yield "no-break spaces", filled(head + '"x":"', NO_BREAK_SPACE, max_bytes, '"}')
    yield "escapes", filled(head + '"x":"', "\\u2066", max_bytes, '"}')


def many_keys(head: str, max_bytes: int) -> bytes:
    """Return an object of as many different keys as fit."""
    count = max_bytes // 11
    keys = ",".join(f'"{number:06x}":0' for number in range(count))
    return (head + keys[: max_bytes - len(head) - 12].rpartition(",")[0] + "}").encode()


def ugly_messages(endpoint: str) -> Iterator[Ugly]:
    """Yield bodies of the endpoints that take messages in every form."""
    bound = SEND_BODY_MAX_BYTES
    for name, body in ugly_json('"message":"m",', bound):
        yield Ugly(endpoint, name, body)
    for grown in ("message", "title", "device", "url", "url_title"):
        others = '"url":"https://a",' if grown == "url_title" else ""
        yield Ugly(endpoint, f"{grown} of spaces", filled(f'{{{others}"{grown}":"', NO_BREAK_SPACE, bound, '"}'))
    yield Ugly(endpoint, "a name for each comma", filled('{"message":"m","device":"', "a,", bound, '"}'))
    yield Ugly(endpoint, "different names", named_devices('{"message":"m","device":"', bound))
    yield Ugly(endpoint, "tags", filled('{"message":"m","tags":["a"', ',"a"', bound, "]}"))
    yield Ugly(endpoint, "huge tags", filled('{"message":"m","tags":["', NO_BREAK_SPACE, bound, '"]}'))
    yield Ugly(
        endpoint,
        "actions",
        filled(
            '{"message":"m","actions":[{"label":"a","url":"https://a"}', ',{"label":"a","url":"https://a"}', bound, "]}"
        ),
    )
    yield Ugly(endpoint, "text of spaces", filled("", NO_BREAK_SPACE, bound, ""), TEXT)
    yield Ugly(endpoint, "100,000 fields", filled("message=m", "&a=", 400_000, ""), FORM)
    yield Ugly(endpoint, "fields to the bound", filled("message=m", "&a", bound, ""), FORM)
    yield Ugly(endpoint, "percent signs", filled("message=", "%C2%A0", bound, ""), FORM)
    yield Ugly(endpoint, "tags in a form", filled("message=m&tags=a", ",a", bound, ""), FORM)
    yield Ugly(endpoint, "names in a form", filled("message=m&device=a", ",a", bound, ""), FORM)
    yield Ugly(endpoint, "deep actions in a form", filled("message=m&actions=", "[", bound, ""), FORM)
    yield Ugly(endpoint, "wide actions in a form", filled("message=m&actions=[{}", ",{}", bound, "]"), FORM)
    part = '--frontier\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n'
    message = '--frontier\r\nContent-Disposition: form-data; name="message"\r\n\r\nm\r\n'
    picture = '--frontier\r\nContent-Disposition: form-data; name="attachment"; filename="a.jpg"\r\n\r\n'
    end = "\r\n--frontier--\r\n"
    yield Ugly(endpoint, "10,000 parts", (message + part * 10_000 + end[2:]).encode(), MULTIPART)
    for name, piece in (("plain picture", "x"), ("picture of line ends", "\r\n"), ("of boundaries", "\r\n--frontie")):
        yield Ugly(endpoint, name, filled(message + picture, piece, PICTURE_MAX_BYTES, end), MULTIPART)
    header = '--frontier\r\nContent-Disposition: form-data; name="a"'
    for name, piece in (("parameters of a part", ";a=b"), ("quotes of a part", ';a="\\"'), ("a part's header", "x")):
        yield Ugly(endpoint, name, filled(message + header, piece, PICTURE_MAX_BYTES, f"\r\n\r\nx{end}"), MULTIPART)
    headers = message + '--frontier\r\nContent-Disposition: form-data; name="a"\r\n'
    yield Ugly(endpoint, "headers of a part", filled(headers, "a:b\r\n", PICTURE_MAX_BYTES, f"\r\nx{end}"), MULTIPART)


def named_devices(head: str, max_bytes: int) -> bytes:
    """Return a body that names as many devices as fit, each once."""
    names = ",".join(f"{number:x}" for number in range(max_bytes // 4))
    return (head + names[: max_bytes - len(head) - 8] + '"}').encode()


def ugly_documents() -> Iterator[Ugly]:
    endpoint, bound = "POST /v1/documents", DOCUMENT_BODY_MAX_BYTES
    for name, body in ugly_json('"filename":"a.txt","content":"c",', bound):
        yield Ugly(endpoint, name, body)
    yield Ugly(endpoint, "names", filled('{"filename":"a.txt","content":"c","device":"', "a,", bound, '"}'))
    yield Ugly(endpoint, "different names", named_devices('{"filename":"a.txt","content":"c","device":"', bound))
    yield Ugly(endpoint, "filename", filled('{"content":"c","filename":"', NO_BREAK_SPACE, bound, '.txt"}'))
    yield Ugly(endpoint, "title", filled('{"filename":"a.txt","content":"c","title":"', NO_BREAK_SPACE, bound, '"}'))
    content = {"filename": "a.txt", "content": "\x01" * DOCUMENT_MAX_BYTES}
    yield Ugly(endpoint, "128 KiB of control characters, 32 devices", json.dumps(content).encode())


def ugly_pushover() -> Iterator[Ugly]:
    """Yield bodies of Pushover's clients that only they may send: a picture in base64 makes them large."""
    endpoint, bound = "POST /1/messages.json", PUSHOVER_BODY_MAX_BYTES
    alarm = '"message":"m","priority":2,"retry":30,"expire":1,'
    for name, body in ugly_json(alarm, bound):
        yield Ugly(endpoint, f"{name}, an emergency", body)
    for name in ("message", "tags", "callback", "attachment_base64", "sound", "timestamp", "html", "user"):
        others = "" if name == "message" else alarm
        for piece, what in (("x", "letters"), (NO_BREAK_SPACE, "spaces"), ("\\u00a0", "escapes"), ("1", "digits")):
            yield Ugly(endpoint, f"{name} of {what}", filled(f'{{{others}"{name}":"', piece, bound, '"}'))
            # As long as a value may be and still be decoded.
            head = f'{{{others}"{name}":"'
            yield Ugly(endpoint, f"{name} of {what}, decoded", filled(head, piece, SEND_BODY_MAX_BYTES * 5, '"}'))
        yield Ugly(endpoint, f"{name} of a list", filled(f'{{{others}"{name}":["a"', ',"a"', bound, "]}"))
        yield Ugly(endpoint, f"{name} of a form", filled(f"{form_of(name)}{name}=", "x", bound, ""), FORM)
        yield Ugly(endpoint, f"{name} of percents in a form", filled(f"{form_of(name)}{name}=", "%C2", bound, ""), FORM)
    for what, piece in (("base64", "iVBO"), ("percents", "%2B%2F"), ("line breaks", "aaaa%0D%0A")):
        picture = filled("message=m&attachment_base64=", piece, bound, "")
        yield Ugly(endpoint, f"a picture of {what} in a form", picture, FORM)
        largest = filled("message=m&attachment_base64=", piece, IMAGE_MAX_BYTES * 4, "")
        yield Ugly(endpoint, f"the largest picture of {what} in a form", largest, FORM)
    tags = ",".join(f'"t{number}"' for number in range(9_000))
    one_text = f'{{{alarm}"tags":"'
    yield Ugly(endpoint, "tags of an emergency in one text", filled(one_text, "a,", SEND_BODY_MAX_BYTES * 5, '"}'))
    yield Ugly(endpoint, "9,000 tags of an emergency", f'{{{alarm}"tags":[{tags}]}}'.encode())
    yield Ugly(endpoint, "fields without a name", filled("message=m", "&", 400_000, ""), FORM)
    yield Ugly(endpoint, "a value without a name", filled("message=m&=", "%C2", bound, ""), FORM)
    yield Ugly(endpoint, "a name without a value", filled("message=m&", "%C2", bound, ""), FORM)
    yield Ugly(endpoint, "spaces before the body", filled("", " ", bound - 20, '{"message":"m"}'))
    yield Ugly(endpoint, "spaces in a form", filled("message=m", " ", bound, ""), FORM)
    small = filled('{"x":"', NO_BREAK_SPACE, bound, '"}')
    for call in ("POST /1/users/validate.json", f"POST /1/receipts/{'r' * 30}/cancel.json"):
        yield Ugly(call, "no-break spaces", small)
        yield Ugly(call, "many keys", many_keys("{", bound))
    yield Ugly("POST /1/receipts/cancel_by_tag/{tag}.json", "30 emergencies", path="/1/receipts/cancel_by_tag/a.json")


def form_of(name: str) -> str:
    """Return what is before a field in a form."""
    return "" if name == "message" else "message=m&priority=2&retry=30&expire=1&"


def ugly_hooks() -> Iterator[Ugly]:
    endpoint, bound = "POST /hooks/claude-code", EVENT_MAX_BYTES
    asks = '"hook_event_name":"PermissionRequest","tool_name":"Write","session_id":"s","tool_input":'
    for name, body in ugly_json(asks + "{},", bound):
        yield Ugly(endpoint, name, body, caller="test")
    for name, body in ugly_json('"command":"ls",', bound - len(asks) - 3):
        yield Ugly(endpoint, f"{name} in the input", b"{" + asks.encode() + body + b"}", caller="test")
    yield Ugly(
        endpoint,
        "an honest 1 MB Write",
        json.dumps(
            {
                "hook_event_name": "PermissionRequest",
                "tool_name": "Write",
                "session_id": "s",
                "tool_input": {"file_path": "/a", "content": "def f():\n    return 1  # añ\n" * 36_000},
            }
        ).encode(),
        caller="test",
    )
    bash = asks.replace("Write", "Bash")
    for name, text in (
        ("spaces", NO_BREAK_SPACE * 90_000),
        ("lines of spaces", f"{NO_BREAK_SPACE}\n" * 45_000),
        ("controls that nearly fit", "\x01" * 49_000),
    ):
        inside = json.dumps({f"field {number}": text for number in range(7)})
        yield Ugly(endpoint, f"fields of {name}", f"{{{bash}{inside}}}".encode(), caller="test")
        yield Ugly(
            endpoint, f"a command of {name}", f"{{{bash}{json.dumps({'command': text})}}}".encode(), caller="test"
        )
    short = ",".join(f'"{NO_BREAK_SPACE * 20}{number}":"{NO_BREAK_SPACE * 80}"' for number in range(9_000))
    yield Ugly(endpoint, "9,000 short fields", f"{{{bash}{{{short}}}}}".encode(), caller="test")
    patch = "*** Begin Patch\\n*** Add File: a\\n+"
    patches = filled(
        f'{{{bash.replace("Bash", "apply_patch")}{{"command":"{patch}', "a\\n+", bound, '\\n*** End Patch"}}'
    )
    yield Ugly(endpoint, "a patch of short lines", patches, caller="test")
    edits = ',{"old_string":"a","new_string":"b"}'
    yield Ugly(endpoint, "edits", filled("{" + asks + '{"edits":[{}', edits, bound, "]}}"), caller="test")
    for name in ("tool_name", "agent_type", "cwd"):
        fields = asks.replace(f'"{name}":"Write",', "")
        head = "{" + fields + f'{{}},"{name}":"'
        yield Ugly(endpoint, f"{name} of spaces", filled(head, NO_BREAK_SPACE, bound, '"}'), caller="test")
    for event, name in (
        ("Notification", "message"),
        ("Notification", "title"),
        ("Stop", "last_assistant_message"),
        ("SubagentStop", "agent_type"),
        ("Stop", "cwd"),
    ):
        head = f'{{"hook_event_name":"{event}","{name}":"'
        yield Ugly(endpoint, f"{event}'s {name}", filled(head, NO_BREAK_SPACE, bound, '"}'), caller="test")
        yield Ugly(endpoint, f"{event}'s {name}, marks", filled(head, "\\u2066", bound, '"}'), caller="test")
    asked = '{"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":{"questions":['
    question = '{"question":"q%s","header":"h","options":[{"label":"a"},{"label":"b"}]}'
    yield Ugly(endpoint, "questions", filled(asked + question, "," + question, bound, "]}}"), caller="test")
    head = asked + '{"question":"'
    yield Ugly(
        endpoint,
        "a question of spaces",
        filled(head, NO_BREAK_SPACE, bound, '","options":[{"label":"a"},{"label":"b"}]}]}}'),
        caller="test",
    )
    head = asked + '{"question":"q","options":[{"label":"a"}'
    yield Ugly(endpoint, "options", filled(head, ',{"label":"a"}', bound, "]}]}}"), caller="test")
    yield Ugly(
        endpoint,
        "a description",
        filled(head + ',{"label":"b","description":"', NO_BREAK_SPACE, bound, '"}]}]}}'),
        caller="test",
    )


def rpc(arguments: str, tool: str) -> str:
    return f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}'


def ugly_mcp() -> Iterator[Ugly]:
    endpoint, bound = "POST /mcp", MCP_BODY_MAX_BYTES
    accept = {"Accept": "application/json, text/event-stream"}
    around = len(rpc("", "send_file"))
    for name, body in ugly_json('"filename":"a.txt","content":"c",', bound - around):
        yield Ugly(endpoint, name, rpc(body.decode(), "send_file").encode(), headers=accept)
    for name, body in ugly_json('"jsonrpc":"2.0","method":"ping","id":1,', bound):
        yield Ugly(endpoint, f"{name} beside a ping", body, headers=accept)
    content = json.dumps({"filename": "a.txt", "content": "\x01" * DOCUMENT_MAX_BYTES})
    yield Ugly(endpoint, "128 KiB of control characters", rpc(content, "send_file").encode(), headers=accept)
    yield Ugly(
        endpoint,
        "a batch",
        filled('[{"jsonrpc":"2.0","method":"ping","id":1}', ',{"jsonrpc":"2.0","method":"ping","id":1}', bound, "]"),
        headers=accept,
    )


def ugly_relay(devices: list[str]) -> Iterator[Ugly]:
    endpoint, bound = "POST /v1/relay", RELAY_BODY_MAX_BYTES
    for name, body in ugly_json('"to":[],"blobs":[],', bound):
        yield Ugly(endpoint, name, body, caller="device")
    yield Ugly(endpoint, "blobs", filled(f'{{"to":["{devices[0]}"],"blobs":["a"', ',"a"', bound, "]}"), caller="device")
    yield Ugly(endpoint, "ids", filled('{"blobs":[],"to":["a"', ',"a"', bound, "]}"), caller="device")
    blob = base64.b64encode(b"\x01" + b"x" * (RELAY_BLOB_MAX_BYTES - 1)).decode()
    whole = {"to": devices, "blobs": [blob] * len(devices)}
    yield Ugly(endpoint, "32 blobs of 64 KiB", json.dumps(whole).encode(), caller="device")


def ugly_question() -> Iterator[Ugly]:
    endpoint, bound = "POST /v1/interactions", QUESTION_BODY_MAX_BYTES
    for name, body in ugly_json('"question":"q",', bound):
        yield Ugly(endpoint, name, body)
    yield Ugly(endpoint, "question of spaces", json.dumps({"question": NO_BREAK_SPACE * 5_000}).encode())
    block = '{"question":"q","details":[{"kind":"code","text":"'
    yield Ugly(endpoint, "details of escapes", filled(block, "\\u0001", bound, '"}]}'))
    yield Ugly(endpoint, "48 KiB of control characters", filled(block, "\\u0001", DETAILS_MAX_BYTES, '"}]}'))
    yield Ugly(endpoint, "48 KiB of a diff", filled(block, '+\\"a\\",[{\\n', DETAILS_MAX_BYTES, '"}]}'))
    yield Ugly(endpoint, "blocks", filled(block + '"}', ',{"kind":"text","text":""}', bound, "]}"))
    fields = '{"question":"q","details":[{"kind":"fields","fields":[{"name":"n","value":"v"}'
    yield Ugly(endpoint, "fields", filled(fields, ',{"name":"n","value":"v"}', bound, "]}]}"))


def ugly_small() -> Iterator[Ugly]:
    """Yield bodies of the endpoints whose JSON has 64 KiB at most."""
    bound = JSON_BODY_MAX_BYTES
    calls: list[tuple[str, Caller, dict[str, Any]]] = [
        ("POST /v1/reminders", "sender", {"message": "m", "at": 1}),
        ("POST /v1/ring", "sender", {}),
        ("POST /v1/enroll", "nobody", enrolment_body("0000-0000-0000-0000", DeviceKeys())),
        ("POST /v1/tokens", "device", {"label": "l"}),
        ("PATCH /v1/devices/self", "device", {}),
        ("POST /v1/sync/ack", "device", {"seq": 0}),
        ("POST /v1/pairings", "device", {"pairing_id": "p"}),
        (f"POST /v1/pairings/{PAIRING}/claim", "nobody", {"label": "l"}),
        (f"POST /v1/pairings/{PAIRING}/approve", "device", {"approval": "a"}),
        (f"POST /v1/pairings/{PAIRING}/greet", "device", {"nonce": "n"}),
        (f"POST /v1/interactions/{QUESTION}/answer", "device", {"choice_index": 0, "answered_at": 1}),
    ]
    for endpoint, caller, fields in calls:
        known = "".join(f"{json.dumps(name)}:{json.dumps(value)}," for name, value in fields.items())
        for name, body in ugly_json(known, bound):
            yield Ugly(endpoint, name, body, caller=caller)
        for grown in fields:
            spaces = json.dumps({**fields, grown: NO_BREAK_SPACE * 5_000}).encode()
            yield Ugly(endpoint, f"{grown} of spaces", spaces, caller=caller)
    answer = f"POST /v1/interactions/{QUESTION}/answer"
    comment = (
        '{"choice_index":0,"answered_at":1,"v":2,"number":"07","comment":{"salt":"0rJ9tB0vTzqYxk3n1m2c4A","text":"'
    )
    for name, piece in (("spaces", NO_BREAK_SPACE), ("joiners", "\\u200d"), ("letters", "x")):
        yield Ugly(answer, f"a comment of {name}", filled(comment, piece, bound, '"}}'), caller="device")
    yield Ugly("POST /v1/interactions", "question of joiners", filled('{"question":"', "\u200d", bound, '"}'))
    yield Ugly("POST /v1/interactions", "choices", filled('{"question":"q","choices":["a"', ',"a"', bound, "]}"))
    yield Ugly("POST /v1/reminders", "names", named_devices('{"message":"m","at":4000000000,"device":"', bound))
    push = '{"push":{"endpoint":"https://a","keys":{"auth":"a","p256dh":"'
    yield Ugly("PATCH /v1/devices/self", "a push key", filled(push, "A", bound, '"}}}'), caller="device")
    yield Ugly(
        "POST /v1/tokens", "scopes", filled('{"label":"l","scopes":["send"', ',"send"', bound, "]}"), caller="device"
    )


def ugly_queries() -> Iterator[Ugly]:
    """Yield requests whose query or headers are as large as they may be."""
    callers: dict[str, Caller] = {
        "GET /v1/sync/entries": "device",
        f"GET /v1/interactions/{QUESTION}": "sender",
        "GET /1/sounds.json": "nobody",
        f"GET /v1/pairings/{PAIRING}": "device",
    }
    for endpoint, caller in callers.items():
        path = endpoint.partition(" ")[2]
        for name, piece in (("query of fields", "&a"), ("query of percents", "%C2%A0"), ("query of digits", "1")):
            query = filled("?after=1&wait=", piece, QUERY_BYTES, "").decode()
            yield Ugly(endpoint, name, caller=caller, path=path + query)
    yield Ugly(
        "POST /hooks/claude-code",
        "query of kinds",
        b"{}",
        caller="test",
        path="/hooks/claude-code" + filled("?timeout=1&skip=", "a,", QUERY_BYTES, "").decode(),
    )
    many = {f"a{number}": "" for number in range(7_000)}
    yield Ugly("GET /v1/sync/entries", "7,000 headers", caller="device", headers=many)
    yield Ugly(
        "GET /v1/sync/entries",
        "a long forwarded-for",
        caller="device",
        headers={"X-Forwarded-For": ",".join(["127.0.0.1"] * 6_000)},
    )
    yield Ugly("GET /nowhere", "a long path", caller="nobody", path="/" + "a/" * (QUERY_BYTES // 2))
    yield Ugly("GET /nowhere", "slashes", caller="nobody", path="/" * QUERY_BYTES)


def first_times() -> Iterator[Ugly]:
    """Yield reads of what is made when it is first asked for."""
    for path in ("/docs", "/openapi.json", "/openapi.yaml", "/llms.txt", "/", "/metrics", "/healthz", "/readyz"):
        yield Ugly(f"GET {path}", "the first time", caller="nobody")


def ugly_reads() -> Iterator[Ugly]:
    """Yield reads whose replies are long."""
    yield Ugly("GET /v1/sync/entries", "16 documents", caller="device")
    yield Ugly("GET /v1/devices", "32 devices", caller="device")
    yield Ugly("GET /v1/reminders", "1,000 reminders")
    yield Ugly("GET /v1/tokens", "200 tokens", caller="device")


def ugly_requests(devices: list[str]) -> Iterator[Ugly]:
    """Yield all of them; `devices` are the ids of an owner's devices."""
    yield from ugly_reads()
    for endpoint in ("POST /v1/send", "POST /1/messages.json"):
        yield from ugly_messages(endpoint)
    yield from ugly_pushover()
    yield from ugly_documents()
    yield from ugly_hooks()
    yield from ugly_mcp()
    yield from ugly_relay(devices)
    yield from ugly_question()
    yield from ugly_small()
    yield from ugly_queries()
