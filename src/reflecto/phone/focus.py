"""Which open question the keys answer, and from when on. Pure; times are monotonic seconds."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

GUARD_SECONDS: Final = 0.4  # a key pressed sooner after a question appeared was meant for something else

Key = Literal[
    "1", "2", "3", "4", "next", "more", "comment", "refuse", "mute", "unmute", "help", "acknowledge", "quit"
]  # fmt: skip
ESCAPE: Final = b"\x1b"

_KEYS: Final[dict[bytes, Key]] = {
    b"1": "1",
    b"2": "2",
    b"3": "3",
    b"4": "4",
    b"\t": "next",
    b"n": "next",
    b"N": "next",
    b" ": "more",
    b"c": "comment",
    b"C": "comment",
    b"r": "refuse",
    b"R": "refuse",
    b"m": "mute",
    b"M": "mute",
    b"u": "unmute",
    b"U": "unmute",
    b"?": "help",
    b"a": "acknowledge",
    b"A": "acknowledge",
    b"q": "quit",
    b"Q": "quit",
    b"\x04": "quit",  # Ctrl-D
}


def read_key(chunk: bytes) -> Key | None:
    """Return what one read from the keyboard means, or None.

    More than one byte at a time is a paste, or a key such as an arrow, whose sequence may hold digits: never a tap.
    """
    return _KEYS.get(chunk)


class Focus(NamedTuple):
    """`current` is the question in front; `answerable_at` says from when each open one takes a key."""

    current: str | None = None
    answerable_at: Mapping[str, float] = {}


def follow(focus: Focus, open_ids: Sequence[str], now: float) -> Focus:
    """Keep the question in front while it is open, else take the oldest. A new one takes no key for a moment."""
    current = focus.current if focus.current in open_ids else next(iter(open_ids), None)
    answerable_at = {id_: focus.answerable_at.get(id_, now + GUARD_SECONDS) for id_ in open_ids}
    if current is not None and current != focus.current:
        answerable_at[current] = now + GUARD_SECONDS
    return Focus(current, answerable_at)


def guard(focus: Focus, question_id: str, now: float) -> Focus:
    """Let this question take no key for a moment: it was just printed."""
    return focus._replace(answerable_at={**focus.answerable_at, question_id: now + GUARD_SECONDS})


def switch(focus: Focus, open_ids: Sequence[str]) -> Focus:
    """Put the next question in front; after the last comes the first."""
    if focus.current not in open_ids:
        return focus
    rest = itertools.dropwhile(lambda id_: id_ != focus.current, [*open_ids, *open_ids])
    return focus._replace(current=next(itertools.islice(rest, 1, None)))


def chosen(focus: Focus, key: Key, choice_count: int, now: float) -> int | None:
    """Return the choice that a key takes of the question in front; None if it is none of its keys, or too soon."""
    if focus.current is None or not key.isdigit() or now < focus.answerable_at.get(focus.current, 0.0):
        return None
    index = int(key) - 1
    return index if index < choice_count else None
