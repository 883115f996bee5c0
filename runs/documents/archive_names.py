"""Decodes file names in archives that do not state an encoding. All names of an archive are guessed together."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from runs.documents.encoding_guess import MAX_BYTES, Candidate, alternatives, ranked, strictly
from runs.documents.encodings import CODECS

_LIKELY = {
    **dict.fromkeys(("cp850", "cp866", "cp932", "gb18030", "big5", "cp949", "cp1252"), 1.0),
    **dict.fromkeys(("cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp874", "euc_jp"), 0.3),
    **dict.fromkeys(("koi8_r", "mac_roman"), 0.2),
    "cp437": 1.2,
    "cp852": 0.5,
    "cp857": 0.3,
    "cp1251": 0.7,
}
"""Encodings of names and how common each one is. Most are DOS code pages, because Windows uses them in zip files."""
_DECODED = "“{}” is taken for its name, which would be “{}” in {}."
_LOOKS_WRONG = "“{}” is taken for its name, though it looks wrong."
_UNKNOWN = "Its name in the archive is in no encoding that is known."
_BACKSLASH = "“_” stands for a backslash in its name, which would separate folders here."
_MAX_SHOWN = 60
"""Characters of a name in a caution. The column for cautions has 300."""
_LEADS_OUT = re.compile(r"^[A-Za-z]:|^[\\/]|(?:^|[\\/])\.\.(?:[\\/]|$)")


class EntryName(NamedTuple):
    """A file name. `caution`: a sentence on what is doubtful about it, usually empty."""

    name: str
    caution: str = ""


def decode_names(raws: Iterable[bytes]) -> dict[bytes, EntryName]:
    """Decodes the names of one archive. Names that are not UTF-8 are all assumed to be in one encoding."""
    names = list(dict.fromkeys(raws))
    found = {raw: EntryName(raw.decode()) for raw in names if raw.isascii()}
    others = [raw for raw in names if not raw.isascii()]
    in_utf_8 = {raw: EntryName(text) for raw in others if (text := strictly(raw, "utf-8")) is not None}
    if 2 * len(in_utf_8) > len(others):  # a few bytes may be valid UTF-8 by chance
        found |= in_utf_8
    found |= _guessed([raw for raw in others if raw not in found])
    return found


def with_folders(given: EntryName, *, from_windows: bool) -> EntryName:
    """Returns the name with slashes between its folders.

    A backslash separates folders only in archives from Windows. A name that would lead out of the archive is not
    changed; it is refused later, like all such names.
    """
    if "\\" not in given.name or _LEADS_OUT.search(given.name):
        return given
    if from_windows:
        return given._replace(name=given.name.replace("\\", "/"))
    return EntryName(given.name.replace("\\", "_"), " ".join(filter(None, (given.caution, _BACKSLASH))))


def _guessed(raws: Sequence[bytes]) -> dict[bytes, EntryName]:
    if not raws:
        return {}
    # The sample has as many of the names as fit, one per line.
    lines, left = list[bytes](), MAX_BYTES
    for raw in raws:
        left -= len(raw) + 1
        if left <= 0:
            break
        lines.append(raw)
    sample = b"\n".join(lines)
    found = [one for one in ranked(sample, _LIKELY) if all(strictly(raw, one.codec) is not None for raw in raws)]
    if not found:
        return {raw: EntryName(raw.decode("cp437"), _UNKNOWN) for raw in raws}
    others = list(alternatives(sample, found[0], found))
    return {raw: _name(raw, found[0], others) for raw in raws}


def _name(raw: bytes, best: Candidate, others: Iterable[Candidate]) -> EntryName:
    name = raw.decode(best.codec)
    for one in others:
        other = raw.decode(one.codec)
        if other != name:
            return EntryName(name, _DECODED.format(name[-_MAX_SHOWN:], other[-_MAX_SHOWN:], CODECS[one.codec]))
    return EntryName(name, _LOOKS_WRONG.format(name[-_MAX_SHOWN:]) if best.looks_wrong else "")
