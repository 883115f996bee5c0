"""What an owner sends to rename, archive or delete a run."""

from __future__ import annotations

from enum import StrEnum

from runs.web.site.posted_fields import PostedForm, Text, verbs


class ManageVerb(StrEnum):
    RENAME = "rename"
    ARCHIVE = "archive"
    RESTORE = "restore"


class ManageForm(PostedForm):
    """`title` for a new one; `next`: the page to go back to, which the view does not take at its word."""

    verb = verbs(ManageVerb)
    title = Text(required=False, strip=False)
    next = Text(required=False)
