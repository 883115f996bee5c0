"""Reads links: which source each one means, where its words stand there, and what its statement lacks, such as the
clause that it names.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

import regex

from runs.contracts.base import RESULT
from runs.documents.content import digest_of, document_of, is_guessed, text_of
from runs.documents.formats import ANCHORS
from runs.documents.model.clause_numbers import is_within
from runs.documents.places.document import Document
from runs.enums import CitationStatus, Provenance
from runs.errors import PathRefused
from runs.evidence.citations.citation import Citation, Library
from runs.evidence.citations.links import MarkdownBlock, MarkdownLink
from runs.evidence.citations.notes import CitationNote
from runs.evidence.citations.places import judged_by_place, paragraphs_around, passage_at
from runs.evidence.citations.statements import Statement, Statements, figures_said, full_names, lacking, words_in
from runs.evidence.citations.words import Comparable, quotes_in
from runs.evidence.passages import Passage, SourceSpan, find_respelled, find_verbatim, not_found, widened
from runs.evidence.quotes import guessed_letters, is_short, proves_nothing
from runs.evidence.relation import contradict
from runs.text.normalisation import markup_of
from runs.text.paths import clean_path
from runs.text.plural import word_for
from runs.text.sentences import sentence_around
from runs.text.truncate import quoted

MAX_PARAGRAPH = 4_000  # characters on each side of a link


class SourceText:
    """The offsets of the lines of a text. Lines count from 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def lines(self, first: int, last: int) -> tuple[int, int]:
        """The beginning and end of these lines, from 1; both at the end of the text if they do not exist."""
        count, size = len(self._starts), len(self.text)
        start = self._starts[first - 1] if 0 < first <= count else size
        return start, self._starts[last] if last < count else size

    def line_at(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def around(self, start: int, end: int) -> str:
        """The lines around a place, up to blank ones."""
        first = max(self.text.rfind("\n\n", max(0, start - MAX_PARAGRAPH), start), start - MAX_PARAGRAPH, 0)
        last = self.text.find("\n\n", end, end + MAX_PARAGRAPH)
        return self.text[first : last if last >= 0 else end + MAX_PARAGRAPH]


_NUMBER = r"(?:\p{Nd}{1,4}|[IVXLC]{1,7}(?![\p{L}\p{N}]))(?:\.\p{Nd}{1,4}){0,8}(?:\([0-9A-Za-z]{1,6}\)){0,4}"
_NAMED = regex.compile(
    r"(?<![\p{L}\p{N}])(?P<word>clauses?|klauseln?|ziffern?|sections?|articles?|artikel|art\.|abschnitte?|§§?)"
    rf"\s{{0,3}}(?P<numbers>{_NUMBER}(?:\s{{0,3}}(?P<joint>to|bis|through|and|und|or|oder|,|&|–|-)\s{{0,3}}{_NUMBER}){{0,20}})",
    regex.IGNORECASE,
)
_EACH = regex.compile(_NUMBER, regex.IGNORECASE)
_RANGES = frozenset({"to", "bis", "through", "–", "-"})
_OF_CONTRACTS = ("clause", "klausel", "ziffer")
_LAW = regex.compile(
    r"[^.;:“”\"\n]{0,40}?(?<!\p{L})(?:(?i:acts?|codes?|laws?|statutes?|regulations?|directives?|ordinances?|treaty"
    r"|constitution|\p{L}{0,40}(?:gesetzbuchs?|gesetzbuches|gesetze?s?|verordnung|richtlinie|ordnung)|verfassung)"
    r"|GDPR|UCC|USC|CFR|TFEU|AEUV|\p{Lu}\p{L}{0,5}(?:GB|G|O))(?!\p{L})"
)
"""What follows the number of a section, an article or a § of a law."""


def misnamed_clause(statement: str, cited: Sequence[tuple[Document | None, int, int]]) -> str:
    """What is wrong with the clauses that a statement names, where none of them is one that it cites, or the document
    itself refers to that one by another number. Empty where that cannot be told: it names a range, or cites something
    else than clauses.
    """
    matches = list(_NAMED.finditer(statement))
    joints = {joint.lower() for match in matches for joint in match.captures("joint")}
    if not (matches and cited) or joints & _RANGES:
        return ""
    clauses, before, disputed, doubts = list[str](), list[str](), list[str](), list[str]()
    for document, start, end in cited:
        found = [block for block in document.blocks_in(start, end) if block.clause] if document else []
        if not found:
            return ""
        clauses += [block.clause for block in found]
        before += [block.markup for block in found if block.markup]
        if document:
            disputed += [number for block in found for number in document.disputed_numbers(block)]
            doubts += [
                f"{document.name_of(block)}, {doubt}"
                for block in found
                if (doubt := document.doubt_about_number(block))
            ]
    named = [
        (number, match["word"].lower().startswith(_OF_CONTRACTS) or _is_of_contract(number, statement, match.end()))
        for match in matches
        for number in _EACH.findall(match["numbers"])
    ]
    known = clauses + before + disputed
    if any(is_within(number, clause) or is_within(clause, number) for number, _ in named for clause in known):
        return next(iter(doubts), "")
    for number, is_of_contract in named:
        if is_of_contract or any(one and one.clauses(number) for one, _, _ in cited):
            return f"the statement says clause {number}, the words are in clause {clauses[0]}"
    return ""


def _is_of_contract(number: str, statement: str, end: int) -> bool:
    """Whether a section, an article or a § that ends there is surely none of a law: those are seldom numbered 9.9."""
    return "." in number and not _LAW.match(statement, end)


MAX_SEARCHED = 60_000_000
"""Characters of sources that are searched for the citations of one text: some four seconds. Only words that do not
stand where the citation says are searched for in the whole file.
"""
COLLECTING = 4
FIGURES = 10
"""Collecting the words or figures of a passage takes this many times as long as searching it once."""
FOLDING = 4
"""Folding the lines of a source takes this many times as long as searching them."""
NAMING = 5_000
"""Finding the source that the name of a note means takes as long as searching so many characters."""
UNCOMPARED = "its figures were not compared: this text has too many citations"
TOO_MUCH = "too much would have to be searched for the citations of this text"
SEARCHED_NEARBY = 60
"""Lines around those that a link names that are searched first. A quote found there is still corrected."""
MAX_RANGE = 200
"""Lines that a range may have. Of a longer one only the first so many count."""

type Place = tuple[str, int, int]
"""The name of a source, and the first character of what is cited and the one after the last."""

_WEB = re.compile(r"https?://", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_LINES = re.compile(r"L(\d{1,9})(?:C\d{1,9})?(?:-L?(\d{1,9})(?:C\d{1,9})?)?", re.IGNORECASE)


@dataclass
class _OpenSource:
    name: str
    text: SourceText | None
    document: Document | None
    sha256: str
    provenance: Provenance
    guessed: bool = False


class CitationReader:
    """Looks up the links of one text, and remembers what it has read."""

    def __init__(
        self,
        text: str,
        read: tuple[Sequence[MarkdownBlock], Sequence[MarkdownLink]],
        library: Library,
        allowance: int = MAX_SEARCHED,
    ) -> None:
        blocks, self.links = read
        self._statements = Statements(text, blocks, self.links)
        self._library = library
        self._sources: dict[str, _OpenSource] = {}
        self._spans: dict[tuple[str, str, int, int], SourceSpan | str] = {}
        self._passages: dict[tuple[str, str, str], Passage | str] = {}
        self._said: dict[Place, frozenset[str]] = {}
        self._comparable: dict[str, Comparable] = {}
        self.left = allowance

    def near(self, start: int, end: int) -> list[MarkdownLink]:
        """The links whose statement overlaps these characters."""
        around = ((link, self._statements.around(link)) for link in self.links)
        return [link for link, one in around if one.start < end and start < one.end]

    def resolved(self, links: Iterable[MarkdownLink]) -> Iterator[Citation]:
        """The citations of these links."""
        yield from self._carried([(one, link) for link in links if (one := self._citation_of(link))])

    def noted(self, notes: Iterable[tuple[MarkdownLink, CitationNote]]) -> Iterator[tuple[CitationNote, Citation]]:
        """The citations of notes, without those that lead out of the run."""
        found = [(note, one, link) for link, note in notes if (one := self._meant(note, link))]
        carried = self._carried([(one, link) for _, one, link in found])
        for (note, _, _), one in zip(found, carried, strict=True):
            yield note, replace(one, at=note.at)

    def may_have(self, note: CitationNote, one: Citation) -> bool:
        """Whether a source that cannot be compared word by word with what a page has may still have it."""
        text = self._sources[one.source].text if one.source in self._sources else None
        if text is None or self.left <= 0:
            return False
        if one.source not in self._comparable:
            self._comparable[one.source] = Comparable(text.text)
        source = self._comparable[one.source]
        before = source.searched
        may_have = note.may_stand_in(source)
        self.left -= source.searched - before
        return may_have

    def _meant(self, note: CitationNote, link: MarkdownLink) -> Citation | None:
        """What a note cites. If its first reading leads nowhere, the others are tried."""
        first = None
        for way in note.links():
            one = self._citation_of(replace(link, text=way.text, target=way.target))
            if one is None or not one.broken:
                return one
            first = first or one
            self.left -= NAMING
            if self.left <= 0:
                break
        return first

    def _carried(self, found: Sequence[tuple[Citation, MarkdownLink]]) -> Iterator[Citation]:
        """The citations with their statements. Those of one statement support it together."""
        carried: dict[Statement, dict[Place, None]] = {}
        statements = [self._statements.around(link) for _, link in found]
        for (one, _), statement in zip(found, statements, strict=True):
            places = carried.setdefault(statement, {})
            if not (one.broken or one.plain):
                places[one.source, one.source_start, one.source_end] = None
        unknown = self._unknown_names(carried)
        weak = {one: self._weak(one, places, unknown.get(one, ())) for one, places in carried.items()}
        for (one, _), statement in zip(found, statements, strict=True):
            yield replace(
                one,
                statement=statement.words,
                statement_start=statement.start,
                statement_end=statement.end,
                weak="" if one.plain or one.broken else "; ".join(filter(None, (one.weak, weak[statement]))),
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
        cited = list(places)
        figures = lacking(statement.own, map(self._figures, cited))
        if figures and self.left <= 0:
            return UNCOMPARED
        clause = misnamed_clause(
            statement.own, [(self._sources[name].document, start, end) for name, start, end in cited]
        )
        sentences = [self._sentence(*place) for place in cited]
        is_denied = bool(sentences) and all(contradict(statement.own, sentence) for sentence in sentences)
        denied = "only one of the statement and what is cited for it is negated" if is_denied else ""
        return "; ".join(filter(None, [_weak(figures, names), clause, denied]))

    def _sentence(self, name: str, start: int, end: int) -> str:
        """The sentence of a source that has the cited words."""
        text = self._sources[name].text
        if text is None:
            return ""
        first, last = sentence_around(text.text, start, end)
        return text.text[first:last]

    def _figures(self, place: Place) -> frozenset[str]:
        """The figures of the cited paragraph; empty if too much was searched."""
        if place not in self._said:
            name, start, end = place
            passage = self._around(name, start, end) if self.left > 0 else ""
            self.left -= FIGURES * len(passage)
            self._said[place] = figures_said(passage)
        return self._said[place]

    def _around(self, name: str, start: int, end: int) -> str:
        source = self._sources[name]
        if source.document and (passage := paragraphs_around(source.document, start, end)):
            return passage
        return source.text.around(start, end) if source.text else ""

    def _citation_of(self, link: MarkdownLink) -> Citation | None:
        target = link.target.strip()
        if _WEB.match(target):
            return self._of_page(link, target)
        if not target or target.startswith("#") or _SCHEME.match(target):
            return None
        path, mark, anchor = self._split_target(target)
        texts, is_quote = quotes_in(link.text)
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
            by_form=is_quote or bool(_LINES.fullmatch(anchor) or ANCHORS.has(anchor)),
        )
        name = self._source_named(path if mark else target)
        if name is None:
            return replace(given, sentence=self._no_file(path if mark else target))
        if plain:
            source = self._source(name)
            return replace(
                given,
                status=CitationStatus.OK,
                sentence=f"{name} is a file of the task",
                source=name,
                provenance=source.provenance,
                sha256=source.sha256,
            )
        return self._quoted(given, self._source(name), anchor if mark else "", texts)

    def _of_page(self, link: MarkdownLink, address: str) -> Citation | None:
        """A quote of a web page that the run has read. Other links to the web are no citations."""
        texts, is_quote = quotes_in(link.text)
        page = self._library.page(address) if is_quote else ""
        if not page:
            return None
        source = _OpenSource(address, SourceText(page), None, digest_of(page.encode()), Provenance.OBSERVED)
        self._sources.setdefault(address, source)
        given = Citation(link.start, link.end, link.line, texts[0], address, CitationStatus.BROKEN, "", by_form=True)
        found = self._quoted(given, self._sources[address], "", texts)
        if not found.source_line:
            return found
        sentence = f"{quoted(found.quote)} stands on the page {address}"
        return replace(found, status=CitationStatus.OK, sentence=sentence, place="the page as it was read")

    def _split_target(self, target: str) -> tuple[str, str, str]:
        """Path and anchor of a target, with the mark between them. Names of sheets and files may contain that mark."""
        last = target.rpartition("#")
        if target.count("#") > 1 and self._source_named(last[0]) is None:
            first = target.partition("#")
            return first if self._source_named(first[0]) else last
        return last

    def _source_named(self, path: str) -> str | None:
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
        if inner != path and self._source_named(inner):
            return f"There is no file {shown}; in the top folder there is {inner}"
        return f"There is no file {shown}"

    def _source(self, name: str) -> _OpenSource:
        if name not in self._sources:
            data = self._library[name]
            text = text_of(data)
            self._sources[name] = _OpenSource(
                name,
                None if text is None else SourceText(text),
                document_of(data),
                self._library.digest(name) or digest_of(data),
                self._library.provenance(name),
                is_guessed(data),
            )
        return self._sources[name]

    def _quoted(self, given: Citation, source: _OpenSource, anchor: str, texts: Sequence[str]) -> Citation:
        known = replace(given, source=source.name, sha256=source.sha256, provenance=source.provenance)
        if source.text is None:
            return replace(known, sentence=f"{source.name} cannot be read yet, so nothing can be cited from it")
        if source.document:
            return self._of_document(known, source.document, unquote(anchor), texts)
        lines = _LINES.fullmatch(unquote(anchor))
        first = int(lines[1]) if lines else 0
        last = max(first, int(lines[2] or 0)) if lines else 0
        problem = ""
        for quote in texts:
            key = (source.name, quote, first, last)
            if key not in self._spans:
                self._spans[key] = self._search(source.name, source.text, quote, first, last)
            span = self._spans[key]
            if isinstance(span, SourceSpan):
                weak = guessed_letters(source.guessed, source.text.text[span.start : span.end])
                found = _judged_by_line(replace(known, quote=quote, weak=weak), span, anchor, (first, last))
                # A negation directly before the cited words belongs to them: then the whole sentence is cited.
                whole = widened(span, source.text.text)
                if whole == span:
                    return found
                words = quoted(source.text.text[whole.start : whole.end], 200)
                sentence = f"{found.sentence}, where the whole sentence is {words}"
                return replace(found, source_start=whole.start, source_end=whole.end, sentence=sentence)
            problem = problem or span
        return replace(known, sentence=problem, cited_line=first)

    def _of_document(self, known: Citation, document: Document, anchor: str, texts: Sequence[str]) -> Citation:
        problem = ""
        for quote in texts:
            key = (known.source, quote, anchor)
            if key not in self._passages:
                self._passages[key] = self._passage(known.source, document, quote, anchor)
            found = self._passages[key]
            if isinstance(found, Passage):
                return judged_by_place(known, found, document, anchor)
            problem = problem or found
        return replace(known, sentence=problem, cited_place=anchor)

    def _passage(self, name: str, document: Document, quote: str, anchor: str) -> Passage | str:
        """Where the document has the quote, rather at the anchor; or why it proves nothing."""
        if self.left <= 0:
            return f"It was not looked up: {TOO_MUCH}"
        found, cost = passage_at(quote, document, name, anchor)
        self.left -= cost
        return found

    def _search(self, name: str, text: SourceText, quote: str, first: int, last: int) -> SourceSpan | str:
        """Where the quote stands: in the lines named, else near them, else anywhere; or why it proves nothing."""
        if self.left <= 0:
            return f"It was not looked up: {TOO_MUCH}"
        if is_short(quote):
            self.left -= len(text.text)
        if reason := proves_nothing(quote, text.text):
            return reason
        last = min(last, first + MAX_RANGE)
        windows = [(first, last), (max(1, first - SEARCHED_NEARBY), last + SEARCHED_NEARBY)] if first else []
        for low, high in windows:
            start, end = text.lines(low, high)
            part = text.text[start : end + 4 * len(quote) + 400]
            self.left -= len(part)
            span = find_verbatim(quote, part)
            if span and start + span.start < end:
                return _moved(span, start, text)
        self.left -= len(text.text)
        return find_verbatim(quote, text.text) or self._respelled(name, text, quote, windows)

    def _respelled(
        self, name: str, text: SourceText, quote: str, windows: Sequence[tuple[int, int]]
    ) -> SourceSpan | str:
        """Where the source has the same words in another spelling, or why it has none."""
        markup = markup_of(name)
        for low, high in windows:
            start, end = text.lines(low, high)
            part = text.text[start : end + 4 * len(quote) + 400]
            self.left -= FOLDING * len(part)
            span = find_respelled(quote, part, markup)
            if span and start + span.start < end:
                return _moved(span, start, text)
        self.left -= len(text.text)
        return find_respelled(quote, text.text, markup) or not_found(quote, name, text.text)


def _moved(span: SourceSpan, by: int, text: SourceText) -> SourceSpan:
    return SourceSpan(by + span.start, by + span.end, text.line_at(by + span.start))


def _judged_by_line(known: Citation, span: SourceSpan, anchor: str, lines: tuple[int, int]) -> Citation:
    """A citation whose words were found: at the lines named, elsewhere, or behind an anchor that texts do not have."""
    first, last = lines
    found = replace(known, source_start=span.start, source_end=span.end, source_line=span.line, cited_line=first)
    where = f"{quoted(known.quote)} is in {known.source}, line {span.line}"
    if anchor and not first:
        kind = "belongs to another format" if ANCHORS.has(anchor) else "is none that a text file has"
        return replace(found, sentence=f"Its place {quoted(anchor, 40)} {kind}; {where}")
    if first and first <= span.line <= min(last, first + MAX_RANGE):
        return replace(found, status=CitationStatus.OK, sentence=where)
    instead = f"not in line {first}" if first else "which the link did not say"
    return replace(found, status=CitationStatus.CORRECTED, sentence=f"{where}, {instead}")


def _weak(figures: Sequence[str], names: Sequence[str]) -> str:
    sentences = []
    for missing, where in ((figures, "what is cited"), (names, "any source that is cited")):
        if missing:
            listed = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
            sentences.append(f"{listed} {word_for(len(missing), 'is', 'are')} not in {where}")
    return "; ".join(sentences)
