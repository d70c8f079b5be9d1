"""`reflecto.testing`: the fake server answers a client as the real one, and nobody taps but where a test says so."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

import reflecto
from reflecto import AsyncReflecto, Reflecto
from reflecto.testing import AsyncTappingReflecto, FakeReflecto, SentOut, TappingReflecto
from tests.e2e.phones import HTTP, Phone
from tests.e2e.server_process import ServerProcess

Connect = Callable[..., Reflecto]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("testing") / "data") as process:
        yield process


@pytest.fixture
def test_token(real: ServerProcess) -> str:
    """The test token of an owner of this test's own."""
    return Phone.of_new_owner(real).create_token("CI", test=True)["token"]


@pytest.fixture
def fake() -> Iterator[FakeReflecto]:
    with FakeReflecto() as server:
        yield server


@pytest.fixture(params=["fake", "real"])
def client(request: pytest.FixtureRequest) -> Iterator[Reflecto]:
    """A client of each, with a test token."""
    if request.param == "fake":
        fake: FakeReflecto = request.getfixturevalue("fake")
        url, token = fake.url, fake.token
    else:
        url, token = request.getfixturevalue("real").url, request.getfixturevalue("test_token")
    with Reflecto(url, token, retry_for=0) as made:
        yield made


def test_a_simulated_tap_is_the_answer(client: Reflecto):
    question = client.create("Deploy?", ["Deploy", "Wait"])
    tapped = client.simulate(question, "Wait")
    assert (tapped.choice, tapped.index, tapped.answered_by, tapped.receipt) == ("Wait", 1, None, None)
    assert client.wait(question) == tapped
    assert client.get(question.id).answer == tapped


def test_the_first_tap_wins(client: Reflecto):
    question = client.create("Deploy?")
    tapped = client.simulate(question.id, "Deny")
    assert client.simulate(question, "Deny") == tapped  # the same tap again
    with pytest.raises(reflecto.AlreadyAnswered) as raised:
        client.simulate(question, "Approve")
    assert raised.value.details["choice_index"] == 1
    with pytest.raises(reflecto.AlreadyAnswered):
        client.cancel(question)


def test_repeats_find_the_question_and_show_another_one_under_the_same_key(client: Reflecto):
    first = client.create("Deploy?", idempotency_key="build-7")
    assert (client.create("Deploy?", idempotency_key="build-7").id, first.replayed) == (first.id, False)
    with pytest.raises(reflecto.IdempotencyMismatch):
        client.create("Delete?", idempotency_key="build-7")


def test_a_withdrawn_question_ends_for_whoever_waits(client: Reflecto):
    question = client.create("Deploy?")
    client.cancel(question)
    client.cancel(question)
    with pytest.raises(reflecto.QuestionCancelled):
        client.wait(question)
    with pytest.raises(reflecto.Conflict):
        client.simulate(question, "Approve")


def test_reminders_are_kept_listed_and_dropped(client: Reflecto):
    later = client.remind("Later", timedelta(hours=2))
    sooner = client.remind("Sooner", timedelta(hours=1), title="Daily")
    assert [(each.id, each.title) for each in client.reminders()] == [(sooner.id, "Daily"), (later.id, None)]
    client.cancel_reminder(sooner)
    with pytest.raises(reflecto.NotFound):
        client.cancel_reminder(sooner)
    assert [each.id for each in client.reminders()] == [later.id]


REFUSED: Final[dict[str, Callable[[Reflecto], object]]] = {
    "an empty question": lambda client: client.create(" "),
    "one choice": lambda client: client.create("Deploy?", ["Deploy"]),
    "too little time": lambda client: client.create("Deploy?", expires_in=5),
    "a label that is none": lambda client: client.simulate(client.create("Deploy?"), "Later"),
    "a priority that is none": lambda client: client.send("Hi", priority="highest"),
    "a ring without an end": lambda client: client.ring(0),
    "a question nobody asked": lambda client: client.get("int_" + "0" * 32),
    "a tap on a question nobody asked": lambda client: client.simulate("int_" + "0" * 32, "Approve"),
    "a time that is none": lambda client: client.remind("Hi", "tomorrow"),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_what_the_real_server_refuses_the_fake_one_refuses_with_the_same_code(
    call: Callable[[Reflecto], object], fake: FakeReflecto, real: ServerProcess, test_token: str
):
    codes = []
    for url, token in ((fake.url, fake.token), (real.url, test_token)):
        with Reflecto(url, token, retry_for=0) as client, pytest.raises(reflecto.ApiError) as raised:
            call(client)
        codes.append((raised.value.status, raised.value.code))
    assert codes[0] == codes[1]


def test_a_live_token_cannot_make_up_a_tap(real: ServerProcess):
    phone = Phone.of_new_owner(real)
    with Reflecto(real.url, phone.token, retry_for=0) as client:
        question = client.create("Deploy?")
        with pytest.raises(reflecto.PermissionDenied):
            client.simulate(question, "Approve")
        assert client.get(question.id).status == "pending"


def test_nobody_taps_unless_the_test_says_so(fake: FakeReflecto):
    with Reflecto(fake.url, fake.token) as client, pytest.raises(reflecto.QuestionExpired):
        client.ask("Deploy?")


@pytest.mark.parametrize("taps", ["Deny", lambda asked: asked.choices[1]])
def test_the_label_that_the_test_names_is_tapped(fake: FakeReflecto, taps: Any):
    fake.taps = taps
    with Reflecto(fake.url, fake.token) as client:
        answer = client.ask("Deploy?", expires_in=60, idempotency_key="k")
        assert client.ask("Deploy?", expires_in=60, idempotency_key="k") == answer
    assert answer.choice == "Deny"
    assert [(each.question, each.choices, each.expires_in, each.idempotency_key) for each in fake.asked] == [
        ("Deploy?", ("Approve", "Deny"), 60, "k")
    ]


def test_what_was_sent_can_be_looked_at(fake: FakeReflecto, tmp_path: Path):
    report = tmp_path / "report.csv"
    report.write_text("day\n", "utf-8")
    with Reflecto(fake.url, fake.token) as client:
        assert len(client.send("Done", title="Backup").delivered_to) == 1
        assert client.send_file(report).byte_length == 4
        client.ring(5)
        assert [device.label for device in client.devices()] == ["Fake phone"]
        client.check()
    assert fake.sent == [
        SentOut("message", {"message": "Done", "title": "Backup"}),
        SentOut("document", {"filename": "report.csv", "content": "day\n"}),
        SentOut("ring", {"duration": 5}),
    ]


def test_a_wrong_token_is_refused(fake: FakeReflecto):
    with Reflecto(fake.url, "rfk_test_" + "b" * 32) as client, pytest.raises(reflecto.AuthenticationError):
        client.check()


@pytest.mark.parametrize("taps", ["Deny", lambda question: question.choices[-1]])
def test_a_tapping_client_answers_what_it_asks(real: ServerProcess, test_token: str, taps: Any):
    with TappingReflecto(real.url, test_token, taps=taps) as client:
        assert client.ask("Deploy?", idempotency_key="k").choice == "Deny"
        assert client.ask("Deploy?", idempotency_key="k").choice == "Deny"  # a repeat is not tapped again


def test_so_does_an_asynchronous_one(real: ServerProcess, test_token: str):
    async def play() -> tuple[str, str]:
        async with AsyncTappingReflecto(real.url, test_token, taps="Deny") as tapping:
            tapped = await tapping.ask("Deploy?")
        async with AsyncReflecto(real.url, test_token) as client:
            question = await client.create("Merge?")
            return tapped.choice, (await client.simulate(question, "Approve")).choice

    assert asyncio.run(play()) == ("Deny", "Approve")


@pytest.mark.parametrize("kind", ["fake", "real"])
def test_a_repeat_under_its_key_is_known_again(request: pytest.FixtureRequest, kind: str):
    if kind == "fake":
        url, token = request.getfixturevalue("fake").url, request.getfixturevalue("fake").token
    else:
        url, token = request.getfixturevalue("real").url, request.getfixturevalue("test_token")
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "one"}
    first, again, other = (
        HTTP.post(f"{url}/v1/send", json={"message": text}, headers=headers) for text in ("Done", "Done", "More")
    )
    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_key_reused")
    if kind == "fake":
        assert request.getfixturevalue("fake").sent == [SentOut("message", {"message": "Done"})]
