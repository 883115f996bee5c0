"""The order of steps: what may start, in which level a step stands, and what is wrong with a graph."""

from collections.abc import Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter


def cycle_in(dependencies: Mapping[str, Sequence[str]]) -> list[str]:
    """The ids on one cycle, first repeated at the end; empty when there is none."""
    try:
        TopologicalSorter(dependencies).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def levels(dependencies: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Level of each step: 0 without dependencies, else one more than the highest it depends on."""
    level: dict[str, int] = {}
    for name in TopologicalSorter(dependencies).static_order():
        level[name] = 1 + max((level[before] for before in dependencies.get(name, ())), default=-1)
    return level


def ancestors_of(key: str, dependencies: Mapping[str, Sequence[str]]) -> Set[str]:
    """Everything that is finished before one step starts."""
    before: set[str] = set()
    left = list(dependencies.get(key, ()))
    while left:
        if (parent := left.pop()) not in before:
            before.add(parent)
            left.extend(dependencies.get(parent, ()))
    return before


def ancestors(dependencies: Mapping[str, Sequence[str]]) -> dict[str, Set[str]]:
    """For each step everything that is finished before it starts."""
    before: dict[str, Set[str]] = {}
    for name in TopologicalSorter(dependencies).static_order():
        direct = dependencies.get(name, ())
        before[name] = frozenset(direct).union(*(before[parent] for parent in direct))
    return before
