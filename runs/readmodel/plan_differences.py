"""The differences between versions of a plan, word by word and in one line, and edits that a later version has lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import Literal

from runs.contracts.feedback import Comment
from runs.pev.contracts import Criterion, PlanContract, PlanHeader, PlanStep
from runs.pev.plans.relaxing import relaxations, same_criterion_key
from runs.pev.tools.registry import tools_of
from runs.readmodel.status_words import check_in_words, compared
from runs.text.diff import DiffBudget, TextChange, word_diff
from runs.text.normalisation import caseless
from runs.text.plural import pluralize, word_for
from runs.text.sentences import sentences_in
from runs.text.truncate import quoted, truncate

type Kind = Literal["removed", "changed", "added", "moved"]
_KINDS: tuple[Kind, ...] = ("removed", "changed", "added", "moved")
"""In the order in which they are listed."""
_SIMILAR = 0.5
"""The share of common words from which two criteria count as one criterion that was worded again."""
_STEPS = 20
"""Steps of a `DiffBudget` that comparing two sets of words costs at least."""
_NOTE = "note"
"""What people call a part of the context of a plan."""


@dataclass(frozen=True)
class PlanVersion:
    """A plan to be compared, with its steps by key in order."""

    number: int
    header: PlanHeader
    steps: Mapping[str, PlanStep]

    @property
    def contract(self) -> PlanContract:
        return PlanContract(**dict(self.header), steps=list(self.steps.values()))


@dataclass(frozen=True)
class CriterionChange:
    """A criterion that differs. `number` is its place in its step, from 1; of a removed criterion, its earlier place.

    `relaxed` says why less is asked for than before; empty if it is not.
    """

    kind: Kind
    number: int
    text: str
    changes: tuple[TextChange, ...] = ()
    relaxed: str = ""

    @property
    def badge(self) -> str:
        """The kind of the change in words, or that less is asked for."""
        return "asks for less" if self.relaxed and self.kind != "removed" else self.kind


@dataclass(frozen=True)
class StepChange:
    """A step that differs between two versions.

    `number` is its place in the plan from 1, or its earlier place if it was removed; `was` is the earlier place, 0 for
    a new step. `relaxed` are sentences about files that no step writes any more. `comments` led to the change.
    """

    kind: Kind
    key: str
    name: str
    number: int
    was: int
    changes: tuple[TextChange, ...] = ()
    criteria: tuple[CriterionChange, ...] = ()
    relaxed: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()

    @property
    def less(self) -> bool:
        """Whether less is asked for than before."""
        return self.kind == "removed" or bool(self.relaxed) or any(one.relaxed for one in self.criteria)

    @property
    def badge(self) -> str:
        """The kind of the change in words, or that less is asked for."""
        return "asks for less" if self.less and self.kind != "removed" else self.kind


@dataclass(frozen=True)
class PlanComparison:
    """The differences between version `before` and version `after`.

    In `steps` those that ask for less come first. `criteria` are the success criteria, `whole` the other parts of the
    plan itself. `comments` are those that are about none of the `steps`.
    """

    before: int
    after: int
    steps: tuple[StepChange, ...]
    criteria: tuple[CriterionChange, ...]
    whole: tuple[TextChange, ...]
    comments: tuple[Comment, ...]

    @property
    def only_noted(self) -> bool:
        """Whether only notes differ, such as the planner's notes on requests, and no goal, step or criterion."""
        return not (self.steps or self.criteria) and all(one.what.startswith(_NOTE) for one in self.whole)

    @property
    def relaxed(self) -> list[str]:
        """A sentence for each requirement that is weaker or gone."""
        judged = [one for step in self.steps for one in step.criteria]
        found = [one.relaxed for one in (*judged, *self.criteria) if one.relaxed]
        return [*found, *(sentence for step in self.steps for sentence in step.relaxed)]

    def names(self, kind: Kind) -> tuple[str, ...]:
        """The steps of one kind."""
        return tuple(step.name for step in self.steps if step.kind == kind)

    @property
    def summary(self) -> str:
        """In one line: “1 step removed, 2 changed, 1 added; 1 criterion asks for less”."""
        counted = [(len(self.names(kind)), kind) for kind in _KINDS]
        parts = [f"{count} {kind}" for count, kind in counted if count]
        if parts:
            count, kind = next(one for one in counted if one[0])
            parts[0] = f"{pluralize(count, 'step')} {kind}"
        if self.criteria:
            parts.append(pluralize(len(self.criteria), "success criterion differs", "success criteria differ"))
        parts += [f"{one.what} differs" for one in self.whole]
        return ", ".join(parts) or "nothing differs"


def compare(
    before: PlanVersion, after: PlanVersion, passed: Sequence[PlanStep] = (), comments: Sequence[Comment] = ()
) -> PlanComparison:
    """The differences between two versions of a plan.

    `passed` are steps whose results are kept, so that nothing is required of them any more. `comments` are what people
    said about the earlier version and about those between the two.
    """
    budget = DiffBudget()
    relaxed = relaxations(before.contract, after.contract, passed, tools_of)
    less = {(one.step_id, one.criterion, one.sentence) for one in relaxed}

    def urgency(step: StepChange) -> tuple[int, int]:
        return (0 if step.kind == "removed" else 1 if step.less else 1 + _KINDS.index(step.kind), step.number)

    placed = []
    for step in sorted(_steps(before, after, less, budget), key=urgency):
        # Comments on this step, and those that the plan says it answers by this step.
        answered = {answer.request for answer in after.header.answers if answer.step_id == step.key}
        own = (one for one in comments if one.step_id == step.key or (one.request and one.request in answered))
        placed.append(replace(step, comments=tuple(own)))
    known = {comment for step in placed for comment in step.comments}
    return PlanComparison(
        before=before.number,
        after=after.number,
        steps=tuple(placed),
        criteria=_criteria(before.header.success_criteria, after.header.success_criteria, _sentences(less, ""), budget),
        whole=tuple(_whole(before.header, after.header, budget)),
        comments=tuple(comment for comment in comments if comment not in known),
    )


type _Less = set[tuple[str, int, str]]


def _sentences(less: _Less, key: str) -> dict[int, str]:
    """By the number of the criterion."""
    return {number: sentence for step, number, sentence in less if step == key and number}


def _steps(before: PlanVersion, after: PlanVersion, less: _Less, budget: DiffBudget) -> Iterator[StepChange]:
    old = {key: number for number, key in enumerate(before.steps, 1)}
    new = {key: number for number, key in enumerate(after.steps, 1)}
    stayed = _in_order([old[key] for key in new if key in old])
    for key, number in old.items():
        if key not in new:
            step = before.steps[key]
            gone = _criteria(step.acceptance_criteria, [], _sentences(less, key), budget)
            lost = tuple(sentence for its, criterion, sentence in less if its == key and not criterion)
            yield StepChange("removed", key, step.name, number, number, criteria=gone, relaxed=lost)
    for key, number in new.items():
        step = after.steps[key]
        if key not in old:
            yield StepChange("added", key, step.name, number, 0)
        elif step != before.steps[key]:
            yield _step_change(before, after, key, (number, old[key]), less, budget)
        elif old[key] not in stayed:
            yield StepChange("moved", key, step.name, number, old[key])


def _step_change(
    before: PlanVersion, after: PlanVersion, key: str, places: tuple[int, int], less: _Less, budget: DiffBudget
) -> StepChange:
    old, new = before.steps[key], after.steps[key]
    texts = zip(_texts(old, before.steps), _texts(new, after.steps), strict=True)
    return StepChange(
        kind="changed",
        key=key,
        name=new.name,
        number=places[0],
        was=places[1],
        changes=tuple(_text(what, one, other, budget) for (what, one), (_, other) in texts if one != other),
        criteria=_criteria(old.acceptance_criteria, new.acceptance_criteria, _sentences(less, key), budget),
        relaxed=tuple(sentence for its, criterion, sentence in less if its == key and not criterion),
    )


def _texts(step: PlanStep, steps: Mapping[str, PlanStep]) -> Iterator[tuple[str, str]]:
    """What a step is made of, criteria aside, each with its name."""
    yield "name", step.name
    yield "description", step.description
    yield "reads", "\n".join(step.inputs) or "all your files"
    plain = (f"{one.path}{'' if one.cited else ' (finished text, no citations)'}" for one in step.expected_outputs)
    yield "writes", "\n".join(plain)
    yield "comes after", "\n".join(steps[key].name if key in steps else key for key in step.dependencies)
    yield "risk", f"{step.estimated_complexity.value}-risk step"
    yield "agent", step.agent or "none"
    yield "tools", "\n".join(step.tools) or "all that stay within the run"
    yield "planned actions", "\n".join(f"{action.tool}: {action.purpose}" for action in step.actions)


def _text(what: str, before: str, after: str, budget: DiffBudget) -> TextChange:
    return TextChange(what, before, after, word_diff(before, after, budget))


def _whole(before: PlanHeader, after: PlanHeader, budget: DiffBudget) -> Iterator[TextChange]:
    if before.goal != after.goal:
        yield _text("goal", before.goal, after.goal, budget)
    old = {item.name: item.value for item in before.context}
    new = {item.name: item.value for item in after.context}
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            yield _text(f"{_NOTE} “{name}”", old.get(name, ""), new.get(name, ""), budget)
    if before.rollback_strategy != after.rollback_strategy:
        yield _text("rollback", before.rollback_strategy, after.rollback_strategy, budget)


def _criteria(
    old: Sequence[Criterion], new: Sequence[Criterion], less: Mapping[int, str], budget: DiffBudget
) -> tuple[CriterionChange, ...]:
    """Removed criteria come first, then those that ask for less, then the others, each by number."""
    pairs = _pairs(old, new, budget)
    found = [
        CriterionChange("removed", place + 1, one.text, relaxed=less.get(place + 1, ""))
        for place, one in enumerate(old)
        if place not in pairs.values()
    ]
    for place, one in enumerate(new):
        its = pairs.get(place)
        if its is None:
            found.append(CriterionChange("added", place + 1, one.text, (_text("check", "", _check(one), budget),)))
        elif one != old[its]:
            was, now = _parts(old[its]), _parts(one)
            parts = [(what, was.get(what, ""), now.get(what, "")) for what in {**was, **now}]
            changes = tuple(_text(what, a, b, budget) for what, a, b in parts if a != b)
            found.append(CriterionChange("changed", place + 1, one.text, changes, less.get(its + 1, "")))
    return tuple(sorted(found, key=lambda one: (one.kind != "removed", not one.relaxed)))


def _parts(criterion: Criterion) -> dict[str, str]:
    """The texts of a criterion, each by what it is."""
    parts = {"text": criterion.text, "check": _check(criterion), "about": compared(criterion.topic)}
    return parts | (criterion.check.long_texts if criterion.check else {})


def _check(criterion: Criterion) -> str:
    return f"automatic check: {check_in_words(criterion.check)}" if criterion.check else "no automatic check"


def _pairs(old: Sequence[Criterion], new: Sequence[Criterion], budget: DiffBudget) -> dict[int, int]:
    """The earlier place of criteria, by their place now: of an equal one, of one with the same text or check, or of a
    similar one.
    """
    pairs: dict[int, int] = {}
    words = {id(one): set(caseless(one.text).split()) for one in (*old, *new)}

    def similar(one: Criterion, other: Criterion) -> bool:
        mine, its = words[id(one)], words[id(other)]
        most = max(len(mine), len(its))
        return budget.take(_STEPS + most) and len(mine & its) >= _SIMILAR * most

    for alike in (
        lambda one, other: one == other,
        lambda one, other: one.text == other.text,
        lambda one, other: one.check is not None and one.check == other.check,
        similar,
    ):
        for place, one in enumerate(new):
            if place not in pairs:
                left = (its for its, other in enumerate(old) if its not in pairs.values() and alike(one, other))
                if (found := next(left, None)) is not None:
                    pairs[place] = found
    return pairs


def _in_order(places: Sequence[int]) -> set[int]:
    """The largest set of places that are in order. The other steps were moved."""
    best: list[tuple[int, int]] = []  # how many end here, and which came before
    for at, place in enumerate(places):
        before = [(best[one][0], one) for one in range(at) if places[one] < place]
        count, one = max(before, default=(0, -1))
        best.append((count + 1, one))
    at = max(range(len(best)), key=lambda one: best[one][0], default=-1)
    found = set[int]()
    while at >= 0:
        found.add(places[at])
        at = best[at][1]
    return found


MAX_NAMED = 3
"""Steps of one kind, and parts of one step, that are named; the others are counted."""
_NAME = 60
_QUOTE = 90


@dataclass(frozen=True)
class PlanNews:
    """One part, such as “1 step removed: Draft the notices”. `less`: whether less is asked for than before."""

    words: str
    less: bool = False


def news_of(changes: PlanComparison) -> list[PlanNews]:
    """A part for each kind of change. Never empty: a person who asked for changes must learn if there are none."""
    if changes.only_noted:
        return [PlanNews("No step or criterion changed")]
    found: list[PlanNews] = []
    for kind in _KINDS:
        if steps := [step for step in changes.steps if step.kind == kind]:
            count = str(len(steps)) if found else pluralize(len(steps), "step")  # only the first part says “step”
            names = _listed([_step_in_words(step) for step in steps])
            found.append(PlanNews(f"{count} {kind}: {names}", any(step.less for step in steps)))
    if changes.criteria:
        words = ", ".join(_criteria_in_words(changes.criteria, "success criterion", "success criteria"))
        found.append(PlanNews(words, any(one.relaxed for one in changes.criteria)))
    others = [one for one in changes.whole if not one.what.startswith("context ")]
    return [*found, *(PlanNews(f"{_text_in_words(one)} changed") for one in others)]


def _step_in_words(step: StepChange) -> str:
    name = truncate(step.name, _NAME)
    if step.kind != "changed":
        return name
    parts = [*_criteria_in_words(step.criteria, "criterion", "criteria"), *map(_text_in_words, step.changes)]
    return f"{name} ({_listed(parts)})" if parts else name


def _criteria_in_words(criteria: Sequence[CriterionChange], one: str, more: str) -> Iterator[str]:
    """The counts by kind. Removed criteria come first, then those that ask for less."""
    weaker = [its for its in criteria if its.kind == "changed" and its.relaxed]
    counted = (
        (sum(its.kind == "removed" for its in criteria), "removed"),
        (len(weaker), word_for(len(weaker), "asks for less", "ask for less")),
        (sum(its.kind == "changed" for its in criteria) - len(weaker), "changed"),
        (sum(its.kind == "added" for its in criteria), "added"),
    )
    yield from (f"{pluralize(count, one, more)} {what}" for count, what in counted if count)


def _text_in_words(change: TextChange) -> str:
    """Its name; if only one passage is new or gone, with that passage."""
    pieces = [piece for piece in change.pieces if piece.kind != "same"]
    if len(pieces) != 1 or len(change.pieces) == 1:
        return change.what
    return f"{change.what} {'+' if pieces[0].kind == 'added' else '−'} {quoted(pieces[0].text.strip(), _QUOTE)}"


def _listed(words: Sequence[str]) -> str:
    more = len(words) - MAX_NAMED
    return f"{', '.join(words[:MAX_NAMED])}{f' and {more} more' if more > 0 else ''}"


MAX_PARTS = 200
"""Parts of one edit that are looked for in later versions. Each costs a search through all their words."""
MAX_NAMED_PARTS = 3
_PART_QUOTE = 120


@dataclass(frozen=True)
class AuthoredVersion:
    """A version. `by` is the person who edited it, empty for a planner. `agreed`: a person read and approved it."""

    version: PlanVersion
    by: str
    agreed: bool = False

    @cached_property
    def words(self) -> str:
        """All its texts in the form in which they are compared."""
        return "\n".join(same_criterion_key(text) for text in _texts_of_version(self.version))

    @cached_property
    def facts(self) -> Mapping[str, str]:
        """Its facts other than texts: a sentence for each, by a key that stays the same if a step is renamed."""
        return dict(_facts_of_version(self.version))


@dataclass(frozen=True)
class _EditPart:
    """One thing that the edit to `version` changed.

    Either new `words`, which may move to any place of a later plan; or a new `fact`, by its key; or a step that the
    edit removed, whose key is in `gone`.
    """

    version: int
    by: str
    said: str
    words: str = ""
    fact: str = ""
    gone: str = ""

    def is_in(self, now: AuthoredVersion) -> bool:
        if self.gone:
            return self.gone not in now.version.steps
        return self.fact in now.facts if self.fact else self.words in now.words


@dataclass(frozen=True)
class LostEdit:
    """What a later version lacks of the edit to `version`: the first `parts` in words, and how many `more`."""

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


def lost_edits(versions: Sequence[AuthoredVersion]) -> list[LostEdit]:
    """The edits that the latest version does not fully have. `versions` are all, the oldest first.

    Not counted is what another edit removed, or what was missing from a version that a person approved.
    """
    held: list[_EditPart] = []
    for before, now in pairwise(versions):
        if now.by:
            held = [part for part in held if part.is_in(now) or not part.is_in(before)]
            held += _parts_of_edit(before, now)
        if now.agreed:
            held = [part for part in held if part.is_in(now)]
    lost = (part for part in held if not part.is_in(versions[-1]))
    found = []
    for (version, by), group in groupby(lost, key=lambda part: (part.version, part.by)):
        parts = [part.said for part in group]
        found.append(LostEdit(version, by, parts[:MAX_NAMED_PARTS], max(0, len(parts) - MAX_NAMED_PARTS)))
    return found


def _parts_of_edit(before: AuthoredVersion, now: AuthoredVersion) -> list[_EditPart]:
    number, by = now.version.number, now.by
    old = {same_criterion_key(text) for text in _texts_of_version(before.version)}
    texts = {same_criterion_key(text): text for text in _texts_of_version(now.version)}
    parts = [
        _EditPart(number, by, quoted(text, _PART_QUOTE), words=words)
        for words, text in texts.items()
        if words not in old
    ]
    parts += [_EditPart(number, by, said, fact=fact) for fact, said in now.facts.items() if fact not in before.facts]
    removed = ((key, step) for key, step in before.version.steps.items() if key not in now.version.steps)
    parts += [_EditPart(number, by, f"without step {quoted(step.name)}", gone=key) for key, step in removed]
    return [part for part in parts[:MAX_PARTS] if not part.is_in(before)]


def _texts_of_version(version: PlanVersion) -> Iterator[str]:
    """The sentences of a version; names and criteria as a whole. Notes of the planner are no edits and left out."""
    header = version.header
    yield from sentences_in(header.goal)
    yield from sentences_in(header.rollback_strategy)
    yield from (one.text for one in header.success_criteria)
    for step in version.steps.values():
        yield step.name
        yield from sentences_in(step.description)
        yield from (one.text for one in step.acceptance_criteria)
        yield from (action.purpose for action in step.actions)


def _facts_of_version(version: PlanVersion) -> Iterator[tuple[str, str]]:
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
            yield (
                f"{same_criterion_key(one.text)} check {check}",
                f"{quoted(one.text, _PART_QUOTE)} by a check: {check}",
            )
