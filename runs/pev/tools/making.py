"""Makes files of other formats from what a model writes: Word and PDF from Markdown, Excel from CSV."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote

from runs.contracts.base import RESULT
from runs.contracts.ports import Workspace
from runs.documents.content import document_of
from runs.documents.formats import format_of
from runs.documents.made_files import MAKERS
from runs.enums import CitationStatus, Provenance
from runs.errors import InvalidInput, PathRefused
from runs.evidence.citations.citation import Cited
from runs.evidence.citations.citing import broken_in, message_of
from runs.evidence.citations.links import links_in
from runs.evidence.citations.lookup import citations_in
from runs.evidence.citations.words import words_of
from runs.pev.read_set import ReadTracker
from runs.text.normalisation import one_spaced
from runs.text.paths import clean_path
from runs.text.plural import pluralize

_WORDS = "#words"
_NOTE = "#note-"


def form_of(path: str) -> str:
    """Returns the format that a file with this name is converted to, or an empty string for text."""
    suffix = PurePosixPath(path).suffix.lower().removeprefix(".")
    return suffix if suffix in MAKERS else ""


def is_markdown(path: str) -> bool:
    """Whether a file with this name is made from Markdown, with its citations as footnotes."""
    form = form_of(path)
    return bool(form) and MAKERS[form].source == "Markdown"


def suffixes_of(source: str) -> str:
    """Returns the suffixes of files that are made from Markdown or from CSV, in words."""
    return " or ".join(f".{form}" for form, maker in MAKERS.items() if maker.source == source)


def make_file(path: str, form: str, content: str, workspace: Workspace) -> tuple[bytes, int]:
    """Returns the file made from this content, and the number of its footnotes. Raises InvalidInput with a sentence."""
    if not content.strip():
        raise InvalidInput(f"{path} would be empty; write what is to stand in it.")
    stem = PurePosixPath(path).stem
    if MAKERS[form].source == "CSV":
        return _made(path, form, [content, stem], workspace), 0
    cited = citations_in(content, _Library(workspace))
    if problems := broken_in(cited):
        raise InvalidInput(f"{path} was not written, since citations in it are broken. {message_of(problems)}")
    # No content can contain its own digest, so a link in it cannot imitate one that was looked up.
    known = f"looked-up-{hashlib.sha256(content.encode()).hexdigest()}:"
    text, notes = _annotated(content, cited, known)
    data = {"title": stem, "text": text, "known": known, "notes": notes}
    return _made(path, form, data, workspace), len(notes)


def description_of(path: str, form: str, notes: int, workspace: Workspace) -> str:
    """Returns what a written file looks like to its reader, as the continuation of its name."""
    if problem := workspace.problem(path):
        return f"{format_of(form).title}, which {problem}."
    document = document_of(workspace.read(path))
    parts = [pluralize(document.layout.units, document.layout.unit)] if document and document.layout.unit else []
    parts += [pluralize(notes, "footnote")] if notes else []
    return f"{format_of(form).title}{f' with {" and ".join(parts)}' if parts else ''}."


def look_at_cited(content: str, looks: ReadTracker) -> None:
    """Notes the files that the links in a content name."""
    try:
        _, links = links_in(content)
    except InvalidInput:
        return
    for target in {link.target for link in links}:
        for name in {target, target.rpartition("#")[0], target.partition("#")[0]}:
            for written in {name, unquote(name)}:
                looks.file(_cleaned(written))


def _cleaned(name: str) -> str:
    try:
        return clean_path(name.removeprefix(RESULT).removeprefix("./"))
    except PathRefused:
        return ""


def _made(path: str, form: str, data: object, workspace: Workspace) -> bytes:
    try:
        return workspace.make(form, json.dumps(data).encode())
    except InvalidInput as error:
        raise InvalidInput(f"{path} {error}.") from error


def _annotated(text: str, cited: Cited, known: str) -> tuple[str, list[str]]:
    """Returns the text with citations as links to notes, and the notes. Links to whole files become plain words."""
    parts, notes, at = list[str](), list[str](), 0
    for one in cited.links:
        to = f"{known}{_WORDS}"
        if not (one.plain or one.status is CitationStatus.COPIED):
            to = f"{known}{_NOTE}{len(notes)}"
            notes.append(f"{one.source.removeprefix(RESULT)}, {one.where}: “{one_spaced(one.quote).strip()}”")
        parts += [text[at : one.start], f"[{words_of(text[one.start : one.end])}](<{to}>)"]
        at = one.end
    return "".join([*parts, text[at:]]), notes


class _Library:
    """The files of a workspace as sources of citations (`citations.Library`)."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._files = workspace, workspace.files()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.removeprefix(RESULT) in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __getitem__(self, name: str) -> bytes:
        return self._workspace.read(name.removeprefix(RESULT))

    def provenance(self, name: str) -> Provenance:
        return Provenance.GIVEN if self._workspace.is_given(name.removeprefix(RESULT)) else Provenance.MADE

    def page(self, address: str) -> str:
        return ""

    def digest(self, name: str) -> str | None:
        return self._files[name.removeprefix(RESULT)].sha256
