"""Diagrams on pages: a picture with an address of its own, and its source in a fold. Pages draw nothing themselves."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import unescape

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from runs.contracts.base import OUTPUT
from runs.errors import InvalidInput
from runs.isolation import ChildFailed
from runs.models import Attempt, Run
from runs.reports.markdown_html import DIAGRAM, render_markdown
from runs.store import diagram_pictures
from runs.store.diagram_pictures import MAX_DRAWN, DrawnDiagram, name_of, source_of, words_for
from runs.web.site.addresses import Place, text_address
from runs.web.site.streaming import picture


def sources_in(text: str) -> Sequence[str]:
    """The diagrams of a Markdown text that its page shows as pictures."""
    found = (source_of(unescape(one[1])) for one in DIAGRAM.finditer(render_markdown(text)))
    return list(found)[:MAX_DRAWN]


def drawn(html: SafeString, place: Run | Attempt | str, among: Collection[str] | None = None) -> SafeString:
    """Clean HTML of a text with a picture of each diagram in it, or of those `among` these. `place`: a run for its
    answer, an attempt for its findings, else the address of the text, below which its pictures are.
    """
    match place:
        case Run():
            address = text_address(place.pk, "answer", Place())
        case Attempt():
            findings = f"attempt-{place.pk}-{OUTPUT.removeprefix('@')}"
            address = text_address(place.step.plan.run_id, findings, Place())
        case _:
            address = place
    left = MAX_DRAWN

    def pictured(block: re.Match[str]) -> str:
        nonlocal left
        source = source_of(unescape(block[1]))
        if among is not None and source not in among:
            return block[0]
        left -= 1
        return figure(source, address, is_drawn=left >= 0)

    return mark_safe(DIAGRAM.sub(pictured, html))  # noqa: S308  figures escape what they are given


def figure(source: str, address: str, *, is_drawn: bool = True) -> SafeString:
    """One diagram. Its size is known if it was drawn before; otherwise its picture gets a room that does not change."""
    try:
        known = diagram_pictures.drawn_before(source) if is_drawn else None
        problem = "" if is_drawn else f"only the first {MAX_DRAWN} diagrams of a text are drawn"
    except InvalidInput as error:
        known, problem = None, str(error).rstrip(".")
    not_drawn = format_html('<p class="alert warn">This diagram is not drawn: {}.</p>', problem)
    shown = not_drawn if problem else _picture(source, address, known)
    return format_html(
        '<figure class="diagram">{}<details class="fold"{}><summary>Source of the diagram</summary>'
        '<pre class="code"><code>{}</code></pre></details></figure>',
        shown,
        mark_safe(" open") if problem else "",
        source,
    )


def diagram_in(request: HttpRequest, sources: Sequence[str]) -> HttpResponseBase:
    """The picture of the diagram with this name. Raises Http404 for another name, and if it cannot be drawn."""
    asked = request.GET["diagram"]
    source = next((one for one in sources if name_of(one) == asked), None)
    if source is None:
        raise Http404("This text has no such diagram.")
    try:
        return picture(request, iter([diagram_pictures.drawn(source).png]), "image/png")
    except (InvalidInput, ChildFailed) as error:
        raise Http404(f"This diagram cannot be drawn: {error}.") from error


def _picture(source: str, address: str, known: DrawnDiagram | None) -> SafeString:
    to = f"{address}{'&' if '?' in address else '?'}diagram={name_of(source)}"
    words = words_for(source)
    if known is None:
        image = format_html('<img class="unsized" src="{}" srcset="{} 2x" alt="{}" loading="lazy">', to, to, words)
    else:
        size = (known.width, known.height)
        image = format_html('<img src="{}" width="{}" height="{}" alt="{}" loading="lazy">', to, *size, words)
    return format_html(
        '<div class="diagram-picture" tabindex="0" role="group" aria-label="{}">{}</div>{}',
        f"{words}, can be scrolled",
        image,
        format_html('<p class="alert warn" hidden>{}</p>', "This diagram could not be drawn. Its source is below."),
    )
