"""Pictures and scans: their words, where they stand, and how sure Tesseract is of them.

Tesseract is the optional extra `ocr`: it comes as a wheel with its models, and not for each system.
"""

import io
import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageOps, UnidentifiedImageError

from runs.documents.formats.image import FORMAT
from runs.documents.model.layout import MIN_CONFIDENCE, BlockKind, Box, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument, WorkBudget
from runs.errors import InvalidInput
from runs.isolation.performing import seconds_left

try:
    import tesserocr
except ImportError:  # the extra is not installed
    tesserocr = None

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP")
MAX_PIXELS = 40_000_000
MAX_PAGES = 200
MAX_SECONDS = 300.0
"""Of the processor, until the last page is begun: one takes up to three, and the last may take 20 more."""
MIN_SECONDS_LEFT = 120.0
"""By the clock, which goes on while others have the processor: for the last page, and for all that is no OCR."""
TOO_LONG = "is a scan that takes OCR too long; split it"
MAX_WORDS = 8_000
"""Of a page; a full page of a newspaper has some five thousand."""
_PAGE_PIXELS = 8_700_000
"""An A4 page at 300 dpi, for which Tesseract's models are made: smaller pictures are enlarged to it."""
_MAX_GROWTH = 3.0
_MAX_READ_PIXELS = 20_000_000
_PAGE_MILLISECONDS = 20_000
_NO_LANGUAGES = {"osd", "equ"}
"""Models in the folder of languages that are none."""


class Word(NamedTuple):
    """`confidence` in percent; the box in shares of the picture's width and height, from the top left."""

    text: str
    confidence: float
    left: float
    top: float
    right: float
    bottom: float


class Room:
    """How many more pages OCR may read in this file."""

    def __init__(self) -> None:
        self._effort, self._left = WorkBudget(), MAX_PAGES

    @property
    def has_time(self) -> bool:
        return self._effort.spent <= MAX_SECONDS and seconds_left() >= MIN_SECONDS_LEFT

    def take(self) -> bool:
        """One more page, if there is time for it."""
        if not self._left or not self.has_time:
            return False
        self._left -= 1
        return True


class Line(NamedTuple):
    words: Sequence[Word]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> int:
        """In percent: the mean over its characters."""
        total = sum(len(word.text) for word in self.words)
        return round(sum(word.confidence * len(word.text) for word in self.words) / total)


def can_read() -> bool:
    """Whether Tesseract and a model of a language are installed."""
    return bool(_languages())


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """The words of a picture, or of each page of a TIFF file."""
    builder = Builder(FORMAT.name)
    with warnings.catch_warnings(action="ignore"):  # Pillow's, of damage that it can do with
        pages = _add_pages(builder, data)
    return builder.made(FORMAT.unit, pages, range(1, pages + 1))


def _add_pages(builder: Builder, data: bytes) -> int:
    """Up to the first that cannot be read; the number of those that were."""
    count, room = 0, Room()
    try:
        for picture in pages_of(data):
            if not room.take() and count:
                builder.note(f"Only the first {count} pages were read, since OCR takes long; split the file.")
                break
            lines = read_picture(picture)
            count += 1
            add_page(builder, count, lines)
    except InvalidInput as error:
        if not count:
            raise
        builder.note(f"Page {count + 1} and what follows could not be read: the file {error}.")
    return count


def add_page(builder: Builder, page: int, lines: Sequence[Line], label: str = "") -> None:
    """One more block of kind PAGE with these lines, marked as read from a picture; the boxes are those of its words."""
    start = builder.begin()
    builder.add(f"page={page}", BlockKind.PAGE, "\n".join(line.text for line in lines), label=label)
    for line in lines:
        builder.mark(MarkKind.READ, start, start + len(line.text), note=str(line.confidence))
        for word in line.words:
            builder.place(Box(page, start, start + len(word.text), word.left, word.top, word.right, word.bottom))
            start += len(word.text) + 1
    if lines and (confidence := _mean(lines)) < MIN_CONFIDENCE:
        builder.note(f"Page {page} was read from a picture with {confidence} % confidence; check it against the page.")


def read_picture(picture: Image.Image) -> list[Line]:
    """The lines of a picture in reading order; none if there are no words in it.

    Raises InvalidInput where no OCR is installed, or when the picture takes too long.
    """
    with _engine("AUTO") as engine:
        return _read(engine, _prepared(picture))


def read_lines(pictures: Iterable[Image.Image]) -> Iterator[Line]:
    """The words of each of these pictures, which have one line at 300 dpi. Raises as `read_picture`."""
    with _engine("SINGLE_LINE") as engine:  # it takes longer to begin than to read a line
        for picture in pictures:
            yield Line([word for line in _read(engine, picture) for word in line.words])


def _engine(layout: str) -> AbstractContextManager[Any]:
    languages = _languages()
    if not languages:
        raise InvalidInput("is a picture; its text is read when OCR is installed (uv sync --extra ocr)")
    mode = getattr(tesserocr.PSM, layout)
    engine: AbstractContextManager[Any] = tesserocr.PyTessBaseAPI(
        path=str(_models()), lang="+".join(languages), psm=mode
    )
    return engine


def _read(engine: Any, image: Image.Image) -> list[Line]:
    engine.SetImage(image)
    engine.SetSourceResolution(300)
    if not engine.Recognize(_PAGE_MILLISECONDS):
        raise InvalidInput("has a picture whose text takes too long to read")
    return list(_lines(engine.GetIterator(), *image.size))


def _mean(lines: Sequence[Line]) -> int:
    words = [word for line in lines for word in line.words]
    return Line(words).confidence


def pages_of(data: bytes) -> Iterator[Image.Image]:
    """The picture, or those of a TIFF file, each upright and checked before it takes its memory."""
    Image.MAX_IMAGE_PIXELS = 2 * MAX_PIXELS  # below it Pillow does not warn: smaller ones are refused here
    try:
        picture = Image.open(io.BytesIO(data), formats=FORMATS)
        page = 0
        while True:
            _check_size(picture)
            ImageOps.exif_transpose(picture, in_place=True)
            yield picture
            page += 1
            if picture.format != "TIFF":
                return
            picture.seek(page)
    except EOFError:  # behind the last page
        return
    except UnidentifiedImageError as error:
        raise InvalidInput("is no picture that can be read; save it as PNG, JPEG, TIFF or WEBP") from error
    except Image.DecompressionBombError as error:
        raise InvalidInput(_too_large("more than " + str(2 * MAX_PIXELS // 1_000_000))) from error
    except (OSError, ValueError, SyntaxError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise InvalidInput("is a damaged picture; save it again") from error


def _check_size(picture: Image.Image) -> None:
    pixels = picture.width * picture.height
    if pixels > MAX_PIXELS:
        raise InvalidInput(_too_large(str(pixels // 1_000_000)))


def _too_large(megapixels: str) -> str:
    return f"is a picture of {megapixels} megapixels; at most {MAX_PIXELS // 1_000_000} are read: save it smaller"


def _prepared(picture: Image.Image) -> Image.Image:
    """In grey, and about as large as a page at 300 dpi."""
    grey = _grey(picture)
    pixels = grey.width * grey.height
    wanted = min(_MAX_GROWTH, math.sqrt(_PAGE_PIXELS / pixels))
    if pixels > _MAX_READ_PIXELS:
        wanted = math.sqrt(_MAX_READ_PIXELS / pixels)
    elif wanted < 1.1:
        return grey
    size = max(round(grey.width * wanted), 1), max(round(grey.height * wanted), 1)
    return grey.resize(size, Image.Resampling.BICUBIC)


def _grey(picture: Image.Image) -> Image.Image:
    """In 256 shades, on white where it is transparent. Pillow cuts more shades off instead of scaling them."""
    if picture.mode.startswith("I"):
        picture = picture.convert("I")
    if picture.mode in {"I", "F"}:
        _, brightest = picture.getextrema()
        scale = 255 / max(float(brightest), 1)  # type: ignore[arg-type]
        return picture.point(lambda shade: shade * scale + 0).convert("L")
    if not picture.has_transparency_data:
        return picture.convert("L")
    grey = Image.new("L", picture.size, 255)
    grey.paste(picture.convert("L"), mask=picture.convert("RGBA").getchannel("A"))
    return grey


def _models() -> Path:
    """Where the packages of Tesseract's models put them."""
    return Path(sys.prefix, "share", "tessdata")


def _languages() -> list[str]:
    if tesserocr is None:
        return []
    return sorted(set(tesserocr.get_languages(str(_models()))[1]) - _NO_LANGUAGES)


def _lines(results: object, width: int, height: int) -> Iterator[Line]:
    level = tesserocr.RIL
    words = list[Word]()
    for count, at in enumerate(tesserocr.iterate_level(results, level.WORD)):
        if count == MAX_WORDS:
            break
        if at.IsAtBeginningOf(level.TEXTLINE) and words:
            yield Line(words)
            words = []
        box = at.BoundingBox(level.WORD)
        if box is None or at.Empty(level.WORD):
            continue
        text = "".join(at.GetUTF8Text(level.WORD).split())
        if text:
            left, top, right, bottom = box
            shares = left / width, top / height, right / width, bottom / height
            words.append(Word(text, at.Confidence(level.WORD), *shares))
    if words:
        yield Line(words)
