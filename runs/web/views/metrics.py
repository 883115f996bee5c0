"""The page of figures over all runs that a person may see."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from runs import queries
from runs.accounting.metrics import metrics
from runs.permissions import visible_runs

PERIODS = {"7": 7, "30": 30, "90": 90, "all": None}
"""What the address may name: days, or no limit."""
DEFAULT = "30"


@require_safe
def metrics_page(request: HttpRequest) -> HttpResponse:
    """Over the runs submitted in a period (`?days=7`, 30, 90 or all)."""
    runs = visible_runs(request.user)
    chosen = request.GET.get("days", DEFAULT)
    chosen = chosen if chosen in PERIODS else DEFAULT
    days = PERIODS[chosen]
    within = runs.filter(created_at__gte=timezone.now() - timedelta(days=days)) if days else runs
    figures = metrics(within)
    context = {
        "figures": figures,
        "periods": [(name, f"{count} days" if count else "All time") for name, count in PERIODS.items()],
        "chosen": chosen,
        "days": days,
        "ever": figures.runs.total > 0 or runs.exists(),
        "no_ai": queries.without_ai(one.model for one in figures.roles),
    }
    return render(request, "metrics.html", context)
