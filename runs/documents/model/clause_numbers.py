"""Clause numbers: compares them as people write them, and tells equal numbers in one document apart."""

import re
from collections.abc import Iterator, Mapping, Sequence

from runs.documents.model.layout import Block, BlockKind

_CLAUSE = re.compile(r"(?:(?:clause|section|article|klausel|ziffer|abschnitt|artikel)=?|art\.|§+)(?=.)")


def was_within(block: Block, number: str) -> str:
    """Returns a remark if the block has this number only before its tracked changes are accepted, or else an empty
    string.
    """
    is_named = bool(block.markup and plain_number(number))
    is_other = is_named and is_within(block.markup, number) and not is_within(block.clause, number)
    return f"clause {block.markup} before the tracked changes are accepted" if is_other else ""


def is_within(number: str, other: str) -> bool:
    """Whether a clause number is that of a clause or of one below it: 4.2(b) is within 4.2, and 4.20 is not."""
    inner, outer = plain_number(number), plain_number(other)
    return inner.startswith(outer) and not (inner[len(outer) :][:1].isalnum() and outer[-1:].isalnum())


def plain_number(number: str) -> str:
    """Normalises a clause number for comparison: removes spaces, capitals, a final dot and words such as "clause"."""
    plain = "".join(number.split()).casefold().rstrip(".")
    word = _CLAUSE.match(plain)
    return plain[word.end() :] if word else plain


_TITLE = re.compile(
    r"\s{0,9}((?:schedule|annexe?|appendix|exhibit|attachment|addendum|anlage|anhang|annexure|allegato|anexo|bijlage)"
    r"\s{1,3}(?:[0-9]{1,3}|[A-Z]|[IVX]{1,5}))(?![\w(])",
    re.IGNORECASE,
)
_MAX_TITLE = 120
"""Characters. A longer paragraph, or one that ends with a full stop, is a sentence about a schedule and not its title.
"""
_NO_TITLE = re.compile(r"[.;,:]\s*$|\t\d+$")
"""Matches the end of a sentence, or of a line in a table of contents."""


def duplicate_numbers(text: str, blocks: Sequence[Block], by_number: Mapping[str, Sequence[Block]]) -> dict[str, str]:
    """Maps the anchor of each clause whose number is not unique to the schedule that contains it, such as "Schedule 2".

    The value is empty if the schedule does not distinguish it either. A clause is left out if it is the only one with
    its number before the first schedule.
    """
    shared = [found for found in by_number.values() if len(found) > 1]
    schedules = dict(_schedules(text, blocks)) if shared else {}
    names: dict[str, str] = {}
    for found in shared:
        titles = [schedules.get(block.anchor, "") for block in found]
        for block, title in zip(found, titles, strict=True):
            if title or titles.count(title) > 1:
                names[block.anchor] = title if titles.count(title) == 1 else ""
    return names


def _schedules(text: str, blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """Yields the anchor of each block with a clause number, and the schedule that contains it."""
    titles = {block.anchor: title for block in blocks if (title := _title(block, text))}
    # Other paragraphs may belong to a table of contents or only mention a schedule.
    sure = {
        block.anchor
        for block in blocks
        if block.anchor in titles and (block.kind is not BlockKind.PARAGRAPH or _TITLE.match(block.label))
    }
    title = ""
    for block in blocks:
        if block.anchor in (sure or titles):
            title = titles[block.anchor]
        if block.clause and title:
            yield block.anchor, title


def _title(block: Block, text: str) -> str:
    if block.kind not in {BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.TITLE}:
        return ""
    found = _TITLE.match(block.label)
    if not found and block.end - block.start <= _MAX_TITLE:
        words = text[block.start : block.end]
        is_title = block.kind is not BlockKind.PARAGRAPH or not _NO_TITLE.search(words)
        found = _TITLE.match(words) if is_title else None
    return " ".join(found[1].split()) if found else ""
