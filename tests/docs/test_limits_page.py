"""docs/limits.md says what the code does."""

import re

from reflecto.contract.errors import CATALOGUE
from scripts.write_limits_page import PAGE, render


def test_the_page_of_limits_is_what_the_code_makes_of_it():
    assert PAGE.read_text("utf-8") == render(), "run .venv/bin/python scripts/write_limits_page.py"


def test_each_error_named_there_is_one_that_there_is():
    rows = re.findall(r"^\|.*\| ([^|]*) \|$", render().partition("## Requests")[0], re.MULTILINE)
    named = {code for row in rows for code in re.findall(r"`(\w+)`", row)}
    assert named <= set(CATALOGUE)
