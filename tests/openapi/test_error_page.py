import re

from reflecto.contract.errors import CATALOGUE
from scripts.write_error_page import HEADINGS, PAGE, render


def test_the_page_of_errors_is_what_the_catalogue_makes_of_it():
    assert PAGE.read_text("utf-8") == render(), "run .venv/bin/python scripts/write_error_page.py"


def test_the_page_has_a_row_for_every_code_and_for_nothing_else():
    assert sorted(re.findall(r"^\| `(\w+)` \|", render(), flags=re.MULTILINE)) == sorted(CATALOGUE)


def test_every_status_of_the_catalogue_has_its_heading():
    assert {spec.status for spec in CATALOGUE.values()} == HEADINGS.keys()
