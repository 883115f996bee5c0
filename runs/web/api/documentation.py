"""The description of the API for programs."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from runs.web.api.api import api
from runs.web.site.addresses import API_PATH


@login_not_required
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document. It says nothing of the installation, so that it needs no token."""
    return JsonResponse(document())


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, which is the same on every installation of this version."""
    return dict(api.get_openapi_schema(path_prefix=API_PATH.strip("/")))
