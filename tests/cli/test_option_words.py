"""What the server refuses by the API's name of a field is said of the option or argument that was typed."""

import json
import re

import click
import pytest

from reflecto.cli.ask import ask
from reflecto.cli.file import send_file
from reflecto.cli.main import main
from reflecto.cli.option_words import in_words_of
from reflecto.cli.remind import remind
from reflecto.cli.ring import ring
from reflecto.cli.send import send
from reflecto.cli.tokens import create
from reflecto.contract.errors import CATALOGUE
from tests.client.asker_server import AskerServer, Reply, replying
from tests.client.sending_server import SendingServer

Output = pytest.CaptureFixture[str]

SAID = [
    (ask, "invalid_question", "QUESTION must be 1 to 1000 characters and not blank"),
    (ask, "invalid_choices", "--choice must be given 2 to 4 times"),
    (ask, "invalid_expires_in", "--expires-in must be 1m to 1d"),
    (ask, "invalid_idempotency_key", "--key must be 1 to 128 characters"),
    (send, "invalid_message", "MESSAGE must be text of at least 1 byte"),
    (send, "message_too_long", "MESSAGE must be ≤ 1500 bytes"),
    (send, "invalid_title", "--title must be 1 to 100 bytes"),
    (send, "invalid_priority", "--priority must be one of"),
    (send, "invalid_tags", "--tag must be a short label"),
    (send, "invalid_url", "--link must be an http or https URL of at most 512 bytes"),
    (send, "invalid_url_title", "--link-title must be 1 to 100 bytes and needs --link"),
    (send, "invalid_action", "--action must be LABEL=URL, up to 3 times"),
    (send, "invalid_device", "--device must be all, phone, desktop"),
    (send, "invalid_markdown", "--markdown must be true or false"),
    (send, "invalid_ttl", "--ttl must be a length of time"),
    (send_file, "invalid_filename", "--name must end in an allowed extension"),
    (send_file, "invalid_content", "PATH must be text and not empty"),
    (send_file, "invalid_title", "--title must be 1 to 100 bytes"),
    (ring, "invalid_duration", "--duration must be 5s to 2m"),
    (ring, "invalid_message", "--message must be text of at least 1 byte"),
    (remind, "invalid_at", "--at must be 60 seconds to 365 days ahead"),
    (remind, "invalid_message", "MESSAGE must be text of at least 1 byte"),
    (create, "invalid_label", "LABEL must be 1 to 60 characters, not blank"),
]


@pytest.mark.parametrize(("command", "code", "said"), SAID, ids=[f"{each[0].name}-{each[1]}" for each in SAID])
def test_a_refused_field_is_called_what_the_command_calls_it(command: click.Command, code: str, said: str):
    words = in_words_of(command, code, CATALOGUE[code].message)
    assert words.startswith(said)
    assert not re.search(r"\b(expires_in|idempotency_key|url_title|actions|tags|filename)\b", words)


@pytest.mark.parametrize("message", ["Not found", "device must obey", "nothing must be so", "", "url"])
def test_what_is_about_no_field_of_the_command_stays_the_servers_word(message: str):
    assert in_words_of(ask, "invalid_url", message) == message


def refuse(server: AskerServer, code: str) -> None:
    error = {"error": {"code": code, "message": CATALOGUE[code].message}}
    server.faults["POST"].append(replying(Reply.json(400, error)))


def test_ask_says_so_on_standard_error_and_in_json(asker: AskerServer, capsys: Output):
    refuse(asker, "invalid_expires_in")
    assert main(["ask", "Deploy?", "--expires-in", "5"]) == 2
    assert capsys.readouterr().err == "Error: --expires-in must be 1m to 1d\n"
    refuse(asker, "invalid_expires_in")
    assert main(["ask", "Deploy?", "--expires-in", "5", "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["message"]) == ("invalid_expires_in", "--expires-in must be 1m to 1d")


def test_send_says_so_too(sending: SendingServer, capsys: Output):
    refuse(sending, "invalid_url")
    assert main(["send", "Done", "--link", "ftp://example.org"]) == 2
    assert capsys.readouterr().err == "Error: --link must be an http or https URL of at most 512 bytes\n"
