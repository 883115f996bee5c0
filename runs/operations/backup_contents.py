"""Every content that a row names, by its hash, and where it is named first."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from runs.contracts.ports import Changes
from runs.models import Attempt, DraftFile, Rendition, ToolCall, Tree

type Rows = QuerySet[Any, tuple[int, Changes]]
_AT_ONCE = 500
"""Rows in memory at a time: a tree may list ten thousand files."""


@dataclass(frozen=True)
class Named:
    """A content that has to be in the store. `size` in bytes; None where the row does not say it."""

    sha256: str
    size: int | None
    by: str


def named(using: str = "default") -> Iterator[Named]:
    """All that the database of this alias names, each as often as it is named, runs before drafts."""
    yield from _changed("tree", Tree.objects.using(using).order_by("id").values_list("id", "changes"))
    yield from _changed("attempt", Attempt.objects.using(using).order_by("id").values_list("id", "overlay"))
    yield from _changed("tool call", ToolCall.objects.using(using).order_by("id").values_list("id", "writes"))
    drafted = DraftFile.objects.using(using).order_by("id").values_list("draft_id", "path", "sha256", "size")
    for draft, path, sha256, size in drafted.iterator(_AT_ONCE):
        yield Named(sha256, size, f"“{path}” of draft {draft}")
    for source, text, layout in (
        Rendition.objects.using(using).order_by("id").values_list("source", "text", "layout").iterator()
    ):
        yield from (Named(sha256, None, f"what {source[:12]} reads as") for sha256 in (text, layout) if sha256)


def _changed(kind: str, rows: Rows) -> Iterator[Named]:
    for number, changes in rows.iterator(_AT_ONCE):
        for path, info in changes.items():
            if info:
                yield Named(info.sha256, info.size, f"“{path}” of {kind} {number}")
