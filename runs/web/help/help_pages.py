"""The pages of the help, and the words of the glossary."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from pevsite.installation import SITE, version
from runs.lifecycle.gates.gate_type import Answer
from runs.lifecycle.gates.registry import GATE_TYPES
from runs.reports.markdown_html import render_markdown

_TERM = re.compile(r"(?P<word>.+) \{#(?P<key>[a-z-]+)\}\n\n(?P<meaning>.+)", re.DOTALL)


@dataclass(frozen=True)
class Term:
    """A heading such as `### Run {#run}` with the text below it. `key` names it in addresses and templates."""

    key: str
    word: str
    meaning: str

    @property
    def html(self) -> SafeString:
        return render_markdown(self.meaning)


@dataclass(frozen=True)
class Group:
    title: str
    terms: tuple[Term, ...]


def read_groups(text: str) -> Iterator[Group]:
    """Raises ValueError for a term without a key or a meaning."""
    for section in text.split("\n## ")[1:]:
        title, *terms = section.split("\n### ")
        yield Group(title.strip(), tuple(map(_term, terms)))


def _term(text: str) -> Term:
    if not (match := _TERM.fullmatch(text.strip())):
        raise ValueError(f"“{text[:40]}” in the glossary has no key or no meaning")
    return Term(match["key"], match["word"], " ".join(match["meaning"].split()))


GROUPS = tuple(read_groups((SITE / "templates" / "help" / "glossary.md").read_text("utf-8")))
TERMS: Mapping[str, Term] = {term.key: term for group in GROUPS for term in group.terms}


def answers_by_kind() -> list[tuple[str, tuple[Answer, ...]]]:
    """The kinds of decisions with what each of their buttons does."""
    return [(kind.label, kind.answers(kind.wording)) for kind in GATE_TYPES.values()]


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    return render(request, "help/help.html", {"version": version(), "kinds": answers_by_kind()})


@require_safe
def glossary(request: HttpRequest) -> HttpResponse:
    return render(request, "help/glossary.html", {"groups": GROUPS})
