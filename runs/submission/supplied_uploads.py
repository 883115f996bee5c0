"""Uploads of missing files at a gate: checked, unpacked and stored by the code of a new run, then given to the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runs.errors import InvalidInput, PevError, UploadRefused
from runs.lifecycle.supplied_files import check_may_supply, missing_at, supply
from runs.models import Gate, User
from runs.store import blobs, garbage_collection, input_examination, trees
from runs.store.input_limits import check_limits
from runs.submission.intake import Upload, check_space
from runs.submission.unpacking import note_problems, unpack_uploads
from runs.text.paths import base_name
from runs.text.truncate import quoted


@dataclass(frozen=True)
class GivenUploads:
    """What became of an upload: the new files, those that the run had already, and sentences on what was not taken."""

    added: Sequence[str]
    known: Sequence[str]
    remarks: Sequence[str]


def give_files(
    gate: Gate, user: User, uploads: Sequence[Upload], *, name_as: str = "", how: str = "person"
) -> GivenUploads:
    """Give files to the run of this gate. A file that has the name of a missing one takes its place, in its folder.

    With `name_as`, the only file takes this missing path. Raises what `supply` raises, and InvalidInput or
    UploadRefused with a sentence for the person.
    """
    check_may_supply(gate, user)
    if not uploads:
        raise InvalidInput("Choose the file first.")
    files, held_back, remarks = unpack_uploads(_placed(uploads, missing_at(gate), name_as), {})
    remarks += [f"{path} was left out, because it may contain secrets." for path in held_back]
    if not files:
        raise UploadRefused(" ".join(["No file was taken.", *remarks]))
    inputs = trees.files_of(gate.run.inputs)
    sizes = {path: info.size for path, info in inputs.items()}
    sizes |= {path: upload.content.size or 0 for path, upload in files.items()}
    check_limits(list(sizes.items()))
    check_space(sum(upload.content.size or 0 for upload in files.values()))
    stored = {path: blobs.put_file(upload.content) for path, upload in files.items()}
    note_problems((stored[path], upload) for path, upload in files.items())
    input_examination.examine(stored)
    try:
        result = supply(gate.pk, user, stored, how=how, remarks=remarks)
    except PevError:
        garbage_collection.discard({info.sha256 for info in stored.values()})
        raise
    return GivenUploads(result.added, result.known, remarks)


def _placed(uploads: Sequence[Upload], missing: Sequence[str], name_as: str) -> list[Upload]:
    """The uploads at the paths of the missing files that they are meant to be."""
    if name_as and name_as not in missing:
        raise InvalidInput(f"{quoted(name_as)} is no longer missing. Reload the page.")
    if name_as:
        return [_named(uploads, name_as)]
    places = {base_name(path): path for path in reversed(missing)}
    return [
        upload
        if {"/", "\\"} & set(upload.path)
        else replace(upload, path=places.get(base_name(upload.path), upload.path))
        for upload in uploads
    ]


def _named(uploads: Sequence[Upload], path: str) -> Upload:
    """The only upload at this path. Raises InvalidInput for several, and for one of another type."""
    if len(uploads) != 1:
        raise InvalidInput(f"Choose one file that takes the name {quoted(path)}, or untick that.")
    ending = path.rpartition(".")[2]
    if uploads[0].path.rpartition(".")[2].casefold() != ending.casefold():
        sent = quoted(uploads[0].path)
        raise InvalidInput(f"{sent} does not end in .{ending}, so it cannot be named {quoted(path)}.")
    return replace(uploads[0], path=path)
