"""Emergencies and stopped rings on a phone: the rules, and how they look."""

import pytest

from reflecto.phone import effects
from reflecto.phone.alarms import Acknowledged, AlarmVerdict, Silenced
from reflecto.phone.inbox import Arrived, Tick, advance, resume
from reflecto.phone.lines import LineWriter
from reflecto.phone.markup import read_html
from tests.phone.builders import NOW, arrived, emergency, id_of, phone

ID = id_of("msg", 9)
SHOWN = emergency()


def alarm(seq: int = 1, **changes: object) -> Arrived:
    payload = {"receipt": "r" * 30, "retry": 60, "expires_at": int(NOW) + 3_600, "message": "Fire"} | changes
    return arrived("emergency", ID, payload, seq=seq, token="CI")


def closing(status: str = "acknowledged", **changes: object) -> Arrived:
    payload = {"status": status, "receipt": "r" * 30} | changes
    return arrived("emergency.closed", ID, payload, seq=5, token="CI")


def test_it_is_shown_once_and_rings_with_each_round():
    first = advance(phone(), alarm(), NOW)
    assert [type(effect) for effect in first.effects] == [effects.Alarmed, effects.AlarmRang]
    assert first.state.emergencies == (SHOWN,)
    same_round = advance(first.state, alarm(2), NOW + 29)
    assert same_round.effects == ()
    again = advance(same_round.state, alarm(3), NOW + 60)
    assert [type(effect) for effect in again.effects] == [effects.AlarmRang]


def test_it_rings_by_itself_where_the_server_is_not_heard():
    state = phone(emergencies=(SHOWN,))
    assert advance(state, Tick(), NOW + 59.9).effects == ()
    rang = advance(state, Tick(), NOW + 60)
    assert rang.effects == (effects.AlarmRang(id=ID, duration=30),)
    assert advance(rang.state, alarm(2), NOW + 60.2).effects == ()  # the server's round, a little later


def test_silenced_it_stays_and_rings_no_more_here():
    silent = advance(phone(emergencies=(SHOWN,)), Silenced(), NOW).state
    assert advance(silent, Tick(), NOW + 60).effects == ()
    assert advance(silent, alarm(2), NOW + 60).effects == ()
    assert silent.emergencies[0].silenced


def test_acknowledged_here_it_waits_for_the_server_s_word_over_restarts():
    step = advance(phone(emergencies=(SHOWN,)), Acknowledged(ID), NOW)
    assert step.effects == (effects.Acknowledging(id=ID),)
    assert advance(step.state, Acknowledged(ID), NOW).effects == ()
    waiting = step.state.unsent_acknowledgement()
    assert waiting is not None
    assert waiting.id == ID
    assert advance(step.state, Tick(), NOW + 9_999).effects == ()
    assert resume(step.state, NOW + 9_999).effects == (effects.Acknowledging(id=ID),)
    ended = advance(step.state, AlarmVerdict(ID, "acknowledged"), NOW)
    assert ended.effects == (effects.AlarmEnded(id=ID, outcome="acknowledged"),)
    assert ended.state.emergencies == ()


@pytest.mark.parametrize("status", ["acknowledged", "cancelled", "expired"])
def test_a_closing_ends_it_and_nothing_brings_it_back(status: effects.AlarmOutcome):
    first = advance(phone(), alarm(), NOW)
    ended = advance(first.state, closing(status, by="Pixel"), NOW + 1)
    assert ended.effects == (effects.AlarmEnded(id=ID, outcome=status, by="Pixel"),)
    assert advance(ended.state, alarm(6), NOW + 60).effects == ()
    assert advance(phone(seen=ended.state.seen), alarm(7), NOW + 60).effects == ()


def test_time_ends_it_at_the_very_second():
    state = advance(phone(), alarm(), NOW).state
    ended = advance(state, Tick(), NOW + 3_600)
    assert ended.effects == (effects.AlarmEnded(id=ID, outcome="expired"),)
    assert advance(ended.state, alarm(2), NOW + 3_600).effects == ()
    assert advance(phone(), alarm(), NOW + 3_600).effects == ()


def test_a_stopped_ring_names_the_device():
    stopped = advance(phone(), arrived("ring.stopped", id_of("msg", 3), {"by": "Pixel"}), NOW)
    assert stopped.effects == (effects.RingStopped(id=id_of("msg", 3), by="Pixel"),)


def test_its_lines_show_the_text_without_tags_and_the_links_with_their_hosts():
    shown = emergency(
        title="Cellar", html=True, message='<b>Fire</b> &amp; smoke<br><a href="https://cam.example/">cam</a>'
    )
    assert LineWriter().describe(effects.Alarmed.of(shown), NOW, 80) == [
        "",
        "EMERGENCY of CI, rings every 60 s for 1:00:00: Cellar",
        "   \u2502 Fire & smoke",
        "   \u2502 cam",
        "   \u2197 cam.example  cam: https://cam.example/",
    ]


def test_a_notification_shows_its_time_and_that_there_is_a_picture():
    payload = {"message": "<i>Door</i>", "html": True, "timestamp": 0, "image": {"media_type": "image/png", "data": ""}}
    [notified] = advance(phone(), arrived("notification", id_of("msg", 1), payload, token="CI"), NOW).effects
    lines = LineWriter().describe(notified, NOW, 80)
    assert lines[1].startswith("CI (of 19")
    assert lines[2:] == ["   \u2502 Door", "   (a picture, not shown here)"]


def test_a_notification_whose_time_is_over_is_not_shown():
    gone = arrived("notification", id_of("msg", 1), {"message": "x", "delete_at": int(NOW)}, token="CI")
    assert advance(phone(), gone, NOW).effects == ()


@pytest.mark.parametrize(
    ("source", "text", "links"),
    [
        ("<b>Disk</b> full<br>&amp; more", "Disk full\n& more", ()),
        ("a < b && c > d", "a < b && c > d", ()),
        ("<script>alert(1)</script>left", "left", ()),
        ('<a href="javascript:x">tap</a>', "tap", (("tap", "javascript:x"),)),
        ('<a href="https://a.example">open', "open", (("open", "https://a.example"),)),
        ("<font color=red>r</font><u>u</u>\nnext", "ru\nnext", ()),
        ("&#x1F600;&lt;b&gt;", "\U0001f600<b>", ()),
        ("<" * 1_000, "<" * 1_000, ()),
        ("", "", ()),
    ],
)
def test_html_is_read_as_text_with_its_links(source: str, text: str, links: tuple[tuple[str, str], ...]):
    assert read_html(source) == (text, links)
