"""Programs that call the REST API in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.test import Client

from runs.enums import TokenScope
from runs.models import User
from runs.people import access_tokens

EVERYTHING = (TokenScope.RUNS_READ, TokenScope.RUNS_WRITE, TokenScope.GATES_READ)


@dataclass(frozen=True)
class Program:
    """A program with a token of a person; without one, it shows none."""

    token: str = ""

    def call(self, method: str, path: str, sent: Any = None, **headers: str) -> Any:
        """The answer. `sent` goes as JSON, or as a form with files if it has the key `files`."""
        known = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        body: dict[str, Any] = {}
        if isinstance(sent, dict) and "files" in sent:
            body = {"data": sent}
        elif sent is not None:
            body = {"data": json.dumps(sent), "content_type": "application/json"}
        return getattr(Client(), method)(f"/api/v1{path}", headers=known | headers, **body)

    def get(self, path: str, **headers: str) -> Any:
        return self.call("get", path, **headers)

    def post(self, path: str, sent: Any = None, **headers: str) -> Any:
        return self.call("post", path, {} if sent is None else sent, **headers)


def program_of(person: User, *scopes: TokenScope, name: str = "ci") -> Program:
    return Program(access_tokens.issue(person, name, 7, scopes or EVERYTHING))
