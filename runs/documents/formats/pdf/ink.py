"""Finds text of a PDF page that is invisible because there is no ink in its own colour.

Such text is white on white, covered, too small, off the page, or invisible without a picture beneath. Other ink at its
place does not make it visible: words must differ from the ground in their own colour.

Most pages need no check, and of others only the lines whose text may be hidden by colour, by place or by other objects.
Most of these are decided on a coarse picture of the page. Only if a line has a gap there, each of its characters is
examined, and those that seem to be missing again in a finer picture.
"""

import ctypes
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import NamedTuple, cast

from PIL import ImageChops
from pypdfium2 import PdfPage, PdfTextPage, raw

from runs.documents.formats.pdf import unseen
from runs.documents.formats.pdf.characters import PageText
from runs.documents.formats.pdf.columns import line_spans
from runs.documents.formats.pdf.contents import MIN_SIZE, Brush, Contents, Doubt, Font, contents_of
from runs.documents.formats.pdf.geometry import (
    PageView,
    Rectangle,
    are_near,
    around,
    boxes,
    loose_box,
    share_room,
    size_of,
    tight_box,
)
from runs.documents.formats.pdf.objects import (
    Box,
    Handle,
    Paint,
    has_own_font,
    is_invisible,
    is_picture,
    picture_boxes,
    pieces_of,
    text_object,
)
from runs.documents.formats.pdf.unseen import FINE, MIN_CONTRAST, NO_INK, CoveredText, seen_by_shape
from runs.documents.formats.pdf.windows import (
    WHOLE,
    Gap,
    LineExtent,
    PageWindow,
    Picture,
    Raster,
    Room,
    Strip,
    are_spaces,
    gaps,
    raster,
    strips,
    whole,
    windows,
)
from runs.documents.reading.building import WorkBudget

MAX_SECONDS = 30.0
"""Processor time since the reading began, without OCR. Three hundred full pages take some three seconds."""
_COARSE = 1.0
"""Pixels per point."""
_MIN_STEP = 24
"""Difference, of 256 shades, between neighbouring pixels at the edge of a letter in the coarse picture."""
_MIN_CLEAR = 48
"""Difference, of 256 shades, between a letter and the ground in the coarse picture that leaves no doubt."""
_LAST_KNOWN = 0x24F
"""The last of the letters that pdfium can draw without the font. Others may be missing on this machine only."""
_LOOKS = 1.5  # points at which a letter is searched for, per width of the narrowest gap
_MAX_LOOKS = 40
"""Points of a gap at which a letter is searched for, per multiple of the narrowest gap."""
_SOLID = re.compile("[\u2580-\u25ff\u2b00-\u2bff]")
"""Blocks and other signs that may cover the letters of a line."""
_MAX_KEPT = 12
"""Pictures of a page without one layer that are cached. They may be large."""
_NEAR = 0.02
"""In points."""
_THIN = 3
"""Pixels by which a letter may be displaced from its expected place."""
_EDGE = [255 if shade >= _MIN_STEP else 0 for shade in range(256)]
_DARK = [255 if shade <= 255 - _MIN_STEP else 0 for shade in range(256)]


class TookTooLongError(Exception):
    """Raised when time runs out. Nothing is known about the page, or only that it has text that may be hidden
    (`has_sign`).
    """

    def __init__(self, *, has_sign: bool) -> None:
        super().__init__()
        self.has_sign = has_sign


class _TimeLimit:
    """Checks the time.

    It is a separate object so that its users need not refer to the check of a page. Such a reference would be circular,
    and would keep the page with all its pictures in memory, because the process runs without garbage collection.
    """

    def __init__(self, effort: WorkBudget, *, has_sign: bool) -> None:
        self._effort, self._has_sign = effort, has_sign

    def check(self) -> None:
        if self._effort.seconds_spent > MAX_SECONDS:
            raise TookTooLongError(has_sign=self._has_sign)


class HiddenText(NamedTuple):
    """The result for one page, as ranges of offsets.

    `unseen`: invisible text. `unprinted`: text that a picture shows but the file does not draw, as written by scanning
    software. `has_more`: the page has something other than text.
    """

    unseen: Sequence[tuple[int, int]] = ()
    unprinted: Sequence[tuple[int, int]] = ()
    has_more: bool = True


class ShownFonts:
    """What earlier pages of a file have shown in plain lines: embedded fonts with the characters of their pages, and
    colours.

    A letter of an embedded font, or a pattern that is reported as a colour, may be empty. So a page with fonts,
    characters or colours that are not known yet is checked.
    """

    def __init__(self) -> None:
        self._fonts, self._palette = dict[Font, set[str]](), set[Brush]()

    def has(self, contents: Contents, text: str) -> bool:
        return contents.palette <= self._palette and all(
            font is not None and self._fonts.get(font, set()).issuperset(text) for font in contents.fonts
        )

    def add(self, contents: Contents, text: str) -> None:
        self._palette |= contents.palette
        for font in filter(None, contents.fonts):
            self._fonts.setdefault(font, set()).update(text)


def find_hidden_text(
    page: PdfPage,
    text_page: PdfTextPage,
    text: PageText,
    effort: WorkBudget,
    shown: ShownFonts,
    again: Callable[[], AbstractContextManager[PdfPage]],
) -> HiddenText:
    """Finds the invisible text of a page.

    `shown` describes the pages before it, and `again` opens the page once more. Raises TookTooLongError when time runs
    out.
    """
    sheet = _PageCheck(page, text_page, text, effort)
    contents = sheet.contents
    has_solid = not text.text.isascii() and _SOLID.search(text.text)
    is_known = not has_solid and shown.has(contents, text.text)
    where = contents.doubtful if is_known else None
    if where is not None and not where:
        return HiddenText(has_more=sheet.has_more)
    lines = [span for span in line_spans(text.text) if where is None or sheet.is_in(where, *span)]
    found, seen, unprinted = dict[int, list[int]](), set[int](), list[int]()
    for window in [PageWindow(WHOLE, list(range(len(lines))))] if where is None else sheet.windows(lines):
        look = _PartCheck(sheet, window.place)
        found |= {number: look.hidden_in(*lines[number]) for number in window.lines}
        seen |= look.seen_by_shape(sorted(at for number in window.lines for at in found[number]), again)
        unprinted += look.unprinted
    if where is None and contents.doubtful is not None:
        plain = [number for number, span in enumerate(lines) if not sheet.is_in(contents.doubtful, *span)]
        if plain and not any(found[number] for number in plain):
            shown.add(contents, "\n".join(["", *(text.text[slice(*lines[number])] for number in plain)]))
    hidden = [at for number in range(len(lines)) for at in found[number] if at not in seen]
    return HiddenText(_runs(hidden, text.text), _runs(sorted(unprinted), text.text), sheet.has_more)


def _runs(offsets: Sequence[int], text: str) -> list[tuple[int, int]]:
    """Joins adjacent offsets into ranges, also across white space."""
    found: list[tuple[int, int]] = []
    for at in offsets:
        if found and not text[found[-1][1] : at].strip():
            found[-1] = found[-1][0], at + 1
        else:
            found.append((at, at + 1))
    return found


class _PageCheck:
    """What the checks of parts of one page share."""

    def __init__(self, page: PdfPage, text_page: PdfTextPage, text: PageText, effort: WorkBudget) -> None:
        self.page, self.text_page, self.text, self.view = page, text_page, text, PageView(page)
        self.contents = contents = contents_of(page, text_page, self.view)
        self.has_more = bool(contents.kinds)
        self.has_invisible = () in contents.paints
        self.differs_from_paper = not any(map(unseen.is_sign, contents.paints))
        self.check_time = _TimeLimit(effort, has_sign=not self.differs_from_paper).check
        self.check_time()

    def is_in(self, where: Sequence[Doubt], start: int, end: int) -> bool:
        """Whether a part of a line is, or may be, at one of these places."""
        drawn_at = boxes(self.text_page, *self.text.span(start, end))
        if not drawn_at:
            return True
        box = LineExtent.of(drawn_at).box
        near = {one.piece for one in where if share_room(box, one.box)}
        return 0 in near or (bool(near) and not near.isdisjoint(self._pieces(*self.text.span(start, end))))

    def _pieces(self, number: int, count: int) -> set[Handle]:
        """Returns the objects that the characters of a line were drawn with, usually one."""
        ends = pieces_of(self.text_page, [number, number + count - 1])
        return ends if len(ends) == 1 else pieces_of(self.text_page, range(number, number + count))

    def windows(self, lines: Sequence[tuple[int, int]]) -> Iterator[PageWindow]:
        """Yields the parts of the page that contain these lines."""
        drawn_at = [boxes(self.text_page, *self.text.span(*span)) for span in lines]
        return windows(self.view.to_fractions(*LineExtent.of(one).box) if one else WHOLE for one in drawn_at)

    @cached_property
    def is_scan(self) -> bool:
        return raw.FPDF_PAGEOBJ_IMAGE in self.contents.kinds and is_picture(self.page)

    @cached_property
    def covered_text(self) -> CoveredText | None:
        if not (self.contents.has_covers or self.is_scan):
            return None
        doubtful = self.contents.doubtful
        where = around(one.box for one in doubtful) if doubtful else None
        return CoveredText(self.page, self.text_page, where, all_text=self.is_scan, check_time=self.check_time)

    @cached_property
    def pictures(self) -> Sequence[Box]:
        return picture_boxes(self.page)


class _PartCheck:
    """A check of one part of a page. `unprinted`: the offsets of text that scanning software has read there."""

    def __init__(self, sheet: _PageCheck, window: Rectangle) -> None:
        self._sheet, self._window = sheet, window
        self._text_page, self._text, self._view = sheet.text_page, sheet.text, sheet.view
        self._contents, self._check_time = sheet.contents, sheet.check_time
        self._changes = dict[tuple[int, float, bool], Picture]()
        self.unprinted = list[int]()

    def hidden_in(self, start: int, end: int) -> list[int]:
        """Returns the offsets of characters of a line that are invisible."""
        self._check_time()
        number, count = self._text.span(start, end)
        drawn_at = boxes(self._text_page, number, count)
        spaces = self._text.text.count(" ", start, end)
        if self._is_clear(drawn_at, spaces):
            return []
        places = self._coarse.rooms(self._view, drawn_at)
        parts = list(strips(places, self._ink, self._same))
        hidden = self._camouflaged(start, end) if any(part.same >= unseen.MIN_DOUBT for part in parts) else set()
        layers = self._layers(start, end)
        if layers == {0}:
            parts = list(strips(places, self._first_change, self._same))
        needs_all = self._sheet.has_invisible or layers - {0} or (self._sheet.is_scan and not layers)
        if (
            not needs_all
            and self._is_plain(parts, drawn_at, spaces)
            and self._is_on_page(LineExtent.of(drawn_at), drawn_at)
        ):
            return sorted(hidden)
        # The ground is the most frequent shade of the line.
        counts = [0] * 256
        for room in places:
            histogram = self._coarse.image.crop(room).histogram()
            counts = [one + other for one, other in zip(counts, histogram, strict=True)]
        ground = counts.index(max(counts))
        has_ink = any(self._contrast_in(self._coarse, place, ground) >= _MIN_STEP for place in places)
        return [at for at in range(start, end) if at in hidden or self._is_hidden(at, ground, has_ink)]

    def _is_clear(self, drawn_at: Sequence[Box], spaces: int) -> bool:
        """Whether a line is on bare paper, in another colour, with ink from end to end. This quick test decides most
        lines.
        """
        if self._contents.others is None or not self._sheet.differs_from_paper or not drawn_at:
            return False
        line = LineExtent.of(drawn_at)
        if not (line.is_one and self._is_on_page(line, drawn_at)) or any(
            are_near(line.box, one) for one in self._contents.others
        ):
            return False
        (room,) = self._coarse.rooms(self._view, [line.box])
        return self._is_plain([whole(room, self._dark)], [line.box], spaces)

    def seen_by_shape(self, hidden: Sequence[int], again: Callable[[], AbstractContextManager[PdfPage]]) -> set[int]:
        """Returns those of the hidden characters that the picture shows after all."""
        near = [at for at in hidden if self._has_ink_near(at)]
        if not near:
            return set()
        return seen_by_shape(again, self._text, near, self._window, self._colours, self._check_time)

    def _has_ink_near(self, at: int) -> bool:
        left, bottom, right, top = loose_box(self._text_page, self._text.numbers[at])
        room = top - bottom
        place = self._view.to_fractions(left - room, bottom - room, right + room, top + room)
        dark, light = cast("tuple[int, int]", self._coarse.part(place).getextrema())
        return light - dark >= MIN_CONTRAST

    def _layers(self, start: int, end: int) -> set[int | None]:
        """Returns the layers of the words of a line that may be covered, None for other words, or nothing if no word
        may be.
        """
        if self._sheet.covered_text is None:
            return set()
        found = {self._layer(at) for at in range(start, end) if not self._text.text[at].isspace()}
        return found if found != {None} else set()

    def _layer(self, at: int) -> int | None:
        one = text_object(self._text_page, self._text.numbers[at]) if self._sheet.covered_text else None
        return (
            self._sheet.covered_text.layers.get(ctypes.addressof(one.contents))
            if one and self._sheet.covered_text
            else None
        )

    def _camouflaged(self, start: int, end: int) -> set[int]:
        """Returns the offsets of characters in the colour of most of their surroundings."""
        found: set[int] = set()
        if self._sheet.is_scan:
            return found
        for offsets, box, paint in unseen.words(self._text_page, self._text, start, end):
            self._check_time()
            place = self._view.to_fractions(*box)
            if (
                paint
                and self._share(self._coarse, place, paint) >= unseen.MIN_DOUBT
                and self._share(self._fine, place, paint) >= unseen.MIN_GROUND
                and self._is_in_its_colour(place, offsets[0])
            ):
                found.update(offsets)
        return found

    def _is_in_its_colour(self, place: Rectangle, at: int) -> bool:
        """Whether most of the surroundings of a word have its colour, not only its shade."""
        part = self._colours.part(place)
        one = text_object(self._text_page, self._text.numbers[at])
        return unseen.share_in_colour(part, one) >= unseen.MIN_GROUND

    def _share(self, picture: Picture, place: Rectangle, paint: Paint) -> float:
        return unseen.share(picture.part(place), paint)

    def _is_on_page(self, line: LineExtent, drawn_at: Sequence[Box]) -> bool:
        """Whether the whole line is on the page and no part of it is tiny."""
        if not self._view.has(*line.box):
            return False
        return line.narrowest >= MIN_SIZE or not any(map(self._is_tiny, drawn_at))

    def _is_plain(self, parts: Sequence[Strip], drawn_at: Sequence[Box], spaces: int) -> bool:
        """Whether there is ink from one end of a line to the other, except for its spaces."""
        if not parts or not all(part.ink.strip(b"\0") for part in parts):
            return False
        gappy = [part for part in parts if part.has_gaps]
        if not gappy or are_spaces([width for part in gappy for width in part.gaps], spaces):
            return True
        found = (gap for part in gappy for gap in gaps(part, self._view.to_fractions(*drawn_at[part.number])))
        return not any(map(self._has_letter, found))

    def _has_letter(self, gap: Gap) -> bool:
        """Whether a gap should contain something other than a space."""
        left, bottom, right, top = self._view.box_of(gap.place)
        is_across = gap.is_across is not self._view.is_turned
        room = (_NEAR, top - bottom) if is_across else (right - left, _NEAR)
        count = min(round(_LOOKS * gap.width), _MAX_LOOKS)
        for part in ((at + 0.5) / count for at in range(count)):
            across, up = (part, 0.5) if is_across else (0.5, part)
            x, y = left + (right - left) * across, bottom + (top - bottom) * up
            number = raw.FPDFText_GetCharIndexAtPos(self._text_page, x, y, *room)
            if number >= 0 and not chr(raw.FPDFText_GetUnicode(self._text_page, number)).isspace():
                return True
        return False

    def _is_tiny(self, box: Box) -> bool:
        """Whether the letters of this object are too small to read, and not only low like hyphens."""
        left, bottom, right, top = box
        if right - left >= MIN_SIZE <= top - bottom:
            return False
        number = raw.FPDFText_GetCharIndexAtPos(self._text_page, (left + right) / 2, (bottom + top) / 2, 1, 1)
        return number < 0 or size_of(self._text_page, number) < MIN_SIZE

    def _is_hidden(self, at: int, ground: int, line_has_ink: bool) -> bool:
        self._check_time()
        character, number = self._text.text[at], self._text.numbers[at]
        if unicodedata.category(character) in NO_INK:
            return False
        box = tight_box(self._text_page, number)
        place = self._view.to_fractions(*box)
        across, down = (place.left + place.right) / 2, (place.top + place.bottom) / 2
        if not (0 <= across <= 1 and 0 <= down <= 1) or size_of(self._text_page, number) < MIN_SIZE:
            return True
        layer = self._layer(at)
        if layer is not None and self._is_drawn(place, layer):
            return False
        if self._sheet.is_scan or (self._sheet.has_invisible and is_invisible(self._text_page, number)):
            is_shown = line_has_ink and self._is_in_picture(box)  # the letters of OCR are never exactly in place
            self.unprinted += [at] if is_shown else []
            return not is_shown
        if ord(character) > _LAST_KNOWN and not has_own_font(self._text_page, number):
            return False
        return layer is not None or not (
            self._contrast(self._coarse, place, ground) >= _MIN_CLEAR
            or self._contrast(self._fine, place, ground) >= MIN_CONTRAST
            or self._has_colours(place)
        )

    def _has_colours(self, place: Rectangle) -> bool:
        part = self._colours.part(place)
        bounds = cast("tuple[tuple[int, int], ...]", part.getextrema())
        return any(light - dark >= unseen.MIN_COLOUR for dark, light in bounds)

    def _is_drawn(self, place: Rectangle, layer: int) -> bool:
        """Whether the picture changes at these words when their layer is left out."""
        change = self._difference(layer, self._coarse)
        left, top, right, bottom = change.room(place)
        if self._contrast(change, place, 0) >= _MIN_CLEAR:
            return True
        around = left - 1, top - 1, right + 1, bottom + 1
        if change.image.crop(around).getbbox():  # the fine picture takes fifty times longer
            fine = self._difference(layer, self._fine)
            if self._contrast(fine, place, 0) >= MIN_CONTRAST:
                return True
        change = self._difference(layer, self._coarse_colours)
        return self._contrast(change, place, 0) >= unseen.MIN_COLOUR

    def _difference(self, layer: int, whole: Picture) -> Picture:
        """Returns how much each pixel changes without the words of a layer that may be covered."""
        key = layer, whole.scale, whole.is_grey
        if key in self._changes:
            self._changes[key] = self._changes.pop(key)  # the first one is the least recently used
            return self._changes[key]
        if len(self._changes) >= _MAX_KEPT:
            del self._changes[next(iter(self._changes))]
        self._changes[key] = cast("CoveredText", self._sheet.covered_text).difference(whole, layer)
        return self._changes[key]

    def _is_in_picture(self, box: Box) -> bool:
        across, up = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return any(one[0] <= across <= one[2] and one[1] <= up <= one[3] for one in self._sheet.pictures)

    def _contrast(self, picture: Picture, place: Rectangle, ground: int) -> int:
        return self._contrast_in(picture, picture.room(place), ground)

    def _contrast_in(self, picture: Picture, room: Room, ground: int) -> int:
        left, top, right, bottom = room
        if right - left < _THIN:
            left, right = max(left - 1, 0), right + 1
        dark, light = cast("tuple[int, int]", picture.image.crop((left, top, right, bottom)).getextrema())
        return max(ground - dark, light - ground)

    @cached_property
    def _coarse(self) -> Picture:
        return Picture.of(self._sheet.page, _COARSE, self._window, grey=True)

    @cached_property
    def _coarse_colours(self) -> Picture:
        return Picture.of(self._sheet.page, _COARSE, self._window, grey=False)

    @cached_property
    def _dark(self) -> Raster:
        """Where there is something other than bare paper."""
        return raster(self._coarse.image.point(_DARK))

    @cached_property
    def _ink(self) -> Raster:
        # The edges are 0 for each pixel with about the shade of the pixels to its left and above it.
        across = ImageChops.difference(self._coarse.image, ImageChops.offset(self._coarse.image, 1, 0))
        down = ImageChops.difference(self._coarse.image, ImageChops.offset(self._coarse.image, 0, 1))
        return raster(ImageChops.lighter(across, down).point(_EDGE))

    @cached_property
    def _same(self) -> Raster:
        return Raster(unseen.same_as_text(self._coarse.image, self._contents.paints), *self._coarse.image.size)

    @cached_property
    def _fine(self) -> Picture:
        return Picture.of(self._sheet.page, FINE, self._window, grey=True)

    @cached_property
    def _colours(self) -> Picture:
        return Picture.of(self._sheet.page, FINE, self._window, grey=False)

    @cached_property
    def _first_change(self) -> Raster:
        """Where the words of the first layer are."""
        change = self._difference(0, self._coarse)
        return raster(change.image.point(_EDGE))
