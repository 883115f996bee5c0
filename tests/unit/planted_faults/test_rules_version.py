"""The version of the rules for verdicts changes whenever the rules judge a generated case differently."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from runs.contracts.ports import Model
from runs.enums import FaultKind, Language
from runs.planted_faults.cases import Case
from runs.planted_faults.jobs import PLANTED_EVERYWHERE, REVIEWS, WORK
from runs.planted_faults.trial import RULES_VERSION, tried
from tests.bench.catching.judges import Judging, irrelevant, lazy, plausible, tossing
from tests.fakes.known_verifiers import KnownVerifier, catching


def cases() -> Iterator[Case]:
    """Each kind of work in each language, without a fault and with each fault that it can have."""
    for language, kind in product(Language, (None, *FaultKind)):
        works = WORK[language] if kind is None or kind in PLANTED_EVERYWHERE else REVIEWS[language]
        for number, work in enumerate(works):
            yield Case(number, kind, language, work(Random(f"{language} {kind} {number}"), kind, number))


def verifiers(case: Case) -> Iterator[Model]:
    """They pass nearly everything, with good and with bad evidence, because a refusal leaves nothing to the rules."""
    yield KnownVerifier(case, catching(0.0, "passes"))
    yield from (Judging(judge) for judge in (lazy, irrelevant, plausible, tossing(Random(case.number))))


def judged(case: Case) -> Iterator[object]:
    """What the rules decide about the answers to a case. The words for people may change without a new version."""
    for verifier in verifiers(case):
        ending = tried(case.job, verifier, rules=True)
        yield ending.passed, len(ending.marks)
        for judgement in ending.judged:
            yield judgement.stage, judgement.passed, len(judgement.untraced)
            for one in judgement.results:
                yield one.label, one.decided_by, one.supported, one.passed, one.looked_at, one.out_of
                yield [(item.verified, bool(item.weak)) for item in one.evidence]


def fingerprint() -> str:
    return hashlib.sha256(repr([list(judged(case)) for case in cases()]).encode()).hexdigest()[:16]


@pytest.mark.slow
def test_the_version_is_that_of_the_rules() -> None:
    now = fingerprint()
    assert now == RULES_VERSION, (
        "The rules judge generated cases differently than before, or other cases are generated. If that is intended, "
        f'write RULES_VERSION = "{now}" in runs/planted_faults/trial.py. This marks earlier figures as '
        "old in every installation."
    )
