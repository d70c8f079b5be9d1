"""What docs/self-host.md says holds: the table of settings, the example file."""

import re
from pathlib import Path

import msgspec

from reflecto.config import Settings, load_settings

PAGE = (Path(__file__).parents[2] / "docs" / "self-host.md").read_text("utf-8")


def block(language: str, containing: str) -> str:
    """Return the page's only code block of the language that contains a text."""
    blocks = [each for each in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if containing in each]
    assert len(blocks) == 1, containing
    return str(blocks[0])


def test_the_table_of_settings_is_complete_and_its_defaults_are_right():
    rows = re.findall(r"^\| `(\w+)` \| (\S*) ?\| (.*?) \|", PAGE, re.MULTILINE)
    fields = {field.name: field for field in msgspec.structs.fields(Settings)}

    assert [name for name, _, _ in rows] == list(fields)
    for name, variable, default in rows:
        assert variable == ("" if name == "limit_overrides" else f"`REFLECTO_{name.upper()}`")
        value = getattr(Settings(), name)
        if name != "data" and value not in (None, (), {}):
            assert default == f"`{str(value).lower() if isinstance(value, bool) else value}`"


def test_the_example_file_is_accepted(tmp_path: Path):
    config = tmp_path / "reflecto.toml"
    config.write_text(block("toml", "limit_overrides"), "utf-8")

    settings = load_settings({}, environ={}, config_file=config)

    assert settings.limit_overrides == {"token_burst": 120, "ip_hour": 5_000}
    assert settings.trusted_proxies == ("127.0.0.1",)


def test_each_variable_of_the_unit_is_a_setting():
    names = re.findall(r"^Environment=REFLECTO_(\w+)=", block("ini", "ExecStart"), re.MULTILINE)

    assert {name.lower() for name in names} <= set(Settings.__struct_fields__)
