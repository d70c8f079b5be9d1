"""Which calls of tools are dangerous: what cannot be undone, reaches others, or changes who may do what. No I/O.

hooks.md "What counts as dangerous" lists the rules. They make a person look twice; whoever wants to get round them can,
so they are no fence. A command is read once, word by word: its text may be an attacker's, and long.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from reflecto.contract.limits import DETAILS_MAX_BYTES


class CommandRule(NamedTuple):
    """A program, and what must stand beside it; with nothing of that the program is enough.

    That is one of `words`, a short option with one of `letters`, or a word that begins with one of `starts`.
    """

    programs: str
    words: str = ""
    letters: str = ""
    starts: tuple[str, ...] = ()

    def applies(self, command: "_Command") -> bool:
        """Tell whether this is beside the program in the command."""
        return (
            not (self.words or self.letters or self.starts)
            or not command.names.isdisjoint(self.words.split())
            or not command.letters.isdisjoint(self.letters)
            or any(word.startswith(self.starts) for word in command.words)
        )


class _Command(NamedTuple):
    """A command between two signs of the shell.

    `words` have no quotes, `names` are those and what of each is behind its last slash; `letters` are those of all
    short options; `sign` is what the shell reads before the command.
    """

    words: tuple[str, ...]
    names: frozenset[str]
    letters: frozenset[str]
    sign: str

    @property
    def fetches(self) -> bool:
        """Whether it reads from the network."""
        return not self.names.isdisjoint(_FETCHING)

    @property
    def runs(self) -> bool:
        """Whether it may run what it is given."""
        return not self.names.isdisjoint(_RUNNING)

    @property
    def reads_the_one_before(self) -> bool:
        """Whether it is at the end of a pipe."""
        return self.sign in {"|", "|&"}

    @property
    def is_inside(self) -> bool:
        """Whether what it writes stands in the command before it."""
        return "(" in self.sign or "`" in self.sign


# What hooks.md says, and the rules it is about.
COMMAND_RULES: Final[Mapping[str, Sequence[CommandRule]]] = {
    "deletes files": (
        CommandRule("rm", letters="rRf", starts=("--recursive", "--force")),
        CommandRule("find", "-delete"),
        CommandRule("rsync", starts=("--del",)),
        CommandRule("Remove-Item", starts=("-Recurse", "-Force")),
        CommandRule("rmdir rd del", "/s /S"),
        CommandRule("shred wipe srm"),
        CommandRule("git", "clean"),
    ),
    "loses work or history in git": (
        CommandRule("push", letters="fd", starts=("--force", "--delete", "--mirror", "+")),
        CommandRule("reset", "--hard"),
        CommandRule("branch", letters="D"),
        CommandRule("checkout switch", letters="f", starts=("--force", "--discard")),
        CommandRule("stash", "drop clear"),
        CommandRule("git", "filter-branch filter-repo expire"),
    ),
    "runs as somebody else": (CommandRule("sudo doas su pkexec runas"),),
    "writes to disks": (
        CommandRule("dd", starts=("of=",)),
        CommandRule("wipefs fdisk sgdisk parted diskutil mkfs mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkswap"),
    ),
    "empties databases": (CommandRule("dropdb flushall flushdb"), CommandRule("db", "dropDatabase")),
    "publishes": (
        CommandRule("npm pnpm yarn cargo poetry uv bun hatch vsce", "publish unpublish yank"),
        CommandRule("gem docker podman", "push"),
        CommandRule("twine", "upload"),
        CommandRule("release", "create"),
        CommandRule("gh", "merge delete archive"),
    ),
    "changes what runs elsewhere": (
        CommandRule("terraform tofu pulumi cdk", "apply up destroy deploy"),
        CommandRule("kubectl oc", "delete apply replace drain scale patch"),
        CommandRule("helm", "install upgrade uninstall delete rollback"),
        CommandRule("aws gcloud gsutil az doctl heroku fly flyctl vercel", "rm rb", starts=("delete", "terminate")),
        CommandRule("gcloud gsutil az doctl heroku fly flyctl vercel", "deploy", starts=("destroy", "purge")),
    ),
    "changes the machine or who may do what": (
        CommandRule("shutdown reboot halt poweroff killall pkill crontab iptables nft ufw"),
        CommandRule("useradd userdel usermod visudo"),
        CommandRule("systemctl launchctl", "stop disable mask unload bootout"),
        CommandRule("kill", "-1"),
        CommandRule("chmod chown", "777 0777", letters="R", starts=("--recursive", "u+s", "g+s", "+s")),
    ),
}
_RULES_OF: Final = {
    program: [rule for rules in COMMAND_RULES.values() for rule in rules if program in rule.programs.split()]
    for rules in COMMAND_RULES.values()
    for each in rules
    for program in each.programs.split()
}
FETCHES: Final = "runs what it fetches"  # the rule below, of two commands
OUTSIDE: Final = "runs outside the agent's sandbox, where the agent says so"
LONG: Final = "is too long to be shown whole, or more than 500 commands at once"

COMMANDS_MAX: Final = 500  # of one call; nobody reads more, and this neither

_SIGNS: Final = re.compile(r"([;&|\n()`<>]+)")
_QUOTES: Final = "\"'"
_FETCHING: Final = frozenset({"curl", "wget"})
_RUNNING: Final = frozenset(
    [
        "sh",
        "bash",
        "zsh",
        "dash",
        "ksh",
        "fish",
        "eval",
        "source",
        ".",
        "python",
        "python3",
        "perl",
        "ruby",
        "node",
        "php",
        "deno",
        "bun",
        "pwsh",
        "iex",
    ]
)
_SQL: Final = re.compile(
    r"\b(?:drop\s{1,9}(?:table|database|schema|view|column|role|user)|truncate\s{1,9}table|delete\s{1,9}from)\b",
    re.IGNORECASE,
)
_DISK: Final = re.compile(r">\s{0,9}/dev/(?:sd|hd|nvme|vd|disk|mapper)")
_FILE: Final = re.compile(
    r"(?:^|/)\.(?:ssh|gnupg|aws|kube|azure|docker)(?:/|$)"
    r"|(?:^|/)\.(?:netrc|pgpass|npmrc|pypirc|git-credentials|gitconfig|profile|mcp\.json|env(?:\.[\w.-]+)?)$"
    r"|(?:^|/)\.(?:bash|z)(?:rc|_profile|profile|env|login|_login|_logout|logout)$|(?:^|/)config\.fish$"
    r"|(?:^|/)\.git/(?:hooks/|config$)|(?:^|/)\.github/workflows/"
    r"|(?:^|/)(?:launchagents|launchdaemons|systemd|autostart|cron[^/]*)/"
    r"|(?:^|/)\.(?:claude|codex)/(?:settings[^/]*\.json|hooks\.json|config\.toml|hooks/)"
    r"|^/(?:etc|usr|bin|sbin|lib|boot)(?:/|$)|^[a-z]:/windows/",
    re.IGNORECASE,
)


def is_dangerous(given: Mapping[str, Any], files: Sequence[str]) -> bool:
    """Tell whether a call of a tool is dangerous. `given` is its input, `files` the paths it would change."""
    if given.get("dangerouslyDisableSandbox") or any(_FILE.search(path.replace("\\", "/")) for path in files):
        return True
    command = given.get("command")
    return isinstance(command, str) and not files and _is_dangerous_command(command)


def _is_dangerous_command(text: str) -> bool:
    if len(text) > DETAILS_MAX_BYTES:
        return True
    text = text.replace("\\\n", " ")
    if _SQL.search(text) or _DISK.search(text):
        return True
    runs = is_fetched = False
    for number, command in enumerate(_commands(text)):
        if number >= COMMANDS_MAX:
            return True
        programs = command.names & _RULES_OF.keys()
        if any(rule.applies(command) for program in programs for rule in _RULES_OF[program]):
            return True
        comes = is_fetched and command.reads_the_one_before
        if (comes and command.runs) or (command.fetches and command.is_inside and runs):
            return True
        runs, is_fetched = command.runs, command.fetches or comes
    return False


def _commands(text: str) -> Iterator[_Command]:
    parts = ["", *_SIGNS.split(text)]
    for sign, part in zip(parts[::2], parts[1::2], strict=True):
        words = tuple(word.strip(_QUOTES) for word in part.split())
        names = frozenset((*words, *(word.rpartition("/")[2] for word in words)))
        letters = frozenset("".join(word for word in words if word[:1] == "-" and word[:2] != "--"))
        if words:
            yield _Command(words, names, letters, sign.strip())
