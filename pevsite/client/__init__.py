"""The commands that work against a server: a client of its REST API, which knows nothing of Django."""
