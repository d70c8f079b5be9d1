"""What a phone makes of questions with details: what it keeps and signs, wrong numbers, muted senders, endings."""

import json
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import pytest

from reflecto.crypto.answers import answer_message_v2, comment_digest, question_digest, verify_answer
from reflecto.crypto.encoding import decode_base64
from reflecto.phone import effects
from reflecto.phone.connection import Connection, NoReplyError
from reflecto.phone.inbox import Event, Tapped, advance
from reflecto.phone.keyring import Keyring
from reflecto.phone.lifecycle import Verdict, WrongNumber
from reflecto.phone.lines import LineWriter
from reflecto.phone.muting import MutedBy
from reflecto.phone.state import Answer, PhoneState
from tests.phone.builders import (
    END,
    NOW,
    OTHER_PHONE,
    SEED,
    arrived,
    asked,
    closed,
    id_of,
    identity,
    phone,
    question,
)

GIVEN: Final[dict[str, Any]] = {
    "details": [{"kind": "code", "text": "make \u00fc"}],
    "source": {"app": "Claude Code"},
    "danger": "high",
    "confirm": "number",
    "comment": "optional",
}
TOKEN = id_of("tok", 1)
CASES: Final = json.loads((Path(__file__).parents[1] / "vectors" / "answers-v2.json").read_text("utf-8"))["vectors"]


def play(state: PhoneState, *events: Event, now: float = NOW) -> tuple[PhoneState, list[effects.Effect]]:
    told: list[effects.Effect] = []
    for event in events:
        step = advance(state, event, now)
        state = step.state
        told += step.effects
    return state, told


def test_what_the_asker_gave_is_kept_as_it_came_and_told():
    state, (opened,) = play(phone(), asked(1, **GIVEN))

    assert state.questions[0].given == GIVEN
    assert msgspec.json.decode(msgspec.json.encode(state), type=PhoneState) == state
    assert isinstance(opened, effects.Opened)
    assert list(msgspec.to_builtins(opened.details)) == GIVEN["details"]
    assert (opened.says, opened.danger, opened.confirm, opened.comment) == (GIVEN["source"], "high", "number", True)


@pytest.mark.parametrize("wrong", [{"details": [{"kind": "film"}]}, {"source": ["me"]}, {"confirm": "wink"}], ids=str)
def test_a_question_that_cannot_be_shown_whole_is_not_shown_as_if_it_were(wrong: dict[str, Any]):
    state, told = play(phone(), asked(1, **wrong))

    assert state.questions == ()
    assert isinstance(told[0], effects.Unreadable)


def test_a_plain_question_is_signed_as_ever():
    answer = Keyring(identity()).sign(question(1), 1, 1_754_800_010)

    assert set(msgspec.to_builtins(answer)) == {"choice_index", "answered_at", "signature"}


@pytest.mark.parametrize("comment", ["", "Nicht am Freitag \U0001f343"])
@pytest.mark.parametrize("number", ["", "07"])
def test_the_signature_covers_all_that_was_given_the_number_and_the_word(number: str, comment: str):
    asked_here = question(1, given=GIVEN)

    answer = Keyring(identity()).sign(asked_here, 0, 1_754_800_010, number=number, comment=comment)

    wire = msgspec.to_builtins(answer)
    assert (wire["v"], wire.get("number", ""), wire.get("comment", {}).get("text", "")) == (2, number, comment)
    message = answer_message_v2(
        asked_here.id,
        question_digest(asked_here.text, asked_here.choices, **GIVEN),
        0,
        1_754_800_010,
        number=number or None,
        comment_sha256=comment_digest(comment, wire["comment"]["salt"]) if comment else None,
    )
    signature = decode_base64(wire["signature"], length=64)
    assert signature
    assert verify_answer(SEED.verify_key.encode(), message, signature)


def test_the_salt_of_a_word_is_new_each_time():
    keys = Keyring(identity())
    salts = {
        msgspec.to_builtins(keys.sign(question(1, given=GIVEN), 1, 1, comment="no"))["comment"]["salt"] for _ in "12"
    }

    assert len(salts) == 2
    assert all(len(salt) == 22 for salt in salts)


def test_a_wrong_number_opens_the_question_again_for_one_more_try():
    tapped = Tapped(id_of("int", 1), Answer(0, 1, "c2lnbmVk", v=2, number="70"))

    state, told = play(phone(question(1, given=GIVEN)), tapped, WrongNumber(id_of("int", 1), 1))

    assert state.open_questions() == (question(1, given=GIVEN),)
    assert told[-1] == effects.WrongNumber(id=id_of("int", 1), tries_left=1)
    assert LineWriter().describe(told[-1], NOW, None) == [
        "#1 not sent: that is another number. One more try; a wrong one ends the question."
    ]
    again, told = play(state, tapped)
    assert again.open_questions() == ()
    assert isinstance(told[-1], effects.Sending)


def test_a_word_about_a_number_that_is_not_awaited_changes_nothing():
    state, told = play(phone(question(1)), WrongNumber(id_of("int", 1), 1), WrongNumber(id_of("int", 2), 1))

    assert (state, told) == (phone(question(1)), [])


@pytest.mark.parametrize(
    ("left", "verdict"),
    [
        (1, WrongNumber(id_of("int", 1), 1)),
        (0, Verdict(id_of("int", 1), "cancelled", reason="wrong_number")),
    ],
)
async def test_the_server_s_word_on_a_number_is_understood(left: int, verdict: object):
    body = {"error": {"code": "wrong_number", "message": "no", "details": {"tries_left": left}}}
    transport = httpx.MockTransport(lambda _: httpx.Response(403, json=body))
    async with httpx.AsyncClient(transport=transport) as http:
        answer = Answer(0, 1, "c2lnbmVk", v=2, number="70")
        assert await Connection(http, identity()).send_answer(id_of("int", 1), answer) == verdict


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("dismissed", "#1 refused"),
        ("wrong_number", "#1 ended: the number was typed wrong twice"),
        ("abandoned", "#1 withdrawn: its program does not wait for it any more"),
        ("revoked", "#1 withdrawn: its token was revoked"),
        ("withdrawn", "#1 withdrawn"),
        ("of a later server", "#1 withdrawn"),
    ],
)
def test_why_a_question_ended_is_told(reason: str, line: str):
    _, (ended,) = play(phone(question(1)), closed(1, status="cancelled", reason=reason))

    assert LineWriter().describe(ended, NOW, None) == [line]


def with_token(number: int = 1, **changes: Any) -> Event:
    arrived = asked(number, **changes)
    envelope = msgspec.structs.replace(arrived.envelope, source={"token": "CI", "token_id": TOKEN})
    return arrived._replace(envelope=envelope)


def test_a_question_of_a_muted_sender_is_put_aside_whatever_the_server_delivers():
    muted, told = play(phone(), MutedBy(TOKEN, "CI", int(NOW) + 60))
    assert told == [effects.Muted(token_id=TOKEN, source="CI", until=int(NOW) + 60)]

    state, told = play(muted, with_token(1))
    assert state.questions == ()
    assert told == [effects.PutAside(id=id_of("int", 1), source="CI")]
    assert LineWriter().describe(told[0], NOW, None) == ["CI is muted: its question was put aside."]

    assert play(muted, with_token(2), now=NOW + 60)[0].questions[0].id == id_of("int", 2)
    assert play(muted, MutedBy(TOKEN, "CI", None), with_token(3))[0].questions[0].id == id_of("int", 3)
    assert play(muted, asked(4))[0].questions[0].id == id_of("int", 4)


def test_muting_leaves_open_questions_and_is_told_once():
    state, told = play(
        phone(question(1, token_id=TOKEN)),
        MutedBy(TOKEN, "CI", "forever", by="Pixel"),
        MutedBy(TOKEN, "CI", "forever", by="Pixel"),
    )

    assert state.open_questions() == (question(1, token_id=TOKEN),)
    assert state.muted == {TOKEN: "forever"}
    assert [LineWriter().describe(effect, NOW, None) for effect in told] == [
        ["CI is muted for good, on Pixel; u lets it ask again."]
    ]


def test_what_another_phone_changed_of_a_sender_is_told_and_kept():
    changes: list[dict[str, Any]] = [
        {"muted_until": "forever"},
        {"muted_until": None},
        {"label": "Robot"},
        {"colour": "teal"},
    ]
    events = [
        arrived(
            "token.changed",
            id_of("msg", seq),
            {"token_id": TOKEN, "by": "Pixel", "by_id": OTHER_PHONE} | change,
            seq=seq,
        )
        for seq, change in enumerate(changes, 1)
    ]

    state, told = play(phone(question(1, token_id=TOKEN)), *events)

    assert (state.muted, state.cursor) == ({}, 4)
    assert [LineWriter().describe(effect, NOW, None) for effect in told] == [
        ["CI is muted for good, on Pixel; u lets it ask again."],
        ["CI is not muted any more, on Pixel."],
        ["CI is called Robot now, on Pixel."],
    ]


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (204, None, None),
        (200, {"id": TOKEN}, None),
        (404, {"error": {"code": "not_found", "message": "no", "details": {}}}, "not_found"),
    ],
)
async def test_what_the_owner_wants_of_the_server_is_done_or_refused(status: int, body: Any, outcome: str | None):
    seen: list[tuple[str, str, Any]] = []

    def reply(request: httpx.Request) -> httpx.Response:
        seen.append((request.method, request.url.path, json.loads(request.content)))
        return httpx.Response(status, json=body) if body else httpx.Response(status)

    async with httpx.AsyncClient(transport=httpx.MockTransport(reply)) as http:
        connection = Connection(http, identity())
        done = [
            await connection.dismiss(id_of("int", 1)),
            await connection.dismiss_all(TOKEN),
            await connection.mute(TOKEN, "forever"),
            await connection.mute(TOKEN, None),
        ]

    assert done == [outcome] * 4
    assert seen == [
        ("POST", f"/v1/interactions/{id_of('int', 1)}/dismiss", {"reason": "dismissed"}),
        ("POST", f"/v1/tokens/{TOKEN}/dismiss", {}),
        ("PATCH", f"/v1/tokens/{TOKEN}", {"muted_until": "forever"}),
        ("PATCH", f"/v1/tokens/{TOKEN}", {"muted_until": None}),
    ]


async def test_a_sign_in_page_has_not_muted_anybody():
    transport = httpx.MockTransport(lambda _: httpx.Response(200, text="<h1>Sign in</h1>"))
    async with httpx.AsyncClient(transport=transport) as http:
        with pytest.raises(NoReplyError):
            await Connection(http, identity()).mute(TOKEN, "forever")


@pytest.mark.parametrize("vector", CASES, ids=lambda vector: vector["name"])
def test_a_phone_signs_what_the_shared_vectors_say(vector: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    if vector["roster"] or vector["from"] != "server":
        return  # of what this phone does not know yet
    comment = vector["comment"] or {}
    if comment:
        salt = comment["salt"]
        raw = msgspec.json.decode(f'"{salt.replace("-", "+").replace("_", "/")}=="', type=bytes)
        monkeypatch.setattr("reflecto.phone.keyring.os.urandom", lambda _count: raw)
    seeded = msgspec.structs.replace(identity(), signing_seed=_base64(vector["signing_seed"]))
    shown = question(
        1, id=vector["id"], text=vector["question"], choices=tuple(vector["choices"]), given=vector["given"]
    )

    answer = Keyring(seeded).sign(
        shown,
        vector["choice_index"],
        vector["answered_at"],
        number=vector["number"] or "",
        comment=comment.get("text", ""),
    )

    assert answer.signature == _base64(vector["signature"])


def _base64(hex_digits: str) -> str:
    encoded: str = msgspec.json.decode(msgspec.json.encode(bytes.fromhex(hex_digits)))
    return encoded


def test_a_question_that_is_over_is_missed_whatever_it_brings():
    _, told = play(phone(), asked(1, **GIVEN), now=END)

    assert [type(effect) for effect in told] == [effects.Missed]
