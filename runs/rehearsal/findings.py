"""The points of a document that need attention, and the facts that can be recognised by their form: dates, amounts,
parties. Each has its line and a verbatim quote.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from runs.evidence.quotes import proves_nothing
from runs.rehearsal import wordlists as w
from runs.rehearsal.documents import Document
from runs.rehearsal.text import QUOTE_CHARS, Quote, Sentence, blocks, sentences, unbarred
from runs.text.dates import dates_in
from runs.text.names import LEGAL_FORM
from runs.text.numbers import numbers_in
from runs.text.numerals import CURRENCIES
from runs.text.truncate import truncate_line

MAX_BEFORE = 4
"""Lines before a blank that are quoted with it: in a table these are what the cells beside it say."""


_PART = r"(?:[A-ZÄÖÜÉ][\w'’&-]*|&|de|du|des|la|und|and|of)"


COMPANY = re.compile(rf"(?<![\w])[A-ZÄÖÜÉ][\w'’&-]*(?:[ \n]{_PART}){{0,5}}[ \n]{LEGAL_FORM}")


def amounts_in(text: str) -> Iterator[tuple[int, int]]:
    """Where the sums of money and the percentages of a text are."""
    wanted = CURRENCIES.keys() | {"%"}
    return ((number.start, number.end) for number in numbers_in(text) if number.unit in wanted)


@dataclass(frozen=True)
class Fact:
    document: str
    kind: str
    text: str
    line: int
    place: str


def facts_in(document: Document) -> Iterator[Fact]:
    """In the order of the lines, a party once per document; the text is verbatim but for folded whitespace."""
    parties: set[str] = set()
    for block in blocks(document.lines, document.beginnings):
        text = "\n".join(line for _, line in block)
        offsets = [0, *accumulate(len(line) + 1 for _, line in block[:-1])]
        spans = [("party", match.span()) for match in COMPANY.finditer(text)]
        spans += [("date", (date.start, date.end)) for date in dates_in(text) if all(day.year for day in date.days)]
        spans += [("amount", span) for span in amounts_in(text)]
        for kind, (start, end) in spans:
            found = " ".join(text[start:end].split())
            if kind == "party" and found in parties:
                continue
            parties.add(found)
            line = block[bisect_right(offsets, start) - 1][0]
            yield Fact(document.path, kind, found, line, document.place(line))


@dataclass(frozen=True)
class Finding:
    """`also`: further lines with the same words. `places` are what people call its line and these, each once; `anchor`
    is what a citation calls its place, and `cites` the words that it quotes, None where none would prove anything.
    """

    document: str
    kind: str
    term: str
    quote: Quote
    why: str
    advice: str
    also: tuple[int, ...] = ()
    places: tuple[str, ...] = ()
    anchor: str = ""
    cites: Quote | None = None

    @property
    def line(self) -> int:
        """Where the quote begins."""
        return self.quote.first


def findings_in(document: Document) -> list[Finding]:
    """All points of a document in the order of their lines; the same words twice are one point."""
    text = document.text
    defined = {(one or other).casefold() for one, other in w.DEFINED_TERM.findall(text)}
    found: list[Finding] = []
    for block in blocks(document.lines, document.beginnings):
        found += _empty_field(document.path, block)
        for sentence in sentences(block):
            found += _by_rules(document.path, sentence)
            found += _blanks(document.path, sentence)
            found += _undefined(document.path, sentence, defined)
    points = sorted(_merged(found), key=lambda item: (item.line, w.KINDS.index(item.kind), item.term))
    standing = text.replace("\t", "\n") if document.places else text
    alone = frozenset(line.strip() for line in standing.splitlines())
    return [
        replace(
            item,
            places=tuple(dict.fromkeys(map(document.place, (item.line, *item.also)))),
            anchor=document.anchor(item.quote.first, item.quote.last),
            cites=_citable(document, item.quote, alone),
        )
        for item in points
    ]


def _citable(document: Document, quote: Quote, alone: Collection[str]) -> Quote | None:
    """The quote, or where it proves nothing, as a blank in a cell does, its whole lines and those before them. `alone`:
    what is a line, or the text of a cell, of its own.
    """
    if not _proves_nothing(quote.text, alone):
        return quote
    for first in range(quote.first, quote.first - MAX_BEFORE - 1, -1):
        if first not in document.places:
            break
        words = " ".join(" ".join(document.lines.get(line, "") for line in range(first, quote.last + 1)).split())
        if not _proves_nothing(words, alone):
            return replace(quote, text=words[-QUOTE_CHARS:].partition(" ")[2] if len(words) > QUOTE_CHARS else words)
    return None


def _proves_nothing(words: str, alone: Collection[str]) -> bool:
    return bool(proves_nothing(words, words if words.strip() in alone else ""))


def _by_rules(path: str, sentence: Sentence) -> Iterator[Finding]:
    taken = bytearray(len(sentence.text))
    for rule in w.RULES:
        for match in rule.pattern.finditer(sentence.text):
            start, end = match.span()
            if taken.find(1, start, end) >= 0:
                continue
            taken[start:end] = b"\1" * (end - start)
            term = truncate_line(match[0], 60)
            texts = rule.why.replace("{term}", term), rule.advice.replace("{term}", term)
            yield Finding(path, rule.kind, term, sentence.quote(start, end), *texts)


def _blanks(path: str, sentence: Sentence) -> Iterator[Finding]:
    for match in w.BLANK.finditer(sentence.text):
        before = sentence.text[max(0, match.start() - 40) : match.start()]
        term = " ".join([*re.findall(r"[^\s|*_:]+", before)[-2:], "____"])
        yield Finding(path, _lacking(before), term, sentence.quote(*match.span()), *w.LEFT_BLANK)
    pays = w.PAYS.search(sentence.text)
    if pays and not any(amounts_in(sentence.text)) and not w.ELSEWHERE.search(sentence.text, pays.end()):
        term = truncate_line(pays["what"], 60)
        yield Finding(path, w.MISSING_AMOUNT, term, sentence.quote(*pays.span()), *w.UNSTATED)


def _lacking(words: str) -> str:
    found = (kind for kind, pattern in w.LACKING.items() if pattern.search(words))
    return next(found, w.PLACEHOLDER)


def _empty_field(path: str, block: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    """A label with nothing behind it, where the label asks for a date, an amount or a name."""
    number, line = block[0]
    if len(block) == 1 and (match := w.EMPTY_ROW.fullmatch(line[:300]) or w.EMPTY_LABEL.fullmatch(line[:300])):
        label = next(text for text in match.groups() if text).strip("* ")
        if _lacking(label) != w.PLACEHOLDER:
            quote = Quote(unbarred(line.strip()), number, number)
            yield Finding(path, _lacking(label), truncate_line(label, 60), quote, *w.LEFT_BLANK)


def _undefined(path: str, sentence: Sentence, defined: set[str]) -> Iterator[Finding]:
    """A role that acts although no definition introduces it."""
    for match in w.ACTS.finditer(sentence.text):
        role = match["role"]
        if role.casefold() not in defined:
            why = f"“The {role}” has rights or duties here, but the document does not say who that is."
            advice = f"Define the {role} by name and seat, or say how and by when it is appointed."
            yield Finding(path, w.MISSING_PARTY, f"the {role}", sentence.quote(*match.span()), why, advice)


def _merged(found: Sequence[Finding]) -> list[Finding]:
    """Vague words and roles that come again are added to their first finding; blanks stay apart."""
    kept: dict[tuple[str, str, int], Finding] = {}
    lines: dict[tuple[str, str, int], list[int]] = {}
    for item in sorted(found, key=lambda one: one.line):
        apart = item.kind not in (w.VAGUE, w.MISSING_PARTY, w.ADDRESSED)
        key = (item.kind, item.term.casefold(), item.line if apart else 0)
        kept.setdefault(key, item)
        seen = lines.setdefault(key, [item.line])
        if item.line != seen[-1]:
            seen.append(item.line)
    return [replace(item, also=tuple(lines[key][1:])) for key, item in kept.items()]
