"""Makes hidden and misleading characters visible in everything that a template renders."""

from __future__ import annotations

from typing import Any, override

from django.http import HttpRequest
from django.template.backends.django import DjangoTemplates, Template
from django.utils.safestring import SafeString, mark_safe

from runs.text.visible import make_visible


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
