"""Mails as lines: the fields of the header, the body, and the names of what is attached."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from runs.documents.document_format import DocumentFormat
from runs.documents.formats.html.reader import CUT, page_of
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument
from runs.text.normalisation import caseless

MAX_ATTACHMENTS = 100
MAX_ATTACHED_BYTES = 100_000_000
"""Of all attachments together."""
MAX_ORNAMENT = 10_000
"""Bytes of a picture that stands in the text of a mail: smaller ones are those of signatures, and no documents."""
_MAX_NAME = 200
_NO_NAME = re.compile(r"[\x00-\x1f\x7f]+")


class Line(NamedTuple):
    """`hidden`: from where to where it is not shown."""

    text: str
    label: str = ""
    hidden: Sequence[tuple[int, int]] = ()


class Mail(NamedTuple):
    """`fields` by name; `attachments`: their names; `notes`: what could not be read; `cautions`: what to know before
    relying on it.
    """

    fields: Sequence[tuple[str, str]]
    lines: Sequence[Line]
    attachments: Sequence[str]
    notes: Sequence[str]
    cautions: Sequence[str] = ()


def laid_out(form: DocumentFormat, mail: Mail) -> BuiltDocument:
    """One block for each line, whose anchor is its number."""
    builder = Builder(form.layout_name or form.name)
    lines = [
        (Line(f"{name}: {' '.join(value.split())}"), BlockKind.FIELD) for name, value in mail.fields if value.strip()
    ]
    body = [(line, BlockKind.LINE) for line in _without_gaps(mail.lines)]
    attached = [(Line(f"Attachment: {name}"), BlockKind.FIELD) for name in mail.attachments]
    parts = [part for part in (lines, body, attached) if part]
    between = [(Line(""), BlockKind.LINE)]
    everything = [one for part in parts for one in (between if part is not parts[0] else []) + part]
    for number, (line, block_kind) in enumerate(everything, 1):
        block = builder.add(f"L{number}", block_kind, line.text, label=line.label)
        for start, end in line.hidden:
            builder.mark(MarkKind.HIDDEN, block.start + start, block.start + end)
    for note in mail.notes:
        builder.note(note)
    for caution in mail.cautions:
        builder.caution(caution)
    return builder.made(form.unit, len(everything))


def plain_lines(text: str) -> list[Line]:
    return [Line(line.rstrip()) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def html_lines(data: bytes, encoding: str = "") -> tuple[list[Line], Sequence[str], Sequence[str]]:
    """With what could not be read, and what to know before relying on it, as sentences."""
    page = page_of(data, encoding)
    lines: list[Line] = []
    for piece in page.pieces:
        at = 0
        for number, text in enumerate(piece.text.split("\n")):
            hidden = [
                (max(start - at, 0), min(end - at, len(text)))
                for start, end in piece.hidden
                if start < at + len(text) and end > at
            ]
            lines.append(Line(text, "" if number else piece.label, hidden))
            at += len(text) + 1
    return lines, [CUT] if page.is_cut else [], page.cautions


def attachment_name(name: str | None, number: int) -> str:
    """The last part of a name that a mail gives, which may be anything; one with its number where there is none."""
    bare = re.split(r"[/\\]", _NO_NAME.sub(" ", name or ""))[-1].strip(" .")[:_MAX_NAME]
    return bare or f"attachment {number}"


def _without_gaps(lines: Sequence[Line]) -> Iterator[Line]:
    """With one empty line where there are several, and none at the beginning and the end."""
    is_gap = False
    begun = False
    for line in lines:
        if not line.text.strip():
            is_gap = begun
            continue
        if is_gap:
            yield Line("")
        yield line
        is_gap, begun = False, True


MAX_WORDS = 6
"""Of the first difference, in a caution."""

_NO_WORDS = re.compile(
    r"^[ \t]*o[ \t]{2,}|\[(?:cid|image|bild|inline image)\b[^\]\n]{0,300}\]"
    r"|<?\b(?:https?|ftp|mailto|tel|cid):[^\s<>]{1,4000}>?",
    re.IGNORECASE | re.MULTILINE,
)
"""What only one of the alternatives may spell out: bullets of Outlook, names of pictures, addresses of links."""

_HYPHEN_AT_END = re.compile(r"(?<=\w-)[ \t]*\n[ \t]*(?=\w)")
"""Mail programs break lines behind a hyphen, and put none into words."""

_WORD = re.compile(r"(?<!\w)[-−–](?=[€$£¥]?\d)|[€$£¥₹%‰]|\d+(?:[.,:'’]\d+)*|[^\W\d_]+")
"""Words and figures, with the signs that change what a figure says."""


class Alternative(NamedTuple):
    """`name`: what people call it, such as “HTML”."""

    name: str
    lines: Sequence[Line]


def put_together(shown: Alternative, others: Sequence[Alternative]) -> tuple[list[Line], list[str]]:
    """The lines of the alternative that is shown, and behind them all of each other one that says something else; and
    cautions that say so.
    """
    lines, cautions = list(shown.lines), list[str]()
    known = [_words(shown.lines)]
    for other in others:
        words = _words(other.lines)
        if not words or words in known:
            continue
        ours, theirs = _difference(known[0], words)
        known.append(words)
        lines += [Line(""), Line(f"[The {other.name} of this mail says something else:]"), Line(""), *other.lines]
        cautions.append(
            f"The {other.name} of the mail says something else than its {shown.name}: {theirs} instead of {ours}. "
            "Both were read."
        )
    return lines, cautions


def _words(lines: Sequence[Line]) -> list[str]:
    """In their order, as people see them: without what is hidden, and however it is spelt."""
    text = "\n".join(f"{line.label} {_visible(line)}" for line in lines)
    return _WORD.findall(caseless(_HYPHEN_AT_END.sub("", _NO_WORDS.sub(" ", text))))


def _visible(line: Line) -> str:
    text = line.text
    for start, end in sorted(line.hidden, reverse=True):
        text = text[:start] + text[end:]
    return text


def _difference(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, str]:
    """The words from the first difference on, in both."""
    pairs = enumerate(zip_longest(ours, theirs))
    at = next(at for at, (one, other) in pairs if one != other)
    return _excerpt(ours[at:]), _excerpt(theirs[at:])


def _excerpt(words: Sequence[str]) -> str:
    more = " …" if len(words) > MAX_WORDS else ""
    return f"“{' '.join(word[:30] for word in words[:MAX_WORDS])}{more}”" if words else "nothing"
