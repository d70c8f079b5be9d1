"""What the tests run in: the same environment on every machine, whatever the shell around them has set."""

import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

# What tests need of a machine: where its programs and temporary files are, who it is, what Windows starts with.
KEPT: Final = frozenset(
    [
        "PATH",
        "TMPDIR",
        "TEMP",
        "TMP",
        "LD_LIBRARY_PATH",
        "USER",
        "LOGNAME",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "COMSPEC",
        "PATHEXT",
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
    ]
)
KEPT_PREFIXES: Final = ("PYTEST_", "HYPOTHESIS_", "COV_", "COVERAGE_")  # how the run itself is told what to do
SET: Final = {"LANG": "C.UTF-8", "TZ": "UTC"}  # no language, no zone: a test that is about one sets it
UMASK: Final = 0o022


def steady(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the environment of a test: an empty home, and no setting of ours or of anybody whose code we run.

    This interpreter's programs are found first, as in an activated environment; a test of what happens without them
    sets PATH itself.
    """
    kept = {name: value for name, value in environ.items() if name in KEPT or name.startswith(KEPT_PREFIXES)}
    programs = str(Path(sys.executable).parent)
    others = [folder for folder in kept.get("PATH", os.defpath).split(os.pathsep) if folder not in {"", programs}]
    return kept | SET | {"HOME": str(home), "PATH": os.pathsep.join([programs, *others])}


def settle(home: Path) -> None:
    """Make this process, and so every program it starts, run in it."""
    environment = steady(os.environ, home)
    os.environ.clear()
    os.environ.update(environment)
    os.umask(UMASK)
    if sys.platform != "win32":
        time.tzset()
        # `nohup make test` and `make test &` start it with these ignored, and ignored is inherited.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
