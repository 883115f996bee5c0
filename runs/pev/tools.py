"""The file tools of an executor: what they take, what they answer, and how they say no (rule S1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints, ValidationError

from runs.errors import InvalidInput
from runs.pev.answer_schemas import schema_for
from runs.pev.contracts import Contract, JsonObject
from runs.pev.conversation.mistakes import MAX_SHOWN, place_of, words_for
from runs.pev.conversation.window import MAX_RESULT_CHARS, result_chars
from runs.pev.evidence.quotes import find
from runs.pev.files.paths import clean_path, text_of
from runs.pev.files.reads import Looks
from runs.pev.files.searching import Hit, hits_in
from runs.pev.ports import FileInfo, Shown, ToolResult, ToolSpec, ToolUse, Workspace
from runs.pev.texts.patterns import Budget, Pattern, TooSlow, compiled
from runs.pev.texts.wording import quoted


@dataclass(frozen=True)
class ToolLimits:
    """`result_chars` is for one answer, `file_bytes` for a file written, `hit_chars` for a line of a hit."""

    result_chars: int = MAX_RESULT_CHARS
    file_bytes: int = 5_000_000
    search_seconds: float = 2.0
    listed_files: int = 500
    hits: int = 200
    hit_chars: int = 300


def limits_for(window: int | None) -> ToolLimits:
    """The usual limits; a model with a small context window is shown less at a time, and reads on in parts."""
    usual = ToolLimits()
    return replace(usual, result_chars=result_chars(window, usual.result_chars))


class _Arguments(Contract):
    """What a tool takes; one subclass is one tool."""

    name: ClassVar[str]
    description: ClassVar[str]

    def answer(self, workspace: Workspace, limits: ToolLimits) -> ToolResult:
        """The text for the model, with what it shows. Raises InvalidInput with a sentence it can act on."""
        raise NotImplementedError

    def looks_at(self, looks: Looks) -> None:
        """Note every file that an answer may depend on, as long as it is no refusal."""
        raise NotImplementedError


_FilePath = Annotated[str, Field(description="Path of the file, from the top folder, such as notes/summary.md")]
_Prefix = Annotated[str, Field(description="Only files whose path begins like this; empty for all")]


class _ListFiles(_Arguments):
    name = "list_files"
    description = "Lists the files there are: size in bytes and path, a line each. read_file tells whether one is text."

    prefix: _Prefix = ""

    def answer(self, workspace: Workspace, limits: ToolLimits) -> ToolResult:
        chosen = _under(self.prefix, workspace.files())
        if not chosen:
            where = f" whose path begins with {quoted(self.prefix)}" if self.prefix else ""
            return ToolResult(f"There are no files{where}.")
        lines = [f"{info.size}\t{path}" for path, info in chosen.items()][: limits.listed_files]
        lines = lines[: _fitting(lines, limits.result_chars)]
        left = len(chosen) - len(lines)
        note = [f"[{left} more are not listed; use a prefix to see them]"] if left else []
        head = f"{len(chosen)} files, size in bytes and path:"
        spans = _spans(lines, len(head) + 1)
        shown = [Shown(path, info.sha256, *span) for (path, info), span in zip(chosen.items(), spans, strict=False)]
        note += _not_read(workspace, list(chosen)[: len(lines)], limits.result_chars // 4)
        return ToolResult("\n".join([head, *lines, *note]), shown=tuple(shown))

    def looks_at(self, looks: Looks) -> None:
        looks.listing(_start(self.prefix))


class _ReadFile(_Arguments):
    name = "read_file"
    description = "Gives lines of a text file verbatim, after one line that says which. Quotes can be copied from it."

    path: _FilePath
    first_line: Annotated[int, Field(ge=1, description="The first line wanted, from 1")] = 1
    lines: Annotated[int, Field(ge=1, le=10_000, description="How many lines")] = 400

    def answer(self, workspace: Workspace, limits: ToolLimits) -> ToolResult:
        path = clean_path(self.path)
        every = _lines(_text(workspace, path))
        sha256 = workspace.files()[path].sha256
        if not every:
            return ToolResult(f"{path} is empty", shown=(Shown(path, sha256, 0, len(path)),))
        if self.first_line > len(every):
            raise InvalidInput(f"{path} has only {len(every)} lines; first_line is {self.first_line}.")
        wanted = every[self.first_line - 1 : self.first_line - 1 + self.lines]
        given = wanted[: max(1, _fitting(wanted, limits.result_chars))]
        last = whole = self.first_line + len(given) - 1
        text = "\n".join(given)
        note = f"\n[more follows; go on with first_line={last + 1}]" if last < len(every) else ""
        if len(text) > limits.result_chars:
            note = (
                f"\n[cut: line {last} has {len(text)} characters and {limits.result_chars} are shown; "
                f"search_files shows places further on]{note}"
            )
            text, whole = text[: limits.result_chars], last - 1
        head = f"{path}, lines {self.first_line}-{last} of {len(every)}"
        start = len(head) + 1
        body = Shown(path, sha256, start, start + len(text), self.first_line, whole, len(every))
        return ToolResult(f"{head}\n{text}{note}", shown=(Shown(path, sha256, 0, len(head)), body))

    def looks_at(self, looks: Looks) -> None:
        looks.file(clean_path(self.path))


class _SearchFiles(_Arguments):
    name = "search_files"
    description = (
        "Finds lines in all text files, capitals ignored, each as path:line: text. "
        "The pattern is taken literally unless regex is true."
    )

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=500), Field(description="What to find")]
    prefix: _Prefix = ""
    regex: Annotated[bool, Field(description="Whether the pattern is a regular expression")] = False

    def answer(self, workspace: Workspace, limits: ToolLimits) -> ToolResult:
        names = list(_under(self.prefix, workspace.files()))
        wanted = _pattern(self.pattern, literal=not self.regex)
        found: list[Hit] = []
        note = ""
        budget = Budget(limits.search_seconds)
        try:
            for hit in hits_in(names, workspace.read, wanted, budget, limit=limits.hits + 1, chars=limits.hit_chars):
                if len(found) == limits.hits:
                    note = f"\n[there are more than {limits.hits}; use a narrower pattern or a prefix]"
                    break
                found.append(hit)
        except TooSlow as error:
            note = f"\n[of {len(names)} files not all were searched: {error}; use a simpler pattern or a prefix]"
        if not found and not note:
            return ToolResult(f"No line matches {quoted(self.pattern)} in the text files among these {len(names)}.")
        if not found:
            raise InvalidInput(f"Nothing was found so far.{note}")
        lines = [f"{hit.path}:{hit.line}: {hit.text}" for hit in found]
        lines = lines[: _fitting(lines, limits.result_chars)]
        if len(lines) < len(found):
            note = f"\n[{len(found) - len(lines)} more do not fit; use a narrower pattern or a prefix]{note}"
        files, spans = workspace.files(), _spans(lines)
        shown = [hit.shown(files[hit.path].sha256, *span) for hit, span in zip(found, spans, strict=False)]
        return ToolResult("\n".join(lines) + note, shown=tuple(shown))

    def looks_at(self, looks: Looks) -> None:
        looks.contents(_start(self.prefix))


class _WriteFile(_Arguments):
    name = "write_file"
    description = "Writes a whole text file, or replaces it. Folders come by themselves."

    path: _FilePath
    content: Annotated[str, Field(description="The whole new text of the file")]

    def answer(self, workspace: Workspace, limits: ToolLimits) -> ToolResult:
        path = clean_path(self.path)
        data = _bytes(self.content)
        replaced = path in workspace.files()
        _write(workspace, path, data, limits)
        done = "replaced" if replaced else "created"
        return ToolResult(f"{path} was {done}: {len(data)} bytes, {len(_lines(self.content))} lines.")

    def looks_at(self, looks: Looks) -> None:
        looks.file(clean_path(self.path))


class _EditFile(_Arguments):
    name = "edit_file"
    description = "Replaces one place of a text file. The old text must occur exactly once, to the letter."

    path: _FilePath
    old: Annotated[str, StringConstraints(min_length=1), Field(description="The text to replace, verbatim")]
    new: Annotated[str, Field(description="The text to put there")]

    def answer(self, workspace: Workspace, limits: ToolLimits) -> ToolResult:
        path = clean_path(self.path)
        text = _text(workspace, path)
        data = workspace.read(path)
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

    def looks_at(self, looks: Looks) -> None:
        looks.file(clean_path(self.path))


_TOOLS: Mapping[str, type[_Arguments]] = {
    tool.name: tool for tool in (_EditFile, _ListFiles, _ReadFile, _SearchFiles, _WriteFile)
}
TOOL_NAMES = frozenset(_TOOLS)


def note_looks(looks: Looks, name: str, arguments: JsonObject, result: ToolResult) -> None:
    """Note what a call that was carried out, now or before a crash, has looked at of the files."""
    tool = _TOOLS.get(name)
    if tool is None:
        return
    try:
        tool.model_validate(arguments).looks_at(looks)
    except (ValidationError, InvalidInput):
        return  # refused before it saw any file
    if result.is_error:
        looks.names()  # a refusal may speak of other files: what is called alike, what lies in the way
    for one in result.shown:
        if one.lines:
            looks.file(one.path)


class FileTools:
    """A Toolbox over one workspace. What a model asks for wrongly comes back as a result with `is_error`.

    Only what is no fault of the model (LeaseLost, a database that is away) passes through `run`.
    """

    def __init__(self, workspace: Workspace, limits: ToolLimits | None = None) -> None:
        self._workspace = workspace
        self._limits = limits or ToolLimits()

    def specs(self) -> Sequence[ToolSpec]:
        """Sorted by name, the same bytes every time: prompts are cached by their beginning."""
        return [_spec(_TOOLS[name]) for name in sorted(_TOOLS)]

    def run(self, use: ToolUse) -> ToolResult:
        tool = _TOOLS.get(use.name)
        if tool is None:
            return self._refused(f"There is no tool {quoted(use.name)}; there are {', '.join(sorted(_TOOLS))}.")
        try:
            return tool.model_validate(use.input).answer(self._workspace, self._limits)
        except ValidationError as error:
            return self._refused(_told_wrong(tool, error))
        except InvalidInput as error:
            return self._refused(str(error))

    def _refused(self, sentence: str) -> ToolResult:
        return ToolResult(sentence[: self._limits.result_chars], is_error=True)


def _spec(tool: type[_Arguments]) -> ToolSpec:
    schema = {key: value for key, value in schema_for(tool).items() if key != "title"}
    schema["required"] = [name for name, field in tool.model_fields.items() if field.is_required()]
    return ToolSpec(tool.name, tool.description, schema)


def _told_wrong(tool: type[_Arguments], error: ValidationError) -> str:
    errors = error.errors(include_url=False, include_input=False)[:MAX_SHOWN]
    wrong = [f"{place_of(item['loc'])} {words_for(item)}" for item in errors]
    takes = ", ".join(
        name if field.is_required() else f"{name} (optional)" for name, field in tool.model_fields.items()
    )
    return f"{tool.name} was not run. {'; '.join(wrong)}. It takes {takes}."


def _under(prefix: str, files: Mapping[str, FileInfo]) -> dict[str, FileInfo]:
    """The files whose path begins with the prefix."""
    start = _start(prefix)
    return {path: info for path, info in files.items() if path.startswith(start)}


def _start(prefix: str) -> str:
    """What paths begin with; `.`, `./` and a leading slash mean the top folder."""
    start = prefix.replace("\\", "/").removeprefix("./").lstrip("/")
    return "" if start == "." else start


def _text(workspace: Workspace, path: str) -> str:
    files = workspace.files()
    if path not in files:
        name = PurePosixPath(path).name
        similar = [other for other in files if PurePosixPath(other).name == name][:5]
        hint = f"there is {', '.join(similar)}" if similar else "list_files shows what there is"
        raise InvalidInput(f"{path} does not exist; {hint}.")
    text = text_of(workspace.read(path))
    if text is None:
        raise InvalidInput(f"{path} {workspace.problem(path) or 'is not a text file'}.")
    return text


def _not_read(workspace: Workspace, paths: Iterable[str], limit: int) -> list[str]:
    """A note for each of these files that cannot be read, as long as they fit into so many characters."""
    notes = [f"[{path} {problem}]" for path in paths if (problem := workspace.problem(path))]
    fitting = notes[: _fitting(notes, limit)]
    more = len(notes) - len(fitting)
    return [*fitting, *([f"[{more} more cannot be read; read_file says why]"] if more else [])]


def _lines(text: str) -> list[str]:
    """Split at newlines only, so that joining gives the same text; a newline at the end opens no line."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _fitting(lines: Sequence[str], limit: int) -> int:
    """How many of the lines fit into so many characters, newlines included."""
    used = 0
    for count, line in enumerate(lines):
        used += len(line) + 1
        if used > limit + 1:
            return count
    return len(lines)


def _pattern(pattern: str, *, literal: bool) -> Pattern:
    try:
        return compiled(pattern, multiline=True, ignore_case=True, literal=literal)
    except InvalidInput as error:
        raise InvalidInput(f"The pattern cannot be used: {error}.") from error


def _spans(lines: Iterable[str], start: int = 0) -> Iterator[tuple[int, int]]:
    """Where each line stands in a text in which they follow one another from `start` on."""
    for line in lines:
        yield start, start + len(line)
        start += len(line) + 1


def _bytes(text: str) -> bytes:
    if "\0" in text:
        raise InvalidInput("The text has a NUL character; only text can be written.")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("The text has half of a surrogate pair; write the character itself.") from error


def _write(workspace: Workspace, path: str, data: bytes, limits: ToolLimits) -> None:
    if len(data) > limits.file_bytes:
        raise InvalidInput(f"{path} would have {len(data)} bytes and may have {limits.file_bytes}; split it.")
    workspace.write(path, data)


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
