"""What administrators can do with processes and work."""

from __future__ import annotations

from enum import StrEnum

from django import forms

from runs.web.site.posted_fields import PostedForm, verbs


class StatusVerb(StrEnum):
    """`drain`: a process takes no new work; `retry`: work does not wait for its time; `release`: another process
    takes work over.
    """

    DRAIN = "drain"
    RESUME = "resume"
    RETRY = "retry"
    RELEASE = "release"


class StatusForm(PostedForm):
    """`of`: the row of the process or of the work."""

    verb = verbs(StatusVerb)
    of = forms.IntegerField(min_value=1, max_value=2**63 - 1, error_messages={"required": "Choose one of the buttons."})
