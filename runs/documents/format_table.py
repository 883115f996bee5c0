"""The formats that are read as documents: what each is called, its reader, and what that may use."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from runs.documents import file_kinds
from runs.isolation import Limits

MAX_BYTES = 50_000_000
"""Of a document; it is sent to its reader whole."""
LIMITS = Limits(megabytes=1_024, cpu_seconds=30, seconds=60, files=32, output=32_000_000)
"""Some five times what the largest documents of the tests take; a hostile one is ended there."""
OF_PICTURES = replace(LIMITS, cpu_seconds=400, seconds=600)
"""Reading the words of a page takes up to three seconds, twice that beside others. Its reader stops OCR well before."""
NOT_YET = "cannot be read yet"
DAMAGED = "is damaged; open it with the program that made it and save it again"
NOT_UNPACKED = "is an archive that is not unpacked here; give it by itself, and named .zip or .tar.gz"


@dataclass(frozen=True)
class Format:
    """`name`: "a Word file". `reader`: the module in `runs.documents.formats`, empty while there is none. `edition`
    grows when it reads otherwise; `parts` are the packages whose versions matter.
    """

    name: str
    reader: str = ""
    edition: int = 1
    parts: tuple[str, ...] = ()
    limits: Limits = LIMITS


_OF_PAGES = ("lxml", "tinycss2", "cssselect2")
"""What HTML is read with."""

FORMATS: Mapping[str, Format] = {
    file_kinds.PDF: Format("a PDF file", "pdf", 9, ("pypdfium2", "tesserocr"), OF_PICTURES),
    file_kinds.DOCX: Format("a Word file", "docx", 6),
    file_kinds.XLSX: Format("an Excel file", "xlsx", 3),
    file_kinds.PPTX: Format("a PowerPoint file", "pptx", parts=("lxml",)),
    file_kinds.ODT: Format("an OpenDocument text", "odt", 3, parts=("lxml",)),
    file_kinds.RTF: Format("an RTF file", "rtf", 2),
    file_kinds.EPUB: Format("an e-book (EPUB)", "epub", 2, _OF_PAGES),
    file_kinds.HTML: Format("a saved web page", "html", 3, ("chardet", *_OF_PAGES)),
    file_kinds.EML: Format("a mail", "eml", 3, ("chardet", "icalendar", *_OF_PAGES)),
    file_kinds.OLE: Format("a mail of Outlook, or a file of an old Office format", "ole", 6, ("olefile", *_OF_PAGES)),
    file_kinds.IMAGE: Format("a picture", "pictures", 3, ("pillow", "tesserocr"), OF_PICTURES),
    file_kinds.ZIP: Format("an archive"),
    file_kinds.TAR: Format("an archive"),
}

MAY_TAKE_MINUTES = frozenset(name for name, form in FORMATS.items() if form.limits is OF_PICTURES)
"""Those of which a scan may be one: nothing else waits for them."""


@cache
def reader_of(name: str) -> str:
    """Who reads this format: another version may read otherwise, so that its renditions are others."""
    form = FORMATS[name]
    return ", ".join([f"{name} {form.edition}", *filter(None, map(_installed, form.parts))])


def _installed(package: str) -> str:
    """With its version; empty for an extra that is not installed, which another reading then may have."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""


def function_of(name: str) -> str:
    """The function that reads it, for a guarded process; empty where there is none."""
    reader = FORMATS[name].reader if name in FORMATS else ""
    return f"runs.documents.formats.{reader}.read" if reader else ""


def problem_of(name: str) -> str:
    """A clause behind the name of a file that there is no reader for."""
    return NOT_UNPACKED if name in {file_kinds.ZIP, file_kinds.TAR} else f"is {FORMATS[name].name}, which {NOT_YET}"
