"""What holds when many call at once, over HTTP."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence

import httpx

from tests.actors import DeviceActor, Program, enroll
from tests.builders import NOW, DeviceKeys, enrolment_body
from tests.fakes import BOUND_SECONDS
from tests.running import RunningServer


async def at_once(calls: Sequence[Awaitable[httpx.Response]]) -> list[httpx.Response]:
    """Make all calls at the same time."""
    async with asyncio.timeout(BOUND_SECONDS):
        return await asyncio.gather(*calls)


async def test_64_identical_creates_at_once_get_one_201_and_63_replays(
    server: RunningServer, phone: DeviceActor, sender: Program
):
    replies = await at_once([sender.ask(idempotency_key="deploy") for _ in range(64)])
    assert Counter(reply.status_code for reply in replies) == {201: 1, 200: 63}
    assert len({reply.text for reply in replies}) == 1
    for reply in replies:
        assert (reply.headers.get("idempotent-replayed") == "true") == (reply.status_code == 200)
        assert "idempotency-mismatch" not in reply.headers
    entries = await server.services.store.read_queue(phone.id, 1, 100, NOW)
    assert entries is not None
    assert len(entries) == 1


async def test_64_different_questions_with_one_key_at_once_make_one_question_and_63_mismatches(sender: Program):
    replies = await at_once([sender.ask(f"Question {number}?", idempotency_key="deploy") for number in range(64)])
    (created,) = [reply for reply in replies if reply.status_code == 201]
    asked = (await sender.read(created.json()["id"])).json()["question"]
    assert asked in {f"Question {number}?" for number in range(64)}
    assert sum(reply.headers.get("idempotency-mismatch") == "true" for reply in replies) == 63
    assert {reply.json()["id"] for reply in replies} == {created.json()["id"]}


async def test_64_different_creates_at_once_fill_exactly_ten_places(sender: Program):
    replies = await at_once([sender.ask(f"Question {number}?") for number in range(64)])
    assert Counter(reply.status_code for reply in replies) == {201: 10, 429: 54}
    assert {reply.json()["error"]["code"] for reply in replies if reply.status_code == 429} == {"too_many_pending"}


async def test_100_taps_at_once_from_five_phones_have_one_winner(server: RunningServer, phone: DeviceActor):
    sender = phone.default_program()
    phones = [phone, *[await enroll(server, label=f"Phone {number}") for number in range(4)]]
    question = await sender.ask_id(choices=["a", "b", "c", "d"])
    taps = [(phones[number % 5], number // 5 % 4) for number in range(100)]
    replies = await at_once([each.answer(question, choice) for each, choice in taps])
    state = (await sender.read(question)).json()
    winner = (state["answered_by"]["device_id"], state["choice_index"])
    for (each, choice), reply in zip(taps, replies, strict=True):
        if (each.id, choice) == winner:
            assert reply.status_code == 200
            assert reply.json() == {
                "id": question,
                "status": "answered",
                "choice_index": state["choice_index"],
                "answered_at": NOW,
            }
        else:
            assert reply.status_code == 409
            assert reply.json()["error"]["code"] == "already_answered"
            assert reply.json()["error"]["details"] == {
                "choice_index": state["choice_index"],
                "answered_at": NOW,
                "answered_by": state["answered_by"],
            }
    assert Counter(reply.status_code for reply in replies) == {200: 5, 409: 95}  # the winner tapped five times


async def test_every_other_phone_is_told_once_that_the_question_is_over(server: RunningServer, phone: DeviceActor):
    phones = [phone, *[await enroll(server, label=f"Phone {number}") for number in range(4)]]
    question = await phone.default_program().ask_id()
    await at_once([each.answer(question, 0) for each in phones for _ in range(4)])
    told = []
    for each in phones:
        entries = await server.services.store.read_queue(each.id, 0, 100, NOW)
        assert entries is not None
        closed = [each.open(entry.blob) for entry in entries]
        told.append(sum(envelope.type == "interaction.closed" for envelope in closed))
    assert sorted(told) == [0, 1, 1, 1, 1]


async def test_a_tap_and_a_withdrawal_at_once_agree_on_one_ending(phone: DeviceActor, sender: Program):
    for number in range(8):
        question = await sender.ask_id(f"Question {number}?")
        tapped, withdrawn = await at_once([phone.answer(question), sender.cancel(question)])
        status = (await sender.read(question)).json()["status"]
        assert (tapped.status_code, withdrawn.status_code) in {(200, 409), (409, 200)}
        assert status == ("answered" if tapped.status_code == 200 else "cancelled")
        loser = withdrawn if status == "answered" else tapped
        assert loser.json()["error"]["code"] == ("already_answered" if status == "answered" else "interaction_closed")


async def test_one_code_redeemed_32_times_at_once_enrols_one_device(server: RunningServer):
    code = await server.invite()
    clients = [await server.client(f"127.0.0.{number}") for number in range(1, 33)]
    replies = await at_once([client.post("/v1/enroll", json=enrolment_body(code, DeviceKeys())) for client in clients])
    assert Counter(reply.status_code for reply in replies) == {201: 1, 403: 31}
    assert {reply.json()["error"]["code"] for reply in replies if reply.status_code == 403} == {"invalid_code"}
    (owner,) = await server.services.store.list_owners()
    assert len(await server.services.store.list_devices(owner.id)) == 1


async def test_two_codes_of_an_empty_store_redeemed_at_once_make_one_owner(server: RunningServer):
    codes = [await server.invite() for _ in range(8)]
    clients = [await server.client(f"127.0.0.{number}") for number in range(1, 9)]
    replies = await at_once(
        [
            client.post("/v1/enroll", json=enrolment_body(code, DeviceKeys()))
            for client, code in zip(clients, codes, strict=True)
        ]
    )
    assert {reply.status_code for reply in replies} == {201}
    assert len({reply.json()["owner_id"] for reply in replies}) == 1
    assert sum(reply.json()["default_token"] is not None for reply in replies) == 1


async def test_asking_while_phones_come_and_go_reaches_exactly_the_phones_there_are(
    server: RunningServer, phone: DeviceActor
):
    sender = phone.default_program()
    for number in range(5):
        code = await server.invite()
        asking = sender.ask(f"Question {number}?")
        enrolling = server.http.post("/v1/enroll", json=enrolment_body(code, DeviceKeys()))
        asked, enrolled = await at_once([asking, enrolling])
        assert (asked.status_code, enrolled.status_code) == (201, 201)
        entries = await server.services.store.read_queue(phone.id, 0, 100, NOW)
        assert entries is not None
        prompts = [phone.open(entry.blob) for entry in entries]
        assert asked.json()["id"] in [envelope.id for envelope in prompts]
