"""Reads pictures and scans: words, their places, and Tesseract's confidence.

Tesseract is the optional extra `ocr`. It comes as a wheel with its models, and not for every system.
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
MAX_PIXELS = 40_000_000  # larger pictures are refused before memory is allocated
MAX_PAGES = 200
MAX_SECONDS = 300.0
"""Processor time until the last page begins. A page takes up to three seconds, the last one up to 20 more."""
MIN_SECONDS_LEFT = 120.0
"""Wall-clock time that must be left for the last page and for everything that is not OCR. Other
processes slow it down.
"""
TOO_LONG = "is a scan that takes OCR too long; split it"
MAX_WORDS = 8_000
"""Per page. A full newspaper page has some five thousand."""
_PAGE_PIXELS = 8_700_000
"""An A4 page at 300 dpi, the resolution of Tesseract's models. Smaller pictures are enlarged to it."""
_MAX_GROWTH = 3.0  # enlarging a small picture further does not help Tesseract
_MAX_READ_PIXELS = 20_000_000  # larger pictures are scaled down for Tesseract
_PAGE_MILLISECONDS = 20_000  # after which Tesseract gives a page up
_NO_LANGUAGES = {"osd", "equ"}
"""Files in the folder of language models that are not languages."""


class Word(NamedTuple):
    """A word. `confidence` in percent; its box in fractions of the picture's width and height, from the top left."""

    text: str
    confidence: float
    left: float
    top: float
    right: float
    bottom: float


class OcrBudget:
    """The time budget of OCR for one file."""

    def __init__(self) -> None:
        self._effort, self._left = WorkBudget(), MAX_PAGES

    @property
    def has_time(self) -> bool:
        return self._effort.seconds_spent <= MAX_SECONDS and seconds_left() >= MIN_SECONDS_LEFT

    def take(self) -> bool:
        """Starts a page. Returns False if there is no time for it."""
        if not self._left or not self.has_time:
            return False
        self._left -= 1
        return True


class OcrLine(NamedTuple):
    words: Sequence[Word]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> int:
        """In percent: the mean of its characters."""
        total = sum(len(word.text) for word in self.words)
        return round(sum(word.confidence * len(word.text) for word in self.words) / total)


def can_read() -> bool:
    """Whether Tesseract and a language model are installed."""
    return bool(_languages())


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """Reads the words of a picture, or of each page of a TIFF file."""
    builder = Builder(FORMAT.name)
    with warnings.catch_warnings(action="ignore"):  # Pillow warns of damage that it can handle
        pages, room = 0, OcrBudget()
        try:
            for picture in pages_of(data):
                if not room.take() and pages:
                    builder.note(f"Only the first {pages} pages were read, since OCR takes long; split the file.")
                    break
                lines = read_picture(picture)
                pages += 1
                add_page(builder, pages, lines)
        except InvalidInput as error:
            if not pages:
                raise
            builder.note(f"Page {pages + 1} and what follows could not be read: the file {error}.")
    return builder.build(FORMAT.unit, pages, range(1, pages + 1))


def add_page(builder: Builder, page: int, lines: Sequence[OcrLine], label: str = "") -> None:
    """Adds a block of kind PAGE with these lines, marked as read from a picture, with the boxes of its words."""
    start = builder.begin()
    builder.add(f"page={page}", BlockKind.PAGE, "\n".join(line.text for line in lines), label=label)
    for line in lines:
        builder.mark(MarkKind.READ, start, start + len(line.text), note=str(line.confidence))
        for word in line.words:
            builder.place(Box(page, start, start + len(word.text), word.left, word.top, word.right, word.bottom))
            start += len(word.text) + 1
    if lines and (confidence := _mean(lines)) < MIN_CONFIDENCE:
        builder.note(f"Page {page} was read from a picture with {confidence} % confidence; check it against the page.")


def read_picture(picture: Image.Image) -> list[OcrLine]:
    """Returns the lines of a picture in reading order, or none if it has no words.

    Raises InvalidInput if OCR is not installed or the picture takes too long.
    """
    with _engine("AUTO") as engine:
        return _read(engine, _prepared(picture))


def read_lines(pictures: Iterable[Image.Image]) -> Iterator[OcrLine]:
    """Yields the line of each of these pictures, which show one line at 300 dpi. Raises like `read_picture`."""
    with _engine("SINGLE_LINE") as engine:  # starting takes longer than reading a line
        for picture in pictures:
            yield OcrLine([word for line in _read(engine, picture) for word in line.words])


def _engine(layout: str) -> AbstractContextManager[Any]:
    languages = _languages()
    if not languages:
        raise InvalidInput("is a picture; its text is read when OCR is installed (uv sync --extra ocr)")
    mode = getattr(tesserocr.PSM, layout)
    engine: AbstractContextManager[Any] = tesserocr.PyTessBaseAPI(
        path=str(_models()), lang="+".join(languages), psm=mode
    )
    return engine


def _read(engine: Any, image: Image.Image) -> list[OcrLine]:
    engine.SetImage(image)
    engine.SetSourceResolution(300)
    if not engine.Recognize(_PAGE_MILLISECONDS):
        raise InvalidInput("has a picture whose text takes too long to read")
    return list(_lines(engine.GetIterator(), *image.size))


def _mean(lines: Sequence[OcrLine]) -> int:
    words = [word for line in lines for word in line.words]
    return OcrLine(words).confidence


def pages_of(data: bytes) -> Iterator[Image.Image]:
    """Yields the picture, or the pages of a TIFF file, turned upright. Sizes are checked before memory is allocated."""
    Image.MAX_IMAGE_PIXELS = 2 * MAX_PIXELS  # keeps Pillow from warning, because smaller pictures are refused here
    try:
        picture = Image.open(io.BytesIO(data), formats=FORMATS)
        page = 0
        while True:
            pixels = picture.width * picture.height
            if pixels > MAX_PIXELS:
                raise InvalidInput(_too_large(str(pixels // 1_000_000)))
            ImageOps.exif_transpose(picture, in_place=True)
            yield picture
            page += 1
            if picture.format != "TIFF":
                return
            picture.seek(page)
    except EOFError:  # after the last page
        return
    except UnidentifiedImageError as error:
        raise InvalidInput("is not a picture that can be read; save it as PNG, JPEG, TIFF or WEBP") from error
    except Image.DecompressionBombError as error:
        raise InvalidInput(_too_large("more than " + str(2 * MAX_PIXELS // 1_000_000))) from error
    except (OSError, ValueError, SyntaxError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise InvalidInput("is a damaged picture; save it again") from error


def _too_large(megapixels: str) -> str:
    return f"is a picture of {megapixels} megapixels; at most {MAX_PIXELS // 1_000_000} are read: save it smaller"


def _prepared(picture: Image.Image) -> Image.Image:
    """Returns the picture in grey, scaled to about a page at 300 dpi."""
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
    """Converts to 256 shades of grey, with a white background if transparent. Pillow would clip deeper pictures instead
    of scaling them.
    """
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
    """Returns the folder where the packages of Tesseract's models put them."""
    return Path(sys.prefix, "share", "tessdata")


def _languages() -> list[str]:
    if tesserocr is None:
        return []
    return sorted(set(tesserocr.get_languages(str(_models()))[1]) - _NO_LANGUAGES)


def _lines(results: object, width: int, height: int) -> Iterator[OcrLine]:
    level = tesserocr.RIL
    words = list[Word]()
    for count, at in enumerate(tesserocr.iterate_level(results, level.WORD)):
        if count == MAX_WORDS:
            break
        if at.IsAtBeginningOf(level.TEXTLINE) and words:
            yield OcrLine(words)
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
        yield OcrLine(words)
