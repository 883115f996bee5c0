"""Calibrations: how many planted faults a verifier lets through, measured on generated jobs."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.enums import CalibrationStatus, CaseOutcome, FaultKind, Language
from runs.models.fields import Column, ContractField, only, word_field
from runs.models.plans import Overruling
from runs.planted_faults.stored_contracts import JudgedContent, VerifierSettings


class Calibration(models.Model):
    """A measurement of one verifier. The cases follow from `kinds`, `languages` and `seed`."""

    model = models.CharField(max_length=120, db_index=True)
    # The address of its server without user name and password (S5); empty for offline rules.
    address = models.CharField(max_length=500, blank=True)
    # As `calibrations.prompt_and_rules` said when it began.
    prompt = models.CharField(max_length=16)
    # Which rules its answers were judged by, as `trial.RULES_VERSION` says; empty if it was measured before that.
    rules = models.CharField(max_length=16, default="", db_default="", blank=True)
    asked: Column[VerifierSettings] = ContractField(VerifierSettings)
    # Planted faults; as many cases again have none.
    size = models.PositiveIntegerField()
    kinds: Column[list[FaultKind]] = ContractField(list[FaultKind])
    languages: Column[list[Language]] = ContractField(list[Language])
    seed = models.BigIntegerField()
    # The labelled cases that are judged after the generated ones, by their ids; null for none.
    corrections: Column[list[int] | None] = ContractField(list[int], null=True, blank=True)
    # In USD; null for none.
    budget = models.DecimalField(max_digits=14, decimal_places=2, null=True)
    # Of all calls, also those whose case was judged again. Calls under way have reserved the most that they may cost.
    spent_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    reserved_usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    status = word_field(CalibrationStatus, default=CalibrationStatus.RUNNING)
    # Why it stopped, for people.
    why = models.CharField(max_length=500, default="", blank=True)
    # Null if a command started it.
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    # The process that judges its cases. Another one may go on after `lease_until`.
    lease_owner = models.CharField(max_length=160, default="", blank=True)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [only("status", CalibrationStatus, "calibration_status_known")]

    def __str__(self) -> str:
        return f"Calibration {self.pk} of {self.model}"


class LabelledCase(models.Model):
    """What was judged by a verdict that a person overruled; `overruling.met` is its label. The owner of the run has
    agreed that calibrations use it. It is deleted when they take that back, when the criterion is overruled again, and
    with the run.
    """

    overruling = models.OneToOneField(Overruling, models.CASCADE, related_name="labelled_case")
    content: Column[JudgedContent] = ContractField(JudgedContent)
    agreed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"Labelled case of overruling {self.overruling_id}"


class CalibrationCase(models.Model):
    """What the verifier made of one case. A case counts once, however often it was judged."""

    calibration = models.ForeignKey(Calibration, models.CASCADE, related_name="cases")
    number = models.PositiveIntegerField()
    # The planted fault; empty for none.
    kind = models.CharField(max_length=24, default="", blank=True)
    # Whether a person said that the criterion is met; null for a generated case.
    met_by_person = models.BooleanField(null=True)
    # Empty for a case of a person.
    language = word_field(Language, default="", db_default="", blank=True)
    with_rules = word_field(CaseOutcome)
    without_rules = word_field(CaseOutcome)
    # What the verifier itself said, as `CaseVerdict` has it.
    claimed = models.BooleanField(null=True)
    confidence = models.FloatField(null=True)
    verdicts = models.PositiveIntegerField()
    calls = models.PositiveIntegerField()
    # Null if a call had no known price.
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    duration_ms = models.PositiveBigIntegerField()
    judged_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint("calibration", "number", name="one_result_per_case"),
            only("with_rules", CaseOutcome, "case_outcome_with_rules_known"),
            only("without_rules", CaseOutcome, "case_outcome_without_rules_known"),
        ]

    def __str__(self) -> str:
        return f"Case {self.number} of calibration {self.calibration_id}"
