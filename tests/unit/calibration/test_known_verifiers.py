"""What is measured of verifiers whose quality is known contains the truth about as often as it says.

Judging a case does not depend on chance, so each case is judged once by a verifier that passes it and once by one that
fails it. The repetitions only draw which of the two it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import pytest

from runs.accounting.intervals import Share
from runs.calibration.results import CalibrationResult, CaseGroup
from runs.enums import CaseOutcome, FaultKind, Language
from runs.models import Calibration
from runs.planted_faults.case_verdicts import CaseVerdict, judge_case
from runs.planted_faults.cases import Case, case_count, case_of
from runs.planted_faults.stored_contracts import AS_USUAL
from tests.fakes.known_verifiers import KnownVerifier, Opinion, catching

KINDS = (FaultKind.WRONG_FIGURE, FaultKind.IRRELEVANT_QUOTE, FaultKind.STUB)
"""Code finds nearly all of the first and the last kind, and none of the second."""
REPETITIONS = 100
BIASED = {FaultKind.WRONG_FIGURE: 0.9, FaultKind.IRRELEVANT_QUOTE: 0.3, FaultKind.STUB: 0.6}
VERIFIERS: Mapping[str, tuple[dict[FaultKind, float], float]] = {
    "perfect": (dict.fromkeys(KINDS, 1.0), 0.0),
    "lazy": (dict.fromkeys(KINDS, 0.0), 0.0),
    "random": (dict.fromkeys(KINDS, 0.5), 0.5),
    "biased": (BIASED, 0.1),
}
"""How many faults of each kind a verifier notices, and how many sound results it refuses."""


@cache
def judged(size: int) -> list[tuple[Case, CaseVerdict, CaseVerdict]]:
    """Each case with the verdict of a verifier that passes it, and of one that fails it."""
    cases = [case_of(number, KINDS, list(Language), 3) for number in range(case_count(size))]
    passing, failing = catching(0.0, "passes"), catching(1.0, "fails", false_refusals=1.0)
    return [(case, judge(case, passing), judge(case, failing)) for case in cases]


def judge(case: Case, opinion: Opinion) -> CaseVerdict:
    return judge_case(case, KnownVerifier(case, opinion), AS_USUAL)


def measured(name: str, repetition: int, size: int, confidence: float = 0.9) -> CalibrationResult:
    """What a calibration of this verifier would show."""
    shares, false_refusals = VERIFIERS[name]
    opinion = catching(0.0, f"{name} {repetition}", by_kind=shares, false_refusals=false_refusals)
    rows = []
    for case, if_passed, if_failed in judged(size):
        verdict = if_passed if opinion(case)[0] else if_failed
        row = CaseGroup(
            kind=case.kind or "",
            met_by_person=None,
            with_rules=verdict.with_rules,
            without_rules=verdict.without_rules,
            claimed=verdict.claimed,
            confidence=None if verdict.claimed is None else confidence,
        )
        rows.append(row)
    return CalibrationResult(Calibration(model=name, size=size), rows)


@cache
def truth(name: str, kind: FaultKind | None, size: int, *, rules: bool) -> float:
    """The share that this verifier refuses in the long run: what code refuses in any case, and its own share."""
    shares, false_refusals = VERIFIERS[name]
    own = false_refusals if kind is None else shares[kind]
    chances = []
    for case, if_passed, if_failed in judged(size):
        if case.kind is kind:
            outcomes = [one.with_rules if rules else one.without_rules for one in (if_passed, if_failed)]
            refused_anyway, refused_if_failed = (one == CaseOutcome.REFUSED for one in outcomes)
            chances.append(1.0 if refused_anyway else own if refused_if_failed else 0.0)
    return sum(chances) / len(chances)


def shares_of(result: CalibrationResult) -> Iterator[tuple[FaultKind | None, bool, Share]]:
    for one in result.kinds:
        yield one.kind, True, one.caught
        yield one.kind, False, one.alone
    yield None, True, result.sound.refused
    yield None, False, result.sound.alone


def covered(name: str, size: int) -> dict[tuple[FaultKind | None, bool], int]:
    """In how many of the repetitions the interval contains the truth, by kind and with or without the rules."""
    counts: dict[tuple[FaultKind | None, bool], int] = {}
    for repetition in range(REPETITIONS):
        for kind, rules, share in shares_of(measured(name, repetition, size)):
            is_in = share.low <= truth(name, kind, size, rules=rules) <= share.high
            counts[kind, rules] = counts.get((kind, rules), 0) + is_in
    return counts


def check_coverage(size: int) -> None:
    for name in VERIFIERS:
        counts = covered(name, size)
        assert len(counts) == 2 * (len(KINDS) + 1)
        assert sum(counts.values()) / len(counts) >= 93, name
        assert min(counts.values()) >= 88, "no rate is far off, beyond what chance does to a hundred repetitions"


def test_intervals_contain_the_true_rates_of_known_verifiers() -> None:
    check_coverage(45)


@pytest.mark.exhaustive
@pytest.mark.slow
def test_intervals_of_large_calibrations_contain_the_true_rates() -> None:
    check_coverage(300)


def test_a_perfect_verifier_and_a_lazy_one_are_told_apart_without_the_rules() -> None:
    perfect, lazy = measured("perfect", 0, 45), measured("lazy", 0, 45)
    assert [one.alone.value for one in perfect.kinds] == [1.0] * 3
    assert [one.alone.count for one in lazy.kinds if one.kind is FaultKind.IRRELEVANT_QUOTE] == [0]
    assert (perfect.sound.refused.value, lazy.sound.refused.value) == (0.0, 0.0)


def test_an_overconfident_verifier_has_a_large_calibration_error() -> None:
    random, perfect = measured("random", 0, 45, confidence=0.98), measured("perfect", 0, 45, confidence=0.98)
    right = sum(is_right for _, is_right in random.claims) / len(random.claims)
    assert random.calibration_error is not None
    assert random.calibration_error == pytest.approx(0.98 - right)
    assert random.calibration_error > 0.3
    assert perfect.calibration_error == pytest.approx(0.02)
    assert [bucket.reading for bucket in random.buckets] == ["too sure"]


def figures(result: CalibrationResult) -> Sequence[tuple[int, int]]:
    return [(one.caught.count, one.caught.total) for one in result.kinds]


def test_a_case_without_a_verdict_is_not_caught() -> None:
    result = measured("perfect", 0, 45)
    first, *others = result.groups
    rows = [first._replace(with_rules=CaseOutcome.NO_VERDICT), *others]
    without = CalibrationResult(result.calibration, rows)
    assert figures(without) == [(14, 15), (15, 15), (15, 15)]
    assert [one.no_verdict for one in without.kinds] == [1, 0, 0]
    assert [one.let_through.count for one in without.kinds] == [0, 0, 0]
