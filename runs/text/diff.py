r"""Two texts compared: word by word, sentence by sentence, line by line, and within changed lines word by word.

| compared | as |
|---|---|
| words | letters and digits together, each ideograph and each punctuation mark alone; white space is ignored |
| lines | without their ends: `\r\n` and `\n` are equal |
| something that moved | removed in one place, added in another |

rapidfuzz finds the shortest way from one text to the other. It compares 64 pairs of words at once: 5,000 words with
5,000 others take some hundredths of a second. `difflib` is unbounded: 5,000 words that were made for it take seconds,
and twice as many take eight times as long. A `DiffBudget` bounds time and memory, however hostile the texts are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat, zip_longest
from typing import Literal

import regex
from rapidfuzz.distance import Indel

from runs.text.sentences import sentences_in
from runs.text.truncate import cut_after

type Kind = Literal["same", "removed", "added"]

MAX_STEPS = 4_000_000
"""Steps of all texts that share a `DiffBudget`: about half a second. One comparison takes at most eight bytes a step.
"""
_PAIRS = 64
"""Pairs of words or lines that are compared in one step."""
_STEPS_PER_TEXT, _STEPS_PER_CHARACTER = 100, 6
"""Steps for finding the words of a text, at least, and for each character."""
_ALIKE = 0.4
"""The share of the words that must stay; with fewer, the rest of the old text only makes the new one hard to read. It
is a share of the longer text, or of the shorter one if the words stand in passages.
"""
_PASSAGE = 4
"""Words that stay in a row."""
_IDEOGRAPHS = r"\p{Han}\p{Hiragana}\p{Katakana}"
_WORD = regex.compile(rf"\s*(?:[{_IDEOGRAPHS}]|[^\W{_IDEOGRAPHS}]+|[^\w\s])|\s+")

MAX_CHARACTERS = 1_000_000
MAX_LINES = 50_000
"""Lines of each of two texts that are compared line by line."""
MAX_ROWS = 2_000
"""Lines of one comparison that are shown, including the unchanged lines around the changes."""
MAX_IN_A_LINE = 2_000  # characters that are shown
CONTEXT = 3  # unchanged lines before and after a change


@dataclass(frozen=True)
class DiffPiece:
    """Consecutive words of one text or of both, with the spaces before them."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class DiffRow:
    """One line; `old` and `new` are its numbers in the two texts, 0 where it is in only one. `hit`: it is pointed at;
    `first`: that begins here.
    """

    kind: Kind
    old: int
    new: int
    pieces: tuple[DiffPiece, ...]
    hit: bool = False
    first: bool = False


@dataclass(frozen=True)
class DiffHunk:
    """Consecutive lines; `left_out` counts the lines before them that are equal in both texts and not shown."""

    left_out: int
    rows: tuple[DiffRow, ...]


@dataclass(frozen=True)
class LineDiff:
    """`added` and `removed` count lines of the whole comparison; `more` of those are not among the hunks."""

    added: int
    removed: int
    hunks: tuple[DiffHunk, ...]
    more: int = 0


class DiffBudget:
    """The work that several comparisons share."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._left = steps

    def take(self, steps: int) -> bool:
        """Use these steps if there are as many left. Returns whether there were."""
        if steps > self._left:
            return False
        self._left -= steps
        return True


def word_diff(before: str, after: str, budget: DiffBudget) -> tuple[DiffPiece, ...]:
    """The pieces of both texts in order: without the added ones they are `before`, without the removed ones `after`, up
    to the white space between words. Texts that have little in common are one piece each.
    """
    words = _compared_words(before, after, budget)
    if words is None:
        return tuple(DiffPiece(kind, text) for kind, text in _whole(before, after))
    kinds, old, new = words
    return tuple(_pieces(kinds, iter(old), iter(new)))


def sentence_diff(before: str, after: str, budget: DiffBudget) -> tuple[DiffPiece, ...]:
    """The same by whole sentences, each a piece: for texts that people compare by what they say, not by their words."""
    old, new = list(sentences_in(before)), list(sentences_in(after))
    kinds = _shortest(old, new, budget)
    gone, come = iter(old), iter(new)
    pieces: list[DiffPiece] = []
    for is_same, group in groupby(kinds, key=lambda kind: kind == "same"):
        for kind in sorted(group, key=lambda kind: kind == "added"):  # removed ones first
            pieces.append(DiffPiece(kind, next(come if kind == "added" else gone)))
            if is_same:
                next(come)
    return tuple(pieces)


def line_diff(before: str, after: str, budget: DiffBudget) -> LineDiff | None:
    """The lines that differ; None for texts that are too long."""
    if max(len(before), len(after)) > MAX_CHARACTERS:
        return None
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) > MAX_LINES:
        return None
    kinds = _compared_lines(old, new, budget)
    hunks = _hunks(old, new, kinds, budget)
    counted = Counter(kinds)
    shown = sum(1 for hunk in hunks for row in hunk.rows if row.kind != "same")
    return LineDiff(counted["added"], counted["removed"], hunks, counted["added"] + counted["removed"] - shown)


def changed_lines(before: str, after: str, budget: DiffBudget) -> Iterator[tuple[Literal["removed", "added"], str]]:
    """Each line that differs, in order, removed lines before those that were added in their place. Without a limit of
    lines or characters: where the budget is too small, more lines count as changed.
    """
    old, new = _lines(before), _lines(after)
    entries = _number_lines(_compared_lines(old, new, budget))
    for is_same, group in groupby(entries, key=lambda entry: entry[0] == "same"):
        changes = [] if is_same else list(group)
        yield from (("removed", old[at - 1]) for kind, at, _ in changes if kind == "removed")
        yield from (("added", new[its - 1]) for kind, _, its in changes if kind == "added")


def _shortest(old: Sequence[str], new: Sequence[str], budget: DiffBudget) -> list[Kind]:
    """The kind of each word or line, in order. If the budget is too small, everything between the first and the last
    difference is removed, then added.
    """
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    kinds: list[Kind] = list(repeat("same", start))
    if budget.take(len(old) * len(new) // _PAIRS):
        kinds.extend(_opcodes(old, new))
    else:
        kinds.extend(repeat("removed", len(old)))
        kinds.extend(repeat("added", len(new)))
    kinds.extend(repeat("same", end))
    return kinds


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[Kind]:
    numbers: dict[str, int] = {}  # rapidfuzz compares hashes; the hash of a small number is that number
    before, after = ([numbers.setdefault(word, len(numbers)) for word in words] for words in (old, new))
    for one in Indel.opcodes(before, after):
        if one.tag == "insert":
            yield from repeat("added", one.dest_end - one.dest_start)
        else:
            yield from repeat("same" if one.tag == "equal" else "removed", one.src_end - one.src_start)


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """How many words or lines both have in common at the beginning."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _compared_words(
    before: str, after: str, budget: DiffBudget
) -> tuple[Sequence[Kind], Sequence[str], Sequence[str]] | None:
    """The kind of each word, in order, and the words of both; None for texts that replace each other."""
    if not budget.take(2 * _STEPS_PER_TEXT + (len(before) + len(after)) * _STEPS_PER_CHARACTER):
        return None
    old, new = _WORD.findall(before), _WORD.findall(after)
    kinds = _shortest([word.strip() for word in old], [word.strip() for word in new], budget)
    if before != after and all(kind == "same" for kind in kinds):
        return None
    return (kinds, old, new) if _are_alike(kinds, len(old), len(new)) else None


def _are_alike(kinds: Sequence[Kind], old: int, new: int) -> bool:
    passages = (len(list(group)) for kind, group in groupby(kinds) if kind == "same")
    kept = sum(count for count in passages if count >= _PASSAGE)
    return kinds.count("same") >= _ALIKE * max(old, new) or (kept > 0 and kept >= _ALIKE * min(old, new))


def _whole(before: str, after: str) -> Iterator[tuple[Kind, str]]:
    if before == after:
        yield "same", after
        return
    if before:
        yield "removed", before
    if after:
        yield "added", after


def _pieces(kinds: Sequence[Kind], old: Iterator[str], new: Iterator[str]) -> Iterator[DiffPiece]:
    """Removed words come before the words that were added in their place."""
    for _, group in groupby(kinds, key=lambda kind: kind == "same"):
        texts: dict[Kind, list[str]] = {"same": [], "removed": [], "added": []}
        for kind in group:
            words = [next(old)] if kind != "added" else []
            words += [next(new)] if kind != "removed" else []
            texts[kind].append(max(words, key=len))  # of a word that stays, the one with the spaces that keep it apart
        yield from (DiffPiece(kind, "".join(parts)) for kind, parts in texts.items() if parts)


def _sides(before: str, after: str, budget: DiffBudget) -> tuple[tuple[DiffPiece, ...], tuple[DiffPiece, ...]] | None:
    """The pieces of each text, exact to the character; None if `word_diff` has one piece each."""
    words = _compared_words(before, after, budget)
    if words is None:
        return None
    kinds, old, new = words
    return tuple(_side(kinds, old, "removed")), tuple(_side(kinds, new, "added"))


def _side(kinds: Sequence[Kind], words: Sequence[str], own: Kind) -> Iterator[DiffPiece]:
    mine = iter([kind for kind in kinds if kind in {"same", own}])
    for kind, group in groupby(words, key=lambda _: next(mine)):
        yield DiffPiece(kind, "".join(group))


def _lines(text: str) -> list[str]:
    """The lines without their ends, because a reader cannot see which kind they are."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _compared_lines(old: Sequence[str], new: Sequence[str], budget: DiffBudget) -> list[Kind]:
    """What becomes of each line, in order: between lines that each text has once, and both in this order, the shortest
    way from one to the other.
    """
    kinds: list[Kind] = []
    at = its = 0
    for here, there in [*_anchors(old, new), (len(old), len(new))]:
        kinds += _shortest(old[at:here], new[its:there], budget)
        if here < len(old):
            kinds.append("same")
        at, its = here + 1, there + 1
    return kinds


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The longest sequence of pairs of lines that are unique in both texts and have the same order."""
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    places = {line: at for at, line in enumerate(new) if line in once}
    pairs = [(at, places[line]) for at, line in enumerate(old) if line in once]
    ends: list[int] = []  # of the best sequence of each length, where its last line stands in the new text
    last: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_, there) in enumerate(pairs):
        length = bisect_left(ends, there)
        ends[length : length + 1] = [there]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    chosen, number = [], last[-1] if last else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]


type _Entry = tuple[Kind, int, int]
"""A line with its numbers in both texts, from 1; of one that is in one text only, where the other one is."""


def _hunks(old: Sequence[str], new: Sequence[str], kinds: Sequence[Kind], budget: DiffBudget) -> tuple[DiffHunk, ...]:
    entries = list(_number_lines(kinds))
    near = bytearray(len(entries))
    for at, kind in enumerate(kinds):
        if kind != "same":
            near[max(0, at - CONTEXT) : at + CONTEXT + 1] = b"\1" * len(near[max(0, at - CONTEXT) : at + CONTEXT + 1])
    hunks: list[DiffHunk] = []
    left_out, room = 0, MAX_ROWS
    for is_near, group in groupby(enumerate(entries), key=lambda one: near[one[0]]):
        part = [entry for _, entry in group]
        if not is_near:
            left_out = len(part)
        elif room > 0:
            hunks.append(DiffHunk(left_out, tuple(_rows(old, new, part[:room], budget))))
            room -= len(part)
    return tuple(hunks)


def _number_lines(kinds: Sequence[Kind]) -> Iterator[_Entry]:
    at = its = 0
    for kind in kinds:
        at, its = at + (kind != "added"), its + (kind != "removed")
        yield kind, at, its


def _rows(old: Sequence[str], new: Sequence[str], part: Sequence[_Entry], budget: DiffBudget) -> Iterator[DiffRow]:
    """Removed lines come before the lines that were added in their place."""
    for same, group in groupby(part, key=lambda entry: entry[0] == "same"):
        entries = list(group)
        if same:
            yield from (
                DiffRow("same", at, its, (DiffPiece("same", cut_after(new[its - 1], MAX_IN_A_LINE)),))
                for _, at, its in entries
            )
            continue
        gone = [(at, cut_after(old[at - 1], MAX_IN_A_LINE)) for kind, at, _ in entries if kind == "removed"]
        come = [(its, cut_after(new[its - 1], MAX_IN_A_LINE)) for kind, _, its in entries if kind == "added"]
        pairs = [_sides(one, other, budget) for (_, one), (_, other) in zip(gone, come, strict=False)]
        for (at, text), pair in zip_longest(gone, pairs):
            yield DiffRow("removed", at, 0, pair[0] if pair else (DiffPiece("same", text),))
        for (its, text), pair in zip_longest(come, pairs):
            yield DiffRow("added", 0, its, pair[1] if pair else (DiffPiece("same", text),))


@dataclass(frozen=True)
class TextChange:
    """One text of a plan or an agent, before and after, and both together in pieces. `what` names it."""

    what: str
    before: str
    after: str
    pieces: tuple[DiffPiece, ...]

    @property
    def removed(self) -> list[str]:
        """What only the text before has."""
        return [piece.text for piece in self.pieces if piece.kind == "removed"]

    @property
    def added(self) -> list[str]:
        """What only the text after has."""
        return [piece.text for piece in self.pieces if piece.kind == "added"]
