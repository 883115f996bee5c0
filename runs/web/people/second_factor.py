"""Sends people who must have a second factor, and have none, to where they add one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from runs.models import User
from runs.people.permissions import lacking_second_factor
from runs.web.site.sessions import has_provider_factor

_OPEN = ("account_", "mfa_", "sign_in_", "usersessions_")
"""The beginnings of the names of the pages that they may use nevertheless."""


class SecondFactorRequired(MiddlewareMixin):
    """Comes after the check that someone has signed in."""

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponseBase], args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        page = request.resolver_match
        is_open = page is not None and (page.url_name or "").startswith(_OPEN)
        if is_open or not isinstance(request.user, User) or has_provider_factor(request.session):
            return None
        if not lacking_second_factor([request.user]):
            return None
        return redirect(f"{reverse('mfa_index')}?needed")
