import re
from collections import Counter
from itertools import chain

import msgspec
import pytest
import schemathesis
from jsonschema_rs import Draft202012Validator
from starlette.routing import Route

from reflecto.api.http import Endpoint
from reflecto.api.openapi import document_yaml
from reflecto.api.operations import OPERATIONS, TAGS
from reflecto.api.operations.operation import AnyOperation
from reflecto.api.operations.pushover import PushoverError
from reflecto.api.reference_page import View
from reflecto.api.webapp import webapp_routes
from reflecto.contract.errors import CATALOGUE
from tests.openapi.references import every_node, resolve
from tests.running import RunningServer

IDS = [operation.id for operation in OPERATIONS]


async def test_every_route_is_documented_and_every_documented_call_has_a_route(server: RunningServer):
    app_files = {route.path for route in webapp_routes()}  # the phone's app is no API
    others = {"/mcp", "/hooks/claude-code"}  # spoken by programs that bring their own contract
    served = {
        (method, route.path)
        for route in server.app_routes()
        if isinstance(route, Route) and isinstance(route.endpoint, Endpoint) and route.path not in app_files | others
        for method in route.endpoint.methods - {"HEAD"}
    }
    documented = {(operation.method, operation.route_path) for operation in OPERATIONS}
    assert served - documented == set(), "undocumented"
    assert documented - served == set(), "documented, but there is no such call"


def test_operations_have_ids_of_their_own_and_known_tags():
    assert [name for name, count in Counter(IDS).items() if count > 1] == []
    assert {operation.tag for operation in OPERATIONS} == set(TAGS)


def test_it_is_valid_openapi(api):
    schemathesis.openapi.from_dict(api).validate()


def test_every_reference_leads_somewhere(api):
    for node in every_node(api):
        if isinstance(node.get("$ref"), str):
            assert resolve(api, node)


def test_no_component_is_without_use(api):
    used = {node["$ref"] for node in every_node(api) if isinstance(node.get("$ref"), str)}
    defined = {
        f"#/components/{kind}/{name}"
        for kind, components in api["components"].items()
        if kind != "securitySchemes"
        for name in components
    }
    assert defined - used == set()


def test_json_and_yaml_say_the_same(api):
    assert msgspec.yaml.decode(document_yaml()) == api
    assert re.search(rb"[&*]id\d", document_yaml()) is None, "YAML anchors: not every reader follows them"


@pytest.mark.parametrize("operation", OPERATIONS, ids=IDS)
def test_an_operation_names_every_error_of_its_fields_body_and_token(operation: AnyOperation, api):
    responses = api["paths"][operation.path][operation.method.lower()]["responses"]
    named = {
        code
        for status, response in responses.items()
        if status >= "400"
        for code in resolve(api, response)["content"]["application/json"]["examples"]
    }
    assert named == {spec.code for spec in operation.every_error()}
    for status, response in responses.items():
        if status >= "400":
            codes = resolve(api, response)["content"]["application/json"]["examples"]
            assert {CATALOGUE[code].status for code in codes} == {int(status)}


def test_every_code_of_the_catalogue_is_named_by_some_operation():
    named = {spec.code for operation in OPERATIONS for spec in operation.every_error()}
    assert CATALOGUE.keys() - named == {"method_not_allowed"}  # belongs to no operation


def test_every_code_has_a_remedy():
    assert [code for code, spec in CATALOGUE.items() if not spec.remedy] == []


def test_every_field_has_its_meaning_and_an_example(api):
    for name, schema in api["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            assert described.get("description") or name == "Error", f"{name}.{field}"


def test_values_named_in_the_document_are_those_the_models_take(api):
    bodies = [operation.body.model for operation in OPERATIONS if operation.body.model is not None]
    replies = [model for operation in OPERATIONS for success in operation.successes for model in success.models]
    _, drawn = msgspec.json.schema_components([*bodies, *replies, PushoverError])
    for name, schema in drawn.items():
        for field, taken in schema.get("properties", {}).items():
            named = api["components"]["schemas"][name]["properties"][field].get("enum", [])
            if "enum" in taken:  # a number is Gotify's priority, made a name before the model sees it
                names = [value for value in named if type(value) is type(taken["enum"][0])]
                assert sorted(names) == sorted(taken["enum"]), f"{name}.{field}"


def test_examples_keep_to_their_own_schemas(api):
    view = View(api)
    for name, schema in api["components"]["schemas"].items():
        example = view.example_of(schema)
        if not any("…" in str(value) for value in _leaves(example)):  # secrets are abridged
            whole = {"$ref": f"#/components/schemas/{name}", "components": api["components"]}
            Draft202012Validator(whole).validate(example)


def _leaves(value):
    if isinstance(value, dict):
        return chain.from_iterable(map(_leaves, value.values()))
    if isinstance(value, list):
        return chain.from_iterable(map(_leaves, value))
    return [value]
