"""Whether the verifiers of a policy were measured to catch as many planted faults as the policy asks for."""

from __future__ import annotations

from collections.abc import Sequence

from runs.accounting.intervals import Share
from runs.calibration.results import CatchRate, measured_rates
from runs.calibration.verifiers import settings_for
from runs.pev.policy import RULES, Policy
from runs.planted_faults.stored_contracts import VerifierSettings
from runs.text.percent import percent

_EFFORTS = ("low", "medium", "high")


def problem_with_verifiers(policy: Policy) -> str:
    """Why a verifier of this policy does not have the catch rate that it asks for, as a sentence; empty if all have it,
    or if none is asked for.

    What counts is the newest finished calibration with planted faults of all kinds that was made with the verifier's
    server, the prompt and the rules of today, and with settings that are no stricter than those of the policy. Of its
    planted faults the share counts that was refused with the rules, by the lower end of the 95 % interval: few cases
    prove little.
    """
    if policy.min_catch_rate is None:
        return ""
    problems = (_problem_with(model, policy, policy.min_catch_rate) for model in policy.verifiers)
    return next(filter(None, problems), "")


def _problem_with(model: str, policy: Policy, minimum: float) -> str:
    wanted = f"this policy asks for a verifier that catches at least {percent(minimum)} of planted faults"
    if model.startswith(RULES):
        return f"Offline rules stand in for the verifier, and {wanted}. Rules are not calibrated."
    asked, address = settings_for(policy, model)
    rates = measured_rates(model)
    current = next((one for one in rates if not _why_not(one, asked, address)), None)
    if current is None:
        why = _why_not(rates[0], asked, address) if rates else "It has not been calibrated with faults of all kinds."
        return f"“{model}” has no current calibration, and {wanted}. {why}"
    if current.caught.low >= minimum:
        return ""
    return f"“{model}” {_measured(current.caught)}, and {wanted}.{_too_few(current.caught, minimum)}"


def _why_not(rate: CatchRate, asked: VerifierSettings, address: str) -> str:
    """Why a calibration says nothing of a verifier that is asked like this, as a sentence; empty if it does."""
    row = rate.calibration
    measured = row.asked
    if row.address != address:
        return "Another server answers as the verifier now."
    if rate.is_old:
        return rate.outdated_by
    if measured.simple != asked.simple:
        return "It was asked in another form than runs ask it now."
    stricter: Sequence[bool] = (
        _EFFORTS.index(measured.effort) > _EFFORTS.index(asked.effort),
        measured.min_confidence > asked.min_confidence,
        measured.min_document_bytes > asked.min_document_bytes,
    )
    if any(stricter):
        return (
            f"It was calibrated with effort {measured.effort}, a minimum confidence of {measured.min_confidence:g} and "
            f"documents of at least {measured.min_document_bytes} bytes, and this policy asks for less."
        )
    return ""


def _measured(caught: Share) -> str:
    rate, low, high = map(percent, (caught.value or 0, caught.low, caught.high))
    return f"caught {caught.count} of {caught.total} planted faults ({rate}, 95 % interval from {low} to {high})"


def _too_few(caught: Share, minimum: float) -> str:
    """What to do if the rate itself is high enough."""
    if (caught.value or 0) < minimum:
        return ""
    return f" That is too few cases to prove {percent(minimum)}: have it calibrated with more planted faults."
