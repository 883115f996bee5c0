"""Counts with their nouns, in English."""


def pluralize(count: int, singular: str, plural: str = "") -> str:
    """The count and its noun: `1 file`, `1,234 files`. Without `plural`, the plural is the singular with an s."""
    return f"{count:,} {word_for(count, singular, plural)}"


def word_for(count: int, singular: str, plural: str = "") -> str:
    """The word that goes with the count, without the count: a noun, or a verb such as `word_for(2, "is", "are")`."""
    return singular if count == 1 else plural or f"{singular}s"
