"""Names of people and organisations in a text, as far as their spelling shows them.

| written | read as |
|---|---|
| `Anna Weber` `Banque Inventee` `Marie de la Tour` | a name: capitalised words in a row, small words between them |
| `Weber AG` `Acme Ltd.` | a name: one capitalised word is enough before a legal form |
| `# Executive Summary` `**Next Steps**` `Open Points:` | no names: titles and labels |
| `The Landlord Anna Weber` | `Landlord Anna Weber`: small words at the beginning are left out |
| `Weber` | no name: one word is too little to go by |

It is a guess, which is good for a hint. Linear in the length of the text.
"""

from collections.abc import Iterator
from typing import NamedTuple

import regex

from runs.text.normalisation import caseless

MAX_WORDS = 6  # of one name
_WORD = r"\p{Lu}[\p{L}’'-]{1,40}"
_SMALL = r"(?:de|del|della|der|den|di|du|la|le|van|von|zu|zum|of|and|und|et|&)"
LEGAL_FORM = (
    r"(?:GmbH(?: & Co\. ?KG)?|AG|KG|OHG|UG|SE|SA|S\.A\.|SAS|SARL|S\.A\.R\.L\.|Sàrl|SpA|S\.p\.A\.|S\.r\.l\.|B\.?V\.?"
    r"|N\.?V\.?|s\.r\.o\.|a\.s\.|e\.V\.|e\.K\.|Ltd\.?|Limited|LLC|L\.L\.C\.|LLP|Inc\.?|Corp\.?|plc|PLC|Oy|AB|A/S|ApS)(?!\w)"
)
"""Of companies, in an expression."""
_NAME = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}]){_WORD}(?:(?:\s{_SMALL}){{0,2}}\s(?:{LEGAL_FORM}|{_WORD})){{1,{MAX_WORDS - 1}}}"
    r"(?![\p{L}\p{N}:])"
)
_TITLE = regex.compile(r"^\s{0,3}(?:#|\|?\s*:?-{3})|^[^\n]{0,80}:\s*$")
_MARKED = regex.compile(r"\*\*[^*\n]{1,200}\*\*|`[^`\n]{1,200}`|\]\([^)\n]{0,400}\)")
_STARTS = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "to",
        "with",
        "of",
        "and",
        "or",
        "if",
        "when",
        "while",
        "as",
        "it",
        "its",
        "he",
        "she",
        "they",
        "we",
        "you",
        "i",
        "no",
        "not",
        "all",
        "each",
        "every",
        "both",
        "there",
        "here",
        "please",
        "dear",
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "herr",
        "frau",
        "der",
        "die",
        "das",
        "ein",
        "eine",
        "im",
        "am",
        "vom",
        "zum",
        "zur",
        "mit",
        "von",
        "für",
        "und",
        "oder",
        "wenn",
        "als",
        "es",
        "sie",
        "er",
        "wir",
        "ihr",
    ]
)


class NameSpan(NamedTuple):
    """`start` to before `end` are its characters."""

    start: int
    end: int
    text: str


def names_in(text: str) -> Iterator[NameSpan]:
    """Each name, in order, some more than once."""
    at = 0
    for line in text.splitlines(keepends=True):
        if not _TITLE.match(line.rstrip("\r\n")):
            plain = _MARKED.sub(lambda found: " " * len(found[0]), line)
            for found in _NAME.finditer(plain):
                # A word such as “The” is capitalised only because a sentence begins with it.
                name = found[0]
                begin = at + found.start()
                while (first := name.partition(" ")[0]) and first.casefold() in _STARTS:
                    begin += len(first) + 1
                    name = name[len(first) + 1 :]
                if " " in name:
                    yield NameSpan(begin, begin + len(name), name)
        at += len(line)


_LETTERS = regex.compile(r"\p{L}{2,}")


def words_of_names(text: str) -> set[str]:
    """The words by which a name is known again, without case."""
    return set(_LETTERS.findall(caseless(text)))
