"""Canaries: copies of results with a planted fault, which were judged and discarded."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from runs.enums import CaseOutcome, FaultKind
from runs.models.plans import Attempt
from runs.models.runs import Run


class Canary(models.Model):
    """What the verifier of a run made of one. A step has at most one, whatever happens to its workers."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="canaries")
    # Keys stay the same from one version of the plan to the next.
    step_key = models.CharField(max_length=60)
    # The attempt whose result was copied.
    attempt = models.OneToOneField(Attempt, models.CASCADE, related_name="canary")
    # The verifier.
    model = models.CharField(max_length=120)
    # What was planted where, and what the real result has there; empty if nothing was planted.
    fault = models.CharField(max_length=24, default="", blank=True)
    place = models.CharField(max_length=200, default="", blank=True)
    was = models.CharField(max_length=200, default="", blank=True)
    planted = models.CharField(max_length=200, default="", blank=True)
    # Empty if it was not judged, and then `why` says why not. If it is marked, `why` has the marks.
    outcome = models.CharField(max_length=16, default="", blank=True)
    why = models.CharField(max_length=500, default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint("run", "step_key", name="one_canary_per_step"),
            models.CheckConstraint(condition=Q(outcome__in=["", *CaseOutcome]), name="canary_outcome_known"),
            models.CheckConstraint(condition=Q(outcome="") | ~Q(fault=""), name="judged_canary_has_fault"),
            models.CheckConstraint(condition=~Q(outcome="") | ~Q(why=""), name="unjudged_canary_says_why"),
        ]

    def __str__(self) -> str:
        return f"canary at step {self.step_key} of run {self.run_id}"

    @property
    def was_passed(self) -> bool:
        """Whether the verifier let the planted fault pass, with or without a mark."""
        return self.outcome in {CaseOutcome.PASSED, CaseOutcome.MARKED}

    @property
    def heading(self) -> str:
        """For people who decide about a result whose copy was let through."""
        if self.outcome == CaseOutcome.MARKED:
            return "Verifier passed a planted fault, with a mark"
        return "Verifier missed a planted fault"

    @property
    def sentence(self) -> str:
        """For people who read a result whose copy was let through."""
        what = f"{FaultKind(self.fault).words} in {self.place}: “{self.planted}” instead of “{self.was}”"
        marked = f", though with a mark that people would see ({self.why})" if self.why else ""
        return (
            f"To test the verifier, a fault was planted in a copy of this result ({what}), and {self.model} passed the "
            f"copy{marked}. It may have missed real faults too, so check the result yourself. The copy was discarded, "
            "and the result itself was not changed."
        )
