"""Counts with their nouns, and lists, in English."""

from collections.abc import Sequence


def pluralize(count: int, singular: str, plural: str = "") -> str:
    """The count and its noun: `1 file`, `1,234 files`. Without `plural`, the plural is the singular with an s."""
    return f"{count:,} {word_for(count, singular, plural)}"


def word_for(count: int, singular: str, plural: str = "") -> str:
    """The word that goes with the count, without the count: a noun, or a verb such as `word_for(2, "is", "are")`."""
    return singular if count == 1 else plural or f"{singular}s"


def list_with_and(names: Sequence[str]) -> str:
    """`one`, `one and two`, `one, two and three`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st."""
    is_teen = 10 <= number % 100 <= 20
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
