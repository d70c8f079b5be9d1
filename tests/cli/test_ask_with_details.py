"""`reflecto ask` with files, a danger, a number, a word: what goes out, what is shown, what it exits with."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from reflecto.cli.main import main
from tests.client.asker_server import AskerServer
from tests.client.signing_phone import SigningPhone

Output = pytest.CaptureFixture[str]
DIFF = "--- a/cart.py\n+++ b/cart.py\n@@ -1 +1 @@\n-price = 1\n+price = 2\n"


@pytest.fixture
def phone(asker: AskerServer) -> SigningPhone:
    phone = SigningPhone()
    asker.on_poll = lambda _count: phone.answers_all(asker)
    return phone


def type_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.usefixtures("phone")
def test_files_and_diffs_are_shown_whole_in_the_order_of_their_kinds(
    asker: AskerServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("drop.sql").write_text("DROP TABLE users;\n", "utf-8")
    Path("why.md").write_text("# Why\n", "utf-8")
    type_in(monkeypatch, DIFF.encode())

    assert main(["ask", "Merge?", "--diff", "-", "--detail-file", "drop.sql", "--detail-file", "why.md"]) == 0

    assert asker.prompts[0]["details"] == [
        {"kind": "code", "label": "drop.sql", "language": "sql", "text": "DROP TABLE users;\n"},
        {"kind": "text", "label": "why.md", "text": "# Why\n"},
        {"kind": "diff", "label": "cart.py", "text": DIFF},
    ]


@pytest.mark.usefixtures("phone")
def test_what_is_above_48_kib_is_said_to_be_missing(asker: AskerServer, tmp_path: Path):
    (tmp_path / "long.log").write_text("x" * 100_000)

    assert main(["ask", "Go on?", "--detail-file", str(tmp_path / "long.log")]) == 0

    missing, cut = asker.prompts[0]["details"]
    assert missing["fields"][0]["name"] == "Missing"
    assert missing["fields"][0]["value"].startswith("51,")
    assert len(json.dumps([missing, cut], separators=(",", ":"), ensure_ascii=False).encode()) <= 49_152


@pytest.mark.usefixtures("phone")
def test_source_danger_and_confirm_reach_the_server_and_nothing_more(asker: AskerServer):
    options = ["--source", "Deploy script", "--source", "where=~/shop", "--danger", "high", "--confirm", "hold"]

    assert main(["ask", "Deploy?", *options]) == 0

    asked = asker.prompts[0]
    assert (asked["source"], asked["danger"], asked["confirm"]) == (
        {"app": "Deploy script", "where": "~/shop"},
        "high",
        "hold",
    )
    assert not {"details", "comment"} & set(asked)


@pytest.mark.usefixtures("phone")
def test_the_number_is_shown_where_the_command_runs(capsys: Output):
    assert main(["ask", "Drop?", "--confirm", "number", "-c", "Drop it", "-c", "Keep it"]) == 0
    assert capsys.readouterr() == ("Drop it\n", "Type 07 on the phone to choose Drop it.\n")


@pytest.mark.usefixtures("phone")
def test_with_json_the_number_comes_on_a_line_of_its_own_before_the_answer(asker: AskerServer, capsys: Output):
    assert main(["ask", "Drop?", "--confirm", "number", "--json"]) == 0
    pending, answered = map(json.loads, capsys.readouterr().out.splitlines())
    assert pending == {"status": "pending", "id": asker.latest["id"], "confirm_number": "07"}
    assert (answered["status"], answered["choice"], answered["receipt_verified"]) == ("answered", "Approve", True)


@pytest.mark.parametrize("as_json", [False, True])
def test_another_number_than_the_one_shown_exits_11(asker: AskerServer, capsys: Output, *, as_json: bool):
    phone = SigningPhone()
    asker.on_poll = lambda _count: phone.answers(asker, number="70")
    assert main(["ask", "Drop?", "--confirm", "number", *(["--json"] if as_json else [])]) == 11
    out, err = capsys.readouterr()
    assert ("invalid_receipt" in out) is as_json
    assert ("another number was typed" in err) is not as_json


def test_an_unsigned_answer_to_it_exits_11_and_prints_no_label(asker: AskerServer, capsys: Output):
    asker.on_poll = lambda _count: asker.answer(0)
    assert main(["ask", "Drop?", "--danger", "high"]) == 11
    assert capsys.readouterr().out == ""


def test_a_word_is_on_standard_error_and_in_the_json(asker: AskerServer, capsys: Output):
    phone = SigningPhone()
    asker.on_poll = lambda _count: phone.answers(asker, 1, comment="Not\x1b on a Friday")
    assert main(["ask", "Drop?", "--comment"]) == 1
    assert capsys.readouterr() == ("Deny\n", "Comment: Not‹U+001B› on a Friday\n")  # noqa: RUF001
    assert asker.prompts[0]["comment"] == "optional"

    assert main(["ask", "Drop?", "--comment", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["comment"] == "Not\x1b on a Friday"


@pytest.mark.parametrize(("reason", "told"), [("dismissed", "refused on the phone"), ("wrong_number", "wrong twice")])
def test_a_question_that_was_refused_exits_4(asker: AskerServer, capsys: Output, reason: str, told: str):
    asker.on_poll = lambda _count: asker.end(status="cancelled", reason=reason)
    assert main(["ask", "Drop?"]) == 4
    assert told in capsys.readouterr().err
    assert main(["ask", "Drop?", "--json"]) == 4
    ended: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (ended["status"], ended["reason"], ended["choice"]) == ("cancelled", reason, None)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--detail-file", "nowhere.txt"], "nowhere.txt: No such file"),
        (["--diff", "."], "Is a directory"),
        (["--detail-file", "binary"], "not text in UTF-8"),
        (["--detail-file", "-", "--diff", "-"], "only one file"),
        (["--source", "colour=red"], "--source takes app, host, where, session"),
        (["--danger", "extreme"], "extreme"),
    ],
    ids=str,
)
def test_what_cannot_be_used_exits_2_and_asks_nobody(
    asker: AskerServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Output,
    options: list[str],
    told: str,
):
    monkeypatch.chdir(tmp_path)
    Path("binary").write_bytes(b"\xff\x00")
    assert main(["ask", "Drop?", *options]) == 2
    assert told in capsys.readouterr().err
    assert asker.received == []


def test_the_question_and_a_file_cannot_both_come_from_standard_input(asker: AskerServer, capsys: Output):
    assert main(["ask", "-", "--diff", "-"]) == 2
    assert "can come from standard input" in capsys.readouterr().err
    assert asker.received == []
