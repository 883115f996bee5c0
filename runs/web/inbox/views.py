"""The inbox: lists of runs. A repeated request of an open page gets 304 until something has happened."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import quote_etag
from django.views.decorators.http import condition, require_safe

from runs.readmodel import run_queries
from runs.web.inbox.forms import ListForm
from runs.web.inbox.presenter import inbox as present
from runs.web.site.requests import person


def _version(request: HttpRequest) -> str:
    return quote_etag(run_queries.version(person(request)))


@require_safe
@condition(etag_func=_version)
def inbox(request: HttpRequest) -> HttpResponse:
    user = person(request)
    form = ListForm(request.GET, user)
    shown = present(user, form.selection())
    context = {"inbox": shown, "form": form, "problems": form.problems, "sample_token": uuid.uuid4()}
    template = "inbox/inbox.html#sections" if getattr(request, "htmx", False) else "inbox/inbox.html"
    return render(request, template, context)
