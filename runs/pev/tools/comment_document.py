"""The tool that adds comments to a copy of a Word file, at the words that they refer to."""

from typing import Annotated

from pydantic import Field, StringConstraints

from runs.contracts.ports import ToolResult, Workspace
from runs.documents.content import document_of
from runs.documents.formats import COMMENTED, format_of
from runs.documents.places.document import ASIDE, Document
from runs.enums import Effect
from runs.errors import InvalidInput
from runs.evidence.passages import Passage, passage_in
from runs.pev.plans.commented import REVIEWED
from runs.pev.read_set import ReadTracker
from runs.pev.tools.file_access import FilePath, content_at
from runs.pev.tools.tool import Results, Tool, ToolContext
from runs.text.paths import clean_path
from runs.text.truncate import quoted

MAX_CHARACTERS = 10_000
_Words = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CHARACTERS)]


class CommentDocument(Tool):
    name = "comment_document"
    effect = Effect.WRITES_FILES
    results = Results.WORDS
    description = (
        "Puts a comment at words of a Word file, into a copy of it under reviewed/ that gathers all comments on it. "
        "Words that stand in it several times are preceded by the name of their "
        "paragraph, as in [p23] thirty days."
    )

    path: FilePath
    quote: Annotated[_Words, Field(description="The words that the comment is about, verbatim")]
    comment: Annotated[_Words, Field(description="What the comment says")]

    def run(self, context: ToolContext) -> ToolResult:
        workspace = context.workspace
        path = clean_path(self.path)
        if not self.comment.strip():
            raise InvalidInput("The comment is empty; write what it is to say.")
        document = _document_at(workspace, path)
        # a copy made by the run is commented in place
        copy = path if path.startswith(REVIEWED) and not workspace.is_given(path) else REVIEWED + path
        base = path
        if copy in workspace.files():
            if workspace.is_given(copy):
                raise InvalidInput(f"{copy} is a file of the task, and comments on {path} would change it.")
            document, base = _document_at(workspace, copy), copy
        found = _find_passage(self.quote, document, path)
        place = (found.span.start, found.span.end)
        try:
            data = workspace.comment(base, place, self.comment)
        except InvalidInput as error:
            raise InvalidInput(f"{path} {error}.") from error
        workspace.write(copy, data)
        return ToolResult(f"{copy} has the comment at {found.where.words}, on {quoted(found.words)}.")

    def looks_at(self, looks: ReadTracker) -> None:
        path = clean_path(self.path)
        looks.file(path)
        looks.file(REVIEWED + path)


def _document_at(workspace: Workspace, path: str) -> Document:
    data, _ = content_at(workspace, path)
    document = document_of(data)
    form = format_of(document.layout.format) if document else None
    if document is None or form not in COMMENTED.values():
        what, takes = form.title if form else "a plain text", " or ".join(one.title for one in COMMENTED.values())
        raise InvalidInput(f"{path} is {what}; comments go into {takes} only, so write into a new file.")
    return document


def _find_passage(quote: str, document: Document, path: str) -> Passage:
    """Returns the place of the words in the main text."""
    found = passage_in(quote, document, path)
    if found is None:
        raise InvalidInput(f"{quoted(quote)} does not occur in {path}; read_file shows its text.")
    if isinstance(found, str):
        raise InvalidInput(f"{found}.")
    blocks = document.blocks_in(found.span.start, found.span.end)
    if any(block.kind in ASIDE for block in blocks):
        raise InvalidInput(
            f"{quoted(found.words)} is in {found.where.words} of {path}, where no comment can be; "
            "quote words of the text itself."
        )
    if len({block.anchor.rpartition("x.")[0] for block in blocks}) > 1:
        raise InvalidInput(f"{quoted(found.words)} goes over the edge of a text box in {path}; quote less.")
    if not quote.lstrip().startswith("[") and (other := _again(found, document, path)):
        raise InvalidInput(
            f"{quoted(found.words)} is in {path} several times, as in {found.where.words} and in "
            f"{other.where.words}; put the name of the paragraph before it, as in [p23] thirty days."
        )
    return found


def _again(found: Passage, document: Document, path: str) -> Passage | None:
    """Returns a second place of the words in the main text, or None."""
    rest = found.span.end, len(document.text)
    other = passage_in(found.words, document, path, rest)
    if not isinstance(other, Passage) or other.span.start < found.span.end:
        return None
    is_aside = any(block.kind in ASIDE for block in document.blocks_in(other.span.start, other.span.end))
    return None if is_aside else other
