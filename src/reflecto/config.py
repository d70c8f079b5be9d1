"""The server's settings: read once, frozen, passed down.

Each value comes from the first place that has it: command line, `REFLECTO_*` environment, TOML file, default.
"""

import ipaddress
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
import platformdirs
from msgspec import Meta

LimitName = Literal["token_burst", "token_monthly", "receiver_daily", "ip_minute", "ip_hour"]

CONFIG_VARIABLE = "REFLECTO_CONFIG"
PORT_MAX: Final = 65535


class ConfigError(Exception):
    """A setting is unknown or out of range, or the configuration file cannot be read."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `reflecto serve` and `reflecto invite` run with. The TOML keys are these names."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=PORT_MAX)] = 8787  # 0 takes a free one
    data: Path = msgspec.field(default_factory=lambda: Path(platformdirs.user_data_dir("reflecto", appauthor=False)))
    store: str | None = None  # postgresql://user:password@host:port/database; default: SQLite in the data folder
    keys: str | None = None  # the server's own, as `reflecto keys` prints them; default: in files of the data folder
    workers: Annotated[int, Meta(ge=1, le=64)] = 1  # processes that serve at the one address
    metrics_port: Annotated[int, Meta(ge=1, le=PORT_MAX)] | None = (
        None  # one more, of this process alone; workers count up
    )
    public_url: str | None = None  # what phones reach the server under; default http://host:port
    min_phone_build: Annotated[int, Meta(ge=0)] | None = None  # phones that report less cannot show questions
    limits: Literal["self-hosted", "free", "pro"] = "self-hosted"
    limit_overrides: dict[LimitName, Annotated[int, Meta(ge=1)]] = {}  # layer to requests, for example token_burst = 50
    trusted_proxies: tuple[str, ...] = ()  # addresses or networks whose X-Forwarded-For is believed
    push_contact: str | None = None  # mailto: or https: address for push services; default: public_url, if https
    push_allow_private: bool = False  # push services at private addresses, and on this machine over http
    callback_allow_private: bool = False  # callbacks of emergencies to private addresses, and on this machine over http
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["text", "json"] = "text"

    @property
    def public_path(self) -> str:
        """The path in `public_url`: empty, or with a slash at its start and none at its end."""
        return urlsplit(self.public_url or "").path


def load_settings(
    options: Mapping[str, Any], *, environ: Mapping[str, str] = os.environ, config_file: Path | None = None
) -> Settings:
    """Merge the four sources. `options` maps setting names to values, None where not given.

    Raises: ConfigError.
    """
    names = {field.name for field in msgspec.structs.fields(Settings)}
    file_path = config_file or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    merged: dict[str, Any] = dict(_read_toml(file_path)) if file_path else {}
    merged |= {name: environ[f"REFLECTO_{name.upper()}"] for name in names if environ.get(f"REFLECTO_{name.upper()}")}
    if isinstance(merged.get("trusted_proxies"), str):
        merged["trusted_proxies"] = [proxy.strip() for proxy in merged["trusted_proxies"].split(",")]
    merged |= {name: value for name, value in options.items() if value is not None}
    if isinstance(merged.get("data"), str):
        merged["data"] = Path(merged["data"]).expanduser()
    try:
        settings = msgspec.convert(merged, Settings, strict=False, dec_hook=_take_path)
    except msgspec.ValidationError as error:
        raise ConfigError(f"settings: {_named(error)}") from None
    if settings.store is not None and not settings.store.startswith(("postgresql://", "postgres://")):
        raise ConfigError("settings: store must look like postgresql://user@host:5432/database")
    _check_processes(settings)
    for proxy in settings.trusted_proxies:
        try:
            ipaddress.ip_network(proxy, strict=False)
        except ValueError:
            raise ConfigError(f"settings: trusted_proxies: {proxy!r} is no address or network") from None
    if settings.public_url is not None:
        settings = msgspec.structs.replace(settings, public_url=_public_url(settings.public_url))
    if settings.push_contact is not None and not settings.push_contact.startswith(("mailto:", "https://")):
        raise ConfigError("settings: push_contact must start with mailto: or https://")
    return settings


def _check_processes(settings: Settings) -> None:
    """Refuse what one address, or one store, cannot give several processes. Raises: ConfigError."""
    if settings.workers > 1 and settings.store is None:
        raise ConfigError(
            "settings: workers: SQLite is for one process, since several would not share their limits and would hear "
            "of each other late; --store with a PostgreSQL database is for several"
        )
    if settings.metrics_port is not None and settings.metrics_port + settings.workers - 1 > PORT_MAX:
        raise ConfigError(f"settings: metrics_port: each worker has one more, and {PORT_MAX} is the last")


def packed_settings(settings: Settings) -> dict[str, Any]:
    """Return them as options that `load_settings` takes, made of what JSON has."""
    packed: dict[str, Any] = msgspec.to_builtins(settings, enc_hook=str)
    return {name: value for name, value in packed.items() if value is not None}


def _named(error: msgspec.ValidationError) -> str:
    """Return what is wrong, behind the setting's name and with the words that it may be."""
    what, _, place = str(error).replace("`", "").partition(" - at $.")
    if not place:
        return what
    kind = get_type_hints(Settings).get(place)
    words = f"; one of {', '.join(get_args(kind))}" if get_origin(kind) is Literal else ""
    return f"{place}: {what}{words}"


def _public_url(text: str) -> str:
    """Return it without slashes at its end: links are made by adding to it."""
    if not text.startswith(("http://", "https://")):
        raise ConfigError("settings: public_url must start with http:// or https://")
    try:
        parts = urlsplit(text)
        is_usable = bool(parts.hostname) and parts.port != 0 and parts.username is None
    except ValueError:
        is_usable = False
    if not is_usable or not re.fullmatch(r"[^\s?#\\]+", text) or "//" in parts.path.rstrip("/"):
        raise ConfigError(
            "settings: public_url must look like https://reflecto.example or https://example.org/reflecto"
        )
    return text.rstrip("/")


def _take_path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, Path):
        return value
    raise NotImplementedError


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from None
