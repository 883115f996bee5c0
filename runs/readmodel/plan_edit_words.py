"""What people wrote into a plan by hand, and which of it a later version has no more: nobody may lose that unseen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from runs.pev.contracts import Criterion
from runs.pev.plans.relaxing import same_criterion_key
from runs.readmodel.check_words import check_in_words
from runs.readmodel.plan_differences import Version
from runs.text.sentences import sentences_in
from runs.text.truncate import quoted

MAX_PARTS = 200
"""Parts of one edit that are looked for in later versions: each costs a look through all words of those."""
MAX_NAMED = 3
_QUOTE = 120


@dataclass(frozen=True)
class Written:
    """A version, `by` whose hand; empty for a planner. `agreed`: whether a person approved it after reading."""

    version: Version
    by: str
    agreed: bool = False

    @cached_property
    def words(self) -> str:
        """All that it says, as it is compared."""
        return "\n".join(same_criterion_key(text) for text in _texts(self.version))

    @cached_property
    def facts(self) -> Mapping[str, str]:
        """What it says beside words: a sentence for each, by what stays the same when a step gets another name."""
        return dict(_facts(self.version))


@dataclass(frozen=True)
class _Part:
    """Something that the edit which made `version` put into the plan: words that are looked for anywhere in a plan, or
    the `fact` of that key. A step that it took out is `gone`, by its key.
    """

    version: int
    by: str
    said: str
    words: str = ""
    fact: str = ""
    gone: str = ""

    def stands(self, now: Written) -> bool:
        if self.gone:
            return self.gone not in now.version.steps
        return self.fact in now.facts if self.fact else self.words in now.words


@dataclass(frozen=True)
class LostEdit:
    """`parts`: the first of what the edit that made `version` put in, in words; there are `more`."""

    version: int
    by: str
    parts: Sequence[str]
    more: int

    @property
    def whose(self) -> str:
        return f"{self.by}’s edit in version {self.version}"

    @property
    def said(self) -> str:
        return f"is not in this plan: {', '.join(self.parts)}{f' and {self.more} more' if self.more else ''}"


def lost_edits(versions: Sequence[Written]) -> list[LostEdit]:
    """Of all versions, the oldest first: the edits that the last one does not have whole. What another edit took out,
    or a person approved to be without, is not missed.
    """
    held: list[_Part] = []
    for before, now in pairwise(versions):
        if now.by:
            held = [part for part in held if part.stands(now) or not part.stands(before)]
            held += _edited(before, now)
        if now.agreed:
            held = [part for part in held if part.stands(now)]
    lost = (part for part in held if not part.stands(versions[-1]))
    found = []
    for (version, by), group in groupby(lost, key=lambda part: (part.version, part.by)):
        parts = [part.said for part in group]
        found.append(LostEdit(version, by, parts[:MAX_NAMED], max(0, len(parts) - MAX_NAMED)))
    return found


def _edited(before: Written, now: Written) -> list[_Part]:
    number, by = now.version.number, now.by
    old = {same_criterion_key(text) for text in _texts(before.version)}
    texts = {same_criterion_key(text): text for text in _texts(now.version)}
    parts = [_Part(number, by, quoted(text, _QUOTE), words=words) for words, text in texts.items() if words not in old]
    parts += [_Part(number, by, said, fact=fact) for fact, said in now.facts.items() if fact not in before.facts]
    removed = ((key, step) for key, step in before.version.steps.items() if key not in now.version.steps)
    parts += [_Part(number, by, f"without step {quoted(step.name)}", gone=key) for key, step in removed]
    return [part for part in parts[:MAX_PARTS] if not part.stands(before)]


def _texts(version: Version) -> Iterator[str]:
    """Sentence by sentence, names and criteria whole. What the planner notes beside the plan is nobody's edit."""
    header = version.header
    yield from sentences_in(header.goal)
    yield from sentences_in(header.rollback_strategy)
    yield from (one.text for one in header.success_criteria)
    for step in version.steps.values():
        yield step.name
        yield from sentences_in(step.description)
        yield from (one.text for one in step.acceptance_criteria)
        yield from (action.purpose for action in step.actions)


def _facts(version: Version) -> Iterator[tuple[str, str]]:
    yield from _checks(version.header.success_criteria)
    for key, step in version.steps.items():
        name = quoted(step.name)
        yield from _checks(step.acceptance_criteria)
        risk = step.estimated_complexity.value
        yield f"{key} risk {risk}", f"{name} is a {risk}-risk step"
        yield from ((f"writes {path}", f"{name} writes {path}") for path in step.outputs)
        yield from ((f"{key} reads {path}", f"{name} reads {path}") for path in step.inputs)
        yield from ((f"{key} uses {tool}", f"{name} may use {tool}") for tool in step.tools)
        if step.agent:
            yield f"{key} agent {step.agent}", f"{name} is done by the agent {step.agent}"
        for other in step.dependencies:
            after = version.steps[other].name if other in version.steps else other
            yield f"{key} after {other}", f"{name} comes after {quoted(after)}"


def _checks(criteria: Sequence[Criterion]) -> Iterator[tuple[str, str]]:
    for one in criteria:
        if one.check:
            check = check_in_words(one.check)
            yield f"{same_criterion_key(one.text)} check {check}", f"{quoted(one.text, _QUOTE)} by a check: {check}"
