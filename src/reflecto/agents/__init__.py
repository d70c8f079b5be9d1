"""How AI agents ask: hooks of coding agents, and MCP."""
