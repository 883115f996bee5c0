"""Measures the readers of documents, each in a process of its own: time of the processor and memory at its peak.

Beside them those of other libraries that this interpreter has (pypdf is a dependency of the tests): pypdf, mammoth and
markitdown, for their text alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from tests.bench.figures import Figure
from tests.documents import pdfs
from tests.documents.contract import contract
from tests.documents.workbooks import large

_RUNNER = """
import gc, json, resource, sys, time
from importlib import import_module
from pathlib import Path
kind, path = sys.argv[1:]
data = Path(path).read_bytes()
def ours(module):
    return import_module("runs.documents.readers." + module).read
def pypdf():
    import io
    from pypdf import PdfReader
    return lambda data: "".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)
def mammoth():
    import io
    import mammoth
    return lambda data: mammoth.extract_raw_text(io.BytesIO(data)).value
def markitdown():
    from markitdown import MarkItDown
    return lambda data: MarkItDown().convert(path).text_content
looking = 0.0
def timed(looks):
    def measured(*arguments):
        global looking
        began = time.process_time()
        try:
            return looks(*arguments)
        finally:
            looking += time.process_time() - began
    return measured
reader = globals()[kind]() if kind in globals() else ours(kind)
if kind == "pdf":
    from runs.documents.readers.pdf import pages
    pages.looks = timed(pages.looks)
gc.disable()  # as in guarded processes: cycles would keep what they hold
began = time.process_time()
size = len(reader(data))
taken = time.process_time() - began
status = Path("/proc/self/status")  # of this program alone: ru_maxrss begins with that of the process before exec
if status.exists():
    peak = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024)
print(json.dumps([taken, peak, size, looking / taken]))
"""
type Goals = tuple[float | None, float | None]
"""Seconds and megabytes."""


def measure(*, short: bool) -> list[Figure]:
    pages, rows = (20, 500) if short else (300, 50_000)
    documents: Mapping[str, tuple[str, Callable[[], bytes], tuple[str, ...], Goals]] = {
        "contract of 60 pages.docx": ("docx", lambda: contract().data, ("mammoth", "markitdown"), (None, None)),
        f"{pages} pages.pdf": ("pdf", lambda: _pdf(pages), ("pypdf", "markitdown"), (3.0, None)),
        f"{pages} pages in columns.pdf": ("pdf", lambda: _columns(pages), (), (None, None)),
        f"{pages} stamped pages.pdf": ("pdf", lambda: _stamped(pages), (), (None, 100.0)),
        f"{rows:,} rows.xlsx": ("xlsx", lambda: large(rows), ("markitdown",), (3.0, 150.0)),
    }
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (reader, make, others, goals) in documents.items():
            path = Path(folder) / name
            path.write_bytes(make())
            figures += _figures(name, reader, path, goals)
            for other in others:
                if find_spec(other):
                    figures += _figures(f"{name} by {other}", other, path, (None, None))
    return figures


def _figures(name: str, reader: str, path: Path, goals: Goals) -> list[Figure]:
    command = [sys.executable, "-c", _RUNNER, reader, str(path)]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode and " by " in name:
        print(f"  {name}: failed", flush=True)
        return []
    answer.check_returncode()
    seconds, megabytes, size, looking = json.loads(answer.stdout.splitlines()[-1])
    assert size > 1_000
    figures = [
        Figure(f"{name}: time", seconds, "s", max=goals[0]),
        Figure(f"{name}: memory", megabytes, "MB", max=goals[1]),
    ]
    most = None if "stamped" in name else 25.0  # what lies under a stamp takes pictures of each page to tell
    share = Figure(f"{name}: of the time, to find hidden text", 100 * looking, "%", max=most)
    return [*figures, share] if looking else figures


def _columns(pages: int) -> bytes:
    return pdfs.two_columns(pdfs.words(pages * 680))


def _stamped(pages: int) -> bytes:
    """Full pages, each with a number over a white box that lies on its last line."""
    lines = [pdfs.line(f"The Supplier is liable for item {at} without limit.", y=740 - 16 * at) for at in range(45)]
    box = b"q 1 g 240 20 150 22 re f Q "
    return pdfs.pages_of([b"".join([*lines, box, pdfs.line(f"ABC-{at:06}", x=250, y=26)]) for at in range(pages)])


def _pdf(pages: int) -> bytes:
    """400 words and some 2,500 characters a page, word by word, as programs write them."""
    return pdfs.word_by_word(pdfs.words(pages * 400), lines=40)
