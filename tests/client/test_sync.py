"""The blocking client over real HTTP, with everything between it and the answer going wrong."""

from collections.abc import Callable

import pytest

import reflecto
from reflecto import Reflecto
from reflecto.client.flows import GRACE_SECONDS
from tests.client.asker_server import (
    TOKEN,
    AskerServer,
    FakeClock,
    Reply,
    lost_after_handling,
    lost_before_handling,
    replying,
    rewriting,
)

Connect = Callable[..., Reflecto]


def answer_at_poll(server: AskerServer, number: int, index: int = 0) -> None:
    server.on_poll = lambda count: server.answer(index) if count == number else None


def test_the_tap_comes_back_with_label_index_and_device(server: AskerServer, connect: Connect):
    answer_at_poll(server, 3, index=1)
    answer = connect().ask("Merge it?", ["Merge", "Wait", "Close"])
    assert (answer.choice, answer.index, answer.is_first_choice) == ("Wait", 1, False)
    assert answer.answered_by == reflecto.Device("dev_1", "Pixel")
    assert answer.receipt is None


def test_without_choices_it_asks_to_approve_or_deny_for_ten_minutes(server: AskerServer, connect: Connect):
    answer_at_poll(server, 1)
    assert connect().ask("Deploy?").choice == "Approve"
    assert server.prompts[0]["choices"] == ["Approve", "Deny"]
    assert server.prompts[0]["expires_in"] == 600


def test_the_question_is_known_before_the_answer_is_waited_for(server: AskerServer, connect: Connect):
    answer_at_poll(server, 1)
    pending: list[tuple[reflecto.Question, int]] = []
    connect().ask("Deploy?", on_pending=lambda question: pending.append((question, server.polls)))
    [(question, polls)] = pending
    assert polls == 0
    assert (question.id, question.replayed) == (server.latest["id"], False)
    assert question.expires_at == server.latest["expires_at"]


def test_an_answer_is_neither_true_nor_false(server: AskerServer, connect: Connect):
    answer_at_poll(server, 1, index=1)
    answer = connect().ask("Deploy?")
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(answer)


@pytest.mark.parametrize("lost", [lost_after_handling, lost_before_handling])
def test_a_lost_reply_never_prompts_twice(server: AskerServer, connect: Connect, lost):
    server.faults["POST"].extend([lost, lost])
    answer_at_poll(server, 1)
    assert connect().ask("Deploy?").choice == "Approve"
    assert len(server.prompts) == 1
    keys = {request.json["idempotency_key"] for request in server.received if request.method == "POST"}
    assert len(keys) == 1


def test_two_questions_never_share_a_made_up_key(server: AskerServer, connect: Connect):
    client = connect()
    client.create("Deploy?")
    client.create("Deploy?")
    assert len(server.prompts) == 2


def test_asking_again_with_the_key_finds_the_question_and_its_answer(server: AskerServer, connect: Connect):
    client = connect()
    first = client.create("Deploy?", idempotency_key="build-7")
    server.answer(1)
    again = client.create("Deploy?", idempotency_key="build-7")
    assert (again.id, again.replayed) == (first.id, True)
    assert client.wait(again).choice == "Deny"
    assert len(server.prompts) == 1


def test_the_answer_to_another_question_is_refused(server: AskerServer, connect: Connect):
    client = connect()
    client.create("Delete the staging database?", idempotency_key="build-7")
    server.answer(0)
    with pytest.raises(reflecto.IdempotencyMismatch):
        client.ask("Delete the production database?", idempotency_key="build-7")
    assert server.polls == 0


def test_another_question_is_refused_even_if_a_proxy_drops_the_header(server: AskerServer, connect: Connect):
    client = connect()
    client.create("Delete staging?", idempotency_key="build-7")
    server.answer(0)
    question = reflecto.Question(server.latest["id"], "Delete production?", ("Approve", "Deny"), 0, True, deadline=1e9)
    with pytest.raises(reflecto.IdempotencyMismatch):
        client.wait(question)


def test_the_same_question_with_other_choices_is_refused(server: AskerServer, connect: Connect):
    client = connect()
    question = client.create("Deploy?", ["Yes", "No"])
    server.latest["choices"] = ["No", "Yes"]
    server.answer(0)
    with pytest.raises(reflecto.IdempotencyMismatch):
        client.wait(question)


def test_waiting_survives_a_restart(server: AskerServer, connect: Connect, clock: FakeClock):
    troubles: list[str | None] = []
    client = connect(on_trouble=lambda error: troubles.append(error and error.code))
    question = client.create("Deploy?")
    server.on_poll = lambda count: server.stop() if count == 1 else None

    def come_back(count: int) -> None:
        if count == 4:
            server.start()
            server.answer()

    clock.on_pause = come_back
    assert client.wait(question).choice == "Approve"
    assert troubles == ["unreachable"] * 4
    assert clock.pauses == [0.25, 0.5, 1.0, 2.0]


def test_the_first_poll_after_trouble_is_not_held_back_and_ends_the_trouble(server: AskerServer, connect: Connect):
    troubles: list[str | None] = []
    client = connect(on_trouble=lambda error: troubles.append(error and error.code))
    server.faults["GET"].append(replying(Reply(502, b"<html>Bad gateway</html>")))
    answer_at_poll(server, 2)
    client.ask("Deploy?")
    polls = [request.path.partition("?")[2] for request in server.received if request.method == "GET"]
    assert polls == ["wait=50", "", "wait=50"]
    assert troubles == ["http_502", None]


@pytest.mark.parametrize("status", [500, 502, 503, 504, 521])
def test_a_failing_server_is_asked_again_with_the_same_key(server: AskerServer, connect: Connect, status):
    server.faults["POST"].append(replying(Reply.error(status, "internal_error")))
    server.faults["GET"].append(replying(Reply.error(status, "internal_error")))
    answer_at_poll(server, 1)
    assert connect().ask("Deploy?").choice == "Approve"
    assert len(server.prompts) == 1


def test_a_question_of_which_nobody_knows_is_asked_again_with_the_same_key(
    server: AskerServer, connect: Connect, clock: FakeClock
):
    unknown = Reply.error(503, "outcome_unknown", {"Retry-After": "5"})
    server.faults["POST"] += [replying(unknown), replying(unknown)]
    connect().create("Deploy?")
    keys = {request.json["idempotency_key"] for request in server.received if request.method == "POST"}
    assert (len(keys), len(server.received)) == (1, 3)
    assert min(clock.pauses) >= 5


def test_retry_after_is_honoured(server: AskerServer, connect: Connect, clock: FakeClock):
    server.faults["POST"].append(replying(Reply.error(429, "rate_limit_exceeded", {"Retry-After": "17"})))
    server.faults["GET"].append(replying(Reply.error(503, "unavailable", {"Retry-After": "9"})))
    answer_at_poll(server, 1)
    connect().ask("Deploy?")
    assert clock.pauses == [17.25, 9.25]


def test_a_pause_longer_than_there_is_time_is_not_waited_for(server: AskerServer, connect: Connect, clock: FakeClock):
    server.faults["POST"].append(replying(Reply.error(429, "rate_limit_exceeded", {"Retry-After": "3600"})))
    with pytest.raises(reflecto.TooManyRequests) as caught:
        connect().ask("Deploy?")
    assert (caught.value.status, caught.value.retry_after) == (429, 3600)
    assert clock.pauses == []


def test_ten_pending_questions_are_not_waited_for(server: AskerServer, connect: Connect):
    server.faults["POST"].append(replying(Reply.error(429, "too_many_pending", {"Retry-After": "1"})))
    with pytest.raises(reflecto.TooManyRequests) as caught:
        connect().ask("Deploy?")
    assert caught.value.code == "too_many_pending"


def test_a_proxy_that_says_404_while_the_server_is_away_does_not_end_the_waiting(server: AskerServer, connect: Connect):
    server.faults["GET"].append(replying(Reply(404, b"404 page not found\n")))
    answer_at_poll(server, 1)
    assert connect().ask("Deploy?").choice == "Approve"


def test_the_servers_own_404_ends_the_waiting(server: AskerServer, connect: Connect):
    server.faults["GET"].append(replying(Reply.error(404, "not_found")))
    with pytest.raises(reflecto.NotFound):
        connect().ask("Deploy?")


@pytest.mark.parametrize(
    ("status", "error"), [("expired", reflecto.QuestionExpired), ("cancelled", reflecto.QuestionCancelled)]
)
def test_a_question_that_ends_without_a_tap_raises(server: AskerServer, connect: Connect, status, error):
    server.on_poll = lambda count: server.end(status=status) if count == 2 else None
    with pytest.raises(error) as caught:
        connect().ask("Deploy?")
    assert caught.value.question_id == server.latest["id"]


def test_a_server_that_stays_away_is_given_up_shortly_after_the_questions_end(
    server: AskerServer, connect: Connect, clock: FakeClock
):
    client = connect()
    question = client.create("Deploy?", expires_in=60)
    server.stop()
    asked_at = clock.now
    with pytest.raises(reflecto.Unreachable):
        client.wait(question)
    assert clock.now - asked_at == 60 + GRACE_SECONDS


def test_a_server_that_was_never_there_is_given_up_after_retry_for(
    server: AskerServer, connect: Connect, clock: FakeClock
):
    server.stop()
    started_at = clock.now
    with pytest.raises(reflecto.Unreachable) as caught:
        connect(retry_for=20).ask("Deploy?")
    assert clock.now - started_at == 20
    assert caught.value.idempotency_key is None  # nothing was ever sent, so there is nothing to find


def test_retry_for_zero_means_one_try(server: AskerServer, connect: Connect, clock: FakeClock):
    server.faults["POST"].append(lost_before_handling)
    with pytest.raises(reflecto.Unreachable):
        connect(retry_for=0).ask("Deploy?")
    assert clock.pauses == []


def test_an_error_after_a_lost_reply_tells_the_key_that_finds_the_question(server: AskerServer, connect: Connect):
    server.faults["POST"].append(lost_after_handling)
    with pytest.raises(reflecto.Unreachable) as caught:
        connect(retry_for=0).create("Deploy?")
    key = caught.value.idempotency_key
    assert key is not None
    assert connect().create("Deploy?", idempotency_key=key).replayed


def test_the_callers_timeout_leaves_the_question_open(server: AskerServer, connect: Connect, clock: FakeClock):
    client = connect()
    started_at = clock.now
    with pytest.raises(reflecto.AnswerTimeout) as caught:
        client.ask("Deploy?", timeout=30)
    assert clock.now - started_at == 30
    server.answer()
    assert client.wait(caught.value.question_id).choice == "Approve"


def test_a_server_that_does_not_hold_polls_back_is_polled_at_its_pace(
    server: AskerServer, connect: Connect, clock: FakeClock
):
    answer_at_poll(server, 4)
    connect().ask("Deploy?")
    assert clock.pauses == [2, 2, 2]


@pytest.mark.parametrize("offset", [-86_400 * 400, 86_400 * 400, None])
def test_no_clock_that_is_wrong_shortens_or_lengthens_the_waiting(
    server: AskerServer, connect: Connect, clock: FakeClock, offset
):
    server.clock_offset_seconds = offset
    client = connect()
    question = client.create("Deploy?", expires_in=600)
    assert question.deadline == clock.now + 600
    answer_at_poll(server, 250)  # 498 seconds later
    assert client.wait(question).choice == "Approve"


def test_the_time_left_of_an_older_question_is_told_by_the_servers_clock(
    server: AskerServer, connect: Connect, clock: FakeClock
):
    client = connect()
    client.create("Deploy?", expires_in=600, idempotency_key="build-7")
    server.clock_offset_seconds = 500
    again = client.create("Deploy?", expires_in=600, idempotency_key="build-7")
    assert again.deadline == clock.now + 100


def test_a_question_that_never_ends_is_not_waited_for_forever(connect: Connect, clock: FakeClock):
    started_at = clock.now
    with pytest.raises(reflecto.BrokenContract, match="pending after its end"):
        connect().ask("Deploy?", expires_in=60)
    assert 60 <= clock.now - started_at <= 60 + GRACE_SECONDS + 2


def test_an_answer_at_the_last_moment_is_still_fetched_after_a_restart(
    server: AskerServer, connect: Connect, clock: FakeClock
):
    client = connect()
    question = client.create("Deploy?", expires_in=60)
    server.answer()
    server.stop()
    clock.on_pause = lambda _count: server.start() if clock.now > question.deadline + 5 and not server.running else None
    assert client.wait(question).choice == "Approve"
    assert clock.now > question.deadline


LIES: dict[str, dict[str, object]] = {
    "index beyond the choices": {"choice_index": 2},
    "negative index": {"choice_index": -1},
    "index of another label": {"choice_index": 1},
    "no index": {"choice_index": None},
    "true as index": {"choice_index": True},
    "text as index": {"choice_index": "0"},
    "label in other letters": {"choice": "approve"},
    "no label": {"choice": None},
    "unknown status": {"status": "approved"},
    "pending with a choice": {"status": "pending"},
    "expired with a choice": {"status": "expired"},
    "another id": {"id": "int_" + "f" * 32},
    "no time": {"answered_at": None},
    "device as text": {"answered_by": "Pixel"},
    "no choices": {"choices": None},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_an_answer_that_breaks_the_contract_is_no_answer(server: AskerServer, connect: Connect, lie):
    client = connect()
    question = client.create("Deploy?")
    server.answer()
    server.faults["GET"].append(rewriting(lambda state: state.update(lie)))
    with pytest.raises(reflecto.BrokenContract):
        client.wait(question)


STRANGE_REPLIES = {
    "page of a captive portal": Reply(200, b"<html>Welcome to the hotel's network</html>"),
    "empty": Reply(200, b""),
    "null": Reply(200, b"null"),
    "too deep": Reply(200, b"[" * 100_000),
    "half a state": Reply(200, b'{"status": "answered", "choice": "Approve"}'),
    "not UTF-8": Reply(200, b'{"id": "\xff"}'),
    "no content": Reply(204, b""),
    "too large": Reply(200, b" " * 300_000 + b"{}"),
}


@pytest.mark.parametrize("reply", STRANGE_REPLIES.values(), ids=STRANGE_REPLIES)
def test_a_reply_that_is_not_reflectos_is_no_answer(server: AskerServer, connect: Connect, reply):
    server.faults["GET"].append(replying(reply))
    with pytest.raises(reflecto.BrokenContract):
        connect().ask("Deploy?")
    server.faults["POST"].append(replying(reply))
    with pytest.raises(reflecto.BrokenContract):
        connect().ask("Deploy?")


def test_a_redirect_is_not_followed_and_names_its_target(server: AskerServer, connect: Connect):
    target = Reply(308, b"", {"Location": "https://elsewhere.example:8443/v1/interactions?secret=1"})
    server.faults["POST"].append(replying(target))
    with pytest.raises(reflecto.BrokenContract, match=r"redirect to https://elsewhere\.example:8443;") as caught:
        connect().ask("Deploy?")
    assert "secret" not in str(caught.value)
    assert len(server.received) == 1


def test_cancel_withdraws_and_can_be_repeated_after_a_lost_reply(server: AskerServer, connect: Connect):
    client = connect()
    question = client.create("Deploy?")
    server.faults["DELETE"].append(lost_after_handling)
    client.cancel(question)
    assert client.get(question.id).status == "cancelled"


def test_cancel_after_a_tap_names_the_choice(server: AskerServer, connect: Connect):
    client = connect()
    question = client.create("Deploy?")
    server.answer(1)
    with pytest.raises(reflecto.AlreadyAnswered) as caught:
        client.cancel(question.id)
    assert caught.value.choice == "Deny"


def test_cancel_after_the_end_says_expired(server: AskerServer, connect: Connect):
    client = connect()
    question = client.create("Deploy?")
    server.end(status="expired")
    with pytest.raises(reflecto.QuestionExpired):
        client.cancel(question)


def test_cancel_that_leaves_the_question_open_is_a_broken_contract(server: AskerServer, connect: Connect):
    client = connect()
    question = client.create("Deploy?")
    server.faults["DELETE"].append(rewriting(lambda state: state.update(status="pending")))
    with pytest.raises(reflecto.BrokenContract):
        client.cancel(question)


def test_get_reads_a_pending_question_without_an_answer(connect: Connect):
    client = connect()
    question = client.create("Deploy?")
    state = client.get(question.id)
    assert (state.status, state.answer, state.choices) == ("pending", None, ("Approve", "Deny"))


def test_an_id_that_is_none_never_becomes_part_of_an_address(server: AskerServer, connect: Connect):
    with pytest.raises(ValueError, match="32 hex digits"):
        connect().get("../tokens")
    assert server.received == []


@pytest.mark.parametrize(
    ("reply", "error", "code"),
    [
        (Reply.error(400, "invalid_choices"), reflecto.InvalidRequest, "invalid_choices"),
        (Reply.json(401, {"error": "invalid_token"}), reflecto.AuthenticationError, "invalid_token"),
        (Reply.error(403, "priority_capped"), reflecto.PermissionDenied, "priority_capped"),
        (Reply.error(404, "not_found"), reflecto.NotFound, "not_found"),
        (Reply.error(405, "method_not_allowed"), reflecto.ApiError, "method_not_allowed"),
        (Reply.error(409, "no_phone_device"), reflecto.Conflict, "no_phone_device"),
        (Reply.error(413, "payload_too_large"), reflecto.InvalidRequest, "payload_too_large"),
        (Reply.error(426, "phone_app_outdated"), reflecto.Conflict, "phone_app_outdated"),
        (Reply.json(401, {"error": "invalid_token", "error_description": "x"}), reflecto.ServerError, "http_401"),
        (Reply(403, b"<h1>Forbidden</h1>"), reflecto.ServerError, "http_403"),
        (Reply(404, b""), reflecto.ServerError, "http_404"),
        (Reply.json(410, {"error": "Gone", "status": 410}), reflecto.ServerError, "http_410"),
        (Reply.json(409, {"error": {"code": "already_answered"}, "id": 1}), reflecto.ServerError, "http_409"),
        (Reply.json(418, {"error": 7}), reflecto.ServerError, "http_418"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_refusal_is_raised_at_once_with_its_code(server: AskerServer, connect: Connect, reply, error, code):
    server.faults["POST"].append(replying(reply))
    with pytest.raises(error) as caught:
        connect().ask("Deploy?")
    assert (caught.value.code, caught.value.status) == (code, reply.status)
    assert len(server.received) == 1


def test_check_takes_a_valid_token_and_refuses_others(server: AskerServer, connect: Connect):
    connect().check()
    with (
        pytest.raises(reflecto.AuthenticationError),
        Reflecto(server.url, "rfk_live_" + "b" * 32) as stranger,
    ):
        stranger.check()


def test_check_is_not_satisfied_by_just_any_web_server(server: AskerServer, connect: Connect):
    server.faults["GET"].append(replying(Reply(404, b"404 page not found")))
    with pytest.raises(reflecto.ServerError):
        connect().check()


def test_the_token_is_in_no_message_and_no_repr(server: AskerServer, connect: Connect):
    client = connect()
    assert TOKEN not in repr(client)
    leak = {"error": {"code": "internal", "message": f"no such token: {TOKEN}"}}
    server.faults["POST"].append(replying(Reply.json(400, leak)))
    with pytest.raises(reflecto.InvalidRequest) as caught:
        client.create("Deploy?")
    assert str(caught.value) == "no such token: [token]"


def test_a_token_pasted_with_white_space_works(server: AskerServer):
    with Reflecto(server.url + "/", f"  {TOKEN}\r\n") as client:
        client.check()
    assert server.received[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_a_path_before_the_api_is_kept(server: AskerServer):
    with pytest.raises(reflecto.NotFound), Reflecto(f"{server.url}/reflecto/", TOKEN) as client:
        client.get("int_" + "0" * 32)
    assert server.received[0].path == "/reflecto/v1/interactions/int_" + "0" * 32


def test_a_host_name_that_cannot_exist_is_not_tried_again(clock: FakeClock):
    with (
        Reflecto("http://a..b", TOKEN, clock=clock.read, sleep=clock.pause) as client,
        pytest.raises(reflecto.Unreachable),
    ):
        client.check()
    assert clock.pauses == []


def test_a_server_without_tls_behind_https_is_not_tried_again(server: AskerServer, clock: FakeClock):
    url = server.url.replace("http:", "https:")
    with (
        Reflecto(url, TOKEN, clock=clock.read, sleep=clock.pause) as client,
        pytest.raises(reflecto.Unreachable),
    ):
        client.check()
    assert clock.pauses == []
