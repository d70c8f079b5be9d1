"""Phones for the tests: they enrol, read their queue, answer and acknowledge over plain HTTP."""

import asyncio
import base64
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final

import httpx
from httpx_sse import connect_sse
from nacl.signing import SigningKey

from reflecto.bootstrap import open_services
from reflecto.config import Settings
from reflecto.crypto.envelopes import BoxKeys, open_blob, shared_key
from tests.e2e.server_process import ServerProcess

WAIT_SECONDS: Final = 20
# One for all, as making one reads the certificate store; no connection is kept, so none outlives its server.
HTTP: Final = httpx.Client(timeout=WAIT_SECONDS, limits=httpx.Limits(max_keepalive_connections=0), trust_env=False)


def make_codes(
    data: Path, count: int, *, new_owner: bool = False, owner_id: str | None = None, store: str | None = None
) -> list[str]:
    """Return fresh setup codes, made in the store as `reflecto invite` makes them. `store`: an address."""

    async def make() -> list[str]:
        services = await open_services(Settings(data=data, store=store), is_server=False)
        try:
            return [(await services.enrolment.invite(owner_id, new_owner=new_owner)).code for _ in range(count)]
        finally:
            await services.store.close()

    return asyncio.run(make())


class DeviceKeys:
    """A device's two key pairs, made on the device."""

    def __init__(self) -> None:
        self.box = BoxKeys.generate()
        self.signing = SigningKey.generate()

    def enrolment(self, code: str, label: str = "Phone", device_class: str = "phone") -> dict[str, str]:
        """Return the body that enrols this device."""
        return {
            "code": code,
            "public_key": base64.b64encode(self.box.public).decode(),
            "signing_key": base64.b64encode(bytes(self.signing.verify_key)).decode(),
            "label": label,
            "type": "cli",
            "class": device_class,
        }

    def open(self, server_key: str, blob: str) -> dict[str, Any]:
        """Return the envelope inside a blob the server sealed."""
        key = shared_key(base64.b64decode(server_key), self.box.secret)
        envelope: dict[str, Any] = json.loads(open_blob(key, base64.b64decode(blob)))
        return envelope


class Phone:
    """An enrolled phone."""

    def __init__(self, url: str, keys: DeviceKeys, enrolled: dict[str, Any]) -> None:
        self.url = url
        self.keys = keys
        self.owner_id = str(enrolled["owner_id"])
        self.device_id = str(enrolled["device_id"])
        self.device_token = str(enrolled["device_token"])
        self.server_key = str(enrolled["server_key"])
        self.default_token = enrolled["default_token"]

    @classmethod
    def enrol(cls, url: str, code: str, label: str = "Phone", device_class: str = "phone") -> "Phone":
        """Enrol a new phone with the code."""
        keys = DeviceKeys()
        reply = HTTP.post(f"{url}/v1/enroll", json=keys.enrolment(code, label, device_class))
        assert reply.status_code == 201, reply.text
        return cls(url, keys, reply.json())

    @classmethod
    def of_new_owner(cls, server: ServerProcess, label: str = "Phone") -> "Phone":
        """Enrol the first phone of an owner of its own: what tests of one server do then does not meet."""
        [code] = make_codes(server.data, 1, new_owner=True)
        return cls.enrol(server.url, code, label)

    @property
    def token(self) -> str:
        """Return its owner's Default token; only an owner's first phone has it."""
        return str(self.default_token["token"])

    def call(self, method: str, path: str, body: object = None) -> httpx.Response:
        """Send a request with the device token."""
        headers = bearer(self.device_token)
        content = None if body is None else json.dumps(body)
        return HTTP.request(method, self.url + path, headers=headers, content=content)

    def answer(self, interaction_id: str, choice_index: int) -> httpx.Response:
        """Tap a choice."""
        body = {"choice_index": choice_index, "answered_at": 1_754_800_000}
        return self.call("POST", f"/v1/interactions/{interaction_id}/answer", body)

    def ack(self, seq: int) -> httpx.Response:
        """Acknowledge everything up to `seq`."""
        return self.call("POST", "/v1/sync/ack", {"seq": seq})

    def create_token(self, label: str, *, test: bool = False) -> dict[str, str]:
        """Make a sender token and return its id and plaintext."""
        reply = self.call("POST", "/v1/tokens", {"label": label, "test": test})
        assert reply.status_code == 201, reply.text
        made: dict[str, str] = reply.json()
        return made

    def entries(self, *, after: int = 0) -> Generator[tuple[int, dict[str, Any]], None, None]:
        """Yield (seq, envelope) from an open stream, first the backlog, then live; close it when done."""
        with connect_sse(
            HTTP, "GET", f"{self.url}/v1/sync", params={"after": after}, headers=bearer(self.device_token)
        ) as stream:
            for event in stream.iter_sse():
                if not event.data:  # a sign of life, which this reader takes for an event
                    continue
                data = json.loads(event.data)
                yield data["seq"], self.keys.open(self.server_key, data["blob"])

    def read_until(self, kind: str, envelope_id: str, *, after: int = 0) -> list[tuple[int, dict[str, Any]]]:
        """Return the entries up to and including the one of this type and id."""
        entries = self.entries(after=after)
        read = []
        try:
            for seq, envelope in entries:
                read.append((seq, envelope))
                if (envelope["type"], envelope["id"]) == (kind, envelope_id):
                    return read
        finally:
            entries.close()
        raise AssertionError("the stream ended first")


def bearer(token: str) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


def ask(url: str, token: str, question: str = "Deploy?", **fields: object) -> httpx.Response:
    """Create a question."""
    body = json.dumps({"question": question, **fields})
    return HTTP.post(f"{url}/v1/interactions", headers=bearer(token), content=body)


def read(url: str, token: str, interaction_id: str, wait_seconds: int = 0) -> httpx.Response:
    """Read a question's state."""
    return HTTP.get(
        f"{url}/v1/interactions/{interaction_id}",
        params={"wait": wait_seconds},
        headers=bearer(token),
        timeout=wait_seconds + WAIT_SECONDS,
    )
