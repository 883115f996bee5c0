"""Work items, which background workers claim."""

from __future__ import annotations

from django.db import models

from runs.enums import WorkKind, WorkStatus
from runs.models.fields import Column, ContractField, only, word_field
from runs.models.plans import Attempt
from runs.models.querysets import WorkItemQuerySet
from runs.models.runs import Run
from runs.pev.policy import Capacities


class WorkItem(models.Model):
    """One piece of background work. The row is the truth; a task that names it only notifies."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="work")
    kind = word_field(WorkKind)
    attempt = models.OneToOneField(Attempt, models.CASCADE, null=True, blank=True, related_name="work")
    status = word_field(WorkStatus, default=WorkStatus.READY.value)
    due_at = models.DateTimeField()
    lease_owner = models.CharField(max_length=80, default="", blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    # Grows with each claim, so that commits of a worker that has lost its lease are refused.
    epoch = models.PositiveIntegerField(default=0)
    # The part of the journal that counts: a new generation starts with an empty journal.
    generation = models.PositiveSmallIntegerField(default=0)
    # Model calls in a row without a reply.
    tries = models.PositiveSmallIntegerField(default=0)
    # Workers in a row that fell silent before they wrote a new entry to the journal.
    losses = models.PositiveSmallIntegerField(default=0)
    # The most that the call in flight may cost, if the run has a budget, and may use of the service tools, by name.
    reserved_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    reserved_uses: Column[dict[str, int]] = ContractField(dict[str, int], default=dict, blank=True)
    # Service tools that the run had used up, with the ordinal of the first question that was asked without them.
    withheld: Column[dict[str, int]] = ContractField(dict[str, int], default=dict, blank=True)
    error = models.TextField(default="", blank=True)
    # What the models could do at the first claim: a resumed attempt has to ask the same questions (D3).
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
