"""Following `$ref` in an OpenAPI document."""

from collections.abc import Iterator
from typing import Any


def resolve(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Return what the node refers to, or the node itself."""
    while "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def every_node(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in the document."""
    if isinstance(node, dict):
        yield node
        for child in node.values():
            yield from every_node(child)
    elif isinstance(node, list):
        for child in node:
            yield from every_node(child)
