"""Routes made from operations: each call is admitted as its row says, then handed to the row's handler."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from starlette.routing import Route

from reflecto.api.gate import Gate
from reflecto.api.http import Call, Endpoint, Reply
from reflecto.api.keyed import read_key
from reflecto.api.operations.operation import Admitted, AnyOperation, Handler
from reflecto.api.pushover_shape import pushover_shape
from reflecto.api.use_cases import UseCases
from reflecto.core.repeats import KeyedRequest


def routes_of(operations: Iterable[AnyOperation], use_cases: UseCases, gate: Gate) -> list[Route]:
    """Return a route for each path of `operations`, in their order."""
    by_path: dict[str, list[AnyOperation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, []).append(operation)
    return [_route(by_path[path], use_cases, gate) for path in _with_variables_last(by_path)]


def _with_variables_last(paths: Iterable[str]) -> list[str]:
    """Put what is written out before a variable in the same place: `/v1/devices/self` before `/v1/devices/{id}`."""

    def root(path: str) -> list[str]:
        return path.split("/")[:3]

    return [
        path
        for _, group in groupby(paths, root)
        for path in sorted(group, key=lambda path: ["{" in part for part in path.split("/")])
    ]


def _route(operations: list[AnyOperation], use_cases: UseCases, gate: Gate) -> Route:
    handlers: dict[str, Any] = {
        operation.method: _Serving(operation, operation.handler, use_cases, gate) for operation in operations
    }
    for operation in operations:
        if operation.head is not None:
            handlers["HEAD"] = _Serving(operation, operation.head, use_cases, gate)
    first = operations[0]
    if first.error_shape == "pushover":
        return Route(first.route_path, Endpoint(first.path, shape=pushover_shape, **handlers))
    return Route(first.route_path, Endpoint(first.path, **handlers))


class _Serving:
    """Serves one operation: who calls, then the body, then the handler; of a token in the body the body comes first."""

    def __init__(self, operation: AnyOperation, handler: Handler[Any, Any], use_cases: UseCases, gate: Gate) -> None:
        self._operation = operation
        self._handler = handler
        self._use_cases = use_cases
        self._gate = gate

    async def __call__(self, call: Call) -> Reply | None:
        """Answer the call. Raises: ApiError, ClientDisconnectedError."""
        if not self._operation.limited:
            return await self._answer(call, *await self._identify(call))
        caller, body = await self._gate.counting_strangers(call, self._identify(call))
        return await self._gate.run(caller, self._answer(call, caller, body))

    async def _identify(self, call: Call) -> tuple[Any, Any]:
        """Return who calls, and the body where it had to be read for that."""
        operation = self._operation
        body = await operation.body.read(self._use_cases, call) if operation.caller.in_body else None
        return await operation.caller.identify(self._gate.auth, call, body), body

    async def _answer(self, call: Call, caller: Any, body: Any) -> Reply | None:
        operation = self._operation
        if not operation.caller.in_body:
            body = await operation.body.read(self._use_cases, call)
        keyed = None
        if operation.keyed_by is not None and (key := read_key(call)) is not None:
            keyed = KeyedRequest.of(operation.keyed_by(call, caller, body), key, [operation.id, body])
        admitted = Admitted(call.scope, call.receive, call.send, self._use_cases, caller, body, keyed)
        return await operation.caller.watching(self._gate.auth, call, self._handler(admitted))
