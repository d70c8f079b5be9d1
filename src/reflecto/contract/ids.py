"""The forms of ids, tokens and setup codes. Source: api.md "Identities", devices.md "Enrolling the first phone"."""

import re
import secrets
import string
from typing import Final, Literal

IdPrefix = Literal["int", "msg", "doc", "rem", "dev", "tok", "own", "par"]

TOKEN_ALPHABET: Final = string.ascii_letters + string.digits
TOKEN_RANDOM_CHARS: Final = 32  # 32 x log2(62) = 190 bits, above the 160 the spec asks for

ID_PATTERN: Final = re.compile(r"(int|msg|doc|rem|dev|tok|own|par)_[0-9a-f]{32}")
SHORT_TOKEN_CHARS: Final = 30  # what Pushover's clients take for a token: the first of the random ones
RECEIPT_PATTERN: Final = re.compile(r"r[A-Za-z0-9]{29}")  # of an emergency, in the form Pushover's clients expect
SHORT_TOKEN_PATTERN: Final = re.compile(rf"[A-Za-z0-9]{{{SHORT_TOKEN_CHARS}}}")
TOKEN_PATTERN: Final = re.compile(r"rf[kd]_(live|test)_[A-Za-z0-9]{32}")  # also the secret-scanning pattern
SERVER_KEYS_PATTERN: Final = re.compile(r"rfkeys_[A-Za-z0-9_-]{91}")  # a server's keys as one text

# Crockford's base 32: no I, L, O or U, so nothing can be misread; 16 characters carry 80 bits.
CODE_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CODE_CHARS: Final = 16
CODE_GROUP_CHARS: Final = 4
_CODE_LOOKALIKES: Final = str.maketrans({"O": "0", "I": "1", "L": "1"})


def new_id(prefix: IdPrefix) -> str:
    """Return a fresh id such as `int_3f6e…`: the prefix and 32 lower-case hex digits (128 random bits)."""
    return f"{prefix}_{secrets.token_hex(16)}"


def is_id(text: str, prefix: IdPrefix) -> bool:
    """Tell whether `text` has the form of an id with this prefix."""
    return ID_PATTERN.fullmatch(text) is not None and text.startswith(f"{prefix}_")


def new_sender_token(*, test: bool = False) -> str:
    """Return a fresh sender token, `rfk_live_…` or `rfk_test_…`."""
    return f"rfk_{'test' if test else 'live'}_{_random_chars()}"


def short_form(token: str) -> str:
    """Return the 30 characters that stand for a sender token in the calls of Pushover's clients."""
    return token.rpartition("_")[2][:SHORT_TOKEN_CHARS]


def new_receipt() -> str:
    """Return a fresh receipt of an emergency: 30 letters and digits, the first an r (172 random bits)."""
    return f"r{_random_chars()[:29]}"


def new_device_token() -> str:
    """Return a fresh device token, `rfd_live_…`."""
    return f"rfd_live_{_random_chars()}"


def new_setup_code() -> str:
    """Return a fresh setup code in its typed form, `XXXX-XXXX-XXXX-XXXX` (80 random bits)."""
    chars = "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_CHARS))
    return "-".join(chars[i : i + CODE_GROUP_CHARS] for i in range(0, CODE_CHARS, CODE_GROUP_CHARS))


def normalize_setup_code(typed: str) -> str | None:
    """Return the 16 significant characters of a typed code, or None where it cannot be one.

    Case, spaces and dashes do not matter; O is read as 0, I and L as 1.
    """
    chars = re.sub(r"[\s-]", "", typed).upper().translate(_CODE_LOOKALIKES)
    if len(chars) != CODE_CHARS or any(char not in CODE_ALPHABET for char in chars):
        return None
    return chars


def _random_chars() -> str:
    return "".join(secrets.choice(TOKEN_ALPHABET) for _ in range(TOKEN_RANDOM_CHARS))
