"""`@approve`: a function that runs only after the first choice was tapped on the phone."""

import inspect
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

from reflecto.client.aio import AsyncReflecto
from reflecto.client.errors import ReflectoError
from reflecto.client.results import Answer
from reflecto.client.sync import Reflecto
from reflecto.contract.limits import QUESTION_MAX_CHARS

P = ParamSpec("P")
R = TypeVar("R")
Client = Reflecto | AsyncReflecto
ClientSource = Client | Callable[[], Client]


class Denied(ReflectoError):
    """Another than the first choice was tapped: `answer` has it. The function under `@approve` did not run."""

    exit_code = 1
    code = "denied"

    def __init__(self, message: str, *, answer: Answer) -> None:
        super().__init__(message)
        self.answer = answer


def approve(
    question: str,
    choices: Sequence[str] | None = None,
    *,
    client: ClientSource,
    expires_in: int | None = None,
    timeout: float | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Ask before each call of the decorated function, which runs only if the first choice was tapped.

        @approve("Drop table {table}?", client=reflecto)
        def drop(table: str) -> None: ...

    Nothing else runs it: another choice raises Denied, and no answer raises what `Reflecto.ask` raises. A plain
    function needs a `Reflecto` and blocks; an `async def` needs an `AsyncReflecto` and waits.

    Args:
        question: up to 1000 characters once it is filled in, by `str.format` with the function's parameters. A
            precision, as in "{sql:.200}", shortens a text and says by how much. What is still too long raises
            ValueError at the call; nothing is left out that is not said to be.
        choices: as in `Reflecto.ask`; the first one approves.
        expires_in: as in `Reflecto.ask`.
        timeout: as in `Reflecto.ask`.
        client: what asks, or a function without arguments that returns it, called at each call.

    Raises: TypeError for a question that names no parameter of the function, for a generator, for a client of the
    other kind.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = _signature_of(function, question)
        is_async = inspect.iscoroutinefunction(function)
        wanted = AsyncReflecto if is_async else Reflecto
        if isinstance(client, Client):
            _expect(client, wanted)

        def fill_in(*args: Any, **kwargs: Any) -> str:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return _fill_in(question, bound.arguments)

        def connected() -> Any:
            return _expect(client if isinstance(client, Client) else client(), wanted)

        @wraps(function)
        def asking(*args: P.args, **kwargs: P.kwargs) -> R:
            text = fill_in(*args, **kwargs)
            answer = connected().ask(text, choices, expires_in=expires_in, timeout=timeout)
            _raise_if_denied(answer)
            return function(*args, **kwargs)

        @wraps(function)
        async def asking_async(*args: P.args, **kwargs: P.kwargs) -> Any:
            text = fill_in(*args, **kwargs)
            answer = await connected().ask(text, choices, expires_in=expires_in, timeout=timeout)
            _raise_if_denied(answer)
            return await cast("Callable[P, Any]", function)(*args, **kwargs)

        return cast("Callable[P, R]", asking_async) if is_async else asking

    return decorate


class _HonestFormatter(string.Formatter):
    """`str.format`, except that a text which a precision cuts off says how much of it is missing."""

    def format_field(self, value: Any, format_spec: str) -> str:
        _, dot, precision = format_spec.rpartition(".")
        digits = precision.removesuffix("s")
        if isinstance(value, str) and dot and digits.isdecimal() and len(value) > int(digits):
            shown = int(digits)
            return f"{value[:shown]}… [{len(value) - shown} more characters not shown]"
        return format(value, format_spec)


_FORMATTER: Final = _HonestFormatter()


def _signature_of(function: Callable[..., Any], question: str) -> inspect.Signature:
    if not callable(function):
        raise TypeError("@approve guards functions: put it below @staticmethod, @classmethod and @property")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError("@approve cannot guard a generator, whose body runs only after the call")
    signature = inspect.signature(function)
    unknown = set(_names_in(question)) - set(signature.parameters)
    if unknown:
        raise TypeError(f"the question names what is no parameter of {function.__qualname__}: {sorted(unknown)}")
    return signature


def _names_in(template: str) -> Iterator[str]:
    """Yield the parameter that each field begins with: `user` in "{user.name}"; widths may hold fields of their own."""
    for _, field, format_spec, _ in _FORMATTER.parse(template):
        if field is not None:
            yield re.split(r"[.\[]", field)[0]
            yield from _names_in(format_spec or "")


def _fill_in(question: str, arguments: Mapping[str, Any]) -> str:
    text = _FORMATTER.vformat(question, (), arguments)
    if len(text) > QUESTION_MAX_CHARS:
        raise ValueError(
            f"the question has {len(text)} characters and may have {QUESTION_MAX_CHARS}; "
            "a precision such as {name:.200} shortens an argument and says so"
        )
    return text


def _expect(client: object, wanted: type[Client]) -> Client:
    if not isinstance(client, wanted):
        raise TypeError(f"this function needs a client of class {wanted.__name__}, not {type(client).__name__}")
    return client


def _raise_if_denied(answer: Answer) -> None:
    if not answer.is_first_choice:
        raise Denied(f"{answer.choice!r} was tapped", answer=answer)
