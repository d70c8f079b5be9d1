"""Whatever bytes come in, out comes a model or an `ApiError` of the catalogue, and nothing else."""

import json
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflecto.contract.answering import AnswerRequest
from reflecto.contract.api_error import ApiError
from reflecto.contract.devices import EnrollRequest, UpdateDeviceRequest
from reflecto.contract.errors import INVALID_JSON
from reflecto.contract.interactions import CreateInteractionRequest, SimulateRequest
from reflecto.contract.messages import DocumentRequest, ReminderRequest, RingRequest, SendRequest
from reflecto.contract.sync import AckRequest
from reflecto.contract.tokens import CreateTokenRequest
from reflecto.contract.visibility import seen_of
from reflecto.contract.wire import Request, decode_request
from tests.builders import enrolment_body

VALID: Final[dict[type[Request], dict[str, Any]]] = {
    CreateInteractionRequest: {
        "question": "Deploy? 🚀",
        "choices": ["Yes", "No"],
        "expires_in": 600,
        "idempotency_key": "k",
    },
    AnswerRequest: {"choice_index": 1, "answered_at": 1, "signature": "x"},
    SimulateRequest: {"choice": "Approve"},
    EnrollRequest: enrolment_body("0000-0000-0000-0000", app_build=7),
    UpdateDeviceRequest: {"label": "Fold", "app_build": 7},
    AckRequest: {"seq": 1},
    CreateTokenRequest: {"label": "CI", "priority_cap": "high", "scopes": ["ask"], "test": True},
    SendRequest: {
        "message": "x",
        "tags": ["a"],
        "actions": [{"label": "a", "url": "https://a.example"}],
        "ttl": 1.5,
    },
    DocumentRequest: {"filename": "a.txt", "content": "x"},
    RingRequest: {"duration": 5},
    ReminderRequest: {"message": "Tea", "at": "2025-08-10T10:00:00Z"},
}

models = st.sampled_from(list(VALID))
any_model = pytest.mark.parametrize("model", list(VALID), ids=[model.__name__ for model in VALID])

texts = st.text(st.characters(), max_size=20)  # lone surrogates included
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**40), 10**40)
    | st.floats()
    | texts
    | st.sampled_from(["", " ", "high", "phone", "x" * 1001])
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=3))


@st.composite
def jsonish_bodies(draw: st.DrawFn, model: type[Request]) -> bytes:
    """Return a body like a valid one, with fields replaced, dropped and added, in some encoding."""
    fields = dict(VALID[model])
    for name in draw(st.lists(st.sampled_from(sorted(fields)), unique=True)):
        if draw(st.booleans()):
            fields[name] = draw(values)
        else:
            del fields[name]
    fields |= draw(st.dictionaries(texts, values, max_size=2))
    text = json.dumps(fields, ensure_ascii=draw(st.booleans()))
    return text.encode(draw(st.sampled_from(["utf-8"] * 4 + ["utf-16", "latin-1"])), "replace")


def decode_or_refuse(model: type[Request], body: bytes) -> Request | None:
    """Return the model; None where it was refused with a code it may be refused with."""
    try:
        request = decode_request(model, body)
    except ApiError as error:
        may_be = {INVALID_JSON, *model.field_errors.values()}
        if error.spec not in may_be:
            raise AssertionError(f"{model.__name__} refused with {error.spec.code}") from error
        return None
    return request


@given(models, st.binary(max_size=200))
def test_raw_bytes(model: type[Request], body: bytes):
    assert decode_or_refuse(model, body) is None or isinstance(decode_or_refuse(model, body), model)


@given(st.data())
def test_bodies_that_look_like_json(data: st.DataObject):
    model = data.draw(models)
    request = decode_or_refuse(model, data.draw(jsonish_bodies(model)))
    assert request is None or isinstance(request, model)


@given(st.data())
def test_valid_bodies_with_damaged_bytes(data: st.DataObject):
    model = data.draw(models)
    body = bytearray(json.dumps(VALID[model], ensure_ascii=False).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(body) - 1))
        match data.draw(st.sampled_from(["change", "drop", "double"])):
            case "change":
                body[position] = data.draw(st.integers(0, 255))
            case "drop":
                del body[position]
            case _:
                body[position:position] = body[position : position + 1]
    request = decode_or_refuse(model, bytes(body))
    assert request is None or isinstance(request, model)


@any_model
def test_a_valid_body_is_taken_field_by_field(model: type[Request]):
    request = decode_request(model, json.dumps(VALID[model]).encode())
    taken = json.loads(msgspec.json.encode(request))
    assert {name: taken[name] for name in VALID[model]} == VALID[model]


@any_model
def test_null_is_no_way_to_leave_a_field_out_unless_its_type_has_none(model: type[Request]):
    nullable = {(EnrollRequest, "app_build"), (CreateTokenRequest, "priority_cap"), (SendRequest, "ttl")}
    for name in VALID[model]:
        body = json.dumps(VALID[model] | {name: None}).encode()
        if (model, name) in nullable:
            assert decode_or_refuse(model, body) is not None
            continue
        with pytest.raises(ApiError) as refused:
            decode_request(model, body)
        assert refused.value.spec is model.field_errors[name]


@any_model
def test_a_required_field_that_is_missing_is_named(model: type[Request]):
    for field in msgspec.structs.fields(model):
        if not field.required:
            continue
        body = {name: value for name, value in VALID[model].items() if name != field.encode_name}
        with pytest.raises(ApiError) as refused:
            decode_request(model, json.dumps(body).encode())
        assert refused.value.spec is model.field_errors[field.encode_name]


@any_model
def test_every_field_has_an_error_of_its_own(model: type[Request]):
    assert set(model.field_errors) == {field.encode_name for field in msgspec.structs.fields(model)}


@given(
    question=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=1000).filter(seen_of),
    expires_in=st.integers(60, 86_400),
    key=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=128),
)
def test_every_question_within_bounds_is_taken_to_the_letter(question: str, expires_in: int, key: str):
    body = {"question": question, "expires_in": float(expires_in), "idempotency_key": key}
    request = decode_request(CreateInteractionRequest, json.dumps(body).encode())
    assert (request.question, request.expires_in, request.idempotency_key) == (question, expires_in, key)
