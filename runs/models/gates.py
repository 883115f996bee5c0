"""Gates: questions to people, and their answers."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q

from runs.contracts.feedback import Comment
from runs.enums import REQUESTING_GATES, GateKind, GateStatus, LimitStage
from runs.models.fields import Column, ContractField, VerbatimField, only, word_field
from runs.models.files import Tree
from runs.models.plans import Attempt, Plan, Step
from runs.models.querysets import GateQuerySet
from runs.models.runs import Run
from runs.models.work import WorkItem

_REQUESTING = sorted(kind.value for kind in REQUESTING_GATES)
_ANSWERED = Q(status=GateStatus.ANSWERED.value)
BY_LIMIT = "time limit"
"""How a decision is recorded that the policy made, because no one had decided in time."""
_UNDECIDED = [GateStatus.OPEN.value, GateStatus.WITHDRAWN.value]
_BY_LIMIT = [GateStatus.REJECTED.value, GateStatus.STOPPED.value]
"""What a time limit can decide: it never approves (G4)."""


def guards_high_risk() -> bool:
    """Whether the installation demands a second person for high risk, whatever the policies of runs say."""
    return settings.SECOND_PERSON == "high_risk"


class Gate(models.Model):
    """A decision that the run waits for, or has waited for.

    Who decided, when and how are set together; where the time limit ended, no person decided. A request of a person is
    numbered within the run: the words of a rejection, of another plan at an error, and of an answer to a question of a
    model.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="gates")
    kind = word_field(GateKind)
    status = word_field(GateStatus, default=GateStatus.OPEN.value)
    plan = models.ForeignKey(Plan, models.CASCADE, null=True, blank=True, related_name="gates")
    step = models.ForeignKey(Step, models.CASCADE, null=True, blank=True, related_name="gates")
    attempt = models.ForeignKey(Attempt, models.CASCADE, null=True, blank=True, related_name="gates")
    work = models.ForeignKey(WorkItem, models.CASCADE, null=True, blank=True, related_name="gates")
    # What an approval is bound to (G1).
    digest = models.CharField(max_length=64)
    # One sentence.
    question = models.TextField()
    # Why a model asks this, or makes this call, in its own words; empty if it does not say.
    why = models.TextField(default="", db_default="", blank=True)
    # Answers that a question of a model suggests.
    choices: Column[list[str]] = ContractField(list[str], default=list, blank=True)
    # The name and arguments of a call that acts outside, and when it was about to be sent.
    call = VerbatimField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    # The kind of the ModelError that stops the work, if one does.
    cause = models.CharField(max_length=80, default="", blank=True)
    # Whether the policy demands that a second person approves it, and whether it is about something of high risk, for
    # which the installation may demand one too. Both stay as they were when it was opened.
    second_person = models.BooleanField(default=False)
    high_risk = models.BooleanField(default=False, db_default=False)
    # A digest of what an approval lets happen, equal where that is equal; empty where the decision needs reading of its
    # own. For lists; what is approved together is compared again.
    consequences = models.CharField(max_length=64, default="", db_default="", blank=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    # `person`, `terminal`, `--approve-all`, `BY_LIMIT`, or through which access token a program brought it.
    decided_how = models.CharField(max_length=100, default="", blank=True)
    # The words of a person; `comments` has their parts, each with a number of its own, if there are several.
    reason = models.TextField(default="", blank=True)
    request = models.PositiveSmallIntegerField(null=True, blank=True)
    comments: Column[list[Comment]] = ContractField(list[Comment], default=list, blank=True)
    # The paths of the files with which it was answered, and the input files of the run before.
    supplied: Column[list[str] | None] = ContractField(list[str], null=True, blank=True)
    inputs = models.ForeignKey(Tree, models.PROTECT, null=True, blank=True, related_name="+")
    # When the question went away without an answer.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # Whose turn it is, and of which group. It gives no rights: anyone who may decide can do so.
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="assigned_gates"
    )
    assigned_group = models.ForeignKey(Group, models.SET_NULL, null=True, blank=True, related_name="+")
    assigned_at = models.DateTimeField(null=True, blank=True)
    # When its time limit ends; the next stage of the limits, and when that is due.
    due_at = models.DateTimeField(null=True, blank=True)
    limit_stage = word_field(LimitStage, default="", db_default="", blank=True)
    limit_at = models.DateTimeField(null=True, blank=True)
    # Seconds from when the page was made to the decision; null where that is not known.
    seconds_on_page = models.FloatField(null=True, blank=True)

    objects = GateQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [
            # Lists are counted and sorted without reading rows. No index here has a condition: SQLite would use it
            # only where the query itself has the value, which Django sends apart.
            models.Index(fields=["status", "run", "second_person", "high_risk"], name="gate_open_of_run"),
            models.Index(fields=["status", "opened_at", "-run"], name="gate_waiting"),
            models.Index(fields=["status", "limit_at"], name="gate_limit_due"),
        ]
        constraints = [
            only("kind", GateKind, "gate_kind_known"),
            only("status", GateStatus, "gate_status_known"),
            models.CheckConstraint(
                condition=Q(status__in=_UNDECIDED, decided_by__isnull=True, decided_at__isnull=True, decided_how="")
                | (
                    ~Q(status__in=_UNDECIDED)
                    & Q(decided_by__isnull=False, decided_at__isnull=False)
                    & ~Q(decided_how="")
                )
                | Q(
                    status__in=_BY_LIMIT,
                    decided_by__isnull=True,
                    decided_at__isnull=False,
                    decided_how=BY_LIMIT,
                ),
                name="gate_decision_is_whole",
            ),
            models.CheckConstraint(
                condition=~Q(status=GateStatus.REJECTED.value) | ~Q(reason=""),
                name="gate_rejection_has_reason",
            ),
            models.UniqueConstraint(fields=["run", "request"], name="gate_request_unique"),
            models.CheckConstraint(
                condition=Q(request__isnull=True)
                | Q(status=GateStatus.REJECTED.value, kind__in=_REQUESTING, request__gt=0)
                | (_ANSWERED & Q(request__gt=0)),
                name="gate_request_is_a_rejection",
            ),
            models.CheckConstraint(
                condition=~_ANSWERED | (Q(kind=GateKind.QUESTION.value, request__isnull=False) & ~Q(reason="")),
                name="gate_answer_has_words",
            ),
            models.CheckConstraint(
                condition=Q(status=GateStatus.WITHDRAWN.value) | Q(withdrawn_at__isnull=True),
                name="gate_withdrawal_has_time",
            ),
            *(
                models.UniqueConstraint(
                    fields=["run"], condition=Q(kind=kind.value, status=GateStatus.OPEN.value), name=name
                )
                for kind, name in ((GateKind.PLAN, "one_open_plan_gate"), (GateKind.BUDGET, "one_open_budget_gate"))
            ),
            models.UniqueConstraint(
                fields=["step"],
                condition=Q(status=GateStatus.OPEN.value, step__isnull=False),
                name="one_open_gate_per_step",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} gate {self.pk} of run {self.run_id}"

    @property
    def needs_second_person(self) -> bool:
        """Whether an approval has to come from a second person (see `permissions.first_people`), as the installation is
        set now. Lists ask the same in SQL (`GateQuerySet`, `permissions.approvable_gates`).
        """
        return self.second_person or (self.high_risk and guards_high_risk())

    @property
    def decider(self) -> str:
        """Who decided, for people. It reads who that is, unless it was the policy."""
        return "The policy" if self.decided_how == BY_LIMIT else str(self.decided_by)

    @property
    def asked(self) -> list[Comment]:
        """The numbered requests of a rejection; empty for other decisions."""
        if self.request is None or self.status == GateStatus.ANSWERED:
            return []
        return self.comments or [Comment(text=self.reason, request=self.request)]


class Snooze(models.Model):
    """A person has put a decision off until a time. Their inbox hides it until then; the gate itself is as it was."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="snoozes")
    gate = models.ForeignKey(Gate, models.CASCADE, related_name="snoozes")
    until = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["user", "gate"], name="one_snooze_per_person")]

    def __str__(self) -> str:
        return f"gate {self.gate_id} for {self.user_id} until {self.until:%Y-%m-%d %H:%M}"
