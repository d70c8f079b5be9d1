"""A server that several tests use: none may depend on being the first to come, as the order is random."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parents[1]


def shared_fixtures(source: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the fixtures that live longer than a test."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and any(each.arg == "scope" for each in decorator.keywords):
                    yield node


def uses_first_code(source: str) -> list[str]:
    """Return the shared fixtures that redeem the code a server printed at its start: it works for one owner, once."""
    return [
        fixture.name
        for fixture in shared_fixtures(source)
        if any(isinstance(node, ast.Attribute) and node.attr == "ready" for node in ast.walk(fixture))
    ]


def test_no_shared_fixture_needs_the_code_that_only_the_first_phone_can_use():
    found = {str(path.relative_to(TESTS)): uses_first_code(path.read_text("utf-8")) for path in TESTS.rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {}


def test_such_a_fixture_is_found():
    fixture = '@pytest.fixture(scope="module")\ndef phone(server):\n    return enrol(server.ready["code"])\n'
    assert uses_first_code(fixture) == ["phone"]
    assert uses_first_code(fixture.replace('(scope="module")', "")) == []
