"""Which labels a person could take for another, by the confusable characters of Unicode. Source: UTS 39, section 4."""

from collections.abc import Collection, Mapping
from functools import cache
from unicodedata import normalize

from reflecto.contract.visibility import seen_of


@cache
def prototypes() -> Mapping[int, str]:
    """Return what stands for each confusable character, by code point. It takes a while the first time."""
    from homoglyph.data import load_prototypes  # noqa: PLC0415  a server starts sooner without

    return load_prototypes()


def skeleton_of(text: str) -> str:
    """Return what is left of a text for an eye: texts of equal skeletons look the same. It is not for display."""
    return normalize("NFD", normalize("NFD", seen_of(text)).translate(prototypes()))


def are_apart(labels: Collection[str]) -> bool:
    """Tell whether a person can tell all of them apart."""
    return len({skeleton_of(label) for label in labels}) == len(labels)


def is_taken(label: str, others: Collection[str]) -> bool:
    """Tell whether a person could take `label` for one of the `others`."""
    return bool(others) and skeleton_of(label) in {skeleton_of(each) for each in others}
