"""What docs/self-host.md says holds: the table of settings, the example file, backup and restore."""

import re
import subprocess
from pathlib import Path

import msgspec

from reflecto.config import Settings, load_settings
from tests.e2e.conftest import StartServer
from tests.e2e.phones import Phone, ask, read
from tests.e2e.server_process import ServerProcess

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


def test_a_backup_made_while_the_server_runs_can_be_restored(
    server: ServerProcess, data: Path, tmp_path: Path, phone: Phone, start_server: StartServer
):
    backup = tmp_path / "backup"
    backup.mkdir()
    variables = {"DATA": str(data), "BACKUP": str(backup), "PATH": "/usr/bin:/bin:/usr/local/bin"}
    before = ask(server.url, phone.token, "Before the backup?").json()["id"]
    shell(block("sh", ".backup("), variables)
    after = ask(server.url, phone.token, "After the backup?").json()["id"]
    (last_seq, _) = phone.read_until("interaction", after)[-1]
    server.kill()

    shell(block("sh", "rm -f"), variables)
    again = start_server()

    phone.url = again.url
    assert read(again.url, phone.token, before).json()["question"] == "Before the backup?"
    assert read(again.url, phone.token, after).status_code == 404
    # What is asked first gets no number that the phone has had before: it would resume behind the question.
    anew = ask(again.url, phone.token, "After the restore?").json()["id"]
    assert [envelope["id"] for _, envelope in phone.read_until("interaction", anew, after=last_seq)] == [anew]
    assert phone.answer(before, 0).status_code == 200


def shell(commands: str, variables: dict[str, str]) -> None:
    """Run a block of the page."""
    subprocess.run(["sh", "-euc", commands], env=variables, check=True, capture_output=True)
