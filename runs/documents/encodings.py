"""Decodes text in other encodings than UTF-8. It runs in isolated processes, so it knows no Django.

If a text does not state its encoding, it is guessed, and a caution names other encodings that are about as likely.
"""

import codecs
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from runs.documents.encoding_guess import MAX_BYTES, Candidate, alternatives, ranked, strictly
from runs.documents.packed_parts import packed, unpacked
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
    "cp874": "Windows-874",
    "cp932": "Shift JIS",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "EUC-KR",
    "euc_jp": "EUC-JP",
    "koi8_r": "KOI8-R",
    "iso8859_2": "ISO 8859-2",
    "mac_roman": "Mac Roman",
    "cp850": "DOS 850",
    "cp866": "DOS 866",
    "cp437": "DOS 437",
    "cp852": "DOS 852",
    "cp857": "DOS 857",
    "iso8859_5": "ISO 8859-5",
    "iso8859_15": "ISO 8859-15",
    "koi8_u": "KOI8-U",
    "mac_cyrillic": "Mac Cyrillic",
    "cp1258": "Windows-1258",
}
"""Encodings that a person can choose for a text, with the names that people use. Most of the hundred that Python knows
are not in use.
"""
MIN_LATIN = 0.6
"""Bytes without a byte order mark count as UTF-16 if at least this share of their letters has a zero byte."""
_LIKELY = {
    **dict.fromkeys(("cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256"), 1.0),
    **dict.fromkeys(("cp932", "gb18030", "big5", "cp949", "euc_jp"), 1.0),
    **dict.fromkeys(("cp1257", "koi8_r", "iso8859_2"), 0.8),
    **dict.fromkeys(("cp850", "cp866"), 0.2),
    "cp1252": 2.0,
    "cp874": 0.5,
    "mac_roman": 0.4,
}
"""Encodings to guess from, and how common each one is. Windows-1252 is by far the most common. Others differ from it in
a few signs; without these weights "£5" in a short English text would become "Ł5".
"""
_MOSTLY_ASCII = 0.7
"""From this share of ASCII on, bytes that fit no encoding well still count as text."""
_NO_LIKENESS = 1e-6  # a score below this means that no encoding fits
_CHOOSE = "If that is wrong, choose another one in the list of files of a new run."
_MAX_OTHERS = 2
"""Number of other encodings that a caution names."""
_EXCERPT = 24  # characters around a difference
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_BETWEEN = re.compile(rb"[\0-\x2f]")
"""Bytes that are never part of a longer character in any of the encodings, so that data can be cut between two of them.
"""
_WORD = re.compile(r"[^ \t\r\n]+")
_NO_TEXT = "is not text"


class DecodedText(NamedTuple):
    """A text without its byte order mark, and the name of its encoding.

    `caution`: a sentence that says that the encoding was guessed and how else the text may be read, or empty.
    """

    encoding: str
    text: str
    caution: str = ""


def read_all(data: bytes) -> bytes:
    """Entry point of an isolated process. Takes packed contents, and returns encoding, text and caution of each.

    For a content that is not text, it returns an empty string, the reason and an empty string.
    """
    return packed(part for content in unpacked(data) for part in _read(content))


def _read(content: bytes) -> Iterable[bytes]:
    try:
        encoding, text, caution = decode(content)
    except InvalidInput as error:
        return b"", str(error).encode(), b""
    return encoding.encode(), text.encode(), f"{caution} {_CHOOSE}".encode() if caution else b""


def read_as(data: bytes, codec: str) -> bytes:
    """Entry point of an isolated process: decodes a content with the encoding of `CODECS` that a person has chosen.

    Raises InvalidInput with a clause that continues the file's name.
    """
    text = strictly(data, codec)
    if text is None:
        raise InvalidInput(f"is not text in {CODECS[codec]}; choose another encoding")
    return text.encode()


def decode(data: bytes) -> DecodedText:
    """Decodes bytes that are not UTF-8.

    Raises InvalidInput, with a clause that says what they are instead, if they are not text.
    """
    for mark, codec, name in _BOMS:
        if data.startswith(mark):
            text = strictly(data, codec)
            if text is None:
                raise InvalidInput(f"begins as {name} text and does not go on as such; save it as UTF-8")
            return DecodedText(name, text)
    if b"\0" in data:
        # UTF-16 without a byte order mark: most letters are Latin, with their zero bytes on the same side.
        for codec, zeros in (("utf-16-le", data[1::2]), ("utf-16-be", data[::2])):
            if len(data) % 2 == 0 and zeros.count(0) >= MIN_LATIN * len(zeros):
                text = strictly(data, codec)
                if text is not None:
                    return DecodedText("UTF-16", text)
        raise InvalidInput(_NO_TEXT)
    if at := _breaks_utf_8(data):
        raise InvalidInput(f"is UTF-8 text that is damaged at byte {at:,}; save it as UTF-8 again")
    return decode_guessed(data)


def _breaks_utf_8(data: bytes) -> int:
    """Returns the position (from 1) of the first byte that breaks otherwise valid UTF-8, or 0 if the data is not UTF-8.

    Text in other encodings is hardly ever valid UTF-8 by chance. Without this check a damaged file would be decoded
    with one of them, and every "ü" would become "Ã¼".
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        text = data.decode(errors="replace")
        wrong = text.count("\ufffd")
        right = len(text) - len(text.encode("ascii", "ignore")) - wrong
        return error.start + 1 if right > wrong else 0
    return 0


def decode_guessed(data: bytes) -> DecodedText:
    """Decodes bytes whose encoding is not stated. Raises InvalidInput like `decode`."""
    sample = _sample(data)
    found = ranked(sample, _LIKELY)
    ascii_share = len(data.decode("ascii", "ignore")) / len(data)
    for best in found:
        if best.score < _NO_LIKENESS and ascii_share < _MOSTLY_ASCII:
            break
        text = strictly(data, best.codec)
        if text is not None:
            others = [one for one in alternatives(sample, best, found) if strictly(data, one.codec) is not None]
            return DecodedText(CODECS[best.codec], text, _caution(best, others))
    raise InvalidInput(_NO_TEXT)


def _caution(best: Candidate, others: Sequence[Candidate]) -> str:
    name = CODECS[best.codec]
    if best.score < _NO_LIKENESS or (best.looks_wrong and not others):
        return f"Its encoding was guessed as {name}, in which its words look wrong."
    if not others:
        return ""
    said = [(*_difference(best.text, one.text), CODECS[one.codec]) for one in others[:_MAX_OTHERS]]
    readings = [f"“{ours}” would be “{theirs}” in {codec}" for ours, theirs, codec in said]
    return f"Its encoding was guessed as {name}: {', and '.join(readings)}."


def _difference(text: str, other: str) -> tuple[str, str]:
    """Returns the first word that differs between the two texts, in both. A long word is cut to the surroundings of the
    difference.
    """
    words = zip(_WORD.findall(text), _WORD.findall(other), strict=False)
    ours, theirs = next((pair for pair in words if pair[0] != pair[1]), (text, other))
    at = next((at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), 0)
    start = max(0, at - _EXCERPT // 2)
    return ours[start : start + _EXCERPT], theirs[start : start + _EXCERPT]


def _sample(data: bytes) -> bytes:
    """Returns the first lines that are not ASCII. ASCII lines look the same in all encodings."""
    found, left, at = list[bytes](), MAX_BYTES, 0
    while left > 0 and (match := _NOT_ASCII.search(data, at)):
        line = data.rfind(b"\n", at, match.start()) + 1
        start = max(line, at, match.start() - 100)
        end = _BETWEEN.search(data, min(match.start() + left, len(data)))
        newline = data.find(b"\n", match.start())
        at = min((place for place in (newline + 1, end.start() if end else 0) if place > 0), default=len(data))
        found.append(data[start : min(at, start + MAX_BYTES)])
        left -= at - start
    return b"".join(found)
