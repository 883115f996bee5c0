"""Two texts compared word by word: what stays, what is gone, what is new. Bounded work, however hostile they are.

This is Myers' algorithm with a bound on the edits. `difflib` has no bound: texts of a few thousand words that were made
for it take it minutes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import regex

type Kind = Literal["same", "removed", "added"]

MAX_STEPS = 500_000
"""Comparisons of two words for all texts that share an `Effort`: less than half a second."""
MAX_EDITS = 300
"""Words that are gone or new between what both texts begin and end with: with more, one text replaces the other."""
_ALIKE = 0.4
"""Share of the words that has to stay, or what is left of the old text only makes the new one hard to read: of the
longer text, or of the shorter one if they stand in passages.
"""
_PASSAGE = 4
"""Words that stay one after the other."""
_CHARACTERS = 4
"""Of a text, that are taken apart in the time of one step."""
_IDEOGRAPHS = r"\p{Han}\p{Hiragana}\p{Katakana}"
_WORD = regex.compile(rf"\s*(?:[{_IDEOGRAPHS}]|[^\W{_IDEOGRAPHS}]+|[^\w\s])|\s+")


@dataclass(frozen=True)
class Piece:
    """Words that stand one after the other in one text or in both, with the spaces before them."""

    kind: Kind
    text: str


class Effort:
    """The work that several comparisons share."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._left = steps

    def take(self, steps: int) -> bool:
        """Whether there was so much left."""
        self._left -= steps
        return self._left >= 0


def compared(before: str, after: str, effort: Effort) -> tuple[Piece, ...]:
    """The pieces of both texts in order: without the added ones they are `before`, without the removed ones `after`, up
    to the white space between words. Texts that have little in common, or for which there is no effort left, are one
    piece each.
    """
    found = _kinds(before, after, effort)
    if found is None:
        return tuple(Piece(kind, text) for kind, text in _whole(before, after))
    kinds, old, new = found
    return tuple(_pieces(kinds, iter(old), iter(new)))


def sides(before: str, after: str, effort: Effort) -> tuple[tuple[Piece, ...], tuple[Piece, ...]] | None:
    """The pieces of each text for itself, to the character; None where `compared` has one piece each."""
    found = _kinds(before, after, effort)
    if found is None:
        return None
    kinds, old, new = found
    return tuple(_side(kinds, old, "removed")), tuple(_side(kinds, new, "added"))


def _side(kinds: Sequence[Kind], words: Sequence[str], own: Kind) -> Iterator[Piece]:
    mine = iter([kind for kind in kinds if kind in {"same", own}])
    for kind, group in groupby(words, key=lambda _: next(mine)):
        yield Piece(kind, "".join(group))


def _kinds(before: str, after: str, effort: Effort) -> tuple[Sequence[Kind], Sequence[str], Sequence[str]] | None:
    """What becomes of each word, in order, and the words of both; None for texts that replace each other."""
    if not effort.take((len(before) + len(after)) // _CHARACTERS):
        return None
    old, new = _WORD.findall(before), _WORD.findall(after)
    known, wanted = [word.strip() for word in old], [word.strip() for word in new]
    start = shared(known, wanted)
    end = shared(known[start:][::-1], wanted[start:][::-1])
    kinds = script(known[start : len(old) - end], wanted[start : len(new) - end], effort)
    if kinds is None or (before != after and not kinds):
        return None
    every: list[Kind] = [*["same"] * start, *kinds, *["same"] * end]  # type: ignore[list-item]
    return (every, old, new) if _alike(every, len(old), len(new)) else None


def _alike(kinds: Sequence[Kind], old: int, new: int) -> bool:
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


def shared(old: Sequence[str], new: Sequence[str]) -> int:
    """With how many words or lines both begin."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def script(old: Sequence[str], new: Sequence[str], effort: Effort) -> list[Kind] | None:
    """What becomes of each word or line, in order; None for those that differ too much, or without effort for it."""
    reach, trail = {1: 0}, list[dict[int, int]]()
    for edits in range(min(len(old) + len(new), MAX_EDITS) + 1):
        trail.append(dict(reach))
        for diagonal in range(-edits, edits + 1, 2):
            at = begun = _next(reach, diagonal, edits)
            while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            reach[diagonal] = at
            if not effort.take(1 + at - begun):
                return None
            if at >= len(old) and at - diagonal >= len(new):
                return _walked_back(trail, len(old), len(new))
    return None


def _is_down(reach: dict[int, int], diagonal: int, edits: int) -> bool:
    """Whether the way with so many edits that gets furthest on this diagonal ends with a new word."""
    return diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])


def _next(reach: dict[int, int], diagonal: int, edits: int) -> int:
    return reach[diagonal + 1] if _is_down(reach, diagonal, edits) else reach[diagonal - 1] + 1


def _walked_back(trail: Sequence[dict[int, int]], at: int, its: int) -> list[Kind]:
    kinds: list[Kind] = []
    for edits in range(len(trail) - 1, -1, -1):
        reach, diagonal = trail[edits], at - its
        down = _is_down(reach, diagonal, edits)
        came_from = reach[diagonal + 1 if down else diagonal - 1]
        begun = came_from if down else came_from + 1
        kinds += ["same"] * (at - begun)
        if edits:
            kinds.append("added" if down else "removed")
        at = came_from
        its = at - (diagonal + 1 if down else diagonal - 1)
    return kinds[::-1]


def _pieces(kinds: Sequence[Kind], old: Iterator[str], new: Iterator[str]) -> Iterator[Piece]:
    """What is gone stands before what is new in its place."""
    for _, group in groupby(kinds, key=lambda kind: kind == "same"):
        found: dict[Kind, list[str]] = {"same": [], "removed": [], "added": []}
        for kind in group:
            words = [next(old)] if kind != "added" else []
            words += [next(new)] if kind != "removed" else []
            found[kind].append(max(words, key=len))  # of one that stays, with the spaces that keep it apart
        yield from (Piece(kind, "".join(texts)) for kind, texts in found.items() if texts)
