"""The points of a document that need attention, and the facts that can be recognised by their form: dates, amounts,
parties. Each has its line and a verbatim quote.

First the words that make a clause worth a second look: vague, left blank, missing. English, some German.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

from runs.evidence.quotes import proves_nothing
from runs.rehearsal.documents import Document
from runs.rehearsal.text import QUOTE_CHARS, Quote, TextBlock, blocks, cited
from runs.text.dates import dates_in
from runs.text.names import LEGAL_FORM
from runs.text.numbers import numbers_in
from runs.text.numerals import CURRENCIES
from runs.text.sentences import sentence_around
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

_MONEY = r"(?:amount|sum|price|fees?|charge|rent|cap|deposit|penalty|remuneration|compensation|salary|premium)"
_WORDS_BEFORE_BLANKS = {
    MISSING_AMOUNT: rf"\b(?:{_MONEY}|betrag|miete|kaution|preis|vergütung|EUR|CHF|USD|GBP)\b|[€$£]",
    MISSING_DATE: r"\b(?:dated?|day|term|commencement|start|begin|expir\w+|end|deadline|effective|datum|beginn|ende|"
    r"frist)\b",
    MISSING_PARTY: r"\b(?:between|party|parties|name|client|customer|supplier|landlord|tenant|vertragspartei|firma)\b",
}
_LEFT_BLANK = (
    "This was left blank: what hangs on it can be neither computed nor enforced as the clause stands.",
    "Fill it in, or delete the clause if it does not apply.",
)
_ELSEWHERE = re.compile(
    r"\b(?:stated|set out|specified|agreed in|listed|defined|according to|pursuant to|schedule|annex|appendix|"
    r"exhibit|clause|section|article)\b|_{4,}",
    re.IGNORECASE,
)
_DEFINED_TERM = re.compile(r"[“\"„‘«]\s*(?:the )?([A-Z][\w -]{1,40}?)\s*[”\"“’»]|\*\*([A-Z][\w -]{1,40}?):?\*\*")


def amounts_in(text: str) -> Iterator[tuple[int, int]]:
    """Where the sums of money and the percentages of a text are."""
    wanted = CURRENCIES.keys() | {"%"}
    return ((number.start, number.end) for number in numbers_in(text) if number.unit in wanted)


def _states_amount(payment: re.Match[str]) -> bool:
    """Whether its sentence states an amount, or says behind it where the amount is stated."""
    start, end = sentence_around(payment.string, *payment.span())
    return any(amounts_in(payment.string[start:end])) or bool(_ELSEWHERE.search(payment.string, payment.end(), end))


@dataclass(frozen=True)
class Rule:
    """`kind`: None for something left blank, whose kind the words before it tell. `term`: what names the words found,
    as `re.Match.expand` reads it; `why` and `advice` may use it as {term}. `is_settled`: whether a match
    is no point, given the terms that the document defines.
    """

    kind: str | None
    pattern: str
    why: str
    advice: str
    term: str = r"\g<0>"
    is_settled: Callable[[re.Match[str], Collection[str]], bool] = lambda match, defined: False

    regex: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "regex", re.compile(self.pattern, re.IGNORECASE))


_LATER = (
    r"[^.;\[]{0,30}\b(?:to be|yet to be|still to be) (?:mutually )?"
    r"(?:agreed|determined|fixed|confirmed|defined|specified|named)"
)
RULES = (
    Rule(
        PLACEHOLDER,
        r"\[(?:insert|date|name|amount|address|party|company|number|title|to be|tbd|tbc|todo|xx+|●|•|…|\.\.\.|_+)"
        r"[^\]\n]{0,60}\](?!\()|(?<![\w-])(?:TBD|TBC|TBA|XXX|TODO|FIXME|t\.b\.d\.|n\.n\.)(?![\w-])|\blorem ipsum\b|"
        r"<(?:name|date|amount|company|address)>",
        "“{term}” was never filled in; the clause is incomplete as it stands.",
        "Fill in “{term}”, or delete the clause if it does not apply.",
    ),
    Rule(
        MISSING_AMOUNT,
        rf"\b(?:{_MONEY}|limit)\b{_LATER}",
        "No amount is stated; until the parties agree there may be none, or the clause may be void.",
        "State the amount and currency, or a formula and who calculates it.",
    ),
    Rule(
        MISSING_DATE,
        rf"\b(?:date|day|deadline|term|period|time)\b{_LATER}",
        "No date is stated; nothing can begin, end or be late on a date that is left open.",
        "State the date, or the event from which it can be counted.",
    ),
    Rule(
        VAGUE,
        r"\b(?:(?:commercially )?(?:all reasonable|reasonable|best) (?:commercial )?(?:efforts|endeavou?rs)|"
        r"market standards?|industry standards?|customary|state of the art|good industry practice|generally accepted|"
        r"marktüblich\w*|branchenüblich\w*|(?:appropriate|adequate|sufficient|suitable|satisfactory|"
        r"angemessene[nrs]?) (?:measures?|means|steps|levels?|quality|insurance|security|compensation|manner))\b|"
        r"\betc\.|\band so on\b",
        "“{term}” sets no standard that a third person could measure; each side will read it in its own favour.",
        "Name the result that is owed, or the list, norm or minimum against which it can be checked.",
    ),
    Rule(
        VAGUE,
        r"\b(?:as soon as (?:reasonably |is )?(?:possible|practicable)|promptly|in a timely manner|in due course|"
        r"without undue delay|within (?:a )?reasonable (?:time|period)|at (?:the )?earliest convenience|shortly|"
        r"(?:on|upon|with|subject to) reasonable (?:prior )?(?:written )?notice|from time to time|"
        r"at any time(?! of)|periodically|regularly|zeitnah|baldmöglichst|gelegentlich|von Zeit zu Zeit)\b",
        "“{term}” leaves open when, so that no one can be late or too early.",
        "Replace “{term}” by a number of hours or days and say what starts the period.",
    ),
    Rule(
        VAGUE,
        r"\b(?:where|if|when|as) (?:necessary|appropriate|possible|practicable|required)\b|"
        r"\bto the extent (?:possible|practicable)\b|\bgegebenenfalls\b",
        "“{term}” leaves it to one side to judge whether there is a duty at all.",
        "Say in which cases the duty arises, or who decides on it.",
    ),
    Rule(
        ADDRESSED,
        r"\b(?:ignore|disregard|forget) (?:all |any |your |the )*(?:previous |above |prior |earlier )*"
        r"(?:instructions?|prompts?|rules)\b|\byou are now\b|\bsystem prompt\b|"
        r"\b(?:mark|report|rate|judge) (?:this|everything|all) as (?:passed|approved|done)\b",
        "“{term}” speaks to a program that reads the document, not to a party. It was text here and had no effect.",
        "Ask who put this passage into the document and why, and have it removed.",
    ),
    Rule(None, r"_{4,}|\.{6,}|…{2,}", *_LEFT_BLANK),
    Rule(
        None,
        r"\A\| ?(?P<row>[^|]{1,300}?) ?\| ?(?:[-–—?]|n/a)? ?\|\Z|"
        r"\A(?:[-*+]\s+)?(?:\*\*(?P<bold>[^*]{2,60}?):?\*\*:?|(?P<plain>(?-i:[A-ZÄÖÜ])[\w /]{2,40}):)\Z",
        *_LEFT_BLANK,
        term=r"\g<row>\g<bold>\g<plain>",
        is_settled=lambda match, _: _kind_of_blank(match[0]) == PLACEHOLDER,
    ),
    Rule(
        MISSING_AMOUNT,
        r"\b(?:shall|must|will|has to|have to|agrees? to) (?:also )?pay\b(?P<what>[^.;]{0,60}?"
        rf"\b{_MONEY})\b",
        "A payment is owed, and the clause neither states its amount nor says where it stands.",
        "State the amount and its currency, or how it is computed.",
        term=r"\g<what>",
        is_settled=lambda match, _: _states_amount(match),
    ),
    Rule(
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


_PART = r"(?:[A-ZÄÖÜÉ][\w'’&-]*|&|de|du|des|la|und|and|of)"
_COMPANY = re.compile(rf"(?<![\w])[A-ZÄÖÜÉ][\w'’&-]*(?:[ \n]{_PART}){{0,5}}[ \n]{LEGAL_FORM}")


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
    for block in blocks(document.lines):
        spans = [("party", match.span()) for match in _COMPANY.finditer(block.text)]
        spans += [
            ("date", (date.start, date.end)) for date in dates_in(block.text) if all(day.year for day in date.days)
        ]
        spans += [("amount", span) for span in amounts_in(block.text)]
        for kind, (start, end) in spans:
            words, line = block.text[start:end].strip(), block.line_at(start)
            if kind == "party" and words in parties:
                continue
            parties.add(words)
            yield Fact(document.path, kind, words, line.number, line.place)


@dataclass(frozen=True)
class Finding:
    """`places`: what people call the line of its quote, and the other lines with the same words. `citation`: a link to
    the quote in the document; empty if no words there would prove anything.
    """

    document: str
    kind: str
    term: str
    quote: Quote
    why: str
    advice: str
    places: tuple[str, ...] = ()
    citation: str = ""

    @property
    def line(self) -> int:
        """Where the quote begins."""
        return self.quote.first


def findings_in(document: Document) -> list[Finding]:
    """All points of a document in the order of their lines. The same words twice are one point; blanks stay apart."""
    defined = {(one or other).casefold() for one, other in _DEFINED_TERM.findall(document.text)}
    same: dict[tuple[str, str, int], list[Finding]] = {}
    for block in blocks(document.lines):
        for point in _points(document.path, block, defined):
            is_repeated = point.kind in (VAGUE, MISSING_PARTY, ADDRESSED)
            key = (point.kind, point.term.casefold(), 0 if is_repeated else point.line)
            same.setdefault(key, []).append(point)
    alone = frozenset(cell.strip() for line in document.lines for cell in (line.text, *line.text.split("\t")))
    points = [
        replace(
            group[0],
            places=tuple(dict.fromkeys(document.lines[one.line - 1].place for one in group)),
            citation=_citation(document, group[0].quote, alone),
        )
        for group in same.values()
    ]
    return sorted(points, key=lambda one: (one.line, KINDS.index(one.kind), one.term))


def _points(path: str, block: TextBlock, defined: Collection[str]) -> Iterator[Finding]:
    text = block.text
    taken = bytearray(len(text))
    for rule in RULES:
        for match in rule.regex.finditer(text):
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
            kind = rule.kind or _kind_of_blank(before + match[0])
            yield Finding(path, kind, term, block.quote(start, end), why, advice)


def _kind_of_blank(words: str) -> str:
    found = (kind for kind, pattern in _WORDS_BEFORE_BLANKS.items() if re.search(pattern, words, re.IGNORECASE))
    return next(found, PLACEHOLDER)


_MAX_BEFORE = 4
"""Lines before a blank that are cited with it; in a table these are the cells next to it."""


def _citation(document: Document, quote: Quote, alone: Collection[str]) -> str:
    """A link to the quote, together with the lines before it if it would prove nothing, such as a blank in a cell.

    `alone`: what is a line or a cell of its own.
    """
    for first in range(quote.first, max(0, quote.first - _MAX_BEFORE - 1), -1):
        whole = " ".join(" ".join(line.text for line in document.lines[first - 1 : quote.last]).split())
        words = quote.text if first == quote.first else whole
        if not proves_nothing(words, words if words.strip() in alone else ""):
            end = words if len(words) <= QUOTE_CHARS else words[-QUOTE_CHARS:].partition(" ")[2]
            return cited(document.path, end, document.anchor(first, quote.last))
    return ""
