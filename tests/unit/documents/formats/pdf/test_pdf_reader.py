"""The text of PDF files: quotes are found in it, pages have names, and what cannot be read is said."""

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from PIL import Image

from runs import isolation
from runs.documents.document_format import OF_PICTURES
from runs.documents.formats.image import image_reader as reader
from runs.documents.formats.pdf import drawing, ink
from runs.documents.formats.pdf import pdf_reader as pdf_reader
from runs.documents.formats.pdf.pdf_reader import _Ocr, make
from runs.documents.model.layout import MarkKind, Rendered
from runs.documents.packed_parts import unpacked
from runs.documents.places.document import Document
from runs.documents.reading import building
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from runs.text.normalisation import folded
from tests.documents import pdfs
from tests.documents.pictures import page as printed
from tests.documents.pictures import saved
from tests.documents.quotes import look_up, without_running

_PRINTED = ["The Supplier shall deliver the goods", "within 30 days of the order."]
_SCAN = saved(printed(_PRINTED), "PDF")


class Clock:
    """Time passes only where a test says so."""

    now = 0.0

    def process_time(self) -> float:
        return self.now


def marked(made: BuiltDocument, kind: MarkKind) -> list[str]:
    return [made.text[mark.start : mark.end] for mark in made.rendered.layout.marks if mark.kind is kind]


@pytest.mark.slow
def test_quotes_are_found_in_two_columns_with_divided_words() -> None:
    words = pdfs.words(6_000)
    made = make(pdfs.two_columns(words))
    found = look_up(words, made.text, 1_000)
    assert (found.equal, found.share >= 0.97) == (len(found.spans), True)  # a header or footer is in the others
    assert look_up(words, without_running(made), 1_000).share == 1
    lines = {line.rstrip("0123456789") for line in marked(made, MarkKind.RUNNING)}
    assert lines == {"Master Services Agreement", "Page "}


@pytest.mark.slow
def test_quotes_are_found_over_the_end_of_a_page_and_of_a_divided_word() -> None:
    words = pdfs.words(20_000)
    made = make(pdfs.word_by_word(words))
    found = look_up(words, made.text, 1_000)
    assert (found.share, found.equal) == (1, 1_000)
    slices = [made.text[slice(*span)] for span in found.spans]
    assert sum("\f" in one for one in slices) > 10
    assert sum("-\n" in one for one in slices) > 50


@pytest.mark.parametrize("letters", ["fi fl", "ﬁ ﬂ"])
def test_ligatures_are_their_letters(letters: str) -> None:
    """One glyph for two letters, which the font says to be two letters or one."""
    first, second = (part.encode("utf-16-be").hex() for part in letters.split())
    cmap = f"1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfchar <01> <{first}> <02> <{second}> endbfchar"
    font = pdfs.HELVETICA.replace(b"/Encoding/WinAnsiEncoding>>", b"/ToUnicode 6 0 R/Encoding 7 0 R>>")
    encoding = b"<</Type/Encoding/BaseEncoding/WinAnsiEncoding/Differences[1/fi/fl]>>"
    content = b"BT /F 12 Tf 72 700 Td (an af\\001davit of\\002uent of\\001ce) Tj ET"
    text = make(pdfs.one_page(content, font, pdfs.stream(cmap.encode()), encoding)).text
    assert folded(text) == "anaffidavitoffluentoffice"


@pytest.mark.slow
def test_four_times_the_pages_take_four_times_the_work() -> None:
    """Counted in calls, of pdfium too: seconds differ from machine to machine."""
    few, many = (_calls(pdfs.two_columns(pdfs.words(size))) for size in (4_000, 16_000))
    assert many < 1.1 * 4 * few


def _calls(data: bytes) -> int:
    """How many functions are called to read a file."""
    calls, watch, tool = itertools.count(), sys.monitoring, sys.monitoring.PROFILER_ID
    watch.use_tool_id(tool, __name__)
    watch.register_callback(tool, watch.events.CALL, lambda *_: next(calls))
    watch.set_events(tool, watch.events.CALL)
    try:
        make(data)
    finally:
        watch.set_events(tool, watch.events.NO_EVENTS)
        watch.free_tool_id(tool)
    return next(calls)


@pytest.mark.parametrize("degrees", [90, 180, 270])
@pytest.mark.parametrize("maker", [pdfs.two_columns, pdfs.word_by_word])
def test_a_page_that_is_turned_reads_the_same(maker: Callable[[Sequence[str]], bytes], degrees: int) -> None:
    data = maker(pdfs.words(2_000))
    assert make(pdfs.rotated(data, degrees)).text == make(data).text


@pytest.mark.parametrize("page", ["", "/Rotate 90", "/Rotate 180", "/Rotate 270"])
def test_text_that_goes_upwards_is_read_line_by_line(page: str) -> None:
    content = b"0 1 -1 0 900 0 cm " + pdfs.line("The parties agree.", y=700) + pdfs.line("They sign.", y=680)
    assert make(pdfs.pages_of([content], box="0 0 900 500", page=page)).text == "The parties agree.\nThey sign."


def test_a_divided_word_is_in_two_lines() -> None:
    content = pdfs.line("The par-", y=700) + pdfs.line("ties agree.", y=685)
    assert make(pdfs.pages_of([content])).text == "The par-\nties agree."


def test_each_page_is_a_block_and_has_the_name_that_the_document_gives_it() -> None:
    contents = [pdfs.line(f"Words of page {name}.") for name in ("one", "two", "three")]
    labels = "/PageLabels<</Nums[0<</S/r>> 2<</S/D/St 1>>]>>"
    made = make(pdfs.pages_of(contents, catalog=labels))
    layout = made.rendered.layout
    assert made.text == "Words of page one.\n\fWords of page two.\n\fWords of page three."
    assert [(block.anchor, block.label) for block in layout.blocks] == [
        ("page=1", "i"),
        ("page=2", "ii"),
        ("page=3", "1"),
    ]
    assert (layout.format, layout.unit, layout.units) == ("pdf", "page", 3)
    assert Document(made.text, layout).place_name(20, 30).words == "page 2 (“ii”)"


def test_numbers_that_are_the_labels_are_none() -> None:
    layout = make(pdfs.pages_of([pdfs.line("One."), pdfs.line("Two.")])).rendered.layout
    assert [block.label for block in layout.blocks] == ["", ""]


def test_characters_outside_the_first_plane_and_letters_without_a_name_keep_the_places() -> None:
    cmap = b"1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfchar <41> <D835DD4F> <42> <0001> endbfchar"
    content = b"BT /F 12 Tf 72 700 Td (ABzzz) Tj ET"
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>"
    made = make(pdfs.one_page(content, font, pdfs.stream(cmap)))
    assert made.text == "𝕏\ufffdzzz"


def test_what_was_filled_into_a_form_and_put_onto_a_page_is_read() -> None:
    assert make(pdfs.filled_form("Jane Doe")).text.split("\n") == ["Tenant:", "Jane Doe"]


def test_a_process_sends_what_was_made() -> None:
    data = pdfs.pages_of([pdfs.line("Hello.")])
    header, text = unpacked(isolation.run("runs.documents.formats.pdf.pdf_reader.read", data))
    assert (Rendered.model_validate_json(header), text.decode()) == (make(data).rendered, "Hello.")


@pytest.mark.slow
def test_pages_without_text_are_read_by_ocr() -> None:
    made = make(pdfs.joined(pdfs.pages_of([pdfs.line("Annex")]), _SCAN))
    assert made.text == "Annex\n\fThe Supplier shall deliver the goods\nwithin 30 days of the order."
    assert [box.page for box in made.rendered.layout.boxes] == [2] * 12
    assert marked(made, MarkKind.READ) == made.text.split("\f")[1].split("\n")
    assert made.rendered.notes == ()


@pytest.mark.slow
def test_a_scan_with_a_stamp_is_read_by_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pdfs.over_picture(pdfs.line("ABC-0001", y=20), printed(_PRINTED, width=1_224, height=1_584))
    assert make(data).text == "\n".join([*_PRINTED, "ABC-0001"])
    monkeypatch.setattr(reader, "tesserocr", None)
    made = make(data)
    assert (made.text, made.rendered.notes) == ("ABC-0001", ("Page 1 of 1 is a picture with hardly any text.",))


def test_a_title_on_a_picture_is_its_own_text() -> None:
    made = make(pdfs.over_picture(pdfs.line("The plan", size=40), Image.new("L", (1_224, 1_584), 200)))
    assert (made.text, made.rendered.notes, made.rendered.layout.boxes) == ("The plan", (), ())


def test_letters_without_a_name_are_read_by_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pdfs.nameless("Delivered within 30 days")
    assert make(data).text == "Delivered within 30 days"
    monkeypatch.setattr(reader, "tesserocr", None)
    made = make(pdfs.joined(data, data))
    assert made.rendered.notes == ("Pages 1 and 2 of 2 have fonts that do not say which letters they have.",)


def test_files_inside_are_said() -> None:
    assert make(pdfs.with_files(pdfs.pages_of([pdfs.line("Annex")]), 2)).rendered.notes == (
        "It has 2 files attached inside, which were not read.",
    )


def test_labels_that_are_none_are_left_out() -> None:
    labels = f"/PageLabels<</Nums[0<</P({'x' * 100_000})>>]>>"
    layout = make(pdfs.pages_of([pdfs.line("One.")] * 100, catalog=labels)).rendered.layout
    assert {block.label for block in layout.blocks} == {""}


def test_without_ocr_pages_that_are_pictures_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "tesserocr", None)
    text, empty = pdfs.pages_of([pdfs.line("Annex")]), pdfs.pages_of([b""])
    made = make(pdfs.joined(text, _SCAN, _SCAN, _SCAN, empty, text, _SCAN))
    assert made.rendered.notes == ("Pages 2 to 4 and 7 of 7 are pictures without text.",)
    assert make(pdfs.joined(text, _SCAN)).rendered.notes == ("Page 2 of 2 is a picture without text.",)


@pytest.mark.slow
def test_only_so_many_pages_are_read_by_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PAGES", 1)
    made = make(pdfs.joined(_SCAN, _SCAN, _SCAN))
    assert made.text.strip() == "\n".join(_PRINTED)
    assert made.rendered.notes == ("Pages 2 and 3 of 3 were not read, since OCR takes too long; split the file.",)


def test_ocr_ends_before_its_process_does_and_what_was_read_is_kept() -> None:
    limits = replace(OF_PICTURES, seconds=reader.MIN_SECONDS_LEFT)
    data = pdfs.joined(pdfs.pages_of([pdfs.line("Annex")]), _SCAN)
    header, text = unpacked(isolation.run("runs.documents.formats.pdf.pdf_reader.read", data, limits))
    notes = Rendered.model_validate_json(header).notes
    assert text.decode().strip() == "Annex"
    assert notes == ("Page 2 of 2 was not read, since OCR takes too long; split the file.",)
    with pytest.raises(InvalidInput, match=r"^is a scan that takes OCR too long; split it$"):
        isolation.run("runs.documents.formats.pdf.pdf_reader.read", _SCAN, limits)


def test_a_scan_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "tesserocr", None)
    with pytest.raises(InvalidInput) as error:
        make(_SCAN)
    assert str(error.value) == (
        "is a scan: its pages are pictures without text; they are read when OCR is installed (uv sync --extra ocr)"
    )


def test_a_page_that_cannot_be_loaded_is_said() -> None:
    data = pdfs.pages_of([pdfs.line("One."), pdfs.line("Two."), pdfs.line("Three.")])
    made = make(data.replace(b"6 0 obj\n<</Type/Page", b"6 0 obj\n<</Type/Pagx"))
    assert made.text == "One.\n\f\n\fThree."
    assert made.rendered.notes == ("Page 2 of 3 could not be read.",)


def test_pages_whose_text_was_not_looked_at_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ink, "MAX_SECONDS", 0)
    made = make(pdfs.pages_of([pdfs.line("One."), b"", pdfs.line("Two.")]))
    assert made.text == "One.\n\f\n\fTwo."
    assert made.rendered.notes == (
        "Pages 1 and 3 of 3 could not be checked for hidden text, since that took too long.",
    )


@pytest.mark.parametrize("more", ["1 1 1 rg", "0.95 g", "3 Tr", "7 Tr"])
def test_pages_with_signs_of_hiding_that_were_not_looked_at_prove_nothing(
    monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    monkeypatch.setattr(ink, "MAX_SECONDS", 0)
    made = make(pdfs.pages_of([pdfs.line("One."), pdfs.line("Two.") + pdfs.line("Three.", x=200, more=more)]))
    marks = [(mark.kind, made.text[mark.start : mark.end]) for mark in made.rendered.layout.marks]
    assert marks == [(MarkKind.UNSEEN, "Two. Three.")]
    assert made.rendered.notes == (
        "Page 1 of 2 could not be checked for hidden text, since that took too long.",
        "Page 2 of 2 has invisible or white text and could not be checked for hidden text, "
        "since that took too long; nothing on it counts as seen.",
    )


def test_the_time_that_ocr_takes_is_not_that_of_the_look_at_hidden_text(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()

    def lines(*_: object) -> tuple[()]:
        clock.now += 1
        return ()

    monkeypatch.setattr(building, "time", clock)
    monkeypatch.setattr(_Ocr, "lines", lines)
    monkeypatch.setattr(ink, "MAX_SECONDS", 0.9)
    made = make(pdfs.joined(_SCAN, pdfs.pages_of([pdfs.line("Seen.") + pdfs.line("Not seen.", y=600, more="1 g")])))
    assert [made.text[mark.start : mark.end] for mark in made.rendered.layout.marks] == ["Not seen."]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is damaged, or no PDF file; open it and save it again"),
        (b"hello" * 100, "is damaged, or no PDF file; open it and save it again"),
        (pdfs.locked(pdfs.pages_of([pdfs.line("Hello.")])), "needs a password; save it without one"),
        (pdfs.pages_of([b"", b""]), "has no text in it"),
    ],
    ids=["empty", "other", "password", "blank"],
)
def test_what_cannot_be_read_is_said(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput) as error:
        make(data)
    assert str(error.value) == problem


def test_pages_are_counted_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MAX_PAGES", 1)
    with pytest.raises(InvalidInput) as error:
        make(pdfs.pages_of([pdfs.line("One."), pdfs.line("Two.")]))
    assert str(error.value) == "has more than 1 pages; split it"


def test_the_text_is_bounded_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "MAX_CHARACTERS", 5)
    with pytest.raises(InvalidInput) as error:
        make(pdfs.pages_of([pdfs.line("One."), pdfs.line("Two.")]))
    assert str(error.value) == "has more than 5 characters of text; split it"
