"""Which rows name contents, by their hash: trees, results of attempts, and what tool calls have written."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from runs.models import Attempt, ToolCall, Tree


def naming() -> Iterator[QuerySet[Any, str]]:
    """The columns that name contents, as they are stored: a hundred thousand rows need not become contracts."""
    for rows, column in ((Tree.objects, "changes"), (Attempt.objects, "overlay"), (ToolCall.objects, "writes")):
        yield rows.order_by().annotate(text=Cast(column, TextField())).values_list("text", flat=True)


def is_named(sha256: str) -> bool:
    """Whether any of them names this content. It looks through all of them."""
    return any(texts.filter(text__contains=sha256).exists() for texts in naming())
