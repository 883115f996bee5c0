"""The form of paths in a tree, and patterns of paths as people and planners write them. Nothing here touches a disk."""

import fnmatch
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

import regex

from runs.errors import InvalidInput, PathRefused
from runs.text.ignorable import UNSEEN
from runs.text.sensitive_names import INVISIBLE, is_version_store

MAX_CHARACTERS = 400
MAX_BYTES_IN_A_PART = 255  # the limit of common file systems
MAX_PARTS = 20
"""Common file systems take 255 bytes in a name; paths stay below their 4,096, since folders come before them."""

ATTACHMENTS = " attachments/"
"""Behind the path of a mail: the folder of what is attached to it."""

_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Invisible, but a part of words and pictures: they may stand behind a letter or a picture that is not ASCII."""
_SEEN = regex.compile(rf"(?V1)[[\p{{L}}\p{{M}}\p{{N}}\p{{P}}\p{{S}}]--[{UNSEEN}]]")


def clean_path(raw: str) -> str:
    """The one normal form of a path: NFC, forward slashes, relative; cleaning it again changes nothing.

    Backslashes are separators, as browsers on Windows may send them. Raises PathRefused with a sentence
    that says what is wrong and what to do; nothing is repaired beyond slashes and Unicode form.
    """
    path = unicodedata.normalize("NFC", raw).replace("\\", "/")
    problem = _problem_with_whole(path) or next(filter(None, map(_problem_with_part, path.split("/"))), None)
    if problem:
        raise PathRefused(f"{_for_people(raw)} cannot be used as a path: {problem}.")
    return path


def usable_path(raw: str) -> str:
    """The path most like this one that `clean_path` takes; empty where it is too long or too deep."""
    path = unicodedata.normalize("NFC", raw).replace("\\", "/").strip("/").lstrip()
    parts = [_usable_part(part) for part in path.split("/") if part not in {"", ".", ".."}]
    usable = re.sub(r"^@", "_", "/".join(parts))
    try:
        return clean_path(usable)
    except PathRefused:
        return ""


def _usable_part(part: str) -> str:
    part = "".join("_" if is_unprintable(char) else char for char in part).replace(":", "-")
    if _hides_something(part):
        part = INVISIBLE.sub("", part)
    part = part.rstrip(". ").rstrip() or "_"
    stem, dot, rest = part.partition(".")
    if _RESERVED.fullmatch(stem.rstrip()):
        part = f"{stem.rstrip()}_{dot}{rest}"
    if is_version_store(part):
        part = f"_{part}"
    if len(part.encode()) > MAX_BYTES_IN_A_PART:
        stem, dot, suffix = part.rpartition(".")
        suffix = f".{suffix}" if dot and len(suffix) <= 10 else ""
        room = MAX_BYTES_IN_A_PART - len(suffix.encode())
        part = part.encode()[:room].decode(errors="ignore").rstrip(". ") + suffix
    return part


def clashes(paths: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of clean paths which cannot live in one tree, in the order in which the second was given.

    Either the two are equal where neither capitals nor invisible characters count (given twice is such a pair too),
    or one is a file and at the same time a folder of the other. Linear in the number of paths.
    """
    listed = list(paths)
    files: dict[str, str] = {}
    pairs = []
    for path in listed:
        key = folded(path)
        if key in files:
            pairs.append((files[key], path))
        else:
            files[key] = path
    for path in listed:
        parts = folded(path).split("/")
        for depth in range(1, len(parts)):
            above = files.get("/".join(parts[:depth]))
            if above is not None:
                pairs.append((above, path))
    return pairs


def base_name(path: str) -> str:
    """The last part of a clean path, equal for two that could not lie in one folder (`clashes`)."""
    return folded(path.rsplit("/", 1)[-1])


def mail_of(path: str) -> str:
    """The path of the mail that a file is attached to, by where the file lies; empty for all others."""
    mail, found, _ = path.rpartition(ATTACHMENTS)
    return mail if found else ""


def can_be_seen(text: str) -> bool:
    """Whether a text has more than spaces and invisible characters."""
    return _SEEN.search(text) is not None


def is_unprintable(text: str) -> bool:
    """Whether it has a control character or half of a surrogate pair, which no path has."""
    return any(unicodedata.category(char) in _UNPRINTABLE for char in text)


def _problem_with_whole(path: str) -> str | None:
    if not path.strip():
        return "it is empty; give a name such as notes/summary.md"
    if _DRIVE.match(path):
        return "it begins with a drive letter; give it relative to the top folder of the task"
    if path.startswith("/"):
        return "it is absolute; leave out the leading slash"
    if path.endswith("/"):
        return "it ends with a slash; name a file, folders come by themselves"
    if path[0].isspace():
        return "it begins with a space; leave that out"
    if path.startswith("@"):
        return "names beginning with @ are reserved (@output, @tool-1); choose another first letter"
    if len(path) > MAX_CHARACTERS:
        return f"it has {len(path)} characters and may have {MAX_CHARACTERS}; shorten it"
    if path.count("/") >= MAX_PARTS:
        return f"it is {path.count('/') + 1} levels deep and may be {MAX_PARTS}; use fewer folders"
    return None


def _problem_with_part(part: str) -> str | None:
    if not part:
        return "it has two slashes in a row; use one"
    if part in {".", ".."}:
        return f"it has the part “{part}”; write the path from the top folder, without . and .."
    if is_unprintable(part):
        return "it has a control character; use letters, digits, spaces and punctuation"
    if _hides_something(part):
        return "it has an invisible character, or one that reorders others; type the name again"
    if ":" in part:
        return f"{_for_people(part)} has a colon, behind which Windows hides another file; use a dash"
    if part[-1] == "." or part[-1].isspace():
        return f"{_for_people(part)} ends in a dot or a space, which Windows cannot store; leave that out"
    if is_version_store(part):
        return (
            f"{_for_people(part)} belongs to a version control system, which runs what lies there; use another folder"
        )
    if _RESERVED.fullmatch(part.split(".")[0].rstrip()):
        return f"{_for_people(part)} is a reserved name on Windows; choose another name"
    if (size := len(part.encode())) > MAX_BYTES_IN_A_PART:
        return f"a part of it has {size} bytes in UTF-8 and may have {MAX_BYTES_IN_A_PART}; shorten it"
    return None


def _hides_something(part: str) -> bool:
    return not part.isascii() and any(
        part[at] not in _JOINERS or at == 0 or part[at - 1].isascii()
        for at in (match.start() for match in INVISIBLE.finditer(part))
    )


def _for_people(raw: str) -> str:
    printable = "".join(char if char.isprintable() else "�" for char in raw[:80])
    return f"“{printable}{'…' if len(raw) > 80 else ''}”"


@lru_cache(maxsize=16_384)  # each write looks at all files of its workspace, which are nearly always the same
def folded(path: str) -> str:
    """A key that is equal for two paths which could not lie in one tree."""
    seen = path if path.isascii() else INVISIBLE.sub("", path)
    return unicodedata.normalize("NFC", seen.casefold())


MAX_PATTERNS = 50
MAX_WILDCARDS = 8
"""Patterns with wildcards, and wildcards in one of them: 10,000 long paths are compared with them within a second."""
_WILD = re.compile(r"[*?\[]")


def selected(patterns: Iterable[str], paths: Iterable[str]) -> list[str]:
    """The paths that at least one of the patterns means, in their order. Raises InvalidInput for too many wildcards.

    A path means itself, and a folder all that lies in it (`contracts` and `contracts/` alike). `*`, `?` and `[…]` stand
    for anything, slashes too: `*.pdf` means every PDF file, in whichever folder. Capitals count. `.` and `/` mean all.
    """
    named = {_clean(pattern) for pattern in patterns}
    if "" in named:
        return list(paths)
    wild = sorted(pattern for pattern in named if _WILD.search(pattern))
    if len(wild) > MAX_PATTERNS or any(len(_WILD.findall(pattern)) > MAX_WILDCARDS for pattern in wild):
        raise InvalidInput(
            f"There may be {MAX_PATTERNS} patterns with wildcards, and {MAX_WILDCARDS} wildcards in each; name folders."
        )
    forms = [re.compile(fnmatch.translate(form)) for pattern in wild for form in (pattern, f"{pattern}/*")]
    plain = named.difference(wild)
    return [path for path in paths if not plain.isdisjoint(_and_above(path)) or any(form.match(path) for form in forms)]


def is_pattern(path: str) -> bool:
    """Whether it may mean several files: it has a wildcard, or is written like a folder."""
    return _WILD.search(path) is not None or _clean(path) == "" or path.rstrip().endswith(("/", "\\"))


def _clean(pattern: str) -> str:
    path = unicodedata.normalize("NFC", pattern.strip()).replace("\\", "/").lstrip("/")
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return re.sub(r"\*+", "*", path.removeprefix("**/")).rstrip("/") if path != "." else ""


def _and_above(path: str) -> Sequence[str]:
    """The path and every folder that it lies in."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
