"""The time zone of the person who is signed in: chosen on a page of their account, and used on all pages."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from runs.errors import InvalidInput
from runs.models import User
from runs.people import time_zones
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import GetResponse, person


class TimeZoneForm(PostedForm):
    """The name of a zone; empty for that of the installation."""

    zone = Text(required=False, max_length=64)


def own_time_zone(get_response: GetResponse) -> GetResponse:
    """Middleware that shows all times in the time zone of the person."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if not isinstance(request.user, User) or not request.user.time_zone:
            return get_response(request)
        with timezone.override(time_zones.zone_of(request.user)):
            return get_response(request)

    return answer


@require_http_methods(["GET", "HEAD", "POST"])
def time_zone(request: HttpRequest) -> HttpResponse:
    user, problem = person(request), ""
    if request.method == "POST":
        try:
            time_zones.choose(user, TimeZoneForm(request.POST).checked()["zone"])
        except InvalidInput as error:
            problem = str(error)
        else:
            messages.success(request, "Your time zone is stored. Pages show times in it from now on.")
            return redirect("time_zone")
    context = {"zones": time_zones.names(), "usual": settings.TIME_ZONE, "chosen": user.time_zone, "problem": problem}
    return render(request, "people/time_zone.html", context, status=422 if problem else 200)
