"""What an agent is told about the tools: `tools.json` is read by people before it is changed.

To write it anew: `python -m tests.mcp.test_tool_list > tests/mcp/tools.json`.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from reflecto.agents.mcp_server import advertised_tools
from tests.mcp.conftest import Connect

EXPECTED: Final = json.loads((Path(__file__).parent / "tools.json").read_text("utf-8"))
READ_ONLY, ADDS, REMOVES = (True, False, True), (False, False, False), (False, True, True)
HINTS: Final = {  # readOnly, destructive, idempotent
    "ask_user": ADDS,
    "approve_tool_use": ADDS,
    "wait_for_answer": READ_ONLY,
    "cancel_question": REMOVES,
    "send_notification": ADDS,
    "remind_me": ADDS,
    "cancel_reminder": REMOVES,
    "send_file": ADDS,
    "ring_phone": ADDS,
    "list_devices": READ_ONLY,
}


def as_json(tools: list[Any]) -> list[dict[str, Any]]:
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


async def test_the_tools_are_the_expected_ones_to_the_letter(connect: Connect):
    async with connect() as client:
        listed = await client.list_tools()
    assert as_json(listed.tools) == EXPECTED
    assert listed.next_cursor is None


async def test_an_agent_is_told_that_silence_is_no_consent(connect: Connect):
    async with connect() as client:
        instructions = client.instructions
    assert instructions is not None
    assert "never consent" in " ".join(instructions.split())
    assert "wait_for_answer" in instructions


def test_every_tool_has_title_annotations_and_both_schemas():
    assert [tool["name"] for tool in EXPECTED] == list(HINTS)
    for tool in EXPECTED:
        hints = tool["annotations"]
        assert (hints["readOnlyHint"], hints["destructiveHint"], hints["idempotentHint"]) == HINTS[tool["name"]]
        assert hints["openWorldHint"] is (tool["name"] != "list_devices")
        assert tool["title"] == hints["title"]
        # Claude Code takes its permission tool's result from the text, and no structured one beside it.
        assert ("outputSchema" in tool) == (tool["name"] != "approve_tool_use")
        for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
            assert schema["type"] == "object"


@pytest.mark.parametrize("tool", EXPECTED, ids=lambda tool: tool["name"])
def test_every_argument_is_described(tool: dict[str, Any]):
    for name, argument in tool["inputSchema"]["properties"].items():
        assert argument.get("description"), name
    is_open = tool["name"] == "approve_tool_use"  # called by a program, whose next version may say more
    assert tool["inputSchema"].get("additionalProperties", True) is is_open


if __name__ == "__main__":
    sys.stdout.write(json.dumps(as_json(advertised_tools()), indent=2, ensure_ascii=False) + "\n")
