"""A workspace in a dictionary, and one call of a tool on it."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runs.contracts.base import JsonObject
from runs.contracts.ports import FileInfo, Toolbox, ToolResult, ToolUse, Workspace
from runs.documents.printing import deliverables
from runs.documents.writers import xlsx
from runs.pev.tools.tool import ToolLimits
from runs.pev.tools.toolbox import RunTools

MAKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "docx": deliverables.docx,
    "pdf": deliverables.pdf,
    "xlsx": xlsx.xlsx,
}
"""In this process, since starting another takes longer than making a small file."""


class Memory:
    """A workspace in a dictionary, which can be told to refuse."""

    def __init__(self, files: Mapping[str, bytes], refusal: Exception | None = None) -> None:
        self.content = dict(sorted(files.items()))
        self._refusal = refusal

    def files(self) -> Mapping[str, FileInfo]:
        return {
            path: FileInfo(hashlib.sha256(data).hexdigest(), len(data)) for path, data in sorted(self.content.items())
        }

    def read(self, path: str) -> bytes:
        return self.content[path]

    def problem(self, path: str) -> str:
        return "is a scan" if path.endswith(".pdf") else ""

    def notes(self, path: str) -> Sequence[str]:
        return ["Page 2 could not be read."] if path.endswith(".pptx") else []

    def extent(self, path: str) -> str:
        return ""

    def is_given(self, path: str) -> bool:
        return True

    def make(self, form: str, data: bytes) -> bytes:
        return MAKERS[form](data)

    def comment(self, path: str, place: tuple[int, int], words: str) -> bytes:
        raise NotImplementedError

    def write(self, path: str, content: bytes) -> None:
        if self._refusal:
            raise self._refusal
        self.content[path] = content


FILES = {
    "a.md": b"one\ntwo three\nfour\n",
    "docs/b.md": b"Two\r\nthree\r\n",
    "docs/empty.txt": b"",
    "logo.png": b"\x89PNG\0two",
}


def run(name: str, arguments: JsonObject, memory: Workspace | None = None, **limits: Any) -> ToolResult:
    box: Toolbox = RunTools(memory or Memory(FILES), ToolLimits(**limits))
    return box.run(ToolUse("1", name, arguments))
