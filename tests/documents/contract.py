"""A contract of sixty pages as a Word file, and all that is true of it.

Numbers in the truth come from the loops that write the clauses, never from what the file says of numbering.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from tests.documents.word import (
    commented,
    deleted,
    deleted_mark,
    inserted,
    level,
    lists,
    note,
    numbered_by,
    paragraph,
    run,
    start_override,
    style,
    text_box,
    word,
)

ROMANS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
_TEXT = """
the supplier shall deliver all goods under this agreement within the period agreed and bear every cost that arises
from late delivery unless the buyer has caused it by failing to give notice of changes to site access storage or
payment terms whereas liability insurance confidentiality assignment termination renewal warranty audit records
personal data subcontractors force majeure governing law arbitration seat language notices counterparts severability
"""
_HEAD = 40
"""Characters of a paragraph before what stands in it."""
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_ANN, _BOB = ("Ann Ames", "2026-03-01T09:30:00Z"), ("Bob Börg", "2026-03-02T16:45:00Z")
_STYLES = (
    style("Heading1", numbered_by(1) + '<w:outlineLvl w:val="0"/>')
    + style("Heading2", numbered_by(1, 1) + '<w:outlineLvl w:val="1"/>', based_on="Heading1")
    + style("Steps", numbered_by(9), kind="numbering")
    + style("Secret", runs="<w:vanish/>")
)
_LISTS = lists(
    {
        1: (
            level(0, "decimal", "%1.", '<w:pStyle w:val="Heading1"/>'),
            level(1, "decimal", "%1.%2", '<w:pStyle w:val="Heading2"/>'),
            *(level(2, "lowerLetter", "(%3)"), level(3, "lowerRoman", "(%4)"), level(4, "upperLetter", "(%5)")),
        ),
        2: (level(0, "upperLetter", "(%1)"),),
        3: (level(0, "lowerLetter", "%1)"),),
        4: (
            level(0, "upperRoman", "ARTICLE %1"),
            level(1, "decimalZero", "Section %1.%2", "<w:isLgl/>"),
            level(2, "decimal", "(%3)", '<w:lvlRestart w:val="0"/>'),
        ),
        5: (level(0, "upperLetter", "Schedule %1"), level(1, "decimal", "%2."), level(2, "decimal", "%2.%3")),
        6: ('<w:numStyleLink w:val="Steps"/>',),
        7: ('<w:styleLink w:val="Steps"/>', level(0, "ordinalText", "%1:")),
    },
    {
        1: (1, ""),
        2: (2, ""),
        4: (4, ""),
        5: (5, ""),
        6: (6, ""),
        9: (7, ""),
        **{30 + at: (3, start_override(0, 1)) for at in range(12)},
    },
)


@dataclass(frozen=True)
class Truth:
    """What is true of a block."""

    anchor: str
    text: str
    label: str = ""
    clause: str = ""


@dataclass
class Contract:
    """The file, and its truth: blocks in order; changes with their words and who made them when; comments with the
    words they are about, who wrote them, and what they say.
    """

    data: bytes = b""
    blocks: list[Truth] = field(default_factory=list)
    insertions: list[tuple[str, str, str]] = field(default_factory=list)
    deletions: list[tuple[str, str, str]] = field(default_factory=list)
    comments: list[tuple[str, str, str]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    footnotes: list[str] = field(default_factory=list)


def contract(seed: int = 1) -> Contract:
    return _Writer(seed).written()


class _Writer:
    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._numbers = count(1)
        self._made = Contract()
        self._body: list[str] = []
        self._paragraphs = self._tables = 0

    def written(self) -> Contract:
        self._plain("Supply Agreement")
        for letter in "ABCDEF":
            self._clause(2, 0, f"({letter})", f"({letter})")
        for article in range(1, 13):
            self._article(article)
        for roman in range(1, 7):
            self._legal(roman)
        for letter in "ABC":
            self._schedule(letter)
        for ordinal in ("First", "Second", "Third", "Fourth"):
            self._clause(6, 0, f"{ordinal}:", f"{ordinal}:")
        made = self._made
        notes = [Truth(f"fn{at}.p1", text, str(at)) for at, text in enumerate(made.footnotes, 1)]
        comments = [Truth(f"cm{at}.p1", text) for at, (_, _, text) in enumerate(made.comments)]
        made.blocks += [*notes, *comments, Truth("hd1.p1", "Draft of 1 March"), Truth("ft1.p1", "Page 1 of 60")]
        made.data = word("".join(self._body), self._parts())
        return made

    def _parts(self) -> dict[str, str]:
        made = self._made
        return {
            "styles": _STYLES,
            "numbering": _LISTS,
            "footnotes": "".join(  # their ids are not their numbers
                f'<w:footnote w:id="{at + 7}">{paragraph(text)}</w:footnote>' for at, text in enumerate(made.footnotes)
            ),
            "comments": "".join(
                f'<w:comment w:id="{at}" w:author="{by}" w:date="{_ANN[1]}">{paragraph(text)}</w:comment>'
                for at, (_, by, text) in enumerate(made.comments)
            ),
            "header": paragraph("Draft of 1 March"),
            "footer": paragraph("Page ", f'<w:fldSimple w:instr=" PAGE ">{run("1")}</w:fldSimple>', " of 60"),
        }

    def _article(self, article: int) -> None:
        self._clause(0, 0, f"{article}.", f"{article}", style="Heading1")
        for clause in range(1, 5):
            whole = f"{article}.{clause}"
            self._clause(0, 0, whole, whole, style="Heading2")
            if clause == 2:
                self._changed(article)
            for letter in "abc":
                self._clause(1, 2, f"({letter})", f"{whole}({letter})")
                for roman in ROMANS[1:3] if clause < 3 else ():
                    self._clause(1, 3, f"({roman})", f"{whole}({letter})({roman})")
            if clause == 4:
                self._clause(1, 3, "(i)", f"{whole}(c)(i)")
                self._clause(1, 4, "(A)", f"{whole}(c)(i)(A)")
        self._plain(self._sentence())
        for letter in "abcd":
            self._clause(29 + article, 0, f"{letter})", f"{article}.4(c)(i)(A) {letter})")
        self._table()
        self._box()

    def _legal(self, number: int) -> None:
        roman = ROMANS[number].upper()
        self._clause(4, 0, f"ARTICLE {roman}", roman)
        for section in range(1, 6):
            whole = f"{number}.{section:02}"
            self._clause(4, 1, f"Section {whole}", whole)
            item = (number - 1) * 5 + section
            self._clause(4, 2, f"({item})", f"{whole}({item})")

    def _schedule(self, letter: str) -> None:
        self._clause(5, 0, f"Schedule {letter}", f"Schedule {letter}")
        for item in range(1, 5):
            self._clause(5, 1, f"{item}.", f"Schedule {letter}.{item}")
            self._clause(5, 2, f"{item}.1", f"{item}.1")

    def _clause(self, number: int, index: int, label: str, clause: str, style: str = "") -> None:
        """A numbered paragraph; some of them have a footnote, a comment, a cut-up run or an inserted word."""
        text = self._sentence()
        place = (number, index) if number else None
        notes = len(self._made.footnotes)
        content = [*self._content(text, label)]
        if len(self._made.footnotes) > notes:  # Word shows its number where the text refers to it
            text = f"{text[:_HEAD]}{str(notes + 1).translate(_RAISED)}{text[_HEAD:]}"
        self._add(
            "".join(one if one.startswith("<") else run(one) for one in content), text, label, clause, style, place
        )

    def _content(self, text: str, label: str) -> Iterator[str]:
        made, head, tail = self._made, text[:_HEAD], text[_HEAD:]
        match next(self._numbers) % 11:
            case 0:
                yield from (head, note("footnote", len(made.footnotes) + 7), tail)
                made.footnotes.append(f"Note to {label}: {self._sentence()}")
            case 1:
                yield from (commented(head, len(made.comments)), tail)
                made.comments.append((head, _BOB[0], f"Is {label} agreed? {self._sentence()}"))
            case 2:
                old = self._sentence()
                yield from (inserted(head, *_ANN), deleted(old, *_BOB), tail)
                made.insertions.append((head, *_ANN))
                made.deletions.append((old, *_BOB))
            case 3:
                yield from (run(letters) for letters in (text[:3], text[3:17], text[17:]))
            case _:
                yield text

    def _changed(self, article: int) -> None:
        """Clauses that tracked changes have deleted, moved or inserted, and one that is hidden in part."""
        gone, moved, new = self._sentence(), self._sentence(), self._sentence()
        self._add(deleted(moved, *_BOB, tag="moveFrom") + run("Moved."), "Moved.")
        self._made.deletions.append((moved, *_BOB))
        self._add(inserted(moved, *_ANN, tag="moveTo"), moved)
        self._made.insertions.append((moved, *_ANN))
        self._add(inserted(new, *_ANN), new)
        self._made.insertions.append((new, *_ANN))
        self._paragraphs += 1
        whole = paragraph(deleted(gone, *_BOB), style="Heading2", properties=deleted_mark(*_BOB))
        self._body.append(whole)
        self._made.deletions.append((gone, *_BOB))
        hidden = f"hidden note {article} {self._sentence()}"
        self._add(run("Shown ") + run(hidden, "<w:vanish/>"), f"Shown {hidden}")
        self._made.hidden.append(hidden)

    def _table(self) -> None:
        self._tables += 1
        rows = []
        for row in range(1, 6):
            texts = [f"Item {next(self._numbers)}", f"{self._dice.randrange(10**6):,} EUR", self._sentence()]
            for column, text in enumerate(texts, 1):
                self._made.blocks.append(Truth(f"t{self._tables}r{row}c{column}.p1", text))
            rows.append("".join(f"<w:tc><w:tcPr/>{paragraph(text)}</w:tc>" for text in texts))
        self._body.append(f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>")

    def _box(self) -> None:
        boxed = self._sentence()
        self._add(run("See the box.") + text_box(paragraph(boxed)), "See the box.")
        self._made.blocks.append(Truth(f"p{self._paragraphs}x.p1", boxed))

    def _plain(self, text: str) -> None:
        self._add(run(text), text)

    def _add(
        self,
        content: str,
        text: str,
        label: str = "",
        clause: str = "",
        style: str = "",
        number: tuple[int, int] | None = None,
    ) -> None:
        self._paragraphs += 1
        self._made.blocks.append(Truth(f"p{self._paragraphs}", text, label, clause))
        self._body.append(paragraph(content, style=style, number=number))

    def _sentence(self) -> str:
        """Some fifty words, whose beginning no other sentence has."""
        words = self._dice.choices(_TEXT.split(), k=self._dice.randrange(30, 70))
        return f"{words[0].title()} {next(self._numbers)} {' '.join(words[1:])}."
