"""What the templates of all pages get, and characters that would be hidden made visible in what they render."""

from __future__ import annotations

from typing import Any, override

from django.conf import settings
from django.http import HttpRequest
from django.template.backends.django import DjangoTemplates, Template
from django.utils.safestring import SafeString, mark_safe

from runs.submission.policy_presets import current_service
from runs.text.visible import make_visible


def installation(request: HttpRequest) -> dict[str, object]:
    provider = settings.IDENTITY_PROVIDER
    return {
        "service": current_service(),
        "takes_programs": takes_programs(),
        "sends_mail": bool(settings.MAILERS),
        "provider_name": provider.name if provider else "",
    }


def takes_programs() -> bool:
    """Whether programs can use an access token of a person, over MCP or the REST API."""
    return bool(settings.MCP_SERVER or settings.API)


class VisiblePages(DjangoTemplates):
    """The template backend of every page, so that no page has to think of it."""

    @override
    def from_string(self, template_code: str) -> Template:
        return _VisibleTemplate(super().from_string(template_code).template, self)

    @override
    def get_template(self, template_name: str) -> Template:
        return _VisibleTemplate(super().get_template(template_name).template, self)


class _VisibleTemplate(Template):
    @override
    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        page = super().render(context, request)
        return mark_safe(make_visible(page))  # noqa: S308  it only escapes more of what was safe
