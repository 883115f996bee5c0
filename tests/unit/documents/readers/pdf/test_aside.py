"""What people put onto PDF pages beside their text is said, since it is not read."""

import pytest

from runs.documents.readers.pdf.reading import make
from tests.documents import pdfs

_STRUCK = "Page 1 of 1 has words that are struck out by a mark-up, which its text has as if they were not."
_TICKED = "Page 1 of 1 has boxes of a form that are ticked, which its text does not say."
_COMMENT = "Page 1 of 1 has comments or other mark-up, which is not part of its text and was not read."


def annotated(*annotations: str) -> bytes:
    listed = "".join(f"<</Type/Annot/Rect[72 690 200 712]/F 4{one}>>" for one in annotations)
    return pdfs.pages_of([pdfs.line("The fee is EUR 900.")], page=f"/Annots[{listed}]")


@pytest.mark.parametrize(
    ("annotations", "notes"),
    [
        (("/Subtype/StrikeOut/QuadPoints[72 712 200 712 72 690 200 690]",), (_STRUCK,)),
        (("/Subtype/Text/Contents(Do not sign)",), (_COMMENT,)),
        (("/Subtype/FreeText/Contents(STRUCK: the fee is EUR 2,000)/DA(/F 12 Tf)",), (_COMMENT,)),
        (("/Subtype/Ink", "/Subtype/StrikeOut"), (_STRUCK, _COMMENT)),
        (("/Subtype/Link/A<</S/URI/URI(http://example.com)>>", "/Subtype/Popup"), ()),
        (("/Subtype/Text/Contents(Do not sign)/F 2",), ()),
    ],
)
def test_mark_up_is_said(annotations: tuple[str, ...], notes: tuple[str, ...]) -> None:
    made = make(annotated(*annotations))
    assert (made.text, made.rendered.notes) == ("The fee is EUR 900.", notes)


def test_of_many_not_each_is_looked_at() -> None:
    assert make(annotated(*["/Subtype/Link"] * 400)).rendered.notes == (_COMMENT,)


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
