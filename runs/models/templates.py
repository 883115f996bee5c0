"""The table of templates: plans that people keep to use them for other files."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models.fields import Column, ContractField
from runs.models.runs import Run
from runs.pev.contracts import PlanContract


class Template(models.Model):
    """A plan under a name of its owner's, who alone may see it. `plan` is the whole contract, `digest` is over it.

    `sources_needed`: as it was for the run that the plan is from.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="templates")
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=400, default="", blank=True)
    plan: Column[PlanContract] = ContractField(PlanContract)
    digest = models.CharField(max_length=64)
    sources_needed = models.BooleanField(default=True)
    from_run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="template_name_unique")]

    def __str__(self) -> str:
        return f"template {self.pk}: {self.name}"
