"""The table of gates: questions to people, and their answers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from runs.contracts.feedback import Comment
from runs.enums import REQUESTING_GATES, GateKind, GateStatus
from runs.models.fields import Column, ContractField, VerbatimField, only, word_field
from runs.models.plans import Attempt, Plan, Step
from runs.models.querysets import GateQuerySet
from runs.models.runs import Run
from runs.models.work import WorkItem

_REQUESTING = sorted(kind.value for kind in REQUESTING_GATES)
_ANSWERED = Q(status=GateStatus.ANSWERED.value)
_UNDECIDED = [GateStatus.OPEN.value, GateStatus.WITHDRAWN.value]


class Gate(models.Model):
    """What waits for a person. `digest` is what an approval would be bound to (G1).

    Who decided, when and how stand together or not at all; `decided_how` is `person`, `terminal` or `--approve-all`.
    `withdrawn_at`: when the question went away without an answer. `request`: the number, in the run and from 1, of what
    a person asked for with a rejection; at an error that is another plan, and `plan` then the version before it. What
    they answered to a model's question is numbered with these. `choices`: the answers that such a question suggests.
    `call`: the name and the arguments of a call that acts outside; `sent_at`: when it was about to be sent.
    `comments`: the parts of it, where there are several, each with a number of its own; `reason` has them all.
    `question` says in one sentence what is asked. `cause`: the kind of the ModelError that holds the work, if one does.
    `second_person`: who submitted the task may not approve it. Lists go by it; a decision is held against the policy.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="gates")
    kind = word_field(GateKind)
    status = word_field(GateStatus, default=GateStatus.OPEN.value)
    plan = models.ForeignKey(Plan, models.CASCADE, null=True, blank=True, related_name="gates")
    step = models.ForeignKey(Step, models.CASCADE, null=True, blank=True, related_name="gates")
    attempt = models.ForeignKey(Attempt, models.CASCADE, null=True, blank=True, related_name="gates")
    work = models.ForeignKey(WorkItem, models.CASCADE, null=True, blank=True, related_name="gates")
    digest = models.CharField(max_length=64)
    question = models.TextField()
    choices: Column[list[str] | None] = ContractField(list[str], null=True, blank=True)
    call = VerbatimField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    cause = models.CharField(max_length=80, default="", blank=True)
    second_person = models.BooleanField(default=False, db_default=False)
    opened_at = models.DateTimeField(auto_now_add=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_how = models.CharField(max_length=40, default="", blank=True)
    reason = models.TextField(default="", blank=True)
    request = models.PositiveSmallIntegerField(null=True, blank=True)
    comments: Column[list[Comment]] = ContractField(list[Comment], default=list, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = GateQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["run"], condition=Q(status=GateStatus.OPEN.value), name="gate_open")]
        constraints = [
            only("kind", GateKind, "gate_kind_known"),
            only("status", GateStatus, "gate_status_known"),
            models.CheckConstraint(
                condition=Q(status__in=_UNDECIDED, decided_by__isnull=True, decided_at__isnull=True, decided_how="")
                | (
                    ~Q(status__in=_UNDECIDED)
                    & Q(decided_by__isnull=False, decided_at__isnull=False)
                    & ~Q(decided_how="")
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
    def asked(self) -> list[Comment]:
        """What a person asked for with the rejection, each with its number; nothing at a gate that asks for nothing."""
        if self.request is None or self.status == GateStatus.ANSWERED:
            return []
        return self.comments or [Comment(text=self.reason, request=self.request)]
