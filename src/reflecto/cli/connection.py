"""Which server a command talks to, and with which token: options, environment, or the file of `reflecto login`."""

import json
import os
import shlex
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from reflecto.cli.streams import read_standard_input

URL_VARIABLE: Final = "REFLECTO_URL"
TOKEN_VARIABLE: Final = "REFLECTO_TOKEN"
FILE_VARIABLE: Final = "REFLECTO_CLIENT_CONFIG"
_TOKEN_MAX_CHARS: Final = 1_000  # of standard input, which might not end

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Connection:
    """A server's URL and a sender token, as they were given."""

    url: str
    token: str = field(repr=False)


def connection_options(command: F) -> F:
    """Add --url, --token and --config."""
    for option in (
        click.option(
            "--config",
            "config_file",
            type=click.Path(path_type=Path, dir_okay=False),
            help=f"The file of `reflecto login`; {FILE_VARIABLE} names one too.",
        ),
        click.option(
            "--token",
            help=f"Sender token, else {TOKEN_VARIABLE}, else the file. Other users of this machine can read a command's"
            " arguments: `--token -` reads it from standard input.",
        ),
        click.option("--url", help=f"The server, else {URL_VARIABLE}, else the file."),
    ):
        command = option(command)
    return command


def find_connection(
    url: str | None, token: str | None, config_file: Path | None, environ: Mapping[str, str] = os.environ
) -> Connection:
    """Return the first URL and the first token that are given; `token` may be "-" for standard input.

    The file's token goes to the file's server only: a URL from elsewhere needs a token from elsewhere.

    Raises: click.UsageError.
    """
    for name, option in (("--url", url), ("--token", token)):
        if option is not None and not option.strip():
            raise click.UsageError(f"{name} is empty")  # an unset variable must not mean another token
    given_url = url or environ.get(URL_VARIABLE)
    given_token = read_token(token) or environ.get(TOKEN_VARIABLE)
    if given_url and given_token:
        return Connection(given_url, given_token)
    path = client_file(config_file, environ)
    stored = read_client_file(path, is_required=bool(config_file or environ.get(FILE_VARIABLE)))
    stored_url, stored_token = stored.get("url"), stored.get("token")
    found_url = given_url or stored_url
    if not found_url:
        raise click.UsageError(f"no server: run `{login_command(None, config_file)}`, or set {URL_VARIABLE} or --url")
    if not given_token and stored_token and found_url.strip().rstrip("/") != (stored_url or "").rstrip("/"):
        raise click.UsageError(f"the token in {path} is for another server; set {TOKEN_VARIABLE} or --token")
    found_token = given_token or stored_token
    if not found_token:
        raise click.UsageError(f"no token: run `{login_command(url, config_file)}`, or set {TOKEN_VARIABLE} or --token")
    return Connection(found_url, found_token)


def login_command(url: str | None, config_file: Path | None) -> str:
    """Return how to log in to the server, and into the file, that this command was given."""
    given = (("--url", url), ("--config", config_file))
    return " ".join(["reflecto login", *(f"{name} {shlex.quote(str(value))}" for name, value in given if value)])


def find_url(url: str | None, config_file: Path | None, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the first URL that is given, with a token or without."""
    stored = {} if url or environ.get(URL_VARIABLE) else read_client_file(client_file(config_file), is_required=False)
    return url or environ.get(URL_VARIABLE) or stored.get("url")


def client_file(config_file: Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """Return where `reflecto login` writes and `reflecto ask` reads."""
    if config_file:
        return config_file
    if named := environ.get(FILE_VARIABLE):
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_config_dir("reflecto", appauthor=False)) / "client.toml"


def read_token(option: str | None) -> str | None:
    """Return the token an option gives, read from standard input for "-"."""
    return read_standard_input(_TOKEN_MAX_CHARS, "the token").strip() if option == "-" else option


def read_client_file(path: Path, *, is_required: bool) -> dict[str, str]:
    """Return the file's `url` and `token`, each where it is there. Raises: click.UsageError."""
    import tomllib

    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            parsed = tomllib.load(file)
    except FileNotFoundError:
        if is_required:
            raise click.UsageError(f"{path} does not exist; `{login_command(None, path)}` writes it") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise click.UsageError(f"cannot read {path}: {error}") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        click.echo(f"Warning: others can read the token in {path}; chmod 600 it, or log in again", err=True)
    found: dict[str, str] = {name: parsed[name] for name in ("url", "token") if name in parsed}
    if not all(isinstance(value, str) for value in found.values()):
        raise click.UsageError(f"{path}: url and token must be strings")
    return found


def write_client_file(path: Path, connection: Connection) -> None:
    """Replace the file in one step, readable by its owner only, whatever it was before. Raises: OSError."""
    import tempfile

    target = Path(os.path.realpath(path))  # a link, as dotfile managers make them, stays one
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            for name, value in (("url", connection.url), ("token", connection.token)):
                file.write(f"{name} = {json.dumps(value, ensure_ascii=False)}\n")  # both are printable, so also TOML
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def warn_if_exposed(url: str) -> None:
    """Say on stderr that plain http:// to another machine can be read on the way."""
    from reflecto.contract.loopback import is_loopback

    if url.lower().startswith("http://") and not is_loopback(url):
        click.echo(
            "Warning: http:// is not encrypted; whoever is in between can read the token and what is sent", err=True
        )
