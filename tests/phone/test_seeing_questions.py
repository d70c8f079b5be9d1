"""A question with details on a terminal: shown whole, page by page, and answered by nobody who has not seen it."""

import io
from typing import Any

import pytest

from reflecto.contract.limits import COMMENT_MAX_CHARS
from reflecto.phone import effects
from reflecto.phone.console import Console
from reflecto.phone.lines import LineWriter
from reflecto.phone.state import Question
from reflecto.phone.wishes import Mute, Refuse, RefuseAll, TapOn
from reflecto.terminal.columns import cell_width
from reflecto.terminal.live_line import LiveLine
from tests.phone.builders import END, NOW, id_of, phone, question
from tests.phone.handset import Clock

TOKEN = id_of("tok", 1)
DIFF = "--- a/cart.py\n+++ b/cart.py\n@@ -1 +1,2 @@\n-price = 1\n+price = 2\n+done = True\n"
DETAILS = [
    {"kind": "code", "label": "run.sh", "text": "rm -rf build\nmake\n"},
    {"kind": "diff", "label": "cart.py", "text": DIFF},
    {"kind": "fields", "fields": [{"name": "Folder", "value": "~/shop"}]},
    {"kind": "text", "text": "Because it is Friday."},
]


class Paper(LiveLine):
    """A terminal of this size, which keeps what is printed, and the line that is drawn."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(io.StringIO())
        self.size = (columns, rows)
        self.printed: list[str] = []
        self.status = ""

    def columns(self) -> int:
        return self.size[0]

    def rows(self) -> int:
        return self.size[1]

    def draw(self, text: str) -> None:
        self.status = text

    def print(self, lines: list[str]) -> None:
        assert all(cell_width(line) <= self.size[0] for line in lines)
        self.printed += lines

    @property
    def screen(self) -> list[str]:
        """What is still to be seen: the last line of it is the one that is redrawn."""
        return self.printed[1 - self.size[1] :]


class Terminal:
    """A phone on a terminal."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.paper = Paper(columns, rows)
        self.time = Clock(100.0)
        self.state = phone()
        self.console = Console(self.paper, takes_keys=True, clock=Clock(NOW), monotonic=self.time)

    def come(self, *asked: Question) -> None:
        for each in asked:
            self.state = phone(*self.state.questions, each)
            self.console.show(effects.Opened.of(each))
            self.console.refresh(self.state, NOW)
        self.time.now += 1

    def press(self, keys: str) -> Any:
        """Press one key after another, half a second apart; return what the last one asked for."""
        wish = None
        for key in keys:
            wish = self.console.press(key.encode())
            self.time.now += 0.5
        return wish

    def chatter(self, lines: int) -> None:
        """Let messages come that take so many lines."""
        for number in range(lines // 3):
            self.console.show(effects.Notified(id=id_of("msg", number), source="Cron", message="Backup done"))


def with_details(number: int = 1, **given: Any) -> Question:
    return question(number, given={"details": DETAILS} | given, token_id=TOKEN)


def with_lines(count: int, **changes: Any) -> Question:
    text = "".join(f"line {number}\n" for number in range(1, count + 1))
    return question(1, given={"details": [{"kind": "code", "text": text}]}, **changes)


def test_details_are_shown_whole_each_part_under_its_name():
    asked = with_details(source={"app": "Claude Code", "host": "laptop-17", "where": "~/shop"}, danger="high")

    assert LineWriter().question(effects.Opened.of(asked), NOW, 80) == [
        "",
        "#1 CI asks (10:00 left):",
        "   says: Claude Code on laptop-17, ~/shop",
        "   Dangerous, it says.",
        "   \u2502 Deploy 1?",
        "   \u251c\u2500 run.sh (2 lines)",
        "   \u2502 rm -rf build",
        "   \u2502 make",
        "   \u251c\u2500 cart.py (+2 \u22121, 6 lines)",
        *(f"   \u2502 {line}" for line in DIFF.splitlines()),
        "   \u2502 Folder: ~/shop",
        "   \u251c\u2500 (1 line)",
        "   \u2502 Because it is Friday.",
        "   1  Approve",
        "   2  Deny",
    ]


def test_no_text_in_details_can_pass_for_a_line_of_this_program_or_hide_anything():
    faked = question(
        1,
        given={
            "details": [
                {"kind": "code", "label": "a\nb\u202e", "text": "x\u200b\r\n   1  Approve\x1b[2J\n" + "w " * 30},
                {"kind": "fields", "fields": [{"name": "n\n", "value": "v\n   2  Deny"}]},
            ],
            "source": {"app": "me\n#9 sent"},
        },
    )

    lines = LineWriter().question(effects.Opened.of(faked), NOW, 40)

    assert lines[2:-2] == [
        "   says: me\u2039U+000A\u203a#9 sent",
        "   \u2502 Deploy 1?",
        "   \u251c\u2500 a\u2039U+000A\u203ab\u2039U+202E\u203a (3 lines)",
        "   \u2502 x\u2039U+200B\u203a",
        "   \u2502    1  Approve\u2039U+001B\u203a[2J",
        "   \u2502 " + "w " * 17,
        "   \u250a " + "w " * 13,
        "   \u2502 n\u2039U+000A\u203a: v\u2039U+000A\u203a   2  Deny",
    ]


def test_what_the_asker_left_out_is_said_beside_the_choices():
    missing = {"kind": "fields", "fields": [{"name": "Missing", "value": "12,000 of 60,000 bytes of a.py"}]}

    lines = LineWriter().question(effects.Opened.of(question(given={"details": [missing]})), NOW, 80)

    assert lines[-3:] == ["   Parts are missing, it says. Look where it runs.", "   1  Approve", "   2  Deny"]


def test_no_key_answers_before_the_last_page_and_the_whole_was_on_the_pages():
    terminal = Terminal(rows=24)
    terminal.come(with_lines(100))

    assert "more lines: Space" in terminal.paper.status
    for _ in range(4):
        assert terminal.press("1") is None  # shows the next page, as Space does
    assert terminal.press("2") == TapOn(id_of("int", 1), 1)

    shown = [line for line in terminal.paper.printed if line.startswith("   \u2502 line ")]
    assert shown == [f"   \u2502 line {number}" for number in range(1, 101)]
    assert terminal.paper.screen[-4:] == ["#1 CI asks:", "   \u2502 Deploy 1?", "   1  Approve", "   2  Deny"]


@pytest.mark.parametrize("rows", [10, 24, 200])
@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("count", [1, 17, 18, 19, 20, 100])
def test_whatever_the_size_the_choice_is_made_with_question_and_choices_in_view(rows: int, columns: int, count: int):
    terminal = Terminal(columns, rows)
    terminal.come(with_lines(count))

    for _ in range(count + 10):
        before = list(terminal.paper.screen)
        if (wish := terminal.press("1")) is not None:
            break

    assert wish == TapOn(id_of("int", 1), 0)
    assert {"   \u2502 Deploy 1?", "   1  Approve", "   2  Deny"} <= set(before)
    shown = [line for line in terminal.paper.printed if line.startswith("   \u2502 line ")]
    assert shown == [f"   \u2502 line {number}" for number in range(1, count + 1)]


def test_a_question_that_has_scrolled_away_is_shown_again_before_a_key_answers_it():
    terminal = Terminal(rows=24)
    terminal.come(question(1))
    terminal.chatter(24)

    assert "   \u2502 Deploy 1?" not in terminal.paper.screen
    terminal.console.refresh(terminal.state, NOW)
    assert "scrolled away" in terminal.paper.status
    assert terminal.press("1") is None
    assert "   \u2502 Deploy 1?" in terminal.paper.screen
    assert terminal.press("1") == TapOn(id_of("int", 1), 0)


def test_a_few_lines_below_leave_it_answerable():
    terminal = Terminal(rows=24)
    terminal.come(question(1))
    terminal.chatter(9)

    assert "   \u2502 Deploy 1?" in terminal.paper.screen
    assert terminal.press("1") == TapOn(id_of("int", 1), 0)


def test_a_terminal_that_became_narrower_or_lower_shows_it_again_first():
    for size in ((60, 24), (80, 5)):
        terminal = Terminal(rows=24)
        terminal.come(with_lines(8))
        terminal.paper.size = size

        assert terminal.press("1") is None


def test_the_page_that_was_just_turned_takes_no_key_for_a_moment():
    terminal = Terminal(rows=24)
    terminal.come(with_lines(30))
    terminal.press(" ")
    terminal.time.now -= 0.5

    assert terminal.console.press(b"1") is None
    terminal.time.now += 0.5
    assert terminal.press("1") == TapOn(id_of("int", 1), 0)


def test_a_second_question_is_told_of_in_short_and_shown_whole_with_tab():
    terminal = Terminal(rows=60)
    terminal.come(question(1), with_details(2))

    assert "   (with 13 lines of details)" in terminal.paper.printed
    assert "   \u2502 make" not in terminal.paper.printed
    terminal.press("\t")
    assert "   \u2502 make" in terminal.paper.printed
    assert terminal.press("2") == TapOn(id_of("int", 2), 1)


def test_a_number_is_typed_and_sent_with_enter():
    terminal = Terminal()
    terminal.come(question(1, given={"confirm": "number"}))

    assert terminal.press("1") is None
    assert "Its number: __" in terminal.paper.status
    assert terminal.press("07") is None
    assert "Its number: 07" in terminal.paper.status
    assert terminal.press("\x7f4") is None
    assert terminal.press("\n") == TapOn(id_of("int", 1), 0, number="04")


def test_one_digit_sends_nothing_and_other_keys_leave_the_number():
    terminal = Terminal()
    terminal.come(question(1, given={"confirm": "number"}))

    assert terminal.press("10\n") is None
    assert terminal.press("x") is None
    assert terminal.press("2") == TapOn(id_of("int", 1), 1)


def test_holding_is_a_second_press_a_second_later():
    terminal = Terminal()
    terminal.come(question(1, given={"confirm": "hold"}, choices=("Delete", "Keep")))

    assert terminal.press("1") is None
    assert "really Delete" in terminal.paper.status
    assert terminal.press("1") is None  # half a second later
    assert terminal.press("1") == TapOn(id_of("int", 1), 0)


def test_another_key_lets_go_and_so_does_time():
    terminal = Terminal()
    terminal.come(question(1, given={"confirm": "hold"}))

    assert terminal.press("12") is None
    assert terminal.press("1") is None
    terminal.time.now += 11
    assert terminal.press("1") is None
    assert terminal.press("2") is None
    assert terminal.press("2") == TapOn(id_of("int", 1), 1)


def test_a_word_is_typed_and_goes_with_the_answer():
    terminal = Terminal()
    terminal.come(question(1, given={"comment": "optional"}))

    assert terminal.press("c") is None
    assert terminal.console.press("Not on a Friday, \u00e9t\u00e9".encode()) is None
    assert "Not on a Friday" in terminal.paper.status
    assert terminal.press("\n") is None
    assert "   With the words: Not on a Friday, \u00e9t\u00e9" in terminal.paper.printed
    assert terminal.press("2") == TapOn(id_of("int", 1), 1, comment="Not on a Friday, \u00e9t\u00e9")


def test_a_word_goes_with_a_number_too_is_bounded_and_dropped_by_escape():
    terminal = Terminal()
    terminal.come(question(1, given={"comment": "optional", "confirm": "number"}))

    terminal.press("c")
    terminal.console.press(b"x" * 600)
    assert terminal.press("\n1") is None
    assert terminal.press("42\n") == TapOn(id_of("int", 1), 0, number="42", comment="x" * COMMENT_MAX_CHARS)
    terminal.press("cno\n")
    terminal.press("\x1b")
    assert terminal.press("2") == TapOn(id_of("int", 1), 1)


def test_keys_typed_into_a_word_answer_nothing_and_an_arrow_does_not_end_it():
    terminal = Terminal()
    terminal.come(question(1, given={"comment": "optional"}))

    terminal.press("c")
    assert terminal.console.press(b"\x1b[D") is None
    assert terminal.press("12q") is None
    assert "Say: 12q" in terminal.paper.status


def test_a_question_that_takes_no_word_has_no_key_for_one():
    terminal = Terminal()
    terminal.come(question(1))

    terminal.press("c")
    assert "Say:" not in terminal.paper.status
    assert "say why" not in terminal.paper.status


def test_what_was_begun_for_a_question_ends_with_it():
    terminal = Terminal()
    terminal.come(question(1, given={"confirm": "number"}), question(2, given={"confirm": "number"}))
    terminal.press("10")

    terminal.state = phone(*terminal.state.questions[1:])
    terminal.console.refresh(terminal.state, NOW)
    terminal.time.now += 1

    assert "Its number" not in terminal.paper.status
    assert terminal.press("7\n") is None
    assert terminal.press("2") == TapOn(id_of("int", 2), 1)


def test_a_number_is_not_sent_for_a_question_that_scrolled_away_meanwhile():
    terminal = Terminal(rows=24)
    terminal.come(question(1, given={"confirm": "number"}))
    terminal.press("107")
    terminal.chatter(30)

    assert terminal.press("\n") is None
    assert "   \u2502 Deploy 1?" in terminal.paper.screen


def test_one_question_is_refused_or_all_of_its_sender():
    terminal = Terminal()
    terminal.come(with_details(1), with_details(2))

    assert terminal.press("r") is None
    assert "a all 2 of CI" in terminal.paper.status
    assert terminal.press("x") is None
    assert terminal.press("rr") == Refuse(id_of("int", 1))
    assert terminal.press("ra") == RefuseAll(TOKEN)


@pytest.mark.parametrize(("key", "until"), [("1", int(NOW) + 900), ("2", int(NOW) + 3600), ("4", "forever")])
def test_a_sender_is_muted_for_a_while_or_for_good(key: str, until: int | str):
    terminal = Terminal()
    terminal.come(with_details(1))

    assert terminal.press(f"m{key}") == Mute(TOKEN, "CI", until)  # type: ignore[arg-type]


def test_until_tomorrow_is_the_next_morning_and_other_keys_mute_nobody():
    terminal = Terminal()
    terminal.come(with_details(1))

    wish = terminal.press("m3")

    assert isinstance(wish, Mute)
    assert isinstance(wish.until, int)
    assert NOW + 8 * 3600 - 60 <= wish.until <= NOW + 33 * 3600
    assert terminal.press("m5") is None
    assert terminal.console.press(b"m") is None
    assert terminal.console.press(b"12") is None  # a paste


def test_u_lets_the_last_muted_sender_ask_again():
    terminal = Terminal()
    assert terminal.press("u") is None
    terminal.console.show(effects.Muted(token_id=TOKEN, source="CI", until="forever"))

    assert terminal.press("u") == Mute(TOKEN, "CI", None)
    terminal.console.show(effects.Muted(token_id=TOKEN, source="CI", until=None))
    assert terminal.press("u") is None


def test_missed_questions_are_counted_once_they_have_all_come():
    terminal = Terminal()
    for number in range(3):
        missed = effects.Missed(id=id_of("int", number), source="CI", question="Deploy?", expires_at=END)
        terminal.console.show(missed)
    terminal.console.refresh(terminal.state, NOW)
    assert terminal.paper.printed[-1] == "   \u2502 Deploy?"

    terminal.time.now += 1
    for _ in range(2):
        terminal.console.refresh(terminal.state, NOW)

    assert terminal.paper.printed[-1] == "3 questions were missed while away."
    assert terminal.paper.printed.count("3 questions were missed while away.") == 1


LONG = ("Approve the whole deployment", "Deny it and stop the pipeline", "Ask again tomorrow morning", "Not me")


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("press", ["", "r", "m", "1", "c", "cthe reason 世界世界世界世界世界世界世界世界", "?"])
@pytest.mark.parametrize(
    "given",
    [{}, {"confirm": "number", "comment": "optional"}, {"confirm": "hold", "comment": "optional"}],
    ids=["tap", "number", "hold"],
)
def test_the_keys_are_in_view_at_any_width(columns: int, press: str, given: dict[str, str]):
    terminal = Terminal(columns, 60)
    first = question(1, given=given, choices=LONG, token_id=TOKEN, expires_at=END + 80_000)
    terminal.come(first, question(2, token_id=TOKEN))
    terminal.press(press)

    assert cell_width(terminal.paper.status) < columns
    if press in {"", "?"}:
        words = terminal.paper.status.replace(";", " ").replace(":", " ").replace(",", " ").split()
        assert {"1", "2", "3", "4", "Tab", "?"} <= set(words)
    if press == "?":
        assert any("refuse it" in line for line in terminal.paper.printed)
