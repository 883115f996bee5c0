"""The template tags and filters, available in every template."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django import template
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from runs.contracts.ports import FileInfo
from runs.enums import Severity
from runs.evidence.citations.citation import Citation
from runs.evidence.results import Evidence, UntracedFigure
from runs.lifecycle.change_requests import said_at
from runs.models import Attempt, Run, User
from runs.people.provider_accounts import connections_of
from runs.readmodel.status_words import compared, decided, decision_in_words, decision_mark
from runs.readmodel.status_words import words as words
from runs.text.diff import DiffPiece
from runs.text.plain_markdown import without_markup
from runs.text.plural import pluralize
from runs.text.sentences import sentence_ends
from runs.text.truncate import boundary, in_quotes
from runs.web.help.help_pages import TERMS, Term
from runs.web.help.tour import HINTS
from runs.web.markup.plan_graph import graphs_of
from runs.web.markup.prose import checking, referring
from runs.web.site.addresses import (
    address_of,
    citation_address,
    evidence_address,
    file_address,
    statement_address,
    untraced_address,
)
from runs.web.site.requests import program_of

register = template.Library()

_AGO = ((60, 1, "second"), (3_600, 60, "minute"), (86_400, 3_600, "hour"), (7 * 86_400, 86_400, "day"))


_STOP = re.compile(r"(?<=\w{3})[;:][”’)\"]?(?=\s)")
_PAUSE = re.compile(r",[”’)\"]?(?=\s)|(?=\s{1,9}[–—]\s)")
_GAP = re.compile(r"(?=\s)")
_PARTINGS = ((_STOP, 2), (_PAUSE, 2), (_GAP, 1_000))
"""Where a text may be parted besides the end of a sentence, the best first, and what part of the room has to be filled
then.
"""


@register.filter
def split_at(text: str, count: int) -> tuple[str, str]:
    """The sentences that fit into `count` characters, and the rest. Where they fill less than a quarter of the room,
    the clauses that fill half of it, else words; no word is cut that could stand on a line.
    """
    text = text.strip()
    if len(text) <= count:
        return text, ""
    near = text[: count + 2]
    places = [([len(near[:end].rstrip()) for end in sentence_ends(near)], 4)]
    places += [([found.end() for found in where.finditer(near)], part) for where, part in _PARTINGS]
    for found, part in places:
        ends = [end for end in found if count // part <= end <= count]
        if ends:
            return text[: ends[-1]], text[ends[-1] :].strip()
    end = boundary(text, count)
    return text[:end], text[end:]


_PIECES = {"added": "<ins>{}</ins>", "removed": "<del>{}</del>"}
_TONES = {
    **dict.fromkeys(("new", "reused", "within"), "good"),
    **dict.fromkeys(("changed", "above"), "warn"),
    **dict.fromkeys(("removed", "asks for less"), "bad"),
    "added": "active",
}


@register.filter
def tone(change: str) -> str:
    """The colour of a badge that says how something differs from before, or from what was expected."""
    return _TONES.get(change, "calm")


@register.filter
def marked(pieces: Iterable[DiffPiece]) -> SafeString:
    """What was added and removed in a text, without white space of its own."""
    return format_html_join("", "{}", ((format_html(_PIECES.get(piece.kind, "{}"), piece.text),) for piece in pieces))


@register.filter
def severity_words(severity: str) -> str:
    """Whether a result with this severity can be used."""
    return Severity(severity).words


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of the sprite, as large as the text that it belongs to, and unseen by readers that speak the page."""
    place = static("vendor/lucide/icons.svg")
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', place, name)


@register.filter
def badge(status: object) -> SafeString | str:
    """The badge of a status; nothing without one."""
    if not status:
        return ""
    return format_html('<span class="badge" data-status="{}">{}</span>', str(status), words(status))


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """A relative time with the exact one on hover; `times.js` keeps it true while the page is open."""
    if moment is None:
        return ""
    exact = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}" data-ago>{}</time>',
        exact.isoformat(timespec="seconds"),
        f"{exact:%-d %B %Y, %H:%M:%S %Z}",
        in_words(moment, timezone.now()),
    )


@register.filter
def offset(moment: datetime, start: datetime) -> SafeString:
    """How long after the start of a run, with the exact time on hover: +4 s, +2 m 13 s, +1 h 5 m, +3 d 4 h."""
    local = timezone.localtime(moment)
    iso, exact = local.isoformat(timespec="milliseconds"), f"{local:%-d %B %Y, %H:%M:%S %Z}"
    return format_html('<time datetime="{}" title="{}">{}</time>', iso, exact, _offset(moment - start))


def _offset(span: timedelta) -> str:
    whole = max(0, int(span.total_seconds()))
    if whole < 60:
        return f"+{whole} s"
    if whole < 3_600:
        return f"+{whole // 60} m {whole % 60} s"
    if whole < 86_400:
        return f"+{whole // 3_600} h {whole % 3_600 // 60} m"
    return f"+{whole // 86_400} d {whole % 86_400 // 3_600} h"


@register.filter
def exact(moment: datetime | None) -> SafeString | str:
    """The exact time, for pages that are printed."""
    if moment is None:
        return ""
    local = timezone.localtime(moment)
    iso = local.isoformat(timespec="seconds")
    return format_html('<time datetime="{}">{}</time>', iso, f"{local:%-d %B %Y, %H:%M %Z}")


def in_words(moment: datetime, now: datetime) -> str:
    """The same words as in `times.js`."""
    seconds = (now - moment).total_seconds()
    if seconds < 10:
        return "just now"
    for below, unit, name in _AGO:
        if seconds < below:
            count = int(seconds // unit)
            return f"{pluralize(count, name)} ago"
    return f"{timezone.localtime(moment):%-d %b %Y}"


@register.filter
def size(count: int | None) -> str:
    """Bytes for people, in decimal units."""
    if count is None:
        return ""
    if count < 1_000:
        return pluralize(count, "byte")
    amount = float(count)
    for unit in ("kB", "MB", "GB"):
        amount /= 1_000
        if amount < 999.5 or unit == "GB":
            break
    shown = f"{amount:,.0f}" if amount >= 99.5 else f"{amount:,.1f}".removesuffix(".0")
    return f"{shown} {unit}"


@register.filter
def usd(amount: Decimal | float | None) -> str:
    """Dollars, small amounts to a tenth of a cent. None is unpriced, never free."""
    if amount is None:
        return "unpriced"
    value = Decimal(amount)
    if value == 0 or value >= 1:
        return f"${value:,.2f}"
    return f"${value:.3f}" if value >= Decimal("0.001") else "under $0.001"


@register.filter
def about_usd(amount: Decimal | float | None) -> str:
    """Dollars of an estimate: no finer than a cent, since it is not known any better."""
    if amount is None:
        return "unpriced"
    value = Decimal(amount)
    return f"${value:,.2f}" if value == 0 or value >= Decimal("0.01") else "under $0.01"


@register.filter
def thousands(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


register.filter("quoted", in_quotes)


@register.filter
def percent(share: float | None) -> str:
    """0.873 as 87 %."""
    return "" if share is None else f"{share * 100:.0f} %"


@register.filter
def seconds(duration_ms: int | None) -> str:
    """Milliseconds as people say them: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if duration_ms is None:
        return ""
    whole = round(duration_ms / 1_000)
    if duration_ms < 9_950:
        return f"{duration_ms / 1_000:.1f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60} min"


@register.simple_tag
def cannot(why: str, key: str) -> SafeString | str:
    """The attributes of a button that cannot be used, for the reason that `because` says with the same key; nothing for
    one that can.
    """
    return format_html(' disabled aria-describedby="{}"', key) if why else ""


@register.simple_tag
def because(why: str, key: str) -> SafeString | str:
    """Why the button beside it cannot be used, in words."""
    return format_html('<p class="hint" id="{}">{}</p>', key, why) if why else ""


@register.simple_tag
def citation_url(run_id: int, one: Citation | None) -> str:
    """The address of the place that a citation names, or, of a broken one, of what comes nearest; empty for none."""
    return citation_address(run_id, one) if one else ""


@register.simple_tag
def file_url(run_id: int, path: str, info: FileInfo) -> str:
    """The address of a file with exactly this content."""
    return file_address(run_id, path, info.sha256)


@register.simple_tag
def evidence_url(run_id: int, evidence: Evidence, attempt: Attempt | None) -> str:
    """The address of what a piece of evidence names, or nothing; an empty `attempt` stands for the final answer."""
    return evidence_address(run_id, evidence, attempt or None)


@register.simple_tag
def statement_url(run_id: int, evidence: Evidence, attempt: Attempt | None) -> str:
    """The address of the words of the result that a piece of evidence supports, or nothing."""
    return statement_address(run_id, evidence, attempt or None)


@register.simple_tag
def untraced_url(run_id: int, figure: UntracedFigure, attempt: Attempt | None) -> str:
    """The address of a figure of the result that comes from nowhere."""
    return untraced_address(run_id, figure, attempt or None)


@register.filter
def value(values: Mapping[int, str] | None, key: int) -> str:
    """What stands under the key; empty for nothing."""
    return (values or {}).get(key, "")


register.simple_tag(graphs_of)
register.filter(words)
register.filter(without_markup)
register.filter("address", address_of)
register.filter(referring)
register.simple_tag(checking)
register.filter(compared)
register.filter(decided)
register.filter(decision_mark)
register.filter(decision_in_words)
register.filter(said_at)


@register.filter
def short_hash(digest: str) -> str:
    return digest[:12]


@register.inclusion_tag("components/tour.html", takes_context=True)
def tour(context: Mapping[str, Any], run: Run | None, *places: str) -> dict[str, object]:
    """The hints of the tour for these places of a run, or of the form without one; none unless the view says in
    `sees_tour` that this person sees the tour.
    """
    if not context.get("sees_tour"):
        return {}
    request = context["request"]
    here = request.get_full_path() if request.method == "GET" else reverse("run", args=[run.pk]) if run else ""
    hints = [HINTS[place] for place in places]
    return {"hints": hints, "count": len(HINTS), "next": here, "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("components/term.html")
def term(key: str) -> dict[str, Term]:
    """A word's meaning, in a fold beside it. Raises KeyError for one that the glossary does not have."""
    return {"term": TERMS[key]}


@register.filter
def button_style(tags: list[str] | None) -> str:
    """The style of a button of allauth's pages. `tags` say what it does; one without any sends the form."""
    if not tags:
        return "primary"
    return next((style for style in ("danger", "primary") if style in tags and "outline" not in tags), "")


@register.filter
def browser(user_agent: str) -> str:
    return program_of(user_agent)


@register.filter
def is_connected(user: User) -> bool:
    """Whether the person has an account at the identity provider."""
    return connections_of(user).exists()
