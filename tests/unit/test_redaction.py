"""No line of the log holds a token or a setup code, whoever wrote it."""

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from reflecto.contract.ids import new_device_token, new_sender_token, new_setup_code, short_form
from reflecto.core.model import PushSubscription
from reflecto.logs import RedactingFormatter, configure_logging, redact
from tests.builders import make_device

SECRETS = {
    "live": new_sender_token(),
    "test": new_sender_token(test=True),
    "device": new_device_token(),
    "short": short_form(new_sender_token()),
    "code": new_setup_code(),
}


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """A logger whose lines go through the formatter of the product."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RedactingFormatter("%(levelname)s %(message)s"))
    logger = logging.getLogger("tests.redaction")
    logger.propagate = False
    logger.addHandler(handler)
    yield logger, stream
    logger.removeHandler(handler)
    logger.propagate = True


@pytest.mark.parametrize("name", ["postgresql", "postgres"])
def test_the_password_of_a_database_is_no_part_of_a_line(name: str):
    line = redact(f"cannot use {name}://reflecto:p4ss@word@db1:5432,db2/reflecto?a=1&password=p4ss: no such host")
    assert line == f"cannot use {name}://reflecto:[password]@db1:5432,db2/reflecto?a=1&password=[password] no such host"
    plain = f"{name}://reflecto@db/reflecto, http://me:you@example.org/"
    assert redact(plain) == plain


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "Authorization: Bearer {}",
        "POST /v1/send/{} 200",
        "https://reflecto.example/enroll#{}",
        '{{"token":"{}"}}',
        "token={}&message=x",
        "'{}'",
        "({}),",
        "KeyError: '\\n{}'",
    ],
)
def test_a_secret_in_a_line_is_replaced_and_the_rest_stays(secret: str, line: str):
    shown = redact(line.format(secret))
    assert secret not in shown
    assert shown.startswith(line.split("{}", maxsplit=1)[0].replace("{{", "{"))
    assert "[token]" in shown or "[setup code]" in shown


def test_several_secrets_in_one_line_are_all_replaced():
    line = redact(" ".join(SECRETS.values()))
    assert line == "[token] [token] [token] [token] [setup code]"


def test_secrets_in_arguments_of_a_log_call_are_replaced(log: tuple[logging.Logger, io.StringIO]):
    logger, stream = log
    logger.error("sent by %s to %r", SECRETS["live"], {"device": SECRETS["device"]})
    assert stream.getvalue() == "ERROR sent by [token] to {'device': '[token]'}\n"


def test_secrets_in_a_traceback_are_replaced(log: tuple[logging.Logger, io.StringIO]):
    logger, stream = log
    try:
        try:
            raise KeyError(SECRETS["live"])
        except KeyError as error:
            raise RuntimeError(f"no such token: {SECRETS['device']}") from error
    except RuntimeError:
        logger.exception("failed for %s", SECRETS["code"])
    shown = stream.getvalue()
    assert "Traceback" in shown
    assert "RuntimeError: no such token: [token]" in shown
    assert not any(secret in shown for secret in SECRETS.values())


def test_secrets_in_a_stack_are_replaced(log: tuple[logging.Logger, io.StringIO]):
    logger, stream = log
    logger.warning(f"{SECRETS['live']}", stack_info=True)  # noqa: G004  the worst a caller can do
    assert SECRETS["live"] not in stream.getvalue()


@pytest.mark.parametrize(
    "line", ["dev_0123456789abcdef0123456789abcdef removed", "2026-11-30 09:21:00,123", "rfk_live_ is a prefix"]
)
def test_what_is_no_secret_stays(line: str):
    assert redact(line) == line


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    """The root logger, put back as it was."""
    root, uvicorn = logging.getLogger(), logging.getLogger("uvicorn")
    before = root.handlers[:], root.level, uvicorn.level
    yield root
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    uvicorn.setLevel(before[2])


def test_everything_goes_to_standard_error_redacted(
    root_logger: logging.Logger, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    assert root_logger is logging.getLogger()
    monkeypatch.setattr(sys, "stderr", stderr := io.StringIO())
    for name in ("uvicorn", "uvicorn.error"):  # as in a new process, whatever servers other tests have run in this one
        monkeypatch.setattr(logging.getLogger(name), "propagate", True)
        monkeypatch.setattr(logging.getLogger(name), "disabled", False)
        logging.getLogger(name).setLevel(logging.NOTSET)
    configure_logging("info")
    logging.getLogger("anything").info("token %s", SECRETS["live"])
    logging.getLogger("anything").debug("not shown")
    logging.getLogger("uvicorn.error").info("not shown either")
    logging.getLogger("python_multipart.multipart").warning("a stranger's broken form")
    logging.getLogger("uvicorn.error").error("path /v1/send/%s", SECRETS["live"])
    lines = stderr.getvalue().splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == [
        "INFO anything: token [token]",
        "ERROR uvicorn.error: path /v1/send/[token]",
    ]
    assert capsys.readouterr().out == ""


def test_the_setting_makes_each_line_an_object(root_logger: logging.Logger, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", stderr := io.StringIO())
    configure_logging("info", "json")
    assert root_logger is logging.getLogger()
    logging.getLogger("anything").info("token %s", SECRETS["live"])
    (line,) = map(json.loads, stderr.getvalue().splitlines())
    assert (line["logger"], line["text"]) == ("anything", "token [token]")


def test_a_record_shows_no_bytes_and_no_address_that_may_hold_a_secret():
    device = make_device("own_1", token_hash=b"secret")
    assert "secret" not in repr(device) + str(device.__rich_repr__())
    assert f"id='{device.id}'" in repr(device)
    subscription = PushSubscription("https://push.example/secret", b"p", b"a")
    assert (repr(subscription), subscription.__rich_repr__()) == ("PushSubscription(…)", [])
