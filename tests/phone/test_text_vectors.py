"""What is visible of a text, by the vectors that every implementation runs."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from reflecto.contract.visibility import seen_of, visible

VECTORS: Final = json.loads((Path(__file__).parents[1] / "vectors" / "text.json").read_text("utf-8"))


def cases(name: str) -> list[Any]:
    return [pytest.param(case, id=case["why"]) for case in VECTORS[name]]


@pytest.mark.parametrize("case", cases("visible"))
def test_nothing_of_a_text_is_hidden_from_its_reader(case: dict[str, str]):
    assert visible(case["text"], keep_lines=True) == case["shown"]
    assert visible(case["text"]) == case.get("name", case["shown"])


@pytest.mark.parametrize("case", cases("seen"))
def test_what_is_left_of_a_text_for_the_eye(case: dict[str, str]):
    assert seen_of(case["text"]) == case["seen"]


@pytest.mark.parametrize("case", cases("equal_labels"))
def test_labels_are_equal_where_nobody_can_tell_them_apart(case: dict[str, Any]):
    assert (seen_of(case["a"]) == seen_of(case["b"])) is case["equal"]
