"""The files of a folder that a person names to a command."""

from __future__ import annotations

from pathlib import Path

from runs.errors import InvalidInput
from runs.text.sensitive_names import MAX_KEY_BYTES, is_private_key, secret_part


def files_below(folder: Path) -> list[tuple[str, Path]]:
    """The regular files below a folder with their paths in it, sorted; links are left out. A file is by itself.

    Raises InvalidInput when there are none.
    """
    if folder.is_file():
        return [(folder.name, folder)]
    if not folder.is_dir():
        raise InvalidInput(f"“{folder}” is neither a folder nor a file.")
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        if any(parent.is_symlink() for parent in path.parents if parent != folder and folder in parent.parents):
            continue
        found.append((path.relative_to(folder).as_posix(), path))
    if not found:
        raise InvalidInput(f"There are no files in “{folder}”.")
    return found


def part_with_secrets(path: str, file: Path) -> str:
    """The part of `path` by which this file usually holds secrets, or all of it for a private key; else empty."""
    if part := secret_part(path):
        return part
    if file.stat().st_size > MAX_KEY_BYTES:
        return ""
    with file.open("rb") as opened:
        return path if is_private_key(opened.read(MAX_KEY_BYTES)) else ""
