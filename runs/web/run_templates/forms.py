"""Saving a plan as a template, and asking what one may cost."""

from __future__ import annotations

from django import forms

from runs.enums import Role
from runs.pev.policy import Policy
from runs.submission.policy_defaults import default_policy
from runs.web.site.posted_fields import PostedForm, Text


class SaveTemplateForm(PostedForm):
    """The name of the template; `lifecycle.templates` says what is wrong with one."""

    name = Text(required=False, strip=False)


class EstimateForm(PostedForm):
    """A template, and what of the policy decides what it costs."""

    template = forms.CharField(max_length=40)
    attempts = forms.IntegerField(min_value=1, max_value=10)
    executor_model = forms.CharField(max_length=120)
    verifier_model = forms.CharField(max_length=120)

    def policy(self) -> Policy:
        """The default policy with that."""
        base, given = default_policy(), self.cleaned_data
        models = {role: role_model.model_dump() for role, role_model in base.models.items()}
        for role in (Role.EXECUTOR, Role.VERIFIER):
            models[role]["model"] = given[f"{role}_model"]
        return base.changed(attempts=given["attempts"], models=models)
