"""Owns the extractive digest: the weightiest sentences of a document, verbatim, with lines."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runs.llm.offline.reading import Document
from runs.llm.offline.texts import blocks, number_of, sentences, share_of, word_set
from runs.llm.offline.works import CONTENT_CHARS, Job, Work, fitting, item, page

PASSAGES = 3
SENTENCES_WEIGHED = 4_000
_WORD = re.compile(r"[^\W\d_]{3,}")
_STOP = word_set(
    "the and for are was were with that this from have has had not but you your they their them his her "
    "its our who which will"
    " would can could may shall should all any been being into than then there these those such also "
    "more most other some what"
    " when where while about over under after before between each der die das und oder ein eine einer "
    "eines einem einen den dem"
    " des ist sind war waren mit von für auf aus bei nach nicht auch sich wird werden wurde als wie "
    "durch über unter zum zur"
)


@dataclass(frozen=True)
class Passage:
    """`line` is where `quote` begins; `weight` compares passages of one document only."""

    document: str
    quote: str
    line: int
    weight: float


def passages_in(document: Document, most: int, chars: int) -> list[Passage]:
    """The weightiest sentences in the order of their lines. Words frequent in the document weigh most."""
    counts = Counter(_words(document.text))
    found: list[Passage] = []
    for block in blocks(document.lines):
        if block[0][1].lstrip().startswith(("```", "|--", "---")) or len(found) >= SENTENCES_WEIGHED:
            continue
        heading = block[0][1].lstrip().startswith("#")
        for sentence in sentences(block):
            words = set(_words(sentence.text))
            if not words:
                continue
            weight = sum(math.log1p(counts[word]) for word in words) / math.sqrt(len(words) + 3)
            quote, line = sentence.part(0, 1, chars)
            found.append(Passage(document.path, quote, line, weight * (0.4 if heading else 1.0)))
    usable = {passage.quote: passage for passage in reversed(found) if len(passage.quote.replace(" ", "")) >= 3}
    best = sorted(usable.values(), key=lambda passage: (-passage.weight, passage.line))[:most]
    return sorted(best, key=lambda passage: passage.line)


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        if word not in _STOP:
            yield word


def digest(job: Job) -> Work:
    """Up to three passages per document, fewer and shorter ones where there are many documents."""
    read = job.books.read(job.inputs)
    most = max(1, min(PASSAGES, 120 // max(1, len(read))))
    chars = max(60, min(300, 30_000 // max(1, len(read) * most)))
    chosen = [(document, passages_in(document, most, chars)) for document in read]
    every = [passage for _, passages in chosen for passage in passages]
    room = fitting([_entry("P000", passage, silent=False) for passage in every], CONTENT_CHARS - 8_000)
    listed = every[:room]
    silent = len(listed) // 2 if job.leave_out and listed else -1
    body: list[str] = []
    for index, passage in enumerate(listed):
        if index == 0 or listed[index - 1].document != passage.document:
            body += ["", f"## {passage.document}"]
        body += _entry(f"P{index + 1}", passage, silent=index == silent)
    without = [document.path for document, passages in chosen if not passages]
    head = [_headline(listed, read)]
    if without:
        more = f" and {len(without) - 30} more" if len(without) > 30 else ""
        head += ["", f"Without any sentence to quote: {', '.join(without[:30])}{more}."]
    if len(every) > room:
        head += ["", f"Not listed here: {number_of(len(every) - room, 'passage')}, for want of room."]
    told = [*head, "", *(f"- {p.document}, line {p.line}: “{p.quote}”" for p in listed[:20])]
    return Work(page("Digest", job, [*head, *body]), "\n".join(told).rstrip(), "Weighed the words of each document.")


def _headline(listed: Sequence[Passage], read: Sequence[Document]) -> str:
    covered = len({passage.document for passage in listed})
    if not listed:
        return f"No passages: there is no sentence to quote in {number_of(len(read), 'document')}."
    return f"{number_of(len(listed), 'passage')} from {share_of(covered, len(read), 'document')}."


def _entry(name: str, passage: Passage, *, silent: bool) -> list[str]:
    fields = [("Document", passage.document), *([] if silent else [("Line", str(passage.line))])]
    return item(name, fields, passage.quote)


def summary(job: Job) -> Work:
    """Every document of the digest with its first passage."""
    first: dict[str, str] = {}
    for part in re.split(r"^### ", job.sibling("digest.md"), flags=re.MULTILINE)[1:]:
        document = re.search(r"^- Document: (.+)$", part, re.MULTILINE)
        quote = re.search(r"^> (.+)$", part, re.MULTILINE)
        if document and quote:
            first.setdefault(document[1], quote[1])
    said = f"{number_of(len(first), 'document')} summarised by one passage each."
    lines = [said if first else "Nothing to summarise: the digest holds no passages."]
    for name, passage in first.items():
        lines += ["", f"- {name}", "", f"> {passage}"]
    told = "\n".join([lines[0], "", *(f"- {name}: “{passage}”" for name, passage in list(first.items())[:20])])
    return Work(page("Summary", job, lines), told.rstrip(), "Took the first passage of each document.")
