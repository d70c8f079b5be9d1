"""QR codes on a terminal."""

import io
from typing import TextIO


def print_qr(text: str, out: TextIO) -> None:
    """Print `text` as a QR code if `out` is a terminal that can show its blocks; else print nothing."""
    if not out.isatty():
        return
    import segno  # noqa: PLC0415  a server without a terminal starts sooner without

    drawing = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(drawing, compact=True)
    try:
        drawing.getvalue().encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        return
    out.write(drawing.getvalue() + "\n")
