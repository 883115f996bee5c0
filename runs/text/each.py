"""Whether a sentence says something of each of several things."""

import regex

_EACH = regex.compile(
    r"\b(?:(?<!\bnot\s)(?:each|every)|(?<!\b(?:not|at|after|above)\s)all(?!\s+in\s+all\b)"
    r"|jede[mnrs]?|alle[mnrs]?|sämtliche[mnr]?|chaque|tous|toutes)\b",
    regex.IGNORECASE,
)
_IN_ALL = regex.compile(r"\bin all(?=\s*(?:[.,;:)]|$))", regex.IGNORECASE)


def says_each(text: str) -> bool:
    """True for "every contract", "in all of them" and "jede Datei"; not for "not at all" and "three in all"."""
    return _EACH.search(_IN_ALL.sub("", text)) is not None
