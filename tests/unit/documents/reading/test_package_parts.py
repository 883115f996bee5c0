"""Zip files of XML are read part by part, and nothing in them costs more than it may."""

import io
import random
import zipfile
from collections.abc import Mapping

import pytest

from runs.documents.reading import package_parts
from runs.documents.reading.package_parts import Package, Relation, parsed, whole_number
from runs.errors import InvalidInput


def test_a_part_is_found_by_its_name_however_it_is_written() -> None:
    package = Package(_zipped({"/Word/Document.xml": b"<a>1</a>"}))
    assert package.read("word/document.XML") == b"<a>1</a>"
    assert "word/Document.xml" in package
    assert package.names == ["Word/Document.xml"]
    assert package.read("word/other.xml") is None
    assert package.xml("word/other.xml") is None


def test_comments_and_instructions_leave_the_text_whole() -> None:
    root = parsed(b"<a>one <!-- x -->two<?y z?> three</a>")
    assert root.text == "one two three"
    assert len(root) == 0


def test_strict_namespaces_are_the_usual_ones() -> None:
    root = parsed(
        b'<w:p xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main">http://purl.oclc.org/ooxml/a/</w:p>'
    )
    assert root.tag == "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}p"
    assert root.text == "http://purl.oclc.org/ooxml/a/"


def test_relations_lead_to_parts_and_never_outside() -> None:
    rels = b"""<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
      <Relationship Id="r1" Type="http://x/relationships/styles" Target="my%20styles.xml"/>
      <Relationship Id="r2" Type="http://x/relationships/image" Target="../media/a.png"/>
      <Relationship Id="r3" Type="http://x/relationships/header" Target="/h/one.xml"/>
      <Relationship Id="r4" Type="http://x/relationships/hyperlink" Target="http://e.example/" TargetMode="External"/>
      <Relationship Id="r5" Type="http://x/relationships/image" Target="file:///etc/passwd"/>
      <Relationship Id="r6" Type="http://x/relationships/image" Target="../../../etc/passwd"/>
      <Relationship Id="r7" Type="http://x/relationships/image" Target="elsewhere.png" TargetMode="External"/>
    </Relationships>"""
    package = Package(_zipped({"word/_rels/document.xml.rels": rels, "_rels/.rels": rels}))
    assert package.relations("word/document.xml") == [
        Relation("r1", "styles", "word/my styles.xml"),
        Relation("r2", "image", "media/a.png"),
        Relation("r3", "header", "h/one.xml"),
        Relation("r6", "image", "etc/passwd"),  # a part of that name, which there is not
    ]
    assert package.relations()[0].target == "my styles.xml"
    assert package.relations("word/other.xml") == []


@pytest.mark.parametrize(
    ("xml", "why"),
    [
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "document type"),
        ('<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a><a/>'.encode("utf-16"), "document type"),
        (b"<!DOCTYPE a><a>", "document type"),  # before it is parsed
        (b"<a>&x;</a>", "is damaged"),
        (b"<a>", "is damaged"),
        (b"", "is damaged"),
        (b"<?xml version='1.0' encoding='no-such'?><a/>", "is damaged"),
        (b"<a>" * 1_000 + b"</a>" * 1_000, "is nested deeper"),
        (b"<a>" + b"<b/>" * package_parts.MAX_MARKUP + b"</a>", "more than 6,000,000 XML tags"),
    ],
    ids=["entity", "utf-16", "first", "unknown", "cut", "empty", "encoding", "deep", "many"],
)
def test_xml_that_no_document_has_is_refused(xml: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        parsed(xml)


@pytest.mark.slow
def test_a_part_that_unpacks_to_too_much_is_refused_while_it_unpacks() -> None:
    package = Package(_zipped({"a": bytes(package_parts.MAX_PART_BYTES + 1), "b": b"fits"}))
    with pytest.raises(InvalidInput, match="unpacks to more than 64 MB"):
        package.read("a")
    assert b"".join(package.pieces("a", 2 * package_parts.MAX_PART_BYTES)) == bytes(package_parts.MAX_PART_BYTES + 1)
    assert package.read("b") == b"fits"


def test_parts_together_unpack_to_no_more_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_parts, "MAX_BYTES", 1_000)
    package = Package(_zipped({"a": bytes(600), "b": bytes(600)}))
    assert package.read("a") == bytes(600)
    with pytest.raises(InvalidInput, match="unpacks to more"):
        package.read("b")


def test_too_many_parts_are_refused() -> None:
    with pytest.raises(InvalidInput, match="more than 5,000 parts"):
        Package(_zipped({f"p{number}": b"" for number in range(package_parts.MAX_PARTS + 1)}))


def test_a_password_is_asked_for() -> None:
    data = bytearray(_zipped({"a": b"secret"}))
    data[data.index(b"PK\1\2") + 8] |= 1
    with pytest.raises(InvalidInput, match="needs a password"):
        Package(bytes(data)).read("a")
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    with pytest.raises(InvalidInput, match="needs a password"):
        Package(ole + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(InvalidInput, match=r"save it as \.docx"):
        Package(ole + b"WordDocument")


def test_other_ways_to_pack_are_refused() -> None:
    with pytest.raises(InvalidInput, match="is packed in a way"):
        Package(_zipped({"a": b"x" * 100}, zipfile.ZIP_LZMA)).read("a")


def test_damage_is_one_sentence() -> None:
    """Bytes are changed, cut out or cut off: what is left is read, or refused with a sentence."""
    whole = _zipped({f"p{number}.xml": b"<a>%d</a>" % number * 50 for number in range(5)})
    outcomes = {seed: _outcome(_damaged(whole, seed)) for seed in range(200)}
    begins = ("read", "is ", "needs ", "unpacks ", "has ")
    assert [(seed, outcome) for seed, outcome in outcomes.items() if not outcome.startswith(begins)] == []


def _damaged(data: bytes, seed: int) -> bytes:
    dice, left = random.Random(seed), bytearray(data)
    for _ in range(dice.randrange(1, 30)):
        left[dice.randrange(len(left))] = dice.randrange(256)
    if seed % 3 == 0:
        del left[dice.randrange(len(left)) :]
    return bytes(left)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        (" 7 ", 7),
        ("-3", 0),
        ("999999999", 1_000_000),
        ("9" * 5_000, 1),
        ("x", 1),
        ("", 1),
        (None, 1),
        ("٣", 1),
    ],
)
def test_a_number_in_an_attribute_is_bounded(text: str | None, number: int) -> None:
    assert whole_number(text, 1) == number


def _zipped(contents: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as package:
        for name, content in contents.items():
            package.writestr(name, content)
    return file.getvalue()


def _outcome(data: bytes) -> str:
    try:
        package = Package(data)
        return f"read {len([package.read(name) for name in package.names])} parts"
    except InvalidInput as error:
        return str(error)
    except Exception as error:
        return repr(error)
