"""Saving a plan as a template."""

from __future__ import annotations

from runs.web.forms.posted import PostedForm, Text


class SaveTemplateForm(PostedForm):
    """The name of the template; `lifecycle.templates` says what is wrong with one."""

    name = Text(required=False, strip=False)
