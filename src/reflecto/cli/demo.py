"""`reflecto demo`: a real server, a real phone in another process, one question asked, answered and checked."""

import asyncio
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import click

from reflecto.cli.exits import Exit

if TYPE_CHECKING:
    from reflecto.client.results import Answer, Question

TIME_LIMIT_SECONDS: Final = 30.0
STOP_SECONDS: Final = 5.0  # a program that takes longer to end is killed
QUESTION: Final = "Deploy to production?"
CHOICES: Final = ("Approve", "Deny")
TAPPED: Final = "Approve"
LINE_MAX_BYTES: Final = 2**20
_NO_PROXY: Final = {"NO_PROXY": "*", "no_proxy": "*"}  # a proxy cannot reach this machine's loopback
REPORT_BYTES: Final = 2000  # of a failed program's error output


class DemoFailedError(Exception):
    """A step failed; the message says which and why."""

    exit_code = 1


class Steps:
    """Prints each step with the time it took. `now_doing` says what a failure interrupted."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._started = self._since = monotonic()
        self.now_doing = "starting"

    def begin(self, doing: str) -> None:
        """Start the clock of a step."""
        self.now_doing = doing
        self._since = self._monotonic()

    def done(self, what: str) -> None:
        """Print the result of the step and the time it took."""
        click.echo(f"{_ms(self._monotonic() - self._since)}  {what}")

    def total(self) -> str:
        """Return the time since the start."""
        return _ms(self._monotonic() - self._started).strip()


class Programs:
    """The programs of one demo, each with its output. None of them outlives the context."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[asyncio.subprocess.Process] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for program in reversed(self._running):
            await _stop(program)

    async def start(self, *arguments: str) -> "Lines":
        """Start a command of this project, without this user's settings."""
        errors = self._folder / f"{arguments[0]}.stderr"
        with errors.open("wb") as stderr:
            program = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "reflecto.cli.main",
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                env=_environment(),
                limit=LINE_MAX_BYTES,
                start_new_session=True,  # Ctrl-C is for the demo, which ends its programs in order
            )
        self._running.append(program)
        return Lines(arguments[0], program, errors)


class Lines:
    """What a program prints, one JSON object per line."""

    def __init__(self, name: str, program: asyncio.subprocess.Process, errors: Path) -> None:
        self._name, self._program, self._errors = name, program, errors

    async def next(self) -> dict[str, Any]:
        """Return its next line. Raises: DemoFailedError if it ended instead, or printed something else."""
        if self._program.stdout is None:
            raise DemoFailedError(f"`reflecto {self._name}` has no output")
        line = await self._program.stdout.readline()
        if not line:
            code = await self._program.wait()
            raise DemoFailedError(f"`reflecto {self._name}` ended with exit code {code}{self._report()}")
        try:
            parsed = json.loads(line)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            raise DemoFailedError(f"`reflecto {self._name}` printed something that is no JSON object")
        return parsed

    async def event(self, name: str) -> dict[str, Any]:
        """Return its next event of this name."""
        while (parsed := await self.next()).get("event") != name:
            pass
        return parsed

    def _report(self) -> str:
        text = self._errors.read_bytes()[-REPORT_BYTES:].decode(errors="replace").strip()
        return f":\n{text}" if text else ""


@click.command("demo")
def demo() -> int:
    """See one question asked and answered, without a phone.

    Starts a server with a scratch store and a phone that taps Approve, asks one question, and checks the answer and
    its signature. Everything is on this machine and is gone afterwards. Exits 0 only if all of it was right.
    """
    os.environ.update(_NO_PROXY)
    return asyncio.run(_until_terminated())


async def _until_terminated() -> int:
    terminated: list[int] = []
    running = asyncio.current_task()

    def terminate() -> None:
        terminated.append(signal.SIGTERM)
        if running:
            running.cancel()

    if sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
    try:
        await _within_time_limit()
    except asyncio.CancelledError:
        if terminated:
            return Exit.TERMINATED
        raise
    return 0


async def _within_time_limit() -> None:
    from reflecto.client.errors import ReflectoError

    steps = Steps()
    try:
        with tempfile.TemporaryDirectory(prefix="reflecto-demo-", ignore_cleanup_errors=True) as folder:
            async with asyncio.timeout(TIME_LIMIT_SECONDS), Programs(Path(folder)) as programs:
                await _play(Path(folder), programs, steps)
    except TimeoutError:
        raise DemoFailedError(f"{steps.now_doing}: not done within {TIME_LIMIT_SECONDS:.0f} s") from None
    except (DemoFailedError, ReflectoError, OSError, KeyError) as error:
        raise DemoFailedError(f"{steps.now_doing}: {error}") from None
    click.echo(f"\nRight in every point, {steps.total()} in all. Now with your own phone: make run, or reflecto serve")


async def _play(folder: Path, programs: Programs, steps: Steps) -> None:
    click.echo("The time each step took:")
    steps.begin("starting the server")
    server = await programs.start("serve", "--port", "0", "--data", str(folder / "server"), "--json")
    ready = await server.next()
    steps.done(f"a server runs at {ready['url']}, its store in a scratch folder")

    steps.begin("enrolling the phone")
    state = str(folder / "phone" / "state.json")
    phone = await programs.start(
        "phone", ready["link"], "--state", state, "--label", "Demo phone", "--answer", TAPPED, "--json"
    )
    enrolled = await phone.event("enrolled")
    token = (await phone.event("token"))["token"]
    await phone.event("connected")
    steps.done("a phone made its keys, was enrolled with the setup code, and is connected")

    await _ask_and_check(ready["url"], token, phone, enrolled, steps)


async def _ask_and_check(url: str, token: str, phone: Lines, enrolled: dict[str, Any], steps: Steps) -> None:
    asked, answer = await _ask(url, token, steps)

    steps.begin("checking the answer")
    by = answer.answered_by.device_id if answer.answered_by else None
    expected = (TAPPED, CHOICES.index(TAPPED), enrolled["device_id"])
    if (answer.choice, answer.index, by) != expected:
        raise DemoFailedError(f"got {(answer.choice, answer.index, by)}, expected {expected}")
    if answer.receipt is None:
        raise DemoFailedError("the answer is not signed")
    answer.receipt.verify(enrolled["signing_key"])  # the phone's own word for its key, not the server's
    steps.done("the phone's signature over question, choices and tap is right")

    steps.begin("hearing from the phone")
    ended = await phone.event("ended")
    if (ended["id"], ended["outcome"], ended["choice_index"]) != (asked.id, "sent", answer.index):
        raise DemoFailedError(f"the phone says {ended}")
    steps.done("the phone says so too: its answer counted")


async def _ask(url: str, token: str, steps: Steps) -> "tuple[Question, Answer]":
    """Ask through the blocking client, in a thread that ends soon after this call does."""
    from reflecto.client.sync import Reflecto

    gone = threading.Event()

    def pause(seconds: float) -> None:
        if gone.wait(seconds):
            raise DemoFailedError("interrupted")

    with Reflecto(url, token, retry_for=0, sleep=pause) as reflecto:
        try:
            steps.begin("asking")
            asked = await asyncio.to_thread(reflecto.create, QUESTION, CHOICES, timeout=TIME_LIMIT_SECONDS)
            steps.done(f'asked "{QUESTION}": stored and queued for the phone')
            steps.begin("waiting for the tap")
            answer = await asyncio.to_thread(reflecto.wait, asked, TIME_LIMIT_SECONDS)
            steps.done(f"answered: {answer.choice}")
        finally:
            gone.set()
    return asked, answer


async def _stop(program: asyncio.subprocess.Process) -> None:
    if program.returncode is not None:
        return
    program.terminate()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await program.wait()
    except TimeoutError:
        program.kill()
        await program.wait()


def _environment() -> dict[str, str]:
    """Return this environment without this user's Reflecto settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REFLECTO_")}
    return kept | {"PYTHONUNBUFFERED": "1"}


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:6.0f} ms"
