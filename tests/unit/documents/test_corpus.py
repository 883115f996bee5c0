"""Documents in source packages. The packages are made here; none is fetched."""

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.documents.corpus import Sample, documents_in, fetch, packages_in
from tests.documents.word import paragraph, word

PAGE = b"<!DOCTYPE html><html><body><p>" + b" ".join(b"word%d" % at for at in range(40)) + b"</p></body></html>"
LETTER = word(paragraph("Rent is due."))


def packed(folder: Path, name: str, files: dict[str, bytes]) -> Path:
    """A source package as tools make it: everything below a folder with its name."""
    path = folder / name
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for inside, content in files.items():
                archive.writestr(f"project-1.0/{inside}", content)
    else:
        with tarfile.open(path, "w:gz") as archive:
            for inside, content in files.items():
                entry = tarfile.TarInfo(f"project-1.0/{inside}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return path


@pytest.mark.parametrize("name", ["project-1.0.tar.gz", "project-1.0.zip"])
def test_documents_are_found_by_their_content_each_once(tmp_path: Path, name: str) -> None:
    files = {"setup.py": b"print()", "tests/letter.docx": LETTER, "tests/copy.bin": LETTER, "docs/letter.docx": b"text"}
    assert list(documents_in([packed(tmp_path, name, files)])) == [
        Sample(f"{name}: tests/letter.docx", "docx", LETTER, None)
    ]


def test_the_text_next_to_a_page_is_what_its_project_expects(tmp_path: Path) -> None:
    other = PAGE.replace(b"word0", b"other")
    files = {
        "tests/a.html": PAGE,
        "tests/a.txt": "wört".encode(),
        "other/b.html": other,
        "tests/b.txt": b"of another folder",
        "tests/c.docx": LETTER,
        "tests/c.txt": b"not of a page",
    }
    found = documents_in([packed(tmp_path, "project-1.0.tar.gz", files)])
    assert [(one.name.partition(": ")[2], one.expected) for one in found] == [
        ("tests/a.html", "wört"),
        ("other/b.html", None),
        ("tests/c.docx", None),
    ]


def test_only_whole_packages_are_read_and_the_others_are_fetched(tmp_path: Path) -> None:
    index, folder = tmp_path / "index", tmp_path / "corpus"
    index.mkdir()
    for name in ("first-1.0.zip", "second-1.0.zip"):
        packed(index, name, {f"{name}.docx": LETTER})
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(index.iterdir())}
    asked: list[list[str]] = []

    def find(names: Sequence[str]) -> dict[str, str]:
        asked.append(list(names))
        return {name: (index / name).as_uri() for name in names}

    assert packages_in(folder, hashes) == []
    fetch(folder, hashes, find)
    (folder / "second-1.0.zip").write_bytes(b"cut off")
    assert packages_in(folder, hashes) == [folder / "first-1.0.zip"]
    fetch(folder, hashes, find)
    assert packages_in(folder, hashes) == [folder / "first-1.0.zip", folder / "second-1.0.zip"]
    fetch(folder, hashes, find)
    assert asked == [["first-1.0.zip", "second-1.0.zip"], ["second-1.0.zip"], []]


def test_a_package_with_another_hash_is_not_kept(tmp_path: Path) -> None:
    path = packed(tmp_path, "project-1.0.zip", {"letter.docx": LETTER})
    with pytest.raises(ValueError, match=r"project-1\.0\.zip is not the file that corpus\.py names"):
        fetch(tmp_path / "corpus", {path.name: "0" * 64}, lambda names: {name: path.as_uri() for name in names})
    assert list((tmp_path / "corpus").iterdir()) == []
