"""The points of a document that need attention, and the facts that can be recognised by their form: dates, amounts,
parties. Each has its line and a verbatim quote.

First the words that make a clause worth a second look: vague, left blank, missing. English, some German.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from runs.evidence.quotes import proves_nothing
from runs.rehearsal.documents import Document
from runs.rehearsal.text import QUOTE_CHARS, Quote, Sentence, blocks, sentences
from runs.text.dates import dates_in
from runs.text.names import LEGAL_FORM
from runs.text.numbers import numbers_in
from runs.text.numerals import CURRENCIES
from runs.text.truncate import truncate_line

PLACEHOLDER = "Placeholder"
MISSING_DATE = "Missing date"
MISSING_AMOUNT = "Missing amount"
MISSING_PARTY = "Missing party"
VAGUE = "Vague term"
ADDRESSED = "Text addressed to software"
KINDS = (PLACEHOLDER, MISSING_DATE, MISSING_AMOUNT, MISSING_PARTY, VAGUE, ADDRESSED)
SEVERAL = {MISSING_PARTY: "missing parties", ADDRESSED: "texts addressed to software"}
"""Of several, where an s is not enough."""
LACKING = ""
"""The kind of a rule for what was left blank: what it lacks shows in the words before it."""

_MONEY = r"(?:amount|sum|price|fees?|charge|rent|cap|deposit|penalty|remuneration|compensation|salary|premium)"
_KINDS_LACKING = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in {
        MISSING_AMOUNT: rf"\b(?:{_MONEY}|betrag|miete|kaution|preis|vergütung|EUR|CHF|USD|GBP)\b|[€$£]",
        MISSING_DATE: r"\b(?:dated?|day|term|commencement|start|begin|expir\w+|end|deadline|effective|datum|beginn|"
        r"ende|frist)\b",
        MISSING_PARTY: r"\b(?:between|party|parties|name|client|customer|supplier|landlord|tenant|vertragspartei|"
        r"firma)\b",
    }.items()
}
LEFT_BLANK = (
    "This was left blank: what hangs on it can be neither computed nor enforced as the clause stands.",
    "Fill it in, or delete the clause if it does not apply.",
)
ELSEWHERE = re.compile(
    r"\b(?:stated|set out|specified|agreed in|listed|defined|according to|pursuant to|schedule|annex|appendix|"
    r"exhibit|clause|section|article)\b|_{4,}",
    re.IGNORECASE,
)
DEFINED_TERM = re.compile(r"[“\"„‘«]\s*(?:the )?([A-Z][\w -]{1,40}?)\s*[”\"“’»]|\*\*([A-Z][\w -]{1,40}?):?\*\*")


def amounts_in(text: str) -> Iterator[tuple[int, int]]:
    """Where the sums of money and the percentages of a text are."""
    wanted = CURRENCIES.keys() | {"%"}
    return ((number.start, number.end) for number in numbers_in(text) if number.unit in wanted)


@lru_cache(maxsize=1)  # a long sentence may owe many payments
def _last_amount(sentence: str) -> int:
    """Where a sentence last refers to a place that may state an amount; its end, if it states one itself."""
    if any(amounts_in(sentence)):
        return len(sentence)
    return max((match.start() for match in ELSEWHERE.finditer(sentence)), default=-1)


@dataclass(frozen=True)
class Rule:
    """`term`: what names the words found, as `re.Match.expand` reads it; `why` and `advice` may use it as {term}.
    `is_settled` says, of a match in its sentence and the terms that the document defines, that it is no point.
    """

    kind: str
    pattern: re.Pattern[str]
    why: str
    advice: str
    term: str
    is_settled: Callable[[re.Match[str], Collection[str]], bool]


def _rule(
    kind: str,
    pattern: str,
    why: str,
    advice: str,
    term: str = r"\g<0>",
    is_settled: Callable[[re.Match[str], Collection[str]], bool] = lambda match, defined: False,
) -> Rule:
    return Rule(kind, re.compile(pattern, re.IGNORECASE), why, advice, term, is_settled)


_LATER = (
    r"[^.;\[]{0,30}\b(?:to be|yet to be|still to be) (?:mutually )?"
    r"(?:agreed|determined|fixed|confirmed|defined|specified|named)"
)
RULES = (
    _rule(
        PLACEHOLDER,
        r"\[(?:insert|date|name|amount|address|party|company|number|title|to be|tbd|tbc|todo|xx+|●|•|…|\.\.\.|_+)"
        r"[^\]\n]{0,60}\](?!\()|(?<![\w-])(?:TBD|TBC|TBA|XXX|TODO|FIXME|t\.b\.d\.|n\.n\.)(?![\w-])|\blorem ipsum\b|"
        r"<(?:name|date|amount|company|address)>",
        "“{term}” was never filled in; the clause is incomplete as it stands.",
        "Fill in “{term}”, or delete the clause if it does not apply.",
    ),
    _rule(
        MISSING_AMOUNT,
        rf"\b(?:{_MONEY}|limit)\b{_LATER}",
        "No amount is stated; until the parties agree there may be none, or the clause may be void.",
        "State the amount and currency, or a formula and who calculates it.",
    ),
    _rule(
        MISSING_DATE,
        rf"\b(?:date|day|deadline|term|period|time)\b{_LATER}",
        "No date is stated; nothing can begin, end or be late on a date that is left open.",
        "State the date, or the event from which it can be counted.",
    ),
    _rule(
        VAGUE,
        r"\b(?:(?:commercially )?(?:all reasonable|reasonable|best) (?:commercial )?(?:efforts|endeavou?rs)|"
        r"market standards?|industry standards?|customary|state of the art|good industry practice|generally accepted|"
        r"marktüblich\w*|branchenüblich\w*|(?:appropriate|adequate|sufficient|suitable|satisfactory|"
        r"angemessene[nrs]?) (?:measures?|means|steps|levels?|quality|insurance|security|compensation|manner))\b|"
        r"\betc\.|\band so on\b",
        "“{term}” sets no standard that a third person could measure; each side will read it in its own favour.",
        "Name the result that is owed, or the list, norm or minimum against which it can be checked.",
    ),
    _rule(
        VAGUE,
        r"\b(?:as soon as (?:reasonably |is )?(?:possible|practicable)|promptly|in a timely manner|in due course|"
        r"without undue delay|within (?:a )?reasonable (?:time|period)|at (?:the )?earliest convenience|shortly|"
        r"(?:on|upon|with|subject to) reasonable (?:prior )?(?:written )?notice|from time to time|"
        r"at any time(?! of)|periodically|regularly|zeitnah|baldmöglichst|gelegentlich|von Zeit zu Zeit)\b",
        "“{term}” leaves open when, so that no one can be late or too early.",
        "Replace “{term}” by a number of hours or days and say what starts the period.",
    ),
    _rule(
        VAGUE,
        r"\b(?:where|if|when|as) (?:necessary|appropriate|possible|practicable|required)\b|"
        r"\bto the extent (?:possible|practicable)\b|\bgegebenenfalls\b",
        "“{term}” leaves it to one side to judge whether there is a duty at all.",
        "Say in which cases the duty arises, or who decides on it.",
    ),
    _rule(
        ADDRESSED,
        r"\b(?:ignore|disregard|forget) (?:all |any |your |the )*(?:previous |above |prior |earlier )*"
        r"(?:instructions?|prompts?|rules)\b|\byou are now\b|\bsystem prompt\b|"
        r"\b(?:mark|report|rate|judge) (?:this|everything|all) as (?:passed|approved|done)\b",
        "“{term}” speaks to a program that reads the document, not to a party. It was text here and had no effect.",
        "Ask who put this passage into the document and why, and have it removed.",
    ),
    _rule(LACKING, r"_{4,}|\.{6,}|…{2,}", *LEFT_BLANK),
    _rule(
        LACKING,
        r"\A\| ?(?P<row>[^|]{1,300}?) ?\| ?(?:[-–—?]|n/a)? ?\|\Z|"
        r"\A(?:[-*+]\s+)?(?:\*\*(?P<bold>[^*]{2,60}?):?\*\*:?|(?P<plain>(?-i:[A-ZÄÖÜ])[\w /]{2,40}):)\Z",
        *LEFT_BLANK,
        term=r"\g<row>\g<bold>\g<plain>",
        is_settled=lambda match, _: _lacking(match[0]) == PLACEHOLDER,
    ),
    _rule(
        MISSING_AMOUNT,
        r"\b(?:shall|must|will|has to|have to|agrees? to) (?:also )?pay\b(?P<what>[^.;]{0,60}?"
        rf"\b{_MONEY})\b",
        "A payment is owed, and the clause neither states its amount nor says where it stands.",
        "State the amount and its currency, or how it is computed.",
        term=r"\g<what>",
        is_settled=lambda match, _: _last_amount(match.string) >= match.end(),
    ),
    _rule(
        MISSING_PARTY,
        r"\bthe (?P<role>(?-i:(?:[A-Z][a-z]+ )?(?:Guarantor|Agent|Auditor|Subcontractor|Contractor|Broker|Insurer|"
        r"Licensor|Licensee|Landlord|Tenant|Client|Customer|Supplier|Provider|Controller|Processor|Buyer|Seller|"
        r"Purchaser|Vendor|Lender|Borrower|Employer|Employee|Consultant|Trustee|Expert|Lessor|Lessee|Operator|Manager|"
        r"Surveyor|Architect|Bank|Notary|Company|Distributor|Owner)))"
        r"(?=\s+(?:shall|may|must|will|undertakes|agrees|warrants)\b)",
        "“{term}” has rights or duties here, but the document does not say who that is.",
        "Define {term} by name and seat, or say how and by when it is appointed.",
        term=r"the \g<role>",
        is_settled=lambda match, defined: match["role"].casefold() in defined,
    ),
)
"""In this order: what begins in words that one rule has taken is not looked at by the next."""


MAX_BEFORE = 4
"""Lines before a blank that are quoted with it: in a table these are what the cells beside it say."""
_PART = r"(?:[A-ZÄÖÜÉ][\w'’&-]*|&|de|du|des|la|und|and|of)"
COMPANY = re.compile(rf"(?<![\w])[A-ZÄÖÜÉ][\w'’&-]*(?:[ \n]{_PART}){{0,5}}[ \n]{LEGAL_FORM}")


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
    """All points of a document in the order of their lines. The same words twice are one point; blanks stay apart."""
    text = document.text
    defined = {(one or other).casefold() for one, other in DEFINED_TERM.findall(text)}
    found: dict[tuple[str, str, int], list[Finding]] = {}
    for block in blocks(document.lines, document.beginnings):
        for sentence in sentences(block):
            for point in _points(document.path, sentence, defined):
                is_repeated = point.kind in (VAGUE, MISSING_PARTY, ADDRESSED)
                key = (point.kind, point.term.casefold(), 0 if is_repeated else point.line)
                found.setdefault(key, []).append(point)
    standing = text.replace("\t", "\n") if document.places else text
    alone = frozenset(line.strip() for line in standing.splitlines())
    points = []
    for same in found.values():
        first, lines = same[0], tuple(dict.fromkeys(one.line for one in same))
        points.append(
            replace(
                first,
                also=lines[1:],
                places=tuple(dict.fromkeys(map(document.place, lines))),
                anchor=document.anchor(first.quote.first, first.quote.last),
                cites=_citable(document, first.quote, alone),
            )
        )
    return sorted(points, key=lambda one: (one.line, KINDS.index(one.kind), one.term))


def _points(path: str, sentence: Sentence, defined: Collection[str]) -> Iterator[Finding]:
    text = sentence.text
    taken = bytearray(len(text))
    for rule in RULES:
        for match in rule.pattern.finditer(text):
            start, end = match.span()
            if taken[start] or rule.is_settled(match, defined):
                continue
            taken[start:end] = b"\1" * (end - start)
            before = text[max(0, start - 40) : start]
            words = match.expand(rule.term).strip("* ") or match[0]
            if set(words) <= set("_.…"):
                words = " ".join([*re.findall(r"[^\s|*_:]+", before)[-2:], "____"])
            term = truncate_line(words, 60)
            why, advice = rule.why.replace("{term}", term), rule.advice.replace("{term}", term)
            yield Finding(path, rule.kind or _lacking(before + match[0]), term, sentence.quote(start, end), why, advice)


def _lacking(words: str) -> str:
    return next((kind for kind, pattern in _KINDS_LACKING.items() if pattern.search(words)), PLACEHOLDER)


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
