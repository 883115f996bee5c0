"""What people have put onto a page of a PDF file beside its text: comments, lines through words, ticks in its boxes."""

from enum import Enum

from pypdfium2 import PdfDocument, PdfPage, raw

_MAX_LOOKED_AT = 300
"""On a page; of more it is said that there are comments."""
_DRAWN = {raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP}
"""They are read as part of the page, unless the file has no picture of them."""
_NOTHING = {raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_UNKNOWN}


class Aside(Enum):
    """As it is said of one page and of several."""

    STRUCK = (
        "has words that are struck out by a mark-up, which its text has as if they were not",
        "have words that are struck out by a mark-up, which their text has as if they were not",
    )
    COMMENT = (
        "has comments or other mark-up, which is not part of its text and was not read",
        "have comments or other mark-up, which is not part of their text and was not read",
    )
    TICKED = (
        "has boxes of a form that are ticked, which its text does not say",
        "have boxes of a form that are ticked, which their text does not say",
    )


def asides_of(document: PdfDocument, page: PdfPage) -> frozenset[Aside]:
    """Of a page as it was loaded: what is drawn into it is no mark-up any more."""
    found, count = set[Aside](), raw.FPDFPage_GetAnnotCount(page)
    if count > _MAX_LOOKED_AT:
        found.add(Aside.COMMENT)
    for at in range(min(count, _MAX_LOOKED_AT)):
        if annotation := raw.FPDFPage_GetAnnot(page, at):
            try:
                aside = _aside(document, annotation)
            finally:
                raw.FPDFPage_CloseAnnot(annotation)
            found |= {aside} if aside else set()
    return frozenset(found)


def _aside(document: PdfDocument, annotation: raw.FPDF_ANNOTATION) -> Aside | None:
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind in _NOTHING or raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN:
        return None
    if kind == raw.FPDF_ANNOT_WIDGET:
        is_ticked = document.formenv and raw.FPDFAnnot_IsChecked(document.formenv, annotation)
        return Aside.TICKED if is_ticked else None
    if kind == raw.FPDF_ANNOT_STRIKEOUT:
        return Aside.STRUCK
    return None if kind in _DRAWN and raw.FPDFAnnot_HasKey(annotation, b"AP") else Aside.COMMENT
