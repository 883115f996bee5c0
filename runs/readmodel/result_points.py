"""The points of a result that can be accepted or sent back one by one, and how many of them have evidence.

They are the list and the tables of its report, and the rows of the tables that it wrote to files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from runs.contracts.feedback import Comment
from runs.enums import About
from runs.errors import InvalidInput
from runs.evidence.citations.citation import Cited
from runs.evidence.citations.citing import is_markdown
from runs.evidence.results import CriterionResult
from runs.models import Attempt
from runs.pev.contracts import PlanStep
from runs.pev.points import ITEM, Row, RowTable, folded, folded_row, items_in, same_row, tables_in, tables_of
from runs.store import trees
from runs.text.csv_tables import is_csv
from runs.text.plain_markdown import plain
from runs.text.plural import word_for
from runs.text.sentences import sentence_ends
from runs.text.truncate import quoted

MAX_POINTS = 500
"""Rows that can be decided one by one; what comes after them stays in the rest, or in its file."""
MAX_LEAD = 400
"""Characters of the lead, some 60 words: with it a gate says what the result is before anything is opened."""
MAX_LONE = 600
"""Characters of the only item of a list, which a gate shows whole."""
MAX_FILES = 8
"""Written files that are searched for tables."""
MAX_FILE_BYTES = 10_000_000
MAX_CHARACTERS = 300_000
"""Characters of all files together that are searched, because a page waits for it."""
_QUOTE_CHARS = 160
"""Characters of a point in the request that sends it back; twice as many of a row, which has several cells."""
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_BLOCK = re.compile(r" {0,3}(?:#|\||>|[-*_]{3}|`{3}|~{3}|<|\[[^\]]+\]:)")


@dataclass(frozen=True)
class Point:
    """One point, as Markdown. `number` counts from 1 through the whole result.

    A row of a table has `cells`, its number in the table (`row`), and `place`, which names it in words. `lines` are its
    lines in the report, counted from 1.
    """

    number: int
    text: str
    cells: tuple[str, ...] = ()
    place: str = ""
    row: int = 0
    lines: range = range(0)

    @property
    def name(self) -> str:
        return self.place or f"point {self.number}"


@dataclass(frozen=True)
class PointTable:
    """A table whose rows are points. `path` is its file, empty for the report. `more`: there are rows after these.

    `repeated` is the number of rows that are left out because the report or an earlier file has them too.
    """

    path: str
    header: tuple[str, ...]
    points: tuple[Point, ...]
    more: bool
    repeated: int = 0

    @property
    def text(self) -> str:
        """The table as Markdown."""
        rows = (self.header, ("---",) * len(self.header), *(point.cells for point in self.points))
        return "\n".join(f"| {' | '.join(cell.replace('|', '\\|') for cell in row)} |" for row in rows)

    @property
    def markdown(self) -> bool:
        """Whether its cells are Markdown."""
        return not is_csv(self.path)


@dataclass(frozen=True)
class Points:
    """A report in parts, which together have each of its lines once, and the tables that were written to files.

    `lone` is the only item of a report without other points: it is shown, but there is nothing to choose. If
    the report has no lead, `file_lead` is that of the first written file with one, and `lead_file` its path.
    """

    lead: str
    points: tuple[Point, ...]
    rest: str
    tables: tuple[PointTable, ...] = ()
    lead_file: str = ""
    file_lead: str = ""
    lone: tuple[Point, ...] = ()

    @property
    def all(self) -> tuple[Point, ...]:
        return (*self.points, *(point for table in self.tables for point in table.points))

    def at(self, line: int) -> Point | None:
        """The point that has this line of the report."""
        return next((point for point in (*self.all, *self.lone) if line in point.lines), None)

    @property
    def further(self) -> tuple[PointTable, ...]:
        """The tables that are not the main list of points.

        The main list is the items of the report, or else the rows of its tables, or else those of the files.
        """
        if self.points:
            return self.tables
        return tuple(table for table in self.tables if table.path and not self.tables[0].path)

    @property
    def rows(self) -> int:
        """How many rows `further` has; `count`: how many points there are without these."""
        return sum(len(table.points) for table in self.further)

    @property
    def count(self) -> int:
        return len(self.all) - self.rows


def points_in(attempt: Attempt) -> Points:
    """The points of a result. Reads the tables among the files that it wrote."""
    written = ((path, info) for path, info in sorted(attempt.overlay.items()) if info and info.size <= MAX_FILE_BYTES)
    files = ((path, info) for path, info in written if is_csv(path) or is_markdown(path))
    texts = [(path, trees.read_text(info.sha256) or "") for path, info in islice(files, MAX_FILES)]
    found = points_of(attempt.output.findings if attempt.output else "", texts)
    if found.lead:
        return found
    leads = ((path, _lead(text[:MAX_CHARACTERS].splitlines())[0]) for path, text in texts if is_markdown(path))
    path, lead = next(((path, lead) for path, lead in leads if lead), ("", ""))
    return replace(found, lead_file=path, file_lead=lead)


def points_of(report: str, files: Iterable[tuple[str, str]] = ()) -> Points:
    """The first paragraph, the items of its lists outside of code, the rows of its tables and of those in `files` (path
    and text), and what is left. Linear in the texts.

    A list of one item is no list of points: there is nothing to choose.
    """
    lines = report.splitlines()
    spans = list(items_in(lines))[:MAX_POINTS]
    points = tuple(
        Point(number, _item_text(lines[start:end]), lines=range(start + 1, end + 1))
        for number, (start, end) in enumerate(spans, start=1)
    )
    lone = points if len(points) == 1 and len(points[0].text) <= MAX_LONE else ()
    if len(points) < 2:
        points, spans = (), spans if lone else []
    tables, first = list[PointTable](), len(points) + 1
    for count, table in enumerate(tables_of(lines, MAX_POINTS), start=1):
        if first > MAX_POINTS:
            break
        tables.append(_table(table, "", f"table {count} of the report", first, Counter()))
        first += len(tables[-1].points)
        # With more rows than fit, the others stand in the rest, below the same header.
        spans.append((table.body, table.body + len(tables[-1].points)) if tables[-1].more else (table.start, table.end))
    tables += _tables_of_files(files, first, _counted_rows(tables) + Counter((folded(point.text),) for point in points))
    if tables and lone:
        lone, spans = (), spans[1:]
    lead, rest = _lead(list(_lines_outside(lines, sorted(spans))))
    found = tuple(table for table in tables if table.points)
    return Points(lead, points, rest, found, lone=lone)


def _tables_of_files(files: Iterable[tuple[str, str]], first: int, known: Counter[Row]) -> Iterator[PointTable]:
    """The tables of files, without the rows that are `known` from the report or an earlier file.

    The report keeps its rows, because people are asked about the report, and its citations point to their lines. Two
    equal rows of one table are two points.
    """
    room = MAX_CHARACTERS
    for path, text in files:
        shown = text if len(text) <= room else text[:room].rpartition("\n")[0]
        room -= min(room, len(text))
        left, here = known.copy(), list[PointTable]()
        for count, table in enumerate(tables_in(path, shown, MAX_POINTS), start=1):
            if first > MAX_POINTS:
                break
            made = _table(table, path, path if count == 1 else f"table {count} of {path}", first, left)
            here.append(replace(made, more=made.more or shown is not text))
            first += len(made.points)
        known = known + _counted_rows(here)
        yield from here


def _counted_rows(tables: Iterable[PointTable]) -> Counter[Row]:
    headers = ((table, folded_row(table.header)) for table in tables)  # once: it may be longer than all of its rows
    keys = (same_row(header, point.cells) for table, header in headers for point in table.points)
    return Counter(key for key in keys if key)


def _table(table: RowTable, path: str, place: str, first: int, known: Counter[Row]) -> PointTable:
    """The table with the rows for which there is room. `first` is the number of its first point.

    Rows that are `known` are left out, and each is removed from `known`.
    """
    points, repeated, header = list[Point](), 0, folded_row(table.header)
    for row, cells in enumerate(table.rows, start=1):
        same = [key for key in (same_row(header, cells), (" ".join(folded_row(cells)),)) if known[key] > 0]
        if same:
            known[same[0]] -= 1
            repeated += 1
        elif first + len(points) <= MAX_POINTS:
            named = zip(table.header, cells, strict=True)
            text = "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell.strip())
            line = table.body + row if not path else 0
            lines = range(line, line + 1) if line else range(0)
            points.append(Point(first + len(points), text, cells, f"row {row} of {place}", row, lines))
    more = len(table.rows) > len(points) + repeated
    return PointTable(path, table.header, tuple(points), more, repeated)


def sent_back(points: Sequence[Point], notes: Mapping[int, str]) -> tuple[Comment, ...]:
    """A request for each point that is sent back, by number: the note on it, or that it should change.

    Raises InvalidInput for a number that no point has.
    """
    known = {point.number: point for point in points}
    if unknown := sorted(set(notes) - set(known)):
        raise InvalidInput(f"This result has no point {unknown[0]}. Reload the page, then decide.")
    return tuple(
        Comment(
            text=notes[number].strip() or "This is not right yet. Look at it again and change it.",
            place=f"On {point.name} {quoted(plain(point.text), _QUOTE_CHARS * (2 if point.cells else 1))}",
        )
        for number, point in sorted(known.items())
        if number in notes
    )


def _item_text(lines: Sequence[str]) -> str:
    """An item without its mark. Its further lines lose the indentation of the item and keep the rest."""
    mark = ITEM.match(lines[0])
    width = mark.end() if mark else 0
    rest = (line[min(width, len(line) - len(line.lstrip())) :] for line in lines[1:])
    return "\n".join([lines[0][width:], *rest]).strip()


def _lines_outside(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    at = 0
    for start, end in spans:
        yield from lines[at:start]
        at = end
    yield from lines[at:]


def _lead(lines: Sequence[str]) -> tuple[str, str]:
    """The sentences of the first paragraph that fit, and everything else with the headings above it.

    There is no lead if anything else than headings comes before the paragraph.
    """
    first = next((number for number, line in enumerate(lines) if line.strip() and not _HEADING.match(line)), len(lines))
    end = next((number for number in range(first, len(lines)) if not lines[number].strip()), len(lines))
    paragraph = " ".join(line.strip() for line in lines[first:end])
    if not paragraph or _BLOCK.match(lines[first]) or ITEM.match(lines[first]):
        return "", "\n".join(lines).strip()
    cut = len(paragraph)
    if cut > MAX_LEAD:
        ends = [end for end in sentence_ends(paragraph) if end <= MAX_LEAD]
        cut = ends[-1] if ends else 0
    rest = "\n".join([*lines[:first], paragraph[cut:], *lines[end:]])
    return paragraph[:cut].strip(), rest.strip()


_ID = r"[A-Z]{1,4}[-.]?\d{1,4}(?:\.\d{1,3}){0,2}"
_MARKED_ID = re.compile(rf"(\*\*|__|`|\[|\()?({_ID})(\*\*|__|`|\]|\))?")
_CLOSING = {"**": "**", "__": "__", "`": "`", "[": "]", "(": ")", "": ")"}
_BEHIND = re.compile(r"\s*[:–—|·]\s*|\.\s+|\s+-\s+")
_PLACE = re.compile(
    r"\s{1,9}(?=\([^\n]{1,300}?, (?:(?:line|clause|section|page|slide|paragraph) \d|[^\s,]{1,60}![A-Z]))"
)
_KIND = re.compile(r"(\*\*|__)([^*_\n]{1,40}?)(:?)\1(\s*[:–—]\s*|\s+-\s+)?")


def is_id(text: str) -> bool:
    """Whether this is an id such as F12, marked or not, and nothing else."""
    return re.fullmatch(_ID, text.strip("*_` ")) is not None


def labelled(text: str) -> tuple[str, str]:
    """The id with which an item begins, such as F12, and the text after it.

    There is no id if it may belong to the sentence, as in “Q3 was good”.
    """
    match = _MARKED_ID.match(text)
    if not match:
        return "", text
    opened, closed, rest = match[1] or "", match[3] or "", text[match.end() :]
    behind = _BEHIND.match(rest)
    if closed and (closed != _CLOSING[opened] or not (behind or rest[:1].isspace())):
        return "", text
    if not closed:
        behind = behind or (None if opened else _PLACE.match(rest))
        if not behind or opened not in ("", "**", "__"):
            return "", text
    left = (rest[behind.end() :] if behind else rest).strip()
    return (match[2], f"{'' if closed else opened}{left}") if left else ("", text)


def kind_of(text: str) -> tuple[str, str]:
    """The bold label with which an item begins, and the text after it; no label if it is part of the sentence."""
    match = _KIND.match(text)
    rest = text[match.end() :].strip() if match and (match[3] or match[4]) else ""
    return (match[2].strip(), rest) if match and rest else ("", text)


@dataclass(frozen=True)
class PointsCited:
    """How many of the points of a report have a citation and none that is broken."""

    cited: int
    points: int

    @property
    def words(self) -> str:
        """“2 of 3 points have no sound citation”."""
        if self.points == 1:
            return "The point has no sound citation"
        if not self.cited:
            return f"None of the {self.points} points has a sound citation"
        without = self.points - self.cited
        return f"{without} of {self.points} points {word_for(without, 'has', 'have')} no sound citation"


def points_cited(report: Points, citations: Cited) -> PointsCited | None:
    """How many points of a report have citations that all hold.

    None if there are no points, if all have such citations, or if the report was too long to be searched. Rows of files
    and of tables that are not the main list, such as an overview, are not counted.
    """
    beside = {point.number for table in report.further for point in table.points}
    points = [point for point in (*report.all, *report.lone) if point.lines and point.number not in beside]
    if not points or citations.until is not None:
        return None
    lines, broken = ({one.line for one in found} for found in (citations.citations, citations.broken))
    sound = (point for point in points if broken.isdisjoint(point.lines) and not lines.isdisjoint(point.lines))
    cited = sum(1 for _ in sound)
    return PointsCited(cited, len(points)) if cited < len(points) else None


def wants_sources(step: PlanStep, results: Iterable[CriterionResult]) -> bool:
    """Whether a step is about the material: a criterion is about it, or was met by evidence from it.

    A step that only writes files which must not have citations does not count.
    """
    if step.expected_outputs and not any(output.cited for output in step.expected_outputs):
        return False
    topics = (criterion.topic for criterion in step.acceptance_criteria)
    return About.SOURCES in topics or any(one.grounded for one in results)


def sampled(results: Iterable[CriterionResult]) -> list[CriterionResult]:
    """Criteria about each of several things that were met by a sample."""
    return [one for one in results if one.uncounted or one.looked_at < one.out_of]
