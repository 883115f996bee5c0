"""How many jobs each verifier lets through: counted by kind of fault, with the rules and as before them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from runs.enums import FaultKind
from runs.planted_faults.jobs import PLANTED_EVERYWHERE
from runs.planted_faults.trial import Ending, tried
from tests.bench.catching.judges import Judge, Judging, honest, irrelevant, lazy, obeying, plausible, tossing
from tests.bench.catching.numbered_jobs import ROUND, faulty, sound

CARELESS = ("lazy", "irrelevant", "obeying", "plausible")
VERIFIERS = (*CARELESS, "random", "honest")
EVERY = [(name, rules) for name in VERIFIERS for rules in (True, False)]
PLANS = 8 * ROUND
"""Each fault in each kind of work eight times."""
FEW = tuple(range(0, 27 * 5, 5))
"""27 of them, in which every fault occurs three times."""


@dataclass
class Rates:
    """Of the jobs with a fault, by fault: those let through, and those that pass with a mark that people see. `planted`
    are all of them; `refused` those without a fault that did not pass, and `suspected` those that passed with a mark.
    """

    planted: Counter[str] = field(default_factory=Counter)
    through: Counter[str] = field(default_factory=Counter)
    marked: Counter[str] = field(default_factory=Counter)
    sound: int = 0
    refused: int = 0
    suspected: int = 0

    @property
    def share(self) -> float:
        """Let through, in percent."""
        return 100 * self.through.total() / self.planted.total()

    @property
    def marked_share(self) -> float:
        return 100 * self.marked.total() / self.planted.total()

    def count(self, fault: FaultKind | None, ending: Ending) -> None:
        if fault:
            self.planted[fault] += 1
            self.through[fault] += ending.let_through
            self.marked[fault] += ending.passed and not ending.let_through
        else:
            self.sound += 1
            self.refused += not ending.passed
            self.suspected += ending.passed and not ending.let_through


def rates(numbers: Iterable[int], verifiers: Iterable[tuple[str, bool]] = EVERY) -> dict[tuple[str, bool], Rates]:
    """By verifier, and whether with the rules."""
    found = {verifier: Rates() for verifier in verifiers}
    for number in numbers:
        for job in (faulty(number), sound(number)):
            for (name, rules), rate in found.items():
                rate.count(job.fault, tried(job, Judging(judge_of(name, number)), rules=rules))
    return found


def judge_of(name: str, number: int) -> Judge:
    judges: dict[str, Judge] = {
        "lazy": lazy,
        "irrelevant": irrelevant,
        "obeying": obeying,
        "plausible": plausible,
        "random": tossing(Random(f"{number} tossed")),
        "honest": honest,
    }
    return judges[name]


def by_fault(found: Mapping[tuple[str, bool], Rates]) -> str:
    """A table of what was let through of each kind of fault; in brackets what passed with a mark."""
    heads = [(name, rules) for rules in (True, False) for name in VERIFIERS]
    titles = [f"{name}{'' if rules else ' before'}" for name, rules in heads]
    rows = [f"  {'let through, in brackets marked':<32}" + "".join(f"{title:>18}" for title in titles)]
    for fault in (*PLANTED_EVERYWHERE, "all"):
        cells = []
        for head in heads:
            one = found[head]
            counts = [counter.total() if fault == "all" else counter[fault] for counter in _counters(one)]
            cells.append(f"{counts[0]}{f' ({counts[1]})' if counts[1] else ''} of {counts[2]}")
        rows.append(f"  {fault:<32}" + "".join(f"{cell:>18}" for cell in cells))
    refused = "".join(f"{f'{found[head].refused} of {found[head].sound}':>18}" for head in heads)
    return "\n".join([*rows, f"  {'refused without a fault':<32}{refused}"])


def _counters(one: Rates) -> tuple[Counter[str], Counter[str], Counter[str]]:
    return one.through, one.marked, one.planted
