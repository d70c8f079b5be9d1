"""Where each setting comes from, and what is said when one is wrong."""

import re
from pathlib import Path

import pytest

from reflecto.config import ConfigError, Settings, load_settings


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    """A configuration file."""
    path = tmp_path / "reflecto.toml"
    path.write_text('host = "10.0.0.1"\nport = 1\npublic_url = "https://file.example"\n', encoding="utf-8")
    return path


def test_without_any_source_the_defaults_hold():
    settings = load_settings({}, environ={})
    assert settings == Settings()
    assert (settings.host, settings.port, settings.log_level) == ("127.0.0.1", 8787, "info")
    assert (settings.public_url, settings.min_phone_build) == (None, None)


def test_command_line_goes_before_environment_before_file_before_default(toml: Path):
    environ = {"REFLECTO_PORT": "2", "REFLECTO_PUBLIC_URL": "https://env.example"}
    settings = load_settings({"public_url": "https://option.example", "port": None}, environ=environ, config_file=toml)
    assert settings.public_url == "https://option.example"
    assert settings.port == 2
    assert settings.host == "10.0.0.1"
    assert settings.log_level == "info"


def test_the_file_may_be_named_by_the_environment_and_the_option_goes_before(toml: Path, tmp_path: Path):
    other = tmp_path / "other.toml"
    other.write_text("port = 9", encoding="utf-8")
    environ = {"REFLECTO_CONFIG": str(toml)}
    assert load_settings({}, environ=environ).port == 1
    assert load_settings({}, environ=environ, config_file=other).port == 9


def test_empty_variables_and_those_of_others_are_ignored():
    environ = {"REFLECTO_PORT": "", "REFLECTO_CONFIG": "", "REFLECTO_TOKEN": "rfk_live_x", "PORT": "5"}
    assert load_settings({}, environ=environ) == Settings()


def test_zero_and_false_on_the_command_line_are_values(toml: Path):
    assert load_settings({"port": 0}, environ={"REFLECTO_PORT": "5"}, config_file=toml).port == 0


def test_the_data_folder_may_be_written_with_a_tilde():
    assert load_settings({}, environ={"REFLECTO_DATA": "~/reflecto"}).data == Path.home() / "reflecto"
    assert load_settings({"data": Path("here")}, environ={}).data == Path("here")


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"REFLECTO_PORT": "abc"}, "port"),
        ({"REFLECTO_PORT": "65536"}, "^settings: port: "),
        ({"REFLECTO_PORT": "-1"}, "port"),
        ({"REFLECTO_MIN_PHONE_BUILD": "-1"}, "min_phone_build"),
        ({"REFLECTO_LOG_LEVEL": "loud"}, "log_level"),
        ({"REFLECTO_PUBLIC_URL": "reflecto.example"}, "public_url"),
        ({"REFLECTO_PUBLIC_URL": "ftp://reflecto.example"}, "public_url"),
        ({"REFLECTO_PUBLIC_URL": "https://"}, "public_url"),
        ({"REFLECTO_PUBLIC_URL": "https://reflecto.example/?a=1"}, "public_url"),
        ({"REFLECTO_PUBLIC_URL": "https://reflecto.example/#/inbox"}, "public_url"),
        ({"REFLECTO_PUBLIC_URL": "https://me:secret@reflecto.example"}, "public_url"),
        ({"REFLECTO_PUBLIC_URL": "https://reflecto.example/a b"}, "public_url"),
        ({"REFLECTO_PUBLIC_URL": "https://reflecto.example//a"}, "public_url"),
        ({"REFLECTO_STORE": "mysql://reflecto@db/reflecto"}, "^settings: store must look like postgresql://"),
        ({"REFLECTO_STORE": "/var/lib/reflecto"}, "^settings: store must look like postgresql://"),
        ({"REFLECTO_LIMITS": "unlimited"}, "limits: .*'unlimited'; one of self-hosted, free, pro$"),
        ({"REFLECTO_TRUSTED_PROXIES": "10.0.0.0/8,proxy.example"}, "trusted_proxies"),
    ],
)
def test_a_value_out_of_range_names_its_setting(environ: dict[str, str], named: str):
    with pytest.raises(ConfigError, match=named):
        load_settings({}, environ=environ)


def test_the_store_is_named_like_every_setting_and_is_sqlite_otherwise(tmp_path: Path):
    address = "postgresql://reflecto:secret@db1,db2:5433/reflecto?sslmode=verify-full"
    file = tmp_path / "reflecto.toml"
    file.write_text(f'store = "{address}"', encoding="utf-8")
    assert load_settings({}, environ={}).store is None
    assert load_settings({}, environ={}, config_file=file).store == address
    assert load_settings({}, environ={"REFLECTO_STORE": address}).store == address
    assert load_settings({"store": address}, environ={}).store == address


def test_a_store_that_is_refused_is_not_repeated_for_it_may_hold_a_password():
    with pytest.raises(ConfigError) as refused:
        load_settings({"store": "mysql://reflecto:secret@db/reflecto"}, environ={})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "url", "path"),
    [
        ("https://reflecto.example", "https://reflecto.example", ""),
        ("https://reflecto.example/", "https://reflecto.example", ""),
        ("https://example.org/reflecto/", "https://example.org/reflecto", "/reflecto"),
        ("https://example.org:8443/a/b", "https://example.org:8443/a/b", "/a/b"),
    ],
)
def test_a_public_url_may_have_a_path_and_loses_its_last_slash(given: str, url: str, path: str):
    settings = load_settings({"public_url": given}, environ={})
    assert (settings.public_url, settings.public_path) == (url, path)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("prot = 8787", "prot"),
        ("port = true", "port"),
        ('port = ["8787"]', "port"),
        ("port = ", r"reflecto\.toml: "),
        ("[server]\nport = 1", "server"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, text: str, named: str):
    path = tmp_path / "reflecto.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=named):
        load_settings({}, environ={}, config_file=path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(ConfigError, match=re.escape(str(path))):
            load_settings({}, environ={}, config_file=path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'host = "caf\xe9"')
    with pytest.raises(ConfigError, match=r"latin\.toml"):
        load_settings({}, environ={}, config_file=latin)


def test_settings_cannot_be_changed():
    with pytest.raises(AttributeError):
        Settings().port = 1  # type: ignore[misc]
