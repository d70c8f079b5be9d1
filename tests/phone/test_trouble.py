"""A running phone whose server misbehaves: silence, refusals, blobs that do not open, a full disk."""

import asyncio
import base64
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reflecto.contract.envelopes import Envelope
from reflecto.crypto.envelopes import seal, shared_key
from reflecto.phone import effects
from reflecto.phone.state import PhoneState
from reflecto.phone.state_file import StateError, StateFile
from tests.phone.builders import BOX, SERVER_BOX, id_of, identity, question
from tests.phone.handset import Handset, recorded, running
from tests.phone.scripted_server import STREAM_HEAD, Handler, Request, event, refusal, reply, scripted_server

END = 2**40


def sealed(kind: str, envelope_id: str, payload: dict[str, Any]) -> str:
    envelope = Envelope(kind, envelope_id, 1_754_800_000, {"token": "CI"}, payload)
    key = shared_key(BOX.public, SERVER_BOX.secret)
    return base64.b64encode(seal(key, msgspec.json.encode(envelope))).decode()


def asked(number: int) -> str:
    payload = {"question": f"Deploy {number}?", "choices": ["Approve", "Deny"], "expires_at": END}
    return sealed("interaction", id_of("int", number), payload)


def streaming(*events: bytes, other: Callable[[Request], bytes] = lambda _: reply(204)) -> Handler:
    """Serve these events on every stream and keep it open; `other` replies to everything else."""

    async def handle(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path != "/v1/sync":
            writer.write(other(request))
            return
        writer.write(STREAM_HEAD + b"".join(events))
        await writer.drain()
        await asyncio.Event().wait()

    return handle


def with_phone(
    path: Path,
    handler: Handler,
    play: Callable[[Handset], Any],
    *,
    start: PhoneState | None = None,
    **options: Any,
) -> None:
    async def main() -> None:
        async with asyncio.timeout(40), scripted_server(handler) as url:
            state = msgspec.structs.replace(start or PhoneState(), identity=identity(url))
            with StateFile(path) as store:
                store.save(state)
            async with running(path, **options) as handset:
                await play(handset)

    asyncio.run(main())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.json"


def test_what_does_not_open_is_passed_and_acknowledged_and_the_rest_is_shown(path: Path):
    acknowledged: list[bytes] = []
    done = asyncio.Event()

    def note(request: Request) -> bytes:
        acknowledged.append(request.body)
        if request.body == b'{"seq":6}':
            done.set()
        return reply(204)

    async def play(handset: Handset) -> None:
        await handset.wait_for(effects.Opened)
        await done.wait()
        assert [(skipped.seq, skipped.reason) for skipped in handset.all(effects.Unreadable)] == [
            (1, "it does not open with this phone's keys"),
            (2, "it does not open with this phone's keys"),
            (3, "it does not open with this phone's keys"),
            (4, "what is inside is not an envelope"),
            (5, "it was sealed by another device, and this phone has only the server's key"),
        ]

    foreign = base64.b64encode(seal(b"k" * 32, b"{}")).decode()
    no_envelope = base64.b64encode(seal(shared_key(BOX.public, SERVER_BOX.secret), b"[]")).decode()
    with_phone(
        path,
        streaming(
            event(1, foreign),
            event(2, "AA=="),
            event(3, "not base64"),
            event(4, no_envelope),
            event(5, asked(5), sender=id_of("dev", 9)),
            event(6, asked(6)),
            other=note,
        ),
        play,
    )


def test_nothing_is_acknowledged_that_is_not_stored(path: Path):
    checked: list[tuple[int, int]] = []
    done = asyncio.Event()

    def check(request: Request) -> bytes:
        seq = msgspec.json.decode(request.body)["seq"]
        checked.append((seq, msgspec.json.decode(path.read_bytes())["cursor"]))
        if seq == 40:
            done.set()
        return reply(204)

    async def play(_: Handset) -> None:
        await done.wait()
        assert all(stored >= seq for seq, stored in checked)

    with_phone(path, streaming(*(event(seq, asked(seq)) for seq in range(1, 41)), other=check), play)


def test_a_blob_that_came_twice_is_shown_once(path: Path):
    async def play(handset: Handset) -> None:
        await handset.wait_for(effects.Opened, 2)
        assert [opened.id for opened in handset.all(effects.Opened)] == [id_of("int", 1), id_of("int", 2)]

    with_phone(path, streaming(event(1, asked(1)), event(2, asked(1)), event(3, asked(2))), play)


def test_a_silent_stream_is_given_up_and_resumed_behind_what_was_stored(path: Path):
    resumed: list[str] = []

    async def handle(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.path != "/v1/sync":
            writer.write(reply(204))
            return
        resumed.append(request.headers.get("last-event-id", ""))
        number = len(resumed)
        writer.write(STREAM_HEAD + event(number, asked(number)))
        await writer.drain()
        await asyncio.Event().wait()

    async def play(handset: Handset) -> None:
        await handset.wait_for(effects.Opened, 3)
        assert resumed[:3] == ["", "1", "2"]
        assert handset.all(effects.Disconnected)[0].reason == "nothing was heard from it for too long"

    with_phone(path, handle, play, silence_max_seconds=0.1, pause=recorded([]))


def test_tries_are_spaced_further_and_further_and_the_owner_is_told_once(path: Path):
    delays: list[float] = []

    async def handle(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(502, b"gateway"))

    async def play(handset: Handset) -> None:
        while len(delays) <= 10:
            await handset.wait_for(effects.Disconnected)
            await asyncio.wait([handset.running], timeout=0.01)
        assert [effect.reason for effect in handset.all(effects.Disconnected)] == [
            "HTTP 502, not from a Reflecto server"
        ]
        ceilings = [0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30]
        assert all(ceiling / 2 <= delay <= ceiling for delay, ceiling in zip(delays, ceilings, strict=False))

    with_phone(path, handle, play, pause=recorded(delays, at_most=10))


def test_an_answer_is_tried_until_there_is_a_definite_word(path: Path):
    replies = itertools.chain(
        [
            reply(502, b"gateway"),
            reply(404, b"<h1>no</h1>"),
            refusal(503, "unavailable"),
            b"",
            refusal(429, "rate_limit"),
        ],
        [refusal(409, "interaction_closed", {"status": "expired"})],
        itertools.repeat(reply(500)),
    )
    sent: list[bytes] = []

    def answer(request: Request) -> bytes:
        if not request.path.endswith("/answer"):
            return reply(204)
        sent.append(request.body)
        return next(replies)

    async def play(handset: Handset) -> None:
        handset.phone.tap(id_of("int", 1), 0)
        ended = await handset.wait_for(effects.Ended)
        assert (ended.outcome, ended.too_late) == ("expired", True)
        assert len(sent) == 6
        assert len(set(sent)) == 1

    start = PhoneState(questions=(question(expires_at=END),))
    with_phone(path, streaming(other=answer), play, start=start, pause=recorded([]))


def test_a_question_the_server_has_forgotten_ends_as_not_recorded(path: Path):
    async def play(handset: Handset) -> None:
        handset.phone.tap(id_of("int", 1), 0)
        ended = await handset.wait_for(effects.Ended)
        assert (ended.outcome, ended.detail) == ("not_recorded", "not_found")

    start = PhoneState(questions=(question(expires_at=END),))
    with_phone(path, streaming(other=lambda _: refusal(404, "not_found")), play, start=start)


def test_a_phone_that_cannot_store_ends_with_the_reason_and_acknowledges_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    acknowledged: list[bytes] = []

    def note(request: Request) -> bytes:
        acknowledged.append(request.body)
        return reply(204)

    def full(*_: object) -> None:
        raise StateError("no space left on device")

    async def play(handset: Handset) -> None:
        monkeypatch.setattr(StateFile, "save", full)
        with pytest.raises(StateError, match="no space"):
            await handset.ending()

    with pytest.raises(StateError, match="no space"):
        with_phone(path, streaming(event(1, asked(1)), other=note), play)
    assert acknowledged == []
