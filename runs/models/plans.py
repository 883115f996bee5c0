"""The tables of plans, steps, attempts and verdicts."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.contracts.ports import Changes
from runs.enums import Action, AttemptStatus, Complexity, PlanStatus, Severity, StepStatus
from runs.evidence.results import CriterionResult, RequestResult, UntracedFigure
from runs.models.fields import Column, ContractField, only, word_field
from runs.models.querysets import AttemptQuerySet, PlanQuerySet, StepQuerySet
from runs.models.runs import Run
from runs.models.trees import Tree
from runs.pev.agents import AgentDefinition
from runs.pev.contracts import PlanHeader, PlanStep, StepOutput
from runs.pev.plans.estimate import Estimate
from runs.pev.read_set import ReadSet

FIRST_PLAN = "The first plan for this request."
"""The reason of a version 1 that a planner wrote."""


class Plan(models.Model):
    """One numbered version; its content never changes. `digest` is over the whole content, steps included.

    `header` is the plan contract without its steps. `approval_fingerprint` holds what was approved (G1), filled
    then. `reason` says why this version exists, `author` who wrote it by editing the version before: nobody for one
    that a planner wrote, or that came with the task. `estimate` is what was shown at the gate. `unmet`: the success
    criteria that its results did not meet, for the planner of the next version. `relaxed`: a sentence for each thing
    that the version agreed before asked for and this one does not. `agents`: those that its steps name or may hand
    parts to, null for none; `approved_agents`: what these were when it was approved last, so that people see what
    differs now.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="plans")
    version = models.PositiveSmallIntegerField()
    status = word_field(PlanStatus, default=PlanStatus.PROPOSED.value)
    header: Column[PlanHeader] = ContractField(PlanHeader)
    digest = models.CharField(max_length=64)
    reason = models.TextField(default="", blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    estimate: Column[Estimate | None] = ContractField(Estimate, null=True, blank=True)
    approval_fingerprint: Column[dict[str, str] | None] = ContractField(dict[str, str], null=True, blank=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    approved_how = models.CharField(max_length=40, default="", blank=True)
    unmet = models.TextField(default="", blank=True)
    relaxed: Column[list[str]] = ContractField(list[str], default=list, blank=True)
    agents: Column[list[str] | None] = ContractField(list[str], null=True, blank=True)
    approved_agents: Column[dict[str, AgentDefinition] | None] = ContractField(
        dict[str, AgentDefinition], null=True, blank=True
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
    """One unit of a plan. `spec` is its contract; `failures` counts attempts that did not pass.

    `unproved`: its latest verdict could not prove that what a person asked for was done, so a person has to see it.
    `cleared`: a person let it start; `refused`: a person asked for another plan instead, before the planner was asked.
    `tries` counts the attempts that were started. `last_action` is what the latest verdict asked for; `reused_from`
    the passed attempt of an earlier version that this step keeps; `fingerprint` that of the result that was settled.
    """

    plan = models.ForeignKey(Plan, models.CASCADE, related_name="steps")
    key = models.CharField(max_length=60)
    position = models.PositiveSmallIntegerField()
    status = word_field(StepStatus, default=StepStatus.PENDING.value)
    spec: Column[PlanStep] = ContractField(PlanStep)
    depends_on: Column[list[str]] = ContractField(list[str], default=list)
    complexity = word_field(Complexity)
    failures = models.PositiveSmallIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)
    last_action = word_field(Action, null=True, blank=True)
    unproved = models.BooleanField(default=False)
    cleared = models.BooleanField(default=False)
    refused = models.BooleanField(default=False)
    reused_from = models.ForeignKey("Attempt", models.PROTECT, null=True, blank=True, related_name="+")
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
    """One try at a step. `base` is the tree it started from; `overlay` its own changes, path to [sha256, size].

    `output` is the executor's report; `tree` the base with the overlay on top, set when it passed verification.
    `fingerprint` tells results apart: digest over findings, notes and overlay. `reuse_key` is the digest of all beside
    the files that could make it come out otherwise, `reads` what it and earlier ones at the step looked at of the files
    (null where nobody knows); `reused_from` the attempt of an earlier run whose passed result this one is. `agent`: the
    one that its step names, as it was when the attempt began; whatever becomes of it, the attempt goes on alike.
    `subagents`: likewise those that it may hand parts to, by name; null for none.
    """

    step = models.ForeignKey(Step, models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    status = word_field(AttemptStatus, default=AttemptStatus.EXECUTING.value)
    base = models.ForeignKey(Tree, models.PROTECT, related_name="+")
    tree = models.ForeignKey(Tree, models.PROTECT, null=True, blank=True, related_name="+")
    overlay: Column[Changes] = ContractField(Changes, default=dict)
    output: Column[StepOutput | None] = ContractField(StepOutput, queried=True, null=True, blank=True)
    fingerprint = models.CharField(max_length=64, default="", blank=True)
    reuse_key = models.CharField(max_length=64, default="", blank=True, db_index=True)
    reads: Column[ReadSet | None] = ContractField(ReadSet, null=True, blank=True)
    reused_from = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="+")
    agent: Column[AgentDefinition | None] = ContractField(AgentDefinition, null=True, blank=True)
    subagents: Column[dict[str, AgentDefinition] | None] = ContractField(
        dict[str, AgentDefinition], null=True, blank=True
    )
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
    def found_nothing_to_do(self) -> bool:
        """Whether it says that its step does not apply."""
        return self.output is not None and self.output.status == "not_applicable"


class Verdict(models.Model):
    """The judgement of an attempt. `passed` is computed from the results (T3). The counters make metrics a sum.

    `requests`: what people asked for at earlier attempts, judged beside the criteria (T7). `untraced`: figures of the
    result that come from nowhere; null for none, as in verdicts of before.
    """

    attempt = models.OneToOneField(Attempt, models.CASCADE, related_name="verdict")
    stage = models.CharField(max_length=8)
    passed = models.BooleanField()
    action = word_field(Action)
    severity = word_field(Severity)
    feedback = models.TextField(default="", blank=True)
    notes: Column[list[str]] = ContractField(list[str], default=list)
    results: Column[list[CriterionResult]] = ContractField(list[CriterionResult], default=list)
    requests: Column[list[RequestResult]] = ContractField(list[RequestResult], default=list, blank=True)
    untraced: Column[list[UntracedFigure] | None] = ContractField(list[UntracedFigure], null=True, blank=True)
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
