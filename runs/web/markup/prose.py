"""Texts as clean HTML of a page: Markdown, with citations as links, and sentences in which a named line is a link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from runs.contracts.base import RESULT
from runs.contracts.ports import FileInfo
from runs.evidence.citations.citation import Citation
from runs.models import Attempt, Run
from runs.pev.checks.base import Check
from runs.readmodel.shown_citations import cited_in
from runs.readmodel.status_words import check_in_words
from runs.reports.markdown_html import render_markdown
from runs.reports.texts import linked
from runs.store import trees
from runs.text.file_titles import titles_of
from runs.text.normalisation import caseless
from runs.web.site.addresses import Place, citation_address, file_address, files_address

MAX_PATH = 300
MAX_LINKS = 200
MAX_NAMED, MAX_TITLED = 8, 200
"""Places that are listed below a text, and files up to which titles are looked for in it."""
_CLAUSE = re.compile(r"\b(?:[Cc]lause|[Ss]ection) (?P<number>\d{1,9}(?:\.\d{1,9}){0,8}(?:\([a-z\d]{1,4}\)){0,4})")
_PLACE = re.compile(
    r"(?:, line|: Line) (?P<line>\d{1,9})\b"
    r"|, (?P<kind>clause|section|page|slide|paragraph) (?P<number>\d{1,9}(?:\.\d{1,9}){0,8}(?:\([a-z\d]{1,4}\)){0,4})"
    r"|, (?:cell )?(?P<cell>[^\s,;()]{1,60}![A-Z]{1,3}\d{1,7}\b)"
)
_ANCHORS = {"clause": "{}", "section": "{}", "page": "page={}", "slide": "s{}", "paragraph": "p{}"}
"""The anchor that citations use for each kind of place in a document."""
_BEFORE = re.compile(r"(?:^|(?<=[\s“”\"'(,;:]))(?=\S)")
"""Where a path may begin."""


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


@dataclass(frozen=True)
class Reference:
    """A place that a text names: its characters from `start` to before `end`, the file, its line, and its address.

    Of a place in a document, such as “clause 4.2”, the line is 0. `words` are those of the place without the file.
    """

    start: int
    end: int
    path: str
    line: int
    words: str
    address: str


def referring(text: str, place: Run | Attempt) -> SafeString:
    """The text, in which “review.md, line 12” or “lease.docx, clause 4.2” is a link to this place as the run or the
    attempt has it.
    """
    parts, at = [], 0
    for one in references_in(text, place):
        parts += [escape(text[at : one.start]), _link(one.address, text[one.start : one.end])]
        at = one.end
    return format_html_join("", "{}", ((part,) for part in (*parts, text[at:])))


def references_in(text: str, place: Run | Attempt, most: int = MAX_LINKS) -> Iterator[Reference]:
    """The places that a text names in files that are there. Only the first `most` places are looked at."""
    run = place.step.plan.run if isinstance(place, Attempt) else place
    written = place.overlay if isinstance(place, Attempt) else {}
    at = 0
    for match in islice(_PLACE.finditer(text), most):
        for beginning in _BEFORE.finditer(text, max(at, match.start() - MAX_PATH), match.start()):  # longest first
            start = beginning.start()
            path = text[start : match.start()]
            name = path.removeprefix(RESULT)
            if found := _file(name, run, written.get(name), path):
                at, pointed = match.end(), _place(match)
                address = file_address(run.pk, name, found.sha256, pointed)
                yield Reference(start, at, path, pointed.line, _words(match), address)
                break


def named_in(text: str, run: Run) -> list[tuple[str, str]]:
    """The files of the run that a text names by path, by name or by title, with the places in them: words and address
    of each. A clause without a file is one of the only file that is named.
    """
    files = {**trees.files_of(run.head), **trees.files_of(run.inputs)}
    titles, folded = titles_of(files) if len(files) <= MAX_TITLED else {}, caseless(text)
    places = {one.address: f"{one.path}, {one.words}" for one in references_in(text, run, MAX_NAMED)}
    named = [path for path in files if _is_named(folded, path, path.rpartition("/")[2], titles.get(path, ""))]
    if len(named) == 1:
        (path,) = named
        for match in islice(_CLAUSE.finditer(text), MAX_NAMED):
            place = Place(anchor=match["number"])
            address = file_address(run.pk, path, files[path].sha256, place)
            places.setdefault(address, f"{titles.get(path) or path}, {match[0]}")
    for path in named:
        places.setdefault(file_address(run.pk, path, files[path].sha256), titles.get(path) or path)
    return [(words, address) for address, words in places.items()][:MAX_NAMED]


def _is_named(folded: str, *names: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(caseless(name))}(?!\w)", folded) for name in names if len(name) > 2)


def _words(match: re.Match[str]) -> str:
    return match["cell"] or (f"line {match['line']}" if match["line"] else f"{match['kind']} {match['number']}")


def _place(match: re.Match[str]) -> Place:
    if match["line"]:
        return Place(line=int(match["line"]))
    return Place(anchor=match["cell"] or _ANCHORS[match["kind"]].format(match["number"]))


def _file(path: str, run: Run, written: FileInfo | None, name: str) -> FileInfo | None:
    """The content that a name means. A path is the given file, if there is one."""
    given = trees.files_of(run.inputs).get(path) if path == name else None
    return given or written or trees.files_of(run.head).get(path)


def checking(check: Check, run: Run | None) -> SafeString:
    """What a check looks for, with a link to its file if the run has it by now."""
    words, path = check_in_words(check), check.subject
    found = _file(path.removeprefix(RESULT), run, None, path) if run else None
    if run is None or found is None or path not in words:
        return format_html("{}", words)
    before, _, after = words.partition(path)
    link = _link(file_address(run.pk, path.removeprefix(RESULT), found.sha256), path)
    return format_html("{}{}{}", before, link, after)


def _link(address: str, words: str) -> SafeString:
    return format_html('<a data-source href="{}">{}</a>', address, words)
