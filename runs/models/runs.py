"""The tables of runs and their history."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from runs.enums import EventKind, Outcome, RunStatus
from runs.evidence.results import Judgement
from runs.models.fields import Column, ContractField, choices, only, word_field
from runs.models.querysets import EventQuerySet, RunQuerySet
from runs.models.revisions import Revision
from runs.models.trees import Tree
from runs.pev.policy import Policy


class Run(models.Model):
    """One submitted task. `head` is the workspace as of the last step that was settled.

    `final` holds the judged success criteria; `event_count` the number
    of the newest event. `submission` makes a form that is posted twice one run. `failure`: why it could not go on;
    `ended`: why it was finished with what was there. Either is empty for a run that came to its own end. `repeated`:
    a replan brought what had failed again, so there will be none any more. `excluded`: patterns of given files that a
    person said are not to be dealt with; null for a run of before, of which is not known what its models were shown.
    `requests`: how much people asked for and answered, which is the number of the newest of either.
    `template`: the name, at that time, of the template that its first plan was made from. `archived_at`: since when
    lists leave it out. `before`: the run that this one repeats, as long as it is there, and `revision` what it has
    otherwise than that.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="runs")
    approvers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="runs_to_approve", blank=True)
    submission = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    title = models.CharField(max_length=120)
    request = models.TextField()
    policy: Column[Policy] = ContractField(Policy, queried=True)
    inputs = models.ForeignKey(Tree, models.PROTECT, related_name="+")
    head = models.ForeignKey(Tree, models.PROTECT, related_name="+")
    excluded: Column[tuple[str, ...] | None] = ContractField(tuple[str, ...], null=True, blank=True)
    status = word_field(RunStatus, default=RunStatus.PLANNING.value)
    outcome = word_field(Outcome, null=True, blank=True)
    failure = models.TextField(default="", blank=True)
    ended = models.TextField(default="", blank=True)
    answer = models.TextField(default="", blank=True)
    final: Column[Judgement | None] = ContractField(Judgement, null=True, blank=True)
    replans = models.PositiveSmallIntegerField(default=0)
    repeated = models.BooleanField(default=False)
    requests = models.PositiveSmallIntegerField(default=0)
    paused = models.BooleanField(default=False)
    event_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    template = models.CharField(max_length=120, default="", blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    before = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")
    revision: Column[Revision | None] = ContractField(Revision, null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        # Lists are counted and sorted without reading rows, which are mostly request, policy and answer.
        indexes = [models.Index(fields=["archived_at", "status", "finished_at", "owner"], name="run_lists")]
        constraints = [
            only("status", RunStatus, "run_status_known"),
            only("outcome", Outcome, "run_outcome_known"),
            models.CheckConstraint(
                condition=models.Q(status=RunStatus.FINISHED.value, outcome__isnull=False, finished_at__isnull=False)
                | (~models.Q(status=RunStatus.FINISHED.value) & models.Q(outcome__isnull=True)),
                name="run_outcome_exactly_when_finished",
            ),
            models.CheckConstraint(
                condition=models.Q(archived_at__isnull=True) | models.Q(status=RunStatus.FINISHED.value),
                name="run_archived_only_when_finished",
            ),
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}: {self.title}"


class Event(models.Model):
    """One line of a run's history; `seq` counts from 1 without gaps. Written by `runs.store.event_log` only."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=24, choices=choices(EventKind))  # `events.read` takes any: history is only told
    at = models.DateTimeField()
    data = models.JSONField(default=dict)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="event_seq_unique")]

    def __str__(self) -> str:
        return f"{self.run_id}#{self.seq} {self.kind}"
