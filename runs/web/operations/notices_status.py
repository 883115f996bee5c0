"""The page of notices for administrators: what waits, what could not be sent and why, and trying it again."""

from __future__ import annotations

import logging
from enum import StrEnum

from django import forms
from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.enums import DeliveryStatus
from runs.errors import InvalidInput
from runs.logs import about
from runs.models import Delivery, Notice
from runs.notices import deliveries
from runs.notices.channels.registry import CHANNELS, channels_on
from runs.text.plural import pluralize
from runs.web.site.posted_fields import PostedForm, verbs
from runs.web.site.requests import about_request, administrators_only

log = logging.getLogger(__name__)
SHOWN = 50
"""Deliveries in a list. The others are counted."""


class NoticesStatusVerb(StrEnum):
    RETRY = "retry"
    RETRY_ALL = "retry_all"


class NoticesStatusForm(PostedForm):
    """`of`: the row of a delivery."""

    verb = verbs(NoticesStatusVerb)
    of = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)


class NoticesStatus:
    """People and kinds are listed, and neither titles nor addresses: those are nobody else's."""

    def __init__(self) -> None:
        self.now = timezone.now()
        self.channels = [one.label for one in channels_on()]
        self.counts = Delivery.objects.aggregate(
            waiting=Count("pk", filter=Q(status=DeliveryStatus.WAITING)),
            late=Count("pk", filter=Q(status=DeliveryStatus.WAITING, tries__gt=0)),
            failed=Count("pk", filter=Q(status=DeliveryStatus.FAILED)),
            sent=Count("pk", filter=Q(status=DeliveryStatus.SENT)),
            skipped=Count("pk", filter=Q(status=DeliveryStatus.SKIPPED)),
        )
        self.unplanned = Notice.objects.filter(planned_at=None).count()
        self.failed = _labelled(Delivery.objects.filter(status=DeliveryStatus.FAILED).order_by("-ended_at"))
        self.late = _labelled(Delivery.objects.filter(status=DeliveryStatus.WAITING, tries__gt=0).order_by("due_at"))
        self.days = deliveries.KEPT.days


def _labelled(rows: QuerySet[Delivery]) -> list[tuple[str, Delivery]]:
    labels = {channel: one.label for channel, one in CHANNELS.items()}
    return [(labels[row.channel], row) for row in rows.select_related("notice__user")[:SHOWN]]  # type: ignore[index]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
def notices_status(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request)
    try:
        given = NoticesStatusForm(request.POST).checked()
        if given["verb"] is NoticesStatusVerb.RETRY and given["of"] is None:
            raise InvalidInput("Choose one of the buttons.")
    except InvalidInput as error:
        return _page(request, problem=str(error), status=422)
    count = deliveries.try_again([given["of"]] if given["verb"] is NoticesStatusVerb.RETRY else None)
    if count:
        messages.success(request, f"{pluralize(count, 'notice')} will be tried again within a second.")
    else:
        messages.warning(request, "This has changed in the meantime. Look at the current state.")
    log.info("notices: tried again: %s", count, extra=about(**about_request(request)))
    return redirect("notices_status")


def _page(request: HttpRequest, *, status: int = 200, **context: object) -> HttpResponse:
    return render(request, "operations/notices.html", {"page": NoticesStatus(), **context}, status=status)
