"""Whether a sentence says something of each of several things."""

import regex

_EACH = regex.compile(
    r"(?<!\b(?:at|after|above|not|in)\s)"
    r"\b(?:each|every|all|jede[mnrs]?|alle[nrs]?|sämtliche[nr]?|chaque|tous|toutes)\b(?!\s+in\s+all\b)",
    regex.IGNORECASE,
)


def says_each(text: str) -> bool:
    """True for "every contract", "all of them" and "jede Datei"; not for "not at all" and "after all"."""
    return _EACH.search(text) is not None
