"""Where sessions are kept: Django's rows, asked only for keys that a row can have."""

from django.contrib.sessions.backends.db import SessionStore as Rows


class SessionStore(Rows):
    """A cookie may spell a NUL, which PostgreSQL does not take for text: it names no session on any database."""

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(None if "\0" in (session_key or "") else session_key)
