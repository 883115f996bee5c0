"""What the file tools share: their arguments, and functions that cut texts to fit into an answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from runs.contracts.ports import FileInfo, Workspace
from runs.documents.content import text_of
from runs.errors import InvalidInput

FilePath = Annotated[str, Field(description="From the top folder, such as notes/summary.md")]
Prefix = Annotated[str, Field(description="Only files whose path begins like this; empty for all")]


def under(prefix: str, files: Mapping[str, FileInfo]) -> dict[str, FileInfo]:
    """Returns the files whose path begins with the prefix."""
    start = start_of(prefix)
    return {path: info for path, info in files.items() if path.startswith(start)}


def start_of(prefix: str) -> str:
    """Returns the prefix of paths. `.`, `./` and a leading slash mean the top folder."""
    start = prefix.replace("\\", "/").removeprefix("./").lstrip("/")
    return "" if start == "." else start


def content_at(workspace: Workspace, path: str) -> tuple[bytes, str]:
    """Returns the readable bytes of a file and its text. Raises InvalidInput with a sentence if there is none."""
    files = workspace.files()
    if path not in files:
        name = PurePosixPath(path).name
        similar = [other for other in files if PurePosixPath(other).name == name][:5]
        hint = f"there is {', '.join(similar)}" if similar else "list_files shows what there is"
        raise InvalidInput(f"{path} does not exist; {hint}.")
    data = workspace.read(path)
    text = text_of(data)
    if text is None:
        raise InvalidInput(f"{path} {workspace.problem(path) or 'is not a text file'}.")
    return data, text


def lines_of(text: str) -> list[str]:
    """Splits at newlines only, so that joining restores the text. A final newline does not begin another line."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def fitting(lines: Sequence[str], limit: int) -> int:
    """Returns how many of the lines fit into so many characters, including newlines."""
    used = 0
    for count, line in enumerate(lines):
        used += len(line) + 1
        if used > limit + 1:
            return count
    return len(lines)


def spans_of(lines: Iterable[str], start: int = 0) -> Iterator[tuple[int, int]]:
    """Yields the range of each line in a text in which they follow one another from `start` on."""
    for line in lines:
        yield start, start + len(line)
        start += len(line) + 1
