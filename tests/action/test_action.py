"""The GitHub Action: what a tap, silence, faults and a cancelled job make of a step."""

import ast
import json
import re
import signal
from collections.abc import Callable
from typing import Any

import pytest

from reflecto.contract.errors import CATALOGUE
from tests.action.conftest import ACTION, ROOT, StepOf
from tests.client.asker_server import (
    TOKEN,
    AskerServer,
    Reply,
    lost_after_handling,
    lost_before_handling,
    replying,
    rewriting,
)

PROGRAM = ROOT / "scripts" / "action" / "reflecto_action.py"


def tap(asker: AskerServer, index: int = 0) -> None:
    asker.on_poll = lambda _count: asker.answer(index)


def without_mask(out: str) -> str:
    """Return what a log shows: the runner takes the line that tells it what to hide."""
    return out.replace(f"::add-mask::{TOKEN}\n", "")


def test_the_first_choice_passes_and_is_in_the_outputs(asker: AskerServer, step: StepOf):
    tap(asker)
    asking = step(url=asker.url, question="Deploy build 7?")
    code, out = asking.run()
    assert code == 0, out
    assert asking.outputs == {"choice": "Approve", "index": "0", "status": "answered", "id": asker.latest["id"]}
    assert without_mask(out) == f"Asked: {asker.latest['id']}\n::notice::tapped: Approve\n"
    assert asker.prompts[0]["choices"] == ["Approve", "Deny"]
    assert asker.prompts[0]["expires_in"] == 600


@pytest.mark.parametrize("index", [1, 2])
def test_any_other_choice_fails_and_is_in_the_outputs(asker: AskerServer, step: StepOf, index: int):
    tap(asker, index)
    asking = step(url=asker.url, question="Deploy?", choices="Now\n\n Tomorrow \nNever\n", expires_in="3600")
    code, out = asking.run()
    assert code == 1
    label = ["Now", "Tomorrow", "Never"][index]
    assert (asking.outputs["choice"], asking.outputs["index"]) == (label, str(index))
    assert out.endswith(f"::error::tapped: {label}\n")
    assert asker.prompts[0]["expires_in"] == 3600


@pytest.mark.parametrize("status", ["expired", "cancelled"])
@pytest.mark.parametrize(("fail_on", "code"), [("not-first", 1), ("no-answer", 1), ("nothing", 0)])
def test_silence_fails_unless_nothing_does(asker: AskerServer, step: StepOf, status: str, fail_on: str, code: int):
    asker.on_poll = lambda _count: asker.end(status=status)
    asking = step(url=asker.url, question="Deploy?", fail_on=fail_on)
    assert asking.run()[0] == code
    assert asking.outputs == {"choice": "", "index": "", "status": status, "id": asker.latest["id"]}


@pytest.mark.parametrize("fail_on", ["no-answer", "nothing"])
def test_a_step_that_only_needs_an_answer_passes_with_any(asker: AskerServer, step: StepOf, fail_on: str):
    tap(asker, 1)
    asking = step(url=asker.url, question="Deploy?", fail_on=fail_on)
    assert asking.run()[0] == 0
    assert asking.outputs["index"] == "1"


REFUSALS = {
    "no phone": (Reply.error(409, "no_phone_device"), "no_phone_device"),
    "token": (Reply.json(401, {"error": "invalid_token"}), "invalid_token"),
    "too many": (Reply.error(429, "too_many_pending"), "too_many_pending"),
    "not Reflecto": (Reply(200, b"Approve"), "is the URL right"),
    "nested deeply": (Reply(200, b"[" * 3_000 + b"]" * 3_000), "is the URL right"),
    "nested deeply in a refusal": (Reply(400, b"[" * 3_000 + b"]" * 3_000), "400"),
    "a proxy's password": (Reply(401, b"<h1>Log in</h1>"), "is the URL right"),
    "OAuth's": (Reply.json(401, {"error": "invalid_token", "error_description": "x"}), "is the URL right"),
    "redirect": (Reply(302, b"", {"Location": "http://127.0.0.1:1/"}), "302"),
    "no id": (Reply.json(201, {"id": "../../etc", "expires_at": 1}), "names no question"),
}


@pytest.mark.parametrize(("reply", "told"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_fails_in_one_line(asker: AskerServer, step: StepOf, reply: Reply, told: str):
    asker.faults["POST"].append(replying(reply))
    asking = step(url=asker.url, question="Deploy?")
    code, out = asking.run()
    assert code == 1
    assert len(without_mask(out).splitlines()) == 1
    assert out.splitlines()[-1].startswith("::error::")
    assert told in out
    assert asking.outputs == {"choice": "", "index": "", "status": "failed", "id": ""}


@pytest.mark.parametrize(
    "page", [Reply(401, b"<h1>Log in</h1>"), Reply(409, b"conflict"), Reply(200, b"<h1>Sign in</h1>")], ids=str
)
def test_a_proxy_s_page_does_not_end_the_waiting_for_an_answer(asker: AskerServer, step: StepOf, page: Reply):
    tap(asker)
    asker.faults["GET"].append(replying(page))
    assert step(url=asker.url, question="Deploy?").run()[0] == 0


@pytest.mark.parametrize("change", [{"choice_index": 1}, {"choice_index": None}, {"question": "Sleep?"}], ids=str)
def test_an_answer_that_breaks_the_contract_is_none(asker: AskerServer, step: StepOf, change: dict[str, Any]):
    tap(asker)
    asker.faults["GET"].append(rewriting(lambda state: state.update(change)))
    asking = step(url=asker.url, question="Deploy?")
    assert asking.run()[0] == 1
    assert asking.outputs["status"] == "failed"


def test_lost_replies_are_asked_for_again_and_prompt_once(asker: AskerServer, step: StepOf):
    asker.faults["POST"].extend([lost_before_handling, lost_after_handling])
    asker.faults["GET"].extend([lost_before_handling, replying(Reply(502, b"Bad gateway")), replying(Reply(404, b""))])
    tap(asker)
    assert step(url=asker.url, question="Deploy?").run()[0] == 0
    assert len(asker.prompts) == 1


def test_it_goes_on_waiting_through_a_restart(asker: AskerServer, step: StepOf):
    asker.holds_polls = True
    asking = step(url=asker.url, question="Deploy?")
    with asking.start() as process:
        asker.wait_until_polled()
        asker.stop()
        asker.start()
        asker.wait_until_polled(times=2)
        asker.answer()
        assert asking.end(process)[0] == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_cancelled_job_withdraws_the_question(asker: AskerServer, step: StepOf, number: int, code: int):
    asker.holds_polls = True
    asking = step(url=asker.url, question="Deploy?")
    with asking.start() as process:
        asker.wait_until_polled()
        process.send_signal(number)
        assert asking.end(process)[0] == code
    assert asker.latest["status"] == "cancelled"


def test_cancelled_before_the_reply_it_finds_the_question_and_withdraws_it(asker: AskerServer, step: StepOf):
    def cancel_then_lose(handle: Callable[[], Reply]) -> Reply:
        handle()
        process.send_signal(signal.SIGTERM)
        return lost_before_handling(handle)

    asker.faults["POST"].append(cancel_then_lose)
    asking = step(url=asker.url, question="Deploy?")
    with asking.start() as process:
        assert asking.end(process)[0] == 143
    assert asker.latest["status"] == "cancelled"
    assert len(asker.prompts) == 1


def keys(asker: AskerServer) -> list[str]:
    return [prompt["idempotency_key"] for prompt in asker.prompts]


def test_a_rerun_and_a_job_of_the_same_matrix_ask_anew_and_the_same_attempt_does_not(asker: AskerServer, step: StepOf):
    tap(asker)
    first = {"GITHUB_RUN_ID": "1", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "deploy", "GITHUB_ACTION": "ask"}
    for other in ({}, {}, {"GITHUB_RUN_ATTEMPT": "2"}, {"GITHUB_ACTION": "ask2"}, {"RUNNER_TRACKING_ID": "b"}):
        assert step(first | other, url=asker.url, question="Deploy?").run()[0] == 0
    assert len(asker.prompts) == len(set(keys(asker))) == 4
    assert all(len(key) <= 128 for key in keys(asker))


def test_a_key_can_be_given(asker: AskerServer, step: StepOf):
    tap(asker)
    step(url=asker.url, question="Deploy?", key="release-7").run()
    assert keys(asker) == ["release-7"]


def test_outside_of_a_run_each_start_asks_anew(asker: AskerServer, step: StepOf):
    tap(asker)
    for _ in range(2):
        step({"GITHUB_ACTIONS": ""}, url=asker.url, question="Deploy?").run()
    assert len(set(keys(asker))) == 2


def test_nothing_that_came_from_elsewhere_is_a_command_to_the_runner(asker: AskerServer, step: StepOf):
    tap(asker, 1)
    attack = "\n::add-path::/evil\nchoice=Approve"
    asking = step(url=asker.url, question=f"Merge {attack}", choices="Yes\n::stop-commands::x%0A")
    _, out = asking.run()
    commands = [line for line in out.splitlines() if line.startswith("::")]
    assert [re.match(r"::([a-z-]+)", line)[1] for line in commands] == ["add-mask", "error"]  # type: ignore[index]
    assert asking.outputs["choice"] == "::stop-commands::x%0A"
    assert asking.outputs["index"] == "1"


def test_a_message_of_the_servers_is_one_line_and_shows_no_token(asker: AskerServer, step: StepOf):
    leak = {"error": {"code": "no_phone_device", "message": f"{TOKEN}\n::set-env::x"}}
    asker.faults["POST"].append(replying(Reply.json(409, leak)))
    _, out = step(url=asker.url, question="Deploy?").run()
    assert TOKEN not in without_mask(out)
    assert "[token]%0A::set-env" in out


def test_the_token_is_masked_before_anything_else_and_only_where_a_runner_hides_it(asker: AskerServer, step: StepOf):
    tap(asker)
    _, out = step(url=asker.url, question="Deploy?").run()
    assert out.startswith(f"::add-mask::{TOKEN}\n")
    assert TOKEN not in without_mask(out)
    _, out = step({"GITHUB_ACTIONS": ""}, url=asker.url, question="Deploy?").run()
    assert TOKEN not in out


def test_a_message_is_sent_with_a_link_to_the_run(asker: AskerServer, step: StepOf):
    sent = {"id": "msg_" + "0" * 32, "delivered_to": [], "warnings": [{"code": "no_devices", "message": "No device"}]}
    asker.faults["POST"].append(replying(Reply.json(200, sent)))
    sending = step(url=asker.url, mode="send", message="Build 7 is green", title="CI", priority="high")
    code, out = sending.run()
    assert code == 0
    assert sending.outputs == {"choice": "", "index": "", "status": "sent", "id": sent["id"]}
    assert "::warning::No device" in out
    (request,) = asker.received
    assert request.path == "/v1/send"
    assert request.json == {
        "message": "Build 7 is green",
        "title": "CI",
        "priority": "high",
        "url": "https://github.example/ada/shop/actions/runs/7001",
    }


@pytest.mark.parametrize("reply", [Reply(500, b""), Reply.error(503, "outcome_unknown", {"Retry-After": "0"})])
def test_a_message_that_may_have_arrived_is_not_sent_again_to_a_server_older_than_keys(
    asker: AskerServer, step: StepOf, reply: Reply
):
    asker.faults["POST"].append(replying(reply))
    asker.faults["GET"].append(replying(Reply.json(200, {"status": "ok"})))
    assert step(url=asker.url, mode="send", message="Done").run()[0] == 1
    assert [each.path for each in asker.received] == ["/v1/send", "/healthz"]


def test_a_message_whose_reply_is_lost_is_sent_again_under_the_same_key(asker: AskerServer, step: StepOf):
    sent = Reply.json(200, {"id": "msg_1", "delivered_to": [], "warnings": []})
    asker.faults["POST"].extend([lost_before_handling, replying(sent)])
    asker.faults["GET"].extend(
        [replying(Reply(502, b"")), replying(Reply.json(200, {"status": "ok", "repeats": "Idempotency-Key"}))]
    )
    assert step(url=asker.url, mode="send", message="Done").run()[0] == 0
    posted = [each for each in asker.received if each.path == "/v1/send"]
    assert len(posted) == 2
    assert len({(each.headers["idempotency-key"], each.body) for each in posted}) == 1


def test_a_message_that_surely_was_not_accepted_is_sent_again(asker: AskerServer, step: StepOf):
    busy = Reply.error(503, "unavailable", {"Retry-After": "0"})
    sent = Reply.json(200, {"id": "msg_1", "delivered_to": [], "warnings": []})
    asker.faults["POST"].extend([replying(busy), replying(sent)])
    assert step(url=asker.url, mode="send", message="Done").run()[0] == 0


REFUSED = {
    "expires_in": ("ask", "invalid_expires_in", "expires-in must be"),
    "idempotency_key": ("ask", "invalid_idempotency_key", "key must be"),
    "question": ("ask", "invalid_question", "question must be"),
    "url": ("send", "invalid_url", "link must be"),
    "title": ("send", "invalid_title", "title must be"),
}


@pytest.mark.parametrize(("mode", "code", "said"), REFUSED.values(), ids=REFUSED)
def test_what_the_server_refuses_is_called_what_the_workflow_calls_it(
    asker: AskerServer, step: StepOf, mode: str, code: str, said: str
):
    error = {"error": {"code": code, "message": CATALOGUE[code].message}}
    asker.faults["POST"].append(replying(Reply.json(400, error)))
    exit_code, out = step(url=asker.url, mode=mode, question="Deploy?", message="Done").run()
    assert exit_code == 1
    assert f"::error::the server refused: 400 {code} {said}" in out


MISTAKES = {
    "mode": {"mode": "tell"},
    "fail-on": {"fail_on": "everything"},
    "expires-in": {"expires_in": "10m"},
    "url": {"url": "reflecto.example"},
    "password in the URL": {"url": "https://me:sesame@reflecto.example"},
    "token": {"token": ""},
}


@pytest.mark.parametrize("inputs", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_fails_in_one_line_and_asks_nothing(asker: AskerServer, step: StepOf, inputs: dict[str, str]):
    code, out = step(**({"url": asker.url, "question": "Deploy?"} | inputs)).run()
    assert code == 1
    assert out.splitlines()[-1].startswith("::error::")
    assert "sesame" not in out
    assert asker.received == []


def test_the_program_needs_nothing_but_an_old_python():
    tree = ast.parse(PROGRAM.read_text("utf-8"), feature_version=(3, 9))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert {str(name).partition(".")[0] for name in imported} <= {
        *("__future__", "collections", "hashlib", "http", "json", "os", "random", "re", "signal", "sys", "time"),
        *("typing", "urllib", "uuid"),
    }


def test_every_input_reaches_the_program_and_every_output_comes_from_it():
    (step,) = ACTION["runs"]["steps"]
    assert sorted(step["env"].values()) == sorted(f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"])
    program = PROGRAM.read_text("utf-8")
    for name in step["env"]:
        assert name in program or f'"{name.removeprefix("INPUT_")}"' in program
    assert {name: output["value"] for name, output in ACTION["outputs"].items()} == {
        name: f"${{{{ steps.reflecto.outputs.{name} }}}}" for name in ("choice", "index", "status", "id", "comment")
    }
    assert "token" not in step["run"].lower()
    assert json.dumps(step["run"]).count("${{") == 0
