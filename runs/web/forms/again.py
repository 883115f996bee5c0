"""Starting what is known: a sample, or a finished run once more."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms

from runs.models import Step
from runs.web.forms.posted import PostedForm


class TokenForm(PostedForm):
    """The token of the page makes a form that is posted twice one run."""

    token = forms.UUIDField(required=False)

    def submission(self) -> uuid.UUID:
        """The token; a new one where the page carried none that can be read."""
        self.full_clean()
        return self.cleaned_data.get("token") or uuid.uuid4()


class AgainForm(TokenForm):
    """What is done again although it passed before: `all`, or the steps in `redo`. Others of `steps` are reused."""

    all = forms.BooleanField(required=False)
    redo = forms.Field(required=False, widget=forms.MultipleHiddenInput)

    def __init__(self, *args: Any, steps: list[Step], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = {step.key for step in steps}

    def clean_redo(self) -> list[str]:
        """In order. What is no step of the plan, such as one of an older page, asks for nothing."""
        return sorted(self._known.intersection(self.cleaned_data["redo"]))
