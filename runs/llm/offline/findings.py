"""Owns the search for points: from a document to findings with line and verbatim quote."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from runs.llm.offline import points as p
from runs.llm.offline.facts import AMOUNT, COMPANY, DATE
from runs.llm.offline.reading import Document
from runs.llm.offline.texts import Span, blocks, clipped, folded, sentences, shortened


@dataclass(frozen=True)
class Finding:
    """`line` is where `quote` begins. `also`: further lines with the same words."""

    document: str
    kind: str
    term: str
    quote: str
    line: int
    why: str
    recommendation: str
    also: tuple[int, ...] = ()


def findings_in(document: Document) -> list[Finding]:
    """All points of a document in the order of their lines; the same words twice are one point."""
    contract = p.looks_like_a_contract(document.text)
    found: list[Finding] = []
    for block in blocks(document.lines):
        found += _empty_fields(document.path, block)
        for sentence in sentences(block):
            found += _in_sentence(document.path, sentence)
    if contract:
        found += _undefined_parties(document)
        found += _nothing_of_its_kind(document)
    return sorted(_merged(found), key=lambda item: (item.line, p.KINDS.index(item.kind), item.term))


def _in_sentence(path: str, sentence: Span) -> Iterator[Finding]:
    taken: list[tuple[int, int]] = []
    for rule in (p.PLACEHOLDER_RULE, *p.LATER_RULES, *p.VAGUE_RULES, p.ADDRESSED_RULE):
        for match in rule.pattern.finditer(sentence.text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())
            yield _finding(path, rule, sentence, match)
    for match in p.BLANK.finditer(sentence.text):
        yield _blank(path, sentence, match)
    if (pays := p.PAYS.search(sentence.text)) and not _settled(sentence.text, pays.end()):
        found = _made(path, p.MISSING_AMOUNT, folded(pays["what"]), sentence, pays.span())
        yield replace(found, why=p.UNSTATED_WHY, recommendation=p.UNSTATED_FILL)


def _settled(text: str, end: int) -> bool:
    return bool(AMOUNT.search(text) or p.REFERRED.search(text, end) or p.BLANK.search(text, end))


def _finding(path: str, rule: p.Rule, sentence: Span, match: re.Match[str]) -> Finding:
    term = shortened(match[0], 60)
    quote, line = sentence.part(*match.span())
    return Finding(
        document=path,
        kind=rule.kind,
        term=term,
        quote=quote,
        line=line,
        why=rule.why.replace("{term}", term),
        recommendation=rule.recommendation.replace("{term}", term),
    )


def _blank(path: str, sentence: Span, match: re.Match[str]) -> Finding:
    """What is missing in a blank shows in the words just before it."""
    before = sentence.text[max(0, match.start() - 40) : match.start()]
    words = re.findall(r"[^\s|*_:]+", before)[-2:]
    return _made(path, _kind_of(before), " ".join([*words, "____"]), sentence, match.span())


def _kind_of(words: str) -> str:
    for kind, pattern in (
        (p.MISSING_AMOUNT, p.AMOUNT_WORDS),
        (p.MISSING_DATE, p.DATE_WORDS),
        (p.MISSING_PARTY, p.PARTY_WORDS),
    ):
        if pattern.search(words):
            return kind
    return p.PLACEHOLDER


def _made(path: str, kind: str, term: str, sentence: Span, span: tuple[int, int]) -> Finding:
    quote, line = sentence.part(*span)
    return Finding(path, kind, shortened(term, 60), quote, line, p.WHY[kind], p.FILL[kind])


def _empty_fields(path: str, block: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    """A label with nothing behind it, where the label asks for a date, an amount or a name."""
    number, line = block[0]
    if len(block) != 1 or len(line) > 300:
        return
    if match := p.EMPTY_ROW.match(line) or p.EMPTY_LABEL.match(line):
        label = next(text for text in match.groups() if text).strip("* ")
        kind = _kind_of(label)
        if kind != p.PLACEHOLDER:
            quote = clipped(folded(line), 0, 1)
            yield Finding(path, kind, shortened(label, 60), quote, number, p.WHY[kind], p.FILL[kind])


def _undefined_parties(document: Document) -> Iterator[Finding]:
    """A role that acts although no definition introduces it."""
    text = document.text
    defined = {(one or two).casefold() for one, two in p.DEFINED_TERM.findall(text)}
    for block in blocks(document.lines):
        for sentence in sentences(block):
            for match in p.ACTS.finditer(sentence.text):
                role = match["role"]
                if role.split()[-1].casefold() in p.ROLES and role.casefold() not in defined:
                    yield _undefined(document.path, role, *sentence.part(*match.span()))


def _undefined(path: str, role: str, quote: str, line: int) -> Finding:
    return Finding(
        path,
        p.MISSING_PARTY,
        f"the {role}",
        quote,
        line,
        f"“The {role}” has rights or duties here, but the document does not say who that is.",
        f"Define the {role} by name and seat, or say how and by when it is appointed.",
    )


def _nothing_of_its_kind(document: Document) -> Iterator[Finding]:
    """A contract without any date or party. Only a document read to its end can lack one."""
    first = next((block[0] for block in blocks(document.lines) if len(block[0][1].strip()) > 3), None)
    if not document.complete or not first:
        return
    number, quote = first[0], clipped(folded(first[1]), 0, 1)
    if not DATE.search(document.text):
        why = "No date stands anywhere in the document; it is open when it was made and from when it binds."
        yield Finding(
            document.path,
            p.MISSING_DATE,
            "no date at all",
            quote,
            number,
            why,
            "State the date of the document and the date from which it applies.",
        )
    if not COMPANY.search(document.text) and not re.search(r"\b(?:between|zwischen)\b", document.text, re.IGNORECASE):
        why = "No party is named in a form that the rules recognise; it may be open who is bound."
        yield Finding(
            document.path,
            p.MISSING_PARTY,
            "no party at all",
            quote,
            number,
            why,
            "Name the parties with seat and register number.",
        )


def _merged(found: Sequence[Finding]) -> list[Finding]:
    """Vague words and roles that come again are added to their first finding; blanks stay apart."""
    kept: dict[tuple[str, str, int], Finding] = {}
    for item in sorted(found, key=lambda one: one.line):
        apart = item.kind not in (p.VAGUE, p.MISSING_PARTY, p.ADDRESSED)
        key = (item.kind, item.term.casefold(), item.line if apart else 0)
        first = kept.setdefault(key, item)
        if first is not item and item.line != (first.line, *first.also)[-1]:
            kept[key] = replace(first, also=(*first.also, item.line))
    return list(kept.values())
