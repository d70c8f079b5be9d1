"""What a phone makes of messages, documents, rings and reminders, and how it shows them."""

import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from reflecto.contract.limits import DOCUMENT_MAX_BYTES
from reflecto.phone import effects, readers
from reflecto.phone.effects import Effect
from reflecto.phone.inbox import advance
from reflecto.phone.lines import LineWriter
from reflecto.phone.state import PhoneState
from reflecto.terminal.columns import cell_width
from tests.phone.builders import END, NOW, arrived, id_of, phone


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this machine's clock show UTC."""
    monkeypatch.setenv("TZ", "UTC")
    if hasattr(time, "tzset"):
        time.tzset()
    yield
    monkeypatch.undo()
    if hasattr(time, "tzset"):
        time.tzset()


def read(kind: str, payload: dict[str, Any], *, now: float = NOW, state: PhoneState | None = None) -> list[Effect]:
    return list(advance(state or phone(), arrived(kind, id_of("msg", 1), payload, token="Cron"), now).effects)


def shown(kind: str, payload: dict[str, Any], columns: int | None = None) -> list[str]:
    return [line for effect in read(kind, payload) for line in LineWriter().describe(effect, NOW, columns)]


def document(number: int = 1, filename: str = "report.txt", content: str = "42\n") -> Any:
    return arrived("document", id_of("doc", number), {"filename": filename, "content": content}, seq=number, token="CI")


FULL = {
    "message": "42 GB in 12 min",
    "title": "Backup",
    "priority": "high",
    "tags": ["nas", "nightly"],
    "url": "https://nas.example/jobs/7",
    "url_title": "Job 7",
    "actions": [{"label": "Open", "url": "https://nas.example/"}, {"label": "Log", "url": "http://nas.example:8080/l"}],
    "markdown": True,
}


def test_a_notification_is_taken_whole():
    assert read("notification", FULL) == [
        effects.Notified(
            id=id_of("msg", 1),
            source="Cron",
            message="42 GB in 12 min",
            title="Backup",
            priority="high",
            tags=("nas", "nightly"),
            url="https://nas.example/jobs/7",
            url_title="Job 7",
            actions=(
                effects.Action(label="Open", url="https://nas.example/"),
                effects.Action(label="Log", url="http://nas.example:8080/l"),
            ),
            markdown=True,
        )
    ]


def test_a_notification_is_shown_with_all_it_has_and_each_link_s_host_in_front():
    assert shown("notification", FULL) == [
        "",
        "Cron: Backup [high] #nas #nightly",
        "   │ 42 GB in 12 min",
        "   ↗ nas.example  Job 7: https://nas.example/jobs/7",
        "   ↗ nas.example  Open: https://nas.example/",
        "   ↗ nas.example:8080  Log: http://nas.example:8080/l",
    ]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://evil.example\\@bank.example/", "not a safe link"),
        ("https://bank.example@evil.example/login", "not a safe link"),
        ("https://evil.example/#https://bank.example", "evil.example"),
        ("HTTPS://BANK.example", "bank.example"),
        ("https://b\u0430nk.example/", "xn--bnk-6cd.example"),  # the second letter is Cyrillic
        ("http://[::1]:8080/", "[::1]:8080"),
        ("javascript:alert(1)", "not a safe link"),
        ("file:///etc/passwd", "not a safe link"),
        ("https://", "not a safe link"),
        ("https://[::1", "not a safe link"),
        ("https://x:99999/", "not a safe link"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("homeassistant://navigate/garage", "homeassistant://navigate"),
    ],
)
def test_no_link_can_pretend_to_lead_elsewhere(url: str, host: str):
    assert shown("notification", {"message": "m", "url": url})[-1] == f"   ↗ {host}  {url}"


def test_nothing_of_a_notification_is_hidden_or_leaves_its_place():
    payload = {
        "message": "a\n#1 sent: Approve",
        "title": "T\u202e",
        "tags": ["\x1b[2J"],
        "url": "https://x.example/\n#2",
    }
    assert shown("notification", payload) == [
        "",
        "Cron: T‹U+202E› #‹U+001B›[2J",  # noqa: RUF001
        "   │ a",
        "   │ #1 sent: Approve",
        "   ↗ not a safe link  https://x.example/‹U+000A›#2",  # noqa: RUF001
    ]


def test_a_ring_names_who_rings_and_says_what_it_is_about():
    payload = {"duration": 10, "expires_at": int(NOW) + 60, "message": "Where are you?"}
    assert shown("ring", payload) == ["", "Cron rings for 10 s.", "   │ Where are you?"]
    assert shown("ring", {"duration": 10, "expires_at": int(NOW) + 60}) == ["", "Cron rings for 10 s."]


@pytest.mark.parametrize(("now", "kind"), [(NOW + 59.9, effects.Rang), (NOW + 60, effects.RingMissed)])
def test_a_ring_sounds_until_the_very_second_of_its_end_and_never_after(now: float, kind: type[Effect]):
    [effect] = read("ring", {"duration": 10, "expires_at": int(NOW) + 60}, now=now)
    assert type(effect) is kind


@pytest.mark.parametrize(("claimed", "rung"), [(10**9, 120), (-5, 0), (120, 120)])
def test_no_server_makes_a_phone_ring_for_ever(claimed: int, rung: int):
    [effect] = read("ring", {"duration": claimed, "expires_at": END})
    assert isinstance(effect, effects.Rang)
    assert effect.duration == rung


def test_a_reminder_says_for_when_it_was_set_and_whether_it_is_late():
    payload = {"message": "Stand-up", "at": 1_754_800_200, "title": "Daily"}
    assert shown("reminder", payload) == ["", "Reminder of Cron for 2025-08-10 04:30: Daily", "   │ Stand-up"]
    assert shown("reminder", payload | {"late": True})[1] == (
        "Reminder of Cron for 2025-08-10 04:30 (late: the server was down then): Daily"
    )


def test_a_reminder_for_a_year_that_no_calendar_has_is_shown_all_the_same():
    assert "Unix time" in shown("reminder", {"message": "m", "at": 2**62})[1]


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("notification", {"message": 5}),
        ("notification", {"title": "no message"}),
        ("document", {"filename": "a.txt"}),
        ("document", {"filename": "a.txt", "content": "x" * (DOCUMENT_MAX_BYTES + 1)}),
        ("document", {"filename": "a.txt", "content": "é" * (DOCUMENT_MAX_BYTES // 2 + 1)}),
        ("ring", {"duration": "long", "expires_at": END}),
        ("ring", {"duration": 5}),
        ("reminder", {"message": "m", "at": "soon"}),
    ],
)
def test_what_is_not_in_the_form_of_its_type_is_told_without_its_content_and_passed(kind: str, payload: dict[str, Any]):
    [effect] = read(kind, payload)
    assert isinstance(effect, effects.Unreadable)
    assert kind in effect.reason


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("notification", {"message": "m"}),
        ("ring", {"duration": 5, "expires_at": END}),
        ("reminder", {"message": "m", "at": END}),
    ],
)
def test_what_arrives_again_is_not_shown_again(kind: str, payload: dict[str, Any]):
    once = advance(phone(), arrived(kind, "msg_1", payload, seq=1), NOW)
    again = advance(once.state, arrived(kind, "msg_1", payload, seq=2), NOW)
    assert (len(once.effects), again.effects) == (1, ())
    assert again.state.cursor == 2


def test_a_document_is_held_until_it_is_on_disk_and_only_then_told():
    step = advance(phone(), document(), NOW)
    assert step.effects == ()
    [held] = step.state.documents

    saved = readers.document_saved(step.state, held, "/home/ann/Downloads/report.txt")

    assert saved.state.documents == ()
    assert saved.effects == (
        effects.DocumentSaved(
            id=id_of("doc", 1),
            source="CI",
            filename="report.txt",
            path="/home/ann/Downloads/report.txt",
            byte_length=3,
        ),
    )
    assert LineWriter().describe(saved.effects[0], NOW, None) == [
        "",
        "CI sent a document, 3 bytes: /home/ann/Downloads/report.txt",
    ]


def test_a_held_document_survives_the_state_file_and_shows_its_content_nowhere():
    state = advance(phone(), document(content="secret"), NOW).state
    assert msgspec.json.decode(msgspec.json.encode(state), type=PhoneState) == state
    assert "secret" not in repr(state)


def test_of_too_many_documents_that_could_not_be_saved_the_oldest_are_told_as_lost():
    state = phone()
    told: list[Effect] = []
    for number in range(1, readers.DOCUMENTS_HELD_MAX + 3):
        step = advance(state, document(number), NOW)
        state = step.state
        told += step.effects
    lost = [effect.id for effect in told if isinstance(effect, effects.DocumentUnsaved)]
    assert lost == [id_of("doc", 1), id_of("doc", 2)]
    assert len(state.documents) == readers.DOCUMENTS_HELD_MAX
    assert "it is lost" in LineWriter().describe(told[0], NOW, None)[1]


NAME = "CI" + " " * 37 + "#2 answered elsewhere: Deny"


@pytest.mark.parametrize(
    "effect",
    [
        effects.Opened(id="int_1", source=NAME, question="Deploy?", choices=("A", "B"), expires_at=int(NOW) + 60),
        effects.Missed(id="int_1", source=NAME, question="Deploy?", expires_at=int(NOW)),
        effects.Notified(id="msg_1", source="CI", message="Done", title=NAME),
        effects.Reminded(id="rem_1", source="CI", message="Call", at=int(NOW), title=NAME),
        effects.Rang(id="msg_1", source=NAME, duration=5),
        effects.RingMissed(id="msg_1", source=NAME),
        effects.Sending(id="int_1", choice_index=0, choice=NAME),
        effects.Disconnected(reason=NAME, retry_in_seconds=1),
    ],
)
def test_what_wraps_of_a_name_or_title_cannot_pass_for_a_line_of_the_program(effect: Effect):
    _, *rest = [line for line in LineWriter().describe(effect, NOW, 40) if line]
    assert any("#2" in line for line in rest)
    assert all(line.startswith(("\u2026 ", "   ")) for line in rest)
    assert all(cell_width(line) <= 40 for line in rest)
