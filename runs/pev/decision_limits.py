"""Who a decision is assigned to, and how long it may wait: for all kinds of decisions, and for single ones."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from runs.enums import AtLimit, GateKind, LimitStage

OWNER, APPROVERS = "owner", "approvers"
GROUP = "group:"
"""What the assignee begins with where it is a group, before its name."""
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


def as_assignee(text: str) -> str:
    """Who decisions are assigned to, as a policy keeps it. Raises ValueError."""
    text = text.strip()
    if text in (OWNER, APPROVERS) or (text.startswith(GROUP) and 0 < len(text.removeprefix(GROUP).strip()) <= MAX_NAME):
        return GROUP + text.removeprefix(GROUP).strip() if text.startswith(GROUP) else text
    raise ValueError(f"“{text[:40]}” is nobody to assign decisions to: write owner, approvers, or group:NAME")


def as_limits(text: str) -> str:
    """Limits of single kinds in the one way that they are written. Raises ValueError with a sentence."""
    return "; ".join(f"{kind}: {', '.join(_written(items))}" for kind, items in parse(text).items())


def parse(text: str) -> Mapping[GateKind, Mapping[str, Any]]:
    """The fields of `DecisionLimits` that differ for single kinds of decisions. Raises ValueError with a sentence."""
    found: dict[GateKind, Mapping[str, Any]] = {}
    for part in text.split(";"):
        name, colon, items = (piece.strip() for piece in part.partition(":"))
        if not (name or colon):
            continue
        if name not in set(GateKind):
            raise ValueError(f"“{name[:40]}” is no kind of decision; there are: {', '.join(GateKind)}. {_EXAMPLE}")
        if name in found:
            raise ValueError(f"There are two limits for “{name}”. Write them as one.")
        found[GateKind(name)] = _items(items)
    return {kind: found[kind] for kind in GateKind if kind in found}


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


def of_kind(shared: DecisionLimits, text: str, kind: GateKind) -> DecisionLimits:
    """The limits of one kind of decision: those of all, with what the text says about this kind."""
    return replace(shared, **parse(text).get(kind, {}))
