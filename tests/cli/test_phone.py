"""`reflecto phone` from outside: on a terminal, in a pipe, interrupted, killed."""

import re
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflecto.cli.exits import Exit
from reflecto.phone.state_file import StateFile
from tests.e2e.phones import HTTP, ask, bearer, make_codes, read
from tests.e2e.server_process import ServerProcess, run_reflecto
from tests.phone.programs import Terminal, script, terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

TOKEN = re.compile(r"rfk_live_[A-Za-z0-9]{32}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all of them, each with an owner of its own."""
    with ServerProcess(tmp_path_factory.mktemp("phone") / "data") as running:
        yield running


@pytest.fixture
def link(server: ServerProcess) -> str:
    """What an owner's first phone opens."""
    [code] = make_codes(server.data, 1, new_owner=True)
    return f"{server.url}/enroll#{code}"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "phone" / "state.json"


@pytest.fixture
def token(link: str, state: Path) -> str:
    """The Default token of a phone that is enrolled and not running."""
    with script("phone", link, "--state", state, "--label", "Laptop", "--json") as phone:
        made: str = phone.event("token")["token"]
        phone.event("connected")
        phone.signal(signal.SIGTERM)
        assert phone.wait() == 0
    return made


def owner_of(state: Path) -> str:
    identity = StateFile(state).load().identity
    assert identity is not None
    return identity.owner_id


def create(server: ServerProcess, token: str, question: str = "Deploy?", **fields: object) -> str:
    reply = ask(server.url, token, question, **fields)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


def choice(server: ServerProcess, token: str, interaction_id: str) -> str | None:
    chosen: str | None = read(server.url, token, interaction_id, 10).json()["choice"]
    return chosen


def answer_with(phone: Terminal, key: bytes, until: str, *, times: int = 1) -> None:
    """Press a key until it is taken: a press right after the question came up is ignored on purpose."""
    for _ in range(30):
        phone.press(key)
        try:
            phone.read_until(until, times=times, patience_seconds=0.2)
        except AssertionError:
            continue
        return
    raise AssertionError(phone.shown)


def test_on_a_terminal_a_phone_is_enrolled_shows_its_token_and_answers_with_a_key(
    server: ServerProcess, link: str, state: Path
):
    with terminal("phone", link, "--state", state, "--label", "Laptop") as phone:
        phone.read_until("reflecto login --url")
        phone.read_until("Connected to")
        token = TOKEN.findall(phone.shown)[0]
        assert f"-H 'Authorization: Bearer {token}'" in phone.shown.replace("\r\n", "\n")
        phone.read_until("Waiting for questions; q quits")

        asked = create(server, token, "Deploy to production \u202enow?", choices=["Ship it", "Hold", "Later"])
        phone.read_until("│ Deploy to production ‹U+202E›now?")  # noqa: RUF001
        phone.read_until("3  Later")
        phone.read_until(" left; q quits; 1 Ship it, 2 Hold, 3 Later")
        answer_with(phone, b"2", "#1 sent: Hold")

        assert choice(server, token, asked) == "Hold"
        phone.press(b"q")
        assert phone.wait() == 0
        assert phone.modes == phone.modes_before


def test_the_time_left_counts_down_on_the_terminal(server: ServerProcess, state: Path, token: str):
    with terminal("phone", "--state", state) as phone:
        phone.read_until("Connected to")
        create(server, token)
        phone.read_until("9:5")
        phone.read_until("9:5", times=3)
        left = re.findall(r"\r\x1b\[2K#1: 9:(5\d) left", phone.shown)
        assert left == sorted(set(left), reverse=True)


def test_tab_answers_the_second_question_first(server: ServerProcess, state: Path, token: str):
    with terminal("phone", "--state", state) as phone:
        phone.read_until("Connected to")
        first = create(server, token, "First?")
        second = create(server, token, "Second?")
        phone.read_until("Tab: next of 2")

        phone.press(b"\t")
        phone.read_until("#2: ")
        answer_with(phone, b"1", "#2 sent: Approve")
        answer_with(phone, b"2", "#1 sent: Deny")

        assert [choice(server, token, asked) for asked in (first, second)] == ["Deny", "Approve"]


def test_arrow_keys_and_pastes_do_not_answer(server: ServerProcess, state: Path, token: str):
    with terminal("phone", "--state", state) as phone:
        phone.read_until("Connected to")
        asked = create(server, token)
        phone.read_until("9:5")  # more than 400 ms later
        phone.press(b"\x1b[1;5C")
        answer_with(phone, b"n", "│ Deploy?", times=2)  # it is read and done with: the question was printed again
        phone.press(b"11\n")
        answer_with(phone, b"n", "│ Deploy?", times=3)

        assert read(server.url, token, asked).json()["status"] == "pending"
        answer_with(phone, b"1", "#1 sent: Approve")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_cleanly_and_the_terminal_is_as_before(
    server: ServerProcess, state: Path, token: str, number: signal.Signals
):
    with terminal("phone", "--state", state) as phone:
        phone.read_until("Waiting for questions")
        assert phone.modes != phone.modes_before

        phone.signal(number)

        assert phone.wait() == 0
        assert phone.modes == phone.modes_before
        assert "Traceback" not in phone.shown
    assert server.is_running
    assert token


def test_the_terminal_is_as_before_when_the_phone_fails(server: ServerProcess, state: Path, token: str):
    with terminal("phone", "--state", state) as phone:
        phone.read_until("Waiting for questions")
        scratch = state.with_name("state.json.tmp")
        scratch.mkdir()  # the next save cannot succeed
        create(server, token)

        assert phone.wait() == Exit.FAILED
        assert phone.modes == phone.modes_before
        phone.read_until("cannot be written")
        assert "Traceback" not in phone.shown


def test_into_a_pipe_it_only_shows_and_keeps_the_token_to_itself(link: str, state: Path):
    with script("phone", link, "--state", state) as phone:
        phone.line('A sender token "Default" was made')
        phone.line("Connected to")
        phone.signal(signal.SIGTERM)
        assert phone.wait() == 0
        assert not TOKEN.search("".join(phone.lines) + phone.errors)
    with script("phone", "--state", state, "--json") as phone:
        assert TOKEN.fullmatch(phone.event("token")["token"])


def test_a_rule_answers_and_once_ends(server: ServerProcess, state: Path, token: str):
    with script("phone", "--state", state, "--answer", "Ship", "--once", "--json") as phone:
        phone.event("connected")
        left = create(server, token, "Go?", choices=["Go", "Stop"])
        assert phone.event("left_open")["id"] == left
        asked = create(server, token, "Ship?", choices=["Hold", "Ship"])
        ended = phone.event("ended")
        assert (ended["id"], ended["outcome"], ended["choice"]) == (asked, "sent", "Ship")
        assert phone.wait() == 0

    assert choice(server, token, asked) == "Ship"


def test_once_interrupted_before_a_question_ended_says_so_in_its_exit_code(
    server: ServerProcess, state: Path, token: str
):
    with script("phone", "--state", state, "--once", "--json") as phone:
        phone.event("connected")
        phone.signal(signal.SIGTERM)
        assert phone.wait() == Exit.TERMINATED
    assert server.is_running
    assert token


def test_of_two_phones_in_two_processes_the_slower_says_where_it_was_answered(
    server: ServerProcess, state: Path, token: str, tmp_path: Path
):
    [code] = make_codes(server.data, 1, owner_id=owner_of(state))
    with script("phone", "--state", state, "--json") as laptop:
        laptop.event("connected")
        second = ("phone", code, "--url", server.url, "--state", tmp_path / "b.json", "--label", "Desk")
        with script(*second, "--answer", "Deny", "--json") as desk:
            desk.event("connected")
            asked = create(server, token)
            assert desk.event("ended")["outcome"] == "sent"
            ended = laptop.event("ended")
    assert (ended["id"], ended["outcome"], ended["choice"], ended["by"]) == (
        asked,
        "answered_elsewhere",
        "Deny",
        "Desk",
    )


def test_killed_at_any_moment_it_goes_on_where_it_was(server: ServerProcess, state: Path, token: str):
    asked = []
    for number in range(4):
        with script("phone", "--state", state, "--json") as phone:
            phone.event("connected")
            asked.append(create(server, token, f"Question {number}?"))
            assert phone.event("question")["id"] in asked
            phone.signal(signal.SIGKILL)
            phone.wait()

    with script("phone", "--state", state, "--json", "--answer", "first") as phone:
        seen = [phone.event("question")["id"] for _ in asked]
        ended = [phone.event("ended") for _ in asked]
    assert seen == asked
    assert {event["id"]: event["outcome"] for event in ended} == dict.fromkeys(asked, "sent")


def test_a_revoked_phone_ends_with_a_clear_message_and_takes_a_new_code(
    server: ServerProcess, state: Path, token: str, tmp_path: Path
):
    with script("phone", "--state", state) as phone:
        phone.line("Connected to")
        devices = HTTP.get(f"{server.url}/v1/devices", headers=bearer(token)).json()["devices"]
        [code] = make_codes(server.data, 1, owner_id=owner_of(state))
        with script("phone", code, "--url", server.url, "--state", tmp_path / "b.json", "--json") as other:
            other.event("connected")
            device_token = re.findall(r"rfd_live_[A-Za-z0-9]{32}", (tmp_path / "b.json").read_text("utf-8"))[0]
            gone = HTTP.delete(f"{server.url}/v1/devices/{devices[0]['device_id']}", headers=bearer(device_token))
            assert gone.status_code == 204
            phone.line("does not know this device any more")
            assert phone.wait() == Exit.NOT_AUTHORISED

        [code] = make_codes(server.data, 1, owner_id=owner_of(state))
        with script("phone", code, "--url", server.url, "--state", state, "--json") as again:
            assert again.event("enrolled")["founded"] is False
            again.event("connected")


def test_a_second_phone_on_the_same_state_is_refused(server: ServerProcess, state: Path, token: str):
    with script("phone", "--state", state, "--json") as phone:
        phone.event("connected")
        second = run_reflecto("phone", "--state", state, "--json")

    assert second.returncode == Exit.FAILED
    assert "in use by another `reflecto phone`" in second.stderr
    assert server.is_running
    assert token


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], Exit.USAGE, "this phone is not enrolled"),
        (["nonsense"], Exit.USAGE, "neither a setup code"),
        (["--answer", " "], Exit.USAGE, "--answer"),
        (["CM9V-PXYP-MWYK-EFNH", "--url", "http://127.0.0.1:1"], Exit.UNREACHABLE, "cannot be reached; a code without"),
    ],
)
def test_what_cannot_start_says_why_in_one_line(state: Path, arguments: list[str], code: int, says: str):
    failed = run_reflecto("phone", "--state", state, *arguments)

    assert failed.returncode == code
    assert says in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_wrong_code_is_refused(server: ServerProcess, state: Path):
    failed = run_reflecto("phone", f"{server.url}/enroll#CM9V-PXYP-MWYK-EFNH", "--state", state)

    assert failed.returncode == Exit.REFUSED
    assert "wrong, used or older than 10 minutes" in failed.stderr
    assert not state.exists()


def test_a_loose_state_file_is_tightened_with_a_warning(server: ServerProcess, state: Path, token: str):
    state.chmod(0o640)

    with script("phone", "--state", state, "--json") as phone:
        phone.event("connected")
        phone.signal(signal.SIGTERM)
        phone.wait()

    assert "could be read by others" in phone.errors
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert server.is_running
    assert token


def test_a_ring_sounds_the_bell_until_a_key_and_a_document_is_saved(
    server: ServerProcess, state: Path, token: str, tmp_path: Path
):
    def send(path: str, **fields: object) -> None:
        assert HTTP.post(f"{server.url}{path}", headers=bearer(token), json=fields).status_code in {200, 201}

    with terminal("phone", "--state", state, "--downloads", tmp_path / "Downloads") as phone:
        phone.read_until("Connected to")
        send("/v1/ring", duration=60)
        phone.read_until("\a", times=2)
        phone.read_until("any key stops it")
        phone.press(b"q")
        phone.read_until("Waiting for questions", times=2)
        bells = phone.shown.count("\a")
        send("/v1/documents", filename="report.csv", content="day,orders\n")
        phone.read_until("report.csv")
        phone.press(b"q")
        assert phone.wait() == 0
    assert phone.shown.count("\a") == bells
    assert (tmp_path / "Downloads" / "report.csv").read_bytes() == b"day,orders\n"
