"""How a coding agent's question is asked, waited for and withdrawn, the same for every way that leads here. No I/O.

The command asks over the blocking client, the server's endpoint for hooks in process, the MCP tools over the
asynchronous client. Each of them is a `PhoneQuestion`; what to do with it, and in which order, is decided here.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, Protocol, TypeVar

from reflecto.agents.hook_call import HookCall, Prompt, Reply, Tap, key_after

LOOKALIKES_MAX: Final = 32  # identical calls of one prompt within the life of one question


class Outcome(Protocol):
    """Where a question stands: `pending`, `answered`, `expired` or `cancelled`. Only an answer has an index."""

    @property
    def status(self) -> str:
        """`pending`, `answered`, `expired` or `cancelled`."""

    @property
    def choice_index(self) -> int | None:
        """The place of the tapped choice, from 0; None unless answered."""


O_co = TypeVar("O_co", bound=Outcome, covariant=True)


class NotAskedError(Exception):
    """The question is not on the phone: its key belongs to another one, or too many look like it."""


class PlainOnlyError(Exception):
    """This server, or every phone, takes questions of one text only; nothing of this one is left on a phone."""


# What such a server or such phones are known by, where details were given.
PLAIN_ONLY_CODES: Final = frozenset(
    {
        "phone_app_outdated",
        "body_too_large",
        "invalid_details",
        "invalid_source",
        "invalid_danger",
        "invalid_confirm",
        "invalid_comment",
    }
)


class Ended(NamedTuple):
    """An `Outcome` of a hook's question; `comment` is the word that came with the tap."""

    status: str
    choice_index: int | None = None
    comment: str | None = None


class Asked(NamedTuple):
    """What a key leads to. `is_open` is false for a question that ended earlier, of a call that looked the same."""

    question_id: str
    is_open: bool = True


class PhoneQuestion(Protocol[O_co]):
    """One question, asked over one of the three clients; `O_co` is that client's outcome."""

    async def ask(self, key: str) -> Asked:
        """Ask under this key, or find what was asked under it.

        Raises: NotAskedError, PlainOnlyError, and its client's errors.
        """

    async def wait(self) -> O_co:
        """Wait until it has ended, or until there is no more time: then it is pending."""

    async def withdraw(self) -> O_co:
        """Withdraw it, and return what became of it: a tap may have been faster. Raises: NotAskedError."""


async def ask_and_wait(question: PhoneQuestion[O_co], key: str) -> O_co:
    """Return how the question ended, or that it is pending. Raises: NotAskedError, and its client's errors."""
    for _ in range(LOOKALIKES_MAX):
        asked = await question.ask(key)
        if asked.is_open:
            return await question.wait()
        key = key_after(key, asked.question_id)
    raise NotAskedError


async def ask_until_ended(question: PhoneQuestion[O_co], key: str) -> O_co:
    """Return how the question ended; one that nobody answered in time is withdrawn. Raises: as `ask_and_wait`."""
    outcome = await ask_and_wait(question, key)
    return await question.withdraw() if outcome.status == "pending" else outcome


async def decide(call: HookCall, number: int, question_of: Callable[[Prompt], PhoneQuestion[Ended]]) -> Reply:
    """Return the reply to the agent: a decision if every question was answered with a tap, else an empty one.

    `number` counts the calls that look the same at the same time, from 0. If the call fails or is cancelled, its
    question is withdrawn first. Raises: what the question's way raises.
    """
    taps = []
    for prompt in call.prompts:
        ended = await _ask(prompt.of_call(number), question_of)
        if ended.status != "answered" or ended.choice_index is None or ended.choice_index == prompt.handover:
            return {}
        taps.append(Tap(ended.choice_index, ended.comment))
    return call.decide(taps)


async def _ask(prompt: Prompt, question_of: Callable[[Prompt], PhoneQuestion[Ended]]) -> Ended:
    """Ask with details, or without them where nobody knows these."""
    question = question_of(prompt)
    try:
        return await ask_until_ended(question, prompt.key)
    except NotAskedError:
        return Ended("pending")
    except PlainOnlyError:
        return await _ask(prompt.plain, question_of) if prompt.plain else Ended("pending")
    except BaseException:
        with suppress(Exception):
            await question.withdraw()
        raise
