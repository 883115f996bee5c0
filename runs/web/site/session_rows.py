"""The store of sessions: Django's rows, asked only for keys that a row can have."""

from django.contrib.sessions.backends.db import SessionStore as Rows


class SessionStore(Rows):
    """A cookie may contain a NUL, which PostgreSQL refuses in text. Such a key names no session on any database."""

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(None if "\0" in (session_key or "") else session_key)
