"""What a run has otherwise than the run before, in words for people."""

from __future__ import annotations

from runs.events.sentences import many
from runs.models.revisions import Files, Revision

MAX_NAMED = 3


def said(revision: Revision, *, removed: bool = True) -> list[str]:
    """What is changed: such as “a.md”, “added b.md” and “policy (rounds)”; empty for the same in everything.

    Without `removed` the files that are gone are only counted: not everyone who sees this run may see the other.
    """
    found = [_listed(revision.changed)] if revision.changed.count else []
    found += [f"added {_listed(revision.added)}"] if revision.added.count else []
    if revision.removed.count:
        found.append(f"removed {_listed(revision.removed) if removed else many(revision.removed.count, 'file')}")
    found += ["the request"] if revision.request else []
    found += ["which files are left unread"] if revision.excluded else []
    if revision.policy:
        more = "…" if len(revision.policy) > MAX_NAMED else ""
        found.append(f"policy ({', '.join(revision.policy[:MAX_NAMED])}{more})")
    return found


def _listed(files: Files) -> str:
    named = files.named[:MAX_NAMED]
    more = files.count - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
