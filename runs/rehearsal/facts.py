"""Facts that can be recognised by their form: dates, amounts, parties. English and German."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from runs.rehearsal.documents import Document
from runs.rehearsal.text import blocks

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|Jan\.?|Feb\.?|Mar\.?|Apr\.?|Jun\.?|Jul\.?|"
    r"Aug\.?|Sept?\.?|Oct\.?|Nov\.?|Dec\.?)"
)
DATE = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?{_MONTH}\s+\d{{4}}\b|\b{_MONTH}\s+\d{{1,2}},?\s+\d{{4}}\b|"
    rf"\b{_MONTH}\s+\d{{4}}\b|\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}[./]\d{{1,2}}[./](?:19|20)\d{{2}}\b"
)
_NUMBER = r"\d{1,3}(?:[,.'’ ]\d{3}){1,6}(?:[.,]\d{1,2})?|\d{1,20}(?:[.,]\d{1,2})?"
AMOUNT = re.compile(
    rf"(?:\b(?:EUR|CHF|USD|GBP|JPY|SEK|PLN)|[€$£])\s?(?:{_NUMBER})(?:\s?(?:million|billion|Mio\.?))?|"
    rf"(?<!\d)(?:{_NUMBER})\s?(?:EUR|CHF|USD|GBP|€|£|euros?|dollars?|francs?)\b|"
    r"\b\d{1,20}(?:[.,]\d{1,20})?\s?(?:%|percent\b|per cent\b)"
)
_FORM = (
    r"(?:Ltd\.?|Limited|GmbH(?: & Co\. KG)?|AG|SE|LLC|LLP|Inc\.?|Corp\.?|plc|PLC|S\.A\.|SA|S\.p\.A\."
    r"|s\.r\.o\.|B\.?V\.?|N\.?V\.?|SARL|KG|OHG|e\.V\.|Oy|AB|A/S)"
)
_PART = r"(?:[A-ZÄÖÜÉ][\w'’&-]*|&|de|du|des|la|und|and|of)"
COMPANY = re.compile(rf"(?<![\w])[A-ZÄÖÜÉ][\w'’&-]*(?:[ \n]{_PART}){{0,5}}[ \n]{_FORM}(?![\w])")


@dataclass(frozen=True)
class Fact:
    document: str
    kind: str
    text: str
    line: int
    place: str


def facts_in(document: Document) -> Iterator[Fact]:
    """In the order of the lines, a party once per document; the text is verbatim but for folded whitespace."""
    parties: set[str] = set()
    for block in blocks(document.lines, document.beginnings):
        text = "\n".join(line for _, line in block)
        offsets = [0, *accumulate(len(line) + 1 for _, line in block[:-1])]
        for kind, pattern in (("party", COMPANY), ("date", DATE), ("amount", AMOUNT)):
            for match in pattern.finditer(text):
                found = " ".join(match[0].split())
                if kind == "party" and found in parties:
                    continue
                parties.add(found)
                line = block[bisect_right(offsets, match.start()) - 1][0]
                yield Fact(document.path, kind, found, line, document.place(line))
