"""tests/vectors/README.md names every file of vectors, and the tests that run it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "vectors"
PAGE = (FOLDER / "README.md").read_text("utf-8")


def test_every_file_of_vectors_is_explained():
    files = {path.name for path in FOLDER.iterdir()} - {"README.md"}
    assert set(re.findall(r"^\| `([\w.-]+)` \|", PAGE, flags=re.MULTILINE)) == files


def test_each_is_run_by_the_tests_it_names_and_those_for_clients_in_both_languages():
    rows = re.findall(r"^\| `([\w-]+\.json)` \| (`tests/.*?) \| (.*?) ?\|$", PAGE, flags=re.MULTILINE)
    assert {name for name, _, _ in rows} == {path.name for path in FOLDER.glob("*.json")}
    assert [name for name, _, typescript in rows if not typescript] == ["token.json"]
    for name, python, typescript in rows:
        for test in re.findall(r"`(.+?)`", python + typescript):
            assert Path(name).stem in (ROOT / test).read_text("utf-8"), test
