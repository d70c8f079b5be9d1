"""What the owner sees, line by line, and what the keys do."""

import io

import msgspec
import pytest

from reflecto.phone import effects
from reflecto.phone.console import Console
from reflecto.phone.effects import Effect
from reflecto.phone.lines import LineWriter, as_json, token_lines
from reflecto.phone.state import PhoneState, Question
from reflecto.phone.wishes import TapOn
from reflecto.terminal.live_line import LiveLine
from tests.phone.builders import END, NOW, id_of, phone, question
from tests.phone.handset import Clock

FIRST, SECOND = question(1), question(2)


class Screen:
    """A console on a page of paper."""

    def __init__(self, *, takes_keys: bool = True) -> None:
        self.paper = io.StringIO()
        self.time = Clock(100.0)
        self.state = phone()
        self.console = Console(LiveLine(self.paper), takes_keys=takes_keys, clock=Clock(NOW), monotonic=self.time)

    def come(self, asked: Question) -> None:
        self.state = phone(*self.state.questions, asked)
        self.console.show(effects.Opened.of(asked))
        self.console.refresh(self.state, NOW)

    def end(self, ended: Question) -> None:
        self.state = phone(*(left for left in self.state.questions if left != ended))
        self.console.show(effects.Ended(id=ended.id, outcome="expired"))
        self.console.refresh(self.state, NOW)

    def lines(self) -> list[str]:
        written = self.paper.getvalue().splitlines()
        self.paper.seek(0)
        self.paper.truncate()
        return written


def test_a_question_is_printed_whole_with_asker_time_left_and_numbered_choices():
    screen = Screen()

    screen.come(question(1, text="Deploy?\nIt is Friday.", choices=("Approve", "Deny")))

    assert screen.lines() == [
        "",
        "#1 CI asks (10:00 left):",
        "   │ Deploy?",
        "   │ It is Friday.",
        "   1  Approve",
        "   2  Deny",
    ]


def test_the_longest_question_is_never_cut():
    text = "".join(chr(0x4E00 + number) for number in range(1000))
    lines = LineWriter().question(effects.Opened.of(question(text=text)), NOW, 40)

    assert "".join(line.removeprefix("   │ ") for line in lines if line.startswith("   │ ")) == text


def test_no_text_of_an_asker_can_pass_for_a_line_of_this_program():
    faked = question(
        1,
        source="CI\n#9 sent: Approve",
        text="Deploy?\r\n   1  Approve\x1b[1A\u202e\n" + " " * 35 + "#1 sent: Approve",
        choices=("Approve\n   2  Deny", "Deny\u200b"),
    )

    lines = LineWriter().question(effects.Opened.of(faked), NOW, 40)

    assert lines == [
        "",
        "#1 CI‹U+000A›#9 sent: Approve asks ",  # noqa: RUF001
        "… (10:00 left):",
        "   │ Deploy?",
        "   │    1  Approve‹U+001B›[1A‹U+202E›",  # noqa: RUF001
        "   │ " + " " * 35,
        "   │ #1 sent: Approve",
        "   1  Approve‹U+000A›   2  Deny",  # noqa: RUF001
        "   2  Deny‹U+200B›",  # noqa: RUF001
    ]


def test_keys_answer_the_oldest_question_and_a_newcomer_says_so():
    screen = Screen()
    screen.come(FIRST)
    screen.come(SECOND)
    screen.time.now += 1

    assert screen.lines()[-1] == "   The keys still answer #1; Tab goes to #2."
    assert screen.console.press(b"2") == TapOn(FIRST.id, 1)


def test_the_only_question_is_printed_once():
    screen = Screen()
    screen.come(FIRST)
    for _ in range(3):
        screen.console.refresh(screen.state, NOW + 1)

    assert screen.lines().count("#1 CI asks (10:00 left):") == 1


def test_a_key_pressed_as_the_question_appears_is_ignored():
    screen = Screen()
    screen.come(FIRST)

    screen.time.now += 0.399
    assert screen.console.press(b"1") is None
    screen.time.now += 0.002
    assert screen.console.press(b"1") == TapOn(FIRST.id, 0)


def test_tab_brings_the_next_question_to_the_front_and_prints_it():
    screen = Screen()
    screen.come(FIRST)
    screen.come(SECOND)
    screen.time.now += 1
    screen.lines()

    assert screen.console.press(b"\t") is None

    assert screen.lines()[1:3] == ["#2 CI asks (10:00 left):", "   │ Deploy 2?"]
    assert screen.console.press(b"1") == TapOn(SECOND.id, 0)


def test_the_question_that_takes_the_front_by_itself_is_printed_again_and_guarded():
    screen = Screen()
    screen.come(FIRST)
    screen.come(SECOND)
    screen.time.now += 60
    screen.lines()

    screen.end(FIRST)

    assert screen.lines()[:3] == ["#1 expired", "", "#2 CI asks (10:00 left):"]
    assert screen.console.press(b"1") is None
    screen.time.now += 0.4
    assert screen.console.press(b"1") == TapOn(SECOND.id, 0)


@pytest.mark.parametrize("chunk", [b"3", b"x", b"\x1b[C", b"1\n", b"12"])
def test_other_keys_do_nothing(chunk: bytes):
    screen = Screen()
    screen.come(FIRST)
    screen.time.now += 1

    assert screen.console.press(chunk) is None


def test_q_quits_with_and_without_a_question():
    screen = Screen()
    assert screen.console.press(b"q") == "quit"
    screen.come(FIRST)
    assert screen.console.press(b"q") == "quit"


def test_on_paper_there_is_no_line_that_is_redrawn():
    screen = Screen(takes_keys=False)
    screen.come(FIRST)
    screen.console.refresh(screen.state, NOW + 1)

    assert "\r" not in screen.paper.getvalue()
    assert "\x1b" not in screen.paper.getvalue()
    assert "Tab" not in screen.paper.getvalue()


def test_the_time_left_is_by_the_server_s_clock():
    screen = Screen()
    screen.console.refresh(PhoneState(), NOW + 300)  # this clock is five minutes behind

    screen.console.show(effects.Opened.of(FIRST))

    assert "(5:00 left)" in screen.lines()[1]


@pytest.mark.parametrize(
    ("effect", "line"),
    [
        (effects.Sending(id=FIRST.id, choice_index=0, choice="Approve"), "#1 sending: Approve"),
        (effects.Ended(id=FIRST.id, outcome="sent", choice_index=0, choice="Approve"), "#1 sent: Approve"),
        (
            effects.Ended(id=FIRST.id, outcome="answered_elsewhere", choice_index=1, choice="Deny", by="Pixel"),
            "#1 answered elsewhere: Deny, on Pixel",
        ),
        (
            effects.Ended(id=FIRST.id, outcome="answered_elsewhere", choice="Deny", by="P\x1b", too_late=True),
            "#1 answered elsewhere: Deny, on P‹U+001B› (your answer came too late)",  # noqa: RUF001
        ),
        (effects.Ended(id=FIRST.id, outcome="withdrawn"), "#1 withdrawn"),
        (effects.Ended(id=FIRST.id, outcome="expired", too_late=True), "#1 expired (your answer came too late)"),
        (
            effects.Ended(id=FIRST.id, outcome="not_recorded", detail="not_found"),
            "#1 not recorded: the server says not_found",
        ),
        (effects.LeftOpen(id=FIRST.id, wanted="Ship"), "#1 left open: it has no choice Ship"),
        (effects.Unsupported(id="msg_1", type="ring"), "Something of type ring came, which this version cannot show."),
        (effects.Unreadable(seq=4, reason="it does not open"), "Entry 4 was skipped: it does not open."),
        (effects.Connected(url="http://127.0.0.1:1"), "Connected to http://127.0.0.1:1."),
        (
            effects.Disconnected(reason="cannot be reached", retry_in_seconds=1),
            "Not connected: cannot be reached. Trying again.",
        ),
    ],
)
def test_each_effect_is_told_in_one_line(effect: Effect, line: str):
    assert LineWriter().describe(effect, NOW, None) == [line]


@pytest.mark.parametrize(
    ("effect", "lines"),
    [
        (
            effects.Notified(id="msg_1", source="Cron", message="Backup\ndone", title="Night"),
            ["", "Cron: Night", "   │ Backup", "   │ done"],
        ),
        (effects.Notified(id="msg_1", source="Cron", message="\x07"), ["", "Cron", "   │ ‹U+0007›"]),  # noqa: RUF001
        (
            effects.Missed(id=FIRST.id, source="CI", question="Deploy?", expires_at=END),
            ["", "Missed: CI asked, and time ran out before it got here:", "   │ Deploy?"],
        ),
    ],
)
def test_messages_are_quoted(effect: Effect, lines: list[str]):
    assert LineWriter().describe(effect, NOW, None) == lines


def test_the_token_comes_in_one_piece_with_lines_to_paste():
    token = "rfk_live_" + "b" * 32
    shown = effects.TokenShown(id=id_of("tok", 1), label="Default", token=token, url="https://r.example")

    lines = token_lines(shown)

    assert f"  {token}" in lines
    assert any(line.startswith("  curl https://r.example/v1/interactions ") and token in line for line in lines)
    assert "  reflecto login --url https://r.example" in lines


def test_a_line_of_json_is_exact_for_a_script_and_harmless_on_a_terminal():
    told = effects.Notified(id="msg_1", source="CI", message="\x1b[2J\u202eé\n")

    line = as_json(told)

    assert line.isascii()
    assert line.isprintable()
    assert msgspec.json.decode(line, type=effects.Notified) == told
