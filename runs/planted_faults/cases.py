"""The cases of a calibration: which jobs a verifier judges, half of them with a planted fault, in an order that makes
every beginning of the list balanced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from runs.contracts.ports import Model
from runs.enums import FaultKind, Language
from runs.planted_faults.claims import IN_PROSE, Job
from runs.planted_faults.jobs import PLANTED_EVERYWHERE, REVIEWS, WORK, Work
from runs.planted_faults.stored_contracts import VerifierSettings
from runs.planted_faults.trial import Ending, tried


@dataclass(frozen=True)
class Case:
    """One job by its number, from 0. `kind` is None for a job without a fault, and otherwise the fault in it."""

    number: int
    kind: FaultKind | None
    language: Language
    job: Job

    def ending(self, verifier: Model, asked: VerifierSettings, *, rules: bool) -> Ending:
        """What becomes of the job under a verifier. Raises as `trial.tried`."""
        return tried(self.job, verifier, rules=rules, asked=asked)


def case_count(size: int) -> int:
    """How many cases there are with `size` planted faults: as many again have none."""
    return 2 * size


def case_of(number: int, kinds: Sequence[FaultKind], languages: Sequence[Language], seed: int) -> Case:
    """The case of this number. The same arguments make the same job, whoever judges it.

    Even numbers have a fault and odd ones have none. The kinds follow one another, then the languages, then the kinds
    of work.
    """
    pair, is_sound = divmod(number, 2)
    turn, at = divmod(pair, len(kinds))
    kind = kinds[at]
    round_, next_language = divmod(turn, len(languages))
    language = languages[(at + next_language) % len(languages)]  # shifted, so that the first kinds are in all languages
    works = _works(kind, language)
    way = IN_PROSE if kind is FaultKind.CONTRADICTION else round_
    fault = None if is_sound else kind
    random = Random(f"{seed} {number}")  # noqa: S311 the same job each time
    job = works[round_ % len(works)](random, fault, way)
    return Case(number, fault, language, job)


def _works(kind: FaultKind, language: Language) -> Sequence[Work]:
    """The kinds of work into which this fault can be planted in this language."""
    return WORK[language] if kind in PLANTED_EVERYWHERE else REVIEWS[language]
