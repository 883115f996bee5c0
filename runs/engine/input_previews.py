"""The beginnings of files that a planner is shown: of those that `read_file` would show, as it would show them."""

import codecs

from runs.models import Tree
from runs.store import blobs, trees

PREVIEWS = 12
PREVIEW_CHARS = 1_200
"""The beginnings of so many files, about 4,000 tokens in all: enough to plan by; the executor reads them whole."""
PAGE_CHARS = 2_500
"""Of a document, about its first page: what it is stands below letterheads and parties."""


def previews_of(tree: Tree) -> dict[str, str]:
    """By path, those of the first files that can be read and are not blank."""
    found: dict[str, str] = {}
    problems, known = trees.problems_of(tree), trees.readings_of(tree)
    for path, info in trees.files_of(tree).items():
        if len(found) == PREVIEWS:
            break
        if path in problems:
            continue
        is_document = info.sha256 in known.layouts
        text = _beginning(known.texts.get(info.sha256, info.sha256), PAGE_CHARS if is_document else PREVIEW_CHARS)
        if text.strip():
            found[path] = text.partition("\f")[0] if is_document else text
    return found


def _beginning(sha256: str, characters: int) -> str:
    """Of a text in UTF-8; nothing of another content, which runs from before renditions may have."""
    with blobs.opened(sha256) as blob:
        start = blob.read(4 * characters)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else text[:characters]
