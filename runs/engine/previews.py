"""The beginnings of files that a planner is shown: of those that `read_file` would show, as it would show them."""

import codecs

from runs import trees
from runs.models import Tree

PREVIEWS = 12
PREVIEW_CHARS = 1_200
"""The beginnings of so many files, about 4,000 tokens in all: enough to plan by; the executor reads them whole."""


def previews_of(tree: Tree) -> dict[str, str]:
    """By path, those of the first files that can be read and are not blank."""
    found: dict[str, str] = {}
    problems, texts = trees.problems_of(tree), trees.readings_of(tree).texts
    for path, info in trees.files_of(tree).items():
        if len(found) == PREVIEWS:
            break
        if path not in problems and (text := _beginning(texts.get(info.sha256, info.sha256))).strip():
            found[path] = text
    return found


def _beginning(sha256: str) -> str:
    """Of a text in UTF-8; nothing of another content, which runs from before renditions may have."""
    with trees.open_blob(sha256) as blob:
        start = blob.read(4 * PREVIEW_CHARS)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else text[:PREVIEW_CHARS]
