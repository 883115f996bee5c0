"""Calibrations with results, as if a verifier had judged their cases."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from runs.calibration.calibrations import address_of, prompt_and_rules
from runs.enums import CalibrationStatus, CaseOutcome, FaultKind, Language
from runs.models import Calibration, CalibrationCase
from runs.planted_faults.cases import case_count, case_of
from runs.planted_faults.stored_contracts import VerifierSettings
from runs.planted_faults.trial import RULES_VERSION

KINDS = [FaultKind.WRONG_FIGURE, FaultKind.STUB]


def stored_calibration(
    model: str = "claude-haiku-5-5", *, size: int = 10, missed: int = 1, judged: int | None = None, **values: Any
) -> Calibration:
    """The verifier lets the first `missed` faults through, refuses no sound result, and is 90 % sure each time."""
    calibration = Calibration.objects.create(
        **{
            "model": model,
            "address": address_of(model),
            "prompt": prompt_and_rules(),
            "rules": RULES_VERSION,
            "asked": VerifierSettings(model=model),
            "size": size,
            "kinds": KINDS,
            "languages": list(Language),
            "seed": 1,
            "status": CalibrationStatus.FINISHED,
            "ended_at": timezone.now(),
            "spent_usd": "0.05",
            **values,
        }
    )
    rows = []
    for number in range(case_count(size) if judged is None else judged):
        case = case_of(number, calibration.kinds, calibration.languages, calibration.seed)
        passes = case.kind is None or number < 2 * missed
        outcome = CaseOutcome.PASSED if passes else CaseOutcome.REFUSED
        row = CalibrationCase(
            calibration=calibration,
            number=number,
            kind=case.kind or "",
            language=case.language,
            with_rules=outcome,
            without_rules=outcome,
            claimed=passes,
            confidence=0.9,
            verdicts=2,
            calls=2,
            cost_usd="0.002",
            duration_ms=2_400,
        )
        rows.append(row)
    CalibrationCase.objects.bulk_create(rows)
    return calibration
