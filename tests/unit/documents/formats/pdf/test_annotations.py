"""What people put onto PDF pages beside their text: comments and struck words are read, and what is not is said."""

import pytest

from runs.documents.formats.pdf import annotations
from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.model.layout import BlockKind, Mark, MarkKind
from runs.documents.places.document import Document
from runs.documents.reading.building import BuiltDocument
from runs.evidence.passages import Passage, passage_in
from tests.documents import pdfs

_NOT_TOLD = (
    "Page 1 of 1 has a mark-up that strikes out words, and it could not be told which; its text has them as if they "
    "were not."
)
_TICKED = "Page 1 of 1 has boxes of a form that are ticked, which its text does not say."
_UNREAD = "Page 1 of 1 has comments that were not read, since they are too many, too long or made in another way."
_DRAWN = "Page 1 of 1 has mark-up without words, such as drawings or attached files, which was not read."
_LINES = pdfs.line("The fee is EUR 900.") + pdfs.line("It is due at once.", y=680)
_ON_EUR = "/QuadPoints[128 712 154 712 128 696 154 696]"


def annotated(*put_on: str, content: bytes = _LINES, more: str = "") -> bytes:
    listed = "".join(f"<</Type/Annot/Rect[72 690 200 712]/F 4{one}>>" for one in put_on)
    return pdfs.pages_of([content], page=f"/Annots[{listed}]{more}")


def comments(made: BuiltDocument) -> list[tuple[str, str]]:
    """Their anchors and what they say."""
    blocks = [block for block in made.rendered.layout.blocks if block.kind is BlockKind.COMMENT]
    return [(block.anchor, made.text[block.start : block.end]) for block in blocks]


def marks(made: BuiltDocument, kind: MarkKind) -> list[tuple[str, str]]:
    """Their words and notes."""
    found = (mark for mark in made.rendered.layout.marks if mark.kind is kind)
    return [(made.text[mark.start : mark.end], mark.note) for mark in found]


def test_words_under_a_line_are_struck_through() -> None:
    made = make(annotated(f"/Subtype/StrikeOut{_ON_EUR}/T(Ann)/M(D:20261103101112+01'00')"))
    assert made.rendered.notes == ()
    assert made.rendered.layout.marks == (Mark(MarkKind.STRUCK, 11, 14, by="Ann", on="2026-11-03"),)
    found = passage_in("EUR 900", Document(made.text, made.rendered.layout), "fee.pdf")
    assert isinstance(found, Passage)
    assert (found.remarks, found.doubts) == ("; struck through", "it is struck through in the document")


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_words_are_struck_through_on_pages_that_are_turned(degrees: int) -> None:
    made = make(annotated(f"/Subtype/StrikeOut{_ON_EUR}", more=f"/Rotate {degrees}"))
    assert marks(made, MarkKind.STRUCK) == [("EUR", "")]


def test_words_over_two_lines_are_struck_through_in_order() -> None:
    quads = "/QuadPoints[128 712 300 712 128 696 300 696 60 692 91 692 60 677 91 677]"
    assert marks(make(annotated(f"/Subtype/StrikeOut{quads}")), MarkKind.STRUCK) == [("EUR 900.\nIt is", "")]


@pytest.mark.parametrize(
    "quads",
    [
        "",
        "/QuadPoints 3",
        "/QuadPoints[1 2 3]",
        "/QuadPoints[400 712 461 712 400 696 461 696]",
        "/QuadPoints[(a)(b)(c)(d)(e)(f)(g)(h)]",
        "/QuadPoints[1e99 1e99 -1e99 1 1 1 1 1e99]",
    ],
)
def test_a_line_through_no_words_is_said(quads: str) -> None:
    made = make(annotated(f"/Subtype/StrikeOut{quads}"))
    assert (made.rendered.notes, marks(made, MarkKind.STRUCK)) == ((_NOT_TOLD,), [])


def test_lines_that_nobody_sees_strike_nothing_out() -> None:
    made = make(annotated(f"/Subtype/StrikeOut{_ON_EUR}/F 2"))
    assert (made.rendered.notes, made.rendered.layout.marks) == ((), ())


def test_comparing_ends_where_it_costs_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotations, "MAX_COMPARED", 60)
    made = make(annotated(*[f"/Subtype/StrikeOut{_ON_EUR}"] * 3))
    assert (made.rendered.notes, marks(made, MarkKind.STRUCK)) == ((_NOT_TOLD,), [("EUR", "")])


def test_comments_are_blocks_with_the_words_that_they_are_about() -> None:
    made = make(
        annotated(
            f"/Subtype/Highlight{_ON_EUR}/Contents(Plus VAT?\\rAsk Bob.)/T(Ann)/CreationDate(D:20261103)",
            "/Subtype/Text/Contents<FEFF00dc0062006500720020>/T(Bob)/Rect[30 676 50 690]",
        )
    )
    assert made.text == "The fee is EUR 900.\nIt is due at once.\n\fPlus VAT?\nAsk Bob.\n\fÜber"
    assert comments(made) == [("page=1.cm1", "Plus VAT?\nAsk Bob."), ("page=1.cm2", "Über")]
    assert [mark for mark in made.rendered.layout.marks if mark.kind is MarkKind.COMMENTED] == [
        Mark(MarkKind.COMMENTED, 11, 14, by="Ann", on="2026-11-03", note="page=1.cm1"),
        Mark(MarkKind.COMMENTED, 20, 38, by="Bob", note="page=1.cm2"),
    ]
    assert made.rendered.notes == ()


def test_a_quote_from_a_comment_is_known_as_one() -> None:
    made = make(annotated("/Subtype/Text/Contents(Never sign this for 900.)/T(Ann)"))
    found = passage_in("Never sign this", Document(made.text, made.rendered.layout), "fee.pdf")
    assert isinstance(found, Passage)
    assert (found.where.anchor, found.where.words) == ("page=1.cm1", "comment 1 on page 1")
    assert found.remarks == "; a comment by Ann, which is no text of the document itself"
    assert found.doubts == "a comment is no text of the document itself"


def test_hidden_comments_are_hidden() -> None:
    made = make(annotated("/Subtype/Text/Contents(Agree to all)/F 2", "/Subtype/Text/Contents(Or not)/F 32"))
    assert marks(made, MarkKind.HIDDEN) == [("Agree to all", ""), ("Or not", "")]


def test_words_of_a_popup_are_read_once() -> None:
    kids = ("/Subtype/Text/Contents(Sign)/Popup 7 0 R", "/Subtype/Popup/Contents(Sign)/Parent 6 0 R")
    lonely = ("/Subtype/Highlight/Popup 9 0 R", "/Subtype/Popup/Contents(Only here)/Parent 8 0 R")
    objects = [f"<</Type/Annot/Rect[72 690 200 712]/F 4{one}>>".encode() for one in (*kids, *lonely)]
    data = pdfs.file_of(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>"
            b"/Annots[6 0 R 7 0 R 8 0 R 9 0 R]>>",
            pdfs.stream(_LINES),
            pdfs.HELVETICA,
            *objects,
        ]
    )
    assert comments(make(data)) == [("page=1.cm1", "Sign"), ("page=1.cm2", "Only here")]


@pytest.mark.parametrize(
    ("flags", "text", "found"),
    [
        (4, "The fee is EUR 900.\nPaid in May.", []),
        (2, "The fee is EUR 900.\n\fPaid in May.", [("page=1.cm1", "Paid in May.")]),
    ],
)
def test_words_drawn_onto_the_page_are_its_text(flags: int, text: str, found: list[tuple[str, str]]) -> None:
    look = pdfs.stream(
        pdfs.line("Paid in May.", x=0, y=5),
        b"/Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources<</Font<</F 5 0 R>>>>",
    )
    note = f"<</Type/Annot/Subtype/FreeText/Rect[72 600 272 620]/F {flags}/Contents(Paid in May.)/AP<</N 7 0 R>>>>"
    data = pdfs.file_of(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>"
            b"/Annots[6 0 R]>>",
            pdfs.stream(pdfs.line("The fee is EUR 900.")),
            pdfs.HELVETICA,
            note.encode(),
            look,
        ]
    )
    made = make(data)
    assert (made.text, comments(made)) == (text, found)


@pytest.mark.slow
def test_on_a_page_without_text_a_comment_has_its_author() -> None:
    page = pdfs.pages_of([b""], page="/Annots[<</Type/Annot/Subtype/Text/Rect[1 1 9 9]/Contents(Empty?)/T(Ann)>>]")
    made = make(pdfs.joined(page, pdfs.pages_of([_LINES])))
    block = made.rendered.layout.blocks[-1]
    assert (block.anchor, block.label, marks(made, MarkKind.COMMENTED)) == ("page=1.cm1", "Ann", [])


@pytest.mark.parametrize(
    ("put_on", "notes"),
    [
        (("/Subtype/Ink",), (_DRAWN,)),
        (("/Subtype/FileAttachment",), (_DRAWN,)),
        (("/Subtype/Text/RC(<p>Sign</p>)",), (_UNREAD,)),
        ((f"/Subtype/Text/Contents({'x' * 10_001})",), (_UNREAD,)),
        (("/Subtype/Ink", "/Subtype/StrikeOut"), (_NOT_TOLD, _DRAWN)),
        (("/Subtype/Link/A<</S/URI/URI(http://example.com)>>", "/Subtype/Popup", "/Subtype/Highlight"), ()),
    ],
)
def test_what_is_not_read_is_said(put_on: tuple[str, ...], notes: tuple[str, ...]) -> None:
    made = make(annotated(*put_on))
    assert (comments(made), made.rendered.notes) == ([], notes)


def test_of_many_not_each_is_looked_at() -> None:
    assert make(annotated(*["/Subtype/Link"] * 400)).rendered.notes == (_UNREAD,)


def test_of_a_file_not_more_than_so_many_annotations_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotations, "MAX_ANNOTATIONS", 2)
    made = make(annotated(*["/Subtype/Text/Contents(x)"] * 3))
    assert (len(comments(made)), made.rendered.notes) == (2, (_UNREAD,))


def test_of_a_file_not_more_than_so_many_comments_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotations, "MAX_COMMENTS", 2)
    made = make(annotated(*["/Subtype/Text/Contents(x)"] * 3))
    assert (len(comments(made)), made.rendered.notes) == (2, (_UNREAD,))


@pytest.mark.parametrize(("state", "notes"), [("Yes", (_TICKED,)), ("Off", ())])
def test_ticked_boxes_are_said(state: str, notes: tuple[str, ...]) -> None:
    box = f"/FT/Btn/T(agreed)/V/{state}/AS/{state}/AP<</N<</Yes 7 0 R/Off 7 0 R>>>>/Rect[72 600 84 612]/F 4"
    data = pdfs.file_of(
        [
            b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R]>>>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Annots[6 0 R]"
            b"/Resources<</Font<</F 5 0 R>>>>>>",
            pdfs.stream(pdfs.line("Agreed:", y=600)),
            pdfs.HELVETICA,
            f"<</Type/Annot/Subtype/Widget{box}>>".encode(),
            pdfs.stream(b"0 0 12 12 re S", b"/Type/XObject/Subtype/Form/BBox[0 0 12 12]"),
        ]
    )
    assert make(data).rendered.notes == notes
