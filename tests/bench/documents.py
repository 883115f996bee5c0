"""Measures the readers of documents next to those of other libraries, each in a process of its own.

Generated documents show time of the processor and memory at its peak, and how many of the numbers of a contract come
with their paragraphs. Real ones (`tests.documents.corpus`) show which words a reader misses and adds, and
`tests.bench.agreement` says what that can show. The libraries are those that the interpreter of `--peers` has, or this
one.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from threading import Timer
from typing import NamedTuple

from tests.bench.agreement import (
    Difference,
    Numbers,
    compare,
    compare_readers,
    numbers_in,
    numbers_of_headings,
    plain,
    stated_in,
    words_in,
)
from tests.bench.figures import Figure, ShapeBroken
from tests.bench.peers import document_readers
from tests.bench.peers.document_readers import READERS
from tests.bench.process import environment_of_peer
from tests.documents import pdfs
from tests.documents.contract import Contract, contract
from tests.documents.corpus import Sample, documents_in, packages_in
from tests.documents.word import zipped
from tests.documents.workbooks import large

OURS = "pevsite"
FORMATS = ("docx", "pdf", "pptx", "xlsx", "odt", "rtf", "epub", "html", "eml")
"""Those that a peer reads as well. Pictures and scans are another measure: that of OCR."""
WITHOUT_NUMBERS = frozenset({"docx", "odt"})
"""Formats whose files do not hold the numbers of paragraphs as text."""
MAX_SECONDS = 60.0
"""For a file; a reader that takes longer is ended and has not read it."""
MAX_SECONDS_OF_GENERATED = 300.0
MANY_MISSING = 0.05
"""From this share of missing words on, a file is counted."""
WORST = 12
_TYPE = "application/vnd.openxmlformats-officedocument.{}+xml"
type Goals = tuple[float | None, float | None]
"""Seconds and megabytes."""


class Reading(NamedTuple):
    text: str
    numbered: str
    seconds: float
    megabytes: float
    looking: float


class Row(NamedTuple):
    """What a reader made of the files of a format.

    `read`: those that it has words of. `unread`: those that it has none of though the reference has, with the reason.
    `differences`: by file, where there is a reference. `numbers`: of headings, by file with a table of contents.
    """

    format: str
    reader: str
    read: int
    unread: Mapping[str, str]
    differences: Mapping[str, Difference]
    numbers: Sequence[Numbers]
    seconds: float
    megabytes: float

    @property
    def reference(self) -> int:
        return sum(one.reference for one in self.differences.values())

    @property
    def missing(self) -> int:
        return sum(one.missing.total() for one in self.differences.values())

    @property
    def added(self) -> int:
        return sum(one.added.total() for one in self.differences.values())


def measure(*, short: bool, python: str | None, corpus: Path) -> list[Figure]:
    """`python`: the interpreter that has the other libraries. `corpus`: the folder of the real documents."""
    readers = _readers(python)
    figures = _of_generated(readers, short=short)
    if short:
        return figures
    samples = [sample for sample in documents_in(packages_in(corpus)) if sample.format in FORMATS]
    if not samples:
        print(f"  No real documents: `uv run python -m tests.documents.corpus {corpus}` fetches them.", flush=True)
        return figures
    names = ", ".join(f"{name} {version}".strip() for name, (version, _) in readers.items())
    print(f"  {len(samples)} real documents, read by {names}", flush=True)
    rows = [row for kind in FORMATS for row in _of_real(kind, [one for one in samples if one.format == kind], readers)]
    print("\n".join(_table(rows)), flush=True)
    print("\n".join(_worst(rows)), flush=True)
    return figures + [figure for row in rows if row.reader == OURS for figure in _figures_of(row)]


def _readers(python: str | None) -> dict[str, tuple[str, str]]:
    """The version and the interpreter of each reader, ours first."""
    peers = python or sys.executable
    command = [peers, document_readers.__file__]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=environment_of_peer())
    return {
        OURS: ("", sys.executable),
        **{name: (version, peers) for name, version in json.loads(answer.stdout).items()},
    }


def _of_generated(readers: Mapping[str, tuple[str, str]], *, short: bool) -> list[Figure]:
    pages, rows = (20, 500) if short else (300, 50_000)
    written = contract()
    documents: Mapping[str, tuple[str, Callable[[], bytes], Goals]] = {
        "contract of 60 pages.docx": ("docx", lambda: _as_office_writes(written.data), (None, None)),
        f"{pages} pages.pdf": ("pdf", lambda: _pdf(pages), (3.0, None)),
        f"{pages} pages in columns.pdf": ("pdf", lambda: _columns(pages), (None, None)),
        f"{pages} stamped pages.pdf": ("pdf", lambda: _stamped(pages), (None, 100.0)),
        f"{rows:,} rows.xlsx": ("xlsx", lambda: _as_office_writes(large(rows)), (3.0, 150.0)),
    }
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for document, (kind, make, goals) in documents.items():
            path = Path(folder) / document
            path.write_bytes(make())
            for name, (_, python) in readers.items():
                if kind in READERS[name].engines:
                    (reading,) = _readings(name, kind, python, [path], MAX_SECONDS_OF_GENERATED)
                    is_ours = name == OURS
                    title = document if is_ours else f"{document} by {name}"
                    figures += _figures(title, reading, goals if is_ours else (None, None), is_ours=is_ours)
                    if kind == "docx" and isinstance(reading, Reading):
                        figures += _numbers(title, numbers_in(reading.numbered, _truth(written)), is_ours=is_ours)
    return figures


def _figures(title: str, reading: Reading | str, goals: Goals, *, is_ours: bool) -> list[Figure]:
    if isinstance(reading, str):
        if is_ours:
            raise ShapeBroken(f"{title} was not read: {reading}")
        print(f"  {title}: {reading}", flush=True)
        return []
    assert len(reading.text) > 1_000
    figures = [
        Figure(f"{title}: time", reading.seconds, "s", max=goals[0]),
        Figure(f"{title}: memory", reading.megabytes, "MB", max=goals[1]),
    ]
    most = None if "stamped" in title else 25.0  # what lies under a stamp takes pictures of each page to tell
    share = Figure(f"{title}: of the time, to find hidden text", 100 * reading.looking, "%", max=most)
    return [*figures, share] if reading.looking else figures


def _columns(pages: int) -> bytes:
    return pdfs.two_columns(pdfs.words(pages * 680))


def _stamped(pages: int) -> bytes:
    """Full pages, each with a number over a white box that lies on its last line."""
    lines = [pdfs.line(f"The Supplier is liable for item {at} without limit.", y=740 - 16 * at) for at in range(45)]
    box = b"q 1 g 240 20 150 22 re f Q "
    return pdfs.pages_of([b"".join([*lines, box, pdfs.line(f"ABC-{at:06}", x=250, y=26)]) for at in range(pages)])


def _as_office_writes(data: bytes) -> bytes:
    """A document with what every one of Office has and peers need: types of its parts, and a name for relations."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        contents = {name: package.read(name) for name in package.namelist()}
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{_TYPE.format(_type_of(PurePosixPath(name)))}"/>'
        for name in contents
        if name.endswith(".xml")
    )
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f"{overrides}</Types>"
    )
    relations = b' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:w='
    named = {name: content.replace(b" xmlns:w=", relations, 1) for name, content in contents.items()}
    return zipped({"[Content_Types].xml": types.encode(), **named})


def _type_of(part: PurePosixPath) -> str:
    match part.parts[0], part.stem.rstrip("0123456789"):
        case "word", "document":
            return "wordprocessingml.document.main"
        case "word", name:
            return f"wordprocessingml.{name}"
        case "xl", "workbook":
            return "spreadsheetml.sheet.main"
        case "xl", "sheet":
            return "spreadsheetml.worksheet"
        case _, name:
            return f"spreadsheetml.{name}"


def _truth(written: Contract) -> list[tuple[str, str]]:
    """Numbers of clauses with their texts. Those of footnotes stand where the text refers to them."""
    return [(one.label, one.text) for one in written.blocks if one.label and one.anchor.startswith("p")]


def _numbers(title: str, numbers: Numbers, *, is_ours: bool) -> list[Figure]:
    total = sum(numbers)
    return [
        Figure(f"{title}: numbers right, of {total}", numbers.right, "", min=total if is_ours else None),
        Figure(f"{title}: numbers wrong", numbers.wrong, "", max=0 if is_ours else None),
        Figure(f"{title}: numbers absent", numbers.absent, "", max=0 if is_ours else None),
    ]


def _of_real(kind: str, samples: Sequence[Sample], readers: Mapping[str, tuple[str, str]]) -> Iterator[Row]:
    """What each reader of a format makes of its files: those without an expected text, and those with one."""
    engines = {name: READERS[name].engines[kind] for name in readers if kind in READERS[name].engines}
    readings: dict[str, list[Reading | str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{at}.{kind}" for at in range(len(samples))]
        for path, sample in zip(paths, samples, strict=True):
            path.write_bytes(sample.content)
        for name in engines:
            readings[name] = list(_readings(name, kind, readers[name][1], paths))
    files = [(sample, {name: made[at] for name, made in readings.items()}) for at, sample in enumerate(samples)]
    for title, chosen in (
        (kind, [file for file in files if file[0].expected is None]),
        (f"{kind}, expected text", [file for file in files if file[0].expected is not None]),
    ):
        if chosen:
            yield from _rows(title, chosen, engines, has_numbers=kind in WITHOUT_NUMBERS)


def _rows(
    title: str,
    files: Sequence[tuple[Sample, Mapping[str, Reading | str]]],
    engines: Mapping[str, str],
    *,
    has_numbers: bool,
) -> Iterator[Row]:
    """`files`: with what each reader has made of them."""
    read: dict[str, list[Reading]] = {name: [] for name in engines}
    unread: dict[str, dict[str, str]] = {name: {} for name in engines}
    found: dict[str, dict[str, Difference]] = {name: {} for name in engines}
    numbers: dict[str, list[Numbers]] = {name: [] for name in engines}
    for sample, readings in files:
        words = {name: _words(name, reading) for name, reading in readings.items()}
        differences = _differences(sample, words, engines)
        stated = _stated(readings.values()) if has_numbers else {}
        for name, reading in readings.items():
            difference = differences.get(name)
            if words[name] and isinstance(reading, Reading):
                read[name].append(reading)
                if difference:
                    found[name][sample.name] = difference
                if stated:
                    numbers[name].append(numbers_of_headings(reading.numbered, stated))
            elif difference and difference.reference:
                unread[name][sample.name] = reading if isinstance(reading, str) else "no words"
    for name in engines:
        seconds = sum(one.seconds for one in read[name])
        megabytes = max((one.megabytes for one in read[name]), default=0.0)
        yield Row(title, name, len(read[name]), unread[name], found[name], numbers[name], seconds, megabytes)


def _stated(readings: Iterable[Reading | str]) -> Mapping[str, str]:
    """The numbers that the file's table of contents states, by the reader that has the most of it."""
    return max((stated_in(one.text) for one in readings if isinstance(one, Reading)), key=len, default={})


def _differences(
    sample: Sample, words: Mapping[str, Counter[str]], engines: Mapping[str, str]
) -> Mapping[str, Difference]:
    if sample.expected is None:
        return compare_readers(words, engines)
    expected = words_in(plain(sample.expected))
    found = {name: compare(own, [expected], least=1) for name, own in words.items()}
    return {name: difference for name, difference in found.items() if difference}


def _words(name: str, reading: Reading | str) -> Counter[str]:
    if isinstance(reading, str):
        return Counter()
    return words_in(plain(reading.text) if READERS[name].is_markdown else reading.text)


def _readings(
    name: str, kind: str, python: str, paths: Iterable[Path], seconds: float = MAX_SECONDS
) -> Iterator[Reading | str]:
    """What a reader makes of each file, or why it makes nothing of it: its error, the end of its process."""
    process: subprocess.Popen[str] | None = None
    try:
        for path in paths:
            process = process or _started(name, kind, python)
            assert process.stdin
            assert process.stdout
            timer = Timer(seconds, process.kill)
            timer.start()
            with suppress(BrokenPipeError):
                print(path, file=process.stdin, flush=True)
            line = process.stdout.readline()
            timer.cancel()
            if not line:
                process.kill()
                process.wait()
                process = None
            answer = json.loads(line or '{"error": "its process ended, or it took too long"}')
            yield answer["error"] if "error" in answer else Reading(**answer)
    finally:
        if process:
            process.kill()
            process.wait()


def _started(name: str, kind: str, python: str) -> subprocess.Popen[str]:
    environment = environment_of_peer()
    if name == OURS:
        environment["PYTHONPATH"] = str(Path.cwd())
    return subprocess.Popen(
        [python, document_readers.__file__, name, kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env=environment,
    )


def _table(rows: Iterable[Row]) -> Iterator[str]:
    """Markdown. Words are counted in the files that the reader has words of; numbers are right, wrong and absent."""
    yield "| files | reader | read | not read | words | missing | added | files over 5 % missing | numbers | s | MB |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        words = "– | – | – | –"
        if row.reference:
            missing, added = (f"{count:,} ({count / row.reference:.1%})" for count in (row.missing, row.added))
            many = sum(one.missing.total() > MANY_MISSING * one.reference for one in row.differences.values())
            words = f"{row.reference:,} | {missing} | {added} | {many}"
        shown = "–"
        if row.numbers:
            shown = " / ".join(str(sum(counts)) for counts in zip(*row.numbers, strict=True))
        cost = f"{row.seconds:.1f} | {row.megabytes:.0f}"
        yield f"| {row.format} | {row.reader} | {row.read} | {len(row.unread)} | {words} | {shown} | {cost} |"


def _worst(rows: Sequence[Row]) -> Iterator[str]:
    """The files that our readers do not read, miss the most words of, and add the most words to, with some of them."""
    ours = [row for row in rows if row.reader == OURS]
    for row in ours:
        yield from (f"  Not read: {row.format}: {name}: {reason}" for name, reason in row.unread.items())
    found = [(row, name, one) for row in ours for name, one in row.differences.items()]
    for title, chosen in (
        ("missing", [(one.missing, one.reference, row.format, name) for row, name, one in found]),
        ("added", [(one.added, one.reference, row.format, name) for row, name, one in found]),
    ):
        yield f"  Most words {title}:"
        for words, reference, kind, name in sorted(chosen, key=lambda item: -item[0].total())[:WORST]:
            some = ", ".join(f"{word} ({count})" for word, count in words.most_common(8))
            yield f"    {kind}: {name}: {words.total()}, with {reference} in the reference: {some}"


def _figures_of(row: Row) -> list[Figure]:
    figures = [
        Figure(f"{row.format}, real files: not read though others read them", len(row.unread), ""),
        Figure(f"{row.format}, real files: time", row.seconds, "s"),
        Figure(f"{row.format}, real files: memory", row.megabytes, "MB"),
    ]
    if row.reference:
        figures += [
            Figure(f"{row.format}, real files: words missing", 100 * row.missing / row.reference, "%"),
            Figure(f"{row.format}, real files: words added", 100 * row.added / row.reference, "%"),
        ]
    return figures


def _pdf(pages: int) -> bytes:
    """400 words and some 2,500 characters a page, word by word, as programs write them."""
    return pdfs.word_by_word(pdfs.words(pages * 400), lines=40)
