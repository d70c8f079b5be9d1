"""All pages: links lead somewhere, README has each once, every `reflecto …` that is pasted is one that there is."""

import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Final

import click
import pytest

from reflecto.cli.main import cli
from reflecto.contract import limits

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
TEXT: Final = {page: page.read_text("utf-8") for page in PAGES}
IDS: Final = [page.name for page in PAGES]
PROGRAM: Final = r"(?<![\w./-])(?:/opt/reflecto/\.venv/bin/)?reflecto"
COMMAND: Final = re.compile(PROGRAM + r" (?:[a-z]+(?![\w.:/-])|--)(?:[^`\n|&;#)]|\\\n)*")


def anchors(text: str) -> set[str]:
    """Return the names of a page's headings, as the usual renderers make them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_each_link_to_a_page_or_a_heading_leads_there(page: Path):
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", TEXT[page]):
        path, _, heading = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if "127.0.0.1" not in target:
            assert file.exists(), target
        if heading:
            assert heading in anchors(file.read_text("utf-8")), target


def test_the_readme_lists_each_page_once():
    listed = re.findall(r"^\| \[docs/(\S+)\]\(docs/\1\)", TEXT[ROOT / "README.md"], re.MULTILINE)
    assert sorted(listed) == sorted(page.name for page in PAGES if page.parent.name == "docs")


def blocks(text: str) -> list[str]:
    """Return what is shown as commands: blocks for a shell, and code within the text."""
    shells = re.findall(r"^```(?:sh|console|crontab|ini)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return [*shells, *re.findall(r"`(reflecto [^`]+)`", prose)]


def check(words: list[str]) -> None:
    """Check that the command and each of its long options exist."""
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)} | {
        "--help",
        "--version",
    }
    given = {word.partition("=")[0] for word in words if re.match(r"--\w", word)}
    assert given <= known


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_each_pasted_reflecto_command_and_its_options_exist(page: Path):
    for block in blocks(TEXT[page]):
        for match in COMMAND.findall(block):
            try:
                words = shlex.split(match.replace("\\\n", " "))
            except ValueError:  # a quote that goes on elsewhere
                words = match.split()
            try:
                check(words[1:])
            except AssertionError:
                pytest.fail(f"no such command or option: {match}")


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_no_row_of_a_table_stands_there_twice_in_a_row(page: Path):
    lines = TEXT[page].splitlines()
    assert [line for line, next_line in pairwise(lines) if line.startswith("|") and line == next_line] == []


def test_nginx_lets_the_largest_body_through_and_waits_longer_than_a_long_poll():
    recipe = TEXT[ROOT / "docs" / "https.md"]
    most = re.search(r"client_max_body_size (\d+)m;", recipe)
    waits = re.search(r"proxy_read_timeout (\d+)s;", recipe)
    assert most is not None
    assert waits is not None
    bodies = [getattr(limits, name) for name in dir(limits) if name.endswith("BODY_MAX_BYTES")]
    assert int(most[1]) << 20 >= max(*bodies, limits.PICTURE_MAX_BYTES + limits.SEND_BODY_MAX_BYTES)
    assert int(waits[1]) > limits.WAIT_MAX_SECONDS
    assert "proxy_buffering off;" in recipe
