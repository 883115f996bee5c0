"""The forms of the controls of a run: pause, stop, rename, archive, and who else may decide."""

from __future__ import annotations

from enum import StrEnum

from django import forms

from runs.models import User
from runs.web.site.posted_fields import PostedForm, Text, verbs

MAX_STOP_REASON = 2_000
"""Characters. No model reads the reason, so that it needs less room than that of an answer."""


class StopForm(PostedForm):
    """Why a run is stopped; optional. A reason that is too long is cut."""

    reason = Text(required=False)

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        return reason[:MAX_STOP_REASON]


class PauseForm(PostedForm):
    """Whether to pause the run (1) or to let it continue (0)."""

    paused = forms.BooleanField(required=False, widget=forms.HiddenInput)


class ManageVerb(StrEnum):
    RENAME = "rename"
    ARCHIVE = "archive"
    RESTORE = "restore"


class ManageForm(PostedForm):
    """`title`: the new one. `next`: the page to go back to, which the view checks."""

    verb = verbs(ManageVerb)
    title = Text(required=False, strip=False)
    next = Text(required=False)


class ApproverVerb(StrEnum):
    ADD = "add"
    REMOVE = "remove"


class ApproverForm(PostedForm):
    """Adds a person to those who may decide in a run, or removes one."""

    verb = verbs(ApproverVerb)
    person = forms.ModelChoiceField(
        User.objects.all(),
        error_messages={"required": "Choose a person.", "invalid_choice": "There is no such person any more."},
    )
