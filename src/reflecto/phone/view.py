"""How much of the question in front was shown, and whether it is still on the screen. Pure.

A key answers only what was shown to its end and has not scrolled away since.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reflecto.phone.question_lines import QuestionLines
from reflecto.terminal.columns import cell_width

_SPARE_ROWS: Final = 2  # the status line, and one for the eye
ROWS_MIN: Final = 8  # with fewer, nothing could be shown together


@dataclass
class View:
    """The pages of one question. `rows` is how many lines the screen has, None: there is no screen to scroll."""

    question_id: str
    pages: list[list[str]]
    columns: int | None
    rows: int | None
    turned: int = 0  # pages shown
    below: int = 0  # rows printed since the last page began

    def next_page(self) -> list[str]:
        """Return the page to print now; after the last one that is the last one again."""
        self.turned = min(self.turned + 1, len(self.pages))
        self.below = 0
        return self.pages[self.turned - 1]

    def printed(self, lines: Sequence[str]) -> None:
        """Count what was printed, the page itself too."""
        self.below += sum(rows_of(line, self.columns) for line in lines)

    @property
    def lines_left(self) -> int:
        """How many lines have not been shown yet."""
        return sum(map(len, self.pages[self.turned :]))

    def is_in_view(self, columns: int | None, rows: int | None) -> bool:
        """Tell whether all was shown, and the last page stands on the screen as it was printed."""
        if self.turned < len(self.pages):
            return False
        if self.rows is None or rows is None:
            return True
        last = sum(rows_of(line, self.columns) for line in self.pages[-1])
        # A screen that is too small for the last page shows at least the choices, which are its end.
        return columns == self.columns and self.below <= max(rows - 1, min(last, ROWS_MIN))


def pages_of(lines: QuestionLines, rows: int | None) -> list[list[str]]:
    """Return the question in pages that fit on the screen. On the last one stands the question again."""
    whole = lines.whole()
    room = None if rows is None else max(rows - _SPARE_ROWS, ROWS_MIN)
    if room is None or len(whole) <= room:
        return [whole]
    last = [*lines.again, *lines.choices] if len(lines.again) + len(lines.choices) <= room else lines.choices
    before = [*lines.asked, *lines.details]
    pages = [before[start : start + room] for start in range(0, len(before), room)]
    if len(pages[-1]) + len(last) <= room:
        return [*pages[:-1], [*pages[-1], *last]]
    return [*pages, last]


def rows_of(line: str, columns: int | None) -> int:
    """Return how many rows of the screen a line takes."""
    return 1 if not columns else max(1, -(-cell_width(line) // columns))
