"""What a run has otherwise than the run before, in words for people."""

from __future__ import annotations

from runs.models.runs import FileNames, Revision
from runs.text.plural import pluralize

MAX_NAMED = 3


def said(revision: Revision, *, removed: bool = True, short: bool = False) -> list[str]:
    """What is changed: such as “a.md”, “added b.md” and “policy (rounds)”; empty for the same in everything.

    Without `removed` the files that are gone are only counted: not everyone who sees this run may see the other. A
    `short` text does so too, and leaves out folders.
    """
    changed, added, gone = revision.changed, revision.added, revision.removed
    found = [_listed(changed, short=short)] if changed.count else []
    found += [f"added {_listed(added, short=short)}"] if added.count else []
    if gone.count:
        names = removed and not short
        found.append(f"removed {_listed(gone, short=False) if names else pluralize(gone.count, 'file')}")
    found += ["the request"] if revision.request else []
    found += ["which files are left unread"] if revision.excluded else []
    if revision.policy:
        named = ", ".join(revision.policy[:MAX_NAMED]) + ("…" if len(revision.policy) > MAX_NAMED else "")
        found.append("policy" if short else f"policy ({named})")
    return found


def _listed(files: FileNames, *, short: bool) -> str:
    named = [path.rsplit("/", 1)[-1] if short else path for path in files.named[:MAX_NAMED]]
    more = files.count - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
