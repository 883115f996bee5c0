"""The table of work items: what a background worker may claim."""

from __future__ import annotations

from django.db import models

from runs.enums import WorkKind, WorkStatus
from runs.models.fields import Column, ContractField, only, word_field
from runs.models.plans import Attempt
from runs.models.querysets import WorkItemQuerySet
from runs.models.runs import Run
from runs.pev.policy import Capacities


class LeaderLock(models.Model):
    """A lock that one process at a time holds for the whole installation, e.g. to sweep or to make a back-up."""

    name = models.CharField(max_length=40, primary_key=True)
    owner = models.CharField(max_length=120)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} of {self.owner}"


class WorkItem(models.Model):
    """One piece of background work. The row is the truth; a task that names it only notifies.

    `epoch` grows with each claim and fences commits of workers that lost their lease. `generation` is the part of the
    journal that counts: a new one starts with an empty journal. `tries` counts calls in a row without a reply.
    `losses` counts workers in a row that fell silent before there was a new entry in the journal.
    `capacities` are those of the models as its first claim found them: its questions depend on them, and who resumes
    it asks the same (D3). `reserved_usd`: what the call in flight may cost at most, where the run has a budget;
    `reserved_uses`: how often it may use tools of the model's service, by name. `withheld`: those tools that the run
    had used up, with the ordinal of the first question that was asked without.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="work")
    kind = word_field(WorkKind)
    attempt = models.OneToOneField(Attempt, models.CASCADE, null=True, blank=True, related_name="work")
    status = word_field(WorkStatus, default=WorkStatus.READY.value)
    due_at = models.DateTimeField()
    lease_owner = models.CharField(max_length=80, default="", blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    epoch = models.PositiveIntegerField(default=0)
    generation = models.PositiveSmallIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)
    losses = models.PositiveSmallIntegerField(default=0)
    reserved_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    reserved_uses: Column[dict[str, int] | None] = ContractField(dict[str, int], null=True, blank=True)
    withheld: Column[dict[str, int] | None] = ContractField(dict[str, int], null=True, blank=True)
    error = models.TextField(default="", blank=True)
    capacities: Column[Capacities | None] = ContractField(Capacities, null=True, blank=True)

    objects = WorkItemQuerySet.as_manager()

    class Meta:
        ordering = ["due_at"]
        indexes = [models.Index(fields=["status", "due_at"], name="work_due")]
        constraints = [
            only("status", WorkStatus, "work_status_known"),
            models.CheckConstraint(
                condition=models.Q(status=WorkStatus.LEASED.value, lease_until__isnull=False)
                | (~models.Q(status=WorkStatus.LEASED.value) & models.Q(lease_until__isnull=True)),
                name="work_lease_exactly_when_leased",
            ),
            models.UniqueConstraint(
                fields=["run", "kind"],
                condition=models.Q(attempt__isnull=True)
                & models.Q(status__in=[WorkStatus.READY.value, WorkStatus.LEASED.value, WorkStatus.SUSPENDED.value]),
                name="one_open_work_per_run_and_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} work {self.pk}"
