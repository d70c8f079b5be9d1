"""Logging to standard error, with every token and setup code redacted whatever wrote the line."""

import logging
import re
import sys
import time
from collections.abc import Callable
from typing import Final

from reflecto.contract.ids import (
    CODE_ALPHABET,
    CODE_CHARS,
    CODE_GROUP_CHARS,
    SHORT_TOKEN_PATTERN,
    TOKEN_PATTERN,
)

SELDOM_SECONDS: Final = 60
_GROUP: Final = f"[{CODE_ALPHABET}]{{{CODE_GROUP_CHARS}}}"
_SETUP_CODE: Final = re.compile(rf"\b{_GROUP}(?:-{_GROUP}){{{CODE_CHARS // CODE_GROUP_CHARS - 1}}}\b")
_HYPHENS_OF_CODE: Final = CODE_CHARS // CODE_GROUP_CHARS - 1  # looking for fewer costs less than for the pattern
# Also what only looks like one, such as an emergency's receipt: a line in the log can do without.
_SHORT_TOKEN: Final = re.compile(rf"(?<![A-Za-z0-9]){SHORT_TOKEN_PATTERN.pattern}(?![A-Za-z0-9])")


class RedactingFormatter(logging.Formatter):
    """Redacts the finished line, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without secrets."""
        return redact(super().format(record))


class TimedFormatter(RedactingFormatter):
    """Puts local time with milliseconds in front. A second is written out once, not once a line."""

    def __init__(self, form: str) -> None:
        super().__init__(form)
        self._second = 0  # Unix time
        self._written = ""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line behind its time."""
        if self._second != int(record.created):
            self._second = int(record.created)
            self._written = time.strftime(self.default_time_format, time.localtime(self._second))
        return f"{self._written},{int(record.msecs):03} {super().format(record)}"


def redact(text: str) -> str:
    """Replace what has the form of a token or a setup code."""
    text = _SHORT_TOKEN.sub("[token]", TOKEN_PATTERN.sub("[token]", text))
    return _SETUP_CODE.sub("[setup code]", text) if text.count("-") >= _HYPHENS_OF_CODE else text


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


def configure_logging(level: str) -> None:
    """Log to standard error, one line per event; uvicorn's loggers go the same way."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TimedFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False  # no line tells them
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("httpcore").setLevel(logging.WARNING)  # it would log the addresses push services answer with
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # it has a line for each broken form of a stranger
    logging.getLogger("uvicorn").setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
    seldom = Seldom()
    for each in list(logging.getLogger("uvicorn.error").filters):
        logging.getLogger("uvicorn.error").removeFilter(each)
    logging.getLogger("uvicorn.error").addFilter(seldom)  # "Invalid HTTP request received.", thousands a second
