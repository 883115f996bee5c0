"""Mails as lines: header fields, body, and the names of attachments."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from runs.documents.document_format import DocumentFormat
from runs.documents.formats.html.html_reader import CUT, page_of
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument
from runs.errors import InvalidInput
from runs.text.normalisation import caseless

_MAX_ATTACHMENTS = 100
_MAX_ATTACHED_BYTES = 100_000_000
"""Of all attachments together."""
_MAX_ORNAMENT = 10_000
"""Bytes of a picture in the text of a mail. Smaller ones belong to signatures and are not documents."""
_MAX_NAME = 200  # characters of an attachment's name
_NO_NAME = re.compile(r"[\x00-\x1f\x7f]+")


class MailLine(NamedTuple):
    """A line. `hidden`: the ranges that are not shown."""

    text: str
    label: str = ""
    hidden: Sequence[tuple[int, int]] = ()


class Mail(NamedTuple):
    """A mail. `fields`: names and values. `attachments`: names. `notes`: what could not be read. `cautions`: what to
    know before relying on the text.
    """

    fields: Sequence[tuple[str, str]]
    lines: Sequence[MailLine]
    attachments: Sequence[str]
    notes: Sequence[str]
    cautions: Sequence[str] = ()


def build_mail(form: DocumentFormat, mail: Mail) -> BuiltDocument:
    """Returns a document with a block for each line. The anchor is the line's number."""
    builder = Builder(form.layout_name or form.name)
    lines = [
        (MailLine(f"{name}: {' '.join(value.split())}"), BlockKind.FIELD)
        for name, value in mail.fields
        if value.strip()
    ]
    body = [(line, BlockKind.LINE) for line in _without_gaps(mail.lines)]
    attached = [(MailLine(f"Attachment: {name}"), BlockKind.FIELD) for name in mail.attachments]
    parts = [part for part in (lines, body, attached) if part]
    between = [(MailLine(""), BlockKind.LINE)]
    everything = [one for part in parts for one in (between if part is not parts[0] else []) + part]
    for number, (line, block_kind) in enumerate(everything, 1):
        block = builder.add(f"L{number}", block_kind, line.text, label=line.label)
        for start, end in line.hidden:
            builder.mark(MarkKind.HIDDEN, block.start + start, block.start + end)
    for note in mail.notes:
        builder.note(note)
    for caution in mail.cautions:
        builder.caution(caution)
    return builder.build(form.unit, len(everything))


def plain_lines(text: str) -> list[MailLine]:
    return [MailLine(line.rstrip()) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def html_lines(data: bytes, encoding: str = "") -> tuple[list[MailLine], Sequence[str], Sequence[str]]:
    """Returns the lines, and sentences on what could not be read and on what to know before relying on the text."""
    page = page_of(data, encoding)
    lines: list[MailLine] = []
    for piece in page.pieces:
        at = 0
        for number, text in enumerate(piece.text.split("\n")):
            hidden = [
                (max(start - at, 0), min(end - at, len(text)))
                for start, end in piece.hidden
                if start < at + len(text) and end > at
            ]
            lines.append(MailLine(text, "" if number else piece.label, hidden))
            at += len(text) + 1
    return lines, [CUT] if page.is_cut else [], page.cautions


def check_count(attachments: int) -> None:
    if attachments > _MAX_ATTACHMENTS:
        raise InvalidInput(f"has more than {_MAX_ATTACHMENTS} attachments")


def without_ornaments(attachments: Iterable[tuple[str, bool, bytes]]) -> list[tuple[str, bytes]]:
    """Returns names and contents of attachments, without small pictures of the text. The flag says whether one is such
    a picture.
    """
    files = [(name, data) for name, is_in_text, data in attachments if len(data) >= _MAX_ORNAMENT or not is_in_text]
    if sum(len(data) for _, data in files) > _MAX_ATTACHED_BYTES:
        raise InvalidInput(f"has attachments of more than {_MAX_ATTACHED_BYTES // 1_000_000} MB")
    return files


def attachment_name(name: str | None, number: int) -> str:
    """Returns the last part of the name that a mail gives, which may be anything, or else a name with the number."""
    bare = re.split(r"[/\\]", _NO_NAME.sub(" ", name or ""))[-1].strip(" .")[:_MAX_NAME]
    return bare or f"attachment {number}"


def _without_gaps(lines: Sequence[MailLine]) -> Iterator[MailLine]:
    """Yields lines with at most one empty line in a row, and none at the beginning and the end."""
    is_gap = False
    begun = False
    for line in lines:
        if not line.text.strip():
            is_gap = begun
            continue
        if is_gap:
            yield MailLine("")
        yield line
        is_gap, begun = False, True


MAX_WORDS = 6
"""Of the first difference, in a caution."""

_NO_WORDS = re.compile(
    r"^[ \t]*o[ \t]{2,}|\[(?:cid|image|bild|inline image)\b[^\]\n]{0,300}\]"
    r"|<?\b(?:https?|ftp|mailto|tel|cid):[^\s<>]{1,4000}>?",
    re.IGNORECASE | re.MULTILINE,
)
"""Matches what only one of the alternatives may spell out: bullets of Outlook, names of pictures,
addresses of links.
"""

_HYPHEN_AT_END = re.compile(r"(?<=\w-)[ \t]*\n[ \t]*(?=\w)")
"""Mail programs break lines after a hyphen, and do not add hyphens to words."""

_WORD = re.compile(r"(?<!\w)[-−–](?=[€$£¥]?\d)|[€$£¥₹%‰]|\d+(?:[.,:'’]\d+)*|[^\W\d_]+")
"""Matches words and figures, with signs that change the value of a figure."""


class Alternative(NamedTuple):
    """A version of a mail's text. `name`: what people call it, such as “HTML”."""

    name: str
    lines: Sequence[MailLine]


def combine_alternatives(shown: Alternative, others: Sequence[Alternative]) -> tuple[list[MailLine], list[str]]:
    """Returns the lines of the alternative that is shown, followed by each other alternative with different words, and
    cautions about them.
    """
    lines, cautions = list(shown.lines), list[str]()
    known = [_words(shown.lines)]
    for other in others:
        words = _words(other.lines)
        if not words or words in known:
            continue
        ours, theirs = _difference(known[0], words)
        known.append(words)
        lines += [
            MailLine(""),
            MailLine(f"[The {other.name} of this mail says something else:]"),
            MailLine(""),
            *other.lines,
        ]
        cautions.append(
            f"The {other.name} of the mail says something else than its {shown.name}: {theirs} instead of {ours}. "
            "Both were read."
        )
    return lines, cautions


def _words(lines: Sequence[MailLine]) -> list[str]:
    """Returns the visible words in order, in normalised spelling."""
    text = "\n".join(f"{line.label} {_visible(line)}" for line in lines)
    return _WORD.findall(caseless(_HYPHEN_AT_END.sub("", _NO_WORDS.sub(" ", text))))


def _visible(line: MailLine) -> str:
    text = line.text
    for start, end in sorted(line.hidden, reverse=True):
        text = text[:start] + text[end:]
    return text


def _difference(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, str]:
    """Returns the words from the first difference on, in both."""
    pairs = enumerate(zip_longest(ours, theirs))
    at = next(at for at, (one, other) in pairs if one != other)
    return _excerpt(ours[at:]), _excerpt(theirs[at:])


def _excerpt(words: Sequence[str]) -> str:
    more = " …" if len(words) > MAX_WORDS else ""
    return f"“{' '.join(word[:30] for word in words[:MAX_WORDS])}{more}”" if words else "nothing"
