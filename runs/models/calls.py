"""The journal's tables: every model call and every tool call, with its cost."""

from __future__ import annotations

from django.db import models

from runs.contracts.ports import Changes, Shown
from runs.enums import Role
from runs.models.fields import Column, ContractField, VerbatimField, word_field
from runs.models.plans import Attempt
from runs.models.querysets import ModelCallQuerySet, ToolCallQuerySet
from runs.models.runs import Run
from runs.models.work import WorkItem

UNNAMED = "other"
"""The kind of an error for which a service gave no name."""
TOKEN_COLUMNS = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
)


class ModelCall(models.Model):
    """One question to a model and its reply, or why there is none. Written before the next question is asked (D3)."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="model_calls")
    work = models.ForeignKey(WorkItem, models.CASCADE, related_name="model_calls")
    attempt = models.ForeignKey(Attempt, models.CASCADE, null=True, blank=True, related_name="model_calls")
    # Together they say which question this is. Failed tries and the reply to one question share an ordinal.
    generation = models.PositiveSmallIntegerField()
    # The ranges of executor, verifier and canaries are apart.
    ordinal = models.PositiveIntegerField()
    # The reply that an attempt is given again when it is resumed; rows of discarded generations are not live.
    live = models.BooleanField()
    role = word_field(Role)
    model = models.CharField(max_length=120)
    # A digest of the whole question, so that a resumed attempt notices when it would ask something else.
    question = models.CharField(max_length=64)
    content = VerbatimField(default=list)
    stop_reason = models.CharField(max_length=40, default="", blank=True)
    request_id = models.CharField(max_length=120, default="", blank=True)
    # Tokens by kind, as the service counts them.
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cache_read_tokens = models.PositiveIntegerField(default=0)
    cache_write_5m_tokens = models.PositiveIntegerField(default=0)
    cache_write_1h_tokens = models.PositiveIntegerField(default=0)
    # Uses of the service's own tools.
    web_searches = models.PositiveIntegerField(default=0)
    web_fetches = models.PositiveIntegerField(default=0)
    code_runs = models.PositiveIntegerField(default=0)
    # Null if the price of the model is unknown.
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    # The call broke off, and the service charges for more than it has reported.
    cost_is_lower_bound = models.BooleanField(default=False)
    # Wall-clock time.
    duration_ms = models.PositiveIntegerField()
    # Empty if and only if there is a reply.
    error = models.TextField(default="", blank=True)
    # The service's own name for the error, e.g. `overloaded_error`, or UNNAMED if it gave none. Empty for a reply.
    error_kind = models.CharField(max_length=60, default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ModelCallQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        # Sums for a list of runs read no replies, which are by far the largest part of a row.
        indexes = [
            models.Index(fields=["run", "cost_usd"], name="call_cost"),
            models.Index(fields=["role", "model", "error_kind", "cost_usd", *TOKEN_COLUMNS], name="call_figures"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["work", "generation", "ordinal"],
                condition=models.Q(live=True),
                name="one_live_reply_per_question",
            )
        ]

    def __str__(self) -> str:
        return f"{self.role} call {self.ordinal} of work {self.work_id}"


class ToolCall(models.Model):
    """One tool call and its result."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="tool_calls")
    work = models.ForeignKey(WorkItem, models.CASCADE, related_name="tool_calls")
    attempt = models.ForeignKey(Attempt, models.CASCADE, null=True, blank=True, related_name="tool_calls")
    generation = models.PositiveSmallIntegerField()
    ordinal = models.PositiveSmallIntegerField()
    use_id = models.CharField(max_length=120)
    name = models.CharField(max_length=80)
    arguments = VerbatimField(default=dict)
    result = models.TextField()
    is_error = models.BooleanField(default=False)
    # Path to [sha256, size] of each file that the call changed.
    writes: Column[Changes] = ContractField(Changes, default=dict)
    # Which parts of the result show which lines of which files, as these were then.
    shown: Column[tuple[Shown, ...]] = ContractField(tuple[Shown, ...], default=tuple)
    # The subagent that made the call; empty for the model of the role itself.
    agent = models.CharField(max_length=60, default="", blank=True)
    duration_ms = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ToolCallQuerySet.as_manager()

    class Meta:
        ordering = ["ordinal"]
        constraints = [
            models.UniqueConstraint(fields=["work", "generation", "ordinal"], name="one_result_per_tool_call")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.ordinal}) of work {self.work_id}"
