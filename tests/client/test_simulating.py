"""`simulate` where replies get lost: a tap that was made counts once, and nobody else's is taken for it."""

from collections.abc import Callable

import pytest

import reflecto
from reflecto import Reflecto
from tests.client.asker_server import AskerServer, Reply, lost_after_handling, lost_before_handling, replying

Connect = Callable[..., Reflecto]


@pytest.mark.parametrize("lost", [lost_after_handling, lost_before_handling])
def test_a_lost_reply_is_no_second_tap(server: AskerServer, connect: Connect, lost):
    client = connect()
    question = client.create("Deploy?")
    server.faults["POST"].extend([lost, lost])
    assert client.simulate(question, "Deny").choice == "Deny"
    assert server.latest["choice"] == "Deny"


def test_another_tap_that_won_meanwhile_is_told(server: AskerServer, connect: Connect):
    client = connect()
    question = client.create("Deploy?")
    server.answer(0)
    server.faults["POST"].append(lost_before_handling)
    with pytest.raises(reflecto.AlreadyAnswered):
        client.simulate(question, "Deny")


def test_a_server_that_is_busy_is_asked_again(server: AskerServer, connect: Connect):
    client = connect()
    question = client.create("Deploy?")
    server.faults["POST"].append(replying(Reply.error(503, "unavailable")))
    assert client.simulate(question.id, "Approve").is_first_choice


def test_a_reply_that_is_no_answer_is_not_taken_for_one(server: AskerServer, connect: Connect):
    client = connect()
    question = client.create("Deploy?")
    server.faults["POST"].append(replying(Reply.json(200, server.latest)))
    with pytest.raises(reflecto.BrokenContract):
        client.simulate(question, "Approve")
    with pytest.raises(ValueError, match="question's id"):
        client.simulate("../tokens", "Approve")
