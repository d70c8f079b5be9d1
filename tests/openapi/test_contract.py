from pathlib import Path
from typing import Any

import msgspec
import pytest

from reflecto.contract.question_states import SIGNED_FIELDS
from tests.openapi.references import resolve

CONTRACT: dict[str, Any] = msgspec.yaml.decode(
    (Path(__file__).parents[1] / "vectors" / "interactions.openapi.yaml").read_bytes()
)
PROSE = {"description", "summary"}
PATH = "/v1/interactions"
OPTIONAL = {  # of our own, which no client of the contract has to know
    "CreateInteractionRequest": {"tether", *SIGNED_FIELDS},
    "CreateInteractionResponse": {"confirm_number"},
}
SCHEMAS = sorted(CONTRACT["components"]["schemas"])


def differences(promised: Any, served: Any, api: dict[str, Any], where: str = "") -> list[str]:
    """Return where `served` does not hold what is promised; it may hold more."""
    if isinstance(promised, dict):
        if not isinstance(served, dict):
            return [f"{where}: {served!r} instead of {promised!r}"]
        promised, served = resolve(CONTRACT, promised), resolve(api, served)
        return [
            difference
            for key, value in promised.items()
            if key not in PROSE
            for difference in differences(value, served.get(key), api, f"{where}/{key}")
        ]
    if where.endswith(("/required", "/enum")) and isinstance(served, list):
        promised, served = sorted(promised), sorted(served)
    return [] if promised == served else [f"{where}: {served!r} instead of {promised!r}"]


def test_the_served_operation_holds_the_whole_contract(api):
    promised, served = CONTRACT["paths"][PATH]["post"], api["paths"][PATH]["post"]
    assert differences(promised, served, api) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_holds_every_property_bound_and_default_of_the_contract(name: str, api):
    promised, served = CONTRACT["components"]["schemas"][name], api["components"]["schemas"][name]
    assert differences(promised, served, api) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_schema_of_the_contract_has_got_further_requirements_or_properties_unnamed_here(name: str, api):
    promised, served = CONTRACT["components"]["schemas"][name], api["components"]["schemas"][name]
    assert set(served["properties"]) == set(promised["properties"]) | OPTIONAL.get(name, set())
    assert sorted(served["required"]) == sorted(promised["required"])


def test_title_version_and_authentication_are_those_of_the_contract(api):
    for key in ("openapi", "info", "security"):
        assert differences(CONTRACT[key], api[key], api, key) == []
    promised, served = CONTRACT["components"]["securitySchemes"], api["components"]["securitySchemes"]
    assert differences(promised, served, api) == []


def test_the_server_is_the_one_the_document_came_from(api):
    assert [server["url"] for server in api["servers"]] == ["/"]


def test_every_status_of_the_contract_has_its_error_shape(api):
    responses = api["paths"][PATH]["post"]["responses"]
    shapes = {
        status: resolve(api, response)["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for status, response in responses.items()
    }
    expected = dict.fromkeys(("400", "403", "409", "413", "415", "426", "429", "500", "503"), "Error")
    expected |= {"200": "CreateInteractionResponse", "201": "CreateInteractionResponse", "401": "AuthError"}
    assert shapes == expected


def test_a_document_that_broke_the_contract_would_be_noticed(api):
    schema = CONTRACT["components"]["schemas"]["CreateInteractionRequest"]
    served = api["components"]["schemas"]["CreateInteractionRequest"]
    looser = {**served, "properties": {**served["properties"], "question": {"type": "string", "maxLength": 1001}}}
    assert differences(schema, looser, api) == [
        "/properties/question/minLength: None instead of 1",
        "/properties/question/maxLength: 1001 instead of 1000",
    ]
    assert differences(schema, {**served, "required": []}, api) == ["/required: [] instead of ['question']"]
