import json
import re

import pytest

from reflecto.api.openapi import document
from reflecto.contract.errors import CATALOGUE
from scripts import write_web_wire
from scripts.write_web_wire import FOLDER, outdated, render


def test_what_the_web_app_takes_from_the_server_is_up_to_date():
    assert outdated() == [], "run .venv/bin/python scripts/write_web_wire.py"


def test_a_changed_document_is_noticed(monkeypatch):
    changed = json.loads(document())
    changed["components"]["schemas"]["AnswerResponse"]["properties"]["choice_index"]["type"] = "string"
    monkeypatch.setattr(write_web_wire, "document", lambda: json.dumps(changed).encode())
    assert outdated() == [FOLDER / "types.ts", FOLDER / "checks.ts"]


def test_the_app_knows_every_code_of_the_catalogue_and_its_status():
    rows = re.findall(r"^  (\w+): (\d+),$", render()["error-codes.ts"], flags=re.MULTILINE)
    assert {code: int(status) for code, status in rows} == {spec.code: spec.status for spec in CATALOGUE.values()}


def test_a_field_of_a_form_that_was_never_there_is_refused_rather_than_guessed_at(monkeypatch):
    changed = json.loads(document())
    changed["components"]["schemas"]["AnswerResponse"]["properties"]["choice_index"] = {"oneOf": []}
    monkeypatch.setattr(write_web_wire, "document", lambda: json.dumps(changed).encode())
    with pytest.raises(ValueError, match="no type is known for"):
        render()


def test_a_reply_may_leave_out_what_the_document_does_not_require(monkeypatch):
    changed = json.loads(document())
    changed["components"]["schemas"]["AnswerResponse"]["required"].remove("answered_at")
    monkeypatch.setattr(write_web_wire, "document", lambda: json.dumps(changed).encode())
    files = render()
    assert "  answered_at?: number;\n" in files["types.ts"]
    assert "  answered_at: orAbsent(isNumber),\n" in files["checks.ts"]
