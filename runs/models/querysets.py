"""Named queries that several places need."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.core.exceptions import ObjectDoesNotExist
from django.db import models

from runs.enums import (
    OPEN_WORK,
    SETTLED_STEPS,
    TERMINAL_STEPS,
    AttemptStatus,
    GateKind,
    GateStatus,
    PlanStatus,
    RunStatus,
)

if TYPE_CHECKING:  # the tables import this module
    from runs.models.calls import ModelCall, ToolCall
    from runs.models.definitions import Agent
    from runs.models.files import Rendition
    from runs.models.gates import Gate
    from runs.models.people import AccessToken, Link
    from runs.models.plans import Attempt, Overruling, Plan, Step
    from runs.models.runs import Event, Run
    from runs.models.work import WorkItem
    from runs.pev.agents import AgentDefinition


def one_of[Row: models.Model](rows: models.QuerySet[Row]) -> Row | None:
    """The row of a query that finds one at most, such as one by its key; None if it finds none.

    `first` would sort by the key, for which Django compares each column: a third of the time of a small query.
    """
    try:
        return rows.get()
    except ObjectDoesNotExist:
        return None


class LinkQuerySet(models.QuerySet["Link"]):
    def living(self, now: datetime) -> Self:
        """Valid links, which are neither used nor expired."""
        return self.filter(used_at__isnull=True, expires_at__gt=now)


class AccessTokenQuerySet(models.QuerySet["AccessToken"]):
    def living(self, now: datetime) -> Self:
        """Tokens that are neither revoked nor expired. Their person may be inactive."""
        return self.filter(revoked_at__isnull=True, expires_at__gt=now)


class RunQuerySet(models.QuerySet["Run"]):
    def finished(self) -> Self:
        return self.filter(status=RunStatus.FINISHED)

    def unfinished(self) -> Self:
        """Runs that work or wait for someone."""
        return self.exclude(status=RunStatus.FINISHED)


class EventQuerySet(models.QuerySet["Event"]):
    def after(self, seq: int) -> Self:
        """The events after number `seq` of the run, oldest first."""
        return self.filter(seq__gt=seq).order_by("seq")


class PlanQuerySet(models.QuerySet["Plan"]):
    def newest_first(self) -> Self:
        return self.order_by("-version")

    def newest(self) -> Plan | None:
        """The highest version, in any status."""
        return self.newest_first().first()

    def rejected(self) -> Self:
        return self.filter(status=PlanStatus.REJECTED)


class StepQuerySet(models.QuerySet["Step"]):
    def of_run(self, run: Run) -> Self:
        """The steps of every version of the plan."""
        return self.filter(plan__run=run)

    def settled(self) -> Self:
        """Steps on whose results others may rest: passed, accepted with open points, or not applicable."""
        return self.filter(status__in=SETTLED_STEPS)

    def unfinished(self) -> Self:
        """Steps whose status can still change."""
        return self.exclude(status__in=TERMINAL_STEPS)


class AttemptQuerySet(models.QuerySet["Attempt"]):
    def of_run(self, run: Run) -> Self:
        return self.filter(step__plan__run=run)

    def passed(self) -> Self:
        return self.filter(status=AttemptStatus.PASSED)

    def reused(self) -> Self:
        """Those that took over the result of an earlier run."""
        return self.filter(reused_from__isnull=False)


class OverrulingQuerySet(models.QuerySet["Overruling"]):
    def in_force(self) -> Self:
        """Those that hold: the newest of each criterion, unless its verdict holds again."""
        newer = self.model._default_manager.filter(
            attempt=models.OuterRef("attempt"), label=models.OuterRef("label"), pk__gt=models.OuterRef("pk")
        )
        return self.exclude(was=models.F("met")).exclude(models.Exists(newer))

    def with_verdicts(self) -> Self:
        """In order, each with who judges otherwise and with the verdict, but without the result that it is about."""
        read = ("label", "was", "met", "reason", "at", "by__username")
        of_attempt = ("attempt__step", "attempt__status", "attempt__verdict__results")
        return self.select_related("by", "attempt__verdict").only(*read, *of_attempt).order_by("pk")

    def rejections(self) -> Self:
        """Those in force by which a person rejects what its verdict found met."""
        return self.in_force().filter(met=False)


class GateQuerySet(models.QuerySet["Gate"]):
    def open(self) -> Self:
        """Questions that wait for a person."""
        return self.filter(status=GateStatus.OPEN)

    def holding(self, step: object, plan: object) -> Self:
        """Those about this step of this plan, and those about all of its run, such as its budget."""
        return self.filter(models.Q(step=step) | models.Q(run__plans=plan, step=None, plan=None))

    def known(self) -> Self:
        """Gates of known kinds. During an upgrade a later version may share the tables and have others."""
        return self.filter(kind__in=list(GateKind))

    def rejected(self) -> Self:
        return self.filter(status=GateStatus.REJECTED)

    def requests(self) -> Self:
        """Rejections whose words are kept as requests, by their number."""
        return self.filter(request__isnull=False, status=GateStatus.REJECTED).order_by("request")

    def answers(self) -> Self:
        """What people answered to questions of models, by their number."""
        return self.filter(status=GateStatus.ANSWERED).order_by("request")


class WorkItemQuerySet(models.QuerySet["WorkItem"]):
    def open(self) -> Self:
        """Work that is neither done nor cancelled: ready, leased or suspended."""
        return self.filter(status__in=OPEN_WORK)


class ModelCallQuerySet(models.QuerySet["ModelCall"]):
    def live(self) -> Self:
        """The replies that a resumed attempt is given again."""
        return self.filter(live=True)

    def unpriced(self) -> Self:
        return self.filter(cost_usd__isnull=True)


class ToolCallQuerySet(models.QuerySet["ToolCall"]):
    def refused(self) -> Self:
        """Calls that the tool answered with an error."""
        return self.filter(is_error=True)


class RenditionQuerySet(models.QuerySet["Rendition"]):
    def waiting(self) -> Self:
        """Renditions of contents that have not been read yet."""
        return self.filter(text="", problem="")


class AgentQuerySet(models.QuerySet["Agent"]):
    def definitions(self, names: Collection[str] | None = None) -> dict[str, AgentDefinition]:
        """The definitions of these agents by name, or of all agents. No query for an empty collection."""
        if names is not None and not names:
            return {}
        rows = self if names is None else self.filter(name__in=names)
        return dict(rows.order_by("name").values_list("name", "definition"))
