"""The tables of the installation: which runs were deleted, and which of their files have still to be looked at."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.enums import Outcome
from runs.models.fields import only, word_field


class DeletedRun(models.Model):
    """What is left of a run that was deleted: one line, for administrators. Its content is gone.

    `number` was the run's. `calls` and `cost_usd` (of the priced ones) are sums of its journal, which went with it;
    `files` and `bytes` those of its last workspace. Without `deleted_by` it had been kept for long enough.
    """

    number = models.BigIntegerField(unique=True)
    title = models.CharField(max_length=120)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    outcome = word_field(Outcome)
    submitted_at = models.DateTimeField()
    finished_at = models.DateTimeField()
    calls = models.PositiveIntegerField()
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8)
    files = models.PositiveIntegerField()
    bytes = models.PositiveBigIntegerField()
    deleted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)
    deleted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [only("outcome", Outcome, "deleted_run_outcome_known")]

    def __str__(self) -> str:
        return f"Run {self.number}, deleted: {self.title}"


class Discarded(models.Model):
    """A content that a deleted run had. The sweeper removes it once no one else has it (`runs.store.trees`)."""

    sha256 = models.CharField(max_length=64, unique=True)
    due_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["due_at"]
        verbose_name_plural = "discarded"

    def __str__(self) -> str:
        return f"{self.sha256[:12]} discarded"


class Process(models.Model):
    """A process that serves pages or carries out work, as it was when it was last seen by itself.

    `owner` is who holds its leases, `threads` how many pieces of work it carries out at once (0: it only serves),
    `schema` the newest migration that it knows, `key` says of two processes whether their secret keys are the same.
    `clock_ahead`: seconds by which its clock is ahead of the database's. While `draining` it takes no new work.
    """

    name = models.CharField(max_length=120, unique=True)
    owner = models.CharField(max_length=80)
    serves = models.BooleanField()
    threads = models.PositiveIntegerField()
    engine = models.CharField(max_length=20)
    messages = models.BooleanField()
    version = models.CharField(max_length=40)
    schema = models.CharField(max_length=120)
    key = models.CharField(max_length=16)
    clock_ahead = models.FloatField(default=0)
    draining = models.BooleanField(default=False)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["started_at"]
        verbose_name_plural = "processes"

    def __str__(self) -> str:
        return self.owner
