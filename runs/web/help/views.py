"""Help and glossary: what happens when, and what the words of the pages mean."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.web.help.glossary import GROUPS


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    return render(request, "help/help.html")


@require_safe
def glossary(request: HttpRequest) -> HttpResponse:
    return render(request, "help/glossary.html", {"groups": GROUPS})
