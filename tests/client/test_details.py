"""Details from files and diffs: whole up to 48 KiB, and above that it is said what is missing."""

from pathlib import Path

import msgspec
import pytest
import rfc8785

from reflecto import (
    CodeBlock,
    DetailField,
    DiffBlock,
    FieldsBlock,
    InvalidFile,
    TextBlock,
    diff_details,
    file_details,
    fit_details,
)
from reflecto.contract.details import Block, are_details_in_bounds
from reflecto.contract.limits import DETAILS_MAX_BLOCKS, DETAILS_MAX_BYTES

GIT_DIFF = """diff --git a/shop/cart.py b/shop/cart.py
index 1111111..2222222 100644
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,2 +1,2 @@
-price = 1
+price = 2
 done = True
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
"""
PLAIN_DIFF = (
    "--- one.c\t2030-01-01\n+++ one.c\t2030-01-02\n@@ -1 +1 @@\n--- a\n+++ b\n"
    "--- two.c\n+++ two.c\n@@ -1,2 +1,2 @@\n-a\x0cform\n+b\n\n"
)


def size_of(blocks: tuple[Block, ...]) -> int:
    return len(rfc8785.dumps(msgspec.to_builtins(blocks)))


def texts(blocks: tuple[Block, ...]) -> list[str]:
    return [block.text for block in blocks if isinstance(block, TextBlock)]


def test_a_diff_is_one_block_a_file_with_the_path_as_its_label_and_no_character_is_lost():
    blocks = diff_details(GIT_DIFF)

    assert [(type(block), block.label) for block in blocks if isinstance(block, DiffBlock)] == [
        (DiffBlock, "shop/cart.py"),
        (DiffBlock, "old.txt"),
        (DiffBlock, "logo.png"),
    ]
    assert "".join(texts(blocks)) == GIT_DIFF


def test_a_diff_without_git_s_lines_is_parted_at_its_files_and_not_at_lines_that_look_like_one():
    blocks = diff_details(PLAIN_DIFF)

    assert [block.label for block in blocks if isinstance(block, DiffBlock)] == ["one.c", "two.c"]
    assert "".join(texts(blocks)) == PLAIN_DIFF


def test_what_stands_before_a_diff_is_text():
    blocks = diff_details("From: Ada\n\nCheaper\n" + GIT_DIFF)

    assert blocks[0] == TextBlock(text="From: Ada\n\nCheaper\n")
    assert diff_details("\n") == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("drop.sql", CodeBlock(text="x\n", label="drop.sql", language="sql")),
        ("Makefile.am", CodeBlock(text="x\n", label="Makefile.am")),
        ("notes.md", TextBlock(text="x\n", label="notes.md")),
    ],
)
def test_a_file_is_code_or_prose_by_its_ending(tmp_path: Path, name: str, expected: Block):
    (tmp_path / name).write_bytes(b"\xef\xbb\xbfx\n")  # as editors on Windows write it

    assert file_details(tmp_path / name, label=name) == (expected,)


def test_a_file_with_a_diff_is_a_diff(tmp_path: Path):
    (tmp_path / "a.patch").write_text(GIT_DIFF, "utf-8")

    assert file_details(tmp_path / "a.patch") == diff_details(GIT_DIFF)


def test_an_empty_file_is_said_to_be_empty_and_one_that_is_no_text_is_refused(tmp_path: Path):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")

    assert file_details(tmp_path / "empty.txt", label="empty.txt") == (
        FieldsBlock(fields=(DetailField("File", "empty.txt is empty"),)),
    )
    with pytest.raises(InvalidFile, match="not text in UTF-8"):
        file_details(tmp_path / "binary")


def test_nothing_of_48_kib_is_left_out():
    overhead = size_of((CodeBlock(text="", label="a.py"),))
    whole = (CodeBlock(text="x" * (DETAILS_MAX_BYTES - overhead), label="a.py"),)

    assert size_of(whole) == DETAILS_MAX_BYTES
    assert fit_details(whole) == whole


@pytest.mark.parametrize("letter", ["x", "\u20ac", "\x07", "\U0001f600"])
def test_above_48_kib_it_is_said_how_much_is_missing_of_what(letter: str):
    text = "first\n" + letter * 60_000 + "\nlast"
    small = TextBlock(text="small", label="b.txt")

    fitted = fit_details((CodeBlock(text=text, label="a.py"), small))

    assert are_details_in_bounds(fitted)
    missing, cut, kept = fitted
    assert kept == small
    assert isinstance(cut, CodeBlock)
    assert cut.text.startswith("first\n")
    assert cut.text.endswith("\nlast")
    head, gap, tail = (
        cut.text.rpartition("\n[\u2026 ")[0],
        cut.text.split("[\u2026 ")[1],
        cut.text.split("\u2026]\n")[1],
    )
    left_out = len(text.encode()) - len(head.encode()) - len(tail.encode())
    assert gap.startswith(f"{left_out:,} bytes are missing here")
    assert missing == FieldsBlock(
        fields=(DetailField("Missing", f"{left_out:,} of {len(text.encode()):,} bytes of a.py"),)
    )
    assert size_of(fitted) > DETAILS_MAX_BYTES * 0.95


def test_more_than_twelve_blocks_are_joined_and_nothing_is_lost():
    diffs = tuple(DiffBlock(text=f"--- a/{number}\n+++ b/{number}\n", label=str(number)) for number in range(30))
    mixed: tuple[Block, ...] = (
        *diffs[:11],
        TextBlock(text="prose", label="p"),
        FieldsBlock(fields=(DetailField("Host", "db1"),)),
    )

    joined = fit_details(diffs)

    assert len(joined) == DETAILS_MAX_BLOCKS
    assert "".join(texts(joined)) == "".join(texts(diffs))
    assert fit_details(mixed)[-1] == TextBlock(text="p:\nprose\nHost: db1")


def test_too_many_and_too_long_is_cut_as_well():
    blocks = tuple(TextBlock(text=str(number) * 9_000, label=f"{number}.txt") for number in range(20))

    fitted = fit_details(blocks)

    assert len(fitted) <= DETAILS_MAX_BLOCKS
    assert are_details_in_bounds(fitted)
    assert isinstance(fitted[0], FieldsBlock)
    assert fitted[0].fields[0].name == "Missing"


def test_a_long_path_keeps_its_end(tmp_path: Path):
    folder = tmp_path / ("d" * 120) / ("e" * 120)
    folder.mkdir(parents=True)
    (folder / "end.txt").write_text("x")

    (block,) = file_details(folder / "end.txt")

    assert isinstance(block, TextBlock)
    assert isinstance(block.label, str)
    assert block.label.startswith("\u2026")
    assert block.label.endswith("/end.txt")
    assert len(block.label.encode()) <= 200
    assert msgspec.json.encode(block)
