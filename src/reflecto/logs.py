"""Logging to standard error, as text or as JSON, with every token and setup code redacted whatever wrote the line."""

import asyncio
import json
import logging
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal, TextIO

from reflecto.contract.ids import (
    CODE_ALPHABET,
    CODE_CHARS,
    CODE_GROUP_CHARS,
    SERVER_KEYS_PATTERN,
    SHORT_TOKEN_PATTERN,
    TOKEN_PATTERN,
)
from reflecto.core.events import EventLine

LogFormat = Literal["text", "json"]

SELDOM_SECONDS: Final = 60
_GROUP: Final = f"[{CODE_ALPHABET}]{{{CODE_GROUP_CHARS}}}"
_BEHIND_ESCAPE: Final = r"(?<=\\[nrt])"  # of `\nSECRET`, as Python writes text that somebody else made
_HYPHENS_OF_CODE: Final = CODE_CHARS // CODE_GROUP_CHARS - 1  # looking for fewer costs less than for the pattern
_SETUP_CODE: Final = re.compile(rf"(?:\b|{_BEHIND_ESCAPE}){_GROUP}(?:-{_GROUP}){{{_HYPHENS_OF_CODE}}}\b")
# Also what only looks like one, such as an emergency's receipt: a line in the log can do without.
_ONE_SHORT_TOKEN: Final = rf"{SHORT_TOKEN_PATTERN.pattern}(?![A-Za-z0-9])"
_SHORT_TOKEN: Final = re.compile(rf"(?<![A-Za-z0-9]){_ONE_SHORT_TOKEN}")
_ESCAPED_SHORT_TOKEN: Final = re.compile(_BEHIND_ESCAPE + _ONE_SHORT_TOKEN)  # apart: one pattern takes twice as long
_STORE_PASSWORD: Final = re.compile(r"(\bpostgres(?:ql)?://[^\s:/@]*:)\S+@")
_PASSWORD_OPTION: Final = re.compile(r"([?&]password=)[^\s&]+")


class RedactingFormatter(logging.Formatter):
    """Redacts the finished line, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without secrets."""
        return redact(super().format(record))


class TimedFormatter(RedactingFormatter):
    """Puts local time with milliseconds in front. A second is written out once, not once a line."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")
        self._second = 0  # Unix time
        self._written = ""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line behind its time."""
        if self._second != int(record.created):
            self._second = int(record.created)
            self._written = time.strftime(self.default_time_format, time.localtime(self._second))
        if isinstance(record.msg, EventLine):  # as `super` does it, in a third of the time
            line = redact(f"{record.levelname} {record.name}: {record.msg}")
        else:
            line = super().format(record)
        return f"{self._written},{int(record.msecs):03} {line}"


class JsonFormatter(logging.Formatter):
    """Writes one object a line: `time` (UTC), `level`, `event` and what the event names.

    What is no event has `logger` and `text` in place of them, and `traceback` where there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without secrets: each value is redacted before JSON's escapes could hide a secret's edge."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, object] = {"time": f"{seconds}.{int(record.msecs):03}Z", "level": record.levelname.lower()}
        if isinstance(record.msg, EventLine):
            line["event"] = record.msg.name
            line |= {key: _redacted(value) for key, value in record.msg.fields.items()}
        else:
            line |= {"logger": record.name, "text": redact(record.getMessage())}
        if record.exc_info:
            line["traceback"] = redact(self.formatException(record.exc_info))
        return json.dumps(line)


def _redacted(value: object) -> object:
    return value if isinstance(value, int) else redact(str(value))


def redact(text: str) -> str:
    """Replace what has the form of a token, a setup code or a server's keys, and the password in a store's address."""
    text = SERVER_KEYS_PATTERN.sub("[keys]", text) if "rfkeys_" in text else text
    if "postgres" in text:
        text = _PASSWORD_OPTION.sub(r"\1[password]", _STORE_PASSWORD.sub(r"\1[password]@", text))
    text = _SHORT_TOKEN.sub("[token]", TOKEN_PATTERN.sub("[token]", text))
    if "\\" in text:
        text = _ESCAPED_SHORT_TOKEN.sub("[token]", text)
    return _SETUP_CODE.sub("[setup code]", text) if text.count("-") >= _HYPHENS_OF_CODE else text


class TurnHandler(logging.StreamHandler[TextIO]):
    """Writes what was logged in one turn of the event loop at once; a warning, and what a thread logs, without delay.

    Each write lets other threads have Python's lock: one a line would cost a busy server a twentieth of its time.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._lines: list[str] = []
        self._waits_on: asyncio.AbstractEventLoop | None = None  # which flushes before it does anything else

    def emit(self, record: logging.LogRecord) -> None:
        """Take the line, and write it unless more may follow in this turn."""
        try:
            self._lines.append(self.format(record) + self.terminator)
            loop = None if record.levelno >= logging.WARNING else _running_loop()
            if loop is None:
                self.flush()
            elif loop is not self._waits_on:
                self._waits_on = loop
                loop.call_soon(self._end_turn)
        except Exception:  # noqa: BLE001 -- logging's own way: a line that cannot be written never troubles who logged it
            self.handleError(record)

    def flush(self) -> None:
        """Write what waits."""
        self.acquire()
        try:
            self._waits_on = None
            lines, self._lines = self._lines, []
            if lines:
                self.stream.write("".join(lines))
            super().flush()
        finally:
            self.release()

    def _end_turn(self) -> None:
        with suppress(OSError, ValueError):  # nobody reads the log any more
            self.flush()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Seldom(logging.Filter):
    """Lets a line of strangers' making through once a minute, and says how many like it came meanwhile."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._last: dict[str, tuple[float, int]] = {}  # message to when it was let through, how many were not since

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the line is written."""
        if record.levelno >= logging.ERROR or record.args:
            return True
        message, now = str(record.msg), self._now()
        since, held = self._last.get(message, (-SELDOM_SECONDS, 0))
        if now - since < SELDOM_SECONDS:
            self._last[message] = (since, held + 1)
            return False
        self._last[message] = (now, 0)
        if held:
            record.msg = f"{message} ({held} more like it in the last {now - since:.0f} s)"
        return True


def configure_logging(level: str, form: LogFormat = "text") -> None:
    """Log to standard error, one line per event; uvicorn's loggers go the same way."""
    handler = TurnHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TimedFormatter())
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False  # no line tells them
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("httpcore").setLevel(logging.WARNING)  # it would log the addresses push services answer with
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # it has a line for each broken form of a stranger
    logging.getLogger("uvicorn").setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
    seldom = Seldom()
    for each in list(logging.getLogger("uvicorn.error").filters):
        logging.getLogger("uvicorn.error").removeFilter(each)
    logging.getLogger("uvicorn.error").addFilter(seldom)  # "Invalid HTTP request received.", thousands a second
