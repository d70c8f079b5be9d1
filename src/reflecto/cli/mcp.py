"""`reflecto mcp`: the MCP server that an agent starts."""

from pathlib import Path

import click

from reflecto.cli.connection import connection_options, find_connection, warn_if_exposed


@click.command()
@connection_options
def mcp(url: str | None, token: str | None, config_file: Path | None) -> None:
    """Give an agent tools that ask and notify, over standard input and output (MCP).

    The agent's program starts this command and ends it; docs/agents.md tells how to set that up.
    """
    if token == "-":
        raise click.UsageError("standard input is the agent's; give the token elsewhere")
    connection = find_connection(url, token, config_file)
    warn_if_exposed(connection.url)

    import anyio

    from reflecto.agents.mcp_stdio import serve_stdio

    anyio.run(serve_stdio, connection.url, connection.token)
