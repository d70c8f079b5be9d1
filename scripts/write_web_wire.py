"""Writes what the web app takes from the server's own description: `.venv/bin/python scripts/write_web_wire.py`.

From the served OpenAPI document: the types of what devices send and get, and a check for each reply. From the catalogue
of errors: its codes. `--check` writes nothing and fails where a file is not what would be written; the lint runs that.
"""
# ruff: noqa: INP001  a script, no package

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from reflecto.api.openapi import document
from reflecto.contract.errors import CATALOGUE

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "web" / "packages" / "core" / "src" / "wire"
NOTICE: Final = "/** {} Made by scripts/write_web_wire.py from {}. */\n"

Schema = dict[str, Any]

KINDS: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
CHECKS: Final = {"string": "isString", "integer": "isNumber", "number": "isNumber", "boolean": "isBoolean"}
HELPERS: Final = ("isBoolean", "isNumber", "isNumberOrString", "isString", "listOf", "objectOf", "orAbsent", "orNull")
WIDTH_MAX: Final = 120  # as in biome.json


def render() -> dict[str, str]:
    """Return the content of each file, by its name."""
    described = json.loads(document())
    schemas: dict[str, Schema] = described["components"]["schemas"]
    asked, told = _roots(described)
    requests, replies = _reached(asked, schemas), _reached(told, schemas)
    return {
        "types.ts": _types(schemas, requests, replies),
        "checks.ts": _checks(schemas, replies),
        "error-codes.ts": _error_codes(),
    }


def _roots(described: Schema) -> tuple[list[Schema], list[Schema]]:
    """Return the schemas of what devices send, and of what they are told when it went well."""
    asked: list[Schema] = []
    told: list[Schema] = []
    for operation in (each for path in described["paths"].values() for each in path.values()):
        is_for_devices = {"DeviceAuth": []} in operation.get("security", []) or "Devices" in operation["tags"]
        if not is_for_devices:
            continue
        asked += _bodies(operation.get("requestBody", {}))
        told += [
            schema
            for status, response in operation["responses"].items()
            if status.startswith("2")
            for schema in _bodies(response)
        ]
    return asked, told


def _bodies(described: Schema) -> list[Schema]:
    body = described.get("content", {}).get("application/json", {}).get("schema")
    return [body] if body else []


def _reached(roots: list[Schema], schemas: Mapping[str, Schema]) -> list[str]:
    """Return the names of the schemas that `roots` lead to, in the order of the document."""
    found: set[str] = set()
    waiting = [name for root in roots for name in _references(root)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(schemas[name])
    return [name for name in schemas if name in found]


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from _references(each)
    elif isinstance(schema, dict):
        if "$ref" in schema:
            yield _name_of(schema)
        for each in schema.values():
            yield from _references(each)


def _types(schemas: Mapping[str, Schema], requests: list[str], replies: list[str]) -> str:
    notice = NOTICE.format("What devices send to the server, and what it answers.", "the served OpenAPI document")
    opener = (
        "\n/** One of the values this version knows. In a reply: a newer server may have others. */\n"
        "type Open<Known extends string> = Known | (string & {});\n"
    )
    names = [name for name in schemas if name in {*requests, *replies}]
    return notice + opener + "".join(_interface(name, schemas[name], is_open=name in replies) for name in names)


def _interface(name: str, schema: Schema, *, is_open: bool) -> str:
    fields = [
        f"  {_key(key)}{'' if key in schema['required'] else '?'}: {_type(field, is_open=is_open)};\n"
        for key, field in schema["properties"].items()
    ]
    about = schema["description"].split("\n")[0]
    return f"\n/** {about} */\nexport interface {name} {{\n{''.join(fields)}}}\n"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _type(schema: Schema, *, is_open: bool) -> str:
    """Return the TypeScript type of a field. Raises ValueError for a schema of a form that no field has had so far."""
    match schema:
        case {"$ref": _}:
            return _name_of(schema)
        case {"anyOf": [one, {"type": "null"}]}:
            return f"{_type(one, is_open=is_open)} | null"
        case {"enum": values}:
            known = " | ".join(json.dumps(value) for value in values if value is not None)
            return (f"Open<{known}>" if is_open else known) + (" | null" if None in values else "")
        case {"type": "array", "items": items}:
            item = _type(items, is_open=is_open)
            return f"readonly ({item})[]" if " " in item and not item.endswith(">") else f"readonly {item}[]"
        case {"type": str(kind)} if kind in KINDS:
            return KINDS[kind]
        case {"type": [*kinds]} if all(kind in KINDS for kind in kinds):
            return " | ".join(KINDS[kind] for kind in kinds)
    raise ValueError(f"no type is known for {schema}")


def _checks(schemas: Mapping[str, Schema], replies: list[str]) -> str:
    notice = NOTICE.format("Whether JSON is the reply it should be.", "the served OpenAPI document")
    # What others name has to be there before them.
    ordered: list[str] = []
    for name in replies:
        ordered += [each for each in [*reversed(_reached([schemas[name]], schemas)), name] if each not in ordered]
    checks = "".join(_check_of(name, schemas[name]) for name in ordered)
    helpers = ", ".join(name for name in HELPERS if re.search(rf"\b{name}\b", checks))
    types = "".join(f"  {name},\n" for name in sorted(ordered))
    imports = f'import {{ {helpers} }} from "../check.ts";\nimport type {{\n{types}}} from "./types.ts";\n'
    return f"{notice}\n{imports}{checks}"


def _check_of(name: str, schema: Schema) -> str:
    fields = [
        (_key(key), _check(field) if key in schema["required"] else f"orAbsent({_check(field)})")
        for key, field in schema["properties"].items()
    ]
    head = f"\nexport const is{name} = objectOf<{name}>("
    in_one_line = f"{head}{{ {', '.join(f'{key}: {check}' for key, check in fields)} }});\n"
    if len(in_one_line) - 2 <= WIDTH_MAX:
        return in_one_line
    return head + "{\n" + "".join(f"  {key}: {check},\n" for key, check in fields) + "});\n"


def _check(schema: Schema) -> str:
    """Return the check of a field: of what kind it is, not which value it has."""
    match schema:
        case {"$ref": _}:
            return f"is{_name_of(schema)}"
        case {"anyOf": [one, {"type": "null"}]}:
            return f"orNull({_check(one)})"
        case {"type": "array", "items": items}:
            return f"listOf({_check(items)})"
        case {"type": str(kind)} if kind in CHECKS:
            return CHECKS[kind]
        case {"type": [str(kind), "null"]} if kind in CHECKS:
            return f"orNull({CHECKS[kind]})"
        case {"type": ["integer", "string", "null"]}:
            return "orNull(isNumberOrString)"
    raise ValueError(f"no check is known for {schema}")


def _name_of(reference: Schema) -> str:
    return str(reference["$ref"].rpartition("/")[2])


def _error_codes() -> str:
    notice = NOTICE.format("Each code of an error, with the one status it comes with.", "the catalogue of errors")
    rows = "".join(f"  {spec.code}: {spec.status},\n" for spec in CATALOGUE.values())
    return f"{notice}\nexport const ERROR_STATUSES: Readonly<Record<string, number>> = {{\n{rows}}};\n"


def outdated() -> list[Path]:
    """Return the files that are not what `render` makes."""
    files = {FOLDER / name: content for name, content in render().items()}
    return [path for path, content in files.items() if not path.is_file() or path.read_text("utf-8") != content]


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        if stale := outdated():
            names = ", ".join(path.relative_to(ROOT).as_posix() for path in stale)
            sys.exit(f"{names}: run .venv/bin/python scripts/write_web_wire.py")
    else:
        FOLDER.mkdir(exist_ok=True)
        for name, content in render().items():
            (FOLDER / name).write_text(content, "utf-8")
