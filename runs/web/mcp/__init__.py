"""The MCP server, through which people's programs submit runs and read their results. None of its
tools decides a gate.
"""
