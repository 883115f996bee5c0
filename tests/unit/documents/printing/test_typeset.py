"""Reports as PDF: nothing stands beyond the margin of its page, and what is copied is what was written."""

from __future__ import annotations

from collections.abc import Iterator

import pypdfium2
import pytest

from runs.documents.printing import typeset
from runs.documents.printing.blocks import (
    REPORT,
    Block,
    Callout,
    CheckItem,
    CheckList,
    FactList,
    Heading,
    Items,
    Letterhead,
    Paragraph,
    Preformatted,
    PrintableReport,
    Quotation,
    ReportSection,
    SourceList,
    TableBlock,
    paragraph,
    spans,
)
from runs.documents.printing.blocks import CitedSource as Source

LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung" * 4
ADDRESS = "https://example.com/" + "documents/" * 12
MARGIN = 24 / 25.4 * 72


def pages(*found: Block, **more: object) -> pypdfium2.PdfDocument:
    main = (ReportSection("a", "Findings", found),)
    values = {"title": "Review", "about": "Report", "main": main, "foot": "The end.", **more}
    return pypdfium2.PdfDocument(typeset.pdf(REPORT.dump_json(PrintableReport(**values))))  # type: ignore[arg-type]


def right_edges(document: pypdfium2.PdfDocument) -> Iterator[float]:
    for page in document:
        text = page.get_textpage()
        yield from (page.get_width() - text.get_charbox(at)[2] for at in range(text.count_chars()))


@pytest.mark.parametrize(
    "block",
    [
        paragraph(LONG),
        Heading(2, spans(LONG)),
        Items(((paragraph(LONG),),)),
        Quotation((Quotation((paragraph(LONG),)),)),
        Preformatted(LONG),
        FactList((("Client", spans(LONG)),)),
        CheckList((CheckItem("met", "C1", spans(LONG), "by AI review", (paragraph(LONG),)),)),
        Callout("warn", LONG, (paragraph(LONG),)),
        SourceList((Source(1, ADDRESS, "0" * 64, spans(LONG)),)),
        TableBlock("Table", (spans("File"), spans(LONG)), ((spans(ADDRESS), spans("word " * 40)),)),
        TableBlock("Table", (spans("A"),) * 12, ((spans(LONG[:60]),) * 12,)),
        TableBlock("Table", (spans("Heading"),) * 30, ((spans("12,345.67"), spans("some words")) * 15,)),
    ],
    ids=lambda block: block.kind,
)
def test_the_longest_word_stays_on_the_page(block: Block) -> None:
    assert min(right_edges(pages(block))) > MARGIN - 2


def test_so_do_title_facts_and_letterhead() -> None:
    letterhead = Letterhead(LONG, "", ADDRESS)
    document = pages(paragraph("x"), title=LONG, facts=(("Client", LONG),), author=LONG, letterhead=letterhead)
    assert min(right_edges(document)) > MARGIN - 2


def test_a_broken_word_is_copied_as_it_was_written() -> None:
    text = pages(Paragraph(spans(LONG)))[0].get_textpage().get_text_bounded()
    assert LONG in text.replace("\r\n", "")


def test_the_author_is_named_in_the_file() -> None:
    assert pages(paragraph("x"), author="Ann Smith").get_metadata_value("Author") == "Ann Smith"
    assert pages(paragraph("x")).get_metadata_value("Author") == ""
