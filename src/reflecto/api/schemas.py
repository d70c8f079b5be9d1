"""JSON Schemas of the wire models, drawn by msgspec from the types that validate and encode."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

import msgspec

from reflecto.contract.notes import Note
from reflecto.contract.wire import Request

Schema = dict[str, Any]

REF_TEMPLATE: Final = "#/components/schemas/{name}"
_TYPE_NAMES: Final[Mapping[type, str]] = {str: "string", int: "integer", bool: "boolean", type(None): "null"}


def schemas_of(models: Sequence[type[msgspec.Struct]]) -> tuple[list[Schema], dict[str, Schema]]:
    """Return the schema of each model (a reference where it is a Struct) and the components they refer to."""
    schemas, components = msgspec.json.schema_components(models, ref_template=REF_TEMPLATE)
    requests = {model.__name__ for model in models if issubclass(model, Request)}
    for model in models_within(models):
        schema, fields = components[model.__name__], msgspec.structs.fields(model)
        tag = _tag_of(model)
        _refine_model(schema, {field.encode_name: _noted(field.type) for field in fields} | tag)
        if model.__name__ not in requests:
            # Replies carry every field that is not unset, and what is inside requests has no optional ones.
            schema["required"] = [*tag, *(field.encode_name for field in fields if field.default is not msgspec.UNSET)]
    return [_refine(dict(schema)) for schema in schemas], components


def models_within(models: Iterable[type[msgspec.Struct]]) -> list[type[msgspec.Struct]]:
    """Return the models, and those that their fields consist of."""
    found: dict[type[msgspec.Struct], None] = {}

    def look(kind: Any) -> None:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            if kind not in found:
                found[kind] = None
                for field in msgspec.structs.fields(kind):
                    look(field.type)
        else:
            for part in get_args(kind):
                look(part)

    for model in models:
        look(model)
    return list(found)


def form_schema(model_schema: Schema) -> Schema:
    """Return the schema of a model sent as a form: everything is text, and an empty field but `message` is none.

    Nothing is required: a body that names no field is the message itself.
    """
    properties = {name: _as_form_field(name, field) for name, field in model_schema["properties"].items()}
    for name in properties.keys() - {"message"}:
        properties[name].pop("minLength", None)
        if "pattern" in properties[name]:
            properties[name]["pattern"] = f"^$|{properties[name]['pattern']}"
    return {"type": "object", "properties": properties}


def _tag_of(model: type[msgspec.Struct]) -> dict[str, Schema]:
    """Return the field by which a model is told from others in its place, and what is to be said of it; if any."""
    config = model.__struct_config__
    if config.tag_field is None:
        return {}
    return {
        config.tag_field: {"description": f"`{config.tag}` tells it from the other kinds", "examples": [config.tag]}
    }


def _noted(kind: Any) -> Schema:
    """Return what the notes of a field's type say, also those of the members of a union."""
    return {key: value for note in _notes_of(kind) for key, value in note.schema.items()}


def _notes_of(kind: Any) -> Iterator[Note]:
    if get_origin(kind) is Annotated:
        yield from _notes_of(kind.__origin__)
        yield from (each for each in kind.__metadata__ if isinstance(each, Note))
    elif get_origin(kind) in {Union, UnionType}:
        for member in get_args(kind):
            yield from _notes_of(member)


def _refine_model(schema: Schema, notes: Mapping[str, Schema]) -> None:
    properties: dict[str, Schema] = schema["properties"]
    for name, field in properties.items():
        note = notes.get(name, {})
        described = {"description": note["description"]} if note else {}  # first, where a reader looks
        properties[name] = {**described, **_refine(field), **note}
    schema.pop("title", None)


def _refine(schema: Schema) -> Schema:
    """Return an equal schema that says its types by name, and alternatives of plain types as one."""
    if "items" in schema:
        schema["items"] = _refine(schema["items"])
    if "additionalProperties" in schema and isinstance(schema["additionalProperties"], dict):
        schema["additionalProperties"] = _refine(schema["additionalProperties"])
    if "enum" in schema:
        types = {_TYPE_NAMES[type(value)] for value in schema["enum"]}
        return {"type": types.pop() if len(types) == 1 else sorted(types), **schema}
    if "anyOf" in schema:
        return _refine_alternatives(schema)
    return {key: value for key, value in schema.items() if (key, value) != ("default", None)}


def _refine_alternatives(schema: Schema) -> Schema:
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "default"}}
    if schema.get("default") is not None:
        rest["default"] = schema["default"]
    alternatives = [_refine(dict(each)) for each in schema["anyOf"]]
    if any("$ref" in each for each in alternatives):
        return {"anyOf": alternatives, **rest}
    types = [each.pop("type") for each in alternatives]
    if "number" in types:  # an integer is a number
        types = [name for name in types if name != "integer"]
    merged: Schema = {}
    for each in alternatives:
        merged |= each
    return {"type": types if len(types) > 1 else types[0], **merged, **rest}


def _as_form_field(name: str, schema: Schema) -> Schema:
    """Return a field's schema in a form: lists and objects are text, and a text cannot be null."""
    kinds = schema.get("type", ["string"])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "array" in kinds:
        how = "; separated by commas" if name == "tags" else "; as JSON"
        return {"type": "string", "description": schema["description"] + how}
    if kinds == ["boolean"]:
        return {
            **schema,
            "type": "string",
            "enum": ["true", "false", "1", "0"],
            "default": "false",
            "examples": ["true"],
        }
    if "enum" in schema:
        return {**schema, "type": "string", "enum": [str(value) for value in schema["enum"]]}
    return {**schema, "type": "string"} if "string" in kinds else dict(schema)
