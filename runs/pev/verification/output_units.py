"""What a criterion about the output says of each row, item, heading or file, counted by code.

| the criterion speaks of | the units are |
|---|---|
| rows, table rows, data rows | rows of CSV files, and of tables in Markdown |
| items, list items, bullets | items at the left edge of lists in Markdown |
| entries, points | both |
| headings, sections, chapters | headings in Markdown with what is below them; of sections without the title |
| contracts, inputs, and files or documents, unless these are said to be written | the files that the step deals with |
| files and documents that are said to be written | the files that were written |

Where the sentence says no more than that each has a column of its table, a labelled line, an amount, a figure, a date,
a source, a quote or a paragraph, or that each file is named, code decides it for each unit. Otherwise a unit has
evidence where the verifier has quoted from it: each quote stands for the unit in which it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import regex

from runs.evidence.results import Evidence
from runs.evidence.source_names import Paths, Phrases
from runs.pev.points import FENCE, csv_rows, items_in, tables_of
from runs.text.csv_tables import is_csv
from runs.text.dates import dates_in
from runs.text.domains import addresses_in
from runs.text.normalisation import caseless
from runs.text.numbers import numbers_in
from runs.text.numerals import CODES
from runs.text.patterns import Budget, TooSlow

MAX_UNITS = 2_000
_EACH = r"\b(?:each|every|all|jede[mnrs]?|alle[nr]?|sämtliche[nr]?)\s+"
_OF_THE = r"(?:(?:of\s+)?(?:the|its|these|those|der|die|dieser)\s+)?"
_NOUNS = {
    "rows": r"rows?|(?:tabellen)?zeilen?",
    "items": r"items?|bullets?(?:\s+points?)?|listenpunkte?s?|aufzählungspunkte?s?",
    "entries": r"entry|entries|points?|eintr[aä]ge?s?|punkte?s?",
    "headings": r"headings?|headlines?|überschrift(?:en)?",
    "sections": r"sections?|subsections?|chapters?|abschnitte?s?|kapitels?",
    "files": r"files?|documents?|contracts?|inputs?|datei(?:en)?|dokumente?s?|vertr(?:ag|ags|ages|äge|ägen)",
}
_ADJECTIVE = r"(?:(?!(?:of|in|from|to|with|has|have|is|are)\b)[\w-]+\s+)?"
_KINDS = "|".join(f"(?P<{kind}>{nouns})" for kind, nouns in _NOUNS.items())
_UNIT = regex.compile(rf"{_EACH}{_OF_THE}(?!entry\s+points?){_ADJECTIVE}(?:{_KINDS})\b", regex.IGNORECASE)
_MADE = r"(?:written|created|produced|generated|delivered|expected|output|geschrieben\w*|erstellt\w*|erzeugt\w*)"
_MADE_BEFORE = regex.compile(rf"\b{_MADE}\s+\w+\Z", regex.IGNORECASE)
_MADE_BEHIND = regex.compile(
    rf"\s+(?:(?:that|which)\s+)?(?:(?:is|are|was|were|ist|sind|wird|werden|wurden?)\s+)?(?:{_MADE}|exists?|existier\w+)\b"
    r"(?!\s+(?:before|after|in|by|on|vor|nach|von))",
    regex.IGNORECASE,
)
"""Words directly before or after the name of a file that say that it was written."""
_BEFORE = frozenset(("in", "im", "of", "the", "der", "die"))
"""Words before “each” that only name a file or a label."""
_WHERE = r"(?:\s+(?:of|in|from|on|under|von|aus|auf)\s+(?:(?:the|a|der|dem)\s+)?`?[\w./-]+`?)"
_HAS = regex.compile(
    rf"{_WHERE}{{0,2}}\s+(?:has|have|contains?|names?|gives?|shows?|states?|lists?|includes?|carr(?:y|ies)|cites?"
    r"|is\s+followed\s+by|are\s+followed\s+by|hat|haben|enthält|enthalten|nennt|nennen|zeigt|zeigen)"
    rf"\s+(?P<objects>.+?)(?:\s+(?:in|im)\s+`?[\w./-]+\.\w{{1,5}}`?)?\W*",
    regex.IGNORECASE | regex.DOTALL,
)
_NAMED = regex.compile(
    rf"{_WHERE}?\s+(?:is|are|ist|sind|wird|werden|has|have|hat|haben)\s+(?:also\s+)?(?:"
    r"(?P<section>an?\s+(?:own\s+)?(?:section|heading|chapter)|einen\s+abschnitt|eine\s+überschrift)"
    r"|(?P<row>an?\s+(?:own\s+)?(?:row|line)|eine\s+zeile)"
    r"|(?P<entry>an?\s+(?:own\s+)?(?:entry|item|point|bullet)|einen\s+eintrag)"
    r"|listed|named|mentioned|included|covered|dealt\s+with|aufgeführt|aufgelistet|genannt|erwähnt)"
    rf"{_WHERE}{{0,2}}(?:,\s+or\s+counted\s+there\s+as\s+not\s+listed)?\W*",
    regex.IGNORECASE,
)
_AND = regex.compile(r",|\b(?:and|und|as\s+well\s+as|sowie)\b", regex.IGNORECASE)
_DETERMINER = regex.compile(
    r"(?:(?:at\s+least\s+)?(?:an?|its|the|their|one|some|eine?n?|ihren?|seinen?)\s+)*", regex.IGNORECASE
)
_NAME_OF_UNIT = regex.compile(r"[\p{L}-]{2,30}(?:\s[\p{L}-]{2,30})?")
_BLANK = frozenset(
    (
        "",
        "-",
        "–",
        "—",
        "?",
        "n/a",
        "na",
        "none",
        "null",
        "tbd",
        "todo",
        "tba",
        "k.a.",
        "…",
        "...",
        "unknown",
        "unclear",
        "not stated",
        "not found",
        "not known",
        "missing",
        "unbekannt",
        "unklar",
        "nicht angegeben",
        "keine",
        "fehlt",
    )
)
_ATX = regex.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_SETEXT = regex.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_NO_TEXT = regex.compile(r"^[ \t]*+(?:#{1,6}(?:[ \t].*)?|<!--.*?-->|[-=*_`~|: \t]*|(?i:to follow|tbd|todo|n/a)\W*)$")
_QUOTED = regex.compile(r"^\s{0,3}>\s?\S|[“„«\"][^“”„«»\"\n]{3,2000}[”“»\"]", regex.MULTILINE)
_LINK = regex.compile(r"\]\([^()\s]+")
_SAYS_SOURCE = regex.compile(
    r"\b(?:source|quelle|according\s+to|laut|gemäß)\b\W*\w|(?:\b(?:clause|section|line|page|p\.|zeile|seite|ziffer)|§)\s*\d",
    regex.IGNORECASE,
)
_MARKS = " \t>*#+-_0123456789.)"
"""Marks of lists, quotations, headings and emphasis, before and after the name of a label."""
_EVERYDAY_WORDS = """
agreement annex answer appendix bill budget claim contract copy cost data deed deposit document draft email fee file
final index invoice lease letter list loan mail memo minute note notice offer order paper payment plan policy price
protocol quote readme receipt record rent report result sale schedule sheet statement summary table task term text
will anhang anlage antwort auftrag bericht brief dokument entwurf kosten liste miete notiz preis protokoll rechnung
tabelle urkunde vertrag zahlung
"""
_EVERYDAY = frozenset(_EVERYDAY_WORDS.split())
"""Names of files that are also common words, without an s at the end."""
_DEEPEST = 6
"""Levels of headings."""
_MARK = regex.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+")
MIN_STEM = 3  # letters


class UnitCount(NamedTuple):
    """Units of a result, such as its rows. `lacking`: where the units without evidence are. `by_code`: code decided it
    for each unit.
    """

    unit: str
    of: int
    lacking: Sequence[str]
    by_code: bool


class _Unit(NamedTuple):
    """A part of a result: its lines (from 1), its text, and the cells of a row by column name."""

    name: str
    lines: range
    text: str
    cells: Mapping[str, str] = {}

    @property
    def where(self) -> str:
        return f"{self.name}, line {self.lines[0]:,}" if not self.name.startswith("@") else f"line {self.lines[0]:,}"


@dataclass(frozen=True)
class Output:
    """The output to judge. `results`: the texts that the criterion may be about, by name.

    `written_files`: all files that were written, text or not. `given_files`: the paths of the files that the step deals
    with.
    """

    results: Mapping[str, str]
    written_files: Sequence[str]
    given_files: Sequence[str]
    budget: Budget = field(default_factory=Budget)

    @cached_property
    def _paths(self) -> Paths:
        return Paths(self.given_files)

    @cached_property
    def _stems(self) -> Mapping[str, str]:
        """The paths by file name without folder and ending, where that name says something and occurs once."""
        stems: dict[str, list[str]] = {}
        for path in self.given_files:
            stem = _spaced(path.rpartition("/")[2].rpartition(".")[0])
            if sum(map(str.isalpha, stem)) >= MIN_STEM and caseless(stem).rstrip("s") not in _EVERYDAY:
                stems.setdefault(caseless(stem), []).append(path)
        return {stem: paths[0] for stem, paths in stems.items() if len(paths) == 1}

    @cached_property
    def _phrases(self) -> Phrases:
        return Phrases(self._stems)

    def named_in(self, text: str) -> set[str]:
        """The given files that a text names by path or name, or by their name without its ending. Raises TooSlow."""
        stems = self._stems.keys() - self._phrases.missing_in(_spaced(text), self.budget)
        return {*self.paths_in(text), *(self._stems[stem] for stem in stems)}

    def paths_in(self, text: str) -> set[str]:
        """The given files that a text names by path or name. Raises TooSlow."""
        return set(self._paths.named_in(text, self.budget))


def _spaced(text: str) -> str:
    return regex.sub(r"[_-]+", " ", text)


def count_units(criterion: str, evidence: Sequence[Evidence], output: Output) -> UnitCount | None:
    """The units that the criterion is about, and which of them have no evidence. None if it is about nothing in the
    table above; 0 units if code finds none, or too many.
    """
    found = _UNIT.search(criterion)
    if found is None:
        return None
    kind = found.lastgroup or ""
    before, behind = criterion[: found.start()], criterion[found.end() :]
    # “In rents.csv, each row …”: the words before “each” only say where.
    words = [word for word in before.split() if caseless(word) not in _BEFORE]
    says_only = not words or (len(words) == 1 and any(sign in words[0] for sign in "./:"))
    try:
        if kind == "files":
            is_made = bool(_MADE_BEFORE.search(found[0]) or _MADE_BEHIND.match(behind))
            return _files(behind if says_only else "", evidence, output, is_made=is_made)
        found_units = (unit for name, text in output.results.items() for unit in _units(kind, name, text))
        units = list(islice(found_units, MAX_UNITS + 1))
        if len(units) > MAX_UNITS:
            return UnitCount(kind, 0, (), by_code=False)
        decided = _decided(behind, units, output) if says_only else [None] * len(units)
    except TooSlow:
        return UnitCount(kind, 0, (), by_code=False)
    lacking = [
        unit.where
        for unit, has in zip(units, decided, strict=True)
        if not (has if has is not None else _is_quoted(unit, evidence))
    ]
    return UnitCount(kind, len(units), lacking, by_code=bool(units) and None not in decided)


def _files(behind: str, evidence: Sequence[Evidence], output: Output, *, is_made: bool) -> UnitCount | None:
    """For files: a given file must be named, or quoted if it is named; a written file must be quoted."""
    if is_made or not output.given_files:
        quoted = {one.source for one in evidence if one.verified and not one.weak}
        quoted |= {one.statement_in for one in evidence if one.verified and not one.weak}
        return UnitCount(
            "files",
            len(output.written_files),
            [one for one in output.written_files if one not in quoted],
            by_code=False,
        )
    named = _NAMED.fullmatch(behind)
    kinds: Sequence[str] = ("row", "section", "entries")
    if named:
        kinds = {"section": ("headings",), "row": ("rows",), "entry": ("entries",)}.get(named.lastgroup or "", ())
    units = [unit for kind in kinds for name, text in output.results.items() for unit in _units(kind, name, text)]
    if not kinds:
        seen = {path for text in output.results.values() for path in output.named_in(text)}
    elif named:
        heads = (unit.text.partition("\n")[0] if kinds == ("headings",) else unit.text for unit in units)
        seen = {path for head in heads for path in output.named_in(head)}
    else:
        seen = {path for unit in units if _is_quoted(unit, evidence) for path in output.named_in(unit.text)}
        seen |= {one.source for one in evidence if one.verified and not one.weak and one.statement_in}
    return UnitCount(
        "files", len(output.given_files), [path for path in output.given_files if path not in seen], bool(named)
    )


def _units(kind: str, name: str, text: str) -> Iterator[_Unit]:
    lines = text.split("\n")
    if kind in ("rows", "entries"):
        if is_csv(name):
            for span, cells in csv_rows(text, MAX_UNITS):
                yield _Unit(name, span, "\n".join(cells.values()), cells)
            return
        for table in tables_of(lines, MAX_UNITS, at_least=1):
            for number, row in enumerate(table.rows, table.body + 1):
                yield _Unit(
                    name, range(number, number + 1), lines[number - 1], dict(zip(table.header, row, strict=True))
                )
    if is_csv(name):
        return
    if kind in ("items", "entries"):
        for start, end in items_in(lines):
            yield _Unit(name, range(start + 1, end + 1), "\n".join(lines[start:end]))
    if kind in ("headings", "sections"):
        yield from _sections(name, lines, read_title=kind == "headings")


def _sections(name: str, lines: Sequence[str], *, read_title: bool) -> Iterator[_Unit]:
    heads = list(_headings(lines))
    top = min((level for _, level in heads), default=0)
    is_title = len(heads) > 1 and heads[0][1] == top and [level for _, level in heads].count(top) == 1
    ends, nearest = list[int](), [len(lines)] * (_DEEPEST + 1)
    for start, level in reversed(heads):
        ends.append(min(nearest[: level + 1]))
        nearest[level] = start
    for place, ((start, _), end) in enumerate(zip(heads, reversed(ends), strict=True)):
        if place or not is_title or read_title:
            yield _Unit(name, range(start + 1, end + 1), "\n".join(lines[start:end]))


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The line, from 0, and the level of each heading of a Markdown text."""
    fence = ""
    for number, line in enumerate(lines):
        opened = FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
        elif not fence and (head := _ATX.match(line)):
            yield number, len(head[1])
        elif not fence and _is_underlined(lines, number):
            yield number, 1 if lines[number + 1].lstrip().startswith("=") else 2


def _is_underlined(lines: Sequence[str], number: int) -> bool:
    """Whether a line is a heading because of the line below it."""
    alone = number == 0 or not lines[number - 1].strip()
    line = lines[number]
    below = number + 1 < len(lines) and _SETEXT.match(lines[number + 1])
    return bool(alone and below and line.strip() and not line.lstrip().startswith(("-", "*", "+", ">", "|", "#")))


def _is_quoted(unit: _Unit, evidence: Sequence[Evidence]) -> bool:
    for one in evidence:
        if one.verified and not one.weak:
            if one.source == unit.name and one.line in unit.lines:
                return True
            if one.statement_in == unit.name and one.statement_line in unit.lines:
                return True
    return False


def _decided(behind: str, units: Sequence[_Unit], output: Output) -> list[bool | None]:
    """For each unit whether it meets the sentence; None if code cannot decide."""
    said = _HAS.fullmatch(behind)
    objects = (
        [_DETERMINER.sub("", one.strip(), count=1) for one in _AND.split(said["objects"]) if one.strip()]
        if said
        else []
    )
    if not objects or not all(map(_NAME_OF_UNIT.fullmatch, objects)):
        return [None] * len(units)
    found = [_having(caseless(one), units, output) for one in objects]
    return [False if False in each else None if None in each else True for each in zip(*found, strict=True)]


def _having(noun: str, units: Sequence[_Unit], output: Output) -> list[bool | None]:
    """For each unit whether it has what the noun names: in a column or after a label of that name, or recognisable by
    its form.
    """
    form, look = next(((form, look) for form, look in _LOOKS if form.fullmatch(noun)), (None, None))
    is_amount = look is _has_amount
    if is_amount and not _ANY_AMOUNT.fullmatch(noun):
        form, look = None, None  # a rent is no other amount
    own = {noun, f"{noun}s", f"{noun}es"}

    def is_named(name: str) -> bool:
        return name in own or bool(form and form.fullmatch(name))

    def is_named_among(name: str) -> bool:
        return any(map(is_named, (word.strip("().,:;/") for word in name.split()))) or (" " in noun and noun in name)

    labels = [
        [] if unit.cells else [value for name, value in _labels_and_values(unit.text) if is_named(name)]
        for unit in units
    ]
    result: list[bool | None] = []
    for unit, labelled in zip(units, labels, strict=True):
        named = [(caseless(name), cell) for name, cell in unit.cells.items()]
        cells = [cell for name, cell in named if is_named(name)] or [
            cell for name, cell in named if is_named_among(name)
        ]
        said = [value for value in (*cells, *labelled) if caseless(value.strip(" *_`")) not in _BLANK]
        if is_amount:
            said = [value for value in said if any(True for _ in numbers_in(value))]
        is_blank = bool(labelled) and not any(labelled)  # a label above its values, such as "Sources:"
        looks = look(unit, output) if look and not cells and (is_blank or not labelled) else None
        is_lacking = bool(cells) or (any(labels) and not unit.cells)
        result.append(bool(said) or looks or (False if is_lacking else looks))
    return result


def _labels_and_values(text: str) -> Iterator[tuple[str, str]]:
    """The name and the value of each line such as “- **Rent**: 2,400 EUR”."""
    for line in text.split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            yield caseless(name.strip(_MARKS)), value.strip(" \t*")


def _has_amount(unit: _Unit, output: Output) -> bool | None:
    """A number with a currency is an amount. For one without, code cannot decide."""
    return any(one.unit in _CURRENCIES for one in numbers_in(unit.text)) or None


def _has_figure(unit: _Unit, output: Output) -> bool:
    return any(True for _ in numbers_in(_MARK.sub("", unit.text)))


def _has_date(unit: _Unit, output: Output) -> bool | None:
    """For a text without a recognised date, code cannot decide: it may have one in another form."""
    return bool(dates_in(unit.text)) or None


def _has_source(unit: _Unit, output: Output) -> bool:
    return (
        any(True for _ in addresses_in(unit.text))
        or bool(_LINK.search(unit.text) or _SAYS_SOURCE.search(unit.text))
        or bool(output.paths_in(unit.text))
    )


def _has_quote(unit: _Unit, output: Output) -> bool:
    return bool(_QUOTED.search(unit.text))


def _has_paragraph(unit: _Unit, output: Output) -> bool | None:
    """Whether there are words below a heading. For rows and items code cannot decide."""
    lines = unit.text.split("\n")
    if unit.cells or not (_ATX.match(lines[0]) or _is_underlined(lines, 0)):
        return None
    return any(regex.search(r"\p{L}", line) and not _NO_TEXT.match(line) for line in _below(lines))


def _below(lines: Sequence[str]) -> Iterator[str]:
    heads = {number for number, _ in _headings(lines)}
    return (line for number, line in enumerate(lines) if number not in heads)


_ANY_AMOUNT = regex.compile(r"amounts?|sums?|totals?|betr[aä]ge?|summen?")
_CURRENCIES = frozenset(CODES.values())
_LOOKS: Sequence[tuple[regex.Pattern[str], Callable[[_Unit, Output], bool | None]]] = (
    (
        regex.compile(
            r"amounts?|sums?|prices?|rents?|costs?|fees?|totals?"
            r"|betr[aä]ge?|preise?|mieten?|kosten|summen?|gebühr(?:en)?"
        ),
        _has_amount,
    ),
    (regex.compile(r"figures?|numbers?|zahl(?:en)?"), _has_figure),
    (regex.compile(r"dates?|dat(?:um|en)"), _has_date),
    (
        regex.compile(r"sources?|citations?|references?|links?|evidence|quellen?|belege?|verweise?"),
        _has_source,
    ),
    (regex.compile(r"quotes?|quotations?|zitate?"), _has_quote),
    (regex.compile(r"paragraphs?|texts?|content|body|abs[aä]tze?|texte?|inhalt"), _has_paragraph),
)
"""The form by which text with the noun's meaning is recognised."""
