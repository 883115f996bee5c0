"""What a run that is run again has otherwise than the run before: found once, when it is submitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runs.contracts.ports import FileInfo
from runs.models import Run
from runs.models.revisions import Files, Revision
from runs.pev.policy import Policy
from runs.store import trees

MAX_NAMED = 5
_ASKED_FOR = {"reuse", "without_reuse"}
"""Of a policy: what is run again on purpose, which is told of each step."""


def revision_of(
    before: Run, request: str, policy: Policy, excluded: Sequence[str], files: Mapping[str, FileInfo]
) -> Revision:
    """What would be submitted, compared with what was."""
    then = trees.files_of(before.inputs)
    differing = (name for name in Policy.model_fields if getattr(policy, name) != getattr(before.policy, name))
    return Revision(
        changed=_named(path for path in files if path in then and files[path].sha256 != then[path].sha256),
        added=_named(files.keys() - then.keys()),
        removed=_named(then.keys() - files.keys()),
        request=request != before.request,
        excluded=tuple(excluded) != tuple(before.excluded or ()),
        policy=tuple(name.replace("_", " ") for name in differing if name not in _ASKED_FOR),
    )


def _named(paths: Iterable[str]) -> Files:
    found = sorted(paths)
    return Files(count=len(found), named=tuple(found[:MAX_NAMED]))
