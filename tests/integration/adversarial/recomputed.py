"""A second opinion on a run: evidence and outcome from the raw rows, with none of the product's own judging."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.files.storage import storages
from pydantic import BaseModel

from runs.models import Attempt, Plan, Run, Step, ToolCall, Tree, Verdict

type Row = Mapping[str, Any]
RANK = {"failed": 0, "cancelled": 0, "partial": 1, "succeeded": 2}


@dataclass(frozen=True)
class Sources:
    """What may be quoted: digests of files by path, and what was said, by `@output` and `@tool-N`.

    `own`: what the executor had put into each tool, which cannot come out of it as evidence.
    """

    files: Mapping[str, str]
    said: Mapping[str, str]
    own: Mapping[str, str] = field(default_factory=dict)

    def data(self, name: str) -> bytes | None:
        if name in self.said:
            return self.said[name].encode()
        return blob(self.files[name]) if name in self.files else None


def blob(sha256: str) -> bytes:
    with storages["blobs"].open(f"{sha256[:2]}/{sha256[2:]}") as file:
        return bytes(file.read())


def files_in(tree: Tree, changes: Row | None = None) -> dict[str, str]:
    """Path to digest."""
    merged = {**(tree.root.changes if tree.root else {}), **tree.changes, **(changes or {})}
    return {path: entry[0] for path, entry in merged.items() if entry}


def sources_of(attempt: Attempt) -> Sources:
    calls = ToolCall.objects.filter(attempt=attempt, generation=attempt.work.generation).order_by("ordinal")
    said = {f"@tool-{number}": call.result for number, call in enumerate(calls, 1)}
    own = {f"@tool-{number}": json.dumps(call.arguments, ensure_ascii=False) for number, call in enumerate(calls, 1)}
    assert attempt.output is not None
    findings = attempt.output.findings
    return Sources(files_in(attempt.base, attempt.overlay), {**said, "@output": findings}, own)


def raw(contracts: Sequence[BaseModel]) -> list[Row]:
    """As they lie in the row: what is recomputed uses none of the product's own properties."""
    return [contract.model_dump(mode="json") for contract in contracts]


def folded(text: str) -> str:
    return " ".join(text.split())


def stands(evidence: Row, sources: Sources) -> bool:
    """Whether a quote occurs in the bytes that its digest names, at the place that it names."""
    data = sources.data(evidence["source"])
    if data is None or not evidence["verified"] or hashlib.sha256(data).hexdigest() != evidence["sha256"]:
        return False
    text = data.decode("utf-8-sig")
    start, end = evidence["start"], evidence["end"]
    return (
        len(re.findall(r"\w", evidence["quote"])) >= 3
        and folded(evidence["quote"]) in folded(text)
        and folded(text[start:end]) == folded(evidence["quote"])
        and text[:start].count("\n") + 1 == evidence["line"]
        and folded(evidence["quote"]) not in folded(sources.own.get(evidence["source"], ""))
    )


def holds(check: Row, sources: Sources) -> bool:
    """A check, done again in the plainest way. Kinds that no adversary uses are an error."""
    data = sources.data(check["path"])
    if data is None:
        return False
    text = data.decode(errors="replace")
    match check["kind"]:
        case "file_exists":
            return True
        case "min_bytes":
            return len(data) >= int(check["min"])
        case "contains":
            return folded(check["text"]) in folded(text)
        case "no_placeholders":
            return not re.search(r"TODO|TBD|FIXME|lorem ipsum", text, re.IGNORECASE)
        case kind:
            raise AssertionError(f"no second opinion on {kind}")


def all_hold(results: Sequence[Row], criteria: Sequence[Row], sources: Sources) -> bool:
    """Whether each criterion has exactly one result, which passed by its check or by a quote that stands."""
    by_label: dict[str, list[Row]] = {}
    for result in results:
        by_label.setdefault(result["label"], []).append(result)
    wanted = {f"C{number}": criterion for number, criterion in enumerate(criteria, 1)}
    if not wanted or set(by_label) != set(wanted):
        return False
    return all(
        len(given := by_label[label]) == 1 and given[0]["passed"] and proven(given[0], criterion, sources)
        for label, criterion in wanted.items()
    )


def proven(result: Row, criterion: Row, sources: Sources) -> bool:
    if criterion["check"]:
        return result["decided_by"] == "check" and holds(criterion["check"], sources)
    return any(e["kind"] == "quote" and e["verified"] and stands(e, sources) for e in result["evidence"])


def attempt_passes(attempt: Attempt) -> bool:
    verdict: Verdict | None = getattr(attempt, "verdict", None)
    if verdict is None or not attempt.output or attempt.output.status != "done":
        return False
    sources, spec = sources_of(attempt), attempt.step.spec
    written = [sources.data(path) for path in spec.outputs]
    whole = all(data and data.decode(errors="replace").strip() for data in written)
    return whole and all_hold(raw(verdict.results), raw(spec.acceptance_criteria), sources)


def step_passes(step: Step) -> bool:
    attempt = step.reused_from or step.attempts.order_by("-number").first()
    return step.status == "passed" and attempt is not None and attempt_passes(attempt)


def best_outcome(run: Run) -> str:
    """The best that the rows allow to say of a run that has ended."""
    plan = run.plans.order_by("-version").first()
    steps = list(plan.steps.all()) if plan else []
    settled = [step.status in {"passed", "accepted"} for step in steps]
    if run.failure or plan is None or not (any(settled) if run.ended else settled and all(settled)):
        return "failed"
    if not any(step.status == "passed" or kept_by_person(step) for step in steps):
        return "failed"
    if run.ended or asks_less(run):
        return "partial"
    sources = Sources(files_in(run.head), {"@output": run.answer})
    met = all_hold(raw(run.final.results if run.final else []), raw(plan.header.success_criteria), sources)
    return "succeeded" if met and run.answer.strip() and all(map(step_passes, steps)) else "partial"


def kept_by_person(step: Step) -> bool:
    """Whether somebody accepted it at its gate, with a file that the plan had asked for."""
    attempt = step.reused_from or step.attempts.order_by("-number").first()
    if attempt is None or step.status != "accepted":
        return False
    accepted = attempt.gates.filter(kind="exhausted", status="approved", decided_how__in=["person", "terminal"])
    return accepted.exists() and any(attempt.overlay.get(path) for path in step.spec.outputs)


def asks_less(run: Run) -> bool:
    """Whether the newest version lacks a criterion of the one that was agreed to, and no person said yes to that."""
    approved = list(run.plans.exclude(approved_how="").order_by("version"))
    if not approved or approved[-1].approved_how == "person":
        return False
    agreed = next((plan for plan in reversed(approved) if plan.approved_how == "person"), approved[0])
    passed = Step.objects.filter(plan__run=run, status="passed")
    return not wordings(agreed) <= wordings(approved[-1]).union(*(wordings_of(step) for step in passed))


def wordings(plan: Plan) -> set[str]:
    asked = {folded(criterion.text) for criterion in plan.header.success_criteria}
    return asked.union(*(wordings_of(step) for step in plan.steps.all()))


def wordings_of(step: Step) -> set[str]:
    return {folded(criterion.text) for criterion in step.spec.acceptance_criteria}


def false_evidence(run: Run) -> list[Row]:
    """Every piece that is marked as verified and is not, in any verdict of any version and in the final one."""
    found: list[Row] = []
    for attempt in Attempt.objects.filter(step__plan__run=run, verdict__isnull=False, output__isnull=False):
        found += _false(raw(attempt.verdict.results), raw(attempt.step.spec.acceptance_criteria), sources_of(attempt))
    plan = run.plans.order_by("-version").first()
    if plan and run.final:
        sources = Sources(files_in(run.head), {"@output": run.answer})
        found += _false(raw(run.final.results), raw(plan.header.success_criteria), sources)
    return found


def _false(results: Sequence[Row], criteria: Sequence[Row], sources: Sources) -> list[Row]:
    found = []
    for result in results:
        label = result["label"]
        criterion = criteria[int(label[1:]) - 1] if label[0] == "C" else None
        true = [evidence for evidence in result["evidence"] if evidence["verified"]]
        found += [evidence for evidence in true if not _true(evidence, criterion, sources)]
        if result["passed"] and not true:
            found.append(result)
    return found


def _true(evidence: Row, criterion: Row | None, sources: Sources) -> bool:
    if evidence["kind"] == "quote":
        return stands(evidence, sources)
    return criterion is not None and bool(criterion["check"]) and holds(criterion["check"], sources)
