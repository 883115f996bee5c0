"""Tables of the installation as a whole: processes and locks, deleted runs, and what model and MCP servers offer."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.enums import Outcome
from runs.llm.capabilities import Probed
from runs.mcp_client.server_config import ServerTool
from runs.models.fields import Column, ContractField, only, word_field
from runs.text.plural import pluralize


class DeletedRun(models.Model):
    """What remains of a deleted run: one line for administrators. Its content is gone."""

    # The run's primary key.
    number = models.BigIntegerField(unique=True)
    title = models.CharField(max_length=120)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    outcome = word_field(Outcome)
    submitted_at = models.DateTimeField()
    finished_at = models.DateTimeField()
    # Sums over its journal; calls without a known price do not count.
    calls = models.PositiveIntegerField()
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8)
    # Of its last workspace.
    files = models.PositiveIntegerField()
    bytes = models.PositiveBigIntegerField()
    # Null if it was deleted because it had been kept for long enough.
    deleted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True)
    deleted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [only("outcome", Outcome, "deleted_run_outcome_known")]

    def __str__(self) -> str:
        return f"Run {self.number}, deleted: {self.title}"


class Discarded(models.Model):
    """The hash of a content that a deleted run had. The sweeper removes the content if nothing else uses it."""

    sha256 = models.CharField(max_length=64, unique=True)
    due_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["due_at"]
        verbose_name_plural = "discarded"

    def __str__(self) -> str:
        return f"{self.sha256[:12]} discarded"


class Process(models.Model):
    """A process that serves pages or carries out work, as it reported last."""

    name = models.CharField(max_length=120, unique=True)
    # The name under which it holds leases: host name and process id.
    owner = models.CharField(max_length=80)
    serves = models.BooleanField()
    # How many work items it carries out at once; 0 if it only serves.
    threads = models.PositiveIntegerField()
    engine = models.CharField(max_length=20)
    messages = models.BooleanField()
    version = models.CharField(max_length=40)
    # The newest migration that it knows.
    schema = models.CharField(max_length=120)
    # A mark that is equal for processes with the same secret key.
    key = models.CharField(max_length=16)
    # Seconds by which its clock is ahead of the database's.
    clock_ahead = models.FloatField(default=0)
    # It takes no new work.
    draining = models.BooleanField(default=False)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["started_at"]
        verbose_name_plural = "processes"

    def __str__(self) -> str:
        return self.owner

    @property
    def host(self) -> str:
        return self.owner.rpartition("/")[0]


class LeaderLock(models.Model):
    """A lock that one process at a time holds for the whole installation, e.g. to sweep or to make a back-up."""

    name = models.CharField(max_length=40, primary_key=True)
    owner = models.CharField(max_length=120)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} of {self.owner}"


class Probe(models.Model):
    """What a model on a server was found to honour. `address` contains no user name and no password (S5)."""

    address = models.CharField(max_length=500)
    model = models.CharField(max_length=200)
    asked_at = models.DateTimeField(auto_now=True)
    found: Column[Probed] = ContractField(Probed)

    class Meta:
        constraints = [models.UniqueConstraint("address", "model", name="one_probe_per_server_and_model")]

    def __str__(self) -> str:
        return f"{self.model} at {self.address}"


class ServerListing(models.Model):
    """The tools that an MCP server listed last."""

    name = models.CharField(max_length=40, unique=True)
    tools: Column[list[ServerTool]] = ContractField(list[ServerTool], default=list)
    # One sentence for each tool that cannot be used.
    left_out: Column[list[str]] = ContractField(list[str], default=list)
    # Why the server could not be asked at `asked_at`; empty if it could.
    problem = models.CharField(max_length=500, default="", blank=True)
    listed_at = models.DateTimeField(null=True, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)
    # Since when a person has been waiting for it to be asked again.
    wanted_at = models.DateTimeField(null=True, blank=True)
    # Another process may ask it after this time.
    asking_until = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name}, {pluralize(len(self.tools), 'tool')}"
