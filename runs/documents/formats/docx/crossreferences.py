"""Compares the counted numbers of clauses with those by which the document itself refers to them.

Word does not store the numbers of clauses, but it stores what cross-references last showed, and people write "Section
4.2 (Liability)". Either may be out of date, so a disagreement is reported and not decided. Only references with a
unique target are compared.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runs.documents.formats.docx.words import CrossReference
from runs.documents.model.anchors import IN_TEXTS
from runs.documents.model.clause_numbers import is_within
from runs.documents.model.layout import Block
from runs.text.normalisation import caseless

MAX_SENTENCES = 5  # per document; further disagreements are counted
MAX_CLAUSES = 200  # that are marked, per document
_MAX_BLOCKS = 500
"""Paragraphs of one clause that are marked."""
_MAX_TITLE = 80  # characters
_SWITCHES = frozenset("rnw")
"""Switches of REF fields that show a number: relative to the place of the field, the last level only, or all levels."""
_PART = re.compile(r"[0-9]+|[^\W\d_]+")
_ROMAN = re.compile(r"[ivxlcdm]+")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1_000}
_NUMBER = r"(?:[0-9]{1,4}|[IVXLC]{1,7})(?:\.[0-9]{1,4}){0,6}(?:\([0-9a-z]{1,5}\)){0,4}"
_CLAUSE = (
    r"sections?|clauses?|articles?|paragraphs?|secs?\.|cls?\.|arts?\.|paras?\.?|"
    r"klauseln?|ziffern?|abschnitte?|artikel[ns]?|ziff\.|nr\.|abschn\.|"
    r"cláusulas?|secci(?:ón|ones)|artículos?|clausol[ae]|articol[oi]|sezion[ei]|artikelen|artigos?|secç(?:ão|ões)"
)
_WRITTEN = re.compile(
    rf"(?:(?:\b(?:{_CLAUSE})|§{{1,2}})[ \xa0]+|"
    rf"(?<=[)\]])(?:,|,?[ ](?:and|or|to|through|und|oder|bis|et|ou|y|o|e|en|&|[-–—]))[ \xa0]+)({_NUMBER})[ \xa0]*"
    rf"[(\[](?:[“„\"'‘]|«[ \xa0]?)?([^\W\d_][^()\[\]\n]{{1,{_MAX_TITLE - 1}}})[)\]]",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(?:,|,?[ ](?:and|or|to|through|und|oder|bis|et|ou|y|o|e|en|&|[-–—]))?[ \xa0]*")
"""Matches the text between joined references to clauses of one document."""
_OTHERS = r"annex|appendix|schedule|exhibit|attachment|anlage|anhang"
_DOCUMENTS = r"agreement|contract|act|code|deed|policy|lease|licence|license|vertrag\w*"
_OF_ANOTHER = re.compile(
    rf"""
      [ \xa0,(]*(?i:of|under|des|der|vom|von|zum|zur)[ \xa0]+(?i:(?!this\b|these\b|hereof|diese|vorliegend))
    | [ \xa0,(]*(?i:du|de|del|della|dello|dell[’']|van|da|do)[ \xa0]+
      (?i:(?!ces?\b|(?:la[ ])?pr[eé]sent))
    | [ \xa0,]*(?i:in|to|im|in[ ]der)[ \xa0]+(?i:the[ ]+)?(?i:{_OTHERS})\b
    | [ \xa0]+(?:in[ ]the|im|in[ ]der)[ \xa0]+[A-Z]
    | [ \xa0,]*(?i:there(?:of|in|to|under))\b
    | [ \xa0]+[A-Z]\w  # a name, such as "GDPR" or "Companies Act"
    | ,[ \xa0]+(?:[A-Z]\w*[ \xa0]+){{0,3}}(?i:{_OTHERS}|{_DOCUMENTS})\b
    """,
    re.VERBOSE,
)
"""Matches text after a reference to a clause of another document or of an annex."""
_IN_ANOTHER = re.compile(
    rf"""
    (?: \b(?i:(?:{_OTHERS})[ \xa0]+[\w.]{{1,8}}|{_DOCUMENTS})(?:['’]?s)?
      | \b[A-Za-z]?[A-Z]{{2}}\w{{0,40}}  # a short name, such as "GDPR"
      | \b(?i:old|former|previous|original|new|alte[nr]?|neue[nr]?)
    )
    [ \xa0,:;(–-]{{0,40}}$
    """,
    re.VERBOSE,
)
"""Matches text before such a reference, or before a reference to an earlier or future version of a clause."""
_BEFORE = 40
"""Characters before a reference that may name another document."""
_HEAD = re.compile(rf"([^\W\d_][^.:;–—\n]{{1,{_MAX_TITLE - 1}}}?)[ ]*(?:[.:–—]|$)")
"""Matches the title of a clause. The clause's text may follow on the same line."""


class _Reference(NamedTuple):
    """A reference in the block `at` to the block `target`, with the number that it gives."""

    at: Block
    number: str
    target: Block


class Disagreement(NamedTuple):
    """The range of a clause, and the number by which the document refers to it."""

    start: int
    end: int
    number: str


class CrossReferences:
    """Collects the paragraphs of the main text and the references between them."""

    def __init__(self) -> None:
        self._blocks: list[tuple[Block, str]] = []
        self._bookmarks: dict[str, Block | None] = {}
        self._fields: list[tuple[str, str, Block]] = []

    def add(self, block: Block, text: str, bookmarks: Sequence[str], *, has_own_numbers: bool) -> None:
        """Adds a paragraph. If its text has numbers of its own, its bookmarks may refer to one of those."""
        self._blocks.append((block, text))
        for name in bookmarks:
            is_clear = name not in self._bookmarks and not has_own_numbers
            self._bookmarks[name] = block if is_clear else None

    def refer(self, block: Block, text: str, references: Sequence[CrossReference]) -> None:
        """Adds the fields of a paragraph with this text."""
        for one in references:
            if _SWITCHES & one.code.switches.keys() and one.code.argument:
                self._fields.append((one.code.argument, text[one.start - block.start : one.end - block.start], block))

    def check(self) -> tuple[list[str], list[Disagreement]]:
        """Returns sentences on the disagreements, and the affected clauses."""
        found: dict[tuple[int, tuple[str, ...]], _Reference] = {}
        for one in [*self._field_references(), *self._written_references()]:
            if not _agree(one.number, one.target):
                found.setdefault((one.target.start, tuple(_parts(one.number))), one)
        titles = {block.start: text for block, text in self._blocks}
        sentences = [_sentence(one, titles[one.target.start]) for one in list(found.values())[:MAX_SENTENCES]]
        if (more := len(found) - MAX_SENTENCES) > 0:
            sentences.append(f"{more:,} more references disagree with the numbers that were counted for their clauses.")
        places = {block.start: at for at, (block, _) in enumerate(self._blocks)}
        clauses = [
            Disagreement(one.target.start, self._end(places[one.target.start]), one.number)
            for one in list(found.values())[:MAX_CLAUSES]
        ]
        return sentences, clauses

    def _field_references(self) -> Iterator[_Reference]:
        for name, number, block in self._fields:
            target = self._bookmarks.get(name)
            if target is not None and len(number) <= _BEFORE:
                yield _Reference(block, number, target)

    def _written_references(self) -> Iterator[_Reference]:
        """Yields references such as "Section 4.2 (Liability)" if only one paragraph has this title."""
        titled: dict[str, dict[int, Block]] = defaultdict(dict)
        for block, text in self._blocks:
            for title in _titles(text):
                titled[title][block.start] = block
        for block, text in self._blocks:
            for match in _references(text):
                blocks = list(titled.get(_plain(match[2]), {}).values())
                if len(blocks) == 1 and blocks[0].clause and not _is_above(match[1], blocks[0]):
                    yield _Reference(block, match[1], blocks[0])

    def _end(self, at: int) -> int:
        """Returns the end of a clause: before the next number that is not within it."""
        clause, end = self._blocks[at][0].clause, self._blocks[at][0].end
        for block, _ in self._blocks[at + 1 : at + _MAX_BLOCKS]:
            if block.clause and not is_within(block.clause, clause):
                break
            end = block.end
        return end


def _references(text: str) -> Iterator[re.Match[str]]:
    """Yields the references in a paragraph to clauses of the same document, with numbers and titles.

    Text before or after joined references, as in "Sections 2 (Rent) and 3 (Term) of the Lease", applies to all of them.
    """
    joined: list[re.Match[str]] = []
    for match in _WRITTEN.finditer(text):
        if joined and not _JOINED.fullmatch(text, joined[-1].end(), match.start()):
            yield from _to_this_document(text, joined)
            joined = []
        joined.append(match)
    yield from _to_this_document(text, joined)


def _to_this_document(text: str, joined: list[re.Match[str]]) -> list[re.Match[str]]:
    if not joined:
        return []
    start, end = joined[0].start(), joined[-1].end()
    is_other = _OF_ANOTHER.match(text, end) or _IN_ANOTHER.search(text, max(start - _BEFORE, 0), start)
    return [] if is_other else joined


def _sentence(one: _Reference, text: str) -> str:
    title = next(_titles(text), "")
    named = f" (“{text[: len(title)].strip()}”)" if title else ""
    at, target = IN_TEXTS.words_for(one.at), IN_TEXTS.words_for(one.target)
    return (
        f"{at[:1].upper()}{at[1:]} refers to number {one.number.strip()} for what is counted as "
        f"{target}{named}: the reference is out of date or the number is wrong. Look at both in Word."
    )


def _titles(text: str) -> Iterator[str]:
    """Yields possible titles of a paragraph: the whole text if it is short, and the part before its first full stop."""
    head = _HEAD.match(text[: _MAX_TITLE + 20].lstrip())
    if head:
        yield _plain(head[1])
    if len(text) <= _MAX_TITLE:
        yield _plain(text)


def _plain(title: str) -> str:
    return caseless(title).strip(" \xa0.,:;“”„‘’«»'\"")


def _agree(number: str, target: Block) -> bool:
    """Whether a reference may mean the clause.

    It may omit higher levels, as Word does in relative references, or have lower levels. Numbers without a figure or a
    letter are not compared.
    """
    parts, label = _parts(number), _parts(target.label)
    clauses = [found for name in (target.clause, target.markup) if (found := _parts(name))]
    if not parts or not (label or clauses):
        return True
    if len(parts) <= len(label) and _ends_alike(parts, label):
        return True
    return any(_ends_alike(parts, clause) or _begins_with(parts, clause) for clause in clauses)


def _ends_alike(first: Sequence[str], second: Sequence[str]) -> bool:
    return all(_is_same(one, other) for one, other in zip(reversed(first), reversed(second), strict=False))


def _begins_with(number: Sequence[str], clause: Sequence[str]) -> bool:
    """Whether it is the number of a part of the clause."""
    return len(number) > len(clause) and all(map(_is_same, number, clause))


def _is_above(number: str, target: Block) -> bool:
    """Whether it is the number of a clause that contains the target. People may use the same name for both."""
    parts = _parts(number)
    return any(_begins_with(_parts(clause), parts) for clause in (target.clause, target.markup))


def _parts(number: str) -> list[str]:
    """Returns the figures and letters of a number, without words such as "Section"."""
    return [one for one in _PART.findall(number.casefold()) if len(one) == 1 or one[0].isdigit() or _is_letters(one)]


def _is_letters(part: str) -> bool:
    return _ROMAN.fullmatch(part) is not None or part == part[0] * len(part)


def _is_same(one: str, other: str) -> bool:
    """Whether two parts are equal as letters, as numbers, or as a number and a Roman numeral."""
    is_number = one.isdecimal() or other.isdecimal()
    return one == other or (is_number and _value(one) is not None and _value(one) == _value(other))


def _value(part: str) -> int | None:
    """Returns the value of a figure or a Roman numeral, or None for other letters."""
    if part.isdecimal():
        return int(part)
    if not _ROMAN.fullmatch(part):
        return None
    values = [_VALUES[letter] for letter in part]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
