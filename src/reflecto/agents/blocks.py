"""The blocks of a question's details, made of an agent's text: whole up to 48 KiB, and above that it says what is not.

An agent's text may have been written by somebody who wants something approved. So it is in blocks of its own, which the
phone draws, and what cannot be seen is written out.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from reflecto.agents.long_texts import Block, LongText, json_bytes, text_block
from reflecto.agents.shown import shown_end, shown_line, without_lines
from reflecto.contract.limits import (
    DETAILS_MAX_BLOCKS,
    DETAILS_MAX_BYTES,
    FIELD_NAME_MAX_BYTES,
    FIELD_VALUE_MAX_BYTES,
    FIELDS_MAX,
)

_PAIRS_MAX: Final = 2 * FIELDS_MAX - 1  # two blocks of them; the last place tells of a cut
_WRITTEN_OUT_BYTES: Final = 14  # of one character at most
_REST: Final = "the rest"
_DIGEST_CHARS: Final = 16


class Details(NamedTuple):
    """The blocks, and how many characters of the agent's text they have not."""

    blocks: tuple[Block, ...]
    missing_chars: int = 0


def details_of(longs: Sequence[LongText], fields: Iterable[tuple[str, str]], given: Mapping[str, Any]) -> Details:
    """Return the blocks: first the long texts, then the fields; a value too long for one has a block of its own.

    What does not fit into 48 KiB is cut out of the middle of the longest texts. A field then has the first 16 hex
    digits of the SHA-256 of `given`, all that the agent gave, as compact JSON with sorted keys (`jq -cjS`).
    """
    own, pairs = _parted(fields)
    longs = _merged([long for long in (*longs, *own) if long.total_chars], DETAILS_MAX_BLOCKS - 2)
    left, blocks = DETAILS_MAX_BYTES - size_of(_fields(pairs)), list[Block]()
    for long in longs:
        block = long.whole(left - len(","))
        if block is None:
            break
        left -= json_bytes(block) + len(",")
        blocks.append(block)
    if len(blocks) == len(longs):
        return Details((*blocks, *_fields(pairs)))
    return _cut(longs, _fields([*pairs, {"name": "SHA-256 of all of it", "value": f"{_digest(given)}…"}]))


def size_of(blocks: Sequence[Block]) -> int:
    """Return how many bytes the details are as canonical JSON."""
    return json_bytes(list(blocks))


def _parted(fields: Iterable[tuple[str, str]]) -> tuple[list[LongText], list[dict[str, str]]]:
    """Return the values that need blocks of their own, and the pairs of names and values that do not.

    There may be thousands of fields: what will not be shown in a pair is not looked at.
    """
    longs, pairs, rest = list[LongText](), list[dict[str, str]](), list[str]()
    for name, value in fields:
        size = len(value.encode(errors="surrogatepass"))
        is_short = "\n" not in value and size <= FIELD_VALUE_MAX_BYTES
        if is_short and len(pairs) == _PAIRS_MAX:
            rest.append(f"{without_lines(name)}: {value}")
            continue
        if is_short and (len(longs) < DETAILS_MAX_BLOCKS or size * _WRITTEN_OUT_BYTES <= FIELD_VALUE_MAX_BYTES):
            line = shown_line(value)
            if len(line.encode()) <= FIELD_VALUE_MAX_BYTES:
                said = line if line.strip() else json.dumps(line)  # a value that shows nothing, in quotes
                pairs.append({"name": shown_end(name, FIELD_NAME_MAX_BYTES) or "-", "value": said})
                continue
        longs.append(text_block(name, value))
    if rest:
        longs.append(text_block(_REST, "\n".join(rest)))
    return longs, pairs


def _cut(longs: Sequence[LongText], fields: Sequence[Block]) -> Details:
    """Cut the longest texts, so much that everything fits."""
    room = limit = DETAILS_MAX_BYTES - size_of(fields)
    while True:
        share = _share(longs, room)
        missing, blocks = 0, list[Block]()
        # Two parts and the words between them are three blocks: where there is no place for that, ends are not shown.
        places = DETAILS_MAX_BLOCKS - len(fields) - len(longs)
        for long in longs:
            cut, left_out = long.cut(share, is_parted=places >= 2)
            places -= len(cut) - 1
            missing += left_out
            blocks += cut
        over = size_of(blocks) - limit
        if over <= 0:
            return Details((*blocks, *fields), missing)
        room -= max(over + 1, room // 16)  # seldom: texts that take more together than piece by piece


def _share(longs: Sequence[LongText], room: int) -> int:
    """Return the largest part of `room` that each may take: short texts take less, and long ones share the rest."""
    left, share = list(longs), 0
    while left:
        share = max(room, 0) // len(left)
        short = {id(long): block for long in left if (block := long.whole(share))}
        if not short:
            break
        room -= sum(json_bytes(block) + len(",") for block in short.values())
        left = [long for long in left if id(long) not in short]
    return share


def _merged(longs: list[LongText], count: int) -> list[LongText]:
    """Return at most `count` texts: the last ones become one, each under its label."""
    if len(longs) <= count:
        return longs
    last = "\n\n".join(f"{without_lines(long.label)}:\n{long.text()}" for long in longs[count - 1 :])
    return [*longs[: count - 1], text_block(_REST, last)]


def _fields(pairs: Sequence[Mapping[str, str]]) -> list[Block]:
    return [
        {"kind": "fields", "fields": list(pairs[start : start + FIELDS_MAX])}
        for start in range(0, len(pairs), FIELDS_MAX)
    ]


def _digest(given: Mapping[str, Any]) -> str:
    compact = json.dumps(given, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(compact.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
