"""Markdown that a model or a person wrote, as clean HTML of a page."""

from __future__ import annotations

from django.utils.safestring import SafeString, mark_safe

from runs.evidence.citations.citation import Citation
from runs.models import Attempt, Run
from runs.readmodel.shown_citations import cited_in
from runs.reports.markdown_html import render_markdown
from runs.reports.texts import linked
from runs.web.site.addresses import citation_address, files_address


def markdown(text: str | None) -> SafeString:
    """Clean HTML of Markdown by a model or a person; put it into an element with class `prose`."""
    return _on_a_page(render_markdown(text or ""))


def cited(text: str | None, place: Run | Attempt) -> SafeString:
    """The same for a text of a run or an attempt, with each citation as a link to its place in the source."""
    run_id = place.step.plan.run_id if isinstance(place, Attempt) else place.pk
    found = cited_in(text or "", place)

    def address(one: Citation) -> str:
        return citation_address(run_id, one)

    linked_text = linked(text or "", found, address, address)
    within = files_address(run_id)
    html = _on_a_page(render_markdown(linked_text, within))
    # Only links begin like that: in clean HTML a text has no tag. Which of them open the panel, no text can say.
    return mark_safe(html.replace(f'<a href="{within}', f'<a data-source href="{within}'))  # noqa: S308  it stays clean


def _on_a_page(html: SafeString) -> SafeString:
    """The HTML with tables that can be scrolled with the keyboard, because a page may be too narrow for them."""
    return mark_safe(html.replace("<table>", '<table tabindex="0">'))  # noqa: S308  it stays clean
