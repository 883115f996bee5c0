"""Anchors, the names of places in documents (`p23`, `page=7`, `Rents!B7`), and how people refer to these places."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from runs.documents.model.layout import Block, BlockKind


@dataclass(frozen=True)
class Anchors:
    """The anchors that a reader gives to the blocks of a document. An anchor means the same in every format.

    `form` is a regular expression that matches every anchor that citations may use. `words` maps a regular expression
    for the beginning of an anchor to the phrase that people use for the place, with its groups as {0}, {1} and so on;
    the first match is used. `unit_of` returns the number or name of the page, slide or sheet that an anchor belongs to,
    or an empty string.
    """

    form: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    unit_of: Callable[[str], str] = lambda _: ""

    def has(self, anchor: str) -> bool:
        """Whether a citation may use this anchor in a document of the format."""
        return bool(self._form.fullmatch(anchor))

    def words_for(self, block: Block) -> str:
        """Returns what people call a block, such as "clause 4.2(b)", "page 7" or "footnote 3", or else its anchor."""
        if block.clause:
            return f"clause {block.clause}"
        found = ((pattern.match(block.anchor), words) for pattern, words in self._words)
        name = next((words.format(*match.groups()) for match, words in found if match), block.anchor)
        return f"{name} (“{block.label}”)" if block.kind is BlockKind.PAGE and block.label else name

    @cached_property
    def _form(self) -> re.Pattern[str]:
        return re.compile(self.form)

    @cached_property
    def _words(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(pattern), words) for pattern, words in self.words.items()]


def group_of(pattern: str) -> Callable[[str], str]:
    """Returns a function that gives the first group of this regular expression in an anchor, or an empty string."""
    compiled = re.compile(pattern)

    def unit_of(anchor: str) -> str:
        found = compiled.match(anchor)
        return found[1] if found else ""

    return unit_of


NO_ANCHORS = Anchors()
IN_TEXTS = Anchors(
    r"(?:p|t|fn|en|cm|hd|ft)\d+[\w.]*",
    {
        r"t(\d+)r(\d+)c(\d+)\b": "table {0}, row {1}, column {2}",
        r"p(\d+)x\b": "text box at paragraph {0}",
        r"p(\d+)$": "paragraph {0}",
        r"fn(\w+)": "footnote {0}",
        r"en(\w+)": "endnote {0}",
        r"cm(\w+)": "comment {0}",
        r"hd(\d+)": "header {0}",
        r"ft(\d+)": "footer {0}",
    },
)
"""Anchors of texts that consist of paragraphs, tables and notes."""
ON_PAGES = Anchors(
    r"page=\d+[-\d]*",
    {r"page=(\d+)\.cm(\d+)$": "comment {1} on page {0}", r"page=(\d+)": "page {0}"},
    group_of(r"page=(\d+)(?=\.|$)"),
)
BY_LINES = Anchors(r"L\d+", {r"L(\d+)$": "line {0}"})
