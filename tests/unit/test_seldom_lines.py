"""Lines that strangers can cause by the thousand are written once a minute."""

import logging

from reflecto.logs import Seldom


def line(message: str, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("uvicorn.error", level, "", 0, message, None, None)


def test_a_line_comes_once_a_minute_and_says_how_many_did_not():
    now = [100.0]
    seldom = Seldom(lambda: now[0])
    assert seldom.filter(line("Invalid HTTP request received."))
    assert not any(seldom.filter(line("Invalid HTTP request received.")) for _ in range(5_000))
    assert seldom.filter(line("another"))
    now[0] += 60
    again = line("Invalid HTTP request received.")
    assert seldom.filter(again)
    assert again.getMessage() == "Invalid HTTP request received. (5000 more like it in the last 60 s)"


def test_a_fault_of_the_servers_own_is_always_written():
    seldom = Seldom(lambda: 0.0)
    assert all(seldom.filter(line("failed", logging.ERROR)) for _ in range(3))
