"""Pushover's html as text for a terminal: tags are taken away, entities decoded, links listed. Pure."""

from html.parser import HTMLParser
from typing import Final, NamedTuple

_BREAKS: Final = frozenset({"br", "p", "div", "li", "tr"})
_SILENT: Final = frozenset({"script", "style"})  # what is in them is not for reading


class Markup(NamedTuple):
    """The text to read, and the links in it: each its own text and its address."""

    text: str
    links: tuple[tuple[str, str], ...] = ()


def read_html(source: str) -> Markup:
    """Return the text and the links of HTML as Pushover takes it; broken HTML is read as far as it makes sense."""
    reader = _Reader()
    reader.feed(source)
    reader.close()
    return Markup("".join(reader.text).strip("\n"), tuple(reader.links))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.links: list[tuple[str, str]] = []
        self._silent = 0
        self._link: tuple[str, int] | None = None  # an address, and where its text begins

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BREAKS:
            self.text.append("\n")
        elif tag in _SILENT:
            self._silent += 1
        elif tag == "a" and (address := dict(attrs).get("href")):
            self._end_link()
            self._link = (address, len(self.text))

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT and self._silent:
            self._silent -= 1
        elif tag == "a":
            self._end_link()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.text.append(data)

    def close(self) -> None:
        super().close()
        self._end_link()

    def _end_link(self) -> None:
        if self._link is not None:
            address, begins = self._link
            self.links.append(("".join(self.text[begins:]), address))
            self._link = None
