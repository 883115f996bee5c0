"""Small digits above and below the line are read as such, and marks of footnotes are none of the words."""

import json

import pytest

from runs.documents.formats.pdf.drawing import places
from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.places.document import Document
from runs.evidence.passages import Passage, passage_in
from tests.documents import pdfs

_FOOTNOTE = "Limited to EUR 500#footnote[Net of VAT.] per claim, and 10#super[2] square metres."


def found(quote: str, data: bytes) -> str:
    made = make(data)
    passage = passage_in(quote, Document(made.text, made.rendered.layout), "a.pdf")
    return passage.words if isinstance(passage, Passage) else ""


def word(text: str, small: str, *, rise: float, size: float = 7) -> bytes:
    """A word in 12 points and a small one right behind it, as programs set it that have no small letters of a font."""
    return f"BT /F 12 Tf 72 700 Td ({text}) Tj /F {size} Tf {rise} Ts ({small}) Tj /F 12 Tf 0 Ts ( end) Tj ET".encode()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (word("EUR 500", "1", rise=4), "EUR 500¹ end"),
        (word("EUR 500", "12", rise=4), "EUR 500¹² end"),
        (word("the claim.\\224", "3", rise=4), "the claim.”³ end"),
        (word("m", "2", rise=4), "m² end"),
        (word("H", "2", rise=-2), "H₂ end"),
        (word("EUR 500", "1", rise=0), "EUR 5001 end"),
        (word("EUR 500", "1", rise=1), "EUR 5001 end"),
        (word("EUR 500", "1", rise=4, size=12), "EUR 5001 end"),
        (word("A", "2", rise=0, size=9), "A2 end"),
        (word("", "2", rise=4), "2 end"),
    ],
)
def test_small_digits_off_the_line_are_told_by_their_ink(content: bytes, text: str) -> None:
    assert make(pdfs.pages_of([content])).text.split() == text.split()  # pdfium ends lines behind some of them


@pytest.mark.parametrize("numbers", ["lining", "old-style"])
def test_small_digits_of_a_font_and_its_other_figures(numbers: str) -> None:
    source = f'#set text(number-type: "{numbers}")\n{_FOOTNOTE} From 1234567890 to 2019-05-31, 1,250.75 or §4.2(b)(3).'
    assert " ".join(make(pdfs.typeset(source)).text.split()) == (
        "Limited to EUR 500¹ per claim, and 10² square metres. From 1234567890 to "
        "2019-05-31, 1,250.75 or §4.2(b)(3). ¹Net of VAT."
    )


def test_a_figure_is_quoted_without_the_mark_of_its_note_and_not_with_it_as_a_digit() -> None:
    data = pdfs.typeset(_FOOTNOTE)
    assert found("EUR 500 per claim", data) == "EUR 500¹ per claim"
    assert found("Net of VAT.", data) == "Net of VAT."
    assert not found("EUR 5001 per claim", data)


def test_an_exponent_is_part_of_its_figure() -> None:
    data = pdfs.typeset(_FOOTNOTE)
    assert found("10² square", data) == "10² square"
    assert not found("102 square", data)
    assert not found("10 square", data)
    assert not found("5 m wide", pdfs.typeset("It is 5 m#super[2] wide#footnote[One.]#footnote[Two.]."))


def test_small_digits_have_their_places() -> None:
    figure, mark = json.loads(places(pdfs.typeset(_FOOTNOTE), page=1, spans="15-18 18-19"))
    assert figure[0][2] == pytest.approx(mark[0][0], abs=0.005)
    assert mark[0][3] < figure[0][3]


def test_a_passage_goes_around_the_notes_at_the_foot_of_its_page() -> None:
    sentences = [
        f"Sentence number {n} of the agreement goes on until the obligations of party {n} end." for n in range(40)
    ]
    notes = {
        at: f"#footnote[See annex {at}, which has more to say on this than fits into a single line of it.]"
        for at in (3, 9)
    }
    data = pdfs.typeset(" ".join(f"{one}{notes.get(at, '')}" for at, one in enumerate(sentences)))
    made = make(data)
    document = Document(made.text, made.rendered.layout)
    passages = [passage_in(one, document, "a.pdf") for one in sentences]
    assert all(isinstance(one, Passage) for one in passages)
    assert any("annex" in one.words for one in passages if isinstance(one, Passage))
    assert isinstance(passage_in("than fits into a single line of it.", document, "a.pdf"), Passage)


def test_what_stands_beside_a_note_is_none_of_it() -> None:
    """The second column begins behind the notes of the first one."""
    data = pdfs.typeset(f"#set page(columns: 2)\n{_FOOTNOTE} #colbreak() The price is EUR 800.")
    made = make(data)
    marked = [made.text[mark.start : mark.end] for mark in made.rendered.layout.marks]
    assert marked == ["¹", "¹Net of VAT."]
    assert made.text.endswith("The price is EUR 800.")
