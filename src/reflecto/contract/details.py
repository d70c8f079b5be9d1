"""What a question brings for the person to look at, and what its asker says of itself. Source: consent.md.

A phone signs over all of it as it was given, so a member that no phone shows is refused. There is nothing in it but
texts, lists and objects: their canonical JSON (RFC 8785) is the same in every language.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from reflecto.contract.api_error import ApiError
from reflecto.contract.canonical_json import canonical_json
from reflecto.contract.errors import INVALID_DETAILS
from reflecto.contract.limits import (
    BLOCK_LABEL_MAX_BYTES,
    BLOCK_LANGUAGE_MAX_BYTES,
    DETAILS_MAX_BLOCKS,
    DETAILS_MAX_BYTES,
    FIELD_NAME_MAX_BYTES,
    FIELD_VALUE_MAX_BYTES,
    FIELDS_MAX,
    SOURCE_MAX_BYTES,
)
from reflecto.contract.notes import note, up_to_bytes


class TextBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="text", kw_only=True):
    """Text for people."""

    label: (
        Annotated[str, up_to_bytes("A line above it; of a diff the path", "src/app.py", BLOCK_LABEL_MAX_BYTES)]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    language: (
        Annotated[
            str, up_to_bytes("Which language it is in, as highlighters name them", "sh", BLOCK_LANGUAGE_MAX_BYTES)
        ]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    text: Annotated[str, note("The whole of it: nothing is left out", "kubectl rollout restart deploy/web")]


class CodeBlock(TextBlock, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="code", kw_only=True):
    """Code or a command, shown in a typewriter's letters."""


class DiffBlock(TextBlock, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="diff", kw_only=True):
    """A unified diff of the file that `label` names."""


class DetailField(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a table: a name and what it is."""

    name: Annotated[str, up_to_bytes("What it is called", "Folder", FIELD_NAME_MAX_BYTES)]
    value: Annotated[str, up_to_bytes("What it is", "~/shop", FIELD_VALUE_MAX_BYTES)]


class FieldsBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="fields"):
    """A table of names and values."""

    fields: Annotated[
        tuple[DetailField, ...],
        Meta(max_length=FIELDS_MAX),
        note("Its lines, in their order", [{"name": "Folder", "value": "~/shop"}]),
    ]


Block = TextBlock | CodeBlock | DiffBlock | FieldsBlock
Details = Annotated[tuple[Block, ...], Meta(max_length=DETAILS_MAX_BLOCKS)]


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """What the asker says of itself: shown as said, never as proven."""

    app: Annotated[str, up_to_bytes("Which program asks", "Claude Code", SOURCE_MAX_BYTES)] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    host: Annotated[str, up_to_bytes("On which machine", "laptop-17", SOURCE_MAX_BYTES)] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    where: Annotated[str, up_to_bytes("In which place there", "~/shop", SOURCE_MAX_BYTES)] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    session: Annotated[str, up_to_bytes("In which of its runs", "b7c2", SOURCE_MAX_BYTES)] | msgspec.UnsetType = (
        msgspec.UNSET
    )


DETAILS_EXAMPLE: Final = [{"kind": "code", "language": "sh", "text": "kubectl rollout restart deploy/web"}]


def are_details_in_bounds(details: tuple[Block, ...]) -> bool:
    """Tell whether each text is within its bound in bytes of UTF-8.

    Raises: ApiError `invalid_details` with `bytes` and `max` where all of it together is too long.
    """
    size = len(canonical_json(details))
    if size > DETAILS_MAX_BYTES:
        raise ApiError(
            INVALID_DETAILS,
            f"details must be at most {DETAILS_MAX_BYTES} bytes as canonical JSON; these are {size}",
            details={"bytes": size, "max": DETAILS_MAX_BYTES},
        )
    return all(_is_in_bounds(block) for block in details)


def is_source_in_bounds(source: Source) -> bool:
    """Tell whether each text of it is within its bound in bytes of UTF-8."""
    return all(_fits(text, SOURCE_MAX_BYTES) for text in (source.app, source.host, source.where, source.session))


def _is_in_bounds(block: Block) -> bool:
    if isinstance(block, FieldsBlock):
        return all(
            _fits(field.name, FIELD_NAME_MAX_BYTES) and _fits(field.value, FIELD_VALUE_MAX_BYTES)
            for field in block.fields
        )
    return _fits(block.label, BLOCK_LABEL_MAX_BYTES) and _fits(block.language, BLOCK_LANGUAGE_MAX_BYTES)


def _fits(text: str | msgspec.UnsetType, max_bytes: int) -> bool:
    return not isinstance(text, str) or len(text.encode()) <= max_bytes
