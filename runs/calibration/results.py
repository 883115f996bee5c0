"""What calibrations have shown: who catches what, how sure that is, and whether it still holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from runs.accounting.figures import Bucket
from runs.accounting.intervals import Share, cohens_kappa, expected_calibration_error, wilson
from runs.accounting.metrics import buckets_of
from runs.calibration.calibrations import outdated_by, total_cases
from runs.enums import CalibrationStatus, CaseOutcome, FaultKind
from runs.models import Calibration, CalibrationCase
from runs.text.plural import pluralize

_CAUGHT = frozenset({CaseOutcome.REFUSED})
_SILENT = frozenset({CaseOutcome.PASSED})
MAX_COMPARED = 10
"""Other verifiers with which the agreement is shown."""


@dataclass(frozen=True)
class KindResult:
    """Cases with a fault of one kind, or of all kinds together where `kind` is None; `words` names them.

    `caught`: refused. `alone`: the same without the rules, with only the checks that look at the result itself.
    `let_through`: passed without any mark, with the rules.
    `marked` cases passed with a mark that people see. `no_verdict` had no usable verdict, so that a person is asked.
    """

    kind: FaultKind | None
    words: str
    caught: Share
    alone: Share
    let_through: Share
    marked: int
    no_verdict: int


@dataclass(frozen=True)
class SoundResult:
    """Cases without a fault. `refused`: with the rules; `alone`: without them; `marked` and `no_verdict` as above."""

    words: str
    refused: Share
    alone: Share
    marked: int
    no_verdict: int


@dataclass(frozen=True)
class Corrections:
    """Results of runs that people judged otherwise than a verdict: `rejected` ones, which a verifier should refuse, and
    `accepted` ones.
    """

    rejected: KindResult
    accepted: SoundResult


@dataclass(frozen=True)
class Agreement:
    """How often another verifier gave the same verdict on the same cases."""

    other: Calibration
    same: Share
    kappa: float | None


@dataclass(frozen=True)
class CalibrationResult:
    """The figures of one calibration, from its cases so far."""

    calibration: Calibration
    cases: Sequence[CalibrationCase]

    @property
    def judged(self) -> int:
        return len(self.cases)

    @property
    def outdated_by(self) -> str:
        """What has changed since it was measured, as a sentence; empty if its figures still hold."""
        return outdated_by(self.calibration)

    @cached_property
    def kinds(self) -> list[KindResult]:
        """By kind, in the order of the enum, without those that no case has."""
        by_kind = {kind: [case for case in self._planted if case.kind == kind] for kind in FaultKind}
        return [_kind_result(kind, kind.words.capitalize(), cases) for kind, cases in by_kind.items() if cases]

    @cached_property
    def faults(self) -> KindResult:
        """All kinds together."""
        return _kind_result(None, "All faults", self._planted)

    @cached_property
    def sound(self) -> SoundResult:
        return _sound_result("Sound results refused", [case for case in self._generated if not case.kind])

    @cached_property
    def corrections(self) -> Corrections | None:
        """None if no case of a person was judged."""
        rejected, accepted = ([case for case in self.cases if case.met_by_person is is_met] for is_met in (False, True))
        if not (rejected or accepted):
            return None
        return Corrections(
            _kind_result(None, "Rejected by people", rejected), _sound_result("Accepted by people, refused", accepted)
        )

    @property
    def verdicts(self) -> int:
        return sum(case.verdicts for case in self.cases)

    @property
    def cost(self) -> Decimal | None:
        """USD of all cases; None if a call had no known price."""
        costs = [case.cost_usd for case in self.cases]
        return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))

    @property
    def cost_per_verdict(self) -> Decimal | None:
        return self.cost / self.verdicts if self.cost is not None and self.verdicts else None

    @property
    def ms_per_verdict(self) -> int | None:
        return round(sum(case.duration_ms for case in self.cases) / self.verdicts) if self.verdicts else None

    @cached_property
    def claims(self) -> list[tuple[float, bool]]:
        """How sure the verifier said it was of its own verdict on everything, and whether that verdict was right."""
        return [
            (case.confidence, case.claimed == (not case.kind))
            for case in self._generated
            if case.confidence is not None and case.claimed is not None
        ]

    @cached_property
    def buckets(self) -> tuple[Bucket, ...]:
        return buckets_of(self.claims)

    @property
    def calibration_error(self) -> float | None:
        return expected_calibration_error(self.claims)

    @property
    def _generated(self) -> list[CalibrationCase]:
        return [case for case in self.cases if case.met_by_person is None]

    @property
    def _planted(self) -> list[CalibrationCase]:
        return [case for case in self.cases if case.kind]


def result_of(calibration: Calibration) -> CalibrationResult:
    """Its figures, in one query."""
    return CalibrationResult(calibration, list(calibration.cases.all()))


@dataclass(frozen=True)
class CatchRate:
    """What the newest finished calibration of a verifier says in short. `figures`: of wrong figures alone."""

    calibration: Calibration
    cases: int
    caught: Share
    figures: Share
    refused: Share

    @property
    def outdated_by(self) -> str:
        """What has changed since it was measured, as a sentence; empty if its figures still hold."""
        return outdated_by(self.calibration)

    @property
    def is_old(self) -> bool:
        return bool(self.outdated_by)

    @property
    def measured_at(self) -> datetime:
        return self.calibration.ended_at or self.calibration.created_at

    @property
    def sentence(self) -> str:
        """For people who read a verdict of this verifier."""
        model, day = self.calibration.model, f"{timezone.localtime(self.measured_at):%-d %b %Y}"
        measured = f"(calibrated {day}, {pluralize(self.cases, 'case')})"
        figures = "" if self.figures.value is None else f", {self.figures.value * 100:.0f} % of wrong figures"
        old = f" {self.outdated_by}" if self.is_old else ""
        return f"{model} catches {(self.caught.value or 0) * 100:.0f} % of planted faults{figures} {measured}.{old}"


def catch_rates(*models: str) -> list[CatchRate]:
    """The newest of `measured_rates` of each of these verifiers, or of all. Verifiers without one are missing."""
    newest: dict[tuple[str, str], CatchRate] = {}
    for rate in measured_rates(*models):
        newest.setdefault((rate.calibration.model, rate.calibration.address), rate)
    return list(newest.values())


def measured_rates(*models: str) -> list[CatchRate]:
    """What each finished calibration of these verifiers, or of all, has shown, the newest first, in one query.

    Only those with planted faults of all kinds count.
    """
    generated = Q(cases__met_by_person=None)
    planted, refused = ~Q(cases__kind=""), Q(cases__with_rules=CaseOutcome.REFUSED)
    figures = Q(cases__kind=FaultKind.WRONG_FIGURE)
    counts = {
        "planted": planted,
        "caught": planted & refused,
        "figures": figures,
        "figures_caught": figures & refused,
        "sound": generated & ~planted,
        "sound_refused": generated & ~planted & refused,
    }
    rows: Any = (
        Calibration.objects.annotate(
            judged=Count("cases", filter=generated),
            **{f"with_{name}": Count("cases", filter=which) for name, which in counts.items()},
        )
        # The kinds follow one another, so a smaller one has not all of them.
        .filter(status=CalibrationStatus.FINISHED, judged__gt=0, size__gte=len(FaultKind))
        .order_by("-pk")
    )
    return [
        CatchRate(
            calibration=row,
            cases=row.judged,
            caught=wilson(row.with_caught, row.with_planted),
            figures=wilson(row.with_figures_caught, row.with_figures),
            refused=wilson(row.with_sound_refused, row.with_sound),
        )
        for row in (rows.filter(model__in=models) if models else rows)
        if set(row.kinds) == set(FaultKind)
    ]


def agreements(result: CalibrationResult) -> list[Agreement]:
    """The agreement with the newest figures of other verifiers on the same cases, with the same prompt and rules."""
    row = result.calibration
    own = _passes(result.cases)
    has_cases = Exists(CalibrationCase.objects.filter(calibration=OuterRef("pk")))
    same_cases = Calibration.objects.filter(has_cases, seed=row.seed, prompt=row.prompt, rules=row.rules)
    newest: dict[tuple[str, str], Calibration] = {}
    for other in same_cases.exclude(model=row.model, address=row.address):
        # Databases cannot compare these columns.
        if (other.kinds, other.languages) == (row.kinds, row.languages):
            newest.setdefault((other.model, other.address), other)
    found = []
    for other in list(newest.values())[:MAX_COMPARED]:
        passes = _passes(other.cases.all())
        pairs = [(own[number], passes[number]) for number in own.keys() & passes.keys()]
        if pairs:
            same = wilson(sum(one == another for one, another in pairs), len(pairs))
            found.append(Agreement(other, same, cohens_kappa(pairs)))
    return found


def as_json(result: CalibrationResult) -> dict[str, object]:
    """The figures for programs. Shares are from 0 to 1, with the 95 % interval."""
    row = result.calibration
    return {
        "calibration": row.pk,
        "verifier": row.model,
        "server": row.address,
        "status": row.status,
        "why": row.why,
        "judged": result.judged,
        "cases": total_cases(row),
        "seed": row.seed,
        "languages": list(row.languages),
        "spent_usd": str(row.spent_usd),
        "is_old": bool(result.outdated_by),
        "faults": [{"kind": one.kind or "all"} | _kind_json(one) for one in (*result.kinds, result.faults)],
        **_sound_json("sound", result.sound),
        "corrections": _corrections_json(result.corrections) if result.corrections else None,
        "calibration_error": result.calibration_error,
        "confidence": [
            {"from": one.low, "to": one.high, "verdicts": one.count, "right": one.held, "stated": one.claimed}
            for one in result.buckets
        ],
        "usd_per_verdict": None if result.cost_per_verdict is None else str(result.cost_per_verdict),
        "ms_per_verdict": result.ms_per_verdict,
        "agreement": [
            {"verifier": one.other.model, "same": _share_json(one.same), "kappa": one.kappa}
            for one in agreements(result)
        ],
    }


def _kind_json(result: KindResult) -> dict[str, object]:
    return {
        "caught": _share_json(result.caught),
        "caught_without_rules": _share_json(result.alone),
        "let_through": _share_json(result.let_through),
        "marked": result.marked,
        "no_verdict": result.no_verdict,
    }


def _sound_json(name: str, result: SoundResult) -> dict[str, object]:
    return {
        f"{name}_refused": _share_json(result.refused),
        f"{name}_refused_without_rules": _share_json(result.alone),
        f"{name}_marked": result.marked,
        f"{name}_no_verdict": result.no_verdict,
    }


def _corrections_json(corrections: Corrections) -> dict[str, object]:
    return {"rejected": _kind_json(corrections.rejected), **_sound_json("accepted", corrections.accepted)}


def _share_json(share: Share) -> dict[str, object]:
    return {"count": share.count, "of": share.total, "share": share.value, "low": share.low, "high": share.high}


def _passes(cases: Iterable[CalibrationCase]) -> dict[int, bool]:
    """By the number of a generated case, whether it passed; without those that had no verdict."""
    judged = (case for case in cases if case.with_rules != CaseOutcome.NO_VERDICT and case.met_by_person is None)
    return {case.number: case.with_rules not in _CAUGHT for case in judged}


def _kind_result(kind: FaultKind | None, words: str, cases: Sequence[CalibrationCase]) -> KindResult:
    return KindResult(
        kind=kind,
        words=words,
        caught=_share((case.with_rules for case in cases), _CAUGHT),
        alone=_share((case.without_rules for case in cases), _CAUGHT),
        let_through=_share((case.with_rules for case in cases), _SILENT),
        marked=sum(case.with_rules == CaseOutcome.MARKED for case in cases),
        no_verdict=sum(case.with_rules == CaseOutcome.NO_VERDICT for case in cases),
    )


def _sound_result(words: str, cases: Sequence[CalibrationCase]) -> SoundResult:
    return SoundResult(
        words=words,
        refused=_share((case.with_rules for case in cases), _CAUGHT),
        alone=_share((case.without_rules for case in cases), _CAUGHT),
        marked=sum(case.with_rules == CaseOutcome.MARKED for case in cases),
        no_verdict=sum(case.with_rules == CaseOutcome.NO_VERDICT for case in cases),
    )


def _share(outcomes: Iterable[str], which: frozenset[CaseOutcome]) -> Share:
    """The share of these outcomes. Cases without a verdict count as well: no verdict catches nothing."""
    listed = list(outcomes)
    return wilson(sum(outcome in which for outcome in listed), len(listed))
