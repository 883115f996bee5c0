"""The samples that ship are what their maker makes, and hold what they are to show."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.formats.pdf import pdf_reader as pdf
from runs.documents.model.layout import MarkKind
from runs.documents.places.document import Document
from tests.documents import samples

SERVICE, PROCESSING = "Service agreement.docx", "data-processing-agreement.pdf"


@pytest.mark.parametrize(("name", "read"), [(SERVICE, docx.read), (PROCESSING, pdf.read)])
def test_they_read_as_what_is_made_of_their_sources(name: str, read: Callable[[bytes], bytes]) -> None:
    assert read((samples.SHIPPED / name).read_bytes()) == read(samples.documents()[name])


def test_the_word_file_is_made_of_the_same_bytes_everywhere() -> None:
    assert (samples.SHIPPED / SERVICE).read_bytes() == samples.documents()[SERVICE]


def test_the_word_file_has_numbers_that_are_not_in_its_text_changes_and_a_comment() -> None:
    made = docx.make((samples.SHIPPED / SERVICE).read_bytes())
    document = Document(made.text, made.rendered.layout)
    (clause,) = document.clauses("4.3")
    assert made.text[clause.start : clause.end].startswith("The Supplier may adjust")
    inserted = document.marks_on(0, len(made.text), MarkKind.INSERTED)
    assert [(made.text[one.start : one.end], one.by) for one in inserted] == [
        ("20", "Kerstin Albers"),
        ("30", "Imran Pryce"),
    ]
    assert [(one.text, one.by) for one in document.layout.deletions] == [
        ("10", "Kerstin Albers"),
        ("14", "Imran Pryce"),
    ]
    (about,) = document.marks_on(0, len(made.text), MarkKind.COMMENTED)
    assert (made.text[about.start : about.end], about.by) == (
        "the market standard for comparable services",
        "Imran Pryce",
    )


def test_the_pdf_file_has_two_columns_on_two_pages() -> None:
    made = pdf.make((samples.SHIPPED / PROCESSING).read_bytes())
    assert (made.rendered.layout.units, made.rendered.notes) == (2, ())
    clauses = [
        " ".join(made.text.split()).index(f" {number} ") for number in ("1.1", "4.3", "5.1", "8.1", "8.2", "11.3")
    ]
    assert all(one < other for one, other in pairwise(clauses))
