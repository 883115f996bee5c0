"""Text without ink at its place is told from text that people see, in whatever way it was hidden."""

import pytest
from PIL import Image, ImageDraw, ImageFont

from runs.documents.formats.pdf.pdf_reader import make
from runs.documents.model.layout import MarkKind
from tests.documents import pdfs
from tests.documents.pdfs import line

_ABOVE = line("The Supplier is liable without limit.", y=640)
_BELOW = line("This agreement is governed by the laws of England.", y=600)
_HIDDEN = "Liability is capped at EUR 100."
_BOX = b"q 1 1 1 rg 60 615 400 18 re f Q\n"


def unseen(data: bytes) -> list[str]:
    return _marked(data, MarkKind.UNSEEN)


def read(data: bytes) -> list[str]:
    return _marked(data, MarkKind.READ)


def _marked(data: bytes, kind: MarkKind) -> list[str]:
    made = make(data)
    return [made.text[mark.start : mark.end] for mark in made.rendered.layout.marks if mark.kind is kind]


@pytest.mark.parametrize(
    "hidden",
    [
        line(_HIDDEN, y=620, more="1 1 1 rg"),
        line(_HIDDEN, y=620, more="0.98 0.99 1 rg"),
        line(_HIDDEN, y=620, more="3 Tr"),
        line(_HIDDEN, y=640, more="3 Tr"),
        line(_HIDDEN, y=620, size=0.3),
        line(_HIDDEN, y=620, size=30, more="0.01 0 0 0.01 70 614 cm"),
        line(_HIDDEN, x=-400, y=620),
        line(_HIDDEN, x=700, y=620),
        line(_HIDDEN, y=900),
        line(_HIDDEN, y=620) + _BOX,
        line(_HIDDEN, y=620, more="0 0 10 10 re W n"),
    ],
    ids=["white", "nearly white", "no ink", "no ink over ink", "tiny", "scaled", "left", "right", "up", "box", "clip"],
)
@pytest.mark.parametrize("degrees", [0, 90])
def test_hidden_text_is_marked(hidden: bytes, degrees: int) -> None:
    assert unseen(pdfs.rotated(pdfs.pages_of([_ABOVE + hidden + _BELOW]), degrees)) == [_HIDDEN]


@pytest.mark.parametrize(
    ("content", "hidden"),
    [
        (b"1 1 1 rg (not ) Tj 0 g (limited to EUR 100) Tj", "not"),
        (b"(is ) Tj 1 1 1 rg (not ) Tj 0 g (limited to EUR 100) Tj", "not"),
        (b"(is limited to EUR 1) Tj 1 1 1 rg (0) Tj 0 g (,000) Tj", "0"),
        (b"(is limited to EUR 1) Tj 1 1 1 rg (.) Tj 0 g (000) Tj", "."),
        (b"(is limited to EUR 1) Tj 3 Tr (0) Tj 0 Tr (,000) Tj", "0"),
    ],
    ids=["first word", "word", "digit", "dot", "digit without ink"],
)
def test_a_hidden_part_of_a_line_is_marked(content: bytes, hidden: str) -> None:
    assert unseen(pdfs.pages_of([b"BT /F 11 Tf 72 700 Td (Liability ) Tj " + content + b" ET"])) == [hidden]


@pytest.mark.parametrize(
    ("left", "right", "hidden"),
    [(154, 160, "0"), (108, 122, "not")],
    ids=["digit", "word"],
)
@pytest.mark.parametrize("degrees", [0, 90])
def test_what_a_white_box_covers_in_a_line_is_marked(left: float, right: float, hidden: str, degrees: int) -> None:
    content = line("Liability not EUR 10,000 a year", size=10)
    box = f"1 1 1 rg {left} 695 {right - left} 15 re f".encode()
    assert unseen(pdfs.rotated(pdfs.pages_of([content + box]), degrees)) == [hidden]


def _in_forms(content: bytes, depth: int) -> bytes:
    """In so many groups, one in the other."""
    forms = []
    for level in range(depth):
        inner = b"/XObject<</X %d 0 R>>" % (7 + level) if level < depth - 1 else b"/Font<</F 5 0 R>>"
        entries = b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<<" + inner + b">>"
        forms.append(pdfs.stream(b"/X Do" if level < depth - 1 else content, entries))
    page = b"/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>"
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
    tree.append(b"<</Type/Page/Parent 2 0 R" + page + b">>")
    return pdfs.file_of([*tree, pdfs.stream(_ABOVE + b"/X Do"), pdfs.HELVETICA, *forms])


_WHITE_OVER_INK = line(_HIDDEN, y=640, more="1 1 1 rg")
_DARK = b"0.2 0.2 0.5 rg 60 610 400 60 re f 1 g " + _ABOVE


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        pdfs.pages_of([_WHITE_OVER_INK + _ABOVE]),
        pdfs.pages_of([_ABOVE + _WHITE_OVER_INK]),
        pdfs.pages_of([_ABOVE + line(_HIDDEN, y=636, more="1 1 1 rg")]),
        pdfs.pages_of([_ABOVE + line(_HIDDEN, y=640, more="0.98 0.99 1 rg")]),
        pdfs.pages_of([_ABOVE + line(_HIDDEN, y=640, more="1 Tr 1 G")]),
        pdfs.pages_of([_DARK + line(_HIDDEN, y=640, more="0.2 0.2 0.5 rg")]),
        pdfs.pages_of([_ABOVE + line(_HIDDEN, y=640, more="7 Tr")]),
        pdfs.pages_of([b"0 0 m 1 1 l S " * 51_000 + _ABOVE + line(_HIDDEN, y=640, more="3 Tr")]),
        _in_forms(line(_HIDDEN, y=640, more="3 Tr"), 7),
    ],
    ids=["below", "above", "lower", "nearly white", "outlined", "dark on dark", "clip", "many objects", "deep"],
)
@pytest.mark.parametrize("degrees", [0, 90])
def test_hidden_text_is_marked_where_there_is_other_ink(data: bytes, degrees: int) -> None:
    assert unseen(pdfs.rotated(data, degrees)) == [_HIDDEN]


_STRIPES = b" ".join(b"0 %d 360 4 re" % up for up in range(0, 26, 5)) + b" f\n"
_BARS = b" ".join(b"%d 0 4 26 re" % across for across in range(0, 360, 5)) + b" f\n"
_FAR = line("The Supplier is liable without limit.", y=740)


def _with_link(content: bytes, looks: bytes) -> bytes:
    """A page on which a link looks like something."""
    link = b"/Annots[<</Type/Annot/Subtype/Link/Rect[60 612 420 638]/F 4/AP<</N 6 0 R>>>>]"
    page = b"/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>" + link
    tree = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
    form = pdfs.stream(looks, b"/Type/XObject/Subtype/Form/BBox[0 0 360 26]")
    tree.append(b"<</Type/Page/Parent 2 0 R" + page + b">>")
    return pdfs.file_of([*tree, pdfs.stream(content), pdfs.HELVETICA, form])


@pytest.mark.parametrize(
    "data",
    [
        pdfs.pages_of([_FAR + b"q 1 0 0 1 60 612 cm " + _STRIPES + b"Q " + line(_HIDDEN, y=620)]),
        _with_link(_FAR + line(_HIDDEN, y=620), _BARS),
        pdfs.pages_of([_FAR + line(_HIDDEN, y=620) + line("_", x=60, y=700, size=800)]),
    ],
    ids=["stripes", "bars of a link", "a huge letter"],
)
def test_words_on_a_ground_in_their_colour_are_marked_though_it_is_no_paper(data: bytes) -> None:
    assert "".join(unseen(data)).startswith("Liability is capped at EUR")


@pytest.mark.parametrize(
    ("ground", "letters"),
    [("0 0.5 0", "1 0 0"), ("0.11 0.11 0.11", "0 0 1"), ("1 0 0", "0 0.51 0")],
    ids=["red on green", "blue on black", "green on red"],
)
@pytest.mark.parametrize("later", [b"", b"q 60 600 400 60 re S Q"], ids=["plain", "framed"])
def test_words_that_differ_in_colour_only_are_not_marked(ground: str, letters: str, later: bytes) -> None:
    room = f"q {ground} rg 60 610 400 40 re f Q ".encode()
    assert unseen(pdfs.pages_of([room + line(_HIDDEN, y=625, more=f"{letters} rg") + later])) == []


def test_pale_yellow_words_on_white_are_marked() -> None:
    assert unseen(pdfs.pages_of([_ABOVE + line(_HIDDEN, y=620, more="1 1 0.8 rg") + _BELOW])) == [_HIDDEN]


_COVERED = line(_HIDDEN, y=620) + _BOX + line("Other words", y=620)


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        pdfs.pages_of([_ABOVE + _COVERED + _BELOW]),
        pdfs.pages_of([_ABOVE + line(_HIDDEN, y=620) + b"0.9 g 60 615 400 18 re f 0 g " + line("Other words", y=620)]),
        pdfs.pages_of([_COVERED + b"q 1 g 60 615 400 18 re W n 0 0 1 1 re f Q"]),
        pdfs.pages_of([_COVERED + b"q 60 615 400 18 re S Q"]),
        pdfs.under_picture(line(_HIDDEN, y=620), Image.new("L", (612, 792), 255)),
        pdfs.pages_of([line(_HIDDEN, y=620) + _BOX + b"q 0 0 1 RG 2 w 60 624 m 460 624 l S Q"]),
        _in_forms(line(_HIDDEN, y=620) + _BOX + line("Other words", y=620), 3),
    ],
    ids=["words on a box", "on a grey box", "clipped out", "framed", "white picture", "struck out", "in groups"],
)
@pytest.mark.parametrize("degrees", [0, 90])
def test_text_under_something_is_marked_whatever_is_on_that(data: bytes, degrees: int) -> None:
    assert unseen(pdfs.rotated(data, degrees)) == [_HIDDEN]


@pytest.mark.parametrize(
    "cover",
    [
        b"q 60 615 400 40 re S Q",
        b"q 1 0 0 rg 72 637 200 0.6 re f Q",
        b"q 1 g 0 0 1 1 re f Q",
        b"q 1 g 60 500 400 100 re f Q",
    ],
    ids=["frame", "underlined", "elsewhere", "below"],
)
def test_text_that_something_drawn_later_leaves_visible_is_not_marked(cover: bytes) -> None:
    twice = line("Drawn twice to be bold", y=650) * 2
    assert unseen(pdfs.pages_of([twice + _ABOVE + line(_HIDDEN, y=620, more="0.8 g") + cover])) == []


def _slanted(text: str, x: float, y: float, size: float = 10) -> bytes:
    return line(text, 0, 0, size, more=f"0.7071 0.7071 -0.7071 0.7071 {x} {y} cm")


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"".join(_slanted(f"Quarterly revenue of the region number {at}", 60 + at * 12, 300) for at in range(20))
        + b"50 305 m 500 305 l S",
        b"".join(_slanted("CONFIDENTIAL DRAFT COPY", 60 + at * 4, 60 + 20 * at, 40) for at in range(14))
        + b"50 50 500 700 re S",
        b"".join(_slanted(f"Region {at} in the north of the country", 40 + at * 4, 300) for at in range(90))
        + b"30 305 m 590 305 l S",
    ],
    ids=["chart labels", "watermarks in a frame", "very many labels"],
)
def test_words_whose_rooms_overlap_many_times_are_not_marked_since_a_line_was_drawn_later(content: bytes) -> None:
    assert unseen(pdfs.pages_of([content])) == []


@pytest.mark.parametrize("times", [3, 5, 20])
def test_a_line_drawn_many_times_to_be_bold_is_not_marked(times: int) -> None:
    bold = line("The Supplier is liable without limit.", y=640) * times
    assert unseen(pdfs.pages_of([bold + b"60 638 m 400 638 l S"])) == []


def test_other_words_of_the_same_width_do_not_show_what_they_cover() -> None:
    above = line("Liability is capped at EUR 010.", y=620)
    assert unseen(pdfs.pages_of([line(_HIDDEN, y=620) + _BOX + above + b"q 60 615 400 40 re S Q"])) == [_HIDDEN]


def test_words_under_a_box_and_very_many_others_are_marked() -> None:
    above = b"".join(_slanted(f"Other words that cross number {at}", 20 + 8 * at, 560) for at in range(40))
    assert unseen(pdfs.pages_of([line(_HIDDEN, y=620) + _BOX + above + b"q 60 615 400 40 re S Q"])) == [_HIDDEN]


def test_decoys_that_might_be_covered_do_not_show_what_is_under_them() -> None:
    frame = b"q 60 615 400 40 re S Q"
    assert unseen(pdfs.pages_of([_COVERED + frame])) == [_HIDDEN]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_words_that_only_a_picture_shows_are_marked_as_read_from_it() -> None:
    below = pdfs.under_picture(line("Delivered within 30 days", x=40, y=678, size=17), _scan())
    above = pdfs.over_picture(line("Delivered within 30 days", y=678, size=14, more="3 Tr"), _scan())
    letter = [line("Printed on a letter that has a picture on all of it", y=300 - 20 * at) for at in range(3)]
    printed = pdfs.over_picture(b"".join(letter), _scan())
    assert [(unseen(data), read(data)) for data in (below, above, printed)] == [
        ([], ["Delivered within 30 days"]),
        ([], ["Delivered within 30 days"]),
        ([], []),
    ]


def _photo() -> Image.Image:
    """Of all shades, light ones among them."""
    return Image.effect_noise((36, 48), 90).resize((612, 792))


def _scan() -> Image.Image:
    picture = Image.new("L", (1224, 1584), 255)
    ImageDraw.Draw(picture).text((144, 200), "Delivered within 30 days", font=ImageFont.load_default(28), fill=0)
    return picture


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        pdfs.pages_of([b"0 g 0 0 612 792 re f " + line(_HIDDEN, more="1 1 1 rg")]),
        pdfs.pages_of([b"0 g 60 696 260 13 re f " + line(_HIDDEN, more="1 g") + line("30 days", x=400) + _BELOW]),
        pdfs.pages_of([b"0 g 60 690 100 30 re f " + line("I . -", size=24, more="1 g") + line("black", x=400)]),
        pdfs.pages_of([line("Liability", size=90, more="2 Tr 3 w") + _BELOW]),
        pdfs.pages_of([line(_HIDDEN, more="2 Tr 1 g 0 G 0.4 w")]),
        pdfs.over_picture(line(_HIDDEN, size=30, more="1 g"), _photo()),
        pdfs.pages_of([line(_HIDDEN, more="0.85 g")]),
        pdfs.pages_of([line(_HIDDEN, more="0.92 g")]),
        pdfs.pages_of([b"1 1 0.6 rg 0 690 612 30 re f " + line(_HIDDEN, more="0.8 0.4 0 rg")]),
        pdfs.pages_of([line(_HIDDEN, size=4)]),
        pdfs.pages_of([line(_HIDDEN, size=200, more="0.05 0 0 0.05 0 0 cm", x=1_000, y=9_000)]),
        pdfs.pages_of([line("- . , : ; ' | l i 1 -")]),
        pdfs.pages_of([line("Item") + line("12.00", x=400) + line("............", x=200)]),
        pdfs.pages_of([b"0 1 -1 0 900 0 cm " + line(_HIDDEN, y=600)], box="0 0 900 500"),
        pdfs.pages_of([b"0.7 0.7 -0.7 0.7 400 0 cm " + line(_HIDDEN, y=200)]),
        pdfs.over_picture(line("Delivered within 30 days", y=678, size=14, more="3 Tr"), _scan()),
        pdfs.over_picture(line("Delivered within 30 days", x=40, y=676, size=16, more="3 Tr"), _scan()),
        pdfs.under_picture(line("Delivered  within  30  days", x=30, y=678, size=17), _scan()),
        pdfs.two_columns(pdfs.words(1_500)),
        pdfs.word_by_word(pdfs.words(1_500)),
        pdfs.filled_form("Jane Doe"),
    ],
    ids=[
        "white on black",
        "white on a bar",
        "large white on a bar",
        "bold",
        "white with an outline",
        "white on a photo",
        "light grey",
        "very light grey",
        "orange on yellow",
        "small",
        "scaled",
        "thin",
        "table",
        "upwards",
        "aslant",
        "scan",
        "scan out of place",
        "words below a scan",
        "columns",
        "words",
        "form",
    ],
)
@pytest.mark.parametrize("degrees", [0, 90])
def test_text_that_people_see_is_not_marked(data: bytes, degrees: int) -> None:
    assert unseen(pdfs.rotated(data, degrees)) == []


def test_words_laid_over_an_empty_part_of_a_scan_are_marked() -> None:
    content = line("Delivered within 30 days", y=678, size=14, more="3 Tr") + line(_HIDDEN, y=300, more="3 Tr")
    assert unseen(pdfs.over_picture(content, _scan())) == [_HIDDEN]


def test_letters_of_fonts_that_are_missing_here_are_not_taken_for_hidden() -> None:
    font = b"<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/UniJIS-UTF16-H/DescendantFonts[6 0 R]>>"
    cid = (
        b"<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light"
        b"/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 6>>>>"
    )
    data = pdfs.one_page(b"BT /F 20 Tf 72 700 Td <67085834> Tj ET", font, cid)
    assert (make(data).text, unseen(data)) == ("月場", [])
