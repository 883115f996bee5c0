"""The Django admin, for administrators who need to look at work items, leases and calls. It is read-only.

A status changes only together with its event, and the journal never changes (D1). A person who is made inactive must
lose sessions and links too.
"""

from __future__ import annotations

from typing import Any, Never

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from pydantic import BaseModel

from runs.models import AccessToken, DeletedRun, Event, Gate, ModelCall, Run, ToolCall, User, WorkItem
from runs.people.permissions import is_administrator


class Administration(admin.AdminSite):
    """For administrators. Others get 404 (S4). Anyone who has not signed in has been redirected already."""

    site_header = site_title = "pevsite administration"
    index_title = "What this installation holds"
    empty_value_display = "–"

    def has_permission(self, request: HttpRequest) -> bool:
        """Raises Http404 instead of returning False, for a form of its own. People sign in on the site."""
        if not is_administrator(request.user):
            raise Http404
        return True

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Never:
        """Raises Http404: passwords are changed on the site, under *Account*."""
        raise Http404

    def password_change_done(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Never:
        raise Http404


site = Administration(name="admin")


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Lists and pages without editing."""

    show_full_result_count = False  # counting all events takes longer than showing a hundred

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request.user)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_administrator(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _preformatted(contract: BaseModel) -> SafeString:
    return format_html("<pre>{}</pre>", contract.model_dump_json(indent=2))


@admin.register(Run, site=site)
class RunAdmin(ReadOnly):
    list_display = ("id", "title", "owner", "status", "outcome", "paused", "replans", "created_at", "finished_at")
    list_filter = ("status", "outcome", "paused", "created_at")
    list_select_related = ("owner",)
    search_fields = ("title", "request", "=id", "=owner__username")
    exclude = ("policy", "final")
    readonly_fields = ("policy_json", "final_json")

    @admin.display(description="Policy")
    def policy_json(self, run: Run) -> SafeString:
        return _preformatted(run.policy)

    @admin.display(description="Final judgement")
    def final_json(self, run: Run) -> SafeString | None:
        return _preformatted(run.final) if run.final else None


@admin.register(WorkItem, site=site)
class WorkItemAdmin(ReadOnly):
    """Who holds which lease until when, what is due, and what was tried how often."""

    list_display = (
        "id",
        "run",
        "kind",
        "status",
        "lease_owner",
        "lease_until",
        "epoch",
        "tries",
        "losses",
        "due_at",
        "error",
    )
    list_filter = ("status", "kind", "due_at")
    list_select_related = ("run",)
    search_fields = ("=id", "=run__id", "run__title", "lease_owner", "error")


@admin.register(Gate, site=site)
class GateAdmin(ReadOnly):
    list_display = ("id", "run", "kind", "status", "question", "opened_at", "decided_by", "decided_at", "decided_how")
    list_filter = ("status", "kind", "decided_how", "opened_at")
    list_select_related = ("run", "decided_by")
    search_fields = ("=id", "=run__id", "run__title", "=decided_by__username")


@admin.register(ModelCall, site=site)
class ModelCallAdmin(ReadOnly):
    list_display = (
        "id",
        "run",
        "role",
        "model",
        "live",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "duration_ms",
        "error",
        "created_at",
    )
    list_filter = ("role", "model", "live", ("error", admin.EmptyFieldListFilter), "created_at")
    list_select_related = ("run",)
    search_fields = ("=run__id", "=work__id", "=request_id", "model", "error")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModelCall]:
        return super().get_queryset(request).defer("content")  # a list of replies would be megabytes


@admin.register(ToolCall, site=site)
class ToolCallAdmin(ReadOnly):
    list_display = ("id", "run", "name", "agent", "ordinal", "is_error", "duration_ms", "created_at")
    list_filter = ("name", "is_error", "created_at")
    list_select_related = ("run",)
    search_fields = ("=run__id", "=work__id", "=use_id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolCall]:
        return super().get_queryset(request).defer("result", "arguments")


@admin.register(Event, site=site)
class EventAdmin(ReadOnly):
    list_display = ("id", "run", "seq", "kind", "at", "data")
    list_filter = ("kind", "at")
    list_select_related = ("run",)
    search_fields = ("=run__id", "run__title")
    ordering = ("-id",)


@admin.register(DeletedRun, site=site)
class DeletedRunAdmin(ReadOnly):
    """What is left of runs that were deleted: the log of the installation."""

    list_display = (
        "number",
        "title",
        "owner",
        "outcome",
        "submitted_at",
        "finished_at",
        "calls",
        "cost_usd",
        "files",
        "bytes",
        "who",
        "deleted_at",
    )
    list_filter = ("outcome", "deleted_at")
    list_select_related = ("owner", "deleted_by")
    search_fields = ("=number", "title", "=owner__username", "=deleted_by__username")

    @admin.display(description="deleted by", ordering="deleted_by__username")
    def who(self, line: DeletedRun) -> str:
        return str(line.deleted_by or "kept for long enough")


@admin.register(AccessToken, site=site)
class AccessTokenAdmin(ReadOnly):
    """Whose programs may ask, and when they last did. They are ended on the page of people."""

    fields = ("user", "name", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at")
    list_display = ("id", *fields)
    list_filter = ("revoked_at", "expires_at")
    list_select_related = ("user",)
    search_fields = ("name", "=user__username")


@admin.register(User, site=site)
class UserAdmin(ReadOnly):
    """People are invited, and made inactive with all that they are signed in to, on their own page."""

    fields = ("username", "is_active", "groups", "is_superuser", "last_login", "signed_out_at", "date_joined")
    list_display = ("username", "is_active", "last_login", "signed_out_at")
    list_filter = ("is_active", "groups")
    search_fields = ("username",)
    ordering = ("username",)
