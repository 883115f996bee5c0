"""Texts in an encoding that a person has chosen: they are kept as UTF-8, and the history says so."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256

from django.core.files.base import ContentFile

from runs import isolation
from runs.documents import encodings
from runs.documents.encodings import CODECS
from runs.errors import InvalidInput
from runs.isolation import ChildFailed
from runs.store import input_examination
from runs.submission.intake import Upload, check_limits
from runs.text.normalisation import caseless
from runs.text.path_patterns import selected


def as_utf8(path: str, content: bytes, codec: str) -> bytes:
    """The content of a file in this encoding of `CODECS`. Raises InvalidInput for what is no text in it."""
    try:
        return isolation.run(f"{encodings.__name__}.read_as", content, input_examination.LIMITS, codec=codec)
    except InvalidInput as error:
        raise InvalidInput(f"{path} {error}.") from error
    except ChildFailed as error:
        raise InvalidInput(f"{path} is more than can be read in another encoding: {error}.") from error


def remark(path: str, encoding: str, given: str, by: str) -> str:
    """For the history. `given` is the SHA-256 of what the file was."""
    return (
        f"{path} was read as {encoding}, which {by} has chosen, and is kept as UTF-8. The file that was given has the "
        f"SHA-256 {given}."
    )


def encoded(uploads: Sequence[Upload], choices: Iterable[str], by: str) -> tuple[list[Upload], list[str]]:
    """The files, those that are chosen as UTF-8, and a remark on each of these. A choice is a path or a pattern, `=`
    and the name of an encoding: "*.csv=Windows-1251". Of two for one file the last counts. Raises InvalidInput
    for a choice that means nothing, and UploadRefused for files that are too large.
    """
    found, remarks, chosen = list(uploads), list[str](), dict[str, str]()
    for choice in choices:
        pattern, equals, name = choice.rpartition("=")
        codec = _codec(name)
        if not (pattern and equals and codec):
            names = ", ".join(CODECS.values())
            raise InvalidInput(f"“{choice}” cannot be read. Write FILE=ENCODING, with one of {names}.")
        paths = set(selected([pattern], [one.path for one in found]))
        if not paths:
            raise InvalidInput(f"No file matches “{pattern}”. Name a file, a folder or a pattern such as *.csv.")
        chosen |= dict.fromkeys(paths, codec)
    check_limits([(one.path, one.content.size or 0) for one in found if one.path in chosen])
    for at, one in enumerate(found):
        if one.path in chosen:
            codec = chosen[one.path]
            content = b"".join(one.content.chunks())
            found[at] = replace(one, content=ContentFile(as_utf8(one.path, content, codec)))
            remarks.append(remark(one.path, CODECS[codec], sha256(content).hexdigest(), by))
    return found, remarks


def _codec(name: str) -> str:
    """By what people call it or by the name in Python; empty if it is none."""
    wanted = _plain(name)
    return next((codec for codec, called in CODECS.items() if wanted in {_plain(codec), _plain(called)}), "")


def _plain(name: str) -> str:
    return caseless("".join(filter(str.isalnum, name)))
