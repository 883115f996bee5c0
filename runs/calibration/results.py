"""What calibrations have shown: who catches what, how sure that is, and whether it still holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, Sum
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
_MARKED = frozenset({CaseOutcome.MARKED})
_NONE = frozenset({CaseOutcome.NO_VERDICT})
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


class CaseGroup(NamedTuple):
    """Cases that are alike, counted by the database. The columns up to `confidence` are those of `CalibrationCase`; the
    others are sums over the group, and `cost` is that of the cases with a known price.
    """

    kind: str
    met_by_person: bool | None
    with_rules: str
    without_rules: str
    claimed: bool | None
    confidence: float | None
    cases: int = 1
    unpriced: int = 0
    verdicts: int = 0
    cost: Decimal | None = None
    duration_ms: int = 0


@dataclass(frozen=True)
class CalibrationResult:
    """The figures of one calibration, from its cases so far."""

    calibration: Calibration
    groups: Sequence[CaseGroup]

    @property
    def judged(self) -> int:
        return sum(group.cases for group in self.groups)

    @property
    def outdated_by(self) -> str:
        """What has changed since it was measured, as a sentence; empty if its figures still hold."""
        return outdated_by(self.calibration)

    @cached_property
    def kinds(self) -> list[KindResult]:
        """By kind, in the order of the enum, without those that no case has."""
        by_kind = {kind: [group for group in self._planted if group.kind == kind] for kind in FaultKind}
        return [_kind_result(kind, kind.words.capitalize(), groups) for kind, groups in by_kind.items() if groups]

    @cached_property
    def faults(self) -> KindResult:
        """All kinds together."""
        return _kind_result(None, "All faults", self._planted)

    @cached_property
    def sound(self) -> SoundResult:
        return _sound_result("Sound results refused", [group for group in self._generated if not group.kind])

    @cached_property
    def corrections(self) -> Corrections | None:
        """None if no case of a person was judged."""
        rejected, accepted = ([one for one in self.groups if one.met_by_person is is_met] for is_met in (False, True))
        if not (rejected or accepted):
            return None
        return Corrections(
            _kind_result(None, "Rejected by people", rejected), _sound_result("Accepted by people, refused", accepted)
        )

    @property
    def verdicts(self) -> int:
        return sum(group.verdicts for group in self.groups)

    @property
    def cost(self) -> Decimal | None:
        """USD of all cases; None if a call had no known price."""
        if any(group.unpriced for group in self.groups):
            return None
        return sum((group.cost for group in self.groups if group.cost is not None), Decimal(0))

    @property
    def cost_per_verdict(self) -> Decimal | None:
        return self.cost / self.verdicts if self.cost is not None and self.verdicts else None

    @property
    def ms_per_verdict(self) -> int | None:
        return round(sum(group.duration_ms for group in self.groups) / self.verdicts) if self.verdicts else None

    @cached_property
    def claims(self) -> list[tuple[float, bool]]:
        """How sure the verifier said it was of its own verdict on everything, and whether that verdict was right."""
        return [
            (group.confidence, group.claimed == (not group.kind))
            for group in self._generated
            if group.confidence is not None and group.claimed is not None
            for _ in range(group.cases)
        ]

    @cached_property
    def buckets(self) -> tuple[Bucket, ...]:
        return buckets_of(self.claims)

    @property
    def calibration_error(self) -> float | None:
        return expected_calibration_error(self.claims)

    @property
    def _generated(self) -> list[CaseGroup]:
        return [group for group in self.groups if group.met_by_person is None]

    @property
    def _planted(self) -> list[CaseGroup]:
        return [group for group in self.groups if group.kind]


def result_of(calibration: Calibration) -> CalibrationResult:
    """Its figures, in one query."""
    return results_of([calibration])[0]


def results_of(calibrations: Sequence[Calibration]) -> list[CalibrationResult]:
    """Their figures, in one query. Of thousands of cases, the database returns some dozens of groups."""
    cases = CalibrationCase.objects.filter(calibration__in=calibrations).order_by()
    rows = cases.values_list(
        "calibration", "kind", "met_by_person", "with_rules", "without_rules", "claimed", "confidence"
    ).annotate(
        Count("pk"),
        unpriced=Count("pk", filter=Q(cost_usd=None)),
        of_verdicts=Sum("verdicts"),
        of_cost=Sum("cost_usd"),
        of_duration=Sum("duration_ms"),
    )
    groups = defaultdict[int, list[CaseGroup]](list)
    for calibration, *columns in rows:
        groups[calibration].append(CaseGroup(*columns))
    return [CalibrationResult(one, groups[one.pk]) for one in calibrations]


@dataclass(frozen=True)
class CatchRate:
    """What the newest finished calibration of a verifier says in short. `figures`: of wrong figures alone. `server`:
    the address of its server, if the model was measured at several.
    """

    calibration: Calibration
    cases: int
    caught: Share
    figures: Share
    refused: Share
    server: str = ""

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
        model = f"{self.calibration.model} at {self.server}" if self.server else self.calibration.model
        day = f"{timezone.localtime(self.measured_at):%-d %b %Y}"
        measured = f"(calibrated {day}, {pluralize(self.cases, 'case')})"
        figures = "" if self.figures.value is None else f", {self.figures.value * 100:.0f} % of wrong figures"
        old = f" {self.outdated_by}" if self.is_old else ""
        return f"{model} catches {(self.caught.value or 0) * 100:.0f} % of planted faults{figures} {measured}.{old}"


def catch_rates(*models: str) -> list[CatchRate]:
    """The newest of `measured_rates` of each of these verifiers, or of all. Verifiers without one are missing."""
    newest: dict[tuple[str, str], CatchRate] = {}
    for rate in measured_rates(*models):
        newest.setdefault((rate.calibration.model, rate.calibration.address), rate)
    servers = Counter(model for model, _ in newest)
    return [replace(rate, server=address) if servers[model] > 1 else rate for (model, address), rate in newest.items()]


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
    own = _passes(row)
    has_cases = Exists(CalibrationCase.objects.filter(calibration=OuterRef("pk")))
    same_cases = Calibration.objects.filter(has_cases, seed=row.seed, prompt=row.prompt, rules=row.rules)
    newest: dict[tuple[str, str], Calibration] = {}
    for other in same_cases.exclude(model=row.model, address=row.address):
        # Databases cannot compare these columns.
        if (other.kinds, other.languages) == (row.kinds, row.languages):
            newest.setdefault((other.model, other.address), other)
    found = []
    for other in list(newest.values())[:MAX_COMPARED]:
        passes = _passes(other)
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


def _passes(calibration: Calibration) -> dict[int, bool]:
    """By the number of a generated case, whether it passed; without those that had no verdict."""
    judged = calibration.cases.filter(met_by_person=None).exclude(with_rules=CaseOutcome.NO_VERDICT)
    return {number: outcome not in _CAUGHT for number, outcome in judged.values_list("number", "with_rules")}


def _kind_result(kind: FaultKind | None, words: str, groups: Sequence[CaseGroup]) -> KindResult:
    return KindResult(
        kind=kind,
        words=words,
        caught=_share(groups, _CAUGHT),
        alone=_share(groups, _CAUGHT, rules=False),
        let_through=_share(groups, _SILENT),
        marked=_count(groups, _MARKED),
        no_verdict=_count(groups, _NONE),
    )


def _sound_result(words: str, groups: Sequence[CaseGroup]) -> SoundResult:
    return SoundResult(
        words=words,
        refused=_share(groups, _CAUGHT),
        alone=_share(groups, _CAUGHT, rules=False),
        marked=_count(groups, _MARKED),
        no_verdict=_count(groups, _NONE),
    )


def _share(groups: Sequence[CaseGroup], which: frozenset[CaseOutcome], *, rules: bool = True) -> Share:
    """The share of the cases with these outcomes. Cases without a verdict count as well: no verdict catches nothing."""
    return wilson(_count(groups, which, rules=rules), sum(group.cases for group in groups))


def _count(groups: Sequence[CaseGroup], which: frozenset[CaseOutcome], *, rules: bool = True) -> int:
    return sum(group.cases for group in groups if (group.with_rules if rules else group.without_rules) in which)
