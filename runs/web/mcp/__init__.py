"""The MCP server: programs of people submit runs and read what becomes of them. None of its tools decides a gate."""
