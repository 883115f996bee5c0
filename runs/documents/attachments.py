"""Reads the attachments of mails as files. It runs in isolated processes, so it knows no Django."""

import json
from importlib import import_module
from pathlib import PurePosixPath

from runs.documents.file_kinds import HEAD_BYTES, kind_of
from runs.documents.formats import FORMATS
from runs.documents.packed_parts import packed
from runs.errors import InvalidInput

MAX_BYTES = 64_000_000  # of all attachments of a mail


def read(data: bytes) -> bytes:
    """Returns the attachments of a mail with unique names: a JSON list of the names, then the contents."""
    form = FORMATS[kind_of(data[:HEAD_BYTES]).format]
    found = import_module(form.reader).attachments(data)
    if sum(len(content) for _, content in found) > MAX_BYTES:
        raise InvalidInput(f"has attachments of more than {MAX_BYTES // 1_000_000} MB")
    names: dict[str, None] = {}
    for name, _ in found:
        names[_other(name.replace(":", "-"), {one.casefold() for one in names})] = None
    return packed([json.dumps(list(names)).encode(), *(content for _, content in found)])


def _other(name: str, taken: set[str]) -> str:
    """Returns the name, with a number if another file has it already."""
    path, number = PurePosixPath(name), 1
    while name.casefold() in taken:
        number += 1
        name = f"{path.stem} ({number}){path.suffix}"
    return name
