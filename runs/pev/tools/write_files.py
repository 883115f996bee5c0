"""Tools that write files, and change them."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from runs.contracts.ports import ToolResult, Workspace
from runs.documents.content import document_of
from runs.documents.formats import format_of
from runs.enums import Effect
from runs.errors import InvalidInput
from runs.evidence.passages import find
from runs.pev.read_set import ReadTracker
from runs.pev.tools.file_access import FilePath, content_at, lines_of
from runs.pev.tools.limits import ToolLimits
from runs.pev.tools.making import description_of, form_of, is_markdown, look_at_cited, make_file, suffixes_of
from runs.pev.tools.tool import Results, Tool, ToolContext
from runs.text.paths import clean_path
from runs.text.plural import pluralize
from runs.text.truncate import quoted


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
