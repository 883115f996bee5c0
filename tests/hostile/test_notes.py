"""Notes of hostile Word and PDF documents: what is dear to take for a citation, to look for, and to compare."""

from collections.abc import Callable

import pytest

from runs.documents.model.layout import BlockKind
from runs.documents.places.document import Document
from runs.documents.reading.building import Builder
from runs.evidence.citations.citation_reader import MAX_SEARCHED, UNCOMPARED
from runs.evidence.citations.lookup import noted_in
from runs.evidence.citations.notes import MAX_TRIED
from runs.evidence.sources import GivenFiles, Sources
from tests.hostile.bounds import within

MOST_ASKED = 5 * MAX_TRIED
"""Each name is tried as it is and behind `@result/`; where a note leads is looked up by it a few times more."""
SIZE = 20_000
ASKED_FOR_A_CHARACTER = 60
"""For most shapes less than one, for none more than 46: a head of 900 characters has so many commas."""
ALLOWANCE = MAX_SEARCHED // 10
NOTE = 900
GIVEN = {
    "a.md": "[woman] aa f [b] f aa The notice period is thirty days. \U0001f469 " * 2_000,
    "b.md": "f aa f aa " * 100_000,
    "a": "It is due. “a “a “a " + "due 1 due 2 “a" * 1_000,
}


def filled(unit: str, end: str) -> Callable[[int], str]:
    """A note: the unit over and over with its number in it, then the end, in so many characters as a head may have."""

    def text(number: int) -> str:
        one = unit.replace("{n}", str(number))
        return one * ((NOTE - len(end) - 10) // len(one)) + end.replace("{n}", str(number))

    return text


SHAPES: dict[str, Callable[[int], str]] = {
    "commas": filled("12345b, ", "x: “"),
    "commas before lines": filled("12345b,\n", "x: “"),
    "names": filled("b, ", "x: “due”\n"),
    "digits": filled("1", "a: “"),
    "numbers": filled("12345b ", "x, x: “"),
    "rising numbers": filled("{n}", " {n}a, x: “due”\n"),
    "open quotes": lambda number: f"{number}a, line 1: “a“a“a: “a " * 20,
    "quotes of quotes": lambda number: f"\n{number}a, line 1: “{'“a ' * 200}{number}”\n",
    "nested brackets": lambda number: f"\n{number}a.md, line 1: “{'[a-a [b ' * 90}{number}”\n",
    "letters between": lambda number: f"\n{number}b.md, line 1: “{'f aa ' * 100}{number}”\n",
    "short notes": lambda number: f"\n{number}a.md, line 1: “due {number}”",
    "places": filled("page 1111, ", "page 1{n}x: “due”"),
    "figures": filled("page " + "1" * 80 + ", ", "“: “due”"),
    "names in one sentence": lambda number: f" Anna Muster{number}, {number}a.md, line 1: “Due {number}”",
}


def made(form: str, shape: str, size: int) -> Document:
    """A document of `size` characters of notes: on pages of 5,000, or each in a footnote behind a long paragraph."""
    builder = Builder(form, joint="\n\f" if form == "pdf" else "\n", max_characters=20_000_000)
    texts, left, number = [], size, 0
    while left > 0:
        number += 1
        texts.append(SHAPES[shape](number))
        left -= len(texts[-1])
    if form == "pdf":
        text = "".join(texts)
        pages = (
            [text]
            if shape in {"names in one sentence", "short notes"}
            else [text[at : at + 5_000] for at in range(0, len(text), 5_000)]
        )
        for page, words in enumerate(pages, 1):
            builder.add(f"page={page}", BlockKind.PAGE, words)
    else:
        builder.add("p1", BlockKind.PARAGRAPH, "".join(texts)[: size // 2])
        for number, text in enumerate(texts, 1):
            words = text if text.rstrip().endswith("”") else f"{text}due”"
            builder.add(f"fn{number}", BlockKind.FOOTNOTE, words.strip().lstrip("0123456789") or "-")
    built = builder.build("page", 1)
    return Document(built.text, built.rendered.layout)


class Asked(Sources):
    """Sources that count how often it is asked whether they have a name."""

    count = 0

    def __contains__(self, name: object) -> bool:
        self.count += 1
        return super().__contains__(name)


def looked_up(form: str, shape: str, size: int) -> tuple[int, int, str]:
    """How many citations were found, how often a name was looked up, and what is said of the rest."""
    document = made(form, shape, size)
    sources = Asked({}, GivenFiles({name: text.encode() for name, text in GIVEN.items()}))
    cited = noted_in(document, sources, ALLOWANCE)
    return len(cited.links), sources.count, cited.problem


@pytest.mark.slow
@pytest.mark.parametrize("form", ["docx", "pdf"])
@pytest.mark.parametrize("shape", SHAPES)
def test_notes_are_looked_up_in_bounded_time_and_memory(form: str, shape: str) -> None:
    _, asked, _ = within(0.6, 60, f"{__name__}.looked_up", form, shape, SIZE)
    assert asked <= ASKED_FOR_A_CHARACTER * SIZE


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["commas", "numbers"])
def test_where_there_is_too_much_to_be_tried_it_is_said(shape: str) -> None:
    found, asked, problem = within(4, 150, f"{__name__}.looked_up", "pdf", shape, 2_000_000)
    where, _, said = problem.removeprefix("Its notes from ").partition(" on were not looked up: ")
    assert (found, where.partition(" ")[0]) == (0, "page")
    assert said == "too much would have to be searched for the citations of this text."
    assert asked <= MOST_ASKED


@pytest.mark.slow
def test_where_there_are_too_many_notes_to_be_tried_it_is_said() -> None:
    found = noted_in(made("docx", "short notes", 800_000), Sources({}, GivenFiles({"a.md": b"due"})), most=10)
    assert (len(found.links), found.problem.startswith("Its notes from footnote 20001 on were not")) == (10, True)


def test_statements_that_were_not_looked_for_are_not_said_to_be_compared() -> None:
    builder = Builder("docx", joint="\n")
    builder.add("p1", BlockKind.PARAGRAPH, "x " * 2_400_000)
    for number in range(1, 13):
        builder.add(f"fn{number}", BlockKind.FOOTNOTE, "a, line 1: “It is due.”")
    built = builder.build("page", 1)
    found = noted_in(Document(built.text, built.rendered.layout), Sources({}, GivenFiles({"a": b"It is due."})))
    assert [one.weak for one in found.citations] == [""] * 10 + [UNCOMPARED] * 2
