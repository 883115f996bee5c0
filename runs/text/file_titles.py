"""Titles of documents, as people name them: “Service agreement” for `contracts/service_agreement.docx`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath

_DOCUMENTS = frozenset(
    [
        ".bmp",
        ".csv",
        ".doc",
        ".docm",
        ".docx",
        ".eml",
        ".epub",
        ".gif",
        ".heic",
        ".htm",
        ".html",
        ".jpeg",
        ".jpg",
        ".md",
        ".msg",
        ".odp",
        ".ods",
        ".odt",
        ".pdf",
        ".png",
        ".ppt",
        ".pptx",
        ".rtf",
        ".tab",
        ".tif",
        ".tiff",
        ".tsv",
        ".txt",
        ".webp",
        ".xls",
        ".xlsm",
        ".xlsx",
    ]
)
_BETWEEN_WORDS = re.compile(r"(?<!\d)[_-]+|[_-]+(?!\d)|_+")


def titles_of(paths: Iterable[str]) -> Mapping[str, str]:
    """Returns a title for each path, no two alike.

    Returns nothing if not all of them are documents: people name the files of a project by their paths.
    """
    files = [PurePosixPath(path) for path in paths]
    if any(file.suffix.lower() not in _DOCUMENTS for file in files):
        return {}
    titles = dict.fromkeys(files, "")
    # Each further way to name a file is for those that share their title so far.
    for name in (_title, _with_suffix, _with_folder, str):
        _rename(titles, name)
    return {str(file): title for file, title in titles.items()}


def _rename(titles: dict[PurePosixPath, str], name: Callable[[PurePosixPath], str]) -> None:
    sharing = defaultdict(list)
    for file, title in titles.items():
        sharing[title.casefold()].append(file)
    for title, files in sharing.items():
        if len(files) > 1 or not title:
            titles |= {file: name(file) for file in files}


def _title(file: PurePosixPath) -> str:
    words = file.stem if " " in file.stem else _BETWEEN_WORDS.sub(" ", file.stem).strip()
    return f"{words[:1].upper()}{words[1:]}" or file.name


def _with_suffix(file: PurePosixPath) -> str:
    return f"{_title(file)} ({file.suffix[1:].upper()})"


def _with_folder(file: PurePosixPath) -> str:
    return f"{_title(file)} ({file.parent})" if file.parent.name else _title(file)
