"""Adds a comment to a Word file. Only the parts with the text, the comments and the lists of parts change."""

import io
import json
import posixpath
import re
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from lxml import etree

from runs.documents.formats.docx.docx_reader import source
from runs.documents.formats.docx.names import W
from runs.documents.formats.docx.words import TextOrigin
from runs.documents.packed_parts import unpacked
from runs.documents.reading.package_parts import Element, Package, whole_number
from runs.errors import InvalidInput

AUTHOR = "pevsite"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_COMMENTS = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_LIST = "[Content_Types].xml"
_STRICT = b"http://purl.oclc.org/ooxml/"
_NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_MARKS = ("commentRangeStart", "commentRangeEnd", "commentReference")
_MAX_ID = 2**31 - 2  # ids are signed 32-bit numbers, and the new comment needs one above

type Node = Any
"""An element of lxml, which has no types."""


class NewComment(NamedTuple):
    """A comment on the characters from `start` to before `end` of the text that the reader makes. `on`: ISO 8601 or
    empty.
    """

    start: int
    end: int
    words: str
    on: str = ""


def add_packed_comment(data: bytes) -> bytes:
    """Entry point of the isolated process. Takes a `NewComment` as JSON and a Word file, packed, and
    returns the new file.
    """
    given, file = unpacked(data)
    return add_comment(file, NewComment(*json.loads(given)))


def add_comment(data: bytes, comment: NewComment) -> bytes:
    """Returns the file with one more comment, always the same bytes. Raises InvalidInput (a clause after the file's
    name).
    """
    package, found = Package(data), source(data)
    text = package.read(found.name) or b""
    if _STRICT in text:
        raise InvalidInput("is saved as Strict Open XML; save it as a usual Word document")
    root = _parse(text)
    first, last = _pieces_at(found.pieces, comment)
    nodes = _counterparts(found.root, root, [first, last])
    name = next((one.target for one in package.relations(found.name) if one.kind == "comments"), "")
    comments = (
        _parse(package.read(name) or b"")
        if name in package
        else etree.Element(f"{W}comments", nsmap={root.prefix or "w": W.strip("{}")})
    )
    number = _next_id(root, comments)
    _mark(nodes, first, last, comment, number)
    comments.append(_element(comment, number))
    changed = {found.name: _serialise(root)}
    if name not in package:
        folder = posixpath.dirname(found.name)
        names = (posixpath.join(folder, f"comments{at or ''}.xml") for at in range(len(package.names) + 1))
        name = next(name for name in names if name not in package)
        changed |= _with_comments_part(package, found.name, name)
    return _zip(data, package, {**changed, name: _serialise(comments)})


def _pieces_at(pieces: Sequence[TextOrigin], comment: NewComment) -> tuple[TextOrigin, TextOrigin]:
    """Returns the pieces that contain the first and the last of the commented characters."""
    starts = [piece.start for piece in pieces]
    first = max(bisect_right(starts, comment.start) - 1, 0)
    while first < len(pieces) and pieces[first].end <= comment.start:
        first += 1
    last = bisect_left(starts, comment.end) - 1
    if last < first or first >= len(pieces):
        raise InvalidInput("has no words of its text at that place")
    return pieces[first], pieces[last]


def _counterparts(read: Element, root: Node, wanted: Sequence[TextOrigin]) -> dict[int, Node]:
    """Maps the elements that were read, by `id()`, to those of the tree that is written.

    Both trees have the same elements. The written one also has what the reader leaves out, such as comments in the XML.
    """
    ids = {id(one) for piece in wanted for one in (piece.element, piece.child) if one is not None}
    return {id(one): other for one, other in zip(read.iter("*"), root.iter("*"), strict=True) if id(one) in ids}


def _mark(nodes: Mapping[int, Node], first: TextOrigin, last: TextOrigin, comment: NewComment, number: str) -> None:
    """Puts the marks of the comment around the words."""
    # The end comes first: splitting a run moves what follows into a new run, and leaves the beginning where it was.
    before = nodes[id(last.element)]
    _split_run(nodes, last, comment.end)
    reference = etree.Element(f"{W}r")
    etree.SubElement(reference, f"{W}commentReference", {f"{W}id": number})
    for one in (reference, etree.Element(f"{W}commentRangeEnd", {f"{W}id": number})):
        _put_behind(before, one)
    begun = _split_run(nodes, first, comment.start, keep_whole=True)
    mark = etree.Element(f"{W}commentRangeStart", {f"{W}id": number})
    begun.addprevious(mark)


def _put_behind(node: Node, other: Node) -> None:
    """Inserts a node after another one, without the text that lxml would move along with it."""
    node.getparent().insert(node.getparent().index(node) + 1, other)


def _split_run(nodes: Mapping[int, Node], piece: TextOrigin, at: int, *, keep_whole: bool = False) -> Node:
    """Splits a run so that one begins at the character `at`, and returns that one.

    If the run begins there it is returned unchanged. Only text can be split; anything else stays whole on the side of
    the comment.
    """
    run = nodes[id(piece.element)]
    if piece.child is None:
        return run
    child = nodes[id(piece.child)]
    inside = min(max(at, piece.start), piece.end) - piece.start
    is_text = child.tag == f"{W}t"
    if 0 < inside < piece.end - piece.start and is_text:
        rest = deepcopy(child)
        rest.tail = None
        child.text, rest.text = child.text[:inside], child.text[inside:]
        for one in (child, rest):
            one.set(_SPACE, "preserve")
        _put_behind(child, rest)
        begins = rest
    elif inside == 0 or (keep_whole and inside < piece.end - piece.start):
        begins = child
    else:
        begins = child.getnext()
    return _split(run, begins)


def _split(run: Node, begins: Node | None) -> Node:
    """Moves everything from this child on into a new run with the same formatting after the run."""
    looks = run.find(f"{W}rPr")
    if begins is None:
        return run
    kept = [child for child in run if child is not looks]
    at = kept.index(begins)
    if at == 0:
        return run
    other = etree.Element(run.tag, dict(run.attrib))
    if looks is not None:
        other.append(deepcopy(looks))
    _put_behind(run, other)
    other.tail, run.tail = run.tail, None
    for child in kept[at:]:
        other.append(child)
    return other


def _next_id(root: Node, comments: Node) -> str:
    """Returns an id above those of all comments and of all marks without a comment."""
    used = [*comments.iter(f"{W}comment"), *root.iter(*(f"{W}{name}" for name in _MARKS))]
    highest = max((whole_number(one.get(f"{W}id"), -1, high=_MAX_ID) for one in used), default=-1)
    if highest >= _MAX_ID:
        raise InvalidInput("has comments with numbers as no program gives them; save it again in Word")
    return str(highest + 1)


def _element(comment: NewComment, number: str) -> Node:
    found = etree.Element(f"{W}comment", {f"{W}id": number, f"{W}author": AUTHOR, f"{W}initials": AUTHOR[:1]})
    if comment.on:
        found.set(f"{W}date", comment.on)
    for line in _NO_XML.sub("\ufffd", comment.words).splitlines() or [""]:
        run = etree.SubElement(etree.SubElement(found, f"{W}p"), f"{W}r")
        text = etree.SubElement(run, f"{W}t")
        text.text = line
        text.set(_SPACE, "preserve")
    return found


def _with_comments_part(package: Package, main: str, name: str) -> dict[str, bytes]:
    """Returns the relations of the main part and the content types, with the part of the comments added."""
    folder, base = posixpath.split(main)
    path = posixpath.join(folder, "_rels", f"{base}.rels")
    relations = _parse(package.read(path) or f'<Relationships xmlns="{_RELATIONS}"/>'.encode())
    ids = {one.get("Id") for one in relations.iter("*")}
    free = next(f"rIdComments{at}" for at in range(len(ids) + 1) if f"rIdComments{at}" not in ids)
    target = {"Id": free, "Type": f"{_OFFICE}/comments", "Target": posixpath.basename(name)}
    etree.SubElement(relations, f"{{{_RELATIONS}}}Relationship", target)
    types = _parse(package.read(_LIST) or f'<Types xmlns="{_TYPES}"/>'.encode())
    etree.SubElement(types, f"{{{_TYPES}}}Override", {"PartName": f"/{name}", "ContentType": _COMMENTS})
    return {path: _serialise(relations), _LIST: _serialise(types)}


def _parse(data: bytes) -> Node:
    """Parses XML without removing anything. The reader has parsed the same bytes before and refused dangerous XML."""
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False)
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise InvalidInput("is damaged; open it with the program that made it and save it again") from error


def _serialise(root: Node) -> bytes:
    written: bytes = etree.tostring(root.getroottree(), xml_declaration=True, encoding="UTF-8", standalone=True)
    return written


def _zip(data: bytes, package: Package, changed: Mapping[str, bytes]) -> bytes:
    """Returns the package with changed parts in their old positions and new parts at the end."""
    left = {name.casefold(): (name, content) for name, content in changed.items()}
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given:
        times = {info.filename.lstrip("/"): info.date_time for info in given.infolist()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as other:
        for name in package.names:
            if name.endswith("/"):
                continue
            _, content = left.pop(name.casefold(), (name, None))
            content = package.read(name) if content is None else content
            other.writestr(zipfile.ZipInfo(name, times[name]), content or b"", zipfile.ZIP_DEFLATED)
        for name, content in left.values():
            other.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()
