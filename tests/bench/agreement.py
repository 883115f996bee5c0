"""Which words a reader of documents misses or adds, and which numbers of paragraphs it gets right.

There is no truth about the words of a file that somebody else made. The reference is one of two:

* the text that the file's own project expects, where that lies next to the file. It is what that project's program
  should print, which is an opinion too: whether the address of a link is a word of a page, for example.
* the agreement of readers. A word is missing where at least two other readers have it, and added where no other reader
  has it, each as often as it occurs. “Other” means with another engine: markitdown reads Word files with mammoth, so
  these two are one voice, and so are all readers that use PDFium. Files that fewer than two other voices have words of
  say nothing.

What this shows: words that one reader alone loses, splits or makes up. What it cannot show: a word that all readers
miss, or that only one reader finds, which counts as added although it stands in the file (a comment, a tracked deletion
that another reader drops, a chart); the order of words, their place, and what is a heading, a cell or a note. A high
number is a reason to look at the file, and no verdict.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

VOICES = 2
"""Readers with other engines that must have a word before it counts as missing."""
_EAST_ASIAN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_EAST_ASIAN}]|[^\W_{_EAST_ASIAN}]+")
"""East Asian scripts have no spaces, so each of their characters is a word: lines are broken differently."""
_HYPHEN = re.compile(r"(?<=\w)[-\u2010\u2011\u00ad\ufffe\x02](?:[ \t]{0,9}\r?\n\s{0,9})?(?=\w)")
"""Readers join words at the end of a line or do not, so that all hyphens in words are left out."""
_MARKDOWN = re.compile(r"<!--[^>]*>|```\w*|</?[a-zA-Z][^<>]*>|(?<=\])\((?:[^()\s]|\([^()\s]*\))*(?:\s\"[^\"\n]*\")?\)")
"""Comments, languages of code, tags and targets of links, which no reader of plain text shows."""
_DECORATION = " \t*_#>\\|•·"
"""Around a number in Markdown."""
_BULLET = re.compile(r"[-*+•·–]")
_KEY_CHARACTERS = 25
_ENTRY = re.compile(r"^(\d+(?:\.\d+){0,9})\.?[ \t]+(\S[^\t\n]{0,200})\t+\d+$", re.MULTILINE)
"""Of a table of contents: number, title and page."""
_LINE = re.compile(r"^[^\w\n]*(\d+(?:\.\d+){0,9})?[^\w\n]*(\w[^\t\n]*)$", re.MULTILINE)


class Difference(NamedTuple):
    """Words of the reference, how many of them a reader misses, and how many words it adds."""

    reference: int
    missing: Counter[str]
    added: Counter[str]


class Numbers(NamedTuple):
    """Numbers of paragraphs. `absent`: the paragraph has none, or is itself absent."""

    right: int
    wrong: int
    absent: int


def plain(markdown: str) -> str:
    """Markdown without what is not text in it."""
    return html.unescape(_MARKDOWN.sub(" ", markdown))


def words_in(text: str) -> Counter[str]:
    """The words of a text, without regard to case, hyphens and the form of letters, and how often each occurs."""
    return Counter(_WORD.findall(_HYPHEN.sub("", unicodedata.normalize("NFKC", text)).casefold()))


def compare(own: Counter[str], voices: Sequence[Counter[str]], least: int = VOICES) -> Difference | None:
    """What a reader misses of the words that at least `least` voices have, and adds to those that any of them has.

    Returns None where there are fewer voices.
    """
    if len(voices) < least:
        return None
    agreed: Counter[str] = Counter()
    known: Counter[str] = Counter()
    for word in set[str]().union(*voices):
        counts = sorted((voice[word] for voice in voices), reverse=True)
        agreed[word], known[word] = counts[least - 1], counts[0]
    return Difference(agreed.total(), agreed - own, own - known)


def compare_readers(words: Mapping[str, Counter[str]], engines: Mapping[str, str]) -> dict[str, Difference]:
    """For each reader of a file, what it misses and adds, by the agreement of those with other engines.

    Readers without words have no voice: they may have refused the file.
    """
    voices: dict[str, Counter[str]] = {}
    for name, own in words.items():
        if own:
            voices[engines[name]] = voices.get(engines[name], Counter()) | own
    found = {
        name: compare(own, [voice for engine, voice in voices.items() if engine != engines[name]])
        for name, own in words.items()
    }
    return {name: difference for name, difference in found.items() if difference}


def numbers_in(text: str, truth: Sequence[tuple[str, str]]) -> Numbers:
    """How many paragraphs have their number in front of them, on the same line. `truth`: numbers, each with the text of
    its paragraph, whose first characters no other paragraph has.
    """
    flat = re.sub(r"[^\S\n]+", " ", text)
    right = wrong = absent = 0
    for number, paragraph in truth:
        at = flat.find(paragraph[:_KEY_CHARACTERS])
        shown = "" if at < 0 else flat[flat.rfind("\n", 0, at) + 1 : at].strip(_DECORATION).replace("\\", "")
        if not shown or _BULLET.fullmatch(shown):
            absent += 1
        elif shown == number:
            right += 1
        else:
            wrong += 1
    return Numbers(right, wrong, absent)


def stated_in(text: str) -> dict[str, str]:
    """The numbers of headings by their titles, as the document's own table of contents states them."""
    entries = [(title.strip(), number) for number, title in _ENTRY.findall(text)]
    often = Counter(title for title, _ in entries)
    headings = _headings(text)
    return {title: number for title, number in entries if often[title] == 1 and title in headings}


def numbers_of_headings(text: str, stated: Mapping[str, str]) -> Numbers:
    """How many headings have the number in front of them that the table of contents states."""
    headings = _headings(text)
    right = sum(number in headings.get(title, ()) for title, number in stated.items())
    absent = sum(headings.get(title, {""}) == {""} for title in stated)
    return Numbers(right, len(stated) - right - absent, absent)


def _headings(text: str) -> Mapping[str, set[str]]:
    """What may be a heading, a line of its own, with the numbers in front of it. An entry of contents has its page."""
    found: dict[str, set[str]] = {}
    for number, title in _LINE.findall(text):
        found.setdefault(title.strip(_DECORATION), set()).add(number)
    return found
