"""Pages whose text is plain are not drawn to see that nothing hides it, and of others only some lines are looked at."""

from collections.abc import Sequence
from typing import Any

import pytest
from pypdfium2 import PdfPage

from runs.documents.formats.pdf import ink
from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.model.layout import MarkKind
from tests.documents import pdfs
from tests.documents.pdfs import line

_HIDDEN = "Liability is capped at EUR 100."
_LINES = [line("The Supplier is liable without limit.", y=740 - 16 * at) for at in range(40)]
_PLAIN = b"".join(_LINES) + line(_HIDDEN, y=60)
_OFF = b"/OCProperties<</OCGs[6 0 R]/D<</OFF[6 0 R]>>>>"
_LAYER = b"<</Type/OCG/Name(x)>>"
_WHITE = b"/Function<</FunctionType 2/Domain[0 1]/C0[1]/C1[1]/N 1>>"
_SHADING = b"<</ShadingType 2/ColorSpace/DeviceGray/Coords[0 0 612 0]/Extend[true true]" + _WHITE + b">>"
_MASK = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Group<</S/Transparency/CS/DeviceGray>>"
_FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F 5 0 R>>>>"
_TILES = b"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9/Resources<<>>"


def _hidden(more: str = "", **where: Any) -> bytes:
    return line(_HIDDEN, y=where.pop("y", 60), more=more, **where)


def _file(content: bytes, resources: bytes = b"", *objects: bytes, catalog: bytes = b"", page: bytes = b"") -> bytes:
    """A page that shows all its text, and one with this content; `objects` are from 6 on."""
    entries = b"/MediaBox[0 0 612 792]/Parent 2 0 R/Type/Page/Resources<</Font<</F 5 0 R>>" + resources + b">>"
    last = 6 + len(objects)
    return pdfs.file_of(
        [
            b"<</Type/Catalog/Pages 2 0 R" + catalog + b">>",
            b"<</Type/Pages/Kids[%d 0 R 3 0 R]/Count 2>>" % (last + 1),
            b"<<" + entries + page + b"/Contents 4 0 R>>",
            pdfs.stream(content + b"\n" + _LINES[0] + _LINES[1]),
            pdfs.HELVETICA,
            *objects,
            pdfs.stream(_PLAIN),
            b"<<" + entries + b"/Contents %d 0 R>>" % last,
        ]
    )


def _unseen(data: bytes) -> list[str]:
    made = make(data)
    return [made.text[one.start : one.end] for one in made.rendered.layout.marks if one.kind is MarkKind.UNSEEN]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many pictures of pages were drawn, and how many lines were looked at."""
    counts = {"pictures": 0, "lines": 0}
    render, is_clear = PdfPage.render, ink._PartCheck._is_clear

    def rendered(*arguments: Any, **options: Any) -> Any:
        counts["pictures"] += 1
        return render(*arguments, **options)

    def looked(*arguments: Any) -> bool:
        counts["lines"] += 1
        return is_clear(*arguments)

    monkeypatch.setattr(PdfPage, "render", rendered)
    monkeypatch.setattr(ink._PartCheck, "_is_clear", looked)
    return counts


@pytest.mark.parametrize(
    "content",
    [
        _PLAIN,
        _PLAIN + b"q 1 g 400 20 100 20 re f Q",
        b"1 g 0 0 612 792 re f 0 g " + _PLAIN,
        b"q 0 0 612 792 re W n 50 50 500 730 re W n " + _PLAIN + b" Q",
        b"/P <</MCID 0>> BDC " + _PLAIN + b" EMC",
        _PLAIN + b"q 0 0 1 RG 50 50 m 560 50 l S 50 755 m 560 755 l S Q",
    ],
    ids=["plain", "box elsewhere", "white ground", "clipped to the page", "tagged", "ruled"],
)
def test_pages_with_plain_text_are_looked_at_once_in_a_file(work: dict[str, int], content: bytes) -> None:
    """A pattern may be said to be black, and a letter of a font of the file may be empty: the first page shows it."""
    assert _unseen(pdfs.pages_of([_PLAIN, *[content] * 30])) == []
    assert work == {"pictures": 1, "lines": 41}


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (_PLAIN + b"q 1 g 300 55 150 14 re f Q", 0),
        (_PLAIN + b"q 1 g 100 55 150 14 re f Q", 1),
        (_PLAIN + b"q 50 57 400 0.5 re f Q", 1),
        (b"q 0.95 g 60 50 400 40 re f Q " + _PLAIN, 0),
        (b"q 0.5 g 60 50 400 40 re f Q " + _PLAIN, 1),
        (b"".join(_LINES) + _hidden("0.7 g"), 1),
        (b"".join(_LINES) + _hidden("0 0 500 100 re W n"), 0),
        (b"".join(_LINES) + _hidden("0 0 600 1 re W n"), 1),
    ],
    ids=["beside", "over", "underlined", "light ground", "darker ground", "grey", "clip around it", "clip"],
)
def test_only_lines_that_may_be_hidden_are_looked_at(work: dict[str, int], content: bytes, lines: int) -> None:
    make(pdfs.pages_of([_PLAIN, content]))
    assert (work["pictures"] > 1, work["lines"] - 41) == (lines > 0, lines)


_HUGE = b"BT /F 120 Tf 0.7 0.7 -0.7 0.7 150 100 Tm (DRAFT) Tj ET Q "
_FAINT = b"/ExtGState<</X<</ca 0.25>>/Y<</ca 0.25/BM/Difference>>/Z<</ca 0.6>>>>"


@pytest.mark.parametrize(
    ("under", "over", "looked_at"),
    [
        (b"q 0.8 g " + _HUGE, b"", "few"),
        (b"", b"q /X gs " + _HUGE, "few"),
        (b"", b"q /Y gs " + _HUGE, "few"),
        (b"q /X gs " + _HUGE, b"", "few"),
        (b"q /X gs " + _HUGE, b"q /X gs " + _HUGE, "many"),
        (b"", b"q 0.8 g " + _HUGE, "many"),
        (b"", b"q /Z gs " + _HUGE, "many"),
        (b"q 0.1 g " + _HUGE, b"", "many"),
        (b"q 0.8 g /Y gs 1 Tr " + _HUGE, b"", "many"),
    ],
    ids=[
        "light beneath",
        "faint on top",
        "faint, blended",
        "faint beneath",
        "two faint",
        "light on top",
        "transparent",
        "dark beneath",
        "outlined",
    ],
)
def test_lines_are_looked_at_only_where_a_watermark_may_hide_them(
    work: dict[str, int], under: bytes, over: bytes, looked_at: str
) -> None:
    assert _unseen(_file(under + b"".join(_LINES[2:]) + over, _FAINT)) == []
    lines = work["lines"]
    work["lines"] = 0
    make(_file(b"".join(_LINES[2:]), _FAINT))
    few = lines - work["lines"] <= len("DRAFT") + 1
    assert few is (looked_at == "few")


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 10])
def test_lines_are_looked_at_where_something_is_over_them(work: dict[str, int], count: int) -> None:
    """In files that have it on each page, too, from the second page on."""
    stamped = _PLAIN + b"q 1 g 100 55 150 14 re f Q " + line("ABC-000001", x=110, y=60)
    assert len(_unseen(pdfs.pages_of([*[_PLAIN] * count, *[stamped] * 3, *[_PLAIN] * count]))) == 3
    assert work["lines"] == 41 + 3 - (not count)


def test_a_page_with_another_letter_of_a_font_of_the_file_is_looked_at(work: dict[str, int]) -> None:
    pages = [
        "Liable without limit",
        "without limit",
        "Liable",
        "Liable without a limit",
        "Capped",
        "Capped without limit",
    ]
    assert _unseen(pdfs.typeset("\n#pagebreak()\n".join(pages))) == []
    assert work == {"pictures": 2, "lines": 2}


@pytest.mark.parametrize(
    "data",
    [
        _file(_hidden("1 g")),
        _file(_hidden("0.98 0.99 1 rg")),
        _file(_hidden("0 0 0 0 k")),
        _file(_hidden("/S cs 1 scn"), b"/ColorSpace<</S[/Indexed/DeviceGray 1<00FF>]>>"),
        _file(_hidden("3 Tr")),
        _file(_hidden("/X gs"), b"/ExtGState<</X<</ca 0.02>>>>"),
        _file(
            _hidden("/X gs"),
            b"/ExtGState<</X<</SMask<</S/Luminosity/G 6 0 R>>>>>>",
            pdfs.stream(b"0 g 0 0 612 792 re f", _MASK),
        ),
        _file(_hidden("/Pattern cs /P scn"), b"/Pattern<</P 6 0 R>>", pdfs.stream(b"1 g 0 0 9 9 re f", _TILES)),
        _file(_hidden("/Pattern cs /P scn"), b"/Pattern<</P 6 0 R>>", b"<</PatternType 2/Shading " + _SHADING + b">>"),
        _file(b"/OC /L BDC " + _hidden() + b" EMC", b"/Properties<</L 6 0 R>>", _LAYER, catalog=_OFF),
        _file(b"/P BMC /OC /L BDC " + _hidden() + b" EMC EMC", b"/Properties<</L 6 0 R>>", _LAYER, catalog=_OFF),
        _file(_hidden("0 0 10 10 re W n")),
        _file(_hidden("0 0 600 100 re W n 0 0 10 10 re W n")),
        _file(_hidden("0 0 600 100 re 0 0 600 100 re W* n")),
        _file(b"q 0.7 0.7 -0.7 0.7 300 500 cm 0 0 20 20 re W n 0.7 -0.7 0.7 0.7 0 0 cm " + _hidden() + b"Q "),
        _file(_hidden(size=0.4)),
        _file(b"BT /F 12 Tf 0 .05 -.05 0 72 60 Tm (" + _HIDDEN.encode() + b") Tj ET "),
        _file(_hidden(x=-400)),
        _file(_hidden(y=900)),
        _file(_hidden(x=450), page=b"/CropBox[0 0 440 792]"),
        _file(b"0 g 60 50 400 25 re f " + _hidden()),
        _file(b"1 g 0 0 612 792 re f 0 g 60 50 400 25 re f " + _hidden()),
        _file(_hidden() + b"q 1 g 60 50 400 25 re f Q "),
        _file(_hidden() + b"q 1 G 30 w 60 64 m 460 64 l S Q "),
        _file(_hidden() + b"q 500 0 0 30 60 52 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \xff EI Q "),
        _file(_hidden() + b"q 60 50 400 25 re W n /S sh Q ", b"/Shading<</S 6 0 R>>", _SHADING),
        _file(b"/X Do ", b"/XObject<</X 6 0 R>>", pdfs.stream(_hidden("1 g"), _FORM)),
        _file(b"/X Do ", b"/XObject<</X 6 0 R>>", pdfs.stream(_hidden(), _FORM.replace(b"612 792", b"10 10"))),
        _file(_hidden() + b"/X Do ", b"/XObject<</X 6 0 R>>", pdfs.stream(b"1 g 60 50 400 25 re f", _FORM)),
        _file(b"".join(b"%d 300 m %d 300 l S " % (at, at + 1) for at in range(600)) + _hidden("3 Tr")),
    ],
    ids=[
        "white",
        "nearly white",
        "white ink",
        "white of a palette",
        "no ink",
        "transparent",
        "masked",
        "white pattern",
        "white shading",
        "switched off",
        "switched off within a tag",
        "clip",
        "clip in a clip",
        "clip of nothing",
        "turned clip",
        "tiny",
        "tiny and upwards",
        "left",
        "up",
        "cut off",
        "dark ground",
        "dark box on white ground",
        "box",
        "line",
        "picture",
        "shading",
        "white in a group",
        "clip of a group",
        "under a group",
        "drawing",
    ],
)
def test_hidden_text_is_marked_behind_a_page_that_shows_all_of_its(data: bytes) -> None:
    assert [one.strip() for one in _unseen(data)] == [_HIDDEN]


@pytest.mark.parametrize("looks", [b"", b" 1 g 0 0 700 700 re f"], ids=["empty", "white"])
@pytest.mark.parametrize("pages", [(b"aaa", b"aaabbb"), (b"aaabbb", b"aaabbb")])
def test_letters_that_draw_nothing_are_marked_on_each_page(pages: Sequence[bytes], looks: bytes) -> None:
    font = (
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[0.001 0 0 0.001 0 0]/FirstChar 97/LastChar 98"
        b"/CharProcs<</a 6 0 R/b 7 0 R>>/Encoding<</Type/Encoding/Differences[97/a/b]>>/Widths[800 800]"
        b"/ToUnicode 8 0 R>>"
    )
    names = b"1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfchar <61> <0061> <62> <0062> endbfchar"
    glyphs = pdfs.stream(b"800 0 d0 0 0 700 700 re f"), pdfs.stream(b"800 0 d0" + looks), pdfs.stream(names)
    files = [pdfs.one_page(b"BT /F 20 Tf 72 620 Td (%s) Tj ET" % text, font, *glyphs) for text in pages]
    assert "".join(_unseen(pdfs.joined(*files))) == "b" * b"".join(pages).count(b"b")
