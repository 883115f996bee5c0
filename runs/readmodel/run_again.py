"""The differences between a run and the run that it repeats, and which results its plan would reuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from runs.lifecycle.approval import fingerprint
from runs.lifecycle.approval.reuse import PreviewInputs, StepPreview, preview_reuse
from runs.models import Plan, Run
from runs.models.runs import FileNames, Revision
from runs.people.permissions import shows_before
from runs.store import trees
from runs.text.plural import pluralize

MAX_NAMED_FILES = 3


def revision_in_words(revision: Revision, *, removed: bool = True, short: bool = False) -> list[str]:
    """The changes, such as “a.md”, “added b.md” and “policy (rounds)”; empty if everything is the same.

    Without `removed`, removed files are only counted, because not everyone who sees this run may see the other. A
    `short` text also only counts them, and leaves out folders.
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
        named = ", ".join(revision.policy[:MAX_NAMED_FILES]) + ("…" if len(revision.policy) > MAX_NAMED_FILES else "")
        found.append("policy" if short else f"policy ({named})")
    return found


def _listed(files: FileNames, *, short: bool) -> str:
    named = [path.rsplit("/", 1)[-1] if short else path for path in files.named[:MAX_NAMED_FILES]]
    more = files.count - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


MAX_REASONS = 2
MAX_NAMED = 3
"""Reasons, and steps of each, that the summary of a gate names, to keep it short."""


@dataclass(frozen=True)
class Again:
    """`before` is the number of the run that is run again. `changes` are clauses such as “added b.md”."""

    before: int
    changes: Sequence[str]
    reuse: Reuse

    @property
    def reasons(self) -> list[tuple[str, str]]:
        """The first reasons why steps run again, each behind the names of the steps, or “all” of the plan."""
        found = []
        for why, names in list(self._again.items())[:MAX_REASONS]:
            more = len(names) - MAX_NAMED
            which = ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
            found.append(("all" if len(names) == len(self.reuse.steps) > 1 else which, why))
        return found

    @property
    def more(self) -> int:
        """Steps that run again for other reasons."""
        return sum(len(names) for names in list(self._again.values())[MAX_REASONS:])

    @cached_property
    def _again(self) -> Mapping[str, Sequence[str]]:
        """The names of steps by the first reason why they run again. A reason that all share is always the first."""
        found: dict[str, list[str]] = {}
        for why, names in self.reuse.again:
            found.setdefault(why.split("; ")[0], []).extend(names)
        return found


def again_of(plan: Plan, run: Run) -> Again | None:
    """What the gate of a plan says about the run that this one repeats.

    None if this run repeats none, if that run was deleted, or if something of the plan was carried out.
    """
    if run.before is None or run.revision is None or run.head_id != run.inputs_id:
        return None
    given = PreviewInputs(run.owner, run.request, run.policy, trees.files_of(run.inputs), run.excluded)
    steps = preview_reuse(fingerprint.contract_of(plan), given, run.before)
    if not shows_before(run):  # a reason may name a file of the other run
        steps = [replace(step, why="") for step in steps]
    return Again(run.before.pk, changes_of(run), Reuse(steps))


def changes_of(run: Run) -> list[str]:
    """The changes since the run before, as clauses. Removed files are named only if all who see this run may see that
    one.
    """
    if run.before is None or run.revision is None:
        return []
    removed = run.revision.removed.count > 0 and shows_before(run)
    return revision_in_words(run.revision, removed=removed)


@dataclass(frozen=True)
class Reuse:
    """The steps of the plan. If there are none, `unknown` says why it is not known what would be reused."""

    steps: Sequence[StepPreview] = ()
    unknown: str = ""

    @property
    def reused(self) -> Sequence[str]:
        """The names of the steps."""
        return [step.name for step in self.steps if step.reused]

    @property
    def again(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Each reason with the names of the steps that are carried out for it."""
        named: dict[str, list[str]] = {}
        for step in self.steps:
            if not step.reused:
                named.setdefault(step.why, []).append(step.name)
        return list(named.items())
