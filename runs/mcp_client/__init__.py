"""MCP servers: tools of other programs that an administrator makes available to models, and the
client that calls them.
"""
