"""Tools that find files, and words in many files within a time budget."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Annotated, ClassVar, Self

from pydantic import Field, StringConstraints

from runs.contracts.base import JsonObject
from runs.contracts.ports import FileInfo, Shown, ToolResult, Workspace
from runs.documents.content import document_of, text_of
from runs.documents.model.layout import MarkKind
from runs.documents.places.document import Document, unit_at
from runs.documents.places.marked import UNSEEN
from runs.enums import Effect
from runs.errors import InvalidInput
from runs.pev.input_coverage import MAX_NOTES
from runs.pev.read_set import ReadTracker
from runs.pev.tools.file_access import Prefix, fitting, spans_of, start_of, under
from runs.pev.tools.tool import Results, Shows, Tool, ToolContext, ToolLimits
from runs.text.normalisation import Sought, Strength, folded
from runs.text.paths import selected
from runs.text.patterns import Budget, Pattern, TooSlow, compiled, places
from runs.text.truncate import quoted

_SAME = re.compile(r"(?:paragraph|page|line) \d+$")
"""Names of places that only repeat the anchor."""
_NUMBER = re.compile(r"(?=.*[\d(])(?:clause |section |article |art\. |§ ?)?[\d.()A-Za-z]{1,30}", re.IGNORECASE)
"""Matches what may be a clause number."""


@dataclass(frozen=True)
class Hit:
    """A line in which a match begins, or a part of it (`whole` is False). `lines`: the number of lines in the file.

    In a document, `place` is the anchor and the name that people use, and `unit` the page, slide or sheet.
    """

    path: str
    line: int
    text: str
    whole: bool
    lines: int
    place: str = ""
    unit: str = ""

    @property
    def head(self) -> str:
        return f"{self.path}:{self.line}{f' ({self.place})' if self.place else ''}: "

    def shown(self, sha256: str, start: int, end: int) -> Shown:
        """Returns the shown part. In a document only its words count, not the name of the place before them."""
        last = self.line if self.whole else self.line - 1
        start += len(self.head) if self.place else 0
        return Shown(self.path, sha256, start, end, self.line, last, self.lines, self.unit)


def hits_in(
    names: Iterable[str],
    read: Callable[[str], bytes],
    wanted: Pattern | str,
    budget: Budget,
    *,
    limit: int,
    chars: int,
    number: str = "",
) -> Iterator[Hit]:
    """Yields lines in which a match begins: at most `limit` per file, and at most `chars` characters of a line.

    If `wanted` is text, everything that could be the same text matches. In documents, clauses with this `number` match
    too, because their numbers are not in the text. Raises TooSlow if the budget is used up.
    """
    for path in names:
        budget.left()
        data = read(path)
        text = text_of(data) or ""
        if isinstance(wanted, str):
            found = iter(Sought(text, budget.left).lines(wanted, limit))
        else:
            found = places(wanted, text, budget, limit=limit, each_line_once=True) if text else iter(())
        numbered = _clauses(data, number) if _NUMBER.fullmatch(number) else []
        counted, line, lines, last = 0, 1, 0, -1
        for at in islice(merge(found, numbered), limit):
            start = text.rfind("\n", 0, at) + 1
            if start == last:
                continue
            last = start
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line += text.count("\n", counted, start)
            lines = lines or text.count("\n") + (text[-1] != "\n")
            document = document_of(data)
            of = at + (text[at : at + 1] == "\f")  # a form feed before a page belongs to no page
            place, unit = (_place(document, of), unit_at(document, of)) if document else ("", "")
            yield Hit(path, line, _around(text, start, end, at, chars), end - start <= chars, lines, place, unit)
            counted = start


def _clauses(data: bytes, number: str) -> list[int]:
    """Returns the offsets of the clauses with this number."""
    document = document_of(data)
    return [block.start for block in document.clauses(number)] if document else []


def _place(document: Document, at: int) -> str:
    """Returns the anchor, the name that people use if it says more, and whether its words are visible."""
    where = document.place_name(at, at + 1)
    words = [] if _SAME.match(where.words) or where.words == where.anchor else [where.words]
    words += ["hidden"] if document.marks_on(at, at + 1, MarkKind.HIDDEN) else []
    words += [UNSEEN] if document.marks_on(at, at + 1, MarkKind.UNSEEN) else []
    return ", ".join([where.anchor, *words])


def _around(text: str, start: int, end: int, at: int, limit: int) -> str:
    """Returns the line from `start` to `end`, or `limit` characters of it around `at`."""
    if end - start <= limit:
        return text[start:end].rstrip("\r")
    first = max(start, min(at - limit // 3, end - limit))
    return f"{'…' if first > start else ''}{text[first : first + limit]}{'…' if first + limit < end else ''}"


READ_IN_PART = "was read in part: "
"""Follows the path of a document in a list of files, before what could not be read."""
_EXACT = (
    " A regular expression matches only what is written exactly so: other accents, quotation marks, hyphens or broken "
    "lines are not found. Search for the words without regex to learn whether they are there."
)


class SearchTool(Tool):
    """The base class of search tools. `nothing`: the beginning of the answer if nothing was found."""

    nothing: ClassVar[str]

    @classmethod
    def missing_in(cls, arguments: JsonObject, result: str) -> Self | None:
        return cls.model_validate(arguments) if result.startswith(cls.nothing) else None

    def finds_nothing_in(self, infos: Mapping[str, FileInfo], files: Mapping[str, bytes]) -> bool:
        """Whether these files do not contain it either. Raises TooSlow or InvalidInput if that cannot be decided."""
        raise NotImplementedError


class ListFiles(SearchTool):
    name = "list_files"
    effect = Effect.READS_FILES
    results = Results.FILES
    shows = Shows.NAMES
    is_basic = True
    description = (
        "Lists the files there are: size in bytes and path, a line each, and of documents how much they are. "
        "read_file tells whether one is text."
    )

    nothing = "There are no files"

    prefix: Prefix = ""

    def run(self, context: ToolContext) -> ToolResult:
        workspace, limits = context.workspace, context.limits
        chosen = under(self.prefix, workspace.files())
        if not chosen:
            where = f" whose path begins with {quoted(self.prefix)}" if self.prefix else ""
            return ToolResult(f"{self.nothing}{where}.")
        return _listing(workspace, chosen, limits, "use a prefix to see them")

    def finds_nothing_in(self, infos: Mapping[str, FileInfo], files: Mapping[str, bytes]) -> bool:
        return not under(self.prefix, infos)

    def looks_at(self, looks: ReadTracker) -> None:
        looks.listing(start_of(self.prefix))


class Glob(SearchTool):
    name = "glob"
    effect = Effect.READS_FILES
    results = Results.FILES
    shows = Shows.NAMES
    description = (
        "Lists the files whose path a pattern means, as list_files does. * ? and [...] stand for anything, slashes "
        "too: *.pdf means every PDF file in whichever folder, contracts/*2025* all there with 2025 in the name."
    )

    nothing = "No path of "

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=500), Field(description="Such as *.md")]

    def run(self, context: ToolContext) -> ToolResult:
        workspace, limits = context.workspace, context.limits
        files = workspace.files()
        chosen = {path: files[path] for path in selected([self.pattern], files)}
        if not chosen:
            return ToolResult(f"{self.nothing}{len(files)} files matches {quoted(self.pattern)}.")
        return _listing(workspace, chosen, limits, "use a narrower pattern")

    def finds_nothing_in(self, infos: Mapping[str, FileInfo], files: Mapping[str, bytes]) -> bool:
        return not selected([self.pattern], infos)

    def looks_at(self, looks: ReadTracker) -> None:
        looks.listing("")


class SearchFiles(SearchTool):
    name = "search_files"
    effect = Effect.READS_FILES
    results = Results.FINDINGS
    is_basic = True
    description = (
        "Finds lines in all files that can be read, each as path:line: text; in documents as path:line (place): text, "
        "and clauses by their number. The pattern is literal, and finds whatever could be the same words. A regular "
        "expression is exact but for capitals."
    )

    nothing = "No line matches "

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=500), Field(description="What to find")]
    prefix: Prefix = ""
    regex: Annotated[bool, Field(description="Whether the pattern is a regular expression")] = False

    def run(self, context: ToolContext) -> ToolResult:
        workspace, limits = context.workspace, context.limits
        names = list(under(self.prefix, workspace.files()))
        wanted, number = self._wanted
        found: list[Hit] = []
        note = ""
        budget = Budget(limits.search_seconds)
        try:
            hits = hits_in(
                names, workspace.read, wanted, budget, limit=limits.hits + 1, chars=limits.hit_chars, number=number
            )
            for hit in hits:
                if len(found) == limits.hits:
                    note = f"\n[there are more than {limits.hits}; use a narrower pattern or a prefix]"
                    break
                found.append(hit)
        except TooSlow as error:
            note = f"\n[of {len(names)} files not all were searched: {error}; use a simpler pattern or a prefix]"
        if not found and not note:
            said = f"{self.nothing}{quoted(self.pattern)} in the text files among these {len(names)}."
            return ToolResult(f"{said}{_EXACT if self.regex else ''}")
        if not found:
            raise InvalidInput(f"Nothing was found so far.{note}")
        lines = [f"{hit.head}{hit.text}" for hit in found]
        lines = lines[: fitting(lines, limits.result_chars)]
        if len(lines) < len(found):
            note = f"\n[{len(found) - len(lines)} more do not fit; use a narrower pattern or a prefix]{note}"
        files, spans = workspace.files(), spans_of(lines)
        shown = [hit.shown(files[hit.path].sha256, *span) for hit, span in zip(found, spans, strict=False)]
        return ToolResult("\n".join(lines) + note, shown=tuple(shown))

    @property
    def _wanted(self) -> tuple[Pattern | str, str]:
        """Returns what to search for, and what may be a clause number."""
        if self.regex:
            return _pattern(self.pattern), ""
        if not folded(self.pattern, Strength.COULD_BE):
            raise InvalidInput("The pattern has no visible character; give the words to find.")
        return self.pattern, self.pattern

    def finds_nothing_in(self, infos: Mapping[str, FileInfo], files: Mapping[str, bytes]) -> bool:
        """Text that a regular expression does not find may occur in another spelling (T14)."""
        if self.regex:
            return False
        wanted, number = self._wanted
        names, budget = under(self.prefix, infos), Budget(ToolLimits().search_seconds)
        return not any(hits_in(names, files.__getitem__, wanted, budget, limit=1, chars=1, number=number))

    def looks_at(self, looks: ReadTracker) -> None:
        looks.contents(start_of(self.prefix))


def _listing(workspace: Workspace, chosen: Mapping[str, FileInfo], limits: ToolLimits, hint: str) -> ToolResult:
    """Returns sizes and paths of these files, as many as fit, and why some cannot be read."""
    lines = [_line_of(workspace, path, info) for path, info in islice(chosen.items(), limits.listed_files)]
    lines = lines[: fitting(lines, limits.result_chars)]
    left = len(chosen) - len(lines)
    note = [f"[{left} more are not listed; {hint}]"] if left else []
    head = f"{len(chosen)} files, size in bytes and path:"
    spans = spans_of(lines, len(head) + 1)
    shown = [Shown(path, info.sha256, *span) for (path, info), span in zip(chosen.items(), spans, strict=False)]
    note += _not_read(workspace, list(chosen)[: len(lines)], limits.result_chars // 4)
    return ToolResult("\n".join([head, *lines, *note]), shown=tuple(shown))


def _line_of(workspace: Workspace, path: str, info: FileInfo) -> str:
    extent = workspace.extent(path)
    return f"{info.size}\t{path}" + (f"\t{extent}" if extent else "")


def _not_read(workspace: Workspace, paths: Iterable[str], limit: int) -> list[str]:
    """Returns notes on files that cannot be read, or only in part, within so many characters."""
    notes = [f"[{path} {why}]" for path in paths if (why := workspace.problem(path) or _read_in_part(workspace, path))]
    named = notes[: fitting(notes, limit)]
    more = len(notes) - len(named)
    return [*named, *([f"[{more} more cannot be read, or not as a whole]"] if more else [])]


def _read_in_part(workspace: Workspace, path: str) -> str:
    notes = workspace.notes(path)
    more = [f"and {len(notes) - MAX_NOTES} more"] if len(notes) > MAX_NOTES else []
    return f"{READ_IN_PART}{' '.join([*notes[:MAX_NOTES], *more])}" if notes else ""


def _pattern(pattern: str) -> Pattern:
    try:
        return compiled(pattern, multiline=True, ignore_case=True)
    except InvalidInput as error:
        raise InvalidInput(f"The pattern cannot be used: {error}.") from error
