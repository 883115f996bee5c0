"""Citations: links in a deliverable from a statement to the place in a source that carries it, each looked up (T8)."""

import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol
from urllib.parse import unquote

from runs.enums import CitationStatus, Provenance
from runs.errors import InvalidInput, PathRefused
from runs.pev.citations.copied import copied
from runs.pev.citations.links import MAX_LINKS, Link, links_in
from runs.pev.citations.source_text import SourceText
from runs.pev.citations.statements import Statement, Statements, figures_said, full_names, lacking, words_in
from runs.pev.contracts import RESULT
from runs.pev.evidence.quotes import Span, find, is_short, proves_nothing
from runs.pev.files.paths import clean_path, text_of
from runs.pev.texts.wording import quoted

EXAMPLE = "[“thirty days”](contracts/nda.md#L41)"
"""What every sentence on a citation that cannot be used shows."""
MAX_SEARCHED = 60_000_000
"""Characters of sources that are searched for the citations of one text: some four seconds. Only words that do not
stand where the citation says are searched for in the whole file.
"""
COLLECTING = 4
FIGURES = 10
"""Collecting the words or the figures of a passage takes so many times as long as searching it once."""
UNCOMPARED = "its figures were not compared: this text has too many citations"
NEAR_LINES = 60
MAX_RANGE = 200

type Place = tuple[str, int, int]
"""The name of a source, and the first character of what is cited and the one after the last."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_LINES = re.compile(r"L(\d{1,9})(?:C\d{1,9})?(?:-L?(\d{1,9})(?:C\d{1,9})?)?", re.IGNORECASE)
_MARKS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|`+|~~")
_QUOTATION = re.compile(r"(\r?\n)[ \t]*(?:>[ \t]?)+")
_QUOTES = ("“”", '""', "„“", "«»", "»«", "‘’", "''", "„”", "‹›")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_OTHER = re.compile(r"page=\d+|(?:p|s|t|fn|cm)\d+[\w.]*|[^!]*!\$?[A-Za-z]{1,3}\$?\d+(?::.*)?")


class Library(Protocol):
    """The sources of a run by name: a path is the file as it was given, or one that the run made; `@result/` and a path
    is what the run made of a given file. Bytes are the readable ones.
    """

    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __getitem__(self, name: str) -> bytes: ...
    def provenance(self, name: str) -> Provenance:
        """Where the words of this source come from."""
        ...

    def digest(self, name: str) -> str | None:
        """The SHA-256 of a given file as it was handed in; None for what has no other form than its readable bytes."""
        ...


@dataclass(frozen=True)
class Citation:
    """One link of a deliverable and what became of it.

    `start` to before `end` are its characters in the deliverable, `line` counts from 1. `source` is a name in the
    library, with the span of the quote in its text and the line where that begins; empty, 0 where nothing was found.
    `sentence` is for people. `plain`: a link that quotes nothing, or a copied one. `by_form`: its words stand in
    quotation marks, or its anchor is one of those that citations have, such as `#L41`. `weak`: what of the statement is
    not in what is cited. `statement` is the sentence or table row around it, without links.
    """

    start: int
    end: int
    line: int
    quote: str
    target: str
    status: CitationStatus
    sentence: str
    source: str = ""
    provenance: Provenance | None = None
    sha256: str = ""
    source_start: int = 0
    source_end: int = 0
    source_line: int = 0
    cited_line: int = 0
    plain: bool = False
    by_form: bool = False
    statement: str = ""
    statement_start: int = 0
    statement_end: int = 0
    weak: str = ""

    @property
    def broken(self) -> bool:
        return self.status is CitationStatus.BROKEN


@dataclass(frozen=True)
class Cited:
    """The citations and file links of a text, in order. `problem`: why it was not looked through, or nothing.

    `searched`: characters of the sources that were searched for them. `until`: where in the text the rest begins, which
    was not looked through; None if there is none.
    """

    links: tuple[Citation, ...] = ()
    problem: str = ""
    searched: int = 0
    until: int | None = None

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(one for one in self.links if not one.plain)

    @cached_property
    def broken(self) -> tuple[Citation, ...]:
        """Citations and links to files that lead nowhere."""
        return tuple(one for one in self.links if one.broken)


def citations_in(
    text: str, library: Library, allowance: int = MAX_SEARCHED, *, finished: bool = False, most: int = MAX_LINKS
) -> Cited:
    """Every citation of a Markdown text, looked up. Links elsewhere (`https:`, `#heading`) are none.

    Linear in the text; the sources are searched up to `allowance` characters. What is not looked up is broken. Those
    that do not hold as they are, and in a `finished` text all of them, may be copied from a given file.
    `most`: how many links are looked up.
    """
    try:
        reader = _Reader(text, library, allowance)
    except InvalidInput as error:
        return Cited(problem=f"Its citations were not looked up: {error}.")
    found = _without_copied(text, list(reader.resolved(reader.links[:most])), library, finished=finished)
    until = reader.links[most].start if len(reader.links) > most else None
    return Cited(tuple(found), searched=allowance - reader.left, until=until)


def cited_at(text: str, start: int, end: int, library: Library) -> list[Citation]:
    """The citations of a Markdown text whose link or statement overlaps the characters `start` to before `end`.

    Broken ones are left out: the others carry the words there, as far as their `provenance` can.
    """
    try:
        reader = _Reader(text, library)
    except InvalidInput:
        return []
    found = _without_copied(text, list(reader.resolved(reader.near(start, end))), library)
    return [one for one in found if not (one.broken or one.plain)]


def _without_copied(
    text: str, found: Sequence[Citation], library: Library, *, finished: bool = False
) -> Sequence[Citation]:
    """The citations, of which those that stand so in a given file are none of the text's own."""
    asked = {text[one.start : one.end] for one in found if finished or one.status is not CitationStatus.OK}
    files = copied(asked, library) if asked else {}
    return [_copied(one, files[raw]) if (raw := text[one.start : one.end]) in files else one for one in found]


def _copied(one: Citation, name: str) -> Citation:
    return replace(
        one,
        status=CitationStatus.COPIED,
        sentence=f"It stands so in {name}, which is quoted here",
        source=name,
        source_start=0,
        source_end=0,
        source_line=0,
        plain=True,
        by_form=False,
        weak="",
    )


@dataclass
class _Source:
    name: str
    text: SourceText | None
    sha256: str
    provenance: Provenance


class _Reader:
    """Looks the links of one text up, and remembers what it has read."""

    def __init__(self, text: str, library: Library, allowance: int = MAX_SEARCHED) -> None:
        blocks, self.links = links_in(text)
        self._statements = Statements(text, blocks, self.links)
        self._library = library
        self._sources: dict[str, _Source] = {}
        self._spans: dict[tuple[str, str, int, int], Span | str] = {}
        self._said: dict[Place, frozenset[str]] = {}
        self.left = allowance

    def near(self, start: int, end: int) -> list[Link]:
        """The links whose statement overlaps these characters."""
        around = ((link, self._statements.around(link)) for link in self.links)
        return [link for link, one in around if one.start < end and start < one.end]

    def resolved(self, links: Sequence[Link]) -> Iterator[Citation]:
        """What became of these links. Those of one statement carry it together."""
        found = [(one, self._statements.around(link)) for link in links if (one := self._one(link))]
        carried: dict[Statement, dict[Place, None]] = {}
        for one, statement in found:
            places = carried.setdefault(statement, {})
            if not (one.broken or one.plain):
                places[one.source, one.source_start, one.source_end] = None
        unknown = self._unknown_names(carried)
        weak = {one: self._weak(one, places, unknown.get(one, ())) for one, places in carried.items()}
        for one, statement in found:
            yield replace(
                one,
                statement=statement.words,
                statement_start=statement.start,
                statement_end=statement.end,
                weak="" if one.plain or one.broken else weak[statement],
            )

    def _unknown_names(self, statements: Iterable[Statement]) -> dict[Statement, list[str]]:
        """The names in each statement of which no word stands in any source that the text cites: another source may
        be the one that knows them.
        """
        named = {statement: names for statement in statements if (names := full_names(statement.own))}
        known = set(words_in(" ".join(self._sources)))
        for source in self._sources.values() if named else ():
            size = COLLECTING * len(source.text.text) if source.text else 0
            if source.text is None or size > self.left:
                return {}
            self.left -= size
            known.update(words_in(source.text.text))
        return {one: [name for name in names if known.isdisjoint(words_in(name))] for one, names in named.items()}

    def _weak(self, statement: Statement, places: Iterable[Place], names: Sequence[str]) -> str:
        figures = lacking(statement.own, map(self._figures, places))
        return UNCOMPARED if figures and self.left <= 0 else _weak(figures, names)

    def _figures(self, place: Place) -> frozenset[str]:
        """Those of the paragraph of a source that is cited; none when too much was searched."""
        if place not in self._said:
            name, start, end = place
            source = self._sources[name].text
            passage = source.around(start, end) if source and self.left > 0 else ""
            self.left -= FIGURES * len(passage)
            self._said[place] = figures_said(passage)
        return self._said[place]

    def _one(self, link: Link) -> Citation | None:
        target = link.target.strip()
        if not target or target.startswith("#") or _SCHEME.match(target):
            return None
        path, mark, anchor = target.rpartition("#")
        texts, is_quote = _quotes_in(link.text)
        plain = not mark and not is_quote
        given = Citation(
            start=link.start,
            end=link.end,
            line=link.line,
            quote=texts[0],
            target=target,
            status=CitationStatus.BROKEN,
            sentence="",
            plain=plain,
            by_form=is_quote or bool(_LINES.fullmatch(anchor) or _OTHER.fullmatch(anchor)),
        )
        name = self._named(path if mark else target)
        if name is None:
            return replace(given, sentence=self._no_file(path if mark else target))
        if plain:
            return self._file(given, name)
        return self._quoted(given, self._source(name), anchor if mark else "", texts)

    def _named(self, path: str) -> str | None:
        """The name in the library that a target means, percent-encoded or not; None if there is none."""
        for written in (unquote(path), path):
            prefix = RESULT if written.startswith(RESULT) else ""
            try:
                name = prefix + clean_path(written.removeprefix(prefix).removeprefix("./"))
            except PathRefused:
                continue
            if name in self._library:
                return name
        return None

    def _no_file(self, path: str) -> str:
        shown = quoted(unquote(path))
        inner = unquote(path).lstrip("./")
        if inner != path and self._named(inner):
            return f"There is no file {shown}; targets begin at the top folder: write {inner}"
        return f"There is no file {shown}"

    def _file(self, given: Citation, name: str) -> Citation:
        source = self._source(name)
        return replace(
            given,
            status=CitationStatus.OK,
            sentence=f"{name} is a file of the task",
            source=name,
            provenance=source.provenance,
            sha256=source.sha256,
        )

    def _source(self, name: str) -> _Source:
        if name not in self._sources:
            data = self._library[name]
            text = text_of(data)
            self._sources[name] = _Source(
                name,
                None if text is None else SourceText(text),
                self._library.digest(name) or hashlib.sha256(data).hexdigest(),
                self._library.provenance(name),
            )
        return self._sources[name]

    def _quoted(self, given: Citation, source: _Source, anchor: str, texts: Sequence[str]) -> Citation:
        known = replace(given, source=source.name, sha256=source.sha256, provenance=source.provenance)
        if source.text is None:
            return replace(known, sentence=f"{source.name} cannot be read yet, so nothing can be cited from it")
        lines = _LINES.fullmatch(unquote(anchor))
        first = int(lines[1]) if lines else 0
        last = max(first, int(lines[2] or 0)) if lines else 0
        problem = ""
        for quote in texts:
            span = self._place(source.name, source.text, quote, first, last)
            if isinstance(span, Span):
                return _placed(replace(known, quote=quote), span, anchor, (first, last))
            problem = problem or span
        return replace(known, sentence=problem, cited_line=first)

    def _place(self, name: str, text: SourceText, quote: str, first: int, last: int) -> Span | str:
        key = (name, quote, first, last)
        if key not in self._spans:
            self._spans[key] = self._searched(name, text, quote, first, last)
        return self._spans[key]

    def _searched(self, name: str, text: SourceText, quote: str, first: int, last: int) -> Span | str:
        """Where the quote stands: in the lines named, else near them, else anywhere; or why it proves nothing."""
        if self.left <= 0:
            return "It was not looked up: too much would have to be searched for the citations of this text"
        if is_short(quote):
            self.left -= len(text.text)
        if reason := proves_nothing(quote, text.text):
            return reason
        last = min(last, first + MAX_RANGE)
        windows = [(first, last), (max(1, first - NEAR_LINES), last + NEAR_LINES)] if first else []
        for low, high in windows:
            start, end = text.lines(low, high)
            part = text.text[start : end + 4 * len(quote) + 400]
            self.left -= len(part)
            span = find(quote, part)
            if span and start + span.start < end:
                return Span(start + span.start, start + span.end, text.line_at(start + span.start))
        self.left -= len(text.text)
        return find(quote, text.text) or f"{quoted(quote)} does not occur in {name}"


def _placed(known: Citation, span: Span, anchor: str, lines: tuple[int, int]) -> Citation:
    """A citation whose words were found: at the lines named, elsewhere, or behind an anchor that texts do not have."""
    first, last = lines
    found = replace(known, source_start=span.start, source_end=span.end, source_line=span.line, cited_line=first)
    where = f"{quoted(known.quote)} stands in {known.source}, line {span.line}"
    if anchor and not first:
        kind = "belongs to another format" if _OTHER.fullmatch(anchor) else "is none that a text file has"
        return replace(found, sentence=f"The anchor #{anchor[:40]} {kind}; {where}: write #L{span.line}")
    if first and first <= span.line <= min(last, first + MAX_RANGE):
        return replace(found, status=CitationStatus.OK, sentence=where)
    instead = f"not in line {first}" if first else "which the link did not say"
    return replace(found, status=CitationStatus.CORRECTED, sentence=f"{where}, {instead}")


def _quotes_in(text: str) -> tuple[list[str], bool]:
    """The words that a link's text may quote, the likeliest first, and whether they stand in quotation marks."""
    written = html.unescape(_ESCAPED.sub(r"\1", _QUOTATION.sub(r"\1", text))).strip()
    bare = _MARKS.sub("", written).strip()
    found = [_unquoted(written), _unquoted(bare)]
    return list(dict.fromkeys(found)), _unquoted(bare) != bare


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if len(text) > 2 and text[0] + text[-1] in _QUOTES else text


def _weak(figures: Sequence[str], names: Sequence[str]) -> str:
    sentences = []
    for missing, where in ((figures, "what is cited"), (names, "any source that is cited")):
        if missing:
            listed = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
            sentences.append(f"{listed} {'is' if len(missing) == 1 else 'are'} not in {where}")
    return "; ".join(sentences)
