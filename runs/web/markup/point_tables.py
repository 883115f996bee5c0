"""The points of a result as tables to decide on: id, kind, text, source, and whether what they cite was found."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from django.utils.safestring import mark_safe

from runs.evidence.citations.citation import Citation
from runs.models import Attempt, Run
from runs.readmodel.finding_entries import FindingEntry, entries_of
from runs.readmodel.result_points import Point, Points, PointTable, is_id, kind_of, labelled
from runs.readmodel.shown_citations import cited_in
from runs.store import trees
from runs.text.file_titles import titles_of
from runs.text.plain_markdown import plain
from runs.web.markup.prose import Reference, cited, references_in, referring
from runs.web.site.addresses import citation_address

MAX_PLACES = 5
"""Places in files that one point can name as links. They are searched for in all of its text."""
MAX_TITLED = 200
"""Files up to which they are named by titles. More are a project, whose files are named by their paths."""
_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
_RANGE = re.compile(r"\s?[-–]\s?\d{1,9}")
_BETWEEN = ("; ", ", ", " and ")
_LEFT_OVER = " \t:–—,;."


@dataclass(frozen=True)
class Source:
    """A place that a point names. `inside`: its words stand in the text, so that only its place is shown here. `again`:
    the text has a link to the same place. `title` names its file as people do.
    """

    path: str
    title: str
    place: str
    address: str
    inside: bool = False
    again: bool = False


@dataclass(frozen=True)
class PointRow:
    """A point as a row: the id that it carries, or its number; its cells with the names of their columns; the places
    that it names. `found` and `broken`: how many of its citations are. `fields`: what it says, as text, without
    the id; in a row of a table by column.
    """

    point: Point
    label: str
    cells: Sequence[tuple[str, str]]
    sources: Sequence[Source] = ()
    found: int = 0
    broken: int = 0
    fields: Sequence[tuple[str, str]] = ()

    @property
    def document(self) -> str:
        """The title of the document that it is about, which is the first that it names; empty for none."""
        return self.sources[0].title if self.sources else ""

    @property
    def said(self) -> str:
        """What happened to its citations, in words."""
        every = self.found + self.broken
        if not every:
            return "names a place, but quotes nothing" if self.sources else "no citation"
        if self.broken:
            return f"{self.broken} of {every} citations not found" if every > 1 else "citation not found"
        return f"{every} citations found" if every > 1 else "citation found"


@dataclass(frozen=True)
class PointsTable:
    """The list of a report, or a table. `ids` names the column of the ids, empty for numbers; `table` is what it shows,
    None for the list. `below_list`: the report has a list of points besides it.
    """

    table: PointTable | None
    ids: str
    header: Sequence[str]
    rows: Sequence[PointRow]
    below_list: bool = False

    @property
    def sourced(self) -> bool:
        return any(row.sources for row in self.rows)

    @property
    def groups(self) -> list[tuple[str, Sequence[PointRow]]]:
        """The rows by document with its title, in the order in which the documents come; without titles if few rows
        name one.
        """
        if 2 * sum(1 for row in self.rows if row.sources) < len(self.rows):
            return [("", self.rows)]
        found = dict[str, list[PointRow]]()
        for row in self.rows:
            found.setdefault(row.document, []).append(row)
        return [(title or "Without a document", rows) for title, rows in found.items()]

    @property
    def overview(self) -> bool:
        """Whether it only counts what the list says: there is nothing to send back in it."""
        if self.table is None or self.table.path or not self.below_list:
            return False
        cells = [cell.strip() for point in self.table.points for cell in point.cells[1:]]
        return any(cells) and all(not cell or cell.replace(",", "").isdigit() for cell in cells)

    @property
    def marked(self) -> bool:
        """Whether there are citations to report on."""
        return any(row.found or row.broken for row in self.rows)


def point_tables(points: Points, attempt: Attempt) -> list[PointsTable]:
    """All points of a result as tables; in each, those with a broken citation come first."""
    listed = [table_of_list(points.points, attempt)] if points.points else []
    tables = (_table_of_rows(table, attempt) for table in points.tables)
    return [*listed, *(replace(one, below_list=bool(listed)) for one in tables)]


def table_of_list(points: Sequence[Point], attempt: Attempt) -> PointsTable:
    """At least one point of the list of a report, as a table."""
    begun = [labelled(point.text) for point in points]
    placed = [_split_places(text, attempt) for _, text in begun]
    kinds = [kind_of(text) for text, _ in placed]
    with_kind = 2 * sum(1 for kind, _ in kinds if kind) > len(points)
    entries, titles = entries_of(attempt), _titles(attempt.step.plan.run)
    fields = [name for name in ("severity", "recommendation") if any(_field(entries, one[0], name) for one in begun)]
    rows = []
    for point, (label, _), (text, places), (kind, rest) in zip(points, begun, placed, kinds, strict=True):
        shown = rest if with_kind else text
        links = cited_in(shown, attempt)
        cells = [("Kind", kind), ("Point", cited(shown, attempt))][0 if with_kind else 1 :]
        cells += [(name.capitalize(), _field(entries, label, name)) for name in fields]
        sources = [_source(one, links.citations, attempt, titles) for one in places]
        found = len(links.citations) - sum(1 for one in links.citations if one.broken)
        words = [(name, plain(shown) if name == "Point" else cell) for name, cell in cells]
        rows.append(PointRow(point, label or str(point.number), cells, sources, found, len(links.broken), words))
    return PointsTable(None, "", [name for name, _ in rows[0].cells], _failing_first(rows))


def _field(entries: Mapping[str, FindingEntry], number: str, name: str) -> str:
    """What the file of findings says of this one, as text; empty if it says nothing."""
    entry = entries.get(number)
    return plain(getattr(entry, name)) if entry else ""


def _titles(run: Run) -> Mapping[str, str]:
    files = trees.files_of(run.inputs)
    return titles_of(files) if len(files) <= MAX_TITLED else {}


def _table_of_rows(table: PointTable, attempt: Attempt) -> PointsTable:
    """Markdown is laid out as one table and taken apart: cell by cell five hundred rows would take seconds."""
    rows: Sequence[Sequence[str]] = [[referring(cell, attempt) for cell in point.cells] for point in table.points]
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    if table.markdown:
        text = table.text
        body = cited(text, attempt).partition("<tbody>")[2]
        laid_out = [[mark_safe(cell) for cell in _CELL.findall(row)] for row in body.split("</tr>")[:-1]]  # noqa: S308  clean
        if [len(row) for row in laid_out] == [len(row) for row in rows]:
            rows = laid_out
        for one in cited_in(text, attempt).links:
            if one.broken or not one.plain:
                counts[one.line - 3][one.broken] += 1  # below two lines of header
    ids = all(is_id(point.cells[0]) for point in table.points) and len(table.header) > 1
    header = table.header[1:] if ids else table.header
    made = []
    for at, (point, row) in enumerate(zip(table.points, rows, strict=True)):
        cells = [*zip(header, row[1:] if ids else row, strict=True)]
        texts = map(plain, point.cells) if table.markdown else point.cells
        words = [*zip(table.header, texts, strict=True)][1 if ids else 0 :]
        found, broken = counts[at]
        made.append(PointRow(point, row[0] if ids else str(point.row), cells, (), found, broken, words))
    return PointsTable(table, table.header[0] if ids else "", header, _failing_first(made))


def _failing_first(rows: Sequence[PointRow]) -> list[PointRow]:
    return sorted(rows, key=lambda row: not row.broken)


def _split_places(text: str, attempt: Attempt) -> tuple[str, list[tuple[Reference, str]]]:
    """The text without the places that it names in parentheses, and all that it names, with the words of those."""
    places = [*references_in(text, attempt, MAX_PLACES)]
    words, parts, at, begin = dict[int, str](), list[str](), 0, -1
    inside = dict[int, str]()
    for number, (one, following) in enumerate(zip_longest(places, places[1:])):
        if begin < 0 and _may_move(text, one.start - 1):
            begin = one.start - 1
        last = _RANGE.match(text, one.end)
        end = last.end() if last else one.end
        inside[number] = text[one.start : end]
        if begin >= 0 and text[end : end + 1] == ")":
            parts.append(text[at:begin].rstrip())
            words.update(inside)
            at, begin = end + 1, -1
        if begin < 0 or not following or text[end : following.start] not in _BETWEEN:
            begin, inside = -1, {}
    left = "".join([*parts, text[at:]])
    left = left.lstrip(_LEFT_OVER) if words else left
    return (left, [(one, words.get(number, "")) for number, one in enumerate(places)]) if left.strip() else (text, [])


def _may_move(text: str, begin: int) -> bool:
    """Whether parentheses begin here that belong to no link."""
    opened = text.rfind("[", 0, begin) > text.rfind("]", 0, begin)
    return text[max(0, begin) : begin + 1] == "(" and text[max(0, begin - 1) : begin] != "]" and not opened


def _source(
    place: tuple[Reference, str], citations: Sequence[Citation], attempt: Attempt, titles: Mapping[str, str]
) -> Source:
    one, words = place
    run_id = attempt.step.plan.run_id
    same = [cite for cite in citations if cite.source == one.path and _is_at(cite, one)]
    address = citation_address(run_id, same[0]) if same else one.address
    said = words.removeprefix(one.path).lstrip(",: ") or one.words
    return Source(one.path, titles.get(one.path, one.path), said, address, inside=not words, again=bool(same))


def _is_at(citation: Citation, place: Reference) -> bool:
    """Whether a citation leads to a place that the text names: its line, or what people call its place."""
    if place.line:
        return (citation.cited_line or citation.source_line) == place.line
    return citation.place.startswith(place.words)
