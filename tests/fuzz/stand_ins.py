"""Tokens, ids and codes that exist, in place of made-up ones, so that requests get past the door."""

import itertools
from collections.abc import Callable
from typing import Any

from schemathesis import Case
from schemathesis.core.parameters import ParameterLocation

from reflecto.contract.devices import PUSH_KEY_EXAMPLE, PUSH_SECRET_EXAMPLE
from reflecto.crypto.encoding import encode_base64
from tests.actors import DeviceActor, Program
from tests.builders import enrolment_body
from tests.fuzz.fuzzed_server import FuzzedServer

PROOF = encode_base64(bytes(32))
PUSH_KEYS = {"p256dh": PUSH_KEY_EXAMPLE, "auth": PUSH_SECRET_EXAMPLE}
DESTRUCTIVE = {"leave", "disconnect", "removeDevice"}


class StandIns:
    """What a request needs of the world, made by the server itself."""

    def __init__(self, server: FuzzedServer) -> None:
        self._server = server
        self._phone = server.new_owner()
        self._desktop = server.new_device(self._phone, class_="desktop", type="web")
        self._test = server.new_program(self._phone, label="test", test=True)
        programs = [self._phone.default_program(), self._test, server.new_program(self._phone, scopes=["send"])]
        self._programs = itertools.cycle(programs)
        self._devices = itertools.cycle([self._phone, self._phone, self._desktop])
        self._serial = itertools.count()

    def fill(self, case: Case[Any]) -> dict[str, str]:
        """Put real ids and tokens where the case has well-formed ones, and return the headers that say who calls.

        What is going to be refused for its form needs nothing that exists, except a token.
        """
        operation = str(case.operation.definition.raw["operationId"])
        security = case.operation.definition.raw["security"]
        negated = {place for place in ParameterLocation if case.meta and case.meta.is_negative_at(place)}
        well_formed = not negated
        caller = self._caller(operation, security, well_formed=well_formed)
        token = caller.token
        if well_formed and "/pairings/{id}" in case.operation.path:
            token = self._invite(case, operation, caller)
        elif well_formed and operation == "answerInteraction":
            self._fill_answer(case)
        elif well_formed:
            self._fill_path(case, operation, caller)
        elif operation == "sendMessageByUrl" and ParameterLocation.PATH not in negated:
            case.path_parameters["token"] = token
        if isinstance(case.body, dict):
            self._fill_body(case.body, operation, well_formed=well_formed)
        if case.query and isinstance(case.query.get("token"), str):
            case.query["token"] = token
        headers = {"Authorization": f"Bearer {token}"} if security else {}
        if well_formed and "Idempotency-Key" in (case.headers or {}) and (serial := next(self._serial)) % 4:
            headers["Idempotency-Key"] = f"key {serial}"  # else nearly every one was used before, for something else
        return headers

    def _caller(self, operation: str, security: list[dict[str, Any]], *, well_formed: bool) -> DeviceActor | Program:
        is_pairing = operation.endswith(("Pairing", "PairingOutcome"))
        if operation in DESTRUCTIVE or (is_pairing and well_formed):
            return self._server.new_owner()
        if operation == "simulateAnswer":
            return self._test
        if operation == "answerInteraction":
            return self._phone
        return next(self._devices) if {"DeviceAuth": []} in security else next(self._programs)

    def _fill_path(self, case: Case[Any], operation: str, caller: DeviceActor | Program) -> None:
        makers: dict[str, Callable[[DeviceActor | Program], str]] = {
            "sendMessageByUrl": lambda caller: caller.token,
            "getInteraction": self._question_of,
            "cancelInteraction": self._question_of,
            "simulateAnswer": self._question_of,
            "acknowledgeEmergency": lambda _caller: self._emergency_of(self._phone.default_program()),
            "deleteReminder": self._reminder_of,
            "removeDevice": lambda caller: caller.id,
            "revokeToken": lambda _caller: self._server.new_program(self._phone).id,
        }
        if operation in makers:
            name = {"sendMessageByUrl": "token", "acknowledgeEmergency": "receipt"}.get(operation, "id")
            case.path_parameters[name] = makers[operation](caller)

    def _fill_answer(self, case: Case[Any]) -> None:
        """Put in a question of its own; where the answer brings more than a choice, one that asks for it; sign that."""
        asker = self._phone.default_program()
        body: dict[str, Any] = case.body if isinstance(case.body, dict) else {}
        if not body.keys() & {"v", "number", "comment"}:
            case.path_parameters["id"] = self._question_of(asker)
            return
        asking = asker.ask(f"Question {next(self._serial)}?", expires_in=60, confirm="number", comment="optional")
        asked = self._server.do(asking).json()
        digest = self._server.do(asker.read(asked["id"])).json()["digest"]
        said = {"number": asked["confirm_number"], "comment": body.get("comment")}
        signature = self._phone.sign_v2(
            asked["id"], digest, body["choice_index"], answered_at=body["answered_at"], **said
        )
        body |= {"v": 2, "number": said["number"], "signature": signature}
        case.path_parameters["id"] = asked["id"]

    def _invite(self, case: Case[Any], operation: str, phone: DeviceActor | Program) -> str:
        """Put an invitation's id into the path, taken to where the call is of use; return the token for the call."""
        opened = self._server.do(phone.call("POST", "/v1/pairings", json={}))
        path = f"/v1/pairings/{opened.json()['pairing_id']}"
        token = phone.token
        if operation not in {"claimPairing", "rejectPairing"}:
            by_code = {"commitment": PROOF} if operation in {"greetPairing", "revealPairing"} else {}
            claim = enrolment_body("") | {"proof": PROOF} | by_code
            claimed = self._server.do(phone.call("POST", f"{path}/claim", json=claim))
            if operation in {"getPairingOutcome", "revealPairing"}:
                token = claimed.json()["claim_token"]
        if operation == "revealPairing":
            self._server.do(phone.call("POST", f"{path}/greet", json={"nonce": PROOF}))
        case.path_parameters["id"] = opened.json()["pairing_id"]
        return token

    def _fill_body(self, body: dict[str, Any], operation: str, *, well_formed: bool) -> None:
        """Put in what exists; what breaks the schema is left as it is, but for its token and its time."""
        real: dict[str, Any] = {"token": next(self._programs).token}
        if operation == "enrollDevice" and well_formed:
            code = self._server.do(self._server.running.invite(new_owner=True))
            real |= {name: enrolment_body(code)[name] for name in ("code", "public_key", "signing_key")}
        if operation.endswith("Pairing") and well_formed:
            keys = enrolment_body("")
            real |= {name: keys[name] for name in ("public_key", "signing_key")}
            real |= {"proof": PROOF, "nonce": PROOF, "commitment": PROOF, "signature": encode_base64(bytes(64))}
        if operation == "relay" and well_formed:
            real |= {"to": [self._desktop.id], "blobs": [encode_base64(b"\x01" + bytes(100))]}
        if isinstance(body.get("push"), dict) and well_formed:
            body["push"]["keys"] = PUSH_KEYS
        if operation == "createReminder":
            real["at"] = int(self._server.clock.now()) + 3600
        body |= {name: value for name, value in real.items() if type(body.get(name)) is type(value)}

    def _question_of(self, caller: DeviceActor | Program) -> str:
        assert isinstance(caller, Program)
        fields = {"question": f"Question {next(self._serial)}?", "expires_in": 60}
        return self._made(caller, "/v1/interactions", fields, "id") or f"int_{'0' * 32}"

    def _reminder_of(self, caller: DeviceActor | Program) -> str:
        assert isinstance(caller, Program)
        fields = {"message": "Stand-up", "at": int(self._server.clock.now()) + 3600}
        return self._made(caller, "/v1/reminders", fields, "reminder_id") or f"rem_{'0' * 32}"

    def _emergency_of(self, caller: Program) -> str:
        fields = {"token": caller.token, "message": "Fire", "priority": 2, "expire": 1}
        return self._made(caller, "/1/messages.json", fields, "receipt") or "r" * 30

    def _made(self, caller: Program, path: str, fields: dict[str, Any], key: str) -> str:
        """Return the id of what was made; empty where the caller may not."""
        reply = self._server.do(caller.call("POST", path, json=fields))
        return str(reply.json().get(key, ""))
