"""Readers of documents, ours and peers, each in a process of its own. Runs under the interpreter that has the reader.

    PYTHON document_readers.py             prints the readers that PYTHON has, as JSON
    PYTHON document_readers.py NAME FORMAT reads the paths that come on standard input, a line each

The answer to each path is one line of JSON: the text, seconds of the processor, and the peak of memory since the
process began; or the error. The import of a library is not in the seconds, but in the memory. OCR is off: what is
compared is the text that the files hold. `looking`: the share of the seconds that our reader of PDF files took to find
hidden text.
"""

import gc
import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

type Read = Callable[[bytes, Path], str | tuple[str, str]]
"""A content and its path to its text; ours also gives its paragraphs with their numbers."""
MEDIA_TYPES = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odt": "application/vnd.oasis.opendocument.text",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "html": "text/html",
    "eml": "message/rfc822",
}


class Reader(NamedTuple):
    """`engines`: by format, what parses the file. Readers with the same engine make the same mistakes."""

    package: str
    module: str
    engines: Mapping[str, str]
    load: Callable[[str], Read]
    is_markdown: bool = False


def ours(kind: str) -> Read:
    sys.modules["tesserocr"] = None  # type: ignore[assignment]  # as if it were not installed: no OCR
    # the interpreters of the other readers do not have it
    from runs.documents.formats import READ
    from runs.documents.model.layout import Rendered
    from runs.documents.packed_parts import unpacked

    reader: Any = importlib.import_module(READ[kind].reader)
    read = reader.read
    gc.disable()  # as in isolated processes: cycles would keep what they hold
    if kind == "pdf":
        reader.find_hidden_text = timed(reader.find_hidden_text)

    def text_and_numbers(data: bytes, path: Path) -> tuple[str, str]:
        header, content = unpacked(read(data))
        text = content.decode()
        blocks = Rendered.model_validate_json(header).layout.blocks
        return text, "\n".join(f"{block.label} {text[block.start : block.end]}" for block in blocks)

    return text_and_numbers


looking_seconds = 0.0
"""Of the processor, in which our reader of PDF files looked for hidden text in the file before."""


def timed(looks: Callable[..., Any]) -> Callable[..., Any]:
    def measured(*arguments: Any) -> Any:
        global looking_seconds
        began = time.process_time()
        try:
            return looks(*arguments)
        finally:
            looking_seconds += time.process_time() - began

    return measured


def markitdown(kind: str) -> Read:
    converter = importlib.import_module("markitdown").MarkItDown()
    return lambda data, path: str(converter.convert(str(path)).text_content)


def kreuzberg(kind: str) -> Read:
    module = importlib.import_module("kreuzberg")
    config = module.ExtractionConfig(use_cache=False)
    return lambda data, path: str(module.extract_bytes_sync(data, MEDIA_TYPES[kind], config=config).content)


def mammoth(kind: str) -> Read:
    module = importlib.import_module("mammoth")
    return lambda data, path: str(module.extract_raw_text(io.BytesIO(data)).value)


def python_docx(kind: str) -> Read:
    module = importlib.import_module("docx")
    return lambda data, path: "\n".join(_lines_of_docx(module.Document(io.BytesIO(data))))


def _lines_of_docx(container: Any) -> list[str]:
    lines: list[str] = []
    for item in container.iter_inner_content():
        if hasattr(item, "rows"):
            cells = [cell for row in item.rows for cell in row.cells]
            once = {id(cell._tc): cell for cell in cells}  # a merged cell is in several places
            lines += [line for cell in once.values() for line in _lines_of_docx(cell)]
        else:
            lines.append(item.text)
    return lines


def docx2python(kind: str) -> Read:
    module = importlib.import_module("docx2python")

    def read(data: bytes, path: Path) -> str:
        with module.docx2python(io.BytesIO(data)) as document:
            return str(document.text)

    return read


def pypdf(kind: str) -> Read:
    module = importlib.import_module("pypdf")
    return lambda data, path: "\n".join(page.extract_text() for page in module.PdfReader(io.BytesIO(data)).pages)


def odfdo(kind: str) -> Read:
    module = importlib.import_module("odfdo")
    return lambda data, path: str(module.Document(io.BytesIO(data)).get_formatted_text())


def striprtf(kind: str) -> Read:
    convert = importlib.import_module("striprtf.striprtf").rtf_to_text
    return lambda data, path: str(convert(data.decode("latin-1")))


READERS: Mapping[str, Reader] = {
    "pevsite": Reader("", "runs", {**dict.fromkeys(MEDIA_TYPES, "pevsite"), "pdf": "pdfium"}, ours),
    "markitdown": Reader(
        "markitdown",
        "markitdown",
        {
            "pdf": "pdfminer",
            "docx": "mammoth",
            "xlsx": "openpyxl",
            "pptx": "python-pptx",
            "epub": "markitdown",
            "html": "markitdown",
        },
        markitdown,
        is_markdown=True,
    ),
    "kreuzberg": Reader(
        "kreuzberg", "kreuzberg", {**dict.fromkeys(MEDIA_TYPES, "kreuzberg"), "pdf": "pdfium"}, kreuzberg
    ),
    "mammoth": Reader("mammoth", "mammoth", {"docx": "mammoth"}, mammoth),
    "python-docx": Reader("python-docx", "docx", {"docx": "python-docx"}, python_docx),
    "docx2python": Reader("docx2python", "docx2python", {"docx": "docx2python"}, docx2python),
    "pypdf": Reader("pypdf", "pypdf", {"pdf": "pypdf"}, pypdf),
    "odfdo": Reader("odfdo", "odfdo", {"odt": "odfdo"}, odfdo),
    "striprtf": Reader("striprtf", "striprtf", {"rtf": "striprtf"}, striprtf),
}


def installed() -> dict[str, str]:
    """The readers that this interpreter has, with their versions."""
    return {name: version(one.package) for name, one in READERS.items() if one.package and find_spec(one.module)}


def peak_megabytes() -> float:
    """Of this program alone: ru_maxrss begins with that of the process before exec."""
    import resource  # not on Windows

    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024)


def answer(read: Read, path: Path) -> dict[str, Any]:
    global looking_seconds
    data = path.read_bytes()
    looking_seconds = 0.0
    began = time.process_time()
    try:
        made = read(data, path)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    seconds = time.process_time() - began
    text, numbered = made if isinstance(made, tuple) else (made, made)
    looking = looking_seconds / seconds if seconds else 0.0
    return {
        "text": text,
        "numbered": numbered,
        "seconds": seconds,
        "megabytes": peak_megabytes(),
        "looking": looking,
    }


def serve(name: str, kind: str) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    read = READERS[name].load(kind)
    for line in sys.stdin:
        print(json.dumps(answer(read, Path(line.rstrip("\n")))), file=answers, flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(json.dumps(installed()))
    else:
        serve(*sys.argv[1:])
