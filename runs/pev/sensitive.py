"""File names that ask for care: version stores, which no model may write to, and what tools obey unasked."""

import fnmatch
import re
import unicodedata

import regex

HARMLESS = frozenset(
    {
        ".github",
        ".gitignore",
        ".gitkeep",
        ".dockerignore",
        ".editorconfig",
        ".nojekyll",
        ".well-known",
    }
)
"""Names with a leading dot that no tool runs or obeys when a folder is merely entered, listed or opened."""
OBEYED = (
    "autorun.inf",
    "desktop.ini",
    "*.desktop",
    "*.lnk",
    "*.pth",
    "*.scf",
    "*.url",
    "mise.toml",
    "sitecustomize.py",
    "usercustomize.py",
)
"""Names without a leading dot that shells, file managers or interpreters act on by themselves."""
_EXAMPLE = re.compile(r"\.env[-.\w]*\.(?:example|sample|template|dist)")
_SHORT_NAME = re.compile(r"git~\d+")
_INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")


def is_version_store(path: str) -> bool:
    """Whether a part of the path is `.git` (`.hg`, `.svn`) to any file system, by whichever spelling."""
    return any(part in {".git", ".hg", ".svn", ".bzr"} or _SHORT_NAME.fullmatch(part) for part in _parts(path))


def is_obeyed(path: str) -> bool:
    """Whether a tool may run or obey this file without being asked, just because it lies where it lies.

    That is every name with a leading dot but the `HARMLESS` ones and examples such as `.env.example`, and `OBEYED`.
    """
    for part in _parts(path):
        if part.startswith(".") and part not in HARMLESS and not _EXAMPLE.fullmatch(part):
            return True
    return is_version_store(path) or any(fnmatch.fnmatchcase(part, name) for part in _parts(path) for name in OBEYED)


def _parts(path: str) -> list[str]:
    """The parts as the most forgiving file system reads them: capitals, hidden characters, dots at the end."""
    folded = unicodedata.normalize("NFC", _INVISIBLE.sub("", path).casefold()).replace("\\", "/")
    return [part.rstrip(". ").partition(":")[0] for part in folded.split("/")]
