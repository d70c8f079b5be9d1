"""What a phone does with what arrives: once each, whatever the order, nothing fatal."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflecto.phone import effects, inbox
from reflecto.phone.effects import Effect
from reflecto.phone.inbox import Event, Tapped, Tick, Unopened, advance
from reflecto.phone.lifecycle import Step, Verdict
from reflecto.phone.state import HeldToken, PhoneState
from tests.phone.builders import ANSWER, END, NOW, OTHER_PHONE, arrived, asked, closed, id_of, phone, question

TOKEN = HeldToken(id_of("tok", 1), "Default", "rfk_live_" + "b" * 32)


def play(state: PhoneState, *events: Event, now: float = NOW) -> tuple[PhoneState, list[Effect]]:
    told: list[Effect] = []
    for event in events:
        step = advance(state, event, now)
        state = step.state
        told += step.effects
    return state, told


def token_created(number: int = 1, *, seq: int = 1) -> inbox.Arrived:
    return arrived("token.created", id_of("msg", number), msgspec.to_builtins(TOKEN), seq=seq)


def test_a_question_is_opened_with_its_asker_its_whole_text_and_its_choices():
    state, told = play(phone(), asked(1, seq=7))

    assert told == [
        effects.Opened(
            id=id_of("int", 1), source="CI", question="Deploy 1?", choices=("Approve", "Deny"), expires_at=END
        )
    ]
    assert state.questions == (question(1),)
    assert state.cursor == 7


def test_an_envelope_that_arrives_again_is_not_shown_again():
    state, told = play(phone(), asked(1, seq=1), asked(1, seq=2), asked(1, seq=2))

    assert len(told) == 1
    assert state.cursor == 2


def test_an_answered_question_that_arrives_again_stays_ended():
    state, told = play(phone(), asked(1, seq=1), closed(1, seq=2), asked(1, seq=3))

    assert [type(effect) for effect in told] == [effects.Opened, effects.Ended]
    assert state.questions == ()


def test_a_question_whose_end_arrives_before_it_is_not_shown():
    state, told = play(phone(), closed(1, seq=1), asked(1, seq=2))

    assert told == []
    assert state.questions == ()
    assert state.cursor == 2


@pytest.mark.parametrize(
    ("now", "kind"), [(END - 0.01, effects.Opened), (END, effects.Missed), (END + 9, effects.Missed)]
)
def test_a_question_that_is_over_on_arrival_is_told_as_missed_and_never_open(now: float, kind: type[Effect]):
    state, told = play(phone(), asked(1), now=now)

    assert [type(effect) for effect in told] == [kind]
    assert bool(state.questions) == (kind is effects.Opened)


def test_answered_elsewhere_names_the_device_and_the_choice():
    _, told = play(phone(), asked(1, seq=1), closed(1, seq=2, choice_index=1))

    assert told[1] == effects.Ended(
        id=id_of("int", 1),
        outcome="answered_elsewhere",
        choice_index=1,
        choice="Deny",
        by="Pixel",
        by_device_id=OTHER_PHONE,
    )


def test_a_withdrawn_question_is_told_once():
    state, told = play(phone(), asked(1), closed(1, status="cancelled"), closed(1, status="cancelled", seq=3))

    assert told[1:] == [effects.Ended(id=id_of("int", 1), outcome="withdrawn")]
    assert state.questions == ()


def test_a_tap_in_the_second_of_the_end_is_too_late_and_is_not_sent():
    state, told = play(phone(question()), Tapped(id_of("int", 1), ANSWER), now=END)

    assert told == [effects.Ended(id=id_of("int", 1), outcome="expired")]
    assert state.unsent() is None


def test_the_second_tap_does_not_replace_the_first():
    state, told = play(
        phone(question()),
        Tapped(id_of("int", 1), ANSWER),
        Tapped(id_of("int", 1), msgspec.structs.replace(ANSWER, choice_index=0)),
    )

    assert len(told) == 1
    assert state.questions == (question(answer=ANSWER),)


def test_an_answer_on_its_way_outlives_the_question_until_the_server_has_spoken():
    state, told = play(phone(question(answer=ANSWER)), Tick(), now=END + 100)
    assert told == []

    _, told = play(state, Verdict(id_of("int", 1), "accepted"), now=END + 200)
    assert told == [effects.Ended(id=id_of("int", 1), outcome="sent", choice_index=1, choice="Deny")]


def test_what_cannot_be_opened_is_told_and_passed():
    state, told = play(phone(), Unopened(4, "it does not open"), asked(1, seq=5))

    assert told[0] == effects.Unreadable(seq=4, reason="it does not open")
    assert state.cursor == 5
    assert state.questions == (question(1),)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"question": 5, "choices": ["a", "b"], "expires_at": END},
        {"question": "Deploy?", "choices": ["a"], "expires_at": END},
        {"question": "Deploy?", "choices": ["a", "b", "c", "d", "e"], "expires_at": END},
        {"question": "Deploy?", "choices": ["a", 2], "expires_at": END},
        {"question": "Deploy?", "choices": ["a", "b"], "expires_at": "soon"},
    ],
)
def test_a_question_in_no_known_form_is_told_without_its_content_and_passed(payload: dict[str, Any]):
    state, told = play(phone(), arrived("interaction", id_of("int", 1), payload, seq=3))

    assert told == [
        effects.Unreadable(seq=3, reason="an envelope of type 'interaction' is not in the form of its type")
    ]
    assert state.cursor == 3


def test_a_question_with_an_id_that_is_none_is_passed():
    payload = {"question": "Deploy?", "choices": ["a", "b"], "expires_at": END}

    state, told = play(phone(), arrived("interaction", "../v1/tokens", payload))

    assert [type(effect) for effect in told] == [effects.Unreadable]
    assert state.questions == ()


def test_a_type_of_a_later_version_is_told_once_and_passed():
    state, told = play(phone(), arrived("hologram", "msg_1", {}, seq=1), arrived("hologram", "msg_1", {}, seq=2))

    assert told == [effects.Unsupported(id="msg_1", type="hologram")]
    assert state.cursor == 2


def test_a_notification_is_shown_with_title_and_sender():
    payload = {"message": "Backup done", "title": "Backups", "priority": "low"}

    _, told = play(phone(), arrived("notification", "msg_1", payload, token="Cron"))

    assert told == [effects.Notified(id="msg_1", source="Cron", message="Backup done", title="Backups", priority="low")]


def test_a_server_restored_from_a_backup_counts_on_from_its_own_number():
    state, told = play(phone(cursor=900), asked(1, seq=3))

    assert state.cursor == 3
    assert len(told) == 1


def test_the_first_token_is_held_once_although_the_reply_and_the_queue_both_bring_it():
    held = inbox.hold_token(phone(), TOKEN).state

    state, told = play(held, token_created())

    assert state.tokens == (TOKEN,)
    assert told == []


def test_a_token_is_handed_out_exactly_once():
    state, _ = play(phone(), token_created())

    released = inbox.release_tokens(state)

    assert [effect.token for effect in released.effects if isinstance(effect, effects.TokenShown)] == [TOKEN.token]
    assert inbox.release_tokens(released.state) == Step(released.state)
    assert play(released.state, token_created(2, seq=5))[0].tokens == ()


def test_nothing_that_is_told_before_release_holds_the_token():
    state, told = play(phone(), token_created())

    assert TOKEN.token not in repr(told)
    assert TOKEN.token not in repr(state)


def test_a_new_run_tells_again_what_is_open_and_what_is_being_sent():
    state = phone(question(1), question(2, answer=ANSWER), question(3, expires_at=int(NOW) - 1), tokens=(TOKEN,))

    step = inbox.resume(state, NOW)

    assert step.effects == (
        effects.TokenHeld(id=TOKEN.id, label="Default"),
        effects.Ended(id=id_of("int", 3), outcome="expired"),
        effects.Opened.of(question(1), resumed=True),
        effects.Sending(id=id_of("int", 2), choice_index=1, choice="Deny"),
    )


def test_marks_of_what_cannot_come_again_are_dropped():
    state, _ = play(phone(), asked(1))

    later, _ = play(state, asked(2, expires_at=END + 9999), now=END + inbox.SEEN_SLACK_SECONDS)

    assert list(later.seen) == [f"interaction {id_of('int', 2)}"]


def test_the_marks_are_bounded_and_the_oldest_go_first():
    seen = {f"notification msg_{number}": 2**40 for number in range(inbox.SEEN_MAX)}

    state, _ = play(phone(seen=seen), asked(1))

    assert len(state.seen) == inbox.SEEN_MAX
    assert "notification msg_0" not in state.seen
    assert f"interaction {id_of('int', 1)}" in state.seen


EVENTS = st.one_of(
    st.builds(asked, st.integers(1, 3), seq=st.integers(1, 9)),
    st.builds(closed, st.integers(1, 3), seq=st.integers(1, 9), status=st.sampled_from(["answered", "cancelled"])),
    st.builds(lambda number: Tapped(id_of("int", number), ANSWER), st.integers(1, 3)),
    st.builds(
        lambda number, happening: Verdict(id_of("int", number), happening),
        st.integers(1, 3),
        st.sampled_from(["accepted", "answered", "cancelled", "expired", "refused"]),
    ),
    st.builds(Unopened, st.integers(1, 9), st.just("no")),
    st.just(Tick()),
)


@given(st.lists(st.tuples(EVENTS, st.sampled_from([NOW, END - 1.0, float(END)])), max_size=25))
def test_whatever_happens_each_question_opens_once_and_ends_once_but_for_the_servers_better_word(
    steps: list[tuple[Event, float]],
):
    state = phone()
    opened: list[str] = []
    ended: dict[str, list[effects.Outcome]] = {}
    for event, now in steps:
        step = advance(state, event, now)
        state = step.state
        opened += [effect.id for effect in step.effects if isinstance(effect, effects.Opened)]
        for effect in step.effects:
            if isinstance(effect, effects.Ended):
                ended.setdefault(effect.id, []).append(effect.outcome)

    assert len(opened) == len(set(opened))
    # What this phone's own clock ended, the server may still correct, once.
    assert all(
        len(outcomes) == 1 or (len(outcomes) == 2 and outcomes[0] == "expired" != outcomes[1])
        for outcomes in ended.values()
    )
    assert sorted(opened) == sorted([*ended, *(left.id for left in state.questions)])
    assert msgspec.json.decode(msgspec.json.encode(state), type=PhoneState) == state
