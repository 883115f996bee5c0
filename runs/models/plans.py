"""The tables of plans, steps, attempts and verdicts."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.contracts.ports import Changes
from runs.enums import Action, AttemptStatus, Complexity, PlanStatus, Severity, StepStatus
from runs.evidence.results import CriterionResult, RequestResult, UntracedFigure
from runs.models.fields import Column, ContractField, only, word_field
from runs.models.files import Tree
from runs.models.querysets import AttemptQuerySet, OverrulingQuerySet, PlanQuerySet, StepQuerySet
from runs.models.runs import Run
from runs.pev.agents import AgentDefinition
from runs.pev.contracts import PlanHeader, PlanStep, StepOutput
from runs.pev.plans.estimate import Estimate
from runs.pev.read_set import ReadSet

FIRST_PLAN = "The first plan for this request."
"""The reason of version 1 if a planner wrote it."""


class Plan(models.Model):
    """One numbered version of the plan of a run. Its content never changes."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="plans")
    version = models.PositiveSmallIntegerField()
    status = word_field(PlanStatus, default=PlanStatus.PROPOSED.value)
    # The plan contract without its steps.
    header: Column[PlanHeader] = ContractField(PlanHeader)
    # Over the whole content, steps included.
    digest = models.CharField(max_length=64)
    # Why this version exists, in a sentence.
    reason = models.TextField(default="", blank=True)
    # Who wrote it by editing the version before; null if a planner wrote it or it came with the task.
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    # The estimate that the gate showed.
    estimate: Column[Estimate | None] = ContractField(Estimate, null=True, blank=True)
    # What was approved (G1): digests by name. Null until then.
    approval_fingerprint: Column[dict[str, str] | None] = ContractField(dict[str, str], null=True, blank=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    approved_how = models.CharField(max_length=40, default="", blank=True)
    # The success criteria that its results did not meet, as a text for the planner of the next version.
    unmet = models.TextField(default="", blank=True)
    # One sentence for each requirement of the version approved before that this one lacks.
    relaxed: Column[list[str]] = ContractField(list[str], default=list, blank=True)
    # The agents that its steps name or may delegate to.
    agents: Column[list[str]] = ContractField(list[str], default=list, blank=True)
    # Their definitions at the last approval, to show people what has changed since.
    approved_agents: Column[dict[str, AgentDefinition]] = ContractField(
        dict[str, AgentDefinition], default=dict, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = PlanQuerySet.as_manager()

    class Meta:
        ordering = ["version"]
        constraints = [
            only("status", PlanStatus, "plan_status_known"),
            models.UniqueConstraint(fields=["run", "version"], name="plan_version_unique"),
            models.CheckConstraint(
                condition=~models.Q(status=PlanStatus.APPROVED.value)
                | (
                    models.Q(approval_fingerprint__isnull=False, approved_by__isnull=False) & ~models.Q(approved_how="")
                ),
                name="plan_approval_is_bound",
            ),
        ]

    def __str__(self) -> str:
        return f"plan {self.version} of run {self.run_id}"


class Step(models.Model):
    """One step of a version of the plan."""

    plan = models.ForeignKey(Plan, models.CASCADE, related_name="steps")
    key = models.CharField(max_length=60)
    position = models.PositiveSmallIntegerField()
    status = word_field(StepStatus, default=StepStatus.PENDING.value)
    spec: Column[PlanStep] = ContractField(PlanStep)
    depends_on: Column[list[str]] = ContractField(list[str], default=list)
    complexity = word_field(Complexity)
    # Attempts that did not pass.
    failures = models.PositiveSmallIntegerField(default=0)
    # Attempts that were started.
    tries = models.PositiveSmallIntegerField(default=0)
    # The action of the latest verdict.
    last_action = word_field(Action, null=True, blank=True)
    # The latest verdict could not prove that a request of a person was met, so that a person has to see the result.
    unproved = models.BooleanField(default=False)
    # A person let it start.
    cleared = models.BooleanField(default=False)
    # A person asked for another plan instead of letting it start; set until the planner is asked.
    refused = models.BooleanField(default=False)
    # The passed attempt of an earlier version whose result this step keeps.
    reused_from = models.ForeignKey("Attempt", models.PROTECT, null=True, blank=True, related_name="+")
    # Of the result that settled the step.
    fingerprint = models.CharField(max_length=64, default="", blank=True)

    objects = StepQuerySet.as_manager()

    class Meta:
        ordering = ["position"]
        constraints = [
            only("status", StepStatus, "step_status_known"),
            models.UniqueConstraint(fields=["plan", "key"], name="step_key_unique"),
        ]

    def __str__(self) -> str:
        return f"step {self.key}"


class Attempt(models.Model):
    """One try at a step."""

    step = models.ForeignKey(Step, models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    status = word_field(AttemptStatus, default=AttemptStatus.EXECUTING.value)
    # The files that it started from.
    base = models.ForeignKey(Tree, models.PROTECT, related_name="+")
    # The files that were given until then; null for attempts of earlier versions.
    inputs = models.ForeignKey(Tree, models.PROTECT, null=True, blank=True, related_name="+")
    # The base with the overlay on top, once it has passed verification.
    tree = models.ForeignKey(Tree, models.PROTECT, null=True, blank=True, related_name="+")
    # Its own changes: path to [sha256, size], or null for a deleted file.
    overlay: Column[Changes] = ContractField(Changes, default=dict)
    # The report of the executor.
    output: Column[StepOutput | None] = ContractField(StepOutput, queried=True, null=True, blank=True)
    # A digest over findings, notes and overlay, which identifies the result.
    fingerprint = models.CharField(max_length=64, default="", blank=True)
    # A digest of everything except the files that may change the result.
    reuse_key = models.CharField(max_length=64, default="", blank=True, db_index=True)
    # What this and earlier attempts at the step looked at in the files; null if unknown.
    reads: Column[ReadSet | None] = ContractField(ReadSet, null=True, blank=True)
    # The attempt of an earlier run whose passed result this one takes over.
    reused_from = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="+")
    # The agent of its step, and those that it may delegate to, as they were when the attempt began.
    agent: Column[AgentDefinition | None] = ContractField(AgentDefinition, null=True, blank=True)
    subagents: Column[dict[str, AgentDefinition]] = ContractField(dict[str, AgentDefinition], default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = AttemptQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            only("status", AttemptStatus, "attempt_status_known"),
            models.UniqueConstraint(fields=["step", "number"], name="attempt_number_unique"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of step {self.step_id}"

    @property
    def given(self) -> Tree:
        """The input files as they were when it began. People may have given more since, which it does not see (D3)."""
        run = self.step.plan.run
        if self.inputs_id == run.inputs_id or self.inputs is None:
            return run.inputs
        return self.inputs

    @property
    def found_nothing_to_do(self) -> bool:
        """Whether the executor reports that its step does not apply."""
        return self.output is not None and self.output.status == "not_applicable"


class Overruling(models.Model):
    """A person judges a criterion otherwise than the verdict, which stays as it is. The newest of a criterion holds."""

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="overrulings")
    # Of the criterion in the verdict, such as C1.
    label = models.CharField(max_length=8)
    # What the verdict says, and what the person says. If both are equal, the verdict holds again.
    was = models.BooleanField()
    met = models.BooleanField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    reason = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    objects = OverrulingQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""), name="overruling_has_reason")]

    def __str__(self) -> str:
        return f"{self.label} of attempt {self.attempt_id} by {self.by_id}"


class Verdict(models.Model):
    """The judgement of an attempt. `passed` is computed from the results (T3)."""

    attempt = models.OneToOneField(Attempt, models.CASCADE, related_name="verdict")
    # Whether code or the verifier decided.
    stage = models.CharField(max_length=8)
    passed = models.BooleanField()
    action = word_field(Action)
    severity = word_field(Severity)
    feedback = models.TextField(default="", blank=True)
    notes: Column[list[str]] = ContractField(list[str], default=list)
    results: Column[list[CriterionResult]] = ContractField(list[CriterionResult], default=list)
    # Requests of people at earlier attempts, judged together with the criteria (T7).
    requests: Column[list[RequestResult]] = ContractField(list[RequestResult], default=list, blank=True)
    # Figures of the result that occur in no source (T11).
    untraced: Column[list[UntracedFigure]] = ContractField(list[UntracedFigure], default=list, blank=True)
    # Why the verifier does not have the catch rate that the policy asks for; empty if it has, or if none is asked for.
    uncalibrated = models.TextField(default="", db_default="", blank=True)
    # Counted here so that metrics are sums of columns.
    criteria = models.PositiveSmallIntegerField(default=0)
    supported = models.PositiveSmallIntegerField(default=0)
    unsupported = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(passed=False)
                | models.Q(action=Action.PASS.value, criteria__gt=0, supported=models.F("criteria")),
                name="verdict_pass_is_supported",
            )
        ]

    def __str__(self) -> str:
        return f"verdict on attempt {self.attempt_id}"

    @property
    def remarks(self) -> list[str]:
        """What people should know about it besides its results, in sentences."""
        return [*([self.uncalibrated] if self.uncalibrated else []), *self.notes]
