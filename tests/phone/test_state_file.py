"""The state file: private, whole after a crash, one process at a time."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from reflecto.phone.state import PhoneState
from reflecto.phone.state_file import StateError, StateFile, default_state_path
from tests.phone.builders import ANSWER, phone, question

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions and locks")

STATE = phone(question(1), question(2, answer=ANSWER), cursor=7, seen={"interaction int_1": 5})


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def saved(folder: Path) -> Path:
    path = folder / "phone" / "state.json"
    with StateFile(path) as store:
        store.save(STATE)
    return path


def test_what_is_saved_comes_back(tmp_path: Path):
    path = saved(tmp_path)

    with StateFile(path) as store:
        assert store.load() == STATE
        assert store.warnings == []


def test_a_phone_without_a_file_starts_empty(tmp_path: Path):
    with StateFile(tmp_path / "state.json") as store:
        assert store.load() == PhoneState()


def test_folder_file_and_lock_are_private_whatever_the_umask(tmp_path: Path):
    before = os.umask(0)
    try:
        path = saved(tmp_path)
    finally:
        os.umask(before)

    assert mode_of(path.parent) == 0o700
    assert {mode_of(file) for file in path.parent.iterdir()} == {0o600}


def test_a_file_that_others_could_read_is_tightened_with_a_warning(tmp_path: Path):
    path = saved(tmp_path)
    path.chmod(0o644)

    with StateFile(path) as store:
        assert store.load() == STATE
        assert "could be read by others (mode 644)" in store.warnings[0]
    assert mode_of(path) == 0o600


def test_a_loose_scratch_file_left_behind_does_not_make_the_state_loose(tmp_path: Path):
    path = saved(tmp_path)
    scratch = path.with_name("state.json.tmp")
    scratch.write_text("left by a crash")
    scratch.chmod(0o666)

    with StateFile(path) as store:
        store.save(STATE)

    assert mode_of(path) == 0o600
    assert not scratch.exists()


def test_a_scratch_file_that_is_a_symlink_is_not_followed(tmp_path: Path):
    path = saved(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    path.with_name("state.json.tmp").symlink_to(victim)

    with StateFile(path) as store, pytest.raises(StateError, match="cannot be written"):
        store.save(STATE)

    assert victim.read_text() == "untouched"


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_crash_at_any_step_leaves_the_old_state_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str):
    path = saved(tmp_path)

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    target: dict[str, tuple[object, str]] = {
        "write": (msgspec.json, "encode"),
        "fsync": (os, "fsync"),
        "replace": (Path, "replace"),
    }
    with monkeypatch.context() as patched, StateFile(path) as store:
        patched.setattr(*target[step], crash)
        with pytest.raises(KeyboardInterrupt):
            store.save(PhoneState(cursor=99))

    with StateFile(path) as store:
        assert store.load() == STATE


def test_the_new_state_is_on_the_disk_before_it_takes_the_old_one_s_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = saved(tmp_path)
    order: list[str] = []

    def noting(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def noted(*arguments: object) -> object:
            order.append(name)
            return real(*arguments)

        return noted

    monkeypatch.setattr(os, "fsync", noting("fsync", os.fsync))
    monkeypatch.setattr(Path, "replace", noting("replace", Path.replace))

    with StateFile(path) as store:
        store.save(STATE)

    assert order == ["fsync", "replace", "fsync"]


def test_a_second_process_on_the_same_file_is_refused_with_what_helps(tmp_path: Path):
    path = saved(tmp_path)
    program = (
        "import sys; from pathlib import Path; from reflecto.phone.state_file import *\n"
        "try:\n  StateFile(Path(sys.argv[1])).__enter__()\nexcept StateError as error:\n  print(error)"
    )

    with StateFile(path):
        other = subprocess.run(
            [sys.executable, "-c", program, path], capture_output=True, text=True, timeout=20, check=True
        )

    assert "in use by another `reflecto phone`; end it or pass another --state" in other.stdout


def test_the_lock_goes_with_its_holder(tmp_path: Path):
    path = saved(tmp_path)
    with StateFile(path):
        pass

    with StateFile(path) as store:
        assert store.load() == STATE


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": "one"}', b"[]", b'{"identity": {"url": 5}}', b"\xff\xfe"])
def test_a_file_that_is_not_ours_is_refused_and_left_alone(tmp_path: Path, content: bytes):
    path = tmp_path / "state.json"
    path.write_bytes(content)

    with StateFile(path) as store, pytest.raises(StateError, match="not a phone's state file"):
        store.load()

    assert path.read_bytes() == content


def test_a_form_of_another_version_is_refused(tmp_path: Path):
    path = tmp_path / "state.json"
    path.write_text('{"version": 2}')

    with StateFile(path) as store, pytest.raises(StateError, match="another version"):
        store.load()


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path):
    blocker = tmp_path / "file"
    blocker.write_text("")

    with pytest.raises(StateError, match="file"):
        StateFile(blocker / "state.json").__enter__()


def test_the_default_place_is_the_user_s_data_folder():
    assert default_state_path().parts[-3:] == ("reflecto", "phone", "state.json")


def test_no_secret_shows_in_the_repr_of_the_state():
    assert STATE.identity
    shown = repr(STATE)

    for secret in (STATE.identity.device_token, STATE.identity.box_secret, STATE.identity.signing_seed):
        assert secret not in shown
