"""deploy/systemd: what the units say is right, and systemd reads them where it is installed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY, ROOT, VARIABLES, text

ONE = "systemd/reflecto.service"
SEVERAL = "systemd/reflecto@.service"


def test_the_unit_for_one_server_is_the_one_that_the_page_shows():
    page = (ROOT / "docs" / "self-host.md").read_text("utf-8")
    (shown,) = re.findall(r"```ini\n(\[Unit\].*?)```", page, re.DOTALL)
    assert text(ONE).partition("\n")[2] == shown


@pytest.mark.parametrize("unit", [ONE, SEVERAL])
def test_each_variable_is_a_setting(unit: str):
    assert set(re.findall(r"\b(REFLECTO_[A-Z_]+)", text(unit))) <= VARIABLES


def test_several_servers_have_at_least_what_keeps_one_in():
    def kept_in(unit: str) -> set[str]:
        service = text(unit).partition("[Service]")[2]
        return set(
            re.findall(r"^(?:No|Capab|Private|Protect|Restrict[A-Z]|Lock|System|Limit).*$", service, re.MULTILINE)
        )

    assert kept_in(ONE) < kept_in(SEVERAL)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
@pytest.mark.parametrize("unit", [ONE, SEVERAL])
def test_systemd_reads_it_without_a_word(unit: str, tmp_path: Path):
    name = Path(unit).name.replace("@.", "@8787.")
    program = r"^ExecStart=\S+"  # which is not installed here
    (tmp_path / name).write_text(
        re.sub(program, f"ExecStart={sys.executable}", text(unit), flags=re.MULTILINE), "utf-8"
    )
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / name],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    said = [line for line in verified.stderr.splitlines() if name in line]
    assert (verified.returncode, said) == (0, [])


def test_the_folder_has_no_other_units():
    assert {path.name for path in (DEPLOY / "systemd").iterdir()} == {Path(ONE).name, Path(SEVERAL).name}
