"""The load under which a server is killed, and the look at what it kept. Source: "never 201 and lost"."""

import asyncio
import json
import random
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import httpx
from httpx_sse import aconnect_sse

from tests.e2e.crash_ledger import Inbox, Ledger, Message, Question, expect
from tests.e2e.phones import WAIT_SECONDS, DeviceKeys, Phone, bearer, make_codes
from tests.e2e.server_process import ServerProcess

CHOICES: Final = ["Yes", "No", "Später"]
ASKERS_PER_OWNER: Final = 4  # each has one question pending; 10 are allowed
MESSAGES_REPEATED: Final = 40  # at each check; more than one life leaves without a reply
PENDING_KEPT: Final = 2  # at a check, for the next life to end
LIFE_MAX_SECONDS: Final = 60
CODES_CHECKED: Final = 4  # five wrong guesses and this address has to wait
UNKNOWN_QUESTION: Final = "/v1/interactions/int_" + "0" * 32
LIMITS_OFF: Final = "[limit_overrides]\ntoken_burst = 100_000_000\nip_minute = 100_000_000\n"


class Owner:
    """Two phones and the Default token."""

    def __init__(self, phones: list[Phone]) -> None:
        self.phones = phones
        self.token = phones[0].token


def found_owners(server: ServerProcess, count: int) -> list[Owner]:
    """Enrol `count` owners with two phones each."""
    owners = []
    for _ in range(count):
        (founding,) = make_codes(server.data, 1, new_owner=True)
        first = Phone.enrol(server.url, founding)
        (joining,) = make_codes(server.data, 1, owner_id=first.owner_id)
        owners.append(Owner([first, Phone.enrol(server.url, joining)]))
    return owners


class Life:
    """One life of the server: load until the kill, then, in the next process, the look at what is left."""

    def __init__(self, server: ServerProcess, owners: list[Owner], ledger: Ledger, rng: random.Random) -> None:
        self._server = server
        self._owners = owners
        self._ledger = ledger
        self._rng = rng
        self._client = httpx.AsyncClient(base_url=server.url, timeout=WAIT_SECONDS, trust_env=False)

    async def live_and_die(self, codes: list[str], promises: int) -> None:
        """Put the load on and kill the server once it has made so many more promises."""
        async with self._client, asyncio.timeout(LIFE_MAX_SECONDS), asyncio.TaskGroup() as group:
            for owner in self._owners:
                for _ in range(ASKERS_PER_OWNER):
                    group.create_task(self._until_death(self._ask, owner))
                group.create_task(self._until_death(self._make_and_revoke_token, owner))
                group.create_task(self._until_death(self._tell, owner))
            for inbox in self._ledger.inboxes:
                group.create_task(self._until_death(self._be_phone, inbox))
            group.create_task(self._until_death(self._enrol_and_leave, codes))
            await self._ledger.wait_for(promises)
            await asyncio.to_thread(self._server.kill)

    async def check(self) -> None:
        """Read back everything that was promised."""
        async with self._client, asyncio.timeout(LIFE_MAX_SECONDS):
            for message in self._ledger.messages[-MESSAGES_REPEATED:]:  # also what lost its reply
                self._ledger.note_sent(message, await self._send_message(message))
            clean = self._rng.random() < 0.5  # nothing pending, queues empty: the next life must not count anew
            await self._check_questions(pending_kept=0 if clean else PENDING_KEPT)
            await self._check_tokens_and_codes()
            for owner in self._owners:
                marker_id = await self._mark_the_end(owner)
                for inbox in self._ledger.inboxes:
                    if inbox.phone in owner.phones:
                        inbox.check_backlog(await self._read_backlog(inbox.phone, marker_id), self._ledger.ended)
                        if clean:
                            inbox.handled = max(inbox.seen)
                            await self._ack(inbox)
            self._ledger.check_prompts()
            self._ledger.check_messages()

    async def _until_death(self, work: Callable[[Any], Awaitable[None]], subject: Any) -> None:
        try:
            while True:
                await work(subject)
        except (httpx.TransportError, EOFError):
            return  # the server is gone; whether it did the last thing is what `check` finds out

    async def _ask(self, owner: Owner) -> None:
        key = f"key-{self._rng.getrandbits(64):x}"
        question = Question(owner.token, owner.phones, key, f"Deploy {key}?", CHOICES)
        self._ledger.questions.append(question)
        for reply in await asyncio.gather(*(self._create(question) for _ in range(2))):
            self._ledger.note_create(question, reply)
        if question.id is None:
            return
        if self._rng.random() < 0.2:
            reply = await self._send("DELETE", f"/v1/interactions/{question.id}", owner.token)
            if reply.status_code == 200:
                self._ledger.count()
                self._ledger.note_end(question.id, "cancelled", None)
            else:
                self._ledger.note_end(question.id, "answered", reply.json()["error"]["details"]["choice_index"])
        self._ledger.note_state(await self._read(question, wait_seconds=10), question)

    async def _tell(self, owner: Owner) -> None:
        message = Message(owner.token, owner.phones, f"key-{self._rng.getrandbits(64):x}")
        self._ledger.messages.append(message)
        for reply in await asyncio.gather(*(self._send_message(message) for _ in range(2))):
            self._ledger.note_sent(message, reply)

    async def _be_phone(self, inbox: Inbox) -> None:
        phone = inbox.phone
        params, headers = {"after": inbox.handled}, bearer(phone.device_token)
        async with aconnect_sse(self._client, "GET", "/v1/sync", params=params, headers=headers) as stream:
            async for event in stream.aiter_sse():
                seq, entry = self._entry_of(phone, event.data)
                inbox.take(seq, entry)
                if entry[0] == "interaction":
                    choice = self._rng.randrange(len(CHOICES))
                    body = {"choice_index": choice, "answered_at": 1_754_800_000}
                    path = f"/v1/interactions/{entry[1]}/answer"
                    self._ledger.note_tap(entry[1], choice, await self._send("POST", path, phone.device_token, body))
                inbox.handled = seq
                if self._rng.random() < 0.3:
                    await self._ack(inbox)
        raise EOFError

    async def _ack(self, inbox: Inbox) -> None:
        inbox.ack_sent = inbox.handled
        reply = await self._send("POST", "/v1/sync/ack", inbox.phone.device_token, {"seq": inbox.ack_sent})
        expect(reply.status_code == 204, "ack", reply.status_code, reply.text)
        self._ledger.count()
        inbox.acked = inbox.ack_sent

    async def _make_and_revoke_token(self, owner: Owner) -> None:
        device_token = owner.phones[1].device_token
        made = await self._send("POST", "/v1/tokens", device_token, {"label": f"Short-lived {uuid.uuid4().hex}"})
        expect(made.status_code == 201, "token", made.status_code, made.text)
        self._ledger.count()
        token = made.json()["token"]
        self._ledger.live_tokens.add(token)
        expect((await self._send("GET", UNKNOWN_QUESTION, token)).status_code == 404, "a new token is not known")
        self._ledger.live_tokens.discard(token)  # until the reply, it may be either
        revoked = await self._send("DELETE", f"/v1/tokens/{made.json()['id']}", device_token)
        expect(revoked.status_code == 204, "revoke", revoked.status_code, revoked.text)
        self._ledger.count()
        self._ledger.dead_tokens.add(token)

    async def _enrol_and_leave(self, codes: list[str]) -> None:
        if not codes:
            raise EOFError
        code = codes.pop()
        reply = await self._client.post("/v1/enroll", json=DeviceKeys().enrolment(code, "Guest", "desktop"))
        expect(reply.status_code == 201, "enrol", reply.status_code, reply.text)
        self._ledger.count()
        self._ledger.used_codes.append(code)
        device_token = reply.json()["device_token"]
        gone = await self._send("DELETE", "/v1/devices/self", device_token)
        expect(gone.status_code == 204, "leave", gone.status_code, gone.text)
        self._ledger.count()
        self._ledger.dead_tokens.add(device_token)

    async def _check_questions(self, *, pending_kept: int) -> None:
        pending: list[Question] = []
        for question in self._ledger.due_for_check(self._rng):
            # A repeat tells the id of a create whose reply was lost, and must tell that of any other.
            self._ledger.note_create(question, await self._create(question))
            if question.id is not None and self._ledger.note_state(await self._read(question), question) == "pending":
                pending.append(question)
        for question in pending[pending_kept:]:  # else short lives would fill an owner's ten places
            await self._withdraw(question)

    async def _withdraw(self, question: Question) -> None:
        """Withdraw a question that nobody can be answering."""
        reply = await self._send("DELETE", f"/v1/interactions/{question.id}", question.token)
        expect(reply.status_code == 200, "withdraw", reply.status_code, reply.text)
        self._ledger.note_end(str(question.id), "cancelled", None)

    async def _check_tokens_and_codes(self) -> None:
        for token in self._ledger.live_tokens:
            expect((await self._send("GET", UNKNOWN_QUESTION, token)).status_code == 404, "a live token died")
        for token in sorted(self._ledger.dead_tokens)[-15:]:  # twenty wrong tokens and this address has to wait
            reply = await self._send("GET", "/v1/devices", token)
            expect(reply.status_code == 401, "a revoked token lives", reply.status_code)
        for code in self._ledger.used_codes[-CODES_CHECKED:]:
            reply = await self._client.post("/v1/enroll", json=DeviceKeys().enrolment(code))
            expect(reply.status_code == 403, "a used code works again", reply.status_code)

    async def _mark_the_end(self, owner: Owner) -> str:
        """Ask and withdraw a question, which is then the last thing in the owner's queues; return its id."""
        key = f"end-{self._rng.getrandbits(64):x}"
        marker = Question(owner.token, owner.phones, key, "The end?", CHOICES)
        self._ledger.questions.append(marker)
        self._ledger.note_create(marker, await self._create(marker))
        expect(marker.id is not None, "no room for the marker")
        await self._withdraw(marker)
        return str(marker.id)

    async def _read_backlog(self, phone: Phone, marker_id: str) -> list[tuple[int, tuple[str, str]]]:
        """Return the whole queue up to the marker's end."""
        headers, backlog = bearer(phone.device_token), []
        async with aconnect_sse(self._client, "GET", "/v1/sync", headers=headers) as stream:
            async for event in stream.aiter_sse():
                backlog.append(self._entry_of(phone, event.data))
                if backlog[-1][1] == ("interaction.closed", marker_id):
                    return backlog
        raise EOFError

    def _entry_of(self, phone: Phone, data: str) -> tuple[int, tuple[str, str]]:
        entry = json.loads(data)
        envelope = phone.keys.open(phone.server_key, entry["blob"])
        kind = "notice" if "server" in envelope["source"] else envelope["type"]  # such as that a device has joined
        return entry["seq"], (kind, envelope["id"])

    async def _send_message(self, message: Message) -> httpx.Response:
        headers = {**bearer(message.token), "Idempotency-Key": message.key}
        return await self._client.post("/v1/send", json={"message": message.key}, headers=headers)

    async def _create(self, question: Question) -> httpx.Response:
        return await self._send("POST", "/v1/interactions", question.token, question.body)

    async def _read(self, question: Question, wait_seconds: int = 0) -> httpx.Response:
        return await self._send("GET", f"/v1/interactions/{question.id}?wait={wait_seconds}", question.token)

    async def _send(self, method: str, path: str, token: str, body: object = None) -> httpx.Response:
        content = None if body is None else json.dumps(body)
        return await self._client.request(method, path, headers=bearer(token), content=content)


def run_rounds(folder: Path, rounds: int, seed: int, on_round: Callable[[Ledger, int], None] | None = None) -> Ledger:
    """Kill the server `rounds` times under load and check each time what it kept; return the promises made.

    Raises: BrokenPromiseError.
    """
    rng = random.Random(seed)  # noqa: S311  repeatable, not secret
    config = folder / "reflecto.toml"
    config.write_text(LIMITS_OFF, "utf-8")
    start = ("--config", str(config))
    server = ServerProcess(folder / "data", *start)
    try:
        owners = found_owners(server, 2)
        ledger = Ledger([Inbox(phone) for owner in owners for phone in owner.phones])
        for number in range(1, rounds + 1):
            codes = make_codes(server.data, 40, owner_id=owners[0].phones[0].owner_id)
            asyncio.run(Life(server, owners, ledger, rng).live_and_die(codes, rng.randrange(20, 120)))
            server = ServerProcess(folder / "data", *start)
            asyncio.run(Life(server, owners, ledger, rng).check())
            if on_round:
                on_round(ledger, number)
        expect(server.stop() == 0, "exit code")
        expect(not server.complaints, "log", server.log)
        return ledger
    finally:
        server.close()
