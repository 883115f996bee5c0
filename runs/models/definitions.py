"""Agents and templates, which people define and plans use."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models.fields import Column, ContractField
from runs.models.querysets import AgentQuerySet
from runs.models.runs import OwnLetterhead, Run
from runs.pev.agents import AgentDefinition
from runs.pev.contracts import PlanContract


class Agent(models.Model):
    """An agent that steps of plans may name. Attempts store a copy of it, so that a row may change at any time."""

    name = models.SlugField(max_length=60, unique=True)
    definition: Column[AgentDefinition] = ContractField(AgentDefinition)
    # The administrator who changed it last.
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    objects = AgentQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"agent {self.name}"


class Template(models.Model):
    """A plan that a person keeps under a name to use it for other files. Only its owner sees it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="templates")
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=400, default="", blank=True)
    plan: Column[PlanContract] = ContractField(PlanContract)
    # Over the whole plan.
    digest = models.CharField(max_length=64)
    # As in the policy of the run that the plan is from.
    sources_needed = models.BooleanField(default=True)
    # Of reports on runs that are made from it; null if they use that of the settings.
    letterhead: Column[OwnLetterhead | None] = ContractField(OwnLetterhead, null=True, blank=True)
    from_run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="template_name_unique")]

    def __str__(self) -> str:
        return f"template {self.pk}: {self.name}"
