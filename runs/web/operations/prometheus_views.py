"""Metrics for Prometheus, for clients with the token. Without a token in the settings there is no such address."""

from functools import cache

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from runs.web.operations.prometheus import Metrics

_metrics = cache(Metrics)
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Raises Http404 where `PEV_METRICS_TOKEN` is not set."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
        refused = "This needs the token of PEV_METRICS_TOKEN, as “Authorization: Bearer …”.\n"
        return HttpResponse(refused, status=401, content_type=_TEXT, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(_metrics().text(), content_type=_TEXT)
