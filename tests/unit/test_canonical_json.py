from typing import Any

import pytest
import rfc8785

from reflecto.contract.canonical_json import canonical_json
from reflecto.contract.details import CodeBlock, DetailField, FieldsBlock, Source

PLANES = range(0, 0x110000, 0x1000)


@pytest.mark.parametrize("first", [each for each in PLANES if not 0xD000 < each < 0xE000], ids=hex)
def test_each_character_is_written_as_rfc_8785_says(first: int):
    text = "".join(chr(code) for code in range(first, first + 0x1000) if not 0xD800 <= code < 0xE000)
    assert canonical_json([text]) == rfc8785.dumps([text])


@pytest.mark.parametrize("value", ["", [], {}, {"b": [{}, {"z": "1", "a": []}], "B": "", "_": "x"}], ids=repr)
def test_lists_and_objects_are_written_as_rfc_8785_says(value: Any):
    assert canonical_json(value) == rfc8785.dumps(value)


def test_a_model_is_written_as_the_object_it_was_given_as():
    blocks = (CodeBlock(text="x", label="l"), FieldsBlock(fields=(DetailField("n", "v"),)))
    given: Any = [
        {"kind": "code", "text": "x", "label": "l"},
        {"kind": "fields", "fields": [{"name": "n", "value": "v"}]},
    ]
    assert canonical_json(blocks) == rfc8785.dumps(given)
    assert canonical_json(Source(host="h", app="a")) == rfc8785.dumps({"app": "a", "host": "h"})
