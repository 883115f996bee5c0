"""The panel beside a text. It shows the place in a source that a link leads to, without leaving the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from runs.readmodel.run_files import FileDiff
from runs.web.files.excerpt import Excerpt
from runs.web.files.presenter import FilePage


@dataclass(frozen=True)
class SourcePanel:
    """`address`: the page that shows the same place in the whole `kind`. `problem`: why there is no text, as a clause
    behind the title; `image`: where the picture itself is. `missing`: a sentence, where the place is not what the link
    meant. `diffs` stand instead of a text, `page` has a document.
    """

    title: str
    kind: Literal["file", "text"]
    address: str
    facts: tuple[str, ...]
    excerpt: Excerpt | None
    problem: str = ""
    image: str = ""
    missing: str = ""
    diffs: Sequence[FileDiff] = ()
    page: FilePage | None = None

    def answer(self, request: HttpRequest) -> HttpResponse:
        return render(request, "files/file.html#panel", {"panel": self})


def is_for_panel(request: HttpRequest) -> bool:
    """Whether a script requests the panel of a page instead of the page."""
    return "panel" in request.GET
