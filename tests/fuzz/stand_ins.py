"""Tokens, ids and codes that exist, in place of made-up ones, so that requests get past the door."""

import itertools
from collections.abc import Callable
from typing import Any

from schemathesis import Case
from schemathesis.core.parameters import ParameterLocation

from tests.actors import DeviceActor, Program
from tests.builders import enrolment_body
from tests.fuzz.fuzzed_server import FuzzedServer

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
        """Put real ids and tokens where the case has well-formed ones, and return the headers that say who calls."""
        operation = str(case.operation.definition.raw["operationId"])
        security = case.operation.definition.raw["security"]
        caller = self._caller(operation, security)
        if not _is_negated(case, ParameterLocation.PATH):
            self._fill_path(case, operation, caller)
        if isinstance(case.body, dict):
            self._fill_body(case.body, operation)
        if case.query and "token" in case.query and not _is_negated(case, ParameterLocation.QUERY):
            case.query["token"] = caller.token
        return {"Authorization": f"Bearer {caller.token}"} if security else {}

    def _caller(self, operation: str, security: list[dict[str, Any]]) -> DeviceActor | Program:
        if operation in DESTRUCTIVE:
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
            "answerInteraction": lambda _caller: self._question_of(self._phone.default_program()),
            "deleteReminder": self._reminder_of,
            "removeDevice": lambda caller: caller.id,
            "revokeToken": lambda _caller: self._server.new_program(self._phone).id,
        }
        if operation in makers:
            name = "token" if operation == "sendMessageByUrl" else "id"
            case.path_parameters[name] = makers[operation](caller)

    def _fill_body(self, body: dict[str, Any], operation: str) -> None:
        """Replace text by text and numbers by numbers: what breaks the schema still does."""
        real: dict[str, Any] = {"token": next(self._programs).token}
        if operation == "enrollDevice":
            code = self._server.do(self._server.running.invite(new_owner=True))
            real |= {name: enrolment_body(code)[name] for name in ("code", "public_key", "signing_key")}
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

    def _made(self, caller: Program, path: str, fields: dict[str, Any], key: str) -> str:
        """Return the id of what was made; empty where the caller may not."""
        reply = self._server.do(caller.call("POST", path, json=fields))
        return str(reply.json().get(key, ""))


def _is_negated(case: Case[Any], place: ParameterLocation) -> bool:
    return case.meta is not None and case.meta.is_negative_at(place)
