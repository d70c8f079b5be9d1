"""The reference for people and for language models: the OpenAPI document, laid out by templates."""

import json
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markdown_it import MarkdownIt
from markupsafe import Markup

from reflecto.api.operations import OPERATIONS, TAGS
from reflecto.api.operations.operation import JSON
from reflecto.api.schemas import Schema
from reflecto.contract.errors import CATALOGUE

Document = dict[str, Any]

UNKNOWN_URL: Final = "https://reflecto.example"
_markdown = MarkdownIt("commonmark", {"html": False})
_templates = Environment(
    loader=PackageLoader("reflecto.api"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def render_page(document: Document, public_url: str) -> str:
    """Return the page in HTML. `public_url` may be empty where the server does not know it."""
    return _templates.get_template("reference.html").render(
        info=document["info"],
        tags=[(tag, TAGS[tag], [op for op in OPERATIONS if op.tag == tag]) for tag in TAGS],
        drawn={op.id: document["paths"][op.path][op.method.lower()] for op in OPERATIONS},
        catalogue=CATALOGUE.values(),
        url=public_url or UNKNOWN_URL,
        view=View(document),
        markdown=_block,
        inline=_inline,
    )


def render_llms(public_url: str) -> str:
    """Return llms.txt. Source: llmstxt.org."""
    return _templates.get_template("llms.txt").render(url=public_url)


@cache
def style() -> str:
    """Return the page's style sheet."""
    return _templates.get_template("reference.css").render()


def _block(text: str) -> Markup:
    return Markup(_markdown.render(text))  # noqa: S704  raw HTML in it is escaped


def _inline(text: str) -> Markup:
    return Markup(_markdown.renderInline(text))  # noqa: S704  the same


class View:
    """Answers a template's questions about schemas."""

    def __init__(self, document: Document) -> None:
        self._components = document["components"]

    def resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        """Return what a reference points to."""
        while "$ref" in node:
            _, _, kind, name = node["$ref"].split("/")
            node = self._components[kind][name]
        return node

    def body_forms(self, drawn: dict[str, Any]) -> list[str]:
        """Return the media types of a request's body."""
        return list(drawn.get("requestBody", {"content": {}})["content"])

    def request_fields(self, drawn: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the fields of a request's body as rows."""
        content = drawn.get("requestBody", {"content": {}})["content"]
        return self.fields(content[JSON]["schema"]) if JSON in content else []

    def fields(self, schema: Schema) -> list[dict[str, Any]]:
        """Return an object's fields as rows, those of the objects in it behind them under a dotted name."""
        resolved = self.resolve(schema)
        required = resolved.get("required", [])
        rows = []
        for name, field in resolved.get("properties", {}).items():
            rows.append({"name": name, "schema": field, "required": name in required, "type": self.type_of(field)})
            rows += [{**row, "name": f"{name}.{row['name']}"} for row in self.fields(_object_in(field))]
        return rows

    def type_of(self, schema: Schema) -> str:
        """Return the type and its bounds in words."""
        if "enum" in schema:
            return "one of " + ", ".join("null" if value is None else str(value) for value in schema["enum"])
        if "const" in schema:
            return str(schema["const"])
        if "anyOf" in schema:
            return " or ".join(self.type_of(each) for each in schema["anyOf"])
        if "$ref" in schema:
            return "object"
        if "type" not in schema:
            return "anything"
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        words = " or ".join(kinds)
        if "items" in schema:
            words = words.replace("array", f"list of {self.type_of(schema['items'])}")
        return ", ".join([words, *_bounds_of(schema)])

    def success_example(self, response: dict[str, Any]) -> str:
        """Return an example of a reply as JSON; empty where it has no JSON body."""
        content = response.get("content", {})
        return self._pretty(content[JSON]["schema"]) if JSON in content else ""

    def error_codes(self, response: dict[str, Any]) -> list[str]:
        """Return the codes a reply may carry."""
        return list(self.resolve(response)["content"][JSON]["examples"])

    def _pretty(self, schema: Schema) -> str:
        return json.dumps(self.example_of(schema), indent=2, ensure_ascii=False)

    def example_of(self, schema: Schema) -> Any:
        """Return a value the schema allows."""
        schema = self.resolve(schema)
        if "examples" in schema:
            return schema["examples"][0]
        if "anyOf" in schema:
            return self.example_of(schema["anyOf"][0])
        if "properties" in schema:
            return {name: self.example_of(field) for name, field in schema["properties"].items()}
        if "items" in schema:
            return [self.example_of(schema["items"])]
        return schema.get("default", "…")


def _object_in(schema: Schema) -> Schema:
    """Return the object a field consists of, alone or in a list; an empty schema where there is none."""
    candidates = [schema, schema.get("items", {}), *schema.get("anyOf", [])]
    return next((each for each in candidates if "$ref" in each), {})


def _bounds_of(schema: Schema) -> list[str]:
    """Return the bounds in words, without those the description names in bytes."""
    bounds = []
    for low, high, unit in (
        ("minLength", "maxLength", "characters"),
        ("minimum", "maximum", ""),
        ("minItems", "maxItems", "of them"),
    ):
        least, most = schema.get(low), schema.get(high)
        if unit == "characters" and "bytes" in schema.get("description", ""):
            continue
        if least is not None and most is not None:
            bounds.append(f"{least} to {most} {unit}".strip())
        elif most is not None:
            bounds.append(f"at most {most} {unit}".strip())
        elif least:
            bounds.append(f"at least {least} {unit}".strip())
    return bounds
