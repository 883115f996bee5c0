"""The words of pictures: where they stand, how sure they are, and what is refused before it takes memory."""

import pytest
from PIL import Image

from runs import isolation
from runs.documents.formats.image import image_reader as reader
from runs.documents.formats.image.image_reader import MAX_PAGES, make, read_picture
from runs.documents.model.layout import BlockKind, MarkKind, Rendered
from runs.documents.packed_parts import unpacked
from runs.errors import InvalidInput
from runs.isolation import Limits
from tests.documents.pictures import page, png_of_size, saved

_LINES = ["The Supplier shall deliver the goods", "within 30 days of the order."]
_TEXT = "\n".join(_LINES)


def test_a_picture_is_read_with_the_places_of_its_words() -> None:
    made = make(saved(page(_LINES), "PNG"))
    layout = made.rendered.layout
    assert made.text == _TEXT
    assert [(block.anchor, block.kind) for block in layout.blocks] == [("page=1", BlockKind.PAGE)]
    assert (layout.format, layout.unit, layout.units) == ("image", "page", 1)
    assert [made.text[box.start : box.end] for box in layout.boxes] == _TEXT.split()
    first = layout.boxes[0]
    assert (round(first.left * 1_200, -1), round(first.top * 400, -1)) == (60, 70)
    assert all(0 <= box.left < box.right <= 1 and 0 <= box.top < box.bottom <= 1 for box in layout.boxes)
    marks = [mark for mark in layout.marks if mark.kind is MarkKind.READ]
    assert [made.text[mark.start : mark.end] for mark in marks] == _LINES
    assert all(int(mark.note) > 80 for mark in marks)


@pytest.mark.parametrize("kind", ["JPEG", "TIFF", "WEBP"])
def test_other_formats_are_read(kind: str) -> None:
    assert make(saved(page(_LINES), kind)).text == _TEXT


def test_small_letters_are_enlarged() -> None:
    small = page(_LINES).resize((360, 120), Image.Resampling.LANCZOS)
    assert [line.text for line in read_picture(small)] == _LINES


def test_what_is_transparent_is_read_as_on_white() -> None:
    picture = Image.new("RGBA", (1_200, 400), (0, 0, 0, 0))
    picture.putalpha(page(_LINES).point(lambda shade: 255 - shade))
    assert make(saved(picture, "PNG")).text == _TEXT


def test_sixteen_bits_of_grey_are_scaled_and_not_cut_off() -> None:
    picture = page(_LINES).convert("I").point(lambda shade: shade * 200 + 2_000).convert("I;16")
    assert make(saved(picture, "TIFF")).text == _TEXT


def test_a_picture_that_the_camera_turned_is_read_upright() -> None:
    turned = page(_LINES).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be shown turned by 90 degrees clockwise
    assert make(saved(turned, "JPEG", exif=exif)).text == _TEXT


@pytest.mark.slow
def test_the_pages_of_a_tiff_file_are_blocks() -> None:
    data = saved(page(_LINES[:1]), "TIFF", save_all=True, append_images=[page(_LINES[1:])])
    made = make(data)
    layout = made.rendered.layout
    assert [made.text[block.start : block.end] for block in layout.blocks] == _LINES
    assert [(box.page, made.text[box.start : box.end]) for box in layout.boxes][-1] == (2, "order.")
    assert layout.units == 2


def test_pages_beyond_the_limit_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PAGES", 1)
    made = make(saved(page(_LINES), "TIFF", save_all=True, append_images=[page(_LINES), page(_LINES)]))
    assert made.rendered.notes == ("Only the first 1 pages were read, since OCR takes long; split the file.",)
    assert made.rendered.layout.units == 1
    assert MAX_PAGES == 200


def test_a_picture_without_words_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has no text in it"):
        make(saved(page([]), "PNG"))


def test_without_tesseract_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "tesserocr", None)
    assert not reader.can_read()
    with pytest.raises(InvalidInput, match=r"is read when OCR is installed \(uv sync --extra ocr\)"):
        make(saved(page(_LINES), "PNG"))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (png_of_size(60_000, 60_000), "is a picture of more than 80 megapixels; at most 40 are read"),
        (png_of_size(8_000, 6_000), "is a picture of 48 megapixels; at most 40 are read"),
        (png_of_size(3_000, 3_000), "is a damaged picture"),
        (saved(page(_LINES), "PNG")[:2_000], "is a damaged picture"),
        (saved(page(_LINES), "GIF"), "is not a picture that can be read; save it as PNG"),
        (b"", "is not a picture that can be read"),
    ],
    ids=["huge", "large", "empty", "cut", "gif", "nothing"],
)
def test_hostile_pictures_are_refused_in_little_memory(data: bytes, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        isolation.run(f"{reader.__name__}.read", data, Limits(megabytes=250, cpu_seconds=2))


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_full_page_is_read_within_its_limits() -> None:
    lines = [f"The Supplier shall deliver part {number}." for number in range(101, 141)]
    data = saved(page(lines, width=2_480, height=3_508), "PNG")
    header, text = unpacked(isolation.run(f"{reader.__name__}.read", data, Limits(megabytes=512, cpu_seconds=20)))
    assert text.decode().splitlines() == lines
    assert Rendered.model_validate_json(header).notes == ()


def test_good_pages_before_a_damaged_one_are_read() -> None:
    data = saved(page(_LINES), "TIFF", save_all=True, append_images=[page(_LINES)], compression="tiff_lzw")
    made = make(data[: len(data) * 3 // 4])
    assert made.text == _TEXT
    assert made.rendered.notes == (
        "Page 2 and what follows could not be read: the file is a damaged picture; save it again.",
    )


def test_an_uncertain_page_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MIN_CONFIDENCE", 101)
    notes = make(saved(page(_LINES), "PNG")).rendered.notes
    assert len(notes) == 1
    assert notes[0].startswith("Page 1 was read from a picture with 9")


@pytest.mark.slow
def test_what_takes_too_long_ends_with_the_pages_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_PAGE_MILLISECONDS", 1)
    with pytest.raises(InvalidInput, match="has a picture whose text takes too long to read"):
        make(saved(page([*_LINES, *_LINES] * 10, height=3_508), "PNG"))
