"""Tools that write and change files: texts, and Word, PDF and Excel files that are made from Markdown or CSV."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import unquote

from pydantic import Field, StringConstraints

from runs.contracts.base import RESULT
from runs.contracts.ports import ToolResult, Workspace
from runs.documents.content import document_of
from runs.documents.formats import format_of
from runs.documents.made_files import MAKERS
from runs.enums import CitationStatus, Effect, Provenance
from runs.errors import InvalidInput, PathRefused
from runs.evidence.citations.citation import Cited
from runs.evidence.citations.citing import broken_in, message_of
from runs.evidence.citations.links import links_in
from runs.evidence.citations.lookup import citations_in
from runs.evidence.citations.words import words_of
from runs.evidence.passages import find
from runs.pev.read_set import ReadTracker
from runs.pev.tools.file_access import FilePath, content_at, lines_of
from runs.pev.tools.tool import Results, Tool, ToolContext, ToolLimits
from runs.text.normalisation import one_spaced
from runs.text.paths import clean_path
from runs.text.plural import pluralize
from runs.text.truncate import quoted

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
        raise InvalidInput(f"{path} would be empty; write its content.")
    stem = PurePosixPath(path).stem
    if MAKERS[form].source == "CSV":
        return _make(path, form, [content, stem], workspace), 0
    cited = citations_in(content, _Library(workspace))
    if problems := broken_in(cited):
        raise InvalidInput(f"{path} was not written, since citations in it are broken. {message_of(problems)}")
    # No content can contain its own digest, so a link in it cannot imitate one that was looked up.
    known = f"looked-up-{hashlib.sha256(content.encode()).hexdigest()}:"
    text, notes = _annotate(content, cited, known)
    data = {"title": stem, "text": text, "known": known, "notes": notes}
    return _make(path, form, data, workspace), len(notes)


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
                looks.file(_clean_name(written))


def _clean_name(name: str) -> str:
    try:
        return clean_path(name.removeprefix(RESULT).removeprefix("./"))
    except PathRefused:
        return ""


def _make(path: str, form: str, data: object, workspace: Workspace) -> bytes:
    try:
        return workspace.make(form, json.dumps(data).encode())
    except InvalidInput as error:
        raise InvalidInput(f"{path} {error}.") from error


def _annotate(text: str, cited: Cited, known: str) -> tuple[str, list[str]]:
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


class WriteFile(Tool):
    name = "write_file"
    effect = Effect.WRITES_FILES
    results = Results.WORDS
    is_basic = True
    description = (
        f"Writes a whole text file, or replaces it. For a path that ends in {suffixes_of('Markdown')} the content is "
        "Markdown, of which a Word document or a PDF is made, with its citations as footnotes; for "
        f"{suffixes_of('CSV')} it is CSV."
    )

    path: FilePath
    content: Annotated[str, Field(description="The whole new text of the file")]

    def run(self, context: ToolContext) -> ToolResult:
        workspace, limits = context.workspace, context.limits
        path = clean_path(self.path)
        data = _bytes(self.content)
        replaced = path in workspace.files()
        done = "replaced" if replaced else "created"
        form = form_of(path)
        if replaced and (not form or workspace.is_given(path)):
            # A text must not replace a document that was given.
            document = document_of(workspace.read(path))
            if document and not format_of(document.layout.format).is_text:
                title = format_of(document.layout.format).title
                raise InvalidInput(f"{path} is {title}, which a text would destroy; write into a new file.")
        if not form:
            _write(workspace, path, data, limits)
            lines = pluralize(len(lines_of(self.content)), "line")
            return ToolResult(f"{path} was {done}: {pluralize(len(data), 'byte')}, {lines}.")
        _check_size(path, data, limits)
        file, notes = make_file(path, form, self.content, workspace)
        _write(workspace, path, file, limits)
        return ToolResult(f"{path} was {done}: {description_of(path, form, notes, workspace)}")

    def looks_at(self, looks: ReadTracker) -> None:
        path = clean_path(self.path)
        looks.file(path)
        if is_markdown(path):
            look_at_cited(self.content, looks)


class EditFile(Tool):
    name = "edit_file"
    effect = Effect.WRITES_FILES
    results = Results.WORDS
    description = "Replaces one place of a text file. The old text must occur exactly once, to the letter."

    path: FilePath
    old: Annotated[str, StringConstraints(min_length=1), Field(description="The text to replace, verbatim")]
    new: Annotated[str, Field(description="The text to put there")]

    def run(self, context: ToolContext) -> ToolResult:
        workspace, limits = context.workspace, context.limits
        path = clean_path(self.path)
        data, text = content_at(workspace, path)
        if document := document_of(data):
            raise InvalidInput(
                f"{path} is {format_of(document.layout.format).title}, which cannot be changed in place; "
                "write the changed text into a new file with write_file."
            )
        old, new = _bytes(self.old), _bytes(self.new)
        if data.count(b"\n") == data.count(b"\r\n") > 0:
            old, new = _with_crlf(old), _with_crlf(new)
        if old == new:
            raise InvalidInput("The old and the new text are the same; nothing would change.")
        lines = _lines_with(old, data)
        if len(lines) != 1:
            raise InvalidInput(_not_once(self.old, path, text, lines))
        _write(workspace, path, data.replace(old, new, 1), limits)
        return ToolResult(f"{path} was changed in line {lines[0]}.")

    def looks_at(self, looks: ReadTracker) -> None:
        looks.file(clean_path(self.path))


def _bytes(text: str) -> bytes:
    if "\0" in text:
        raise InvalidInput("The text has a NUL character; only text can be written.")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("The text has half of a surrogate pair; write the character itself.") from error


def _write(workspace: Workspace, path: str, data: bytes, limits: ToolLimits) -> None:
    _check_size(path, data, limits)
    workspace.write(path, data)


def _check_size(path: str, data: bytes, limits: ToolLimits) -> None:
    if len(data) > limits.file_bytes:
        raise InvalidInput(f"{path} would have {len(data)} bytes and may have {limits.file_bytes}; split it.")


def _with_crlf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _lines_with(old: bytes, data: bytes, limit: int = 11) -> list[int]:
    """The lines on which `old` begins, overlapping places too, the first `limit`."""
    found, line, counted, at = list[int](), 1, 0, data.find(old)
    while at >= 0 and len(found) < limit:
        line += data.count(b"\n", counted, at)
        counted = at
        found.append(line)
        at = data.find(old, at + 1)
    return found


def _not_once(old: str, path: str, text: str, lines: Sequence[int]) -> str:
    if lines:
        often = f"{len(lines)} times" if len(lines) <= 10 else "more than 10 times"
        listed = ", ".join(map(str, lines[:10]))
        return f"{quoted(old)} occurs {often} in {path}, on lines {listed}; give more of the text around it."
    span = find(old, text)
    if span:
        return f"{quoted(old)} occurs in {path}, line {span.line}, but with other spaces; copy it exactly."
    return f"{quoted(old)} does not occur in {path}; read_file shows its text."
