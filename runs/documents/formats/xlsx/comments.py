"""Comments on cells: threads, and the notes that older programs know."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from runs.documents.formats.package_parts import Element, Package, whole_number
from runs.documents.model.sheets import address_in

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TC = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"


class Comment(NamedTuple):
    column: int
    text: str
    by: str
    on: str = ""


def comments_of(package: Package, part: str, persons: str) -> dict[int, list[Comment]]:
    """Those of a sheet, by row. A thread stands in the file twice, the second time as one note for old programs."""
    relations = package.relations(part)
    threads, notes = ([one.target for one in relations if one.kind == kind] for kind in ("threadedComment", "comments"))
    found: dict[str, list[Comment]] = defaultdict(list)
    if threads:
        names = _persons(package.xml(persons))
        for target in threads:
            _add_thread(found, package.xml(target), names)
    threaded = set(found)
    for target in notes:
        _add_notes(found, package.xml(target), threaded)
    rows: dict[int, list[Comment]] = defaultdict(list)
    for reference, comments in found.items():
        if address := address_in(f"x!{reference}"):
            rows[address.row] += [one._replace(column=address.column) for one in comments]
    return rows


def _add_thread(found: dict[str, list[Comment]], root: Element | None, names: Mapping[str, str]) -> None:
    for one in root.iter(f"{_TC}threadedComment") if root is not None else ():
        said = one.find(f"{_TC}text")
        text = (said.text or "") if said is not None else ""
        found[one.get("ref", "")].append(Comment(0, text, names.get(one.get("personId", ""), ""), one.get("dT", "")))


def _add_notes(found: dict[str, list[Comment]], root: Element | None, threaded: Set[str]) -> None:
    if root is None:
        return
    authors = [one.text or "" for one in root.iter(f"{_S}author")]
    for one in root.iter(f"{_S}comment"):
        if one.get("ref", "") not in threaded:
            text = one.find(f"{_S}text")
            parts = [t.text or "" for run in (text if text is not None else ()) for t in _texts(run)]
            author = whole_number(one.get("authorId"), -1, low=-1)
            by = authors[author] if 0 <= author < len(authors) else ""
            found[one.get("ref", "")].append(Comment(0, "".join(parts), by))


def _texts(run: Element) -> Sequence[Element]:
    """Those of a run, which may be a text by itself; how something is pronounced is left out."""
    if run.tag == f"{_S}t":
        return [run]
    return run.findall(f"{_S}t") if run.tag == f"{_S}r" else []


def _persons(root: Element | None) -> Mapping[str, str]:
    people = root.iter(f"{_TC}person") if root is not None else ()
    return {one.get("id", ""): one.get("displayName", "") for one in people}
