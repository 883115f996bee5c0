"""The REST API: what programs of people do over HTTP, by the same functions as pages and the MCP server."""
