"""Archives as they come in: their files take their place, within all limits, and what is not taken is said."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from email.message import EmailMessage

import pytest
from django.core.files.base import ContentFile
from pytest_django import Settings

from runs.errors import UploadRefused
from runs.models import Event
from runs.store import trees
from runs.submission import unpacking
from runs.submission.intake import RefusedUpload, Upload
from runs.submission.submit import submit
from runs.submission.unpacking import unpacked
from tests import factories as made
from tests.documents import archives
from tests.documents.archives import member, tarred, zipped
from tests.documents.compound import compound
from tests.integration.lifecycle.submitting import submission, upload

type Pack = Callable[[Mapping[str, bytes]], bytes]
BACKSLASH = "“_” stands for a backslash in its name, which would separate folders here."
TEXTS = {"a.md": b"one", "b/c.md": b"two"}


def files(path: str, data: bytes, *, named: bool = True) -> dict[str, bytes]:
    uploads, _ = unpacked([Upload(path, ContentFile(data), named)])
    return {one.path: one.content.read() for one in uploads}


def refused(path: str, data: bytes) -> list[RefusedUpload]:
    return unpacked([Upload(path, ContentFile(data))])[1]


def problems(path: str, data: bytes) -> dict[str, str]:
    return {one.path: one.problem for one in unpacked([Upload(path, ContentFile(data))])[0] if one.problem}


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["~$lease.docx", "in/.~lock.lease.odt#", "in\\~$Rents.XLSX"])
def test_locks_of_word_processors_are_left_out_however_they_come(path: str) -> None:
    why = "It is rarely needed, so it was left out."
    assert unpacked([Upload(path, ContentFile(b"\5Anna"))]) == ([], [RefusedUpload(path, why)])
    run = submit(
        made.alice(), submission("Read.", upload("lease.md", b"Rent"), upload(path.replace("\\", "/"), b"Anna"))
    )
    assert list(trees.files_of(run.inputs)) == ["lease.md"]


@pytest.mark.parametrize("path", ["~lease.docx", "a~$b.docx", "~$lease", "lock.docx"])
def test_other_names_with_such_signs_are_taken(path: str) -> None:
    assert files(path, b"one") == {path: b"one"}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("project.zip", zipped(TEXTS)),
        ("project.zip", zipped(TEXTS, zipfile.ZIP_STORED)),
        ("project.ZIP", zipped(TEXTS, zipfile.ZIP_BZIP2)),
        ("project.tar", tarred(TEXTS)),
        ("project.tar.gz", tarred(TEXTS, "w:gz")),
        ("project.tgz", tarred(TEXTS, "w:gz")),
        ("project.tar.bz2", tarred(TEXTS, "w:bz2")),
        ("project.tar.xz", tarred(TEXTS, "w:xz")),
        ("project.tar", tarred({f"./{name}": content for name, content in TEXTS.items()})),
    ],
    ids=["deflated", "stored", "bzip2", "tar", "tar.gz", "tgz", "tar.bz2", "tar.xz", "dots"],
)
def test_the_files_of_an_archive_lie_in_a_folder_of_its_name(name: str, data: bytes) -> None:
    assert files(name, data) == {"project/a.md": b"one", "project/b/c.md": b"two"}
    assert files(f"sent/{name}", data) == {"sent/project/a.md": b"one", "sent/project/b/c.md": b"two"}


def test_a_folder_that_holds_all_of_it_is_no_second_one() -> None:
    data = zipped({f"contracts-main/{name}": content for name, content in TEXTS.items()})
    assert files("sent/download.zip", data) == {
        "sent/contracts-main/a.md": b"one",
        "sent/contracts-main/b/c.md": b"two",
    }


@pytest.mark.parametrize(("end", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_a_compressed_file_is_one_file(end: str, pack: Callable[[bytes], bytes]) -> None:
    assert files(f"data/sales.csv{end}", pack(b"a,b")) == {"data/sales.csv": b"a,b"}


def test_what_is_no_archive_or_not_named_so_stays_as_it_is() -> None:
    word = zipped({"[Content_Types].xml": b"", "word/document.xml": b"<w/>"})
    for name, data in (("a.zip", word), ("tool.jar", zipped(TEXTS)), ("a.zip", b"no archive"), ("b.gz", b"")):
        assert files(name, data) == {name: data}
        assert problems(name, data) == {}


@pytest.mark.parametrize("part", ["word/document.xml", "ppt/presentation.xml"])
def test_an_archive_that_begins_with_a_stored_document_is_unpacked(part: str) -> None:
    document = zipped({"[Content_Types].xml": b"", part: b"<x/>"}, zipfile.ZIP_STORED)
    data = zipped({"Deal/Contract": document, "Deal/a.md": b"one"}, zipfile.ZIP_STORED)
    assert files("plain.zip", data) == {"Deal/Contract": document, "Deal/a.md": b"one"}
    assert problems("plain.zip", data[:-30]) == {"plain.zip": "is a damaged archive; pack it again"}


def test_a_document_with_an_archive_inside_is_not_unpacked() -> None:
    data = zipped({"word/document.xml": b"<w/>", "word/embeddings/a.zip": zipped(TEXTS)}, zipfile.ZIP_STORED)
    assert files("a.zip", data) == {"a.zip": data}


def test_a_repository_comes_without_its_store_and_what_systems_put_beside_files() -> None:
    junk = {"x/.git/config": b"1", "x/.git/objects/ab/cd": b"2", "__MACOSX/x/._a.md": b"3", "x/.DS_Store": b"4"}
    junk["x/~$Contract.docx"] = b"5"
    data = zipped({"x/a.md": b"one", **junk})
    assert files("x.zip", data) == {"x/a.md": b"one"}
    why = "It is rarely needed, so it was left out."
    assert refused("x.zip", data) == [
        RefusedUpload(f"x.zip/{name}", why) for name in ("x/.git", "__MACOSX", "x/.DS_Store", "x/~$Contract.docx")
    ]


HOSTILE = {"../up.md": "the part “..”", "/etc/passwd": "it is absolute", "C:\\x.md": "drive letter", "a\\..\\b": "“..”"}


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_names_that_lead_elsewhere_are_refused_one_by_one(pack: Pack) -> None:
    data = pack({**dict.fromkeys(HOSTILE, b"x"), "A.md": b"kept", "a.md": b"clash", "d": b"kept", "d/e": b"clash"})
    assert files("x.zip", data) == {"x/A.md": b"kept", "x/d": b"kept"}
    found = refused("x.zip", data)
    assert [one.path for one in found] == [*(f"x.zip/{name}" for name in HOSTILE), "x.zip/a.md", "x.zip/d/e"]
    assert all(said in one.why for said, one in zip(HOSTILE.values(), found, strict=False))
    assert found[-1].why == "It cannot be next to “x/d”."


def test_links_and_devices_are_refused() -> None:
    sparse = member("gaps", tarfile.GNUTYPE_SPARSE)
    kinds = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "pipe": tarfile.FIFOTYPE, "disk": tarfile.BLKTYPE}
    data = archives.with_members(*(member(name, kind, "/etc/passwd") for name, kind in kinds.items()), sparse)
    assert files("x.tar", data) == {"x/a.md": b"abc"}
    link, device = "It is a link, and links are not followed.", "It is not a file but a device or something similar."
    assert [one.why for one in refused("x.tar", data)] == [
        *(link, link, device, device),
        "It is a file with gaps (sparse), which is not unpacked.",
    ]
    info = zipfile.ZipInfo("link")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        archive.writestr(info, "/etc/passwd")
        archive.writestr("a.md", "abc")
    assert refused("x.zip", packed.getvalue()) == [RefusedUpload("x.zip/link", link)]


def test_names_of_other_systems_are_read() -> None:
    data = zipped({"Mietverträge/Größe.md": b"x"})
    assert files("x.zip", data) == {"Mietverträge/Größe.md": b"x"}
    assert list(files("x.zip", _as_437("Größe.md"))) == ["x/Größe.md"]
    assert list(files("x.zip", _as_437("Größe.md", "utf-8"))) == ["x/Größe.md"]


@pytest.mark.parametrize(
    ("codec", "names", "system"),
    [
        ("cp932", ["ソ予算表.txt", "十月/表.txt"], 0),
        ("cp932", ["ソ予算表.txt"], 3),
        ("gb18030", ["合同副本.txt"], 0),
        ("big5", ["功能說明.txt"], 3),
        ("cp1252", ["Vertrag für Müller.txt"], 3),
    ],
)
def test_names_in_other_encodings_make_no_folders(codec: str, names: list[str], system: int) -> None:
    assert list(files("x.zip", _packed(system, *(name.encode(codec) for name in names)))) == [
        f"x/{name}" for name in names
    ]


@pytest.mark.parametrize(
    ("system", "path", "caution"),
    [(0, "a/b für.txt", ""), (10, "a/b für.txt", ""), (3, "x/a_b für.txt", BACKSLASH)],
)
def test_backslashes_are_folders_where_the_archive_comes_from_windows(system: int, path: str, caution: str) -> None:
    [one], _ = unpacked([Upload("x.zip", ContentFile(_packed(system, "a\\b für.txt".encode("cp1252"))))])
    assert (one.path, one.caution) == (path, caution)


def test_folders_of_windows_are_no_files() -> None:
    assert list(files("x.zip", _packed(0, b"a\\", b"a\\b.txt"))) == ["a/b.txt"]


@pytest.mark.parametrize("codec", ["cp932", "gb18030", "cp1252"])
def test_names_in_tar_files_are_guessed_together_too(codec: str) -> None:
    name = {"cp932": "見積書 テスト.txt", "gb18030": "采购合同副本.txt", "cp1252": "Vertrag für Müller.txt"}[codec]
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.GNU_FORMAT, encoding=codec) as archive:
        for path in ("a.txt", name):
            archive.addfile(tarfile.TarInfo(path), io.BytesIO())
    assert list(files("x.tar.gz", made.getvalue())) == ["x/a.txt", f"x/{name}"]


@pytest.mark.django_db
def test_a_doubtful_name_is_in_the_history() -> None:
    data = _packed(0, "東京.txt".encode("cp932"))
    run = submit(made.alice(), submission("Read.", upload("p.zip", data), upload("a.md", b"a")))
    said = "p/東京.txt: “東京.txt” is taken for its name, which would be “ôîï₧.txt” in DOS 437."
    assert said in Event.objects.get(run=run, kind="submitted").data["not_read"]


def _packed(system: int, *raws: bytes) -> bytes:
    """A zip file made on this system, whose names are these bytes and not said to be UTF-8."""
    names = [f"{number:x}" * len(raw) for number, raw in enumerate(raws, 10)]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.create_system = system
            archive.writestr(info, b"" if name == names[0] and len(names) > 1 else b"text")
    data = made.getvalue()
    for name, raw in zip(names, raws, strict=True):
        data = data.replace(name.encode(), raw)
    return data


def _as_437(name: str, codec: str = "cp437") -> bytes:
    raw = name.encode(codec)
    return zipped({"x" * len(raw): b"x"}).replace(b"x" * len(raw), raw)


def test_archives_in_archives_stay_files_that_cannot_be_read() -> None:
    data = zipped({"a.md": b"one", "inner.zip": zipped(TEXTS)})
    assert sorted(files("x.zip", data)) == ["x/a.md", "x/inner.zip"]
    assert problems("x.zip", data) == {"x/inner.zip": "is an archive inside an archive; give it by itself"}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (archives.encrypted(TEXTS), "needs a password; save it without one"),
        (zipped(TEXTS)[:-30], "is a damaged archive; pack it again"),
        (tarred(TEXTS, "w:gz")[:-30], "is a damaged archive; pack it again"),
        (tarred(TEXTS)[:1024] + b"damage".ljust(512, b"x") + bytes(1024), "is a damaged archive; pack it again"),
        (zipped({"f/": b""}), "is an archive without a file that can be taken"),
    ],
    ids=["locked", "half a zip", "half a tar.gz", "half a tar", "empty"],
)
def test_what_cannot_be_unpacked_stays_with_the_reason(data: bytes, problem: str) -> None:
    assert problems("x.zip", data) == {"x.zip": problem}
    assert files("x.zip", data) == {"x.zip": data}


def test_one_file_with_a_password_is_refused_by_itself() -> None:
    data = zipped({"a.md": b"one", "b.md": b"two"})
    at = data.rindex(b"PK\1\2")
    assert refused("x.zip", data[: at + 8] + b"\1" + data[at + 9 :]) == [
        RefusedUpload("x.zip/b.md", "It needs a password.")
    ]


def test_limits_count_what_is_unpacked(settings: Settings) -> None:
    settings.FILE_BYTES, settings.UPLOAD_BYTES, settings.UPLOAD_FILES = 10_000, 20_000, 3
    data = zipped({"a.md": b"one", "b.md": bytes(10_001)})
    assert files("x.zip", data) == {"x/a.md": b"one"}
    assert refused("x.zip", data) == [RefusedUpload("x.zip/b.md", "It has more than the 0 MB that one file may have.")]
    much = zipped(dict.fromkeys(["a", "b", "c"], bytes(9_000)))
    assert problems("x.zip", much) == {"x.zip": "unpacks to more than 0 MB; give less at a time"}
    many = zipped(dict.fromkeys("abcd", b""))
    assert problems("x.zip", many) == {"x.zip": "has more than 3 files; give fewer, or the folder itself"}


def test_archives_together_unpack_to_no_more_than_a_run_may_have(settings: Settings) -> None:
    settings.UPLOAD_BYTES = 20_000
    some = [Upload(f"{name}.zip", ContentFile(zipped({"a": bytes(9_000)}))) for name in "xyz"]
    uploads, refused = unpacked([*some, Upload("b.md", ContentFile(b"x"))])
    assert [one.path for one in uploads] == ["x/a", "y/a", "b.md"]
    assert refused == [RefusedUpload("z.zip", "With its files there would be more than 0.0 MB, or too many files.")]


def test_large_archives_come_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "BATCH_BYTES", 1_000)
    texts = {f"{number}.md": b"%d" % number * 100 for number in range(30)}
    for data in (zipped(texts), tarred(texts, "w:xz")):
        assert files("x.zip", data) == {f"x/{name}": content for name, content in texts.items()}


def test_nothing_is_unpacked_onto_a_full_disk(settings: Settings) -> None:
    settings.MIN_FREE_BYTES = 10**18
    with pytest.raises(UploadRefused, match="have to stay free"):
        unpacked([Upload("x.zip", ContentFile(zipped(TEXTS)))])


def test_of_many_refused_files_some_are_named() -> None:
    found = refused("x.zip", zipped({"a.md": b"x", **{f"../{number}": b"" for number in range(50)}}))
    assert len(found) == 21
    assert found[-1] == RefusedUpload("x.zip", "30 more of its files were not taken.")


def mail(*attached: tuple[str, bytes], subject: str = "The lease") -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"], made["Message-ID"] = "a@x.test", "b@x.test", subject, "<1@x.test>"
    made.set_content("See what is attached.")
    for name, content in attached:
        made.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return made


def test_what_is_attached_to_a_mail_lies_beside_it() -> None:
    sent = mail(("lease.pdf", b"%PDF-1.7"), ("../up.md", b"one"), ("up.md", b"two"), ("Re: x.txt", b"three"))
    place = "post/mail.eml attachments"
    assert files("post/mail.eml", sent.as_bytes()) == {
        "post/mail.eml": sent.as_bytes(),
        f"{place}/lease.pdf": b"%PDF-1.7",
        f"{place}/up.md": b"one",
        f"{place}/up (2).md": b"two",
        f"{place}/Re- x.txt": b"three",
    }


def test_mails_of_outlook_and_in_archives_have_their_attachments_too() -> None:
    streams = {
        "__properties_version1.0": bytes(32),
        "__attach_version1.0_#00000000/__substg1.0_3707001F": "lease.pdf".encode("utf-16-le"),
        "__attach_version1.0_#00000000/__substg1.0_37010102": b"%PDF-1.7",
    }
    packed = zipped({"a.msg": compound(streams), "b.md": b"one"})
    assert sorted(files("x.zip", packed)) == ["x/a.msg", "x/a.msg attachments/lease.pdf", "x/b.md"]


def test_mails_in_mails_have_theirs_and_archives_in_mails_none() -> None:
    outer = mail(("in.zip", zipped(TEXTS)))
    outer.add_attachment(mail(("lease.pdf", b"%PDF-1.7")))
    above = "m.eml attachments"
    inner = f"{above}/forwarded mail 2.eml"
    assert list(files("m.eml", outer.as_bytes())) == [
        *("m.eml", f"{above}/in.zip", inner, f"{inner} attachments/lease.pdf")
    ]
    assert problems("m.eml", outer.as_bytes()) == {f"{above}/in.zip": "is an archive inside a mail; give it by itself"}


def test_mails_are_opened_three_deep() -> None:
    sent = mail(("a.md", b"one"))
    for _ in range(4):
        outer = mail()
        outer.add_attachment(sent)
        sent = outer
    last = list(files("m.eml", sent.as_bytes()))[-1]
    assert last == "m.eml" + " attachments/forwarded mail 1.eml" * 3


def test_small_pictures_of_the_text_are_no_documents() -> None:
    sent = mail()
    sent.add_attachment(b"png", "image", "png", filename="small.png")
    for name, size in (("logo", 9_999), ("scan", 10_000)):
        sent.add_attachment(bytes(size), "image", "png", filename=f"{name}.png", cid=f"<{name}>", disposition="inline")
    above = "m.eml attachments"
    assert list(files("m.eml", sent.as_bytes()))[1:] == [f"{above}/small.png", f"{above}/scan.png"]


def test_small_pictures_of_the_text_of_outlook_mails_are_no_documents() -> None:
    streams = {"__properties_version1.0": bytes(32)}
    for number, name in enumerate(["logo.png", "scan.png"]):
        place = f"__attach_version1.0_#0000000{number}/__substg1.0_"
        streams |= {f"{place}3707001F": name.encode("utf-16-le"), f"{place}37010102": b"png"}
    streams["__attach_version1.0_#00000000/__substg1.0_3712001F"] = "cid".encode("utf-16-le")
    assert list(files("m.msg", compound(streams))) == ["m.msg", "m.msg attachments/scan.png"]


def test_a_mail_that_is_damaged_is_taken_without_its_attachments() -> None:
    parts = b"".join(b"--x\nContent-Type: text/plain; name=a\n\na\n" for _ in range(200))
    data = b"From: a@x.test\nMessage-ID: <1@x>\nContent-Type: multipart/mixed; boundary=x\n\n" + parts
    assert files("m.eml", data) == {"m.eml": data}
    assert refused("m.eml", data) == [
        RefusedUpload("m.eml", "What is attached to it was not taken: it has more than 100 parts.")
    ]


@pytest.mark.django_db
def test_a_run_has_the_files_of_its_archives_and_says_what_it_has_not() -> None:
    secret: Mapping[str, bytes] = {"p/.env": b"KEY=1", "p/key.txt": b"-----BEGIN PRIVATE KEY-----"}
    good = zipped({"p/a.md": b"one", "p/../../b.md": b"x", "p/in.zip": zipped(TEXTS), **secret})
    run = submit(
        made.alice(), submission("Read.", upload("p.zip", good), upload("locked.zip", archives.encrypted(TEXTS)))
    )
    assert list(trees.files_of(run.inputs)) == ["locked.zip", "p/a.md", "p/in.zip"]
    assert trees.problems_of(run.inputs) == {
        "locked.zip": "needs a password; save it without one",
        "p/in.zip": "is an archive inside an archive; give it by itself",
    }
    event = Event.objects.filter(run=run).first()
    assert event is not None
    assert event.data["left_out"] == ["p/.env", "p/key.txt"]
    assert event.data["not_read"][0].startswith("p.zip/p/../../b.md was not taken. ")
