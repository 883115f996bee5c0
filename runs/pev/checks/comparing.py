"""The checks that compare the result with its sources: quotes, coverage of items, absence of terms."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, assert_never

from runs.contracts.base import RESULT
from runs.documents.content import document_of
from runs.enums import Provenance
from runs.errors import InvalidInput
from runs.evidence.citations.citing import broken_in
from runs.evidence.citations.lookup import citations_in, noted_in
from runs.evidence.quotable import Quotable
from runs.evidence.quotes import MIN_CHARACTERS
from runs.evidence.source_names import Paths, Phrases, worded
from runs.evidence.sources import OUTSIDE, Given, Sources
from runs.pev.checks.counting import count
from runs.pev.checks.material import LISTED, CheckInput, CheckResult, listed, matching
from runs.pev.checks.passages import Passage, passages_in
from runs.pev.checks.tables import Table
from runs.pev.contracts import Absent, Citations, Comparison, Count, Covers, QuotesOccur
from runs.text.lines import lines_in
from runs.text.normalisation import Sought, markup_of
from runs.text.paths import clean_path
from runs.text.patterns import Budget
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted

MAX_ITEMS = 100_000
"""Items that are looked for, or quoted passages; more are no list that anybody has dealt with."""
MAX_ITEM_CHARACTERS = 1_000
"""More are a text, which nobody names."""
_ELLIPSIS = re.compile(r"\[\s*(?:…|\.\.\.)\s*\]|\s(?:…|\.\.\.)\s")
_EMPHASIS = re.compile(r"\*\*|__|\\(?=[!-/:-@\[-`{-~])")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")


def compared(check: Comparison, text: str, material: CheckInput, budget: Budget) -> CheckResult:
    """What comes out of holding the text of the result against its sources. Raises InvalidInput with a part of a
    sentence, TooSlow among them, where that cannot be done.
    """
    match check:
        case Citations():
            return _citations(check, text, material)
        case QuotesOccur():
            return _quotes_occur(check, text, material, budget)
        case Covers():
            return _covers(check, text, material, budget)
        case Count():
            return count(check, text, material, budget)
        case Absent():
            return _absent(check, material, budget)
        case _:
            assert_never(check)


def _citations(check: Citations, text: str, material: CheckInput) -> CheckResult:
    sources = material.library or Sources(material.files, Given(material.given))
    document = document_of(material.files[clean_path(check.path.removeprefix(RESULT))])
    cited = noted_in(document, sources) if document else citations_in(text, sources)
    counted = f"has {pluralize(len(cited.citations), 'citation')}, wanted at least {check.min:,}"
    if broken := broken_in(cited):
        more = f" And {len(broken) - LISTED:,} more." if len(broken) > LISTED else ""
        first = cited.broken[0].line if cited.broken else 0
        return CheckResult(False, f"{counted}; {len(broken):,} broken. {' '.join(broken[:LISTED])}{more}", first)
    origins = {one.provenance for one in cited.citations}
    given, observed = Provenance.GIVEN in origins, not origins.isdisjoint(OUTSIDE)
    held = len(cited.citations) >= check.min
    return CheckResult(held, f"{counted}, all found", outside=given, observed=observed and not given)


def _quotes_occur(check: QuotesOccur, text: str, material: CheckInput, budget: Budget) -> CheckResult:
    passages = list(_at_most(MAX_ITEMS, _passages(check, text, Paths(material.names()), budget), "quoted passages"))
    if not passages:
        raise InvalidInput("quotes nothing; quote the sources")
    counted = f"has {pluralize(len(passages), 'quoted passage')}"
    wrong = {number: why for number, passage in enumerate(passages) if (why := _unusable(passage))}
    places = _places([(n, p) for n, p in enumerate(passages) if n not in wrong], material, budget)
    for number, passage in enumerate(passages):
        if number not in wrong and number not in places:
            wrong[number] = f"does not occur in {listed(list(passage.sources))}"
    if wrong:
        first = [f"line {passages[n].line}: {quoted(passages[n].text, 60)} {wrong[n]}" for n in sorted(wrong)[:LISTED]]
        more = f"; and {len(wrong) - LISTED:,} more" if len(wrong) > LISTED else ""
        said = f"{counted}, of which {len(wrong):,} cannot be found: {'; '.join(first)}{more}"
        return CheckResult(False, said, passages[min(wrong)].line)
    made = sorted({name for name in places.values() if not material.is_given(name)})
    own = f"; the run itself has made {listed(made)}" if made else ""
    said = f"{counted}, each found in the source named beside it: {listed(sorted(set(places.values())))}{own}"
    return CheckResult(True, said, passages[0].line, outside=not made)


def _passages(check: QuotesOccur, text: str, paths: Paths, budget: Budget) -> Iterator[Passage]:
    if not check.column:
        yield from passages_in(text, paths, budget)
        return
    table = Table(text, [check.column, check.source_column])
    sources = table.column(check.source_column, budget)
    for (line, quote), (_, source) in zip(table.column(check.column, budget), sources, strict=True):
        yield Passage(quote, line, tuple(dict.fromkeys(paths.named_in(source, budget))))


def _unusable(passage: Passage) -> str:
    if sum(map(str.isalnum, passage.text)) < MIN_CHARACTERS:
        return "is too short to prove anything"
    return "" if passage.sources else "has no source named beside it"


def _places(passages: Iterable[tuple[int, Passage]], material: CheckInput, budget: Budget) -> dict[int, str]:
    """Of each passage that occurs in a source named beside it, which one: a given one, if it can be. One source is held
    in memory at a time.
    """
    by_source: dict[str, list[tuple[int, str]]] = {}
    for number, passage in passages:
        for name in passage.sources:
            by_source.setdefault(name, []).append((number, passage.text))
    places = dict[int, str]()
    for name in sorted(filter(material.has, by_source), key=lambda name: not material.is_given(name)):
        budget.left()
        searched = Quotable(*material.content(name), markup_of(name))
        for number, quote in by_source[name]:
            budget.left()
            if number not in places and _occurs(quote, searched):
                places[number] = name
    return places


def _occurs(quote: str, searched: Quotable) -> bool:
    """As evidence has to, but for the emphasis that Markdown adds and for what the quote itself says it leaves out."""
    if quote in searched or _EMPHASIS.sub("", quote) in searched:
        return True
    parts = [_EMPHASIS.sub("", part).strip() for part in _ELLIPSIS.split(quote)]
    return len(parts) > 1 and all(sum(map(str.isalnum, part)) >= MIN_CHARACTERS and part in searched for part in parts)


def _covers(check: Covers, text: str, material: CheckInput, budget: Budget) -> CheckResult:
    where = text
    if check.in_column:
        where = " \0 ".join(value for _, value in Table(text, [check.in_column]).column(check.in_column, budget))
    files = matching(check.files, material.given) if check.files else []
    if check.files and not files:
        raise InvalidInput(f"is not compared: no given file matches {check.files}")
    named = set(Paths(material.given).named_in(where, budget)) if files else set[str]()
    items = list(dict.fromkeys([*check.items, *_at_most(MAX_ITEMS, _listed_in(check, material, budget), "items")]))
    if not items and not files:
        raise InvalidInput(f"is not compared: {check.source} lists nothing")
    unnamed = Phrases(items).missing_in(where, budget)
    missing = [quoted(item) for item in items if item in unnamed] + [path for path in files if path not in named]
    of = len(items) + len(files)
    column = f" by its column {quoted(check.in_column)}" if check.in_column else ""
    said = f"has {of - len(missing):,} of {of:,} dealt with{column}"
    outside = bool(files) or bool(check.source and material.is_given(check.source))
    return CheckResult(not missing, f"{said}; missing: {listed(missing)}" if missing else said, outside=outside)


def _listed_in(check: Covers, material: CheckInput, budget: Budget) -> Iterator[str]:
    """The values of the column, or the lines, that have a letter or digit."""
    if not check.source:
        return
    text = material.text(check.source)
    try:
        table = Table(text, [check.column])
        values = (value for _, value in table.column(check.column, budget)) if check.column else _lines(text, budget)
        for value in values:
            if len(value) > MAX_ITEM_CHARACTERS:
                raise InvalidInput(f"has an item of more than {MAX_ITEM_CHARACTERS:,} characters: {quoted(value, 40)}")
            if worded(value):
                yield value
    except InvalidInput as error:
        raise InvalidInput(f"is not compared: {check.source} {error}") from error


def _lines(text: str, budget: Budget) -> Iterator[str]:
    """The bullet items, if there are any, else the lines that are no headings."""
    bullets = any(map(_BULLET.match, lines_in(text)))
    for line in lines_in(text):
        budget.left()
        bullet = _BULLET.match(line)
        if bullet or not (bullets or _HEADING.match(line)):
            yield line[bullet.end() if bullet else 0 :].strip()


def _at_most[T](limit: int, items: Iterable[T], what: str) -> Iterator[T]:
    for number, item in enumerate(items):
        if number == limit:
            raise InvalidInput(f"is not compared: there are more than {limit:,} {what}")
        yield item


class _Place(NamedTuple):
    """Where a term is, or may be; `sentence` says so."""

    name: str
    line: int
    sentence: str


def _absent(check: Absent, material: CheckInput, budget: Budget) -> CheckResult:
    """Whether none of the terms occurs in the given files, nor anything that could be one of them (T14); only of files
    that were read whole that says anything.
    """
    names = matching(check.path, material.given)
    if not names:
        raise InvalidInput(f"{check.path} matches none of the given files")
    if unread := [name for name in names if name not in material.read_whole]:
        raise InvalidInput(f"Nothing is known to be absent from what was not read whole: {listed(unread)}")
    terms = list(dict.fromkeys(check.terms))
    certain, doubtful = list[_Place](), list[_Place]()
    for name in names:
        text = material.text(name)
        sought = Sought(text, budget.left)
        for term in terms:
            budget.left()
            if found := sought.first(term):
                line = text.count("\n", 0, found.start) + 1
                written = "" if not found.doubt else f" as {quoted(text[found.start : found.end])}, with {found.doubt}"
                places = doubtful if found.doubt else certain
                places.append(_Place(name, line, f"{quoted(term)} in {name}, line {line}{written}"))
    if places := certain + doubtful:
        may = "There is" if certain else "It is not certain that they are absent; there may be"
        said = f"{may} {listed([place.sentence for place in places])}"
        return CheckResult(False, said, places[0].line, source=places[0].name, outside=True)
    read = "which was read whole" if len(names) == 1 else f"{pluralize(len(names), 'file')}, read whole"
    said = f"{listed([quoted(term) for term in terms])} {word_for(len(terms), 'occurs', 'occur')} nowhere in"
    return CheckResult(True, f"{said} {listed(names)} ({read})", source=names[0], outside=True)
