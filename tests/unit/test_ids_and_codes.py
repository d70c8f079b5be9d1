"""The forms of ids, tokens and setup codes."""

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflecto.contract.ids import (
    CODE_ALPHABET,
    ID_PATTERN,
    TOKEN_PATTERN,
    IdPrefix,
    is_id,
    new_device_token,
    new_id,
    new_sender_token,
    new_setup_code,
    normalize_setup_code,
)

SPEC_TOKEN = re.compile(r"rf[kd]_(live|test)_[A-Za-z0-9]{32}")  # the secret-scanning pattern


@pytest.mark.parametrize("prefix", get_args(IdPrefix))
def test_an_id_is_its_prefix_and_32_lower_case_hex_digits(prefix: IdPrefix):
    made = new_id(prefix)
    assert re.fullmatch(rf"{prefix}_[0-9a-f]{{32}}", made)
    assert ID_PATTERN.fullmatch(made)
    assert is_id(made, prefix)
    assert not is_id(made, "msg" if prefix != "msg" else "int")


@pytest.mark.parametrize(
    "text", ["", "int_", "int_" + "A" * 32, "int_" + "0" * 31, "int_" + "0" * 33, " int_" + "0" * 32, "0" * 36]
)
def test_what_is_no_id_is_none(text: str):
    assert not is_id(text, "int")
    assert not is_id("int_" + "0" * 32 + "\n", "int")


def test_tokens_have_the_scannable_form_and_say_what_they_are_for():
    made = [new_sender_token(), new_sender_token(test=True), new_device_token()]
    assert [token[:9] for token in made] == ["rfk_live_", "rfk_test_", "rfd_live_"]
    assert all(SPEC_TOKEN.fullmatch(token) and TOKEN_PATTERN.fullmatch(token) for token in made)


def test_tokens_and_codes_are_never_the_same_twice():
    assert len({new_sender_token() for _ in range(1_000)}) == 1_000
    assert len({new_setup_code() for _ in range(1_000)}) == 1_000


def test_a_code_is_four_groups_of_four_readable_characters():
    assert re.fullmatch(rf"[{CODE_ALPHABET}]{{4}}(-[{CODE_ALPHABET}]{{4}}){{3}}", new_setup_code())
    assert not set("ILOU") & set(CODE_ALPHABET)
    assert len(CODE_ALPHABET) == 32


@given(st.text(CODE_ALPHABET, min_size=16, max_size=16), st.data())
def test_a_code_typed_in_any_way_is_the_same_code(code: str, data: st.DataObject):
    lookalikes = {"0": "0Oo", "1": "1IiLl"}
    typed = "".join(
        data.draw(st.sampled_from(["", " ", "-", "--", "\t", "\n"]))
        + data.draw(st.sampled_from(lookalikes.get(char, char + char.lower())))
        for char in code
    )
    assert normalize_setup_code(typed) == code


@pytest.mark.parametrize(
    "typed",
    ["", "----", "ABCD-EFGH-JKMN", "ABCD-EFGH-JKMN-PQRST", "ABCD-EFGH-JKMN-PQRU", "ABCD-EFGH-JKMN-PQR!", "\uff21" * 16],
)
def test_what_cannot_be_a_code_is_none(typed: str):
    assert normalize_setup_code(typed) is None


@given(st.text(max_size=40))
def test_whatever_is_typed_becomes_a_code_or_none(typed: str):
    code = normalize_setup_code(typed)
    assert code is None or (len(code) == 16 and set(code) <= set(CODE_ALPHABET))
