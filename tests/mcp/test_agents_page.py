"""What docs/agents.md shows is so: the transcript, the set-ups, the tools."""

import json
import re
import tomllib
from pathlib import Path

from reflecto.agents.kept_questions import KEEP_SECONDS
from reflecto.agents.mcp_tools import TOOLS
from reflecto.agents.tool_wait import HOLD_SECONDS, PROGRESS_SECONDS
from reflecto.cli.main import COMMANDS
from tests.mcp.transcript import make_transcript

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


async def test_the_transcript_is_what_happens(tmp_path: Path):
    assert blocks("text") == [await make_transcript(tmp_path)]


def test_the_configurations_can_be_read_and_start_a_command_that_is_there():
    started = [tomllib.loads(block)["mcp_servers"]["reflecto"] for block in blocks("toml")]
    started += [json.loads(block)["mcpServers"]["reflecto"] for block in blocks("json")]
    assert len(started) == 4
    for server in started:
        if "command" in server:
            assert (server["command"], server["args"]) == ("reflecto", ["mcp"])
            assert server["args"][0] in COMMANDS
        else:
            assert server["url"] == "https://reflecto.example/mcp"


def test_the_page_lists_each_tool_with_its_arguments():
    rows: dict[str, str] = {}
    for row in PAGE.splitlines():
        if row.startswith("| `") and row.count("|") == 3:
            rows.update(dict.fromkeys(re.findall(r"`(\w+)`", row.split("|")[1]), row))
    for tool in TOOLS:
        for argument in tool.takes.__struct_encode_fields__:
            assert f"`{argument}`" in rows[tool.name], (tool.name, argument)


def test_the_times_on_the_page_are_those_of_the_code():
    assert f"at most {HOLD_SECONDS:.0f} seconds" in PAGE
    assert f"every {PROGRESS_SECONDS:.0f} seconds" in PAGE
    assert f"stays for {KEEP_SECONDS:.0f} seconds" in PAGE
