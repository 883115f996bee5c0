"""Owns how a judgement is shown: each criterion with its evidence, and where that evidence stands."""

from collections.abc import Iterable
from dataclasses import dataclass

from runs.models import Verdict
from runs.pev.results import CriterionResult, Evidence
from runs.reports.build import file_href


@dataclass(frozen=True)
class EvidenceView:
    """`where` names source and line for people; `url` leads to the very place, empty where there is none."""

    verified: bool
    check: bool
    sentence: str
    quote: str
    where: str
    url: str


@dataclass(frozen=True)
class CriterionView:
    """`claimed`: the verifier said it passed; without `supported` that counts for nothing (T1)."""

    label: str
    text: str
    decided_by: str
    passed: bool
    claimed: bool
    supported: bool
    confidence: float
    feedback: str
    evidence: tuple[EvidenceView, ...]

    @property
    def status(self) -> str:
        if self.passed:
            return "passed"
        if self.decided_by == "nobody":
            return "not judged"
        return "unsupported" if self.claimed and not self.supported else "failed"


@dataclass(frozen=True)
class VerdictView:
    """`notes` tell where code overruled the verifier (T3)."""

    passed: bool
    stage: str
    action: str
    severity: str
    feedback: str
    notes: tuple[str, ...]
    results: tuple[CriterionView, ...]

    @property
    def met(self) -> int:
        return sum(1 for result in self.results if result.passed)


def verdict_view(run_id: int, verdict: Verdict, said_at: str, prefix: str) -> VerdictView:
    """`said_at` is the page that shows findings and tool results; `prefix` that of their anchors there."""
    return VerdictView(
        passed=verdict.passed,
        stage=verdict.stage,
        action=verdict.action,
        severity=verdict.severity,
        feedback=verdict.feedback,
        notes=tuple(verdict.notes),
        results=criteria(run_id, verdict.results, said_at, prefix),
    )


def criteria(run_id: int, results: Iterable[CriterionResult], said_at: str, prefix: str) -> tuple[CriterionView, ...]:
    """Results as a page shows them."""
    return tuple(
        CriterionView(
            label=result.label,
            text=result.text,
            decided_by=result.decided_by,
            passed=result.passed,
            claimed=result.claimed,
            supported=result.supported,
            confidence=result.confidence,
            feedback=result.feedback,
            evidence=tuple(_evidence(run_id, item, said_at, prefix) for item in result.evidence),
        )
        for result in results
    )


def _evidence(run_id: int, item: Evidence, said_at: str, prefix: str) -> EvidenceView:
    return EvidenceView(
        verified=item.verified,
        check=item.kind == "check",
        sentence=item.sentence,
        quote=item.quote,
        where=_where(item),
        url=_url(run_id, item, said_at, prefix),
    )


def _where(item: Evidence) -> str:
    names = {"@output": "findings"}
    name = names.get(item.source, item.source)
    if item.source.startswith("@tool-"):
        name = f"result of tool call {item.source.removeprefix('@tool-')}"
    return f"{name}, line {item.line}" if item.line else name


def _url(run_id: int, item: Evidence, said_at: str, prefix: str) -> str:
    if item.source.startswith("@"):
        return f"{said_at}#{prefix}{item.source[1:]}" if item.verified else ""
    if not item.sha256:
        return ""
    return file_href(run_id, item.source, item.sha256, item.start, item.end)
