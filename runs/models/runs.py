"""The tables of runs and their history."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models

from runs.contracts.base import Contract
from runs.enums import EventKind, Outcome, RunStatus, ShareLevel
from runs.evidence.results import Judgement
from runs.models.fields import Column, ContractField, choices, only, word_field
from runs.models.files import Tree
from runs.models.querysets import EventQuerySet, RunQuerySet
from runs.pev.policy import Policy


class FileNames(Contract):
    """Some files: their number, and the first of their paths."""

    count: int = 0
    named: tuple[str, ...] = ()


class Revision(Contract):
    """What a run that is run again has changed. `policy`: the names of the settings that differ, in words."""

    changed: FileNames = FileNames()
    added: FileNames = FileNames()
    removed: FileNames = FileNames()
    request: bool = False
    excluded: bool = False
    policy: tuple[str, ...] = ()


class OwnLetterhead(Contract):
    """The letterhead of reports where that of the settings is not used. `logo`: the SHA-256 of a PNG, or empty."""

    organisation: str = ""
    footer: str = ""
    logo: str = ""


class Run(models.Model):
    """One submitted task."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="runs")
    # Whether everyone here may look at it. Who else may, and who may decide: `shares`.
    open_to_all = models.BooleanField(default=False, db_default=False)
    # The token of the form, so that a form that is sent twice makes one run.
    submission = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    title = models.CharField(max_length=120)
    request = models.TextField()
    policy: Column[Policy] = ContractField(Policy, queried=True)
    # The files that were given, and the workspace after the last settled step.
    inputs = models.ForeignKey(Tree, models.PROTECT, related_name="+")
    head = models.ForeignKey(Tree, models.PROTECT, related_name="+")
    # Patterns of given files that a person said are not part of the task.
    excluded: Column[tuple[str, ...]] = ContractField(tuple[str, ...], default=tuple, blank=True)
    status = word_field(RunStatus, default=RunStatus.PLANNING.value)
    outcome = word_field(Outcome, null=True, blank=True)
    # Why it could not continue; empty for a run that came to its own end.
    failure = models.TextField(default="", blank=True)
    # Why it was finished with what there was; empty for a run that came to its own end.
    ended = models.TextField(default="", blank=True)
    # What its report names below the title.
    client = models.CharField(max_length=200, default="", db_default="", blank=True)
    matter = models.CharField(max_length=200, default="", db_default="", blank=True)
    author = models.CharField(max_length=200, default="", db_default="", blank=True)
    # As its template had it when it was submitted.
    letterhead: Column[OwnLetterhead | None] = ContractField(OwnLetterhead, null=True, blank=True)
    answer = models.TextField(default="", blank=True)
    # The judged success criteria.
    final: Column[Judgement | None] = ContractField(Judgement, null=True, blank=True)
    replans = models.PositiveSmallIntegerField(default=0)
    # A replan repeated what had failed before, so there will be no further one.
    repeated = models.BooleanField(default=False)
    # The highest number of a request or answer of a person.
    requests = models.PositiveSmallIntegerField(default=0)
    paused = models.BooleanField(default=False)
    # The number of the newest event, which is the version of the run.
    event_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # The name, at that time, of the template of its first plan.
    template = models.CharField(max_length=120, default="", blank=True)
    # Since when lists leave it out.
    archived_at = models.DateTimeField(null=True, blank=True)
    # The run that this one repeats while it exists, and what differs.
    before = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")
    revision: Column[Revision | None] = ContractField(Revision, null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        permissions = [
            ("decide_run", "Can decide in runs that are shared for it"),
            ("administer", "Can see all runs and manage the people and the installation"),
        ]
        # Lists are counted and sorted without reading rows, which are mostly request, policy and answer.
        indexes = [
            models.Index(
                fields=["archived_at", "status", "finished_at", "owner", "open_to_all", "id"], name="run_in_lists"
            )
        ]
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


class Share(models.Model):
    """Someone else who may see a run, or a group whose members may: to look, or also to decide."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="shares")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="shares")
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="shares")
    level = word_field(ShareLevel, default=ShareLevel.DECIDE.value, db_default=ShareLevel.DECIDE.value)

    class Meta:
        ordering = ["id"]
        unique_together = [("run", "user"), ("run", "group")]
        constraints = [
            only("level", ShareLevel, "share_level_known"),
            models.CheckConstraint(
                condition=models.Q(user__isnull=True, group__isnull=False)
                | models.Q(user__isnull=False, group__isnull=True),
                name="share_with_one",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.run_id} for {self.user or self.group}"


class Event(models.Model):
    """One line of the history of a run; `seq` counts from 1 without gaps. Only `runs.store.event_log` writes it."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    # Reading accepts kinds of later versions too: history is only shown.
    kind = models.CharField(max_length=24, choices=choices(EventKind))
    at = models.DateTimeField()
    data = models.JSONField(default=dict)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ["seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="event_seq_unique")]

    def __str__(self) -> str:
        return f"{self.run_id}#{self.seq} {self.kind}"
