"""The file of a back-up: it is signed over every byte, and nothing is read from it but what a back-up holds."""

from __future__ import annotations

import hashlib
import io
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runs.errors import InvalidInput
from runs.operations.backup_archive import MANIFEST, SIGNATURE, Archive, ArchiveWriter, Manifest, Signer
from tests.documents.archives import member

CONTENTS = [b"one", b"x" * 1_500, b""]
type Change = Callable[[bytes], bytes]


@pytest.fixture(autouse=True)
def key(settings: Any) -> None:
    settings.SECRET_KEY = "of this installation"


def written(folder: Path, *, signed: bool = True) -> bytes:
    """A back-up of these contents and a database."""
    database, target = folder / "database", io.BytesIO()
    database.write_bytes(b"rows" * 1_000)
    writer = ArchiveWriter(target, signed=signed)
    for content in CONTENTS:
        assert writer.add_content(hashlib.sha256(content).hexdigest(), [content])
    sha256 = writer.add_database(database)
    writer.finish(
        lambda count, digest: Manifest(
            version="1.0",
            made_at="2026-11-27",
            database="sqlite",
            database_sha256=sha256,
            migrations=[],
            contents=count,
            digest=digest,
        )
    )
    return target.getvalue()


def signer_of(folder: Path, data: bytes) -> Signer:
    file = folder / "backup.tar"
    file.write_bytes(data)
    with Archive(file) as archive:
        return archive.check()[1]


def at(data: bytes, name: str) -> tarfile.TarInfo:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return archive.getmember(name)


def before(name: str, insert: bytes) -> Change:
    return lambda data: data[: at(data, name).offset] + insert + data[at(data, name).offset :]


def without(name: str) -> Change:
    def change(data: bytes) -> bytes:
        info = at(data, name)
        return data[: info.offset] + data[info.offset_data + -(-info.size // 512) * 512 :]

    return change


def flipped(find_place: Callable[[bytes], int] | int) -> Change:
    def change(data: bytes) -> bytes:
        place = find_place if isinstance(find_place, int) else find_place(data)
        return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

    return change


def text(name: str, content: bytes) -> bytes:
    """A member, whole."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    return info.tobuf() + content + bytes(-len(content) % 512)


def header(name: str, kind: bytes, size: int = 0) -> bytes:
    info = member(name, kind, "/etc/passwd")
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def properties(**records: str) -> bytes:
    info = tarfile.TarInfo("blobs/aa/" + "b" * 62)
    info.pax_headers = records
    return info.tobuf(tarfile.PAX_FORMAT)


def test_its_own_signature_is_known_and_all_comes_back(tmp_path: Path) -> None:
    assert signer_of(tmp_path, written(tmp_path)) is Signer.OURS
    with Archive(tmp_path / "backup.tar") as archive:
        manifest, _ = archive.check()
        assert [(name, file.read()) for name, file in archive.contents()] == [
            (hashlib.sha256(content).hexdigest(), content) for content in CONTENTS
        ]
        archive.database(tmp_path / "restored", manifest.database_sha256)
    assert (tmp_path / "restored").read_bytes() == b"rows" * 1_000


def test_other_programs_read_it(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(written(tmp_path))) as archive:
        assert archive.getnames()[len(CONTENTS) :] == ["database", MANIFEST, SIGNATURE]


def test_who_has_signed_it_is_told(tmp_path: Path, settings: Any) -> None:
    data = written(tmp_path)
    assert signer_of(tmp_path, written(tmp_path, signed=False)) is Signer.NOBODY
    assert signer_of(tmp_path, without(SIGNATURE)(data)) is Signer.NOBODY
    settings.SECRET_KEY = "of another installation"
    assert signer_of(tmp_path, data) is Signer.OTHER


def test_sizes_of_8_gigabytes_and_more_are_read(tmp_path: Path) -> None:
    """They do not fit into the header that all others have; here there are fewer bytes than it says."""
    info = tarfile.TarInfo("database")
    info.size = 8_589_934_592
    data = info.tobuf(tarfile.PAX_FORMAT)
    assert len(data) == 3 * 512
    with pytest.raises(InvalidInput, match="it ends within “database”"):
        signer_of(tmp_path, data + bytes(1_024))


FIRST = "blobs/76/92c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
CHANGES: dict[str, tuple[Change, str]] = {
    "a time in a header": (
        flipped(lambda data: at(data, "database").offset + 140),
        "cannot be read as a back-up (bad checksum)",
    ),
    "what fills the last block of a content": (
        flipped(lambda data: at(data, FIRST).offset_data + 500),
        "was changed after this installation had signed it",
    ),
    "another owner of a file": (
        lambda data: data.replace(
            at(data, "database").tobuf(), changed_owner(at(data, "database")).tobuf(tarfile.PAX_FORMAT), 1
        ),
        "was changed after this installation had signed it",
    ),
    "its signature": (
        lambda data: data.replace(mac := at_mac(data), mac[::-1], 1),
        "was changed after this installation had signed it",
    ),
    "a link": (before("database", header("blobs/aa/" + "b" * 62, tarfile.SYMTYPE)), "it holds “blobs/aa/bbb"),
    "a hard link": (before("database", header("blobs/aa/" + "b" * 62, tarfile.LNKTYPE)), "it holds “blobs/aa/bbb"),
    "a device": (before("database", header("blobs/aa/" + "b" * 62, tarfile.CHRTYPE)), "it holds “blobs/aa/bbb"),
    "a pipe": (before("database", header("blobs/aa/" + "b" * 62, tarfile.FIFOTYPE)), "it holds “blobs/aa/bbb"),
    "a folder": (before("database", header("blobs/aa", tarfile.DIRTYPE)), "it holds “blobs/aa”"),
    "a file with gaps": (
        before("database", header("blobs/aa/" + "b" * 62, tarfile.GNUTYPE_SPARSE, 0)),
        "it holds “blobs/aa/bbb",
    ),
    "a file with gaps, by its properties": (
        before(
            "database",
            properties(**{"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9" * 18}),
        ),
        "or holds it as something else",
    ),
    "properties of a gigabyte": (
        before("database", header("x", tarfile.XHDTYPE, 1 << 30)),
        "it holds “x”, or holds it as something else",
    ),
    "properties for all": (before("database", header("x", tarfile.XGLTYPE)), "it holds “x”"),
    "a name of a gigabyte": (before("database", header("x", tarfile.GNUTYPE_LONGNAME, 1 << 30)), "it holds “x”"),
    "another name by its properties": (before("database", properties(path="../../etc/passwd")), "or holds it as"),
    "a name that leaves the folder": (
        before("database", text("../../etc/passwd", b"x")),
        "it holds “../../etc/passwd”",
    ),
    "an absolute name": (before("database", text("/etc/passwd", b"x")), "it holds “/etc/passwd”"),
    "a name in other letters": (before("database", text("blobs/AA/" + "B" * 62, b"x")), "it holds “blobs/AA/BBB"),
    "a size of exabytes": (
        before("database", header("database", tarfile.REGTYPE, 1 << 62)),
        "it ends within “database”",
    ),
    "a size less than nothing": (before("database", header("database", tarfile.REGTYPE, -512)), "it holds “database”"),
    "a content twice": (before("database", text(FIRST, b"one")), "twice"),
    "two databases": (before(MANIFEST, text("database", b"other")), "it holds “database” twice"),
    "two manifests": (before(SIGNATURE, text(MANIFEST, b"{}")), "it holds “manifest.json” twice"),
    "a content behind the manifest": (before(SIGNATURE, text(FIRST, b"one")), "behind “manifest.json”"),
    "a database behind the signature": (
        lambda data: data[: (end := at(data, SIGNATURE).offset_data + 512)] + text("database", b"other") + data[end:],
        "it holds “database” behind “signature.json”",
    ),
    "something behind the end": (lambda data: data + b"x", "there is something behind its end"),
    "a manifest of megabytes": (
        lambda data: before(SIGNATURE, text(MANIFEST, b" " * 1_000_001))(without(MANIFEST)(data)),
        "it holds “manifest.json”, or holds it as something else",
    ),
    "a signature of another form": (
        lambda data: before_end(without(SIGNATURE)(data), text(SIGNATURE, b"{}")),
        "its signature cannot be read",
    ),
    "a signature of letters beyond ASCII": (
        lambda data: data.replace(mac := at_mac(data), "ü".encode() + mac[2:], 1),
        "was changed after this installation had signed it",
    ),
    "no end": (lambda data: data[: at(data, SIGNATURE).offset_data + 512], "its end is missing"),
    "nothing": (lambda data: b"", "its end is missing"),
}


def changed_owner(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = 1_000
    return info


def at_mac(data: bytes) -> bytes:
    """The HMAC that stands in it."""
    return data.partition(b'"hmac": "')[2][:64]


def before_end(data: bytes, insert: bytes) -> bytes:
    end = at(data, MANIFEST).offset_data + 512
    return data[:end] + insert + data[end:]


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_no_back_up_of_ours_is_one_sentence(tmp_path: Path, name: str) -> None:
    change, sentence = CHANGES[name]
    data = written(tmp_path)
    assert change(data) != data
    tracemalloc.start()
    with pytest.raises(InvalidInput) as refused:
        signer_of(tmp_path, change(data))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sentence in str(refused.value)
    assert most < 8_000_000


@pytest.mark.slow
def test_no_byte_before_the_signature_can_be_another(tmp_path: Path) -> None:
    """Nor within it, but for what fills its block and the header of it, which say nothing."""
    data = written(tmp_path)
    places = [*range(0, at(data, SIGNATURE).offset, 37), *range(at(data, SIGNATURE).offset_data, len(data), 509)]
    accepted = []
    for place in places:
        try:
            signer = signer_of(tmp_path, flipped(place)(data))
        except InvalidInput:
            continue
        accepted.append((place, signer))
    size = at(data, SIGNATURE).size
    start = at(data, SIGNATURE).offset_data
    assert [one for one in accepted if not start + size <= one[0] < start + 512] == []
    assert len(places) > 150


def test_a_database_that_is_changed_between_check_and_restore_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "backup.tar"
    file.write_bytes(written(tmp_path))
    with Archive(file) as archive:
        manifest, _ = archive.check()
        file.write_bytes(flipped(lambda data: at(data, "database").offset_data)(file.read_bytes()))
        with pytest.raises(InvalidInput, match="was changed while it was restored"):
            archive.database(tmp_path / "restored", manifest.database_sha256)


@pytest.mark.slow
def test_a_large_back_up_takes_little_memory(tmp_path: Path) -> None:
    source, file = tmp_path / "large", tmp_path / "backup.tar"
    with source.open("wb") as sparse:
        sparse.truncate(60_000_000)
    tracemalloc.start()
    with file.open("wb") as target:
        writer = ArchiveWriter(target, signed=True)
        sha256 = writer.add_database(source)
        writer.finish(
            lambda count, digest: Manifest(
                version="1.0",
                made_at="2026",
                database="sqlite",
                database_sha256=sha256,
                migrations=[],
                contents=count,
                digest=digest,
            )
        )
    with Archive(file) as archive:
        assert archive.check()[1] is Signer.OURS
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8_000_000
