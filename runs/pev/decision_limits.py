"""Who a decision is assigned to, and how long it may wait: for all kinds of decisions, and for single ones.

A policy has limits, and an installation may have some that hold for all runs (see `DecisionLimits.within`).
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from runs.enums import AtLimit, GateKind, LimitStage

OWNER, APPROVERS = "owner", "approvers"
GROUP = "group:"
"""What the assignee begins with where it is a group, before its name."""
EVERY = "every"
"""The word for all kinds in the limits of an installation."""
MAX_HOURS = 8_784
"""A leap year."""
MAX_NAME = 150
_ITEM = re.compile(r"(remind|another|end|to) (.+)")
_HOURS = re.compile(r"[1-9][0-9]{0,3}")
_EXAMPLE = "Write it as “tool: remind 2, another 4, end 8, reject; plan: end 72, stop”."


@dataclass(frozen=True)
class DecisionLimits:
    """The hours after which a person is reminded, another person is asked, and the limit ends; None for never.

    `assigned_to` is `owner`, `approvers` (those who are named in the run, in turn), or `group:` with a name, in turn.
    """

    assigned_to: str = OWNER
    remind: int | None = None
    another: int | None = None
    end: int | None = None
    then: AtLimit = AtLimit.WAIT

    @property
    def stages(self) -> Mapping[LimitStage, int]:
        """The stages that there are, in order, with their hours."""
        hours = {LimitStage.REMIND: self.remind, LimitStage.ANOTHER: self.another, LimitStage.END: self.end}
        return {stage: count for stage, count in hours.items() if count is not None}

    @property
    def problem(self) -> str:
        """Why these limits cannot be used, as a sentence; empty if they can."""
        counts = list(self.stages.values())
        if counts != sorted(set(counts)):
            return (
                f"The reminder ({self.remind or 'none'}), another person ({self.another or 'none'}) and the end "
                f"({self.end or 'none'}) come one after the other: each needs more hours than the one before."
            )
        if self.then is not AtLimit.WAIT and self.end is None:
            return f"To {self.then} at the end of the time limit, say after how many hours it ends."
        return ""

    def within(self, bounds: "DecisionLimits") -> "DecisionLimits":
        """These limits of a policy where those of the installation are `bounds`: the earlier reminder, the earlier
        other person, and the end that decides earlier. So a policy can shorten what the installation says, and not
        lengthen it or switch it off. An end that only marks a decision as overdue gives way to one that decides.

        A reminder or another person that would come after what follows it is left out. Whose turn a decision is stays
        what the policy says.
        """
        end, then = self.end, self.then
        decides, bound_decides = then is not AtLimit.WAIT, bounds.then is not AtLimit.WAIT
        if bounds.end is not None and (
            end is None or decides < bound_decides or (end > bounds.end and decides == bound_decides)
        ):
            end, then = bounds.end, bounds.then
        another = _earliest(self.another, bounds.another, before=end)
        remind = _earliest(self.remind, bounds.remind, before=end if another is None else another)
        return DecisionLimits(self.assigned_to, remind, another, end, then)


def _earliest(*hours: int | None, before: int | None) -> int | None:
    return min((one for one in hours if one is not None and (before is None or one < before)), default=None)


def as_assignee(text: str) -> str:
    """Who decisions are assigned to, as a policy keeps it. Raises ValueError."""
    text = text.strip()
    if text in (OWNER, APPROVERS) or (text.startswith(GROUP) and 0 < len(text.removeprefix(GROUP).strip()) <= MAX_NAME):
        return GROUP + text.removeprefix(GROUP).strip() if text.startswith(GROUP) else text
    raise ValueError(f"Decisions cannot be assigned to “{text[:40]}”: write owner, approvers, or group:NAME")


def as_limits(text: str) -> str:
    """Limits of single kinds in the one way that they are written. Raises ValueError with a sentence."""
    return "; ".join(f"{kind}: {', '.join(_written(items))}" for kind, items in parse(text).items())


@lru_cache(maxsize=256)
def parse(text: str) -> Mapping[GateKind, Mapping[str, Any]]:
    """The fields of `DecisionLimits` that differ for single kinds of decisions. Raises ValueError with a sentence."""
    found = _by_name(text, list(GateKind))
    return {kind: found[kind] for kind in GateKind if kind in found}


def parse_installation(text: str) -> Mapping[GateKind, DecisionLimits]:
    """The limits of an installation for each kind, from a text such as `every: remind 2, end 72, reject; tool: end 8`.
    Raises ValueError with a sentence.
    """
    found = _by_name(text, [EVERY, *GateKind])
    if any("assigned_to" in items for items in found.values()):
        raise ValueError("Whose turn a decision is can only be set in the policy of a run: leave out “to …”.")
    shared = found.get(EVERY, {})
    limits = {kind: DecisionLimits(**{**shared, **found.get(kind, {})}) for kind in GateKind}
    for kind, one in limits.items():
        if one.problem:
            raise ValueError(f"Limits for “{kind if kind in found else EVERY}”: {one.problem}")
    return limits


def in_words(limits: Mapping[GateKind, DecisionLimits]) -> str:
    """Limits of an installation as they are written, with the kinds together that have the same; empty for none."""
    kinds: dict[DecisionLimits, list[str]] = {}
    for kind, one in limits.items():
        if one.stages:
            kinds.setdefault(one, []).append(kind)
    return "; ".join(
        f"{EVERY if len(names) == len(GateKind) else ', '.join(names)}: {', '.join(_of_limits(one))}"
        for one, names in kinds.items()
    )


def _of_limits(limits: DecisionLimits) -> list[str]:
    hours = [f"{stage} {count}" for stage, count in limits.stages.items()]
    return [*hours, limits.then] if limits.then is not AtLimit.WAIT else hours


def _by_name(text: str, names: Collection[str]) -> Mapping[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for part in text.split(";"):
        name, colon, items = (piece.strip() for piece in part.partition(":"))
        if not (name or colon):
            continue
        if name not in names:
            raise ValueError(f"“{name[:40]}” is no kind of decision; there are: {', '.join(names)}. {_EXAMPLE}")
        if name in found:
            raise ValueError(f"There are two limits for “{name}”. Write them as one.")
        found[name] = _items(items)
    return found


def _items(text: str) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    name: str
    value: Any
    for item in (piece.strip() for piece in text.split(",")):
        named = _ITEM.fullmatch(item)
        if item in set(AtLimit):
            name, value = "then", AtLimit(item)
        elif named and named[1] == "to":
            name, value = "assigned_to", as_assignee(named[2])
        elif named and named[2] == "never":
            name, value = named[1], None
        elif named and _HOURS.fullmatch(named[2]) and int(named[2]) <= MAX_HOURS:
            name, value = named[1], int(named[2])
        else:
            raise ValueError(f"“{item[:40]}” cannot be read; hours go from 1 to {MAX_HOURS:,}. {_EXAMPLE}")
        if name in found:
            raise ValueError(f"“{item[:40]}” is the second of its kind. {_EXAMPLE}")
        found[name] = value
    return found


def _written(items: Mapping[str, Any]) -> list[str]:
    hours = [f"{name} {items[name] or 'never'}" for name in ("remind", "another", "end") if name in items]
    to = [f"to {items['assigned_to']}"] if "assigned_to" in items else []
    return [*to, *hours, *([str(items["then"])] if "then" in items else [])]


@lru_cache(maxsize=1_024)
def of_kind(shared: DecisionLimits, text: str, kind: GateKind) -> DecisionLimits:
    """The limits of one kind of decision: those of all, with what the text says about this kind."""
    return replace(shared, **parse(text).get(kind, {}))
