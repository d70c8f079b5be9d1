"""The GitHub Action's only program: ask or send, with nothing but Python's standard library (3.9 or newer).

Inputs come in the environment (action.yml); outputs go to the file that GITHUB_OUTPUT names. The exit code is 0 only
for the first choice, unless INPUT_FAIL_ON says otherwise: silence, an expired question or a lost server is no consent.
"""

# ruff: noqa: INP001, T201 -- a program, whose output is what a runner and its log read

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from http.client import HTTPException
from typing import Any, NoReturn

KEY_HEADER = "Idempotency-Key"
REQUEST_SECONDS = 15  # to connect, send and get a reply that is not held back
HOLD_SECONDS = 50  # proxies commonly cut an idle connection at 60 s
GIVE_UP_SECONDS = 60  # a restart, also of a whole machine
GRACE_SECONDS = 30  # after a question's end: an answer at the last moment may still have to be fetched
WITHDRAW_SECONDS = 4  # a cancelled job is killed 7.5 s after its first signal
REPLY_MAX_BYTES = 262_144
TOKEN_PATTERN = re.compile(r"rfk_(live|test)_[A-Za-z0-9]{32}")
SIGNED_FIELDS = ("question", "choices", "details", "source", "danger", "confirm", "comment")
INPUTS = {"expires_in": "expires-in", "idempotency_key": "key", "url": "link"}  # of the API's fields
DETAILS_MAX_BYTES = 49_152  # of all blocks, as canonical JSON
DETAILS_HEAD_SHARE = 0.65  # of what is kept of a text that is too long
SOURCE_MAX_BYTES = 100
FAIL_ON = ("not-first", "no-answer", "nothing")


class Failed(Exception):  # noqa: N818 -- it names what happened
    """It did not work; the message says why, without the token."""


class Lost(Failed):
    """No reply, or one of a server that is not up: trying again may help.

    `elsewhere`: something replied that is no Reflecto. Before it has the question that is more likely a wrong URL.
    """

    def __init__(
        self, message: str, pause_seconds: float = 0.0, *, arrived: bool = True, elsewhere: bool = False
    ) -> None:
        super().__init__(message)
        self.pause_seconds = pause_seconds
        self.arrived = arrived
        self.elsewhere = elsewhere


class Interrupted(BaseException):
    """The job was cancelled."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token is for one server only."""

    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        """Follow none."""


class Server:
    """One server, with the token of one sender."""

    def __init__(self, url: str, token: str) -> None:
        if not re.fullmatch(r"https?://[^\s\"<>\\@?#]+", url):
            raise Failed("url must look like https://reflecto.example")
        if not TOKEN_PATTERN.fullmatch(token):
            raise Failed("token must be a sender token, rfk_live_ and 32 letters or digits; is the secret set?")
        self._url = url.rstrip("/")
        self._token = token
        self._open = urllib.request.build_opener(NoRedirects).open

    def call(
        self, method: str, path: str, body: Any = None, seconds: float = REQUEST_SECONDS, key: str | None = None
    ) -> dict[str, Any]:
        """Return the JSON object of a reply with 2xx; `key` names the request for its repeats. Raises: Lost, Failed."""
        request = urllib.request.Request(  # noqa: S310 -- http or https, see above
            self._url + path,
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "reflecto-action",
                **({} if key is None else {KEY_HEADER: key}),
            },
        )
        try:
            with self._open(request, timeout=seconds) as reply:
                raw = reply.read(REPLY_MAX_BYTES)
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except urllib.error.URLError as error:
            # urllib wraps what happens until the request is sent.
            raise Lost(f"cannot reach the server: {error.reason}", arrived=False) from None
        except (OSError, HTTPException) as error:
            raise Lost(f"the connection was lost: {error or type(error).__name__}") from None
        try:
            parsed = json.loads(raw)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):  # a sign-in page, or a proxy's; the server may have the request all the same
            raise Lost("the reply is not Reflecto's; is the URL right?", elsewhere=True)
        return parsed

    def _refusal(self, error: urllib.error.HTTPError) -> Failed:
        with error:
            try:
                parsed = json.loads(error.read(REPLY_MAX_BYTES))
            except (ValueError, RecursionError, OSError, HTTPException):
                parsed = None
        code, message = own_words(error.code, parsed)
        pause = float(raw) if (raw := error.headers.get("Retry-After") or "").isdigit() else 0.0
        if code is None:  # a proxy, while the server is away; its 4xx has passed nothing on
            text = f"{error.code}, and not from Reflecto; is the URL right?"
            arrived = error.code >= 500 and error.code != 503
            elsewhere = error.code < 500 and error.code not in (404, 429)  # these some say while the server is away
            return Lost(f"the server replied {text}", pause, arrived=arrived, elsewhere=elsewhere)
        field, space, rule = message.partition(" ")
        message = INPUTS.get(field, field) + space + rule  # what the workflow calls it
        text = TOKEN_PATTERN.sub("[token]", f"{error.code} {code} {message}".strip())
        if error.code >= 500 or (error.code == 429 and code not in ("too_many_pending", "queue_full")):
            arrived = error.code not in (429, 503) or code == "outcome_unknown"
            return Lost(f"the server replied {text}", pause, arrived=arrived)
        return Failed(f"the server refused: {text}")


def own_words(status: int, body: Any) -> tuple[str | None, str]:
    """Return code and message of an error in exactly the server's form; code None where something else replied."""
    if not isinstance(body, dict):
        return None, ""
    told: Any = body.get("error")
    if status == 401:
        told = {**body, "code": told}
        told.pop("error", None)
    elif set(body) != {"error"}:
        return None, ""
    if not isinstance(told, dict) or not set(told) <= {"code", "message", "details"}:
        return None, ""
    code, message = told.get("code"), told.get("message", "")
    if not isinstance(code, str) or not re.fullmatch(r"[a-z][a-z0-9_]{2,63}", code) or not isinstance(message, str):
        return None, ""
    return code, message


def keep_trying(
    until: float, attempt: Callable[[], dict[str, Any]], *, unless: Callable[[Lost], bool]
) -> dict[str, Any]:
    """Return what `attempt` returns; while the server is away, try again until then. Raises: Failed."""
    failures = 0
    while True:
        try:
            return attempt()
        except Lost as error:
            pause = error.pause_seconds + random.random() * min(10.0, 0.5 * 2**failures)  # noqa: S311 -- no secret
            failures += 1
            if unless(error) or time.monotonic() + pause > until:
                raise
        time.sleep(pause)  # noqa: TID251 -- no server's clock here


def ask(server: Server) -> dict[str, Any]:
    """Ask, wait, and return the question's state once it has ended. Raises: Failed, Interrupted."""
    question = os.environ.get("INPUT_QUESTION", "")
    choices = [line.strip() for line in os.environ.get("INPUT_CHOICES", "").splitlines() if line.strip()]
    expires_in = os.environ.get("INPUT_EXPIRES_IN", "").strip()
    if not expires_in.isdigit():
        raise Failed("expires-in must be a whole number of seconds")
    body = {
        "question": question,
        "choices": choices or ["Approve", "Deny"],
        "expires_in": int(expires_in),
        "idempotency_key": os.environ.get("INPUT_KEY") or default_key(question),
        **given(),
    }
    asked_id = ""
    try:
        until = time.monotonic() + GIVE_UP_SECONDS
        asked = keep_trying(until, lambda: server.call("POST", "/v1/interactions", body), unless=lambda e: e.elsewhere)
        asked_id = str(asked.get("id"))
        if not re.fullmatch(r"int_[0-9a-f]{32}", asked_id):
            raise Failed("the reply names no question")
        print(f"Asked: {asked_id}", flush=True)
        number = asked.get("confirm_number")
        if body.get("confirm") == "number":
            if not isinstance(number, str) or not re.fullmatch("[0-9]{2}", number):
                raise Failed("the server gave no number to type: it is too old for confirm: number")
            say("notice", f"Type {number} on the phone to choose {body['choices'][0]}")
        return wait(server, asked_id, body, number)
    except Interrupted:
        withdraw(server, asked_id, body)
        raise


def given() -> dict[str, Any]:
    """Return the fields of the question that were given beside the usual ones; the phone signs them too."""
    names = {"danger": "DANGER", "confirm": "CONFIRM", "comment": "COMMENT"}
    fields: dict[str, Any] = {
        name: value for name, variable in names.items() if (value := os.environ.get(f"INPUT_{variable}", ""))
    }
    if details := os.environ.get("INPUT_DETAILS", ""):
        fields["details"] = fitted(details)
    if app := os.environ.get("INPUT_SOURCE", ""):
        named = {"app": app, "where": os.environ.get("GITHUB_REPOSITORY"), "session": os.environ.get("GITHUB_RUN_ID")}
        fields["source"] = {name: clipped(value, SOURCE_MAX_BYTES) for name, value in named.items() if value}
    return fields


def fitted(text: str) -> list[dict[str, Any]]:
    """Return the text as blocks, whole up to 48 KiB; of a longer one the blocks say how much is missing."""
    kind = "diff" if text.startswith(("diff --git ", "--- ")) else "text"
    raw = text.encode(errors="replace")  # the environment may hold what is no text
    blocks: list[dict[str, Any]] = [{"kind": kind, "text": raw.decode()}]
    kept = len(raw)
    while len(canonical(blocks)) > DETAILS_MAX_BYTES:
        kept -= max(len(canonical(blocks)) - DETAILS_MAX_BYTES, 1024)
        head = raw[: int(kept * DETAILS_HEAD_SHARE)].decode(errors="ignore")
        tail = raw[len(raw) - (kept - int(kept * DETAILS_HEAD_SHARE)) :].decode(errors="ignore")
        missing = f"{len(raw) - len(head.encode()) - len(tail.encode()):,}"
        blocks = [
            {"kind": "fields", "fields": [{"name": "Missing", "value": f"{missing} of {len(raw):,} bytes"}]},
            {"kind": kind, "text": f"{head}\n[… {missing} bytes are missing here …]\n{tail}"},
        ]
    return blocks


def clipped(text: str, most: int) -> str:
    """Return the text in at most so many bytes."""
    return text.encode(errors="replace")[:most].decode(errors="ignore")


def canonical(value: Any) -> bytes:
    """Return the canonical JSON (RFC 8785) of what has texts, lists and objects only."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogatepass")


def wait(server: Server, question_id: str, body: dict[str, Any], number: str | None) -> dict[str, Any]:
    """Poll until the question has ended. `number` is to have been typed for the first choice. Raises: Failed."""
    until = time.monotonic() + body["expires_in"] + GRACE_SECONDS
    path = f"/v1/interactions/{question_id}?wait={HOLD_SECONDS}"
    while time.monotonic() < until:
        polled_at = time.monotonic()
        state = keep_trying(
            until,
            lambda: server.call("GET", path, seconds=REQUEST_SECONDS + HOLD_SECONDS),
            unless=lambda _: False,
        )
        if (state.get("question"), state.get("choices")) != (body["question"], body["choices"]):
            raise Failed("the key belongs to another question, whose answer is not taken for this one")
        if state.get("status") != "pending":
            return checked(state, body, number)
        time.sleep(max(0.0, 2.0 - (time.monotonic() - polled_at)))  # noqa: TID251 -- the reply was not held back
    raise Failed("the server calls the question pending after its end")


def checked(state: dict[str, Any], body: dict[str, Any], number: str | None) -> dict[str, Any]:
    """Return the state of a question that has ended, if it makes sense. Raises: Failed."""
    covered = {name: body[name] for name in SIGNED_FIELDS if name in body}
    if covered.keys() - {"question", "choices"} and state.get("status") == "answered":
        check_receipt(state, covered, number)
    status, index, choices = state.get("status"), state.get("choice_index"), state["choices"]
    if status == "answered":
        if not isinstance(index, int) or not 0 <= index < len(choices) or state.get("choice") != choices[index]:
            raise Failed("the answer names none of the choices")
    elif status not in ("expired", "cancelled") or index is not None:
        raise Failed("the question's state makes no sense")
    return state


def check_receipt(state: dict[str, Any], covered: dict[str, Any], number: str | None) -> None:
    """Check that a phone signed over all that was asked, as far as Python's own library can: not the signature itself.

    Raises: Failed.
    """
    if state.get("digest") != hashlib.sha256(canonical(covered)).hexdigest():
        raise Failed("the server does not know these details, so no phone has shown them")
    receipt = state.get("receipt")
    if (
        state.get("answered_by") is None
        and receipt is None
        and os.environ.get("REFLECTO_TOKEN", "").startswith("rfk_test_")
    ):
        return  # simulated, by whoever has this test token
    if not isinstance(receipt, dict) or receipt.get("v") != 2:
        raise Failed("no phone signed this answer together with the details of the question")
    if number is not None and state.get("choice_index") == 0 and receipt.get("number") != number:
        raise Failed("another number was typed than the one that was shown")


def withdraw(server: Server, question_id: str, body: dict[str, Any]) -> None:
    """Take the question off the phone. Interrupted before the reply, asking again with the same key finds it."""
    try:
        found = question_id or server.call("POST", "/v1/interactions", body, WITHDRAW_SECONDS / 2).get("id")
        server.call("DELETE", f"/v1/interactions/{found}", seconds=WITHDRAW_SECONDS / 2)
    except Failed as error:
        say("warning", f"the question may still be on the phone: {error}")
    else:
        say("notice", "cancelled, and the question was withdrawn")


def send(server: Server) -> dict[str, Any]:
    """Send a notification, which arrives once, however often a reply is lost. Raises: Failed."""
    names = {"message": "MESSAGE", "title": "TITLE", "priority": "PRIORITY", "url": "LINK"}
    body = {name: value for name, variable in names.items() if (value := os.environ.get(f"INPUT_{variable}", ""))}
    until = time.monotonic() + GIVE_UP_SECONDS
    key = default_key(json.dumps(body))
    sent = keep_trying(
        until,
        lambda: server.call("POST", "/v1/send", body, key=key),
        unless=lambda error: error.elsewhere or (error.arrived and not knows_keys(server, until)),
    )
    for warning in sent.get("warnings") or []:
        say("warning", str(warning.get("message")) if isinstance(warning, dict) else "")
    return {"status": "sent", "id": sent.get("id")}


def knows_keys(server: Server, until: float) -> bool:
    """Tell whether the server recognises a repeat by its key; an older one does not, and would send twice."""
    try:
        health = keep_trying(until, lambda: server.call("GET", "/healthz"), unless=lambda error: error.elsewhere)
    except Failed:
        return False
    return health.get("repeats") == KEY_HEADER


def default_key(question: str) -> str:
    """Return a key of this step in this attempt of this run: a repeated request finds it, a re-run asks anew."""
    names = ("GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "GITHUB_ACTION", "RUNNER_TRACKING_ID")
    parts = [os.environ.get(name, "") for name in names]  # the last one tells the jobs of a matrix apart
    if not parts[0]:
        return str(uuid.uuid4())
    return f"action-{hashlib.sha256(json.dumps([*parts, question]).encode()).hexdigest()}"


def say(kind: str, text: str) -> None:
    """Print a workflow command; what came from elsewhere cannot be another one."""
    safe = TOKEN_PATTERN.sub("[token]", text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{kind}::{safe}", flush=True)


def write_outputs(outputs: dict[str, Any]) -> None:
    """Append to GITHUB_OUTPUT; the delimiter cannot be guessed by whoever chose a value."""
    path = os.environ.get("GITHUB_OUTPUT")
    if not path:
        return
    with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123 -- nothing else of pathlib is needed
        for name in ("choice", "index", "status", "id", *(["comment"] if "comment" in outputs else [])):
            value = outputs.get(name)
            delimiter = f"reflecto-{uuid.uuid4()}"
            file.write(f"{name}<<{delimiter}\n{'' if value is None else value}\n{delimiter}\n")


def run() -> int:
    """Do what the inputs say and return the exit code. Raises: Failed, Interrupted."""
    mode, fail_on = os.environ.get("INPUT_MODE") or "ask", os.environ.get("INPUT_FAIL_ON") or FAIL_ON[0]
    if mode not in ("ask", "send"):
        raise Failed("mode must be ask or send")
    if fail_on not in FAIL_ON:
        raise Failed(f"fail-on must be one of {', '.join(FAIL_ON)}")
    token = os.environ.get("REFLECTO_TOKEN", "").strip()
    if token and os.environ.get("GITHUB_ACTIONS") == "true":
        print(f"::add-mask::{token}", flush=True)  # the runner takes this line; elsewhere it would be shown
    server = Server(os.environ.get("REFLECTO_URL", "").strip(), token)
    if mode == "send":
        write_outputs(send(server))
        return 0
    state = ask(server)
    index = state.get("choice_index")
    outputs = {"choice": state.get("choice"), "index": index, "status": state["status"], "id": state.get("id")}
    said = state.get("comment")
    write_outputs(outputs | ({"comment": said.get("text")} if isinstance(said, dict) else {}))
    if state["status"] != "answered":
        say("error" if fail_on != "nothing" else "notice", f"no answer: the question is {state['status']}")
        return 0 if fail_on == "nothing" else 1
    refused = index != 0
    say("error" if refused and fail_on == "not-first" else "notice", f"tapped: {state['choice']}")
    return 1 if refused and fail_on == "not-first" else 0


def interrupt(number: int, _frame: Any) -> NoReturn:
    """Raise at a signal."""
    raise Interrupted(number)


def main() -> int:
    """Run; a failure is one line, and status `failed`."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        return run()
    except Failed as error:
        write_outputs({"status": "failed"})
        is_ignored = os.environ.get("INPUT_FAIL_ON") == "nothing"
        say("warning" if is_ignored else "error", str(error))
        return 0 if is_ignored else 1
    except Interrupted as interrupted:
        return interrupted.exit_code


if __name__ == "__main__":
    sys.exit(main())
