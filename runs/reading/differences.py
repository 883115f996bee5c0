"""What differs between two versions of a plan, in words, for anyone who has to agree to the later one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from runs.pev.contracts import (
    Absent,
    Check,
    Citations,
    Contains,
    Count,
    Covers,
    Criterion,
    CsvColumns,
    FileExists,
    JsonSchema,
    JsonValid,
    Matches,
    MinBytes,
    NoPlaceholders,
    PlanHeader,
    PlanStep,
    QuotesOccur,
    WordCount,
)
from runs.reading.comparisons import comparison_in_words


@dataclass(frozen=True)
class PartChange:
    """What differs in one part of a step: before and after, as text."""

    part: str
    before: str
    after: str


@dataclass(frozen=True)
class ChangedStep:
    name: str
    changes: tuple[PartChange, ...]


@dataclass(frozen=True)
class Difference:
    """Names of steps; `whole` lists changed parts of the plan itself."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[ChangedStep, ...]
    whole: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        return not (self.added or self.removed or self.changed or self.whole)


_WHOLE = {
    "goal": "goal",
    "context": "context",
    "success_criteria": "success criteria",
    "rollback_strategy": "rollback",
}
_PARTS = ("name", "description", "criteria", "expected outputs", "dependencies", "complexity", "tools")


def difference_between(
    before: PlanHeader, old: Mapping[str, PlanStep], after: PlanHeader, new: Mapping[str, PlanStep]
) -> Difference:
    """Of two headers, each with its steps by key."""
    both = [key for key in new if key in old and new[key] != old[key]]
    return Difference(
        added=tuple(new[key].name for key in new if key not in old),
        removed=tuple(old[key].name for key in old if key not in new),
        changed=tuple(ChangedStep(new[key].name, tuple(_changes(old[key], new[key]))) for key in both),
        whole=tuple(words for name, words in _WHOLE.items() if getattr(before, name) != getattr(after, name)),
    )


def _changes(old: PlanStep, new: PlanStep) -> Iterator[PartChange]:
    for part, before, after in zip(_PARTS, _as_texts(old), _as_texts(new), strict=True):
        if before != after:
            yield PartChange(part, before or "none", after or "none")


def _as_texts(spec: PlanStep) -> Sequence[str]:
    return (
        spec.name,
        spec.description,
        "\n".join(_criterion_text(item) for item in spec.acceptance_criteria),
        "\n".join(spec.outputs),
        ", ".join(spec.dependencies),
        spec.estimated_complexity.value,
        "\n".join(f"{action.tool}: {action.purpose}" for action in spec.actions),
    )


def _criterion_text(criterion: Criterion) -> str:
    return f"{criterion.text} ({check_in_words(criterion.check)})" if criterion.check else criterion.text


def check_in_words(check: Check) -> str:
    """What a check looks for, as a clause."""
    match check:
        case FileExists():
            return f"{check.path} exists"
        case MinBytes():
            return f"{check.path} has at least {check.min:,} bytes"
        case Contains():
            return f"{check.path} contains “{check.text}”"
        case Matches():
            return f"{check.path} matches {check.pattern} at least {check.min:,} times"
        case WordCount():
            most = f" and at most {check.max:,}" if check.max < 1_000_000 else ""
            return f"{check.path} has at least {check.min:,}{most} words"
        case JsonValid():
            return f"{check.path} is valid JSON"
        case JsonSchema():
            return f"{check.path} is JSON of the agreed shape"
        case CsvColumns():
            return f"{check.path} has the columns {', '.join(check.columns)}"
        case NoPlaceholders():
            return f"{check.path} has no placeholders"
        case Citations() | QuotesOccur() | Covers() | Count() | Absent():
            return comparison_in_words(check)
        case _:
            assert_never(check)
