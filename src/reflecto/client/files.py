"""Files that are sent as documents: read no further than the limit, and only as the text they are."""

from pathlib import Path

from reflecto.client.errors import InvalidFile
from reflecto.contract.limits import DOCUMENT_MAX_BYTES


def read_document(path: Path, filename: str | None = None) -> tuple[str, str]:
    """Return the file's name, or the one given, and its text. Raises: InvalidFile, OSError."""
    with path.open("rb") as file:
        content = file.read(DOCUMENT_MAX_BYTES + 1)
    return filename or path.name, text_of(content)


def text_of(content: str | bytes) -> str:
    """Return the text as it is, line endings included. Raises: InvalidFile."""
    if len(content) > DOCUMENT_MAX_BYTES:
        raise InvalidFile(
            f"a document may have {DOCUMENT_MAX_BYTES} bytes",
            code="payload_too_large",
            details={"max": DOCUMENT_MAX_BYTES},
        )
    if isinstance(content, str):
        return content
    try:
        return content.decode("utf-8-sig")  # without the byte order mark of Windows
    except UnicodeDecodeError:
        raise InvalidFile("a document must be text in UTF-8", code="invalid_content") from None
