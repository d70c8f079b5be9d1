"""The action as a runner starts it: its shell line, its inputs in the environment, its outputs in a file."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from tests.client.asker_server import TOKEN, AskerServer

ROOT: Final = Path(__file__).parents[2]
ACTION: Final[dict[str, Any]] = msgspec.yaml.decode((ROOT / "action.yml").read_bytes())
WAIT_SECONDS: Final = 20
GITHUB: Final = {
    "github.server_url": "https://github.example",
    "github.repository": "ada/shop",
    "github.run_id": "7001",
}


@dataclass
class Step:
    """One step of a job that uses the action. `with_` are its inputs, `runner` what the runner's environment has."""

    outputs_file: Path
    with_: Mapping[str, str]
    runner: Mapping[str, str]

    def start(self) -> "subprocess.Popen[str]":
        (step,) = ACTION["runs"]["steps"]
        inputs = {
            name: self.with_.get(name, self._filled_in(spec.get("default", "")))
            for name, spec in ACTION["inputs"].items()
        }
        # A socket that a signal meets between its making and its name is left to the end of the process.
        warnings = "error,ignore::ResourceWarning"
        environment = {"PATH": os.environ["PATH"], "GITHUB_ACTION_PATH": str(ROOT), "PYTHONWARNINGS": warnings}
        environment |= {"GITHUB_OUTPUT": str(self.outputs_file), "GITHUB_ACTIONS": "true"} | dict(self.runner)
        for name, value in step["env"].items():
            (variable,) = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value).groups()  # type: ignore[union-attr]
            environment[name] = inputs[variable]
        return subprocess.Popen(
            ["bash", "-eo", "pipefail", "-c", step["run"]],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self) -> tuple[int, str]:
        """Return the exit code and what was printed."""
        with self.start() as process:
            return self.end(process)

    def end(self, process: "subprocess.Popen[str]") -> tuple[int, str]:
        """Wait for the end."""
        out, err = process.communicate(timeout=WAIT_SECONDS)
        assert err == ""
        return process.returncode, out

    @property
    def outputs(self) -> dict[str, str]:
        """Return the step's outputs, read as a runner reads them."""
        read, lines = {}, iter(self.outputs_file.read_text("utf-8").splitlines())
        for line in lines:
            name, _, delimiter = line.partition("<<")
            value = []
            while (next_line := next(lines)) != delimiter:
                value.append(next_line)
            read[name] = "\n".join(value)
        return read

    @staticmethod
    def _filled_in(default: str) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: GITHUB[match[1]], default)


StepOf = Callable[..., Step]


@pytest.fixture
def step(tmp_path: Path) -> StepOf:
    """Make a step with these inputs; dashes are underscores here."""

    def make(runner: Mapping[str, str] | None = None, **inputs: str) -> Step:
        file = tmp_path / "outputs"
        file.write_text("")
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        return Step(file, {"token": TOKEN} | named, runner or {"GITHUB_RUN_ID": "7001", "GITHUB_RUN_ATTEMPT": "1"})

    return make


@pytest.fixture
def asker() -> Iterator[AskerServer]:
    """A server whose faults can be chosen."""
    server = AskerServer()
    server.start()
    yield server
    server.stop()
