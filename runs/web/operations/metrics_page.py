"""The page of figures over all runs that a person may see. Tables beside the charts say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Min, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from runs.accounting.costs import NO_CALLS, Totals, totals_of_canaries
from runs.accounting.decision_pace import DecisionPace, pace_of_all
from runs.accounting.figures import Bucket, FiguresOverTime, Metrics, Trends
from runs.accounting.metrics import metrics_over_time
from runs.calibration.canaries import CanaryRate, canary_rates
from runs.calibration.results import CatchRate, catch_rates
from runs.models import Overruling, Run, User
from runs.people.permissions import is_administrator, visible_runs
from runs.readmodel import run_queries
from runs.readmodel.status_words import words

PERIODS: Mapping[str, int | None] = {"7": 7, "30": 30, "90": 90, "all": None}
"""The periods that the address may name: days, or no limit."""
DEFAULT = "30"
MAX_PEOPLE = 200
"""Names in the filter."""
FEWEST_COLUMNS = 7
"""A chart leaves out the columns before its first run, down to so many."""
_DAYS, _WEEKS, _MONTHS = 31, 190, 1_100
"""Up to so many days a chart has a column for each day, week or month; beyond that for each year."""


@dataclass(frozen=True)
class MetricsPage:
    """`chosen` names the period, `person` whose runs are counted, or nothing; `ever`: whether there is any run.

    `pace`: of the decisions of everyone in the period, for administrators. `verifiers`: what was measured of them with
    planted faults, whatever the period. `overruled`: criteria of these runs that people judge otherwise than a verdict.
    `canaries`: what verifiers made of faults that were planted in copies of results of these runs. `canary_totals`:
    what judging the copies has cost.
    """

    chosen: str
    person: str
    people: Sequence[str]
    figures: Metrics
    trends: Trends
    ever: bool
    pace: DecisionPace | None = None
    verifiers: Sequence[CatchRate] = ()
    overruled: int = 0
    canaries: Sequence[CanaryRate] = ()
    canary_totals: Totals = NO_CALLS

    @property
    def days(self) -> int | None:
        return PERIODS[self.chosen]

    @property
    def periods(self) -> list[tuple[str, str]]:
        return [(name, f"{days} days" if days else "All time") for name, days in PERIODS.items()]

    @property
    def no_ai(self) -> bool:
        return run_queries.without_ai(one.model for one in self.figures.roles)

    @property
    def spans(self) -> Sequence[FiguresOverTime]:
        """The columns: not those before the first run, where there are more than a few."""
        spans = self.trends.spans
        first = next((place for place, span in enumerate(spans) if span.runs.total), 0)
        return spans[max(0, min(first, len(spans) - FEWEST_COLUMNS)) :]

    @property
    def labels(self) -> list[str]:
        """The label below each column: a day, the first day of a week, a month or a year."""
        begins = [timezone.localtime(span.begin) for span in self.spans]
        step = (begins[1] - begins[0]).days if len(begins) > 1 else 1
        form = "%-d %b" if step <= 7 else "%b %Y" if step <= 31 else "%Y"
        return [f"{begin:{form}}" for begin in begins]

    @property
    def rows(self) -> list[tuple[str, object]]:
        """The spans with their labels, the latest first, without those in which nothing was submitted."""
        named = zip(self.labels, self.spans, strict=True)
        return [(label, span) for label, span in reversed(list(named)) if span.runs.total]

    @property
    def charts(self) -> dict[str, object]:
        """The data for `charts.js`, as JSON."""
        spans, figures = self.spans, self.figures
        outcomes = ("succeeded", "partial", "failed", "cancelled", "open")
        costs = sorted(figures.roles, key=lambda one: one.totals.cost, reverse=True)
        return {
            "labels": self.labels,
            "outcomes": {name: [getattr(span.runs, name) for span in spans] for name in outcomes},
            "yield": [_percent(span.steps.first_pass_yield) for span in spans],
            "retries": {
                "recovered": [span.steps.recovered for span in spans],
                "not recovered": [span.steps.retried - span.steps.recovered for span in spans],
            },
            "costs": [{"name": f"{one.role}, {one.model}", "usd": round(float(one.totals.cost), 4)} for one in costs],
            "waiting": [
                {"kind": words(one.kind), "mean": one.times.mean_ms / 60_000, "longest": one.times.max_ms / 60_000}
                for one in figures.waiting
            ],
            "confidence": {"executor": _points(figures.executor), "verifier": _points(figures.verifier)},
            "failing": [
                {"text": one.text[:80], "unsupported": one.unsupported, "other": one.failed - one.unsupported}
                for one in self.trends.failing
            ],
        }


def read_metrics(visible: QuerySet[Run], asked: Mapping[str, str], *, sees_all: bool = False) -> MetricsPage:
    """The page that the query of an address names. Invalid values are ignored."""
    chosen = asked.get("days", DEFAULT)
    chosen = chosen if chosen in PERIODS else DEFAULT
    owners = User.objects.filter(pk__in=visible.order_by().values("owner"))
    people = list(owners.order_by("username").values_list("username", flat=True)[:MAX_PEOPLE])
    person = asked.get("person", "")
    person = person if person in people else ""
    runs = visible.filter(owner__username=person) if person else visible
    begins = _first_days(PERIODS[chosen], runs)
    figures, trends = metrics_over_time(runs.filter(created_at__gte=begins[0]), begins)
    # Not for the runs of one person: that would be next to a figure about them.
    pace = pace_of_all(begins[0]) if sees_all and not person else None
    mine = runs.filter(created_at__gte=begins[0])
    of_mine = Overruling.objects.in_force().filter(attempt__step__plan__run__in=mine.order_by().values("pk"))
    canaries = canary_rates(mine)
    return MetricsPage(
        chosen,
        person,
        people,
        figures,
        trends,
        bool(people),
        pace,
        catch_rates(),
        of_mine.count(),
        canaries,
        totals_of_canaries(mine) if canaries else NO_CALLS,
    )


def _first_days(days: int | None, runs: QuerySet[Run]) -> list[datetime]:
    """The first days of the columns, from the first day of the period to today."""
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    if days is None:
        first = runs.aggregate(first=Min("created_at"))["first"]
        days = (today - timezone.localtime(first)).days + 2 if first else 1
    start = today - timedelta(days=days - 1)
    if days <= _DAYS:
        return [start + timedelta(days=number) for number in range(days)]
    if days <= _WEEKS:
        monday = start - timedelta(days=start.weekday())
        return [monday + timedelta(weeks=number) for number in range((today - monday).days // 7 + 1)]
    months = range(start.year * 12 + start.month - 1, today.year * 12 + today.month)
    if days <= _MONTHS:
        return [today.replace(year=month // 12, month=month % 12 + 1, day=1) for month in months]
    return [today.replace(year=year, month=1, day=1) for year in range(start.year, today.year + 1)]


def _percent(share: float | None) -> int | None:
    return None if share is None else round(share * 100)


def _points(buckets: Sequence[Bucket]) -> list[dict[str, int | None]]:
    return [{"said": _percent(one.claimed), "held": _percent(one.share), "count": one.count} for one in buckets]


@require_safe
def metrics_page(request: HttpRequest) -> HttpResponse:
    """Over the runs submitted in a period (`?days=7`, 30, 90 or all), by everybody or one person (`?person=`)."""
    page = read_metrics(visible_runs(request.user), request.GET.dict(), sees_all=is_administrator(request.user))
    return render(request, "operations/metrics.html", {"page": page, "figures": page.figures})
