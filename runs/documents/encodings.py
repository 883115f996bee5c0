"""Text in other encodings than UTF-8, as bytes to bytes: called in guarded processes, so without Django.

What cannot be told apart for certain is guessed, and the guess is said: the codec stands beside the text.
"""

import codecs
import re
from collections.abc import Iterator

from charset_normalizer import from_bytes

from runs.documents.kinds import MIN_LATIN
from runs.documents.packing import packed, unpacked
from runs.errors import InvalidInput

CODECS = {
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "cp1257": "Windows-1257",
    "cp932": "Shift JIS",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "EUC-KR",
    "euc_jp": "EUC-JP",
    "koi8_r": "KOI8-R",
}
"""Those that texts of today's offices come in, and what people call them. Of the hundred that Python knows most are
never met, and short texts fit into nearly all of them.
"""
_USUAL = "cp1252"
SAMPLE_BYTES = 100_000
"""So many bytes of lines that are not ASCII tell the encoding as well as all of them."""
_MORE_CHAOS, _LESS_COHERENCE = 0.02, 0.1
"""By so much the usual encoding may look worse than the best guess and still be taken: the others differ from it in a
few signs, and it is by far the most common. Else "£5" in a short English text becomes "Ł5".
"""
_MOSTLY_ASCII = 0.7
"""From this share of ASCII on, a text that looks like none in particular is taken to be in the usual encoding."""
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_CONTROL = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_BETWEEN = re.compile(rb"[\0-\x2f]")
"""Bytes that are no part of a longer character in any of the encodings: between two of them nothing is cut apart."""
_NO_TEXT = "is not text"


def read_all(data: bytes) -> bytes:
    """For guarded processes: contents, as `packed`, to their codecs and texts, or to nothing and why there is none."""
    return packed(part for content in unpacked(data) for part in _read(content))


def _read(content: bytes) -> tuple[bytes, bytes]:
    try:
        codec, text = decoded(content)
    except InvalidInput as error:
        return b"", str(error).encode()
    return codec.encode(), text.encode()


def decoded(data: bytes) -> tuple[str, str]:
    """The name of the encoding and the text, without its byte order mark. `data` is not UTF-8 text.

    Raises InvalidInput with a clause that says what it is instead.
    """
    for mark, codec, name in _BOMS:
        if data.startswith(mark):
            text = _strictly(data, codec)
            if text is None or _CONTROL.search(text):
                raise InvalidInput(f"begins as {name} text and does not go on as such; save it as UTF-8")
            return name, text
    if b"\0" in data:
        return _utf_16(data)
    if at := _breaks_utf_8(data):
        raise InvalidInput(f"is UTF-8 text that is damaged at byte {at:,}; save it as UTF-8 again")
    return _guessed(data)


def _strictly(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _utf_16(data: bytes) -> tuple[str, str]:
    """UTF-16 without a mark: only if most of its letters are Latin ones, each with a zero byte on the same side."""
    for codec, zeros in (("utf-16-le", data[1::2]), ("utf-16-be", data[::2])):
        if len(data) % 2 == 0 and zeros.count(0) >= MIN_LATIN * len(zeros):
            text = _strictly(data, codec)
            if text is not None and not _CONTROL.search(text):
                return "UTF-16", text
    raise InvalidInput(_NO_TEXT)


def _breaks_utf_8(data: bytes) -> int:
    """Where, from 1, the data stops to be the UTF-8 that it mostly is; 0 if it is not.

    Other encodings are hardly ever valid UTF-8 beyond ASCII by chance. A damaged file must not be taken for one of
    them: every "ü" in it would be read as "Ã¼".
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        text = data.decode(errors="replace")
        wrong = text.count("\ufffd")
        right = len(text) - len(text.encode("ascii", "ignore")) - wrong
        return error.start + 1 if right > wrong else 0
    return 0


def _guessed(data: bytes) -> tuple[str, str]:
    for codec in _candidates(data):
        text = _strictly(data, codec)
        if text is not None and not _CONTROL.search(text):
            return CODECS[codec], text
    raise InvalidInput(_NO_TEXT)


def _candidates(data: bytes) -> Iterator[str]:
    """The encodings that it may be in, the likely ones first."""
    found = from_bytes(_sample(data), cp_isolation=list(CODECS))
    matches = [match for match in found if match.encoding in CODECS]  # a mark at the beginning is isolated from nothing
    if not matches:
        ascii_share = len(data.decode("ascii", "ignore")) / len(data)
        yield from [_USUAL] if ascii_share >= _MOSTLY_ASCII else []
        return
    best = matches[0]
    for match in matches:
        is_close = match.chaos <= best.chaos + _MORE_CHAOS and match.coherence >= best.coherence - _LESS_COHERENCE
        if is_close and _USUAL in {match.encoding, *match.could_be_from_charset}:
            yield _USUAL
    yield from (match.encoding for match in matches)


def _sample(data: bytes) -> bytes:
    """The first lines that are not ASCII, since the others look alike in all encodings."""
    found, left, at = list[bytes](), SAMPLE_BYTES, 0
    while left > 0 and (match := _NOT_ASCII.search(data, at)):
        line = data.rfind(b"\n", at, match.start()) + 1
        start = max(line, at, match.start() - 100)
        end = _BETWEEN.search(data, min(match.start() + left, len(data)))
        newline = data.find(b"\n", match.start())
        at = min((place for place in (newline + 1, end.start() if end else 0) if place > 0), default=len(data))
        found.append(data[start:at])
        left -= at - start
    return b"".join(found)
