"""The table of agents: those that steps of plans may name."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models.fields import Column, ContractField
from runs.models.querysets import AgentQuerySet
from runs.pev.agents import AgentDefinition


class Agent(models.Model):
    """An agent as it is now. Attempts keep it as it was when they began, so that a row may change or go at any time.

    `changed_by`: the administrator who wrote it last.
    """

    name = models.SlugField(max_length=60, unique=True)
    definition: Column[AgentDefinition] = ContractField(AgentDefinition)
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    objects = AgentQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"agent {self.name}"
