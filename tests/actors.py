"""Whoever talks to the server: a device with its keys, a program with its token. Each call returns the raw reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import msgspec

from reflecto.contract.envelopes import Envelope
from reflecto.contract.ids import new_id
from reflecto.crypto.answers import answer_message, answer_message_v2, comment_digest, sign_answer
from reflecto.crypto.encoding import decode_base64, encode_base64
from reflecto.crypto.envelopes import open_blob, shared_key
from tests.builders import NOW, DeviceKeys, enrolment_body
from tests.running import RunningServer


@dataclass(slots=True)
class Program:
    """A sender."""

    http: httpx.AsyncClient
    token: str
    id: str = ""

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Make a request with the token."""
        headers = {"authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        return await self.http.request(method, path, headers=headers, **options)

    async def send(self, message: str = "Done", **fields: Any) -> httpx.Response:
        """POST /v1/send."""
        return await self.call("POST", "/v1/send", json={"message": message} | fields)

    async def ask(self, question: str = "Deploy to production?", **fields: Any) -> httpx.Response:
        """POST /v1/interactions."""
        return await self.call("POST", "/v1/interactions", json={"question": question} | fields)

    async def ask_id(self, question: str = "Deploy to production?", **fields: Any) -> str:
        """Ask something new and return its id."""
        asked = await self.ask(question, **fields)
        assert asked.status_code == 201, asked.text
        return str(asked.json()["id"])

    async def read(self, interaction_id: str, wait: int | None = None) -> httpx.Response:
        """GET /v1/interactions/{id}."""
        query = {} if wait is None else {"wait": wait}
        return await self.call("GET", f"/v1/interactions/{interaction_id}", params=query)

    async def cancel(self, interaction_id: str) -> httpx.Response:
        """DELETE /v1/interactions/{id}."""
        return await self.call("DELETE", f"/v1/interactions/{interaction_id}")

    async def simulate(self, interaction_id: str, choice: str = "Approve") -> httpx.Response:
        """POST /v1/interactions/{id}/simulate."""
        return await self.call("POST", f"/v1/interactions/{interaction_id}/simulate", json={"choice": choice})


@dataclass(slots=True)
class DeviceActor:
    """An enrolled device."""

    http: httpx.AsyncClient
    enrolled: dict[str, Any]
    keys: DeviceKeys = field(default_factory=DeviceKeys)

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.enrolled["device_id"])

    @property
    def owner_id(self) -> str:
        """Whose it is."""
        return str(self.enrolled["owner_id"])

    @property
    def token(self) -> str:
        """Its device token."""
        return str(self.enrolled["device_token"])

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Make a request with the device token."""
        headers = {"authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        return await self.http.request(method, path, headers=headers, **options)

    async def answer(self, interaction_id: str, choice_index: int = 0, **fields: Any) -> httpx.Response:
        """POST /v1/interactions/{id}/answer."""
        body = {"choice_index": choice_index, "answered_at": NOW} | fields
        return await self.call("POST", f"/v1/interactions/{interaction_id}/answer", json=body)

    async def ack(self, seq: int) -> httpx.Response:
        """POST /v1/sync/ack."""
        return await self.call("POST", "/v1/sync/ack", json={"seq": seq})

    async def new_token(self, label: str | None = None, **fields: Any) -> Program:
        """Make a sender token and return a program that uses it; without a label by one that no other has."""
        label = label or f"CI {new_id('tok')}"
        made = await self.call("POST", "/v1/tokens", json={"label": label} | fields)
        assert made.status_code == 201, made.text
        return Program(self.http, made.json()["token"], made.json()["id"])

    async def revoke(self, program: Program) -> httpx.Response:
        """DELETE /v1/tokens/{id}."""
        return await self.call("DELETE", f"/v1/tokens/{program.id}")

    def sign(
        self, interaction_id: str, question: str, choices: Sequence[str], choice_index: int, answered_at: int = NOW
    ) -> str:
        """Return the signature (base64) of a tap."""
        message = answer_message(interaction_id, question, choices, choice_index, answered_at)
        return encode_base64(sign_answer(self.keys.signing_seed, message))

    def sign_v2(
        self,
        interaction_id: str,
        digest: str,
        choice_index: int = 0,
        number: str | None = None,
        comment: Mapping[str, str] | None = None,
        answered_at: int = NOW,
    ) -> str:
        """Return the signature (base64) of a tap on a question with this digest."""
        sha256 = comment_digest(comment["text"], comment["salt"]) if comment else None
        message = answer_message_v2(
            interaction_id, digest, choice_index, answered_at, number=number, comment_sha256=sha256
        )
        return encode_base64(sign_answer(self.keys.signing_seed, message))

    async def answer_v2(self, interaction_id: str, digest: str, choice_index: int = 0, **fields: Any) -> httpx.Response:
        """POST /v1/interactions/{id}/answer, signed as version 2."""
        signature = self.sign_v2(interaction_id, digest, choice_index, **fields)
        return await self.answer(interaction_id, choice_index, v=2, signature=signature, **fields)

    def open(self, blob: bytes) -> Envelope:
        """Decrypt what the server sealed for this device."""
        server_key = decode_base64(self.enrolled["server_key"], length=32)
        assert server_key is not None
        plaintext = open_blob(shared_key(server_key, self.keys.box.secret), blob)
        return msgspec.json.decode(plaintext, type=Envelope)

    def default_program(self) -> Program:
        """Return a program that uses the Default token this device's owner began with."""
        default = self.enrolled["default_token"]
        return Program(self.http, default["token"], default["id"])


async def enroll(
    server: RunningServer, code: str | None = None, *, owner: DeviceActor | None = None, **fields: Any
) -> DeviceActor:
    """Enrol a device with this code, or with a fresh invitation (for a device of `owner`, where given)."""
    keys = DeviceKeys()
    code = code or await server.invite(**({"owner_id": owner.owner_id} if owner else {}))
    enrolled = await server.http.post("/v1/enroll", json=enrolment_body(code, keys, **fields))
    assert enrolled.status_code == 201, enrolled.text
    return DeviceActor(server.http, enrolled.json(), keys)
