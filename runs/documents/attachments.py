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
        free = name.replace(":", "-")
        taken = {one.casefold() for one in names}
        path, number = PurePosixPath(free), 1  # the number is added if another file has the name already
        while free.casefold() in taken:
            number += 1
            free = f"{path.stem} ({number}){path.suffix}"
        names[free] = None
    return packed([json.dumps(list(names)).encode(), *(content for _, content in found)])
