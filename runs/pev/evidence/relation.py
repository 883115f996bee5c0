"""Whether a proof may have to do with what it is to prove. Code cannot judge that: it marks what shares nothing.

Everything here is linear in the length of the texts.
"""

import unicodedata

import regex

from runs.pev.texts.wording import quoted

_FIGURE = regex.compile(r"\p{N}(?:[\p{N}.,'’\u00a0\u202f]*\p{N})?")
_NAME = regex.compile(r"(?<=[\p{L}\p{N},;)]\s)[\"“„'(]*(\p{Lu}[\p{L}\p{N}]{2,})|\b(\p{Lu}{2,})\b")
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|\p{L}{3,}")
_ENDING = regex.compile(r"(?<=\p{L}{3})(?:ies|ing|ed|es|en|er|em|ly|e|s|n|y)$")
STEM = 6
"""Letters that two words have in common if they are forms of one, or one is a part of the other, as in German."""


def unrelated(statement: str, quote: str) -> str:
    """Why the quote may have nothing to do with the statement; empty if they share a figure or a name, or if the
    statement has none.
    """
    wanted = _marks(statement)
    if not wanted or wanted & {*_marks(quote), *quote.casefold().split()}:
        return ""
    return f"it shares no figure and no name with {quoted(statement)}"


def unrelated_to_request(words: str, quote: str) -> str:
    """Why the quote may have nothing to do with what a person asked for; empty if they share a figure, a name, or in
    any form a word that says something.
    """
    shared = (_stems(words) | _marks(words)) & (_stems(quote) | _marks(quote))
    return "" if shared else "it shares no word with what was asked for"


def _marks(text: str) -> set[str]:
    """Figures without their separators, and names: words with a capital inside a sentence."""
    return _figures(text) | {(match[1] or match[2]).casefold() for match in _NAME.finditer(text)}


def _figures(text: str) -> set[str]:
    return {regex.sub(r"\P{N}", "", match[0]) for match in _FIGURE.finditer(text)}


def _stems(text: str) -> set[str]:
    """What is left of each word without its usual ending; nothing of those that occur in every text."""
    return {_stem(word) for word in _WORD.findall(_plain(text))} - _STOP_STEMS


def _stem(word: str) -> str:
    return str(_ENDING.sub("", word))[:STEM]


def _plain(text: str) -> str:
    """In small letters, without accents: forms of one word may differ by them."""
    return "".join(one for one in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(one))


_STOP_STEMS = frozenset(
    map(
        _stem,
        _plain(
            "about added all also and another any are but can complete correct could did does done each every for from "
            "has have here into its more must new not now only other our please request result shall should some such "
            "than that the their them then there these they this those too use very was were what when where which "
            "will with would you your "
            "aber alle allem allen aller alles als auch auf aus bei beim bitte das dass dem den der des dich die dies "
            "diese dieser dieses doch durch ein eine einem einen einer eines etwas für hat hier ihr ihre ist jede "
            "jeden jeder jedes jetzt kann kein keine mehr mit muss müssen nach neu nicht noch nun nur oder sein sich "
            "sie sind soll sollen sollte sollten über und uns vom von vor war was wenn werden wie wird wurde wurden "
            "zum zur"
        ).split(),
    )
)
"""Of words that say nothing of what is asked for, in English and German."""
