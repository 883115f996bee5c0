"""The audit trail: one line for each action that somebody answers for. Lines are added and never changed."""

from __future__ import annotations

from django.db import models

from runs.models.fields import VerbatimField


class AuditEntry(models.Model):
    """A line of the audit trail. Triggers of the database refuse to change or delete one (`runs.store.audit_triggers`).

    It refers to no other row, so that it outlives people and runs. Each line has the hash of the one before it, so that
    a line that was changed, removed or put in between shows (`runs.store.audit_trail.problems`). Only that module
    writes lines. There are no choices and no constraints, because a new kind must not rebuild the table.
    """

    # From 1, without gaps.
    number = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField(db_index=True)
    # An AuditKind.
    kind = models.CharField(max_length=40, db_index=True)
    # The id and the name of the person at that time; null and empty if no person acted, or if it is not known who.
    by_id = models.BigIntegerField(null=True)
    by = models.CharField(max_length=150, blank=True, db_index=True)
    # The address of the request, and through what it came: an AuditChannel, and the browser, the command, or the access
    # token by its name.
    address = models.CharField(max_length=64, blank=True)
    channel = models.CharField(max_length=20)
    through = models.CharField(max_length=200, blank=True)
    run_number = models.BigIntegerField(null=True, db_index=True)
    subject = models.CharField(max_length=200, blank=True)
    # The fingerprint of what was decided on (G1).
    digest = models.CharField(max_length=64, blank=True)
    # The fields of `runs.contracts.audit.AuditDetails` that say something.
    details = VerbatimField(default=dict, blank=True)
    # The hash of the line before; empty for the first one.
    previous = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["number"]
        verbose_name_plural = "audit entries"
        # A page of lines that a filter finds is read without sorting all of them.
        indexes = [
            models.Index(fields=["kind", "number"], name="audit_of_kind"),
            models.Index(fields=["by", "number"], name="audit_of_person"),
            models.Index(fields=["run_number", "number"], name="audit_of_run"),
        ]

    def __str__(self) -> str:
        return f"Line {self.number}: {self.kind}"


class AuditHead(models.Model):
    """The newest line of the audit trail: one row, which a writer locks to get the next number."""

    number = models.BigIntegerField()
    hash = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"The audit trail has {self.number} lines"
