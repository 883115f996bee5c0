"""What administrators can do with MCP servers."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings

from runs.web.site.posted_fields import PostedForm


class ListAgainForm(PostedForm):
    """`server`: its name; it is asked for its tools again."""

    server = forms.ChoiceField(
        error_messages={"required": "Choose one of the buttons.", "invalid_choice": "There is no such server any more."}
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["server"].choices = [(name, name) for name in settings.MCP]  # type: ignore[attr-defined]
