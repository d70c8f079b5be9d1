"""A file that an agent would change, as it is now: read to show what changes in it, and never waited for."""

import os
import stat

from reflecto.agents.edits import FILE_MAX_BYTES


def read_text(path: str) -> str:
    """Return the text of a plain file of at most FILE_MAX_BYTES, with line feeds for line ends.

    Raises: FileNotFoundError; OSError for what is no such file, or not UTF-8.
    """
    # Not to wait for what an agent may have named instead of a file, such as a pipe.
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    with open(number, "rb") as file:  # noqa: PTH123 -- of a number
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_MAX_BYTES:
            raise OSError(f"{path} is no plain file, or too long")
        raw = file.read(FILE_MAX_BYTES + 1)
    if len(raw) > FILE_MAX_BYTES:
        raise OSError(f"{path} is too long")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise OSError(f"{path} is not UTF-8") from error
    return text.replace("\r\n", "\n")
