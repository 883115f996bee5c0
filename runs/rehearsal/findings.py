"""The points of a document that need attention, and the facts that can be recognised by their form: dates, amounts,
parties. Each has its line and a verbatim quote.

First the words that make a clause worth a second look: vague, left blank, missing. English, some German.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from runs.evidence.quotes import proves_nothing
from runs.rehearsal.documents import Document
from runs.rehearsal.text import QUOTE_CHARS, Quote, Sentence, blocks, sentences, unbarred
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


@dataclass(frozen=True)
class Rule:
    """`why` and `advice` may name the words found with {term}."""

    kind: str
    pattern: re.Pattern[str]
    why: str
    advice: str


def _rule(kind: str, pattern: str, why: str, advice: str) -> Rule:
    return Rule(kind, re.compile(pattern, re.IGNORECASE), why, advice)


_LATER = (
    r"[^.;]{0,30}\b(?:to be|yet to be|still to be) (?:mutually )?"
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
        rf"\b(?:amount|sum|price|fees?|rent|cap|limit|remuneration|compensation|penalty|deposit)\b{_LATER}",
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
)
"""In this order: words that one rule has taken are not looked at by the next."""

BLANK = re.compile(r"_{4,}|\.{6,}|…{2,}")
EMPTY_ROW = re.compile(r"\s*\|\s*(?P<label>[^|]*\w[^|]*?)\s*\|\s*(?:-|–|—|\?|n/a)?\s*\|\s*")
EMPTY_LABEL = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*(?P<label>[^*]{2,60}?):?\*\*:?|(?P<plain>[A-ZÄÖÜ][\w /]{2,40}):)\s*")
LACKING = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in {
        MISSING_AMOUNT: r"\b(?:amount|fees?|rent|deposit|price|sum|penalty|remuneration|salary|cap|premium|betrag|"
        r"miete|kaution|preis|vergütung|EUR|CHF|USD|GBP)\b|[€$£]",
        MISSING_DATE: r"\b(?:dated?|day|term|commencement|start|begin|expir\w+|end|deadline|effective|datum|beginn|"
        r"ende|frist)\b",
        MISSING_PARTY: r"\b(?:between|party|parties|name|client|customer|supplier|landlord|tenant|vertragspartei|"
        r"firma)\b",
    }.items()
}
"""What a blank lacks shows in the words before it."""
LEFT_BLANK = (
    "This was left blank: what hangs on it can be neither computed nor enforced as the clause stands.",
    "Fill it in, or delete the clause if it does not apply.",
)
PAYS = re.compile(
    r"\b(?:shall|must|will|has to|have to|agrees? to) (?:also )?pay\b(?P<what>[^.;]{0,60}?\b(?:penalty|fees?|"
    r"compensation|deposit|rent|charge|sum|amount|price|remuneration))\b",
    re.IGNORECASE,
)
ELSEWHERE = re.compile(
    r"\b(?:stated|set out|specified|agreed in|listed|defined|according to|pursuant to|schedule|annex|appendix|"
    r"exhibit|clause|section|article)\b|_{4,}",
    re.IGNORECASE,
)
UNSTATED = (
    "A payment is owed, and the clause neither states its amount nor says where it stands.",
    "State the amount and its currency, or how it is computed.",
)
ACTS = re.compile(
    r"\b[Tt]he (?P<role>(?:[A-Z][a-z]+ )?(?:Guarantor|Agent|Auditor|Subcontractor|Contractor|Broker|Insurer|Licensor|"
    r"Licensee|Landlord|Tenant|Client|Customer|Supplier|Provider|Controller|Processor|Buyer|Seller|Purchaser|Vendor|"
    r"Lender|Borrower|Employer|Employee|Consultant|Trustee|Expert|Lessor|Lessee|Operator|Manager|Surveyor|Architect|"
    r"Bank|Notary|Company|Distributor|Owner))\s+(?:shall|may|must|will|undertakes|agrees|warrants)\b"
)
DEFINED_TERM = re.compile(r"[“\"„‘«]\s*(?:the )?([A-Z][\w -]{1,40}?)\s*[”\"“’»]|\*\*([A-Z][\w -]{1,40}?):?\*\*")


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
    defined = {(one or other).casefold() for one, other in DEFINED_TERM.findall(text)}
    found: list[Finding] = []
    for block in blocks(document.lines, document.beginnings):
        found += _empty_field(document.path, block)
        for sentence in sentences(block):
            found += _by_rules(document.path, sentence)
            found += _blanks(document.path, sentence)
            found += _undefined(document.path, sentence, defined)
    points = sorted(_merged(found), key=lambda item: (item.line, KINDS.index(item.kind), item.term))
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
    for rule in RULES:
        for match in rule.pattern.finditer(sentence.text):
            start, end = match.span()
            if taken.find(1, start, end) >= 0:
                continue
            taken[start:end] = b"\1" * (end - start)
            term = truncate_line(match[0], 60)
            texts = rule.why.replace("{term}", term), rule.advice.replace("{term}", term)
            yield Finding(path, rule.kind, term, sentence.quote(start, end), *texts)


def _blanks(path: str, sentence: Sentence) -> Iterator[Finding]:
    for match in BLANK.finditer(sentence.text):
        before = sentence.text[max(0, match.start() - 40) : match.start()]
        term = " ".join([*re.findall(r"[^\s|*_:]+", before)[-2:], "____"])
        yield Finding(path, _lacking(before), term, sentence.quote(*match.span()), *LEFT_BLANK)
    pays = PAYS.search(sentence.text)
    if pays and not any(amounts_in(sentence.text)) and not ELSEWHERE.search(sentence.text, pays.end()):
        term = truncate_line(pays["what"], 60)
        yield Finding(path, MISSING_AMOUNT, term, sentence.quote(*pays.span()), *UNSTATED)


def _lacking(words: str) -> str:
    found = (kind for kind, pattern in LACKING.items() if pattern.search(words))
    return next(found, PLACEHOLDER)


def _empty_field(path: str, block: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    """A label with nothing behind it, where the label asks for a date, an amount or a name."""
    number, line = block[0]
    if len(block) == 1 and (match := EMPTY_ROW.fullmatch(line[:300]) or EMPTY_LABEL.fullmatch(line[:300])):
        label = next(text for text in match.groups() if text).strip("* ")
        if _lacking(label) != PLACEHOLDER:
            quote = Quote(unbarred(line.strip()), number, number)
            yield Finding(path, _lacking(label), truncate_line(label, 60), quote, *LEFT_BLANK)


def _undefined(path: str, sentence: Sentence, defined: set[str]) -> Iterator[Finding]:
    """A role that acts although no definition introduces it."""
    for match in ACTS.finditer(sentence.text):
        role = match["role"]
        if role.casefold() not in defined:
            why = f"“The {role}” has rights or duties here, but the document does not say who that is."
            advice = f"Define the {role} by name and seat, or say how and by when it is appointed."
            yield Finding(path, MISSING_PARTY, f"the {role}", sentence.quote(*match.span()), why, advice)


def _merged(found: Sequence[Finding]) -> list[Finding]:
    """Vague words and roles that come again are added to their first finding; blanks stay apart."""
    kept: dict[tuple[str, str, int], Finding] = {}
    lines: dict[tuple[str, str, int], list[int]] = {}
    for item in sorted(found, key=lambda one: one.line):
        apart = item.kind not in (VAGUE, MISSING_PARTY, ADDRESSED)
        key = (item.kind, item.term.casefold(), item.line if apart else 0)
        kept.setdefault(key, item)
        seen = lines.setdefault(key, [item.line])
        if item.line != seen[-1]:
            seen.append(item.line)
    return [replace(item, also=tuple(lines[key][1:])) for key, item in kept.items()]
