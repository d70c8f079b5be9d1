"""The entry point: one line for what a person can mend, a traceback for faults, and cheap imports."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import reflecto
from reflecto.backup import BackupError
from reflecto.cli import main as entry
from reflecto.cli.exits import Exit
from reflecto.client import errors
from reflecto.config import ConfigError
from reflecto.data_folder import DataFolderError, NoServerHereError

Output = pytest.CaptureFixture[str]
CLI_DOCUMENT = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Make `reflecto ask` a command that raises what it is given."""

    def fail_with(error: BaseException) -> None:
        @click.command()
        def command() -> None:
            raise error

        monkeypatch.setattr(entry, "COMMANDS", {"fail": ("tests.cli.test_main:command", "Fail.")})
        monkeypatch.setattr(sys.modules[__name__], "command", command, raising=False)
        monkeypatch.setitem(sys.modules, "tests.cli.test_main", sys.modules[__name__])

    return fail_with


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (click.UsageError("bad"), 2),
        (click.ClickException("bad"), 1),
        (ConfigError("bad"), 2),
        (errors.Unreachable("bad"), 5),
        (errors.AuthenticationError("bad"), 6),
        (OSError(errno.EADDRINUSE, "bad"), 9),
        (OSError(errno.EACCES, "a port that is root's"), 9),
        pytest.param(OSError(errno.ENOSPC, "bad", "backup.tar"), 9, id="a full disk"),
        (OSError(errno.ENOENT, "bad", "report.csv"), 2),
        (OSError(errno.EISDIR, "bad", "folder"), 2),
        (OSError(errno.EACCES, "bad", "secret"), 2),
        (BackupError("bad"), 2),
        (NoServerHereError("bad"), 2),
        (DataFolderError("bad"), 9),
        (ModuleNotFoundError("bad", name="starlette"), 9),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_an_expected_failure_is_one_line_and_a_code(failing, capsys: Output, error: Exception, code: int):
    failing(error)
    assert entry.main(["fail"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert [line for line in err.splitlines() if line.startswith("Error: ")] == err.splitlines()[-1:]
    assert "Traceback" not in err


@pytest.mark.parametrize(("module", "extra"), [("starlette", "server"), ("mcp", "mcp"), ("asyncpg", "postgres")])
def test_a_missing_library_says_what_to_install(failing, capsys: Output, module: str, extra: str):
    failing(ModuleNotFoundError(f"No module named '{module}'", name=module))
    entry.main(["fail"])
    assert capsys.readouterr().err == (
        f"Error: this command needs {module}, of Reflecto's extra [{extra}]: `make setup` in a clone brings it;"
        f" elsewhere install once more what you installed, with [{extra}] behind its path (docs/cli.md, Installing)\n"
    )


def test_a_fault_shows_its_traceback_and_is_not_taken_for_a_choice(failing, capsys: Output):
    failing(ZeroDivisionError("oops"))
    assert entry.main(["fail"]) == 9
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()], ids=["ctrl-c", "abort"])
def test_ctrl_c_exits_130_without_a_traceback(failing, capsys: Output, error: BaseException):
    failing(error)
    assert entry.main(["fail"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_closed_pipe_is_quiet_and_not_taken_for_a_choice(failing, capsys: Output):
    failing(BrokenPipeError())
    assert entry.main(["fail"]) == 141
    assert capsys.readouterr().err == ""


def test_the_version_is_the_packages(capsys: Output):
    assert entry.main(["--version"]) == 0
    assert capsys.readouterr().out == f"reflecto, version {reflecto.__version__}\n"


def test_help_lists_every_command_with_its_line(capsys: Output):
    assert entry.main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, (_, line) in entry.COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", out, re.MULTILINE)


@pytest.mark.parametrize("name", entry.COMMANDS)
def test_every_command_of_the_table_is_there(name: str, capsys: Output):
    assert entry.main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: reflecto {name}")


def modules_after(*arguments: str) -> set[str]:
    """Return what a fresh interpreter has imported after running this."""
    code = "import sys\ntry:\n    {}\nexcept SystemExit:\n    pass\nprint(*sys.modules, sep='\\n', file=sys.stderr)"
    ran = subprocess.run(
        [sys.executable, "-c", code.format(*arguments)], capture_output=True, text=True, timeout=30, check=True
    )
    return {line.partition(".")[0] for line in ran.stderr.splitlines()} | set(ran.stderr.splitlines())


SERVER_LIBRARIES = {"starlette", "uvicorn", "cryptography", "segno", "sqlite3", "httptools", "uvloop"}


def test_asking_needs_nothing_of_the_server():
    loaded = modules_after("import reflecto; reflecto.Reflecto; reflecto.QuestionExpired; import reflecto.cli.ask")
    assert {"http.client", "msgspec"} <= loaded
    assert not {"httpx", "nacl", "rfc8785"} & loaded  # each costs more than all the rest
    assert "reflecto.client.aio" not in loaded
    assert not SERVER_LIBRARIES & loaded
    assert not {"reflecto.api", "reflecto.core", "reflecto.store", "reflecto.config", "asyncio"} & loaded


def test_all_of_the_client_needs_nothing_of_the_server_and_nothing_of_mcp():
    loaded = modules_after("import reflecto; [getattr(reflecto, name) for name in reflecto.__all__]")
    assert {"reflecto.client.aio", "reflecto.client.approval"} <= loaded
    assert not (SERVER_LIBRARIES | {"mcp", "mcp_types", "pydantic"}) & loaded
    assert not {"reflecto.api", "reflecto.core", "reflecto.store", "reflecto.config", "reflecto.agents"} & loaded


def test_a_server_that_starts_imports_nothing_of_mcp_and_no_client():
    loaded = modules_after("import reflecto.server")
    assert "reflecto.api.mcp" in loaded
    assert not {"mcp", "mcp_types", "pydantic", "reflecto.client", "reflecto.api.mcp_service"} & loaded


def test_the_package_says_that_it_is_typed():
    assert (Path(reflecto.__file__).parent / "py.typed").is_file()


def test_help_and_version_need_no_command_and_no_http():
    for option in ("--help", "--version"):
        loaded = modules_after(f"from reflecto.cli.main import main; main(['{option}'])")
        assert not (SERVER_LIBRARIES | {"httpx", "nacl", "msgspec", "asyncio"}) & loaded


def test_importing_the_package_imports_nothing_of_it():
    loaded = modules_after("import reflecto")
    assert {name for name in loaded if name.startswith("reflecto")} == {"reflecto"}


def test_every_public_name_is_there_and_nothing_else():
    for name in reflecto.__all__:
        assert getattr(reflecto, name) is not None
    assert set(reflecto.__all__) <= set(dir(reflecto))
    with pytest.raises(AttributeError):
        reflecto.Reflector  # noqa: B018


def test_the_page_lists_each_exit_code_once_with_its_meaning():
    rows = re.findall(r"^\| (\d+) \|", CLI_DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert sorted(map(int, rows)) == sorted(Exit)


def test_every_error_of_the_client_exits_with_a_code_of_the_page():
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.ReflectoError)
    ]
    kinds.append(reflecto.Denied)
    assert len(kinds) > 15
    for kind in kinds:
        assert (Exit(kind.exit_code) is Exit.OTHER_CHOICE) == (kind is reflecto.Denied)
        assert Exit(kind.exit_code) is not Exit.FIRST_CHOICE


def test_output_without_unicode_shows_code_points_instead_of_failing():
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    shown = "from reflecto.cli.main import main; import sys; main(['--version']); print('\\u2713')"
    ran = subprocess.run(
        [sys.executable, "-c", shown], capture_output=True, text=True, timeout=30, check=True, env=environment
    )
    assert ran.stdout.endswith("\\u2713\n")
