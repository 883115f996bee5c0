"""Numbers of clauses, compared as people write them."""

import re

from runs.documents.model.layout import Block

_CLAUSE = re.compile(r"(?:(?:clause|section|article|klausel|ziffer|abschnitt|artikel)=?|art\.|§+)(?=.)")


def was_within(block: Block, number: str) -> str:
    """What is to be known of a number that a block bears only as long as tracked changes are shown; else nothing."""
    is_named = bool(block.markup and plain_number(number))
    is_other = is_named and is_within(block.markup, number) and not is_within(block.clause, number)
    return f"clause {block.markup} before the tracked changes are accepted" if is_other else ""


def is_within(number: str, other: str) -> bool:
    """Whether a clause number is that of a clause, or of one below it: 4.2(b) is within 4.2, and 4.20 is not."""
    inner, outer = plain_number(number), plain_number(other)
    return inner.startswith(outer) and not (inner[len(outer) :][:1].isalnum() and outer[-1:].isalnum())


def plain_number(number: str) -> str:
    """A clause number for comparing: without spaces, capitals, a dot at the end and a word such as "clause"."""
    plain = "".join(number.split()).casefold().rstrip(".")
    word = _CLAUSE.match(plain)
    return plain[word.end() :] if word else plain
