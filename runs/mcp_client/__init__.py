"""MCP servers: tools of other programs that an administrator has named for models, and the client that calls them."""
