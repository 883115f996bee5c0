"""What a line of the audit trail says about its action, besides who, when, from where and about what."""

from typing import Annotated

from pydantic import StringConstraints

from runs.contracts.base import Contract

MAX_TEXT = 500
"""Characters of a field."""
_Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]


class AuditDetails(Contract):
    """No field holds words of people, contents of files or secrets: a line is never deleted, and they must be.

    `words` is the SHA-256 of the words of a person. They are in the run while it exists.
    """

    # A decision at a gate, or about a verdict.
    gate: int | None = None
    gate_kind: _Text = ""
    decision: _Text = ""
    how: _Text = ""
    step: _Text = ""
    words: _Text = ""
    # A version of a plan, the attempt at a step.
    version: int | None = None
    attempt: int | None = None
    # What an approval of a plan was bound to: a digest for each part.
    parts: dict[_Text, _Text] = {}
    # The id of the person that the action is about.
    person: int | None = None
    # A method, a role, a format, a token, a setting: its name, and what it was before and is now.
    name: _Text = ""
    before: _Text = ""
    after: _Text = ""
    # The SHA-256 of a file.
    sha256: _Text = ""
    # How many of them, such as refusals of one address within an hour.
    count: int | None = None
    days: int | None = None
    # What an access token allows.
    scopes: _Text = ""
