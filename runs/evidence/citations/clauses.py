"""Whether a statement names the clause in which the words stand that it cites."""

from collections.abc import Sequence

import regex

from runs.documents.model.clause_numbers import is_within
from runs.documents.places.document import Document

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
"""Behind the number of a section, an article or a §."""


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
            return f"the statement says clause {number}, the words stand in clause {clauses[0]}"
    return ""


def _is_of_contract(number: str, statement: str, end: int) -> bool:
    """Whether a section, an article or a § that ends there is surely none of a law: those are seldom numbered 9.9."""
    return "." in number and not _LAW.match(statement, end)
