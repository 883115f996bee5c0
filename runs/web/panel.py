"""The panel beside a text: the place in a source that a link on the page leads to, without leaving the page."""

from dataclasses import dataclass
from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from runs.web.excerpt import Excerpt


@dataclass(frozen=True)
class SourcePanel:
    """`address`: the page that shows the same place in the whole `kind`. `problem`: why there is no text, as a clause
    behind the title; `image`: where the picture itself is.
    """

    title: str
    kind: Literal["file", "text"]
    address: str
    facts: tuple[str, ...]
    excerpt: Excerpt | None
    problem: str = ""
    image: str = ""

    def answer(self, request: HttpRequest) -> HttpResponse:
        return render(request, "runs/file.html#panel", {"panel": self})


def is_for_panel(request: HttpRequest) -> bool:
    """Whether a script asks for what its panel shows of a page, and not for the page."""
    return "panel" in request.GET


def place_in(request: HttpRequest) -> tuple[int, int]:
    """The characters that the address points at: the first, and the one after the last."""
    return number_in(request.GET.get("start", "")), number_in(request.GET.get("end", ""))


def number_in(given: str) -> int:
    """A number of an address; 0 for what is none, or out of all proportion."""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else 0
