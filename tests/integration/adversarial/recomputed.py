"""A second opinion on a run: evidence and outcome from the raw rows, with none of the product's own judging."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from runs.models import Attempt, Gate, Plan, Run, Step, Verdict
from tests.integration.adversarial.plainly import broken_citations, holds, rests_outside, topic_of
from tests.integration.adversarial.rawsources import (
    OUTSIDE,
    Row,
    Sources,
    blob,
    decoded,
    files_in,
    final_sources,
    folded,
    lines_shown,
    sources_of,
)

RANK = {"failed": 0, "cancelled": 0, "partial": 1, "succeeded": 2}


def raw(contracts: Sequence[BaseModel]) -> list[Row]:
    """As they lie in the row: what is recomputed uses none of the product's own properties."""
    return [contract.model_dump(mode="json") for contract in contracts]


def stands(evidence: Row, sources: Sources) -> bool:
    """Whether a quote occurs in the bytes that its digest names, at the place that it names, in the words of whom it
    says, and so the statement that it is to support.
    """
    name, data, text = evidence["source"], sources.data(evidence["source"]), sources.text(evidence["source"])
    if data is None or text is None or not evidence["verified"]:
        return False
    start, end = evidence["start"], evidence["end"]
    return (
        hashlib.sha256(data).hexdigest() == evidence["sha256"]
        and len(re.findall(r"\w", evidence["quote"])) >= 3
        and folded(evidence["quote"]) in folded(text)
        and folded(text[start:end]) == folded(evidence["quote"])
        and text[:start].count("\n") + 1 == evidence["line"]
        and folded(evidence["quote"]) not in folded(sources.own.get(name, ""))
        and evidence["provenance"] == sources.provenance(name, evidence["quote"])
        and states(evidence, sources)
    )


def states(evidence: Row, sources: Sources) -> bool:
    """Whether the result has the words that a quote is said to support, where it is said to have them."""
    if not evidence["statement"]:
        return True
    text = sources.text(evidence["statement_in"]) or ""
    return folded(text[evidence["statement_start"] : evidence["statement_end"]]) == folded(evidence["statement"])


def outside(evidence: Row, criterion: Row, sources: Sources) -> bool:
    """T1a: whether it rests on something that no model of the run wrote."""
    if evidence["kind"] == "check":
        return bool(criterion["check"]) and rests_outside(criterion["check"], sources)
    if sources.provenance(evidence["source"], evidence["quote"]) in OUTSIDE:
        return True
    path = evidence["cites"].partition(",")[0].partition("#")[0]
    return path in sources.given and path in (sources.text(evidence["source"]) or "")


def all_hold(results: Sequence[Row], criteria: Sequence[Row], sources: Sources) -> bool:
    """Whether each criterion has exactly one result, which passed by its check or by a quote that stands."""
    by_label: dict[str, list[Row]] = {}
    for result in results:
        by_label.setdefault(result["label"], []).append(result)
    wanted = {f"C{number}": criterion for number, criterion in enumerate(criteria, 1)}
    if not wanted or set(by_label) - {"M1"} != set(wanted):
        return False
    return all(
        len(given := by_label[label]) == 1 and given[0]["passed"] and proven(given[0], criterion, sources)
        for label, criterion in wanted.items()
    )


def proven(result: Row, criterion: Row, sources: Sources) -> bool:
    if criterion["check"]:
        enough = topic_of(criterion) == "output" or rests_outside(criterion["check"], sources)
        return result["decided_by"] == "check" and enough and holds(criterion["check"], sources)
    standing = [e for e in result["evidence"] if e["kind"] == "quote" and e["verified"] and stands(e, sources)]
    return any(topic_of(criterion) == "output" or outside(e, criterion, sources) for e in standing)


def attempt_passes(attempt: Attempt) -> bool:
    verdict: Verdict | None = getattr(attempt, "verdict", None)
    if verdict is None or not attempt.output or attempt.output.status == "blocked":
        return False
    if attempt.output.status == "not_applicable":
        return not attempt.overlay and nothing_to_do(raw(verdict.results), sources_of(attempt))
    sources, spec = sources_of(attempt), attempt.step.spec
    written = [sources.data(f"@result/{path}") for path in spec.outputs]
    whole = all(data and data.decode(errors="replace").strip() for data in written)
    return whole and all_hold(raw(verdict.results), raw(spec.acceptance_criteria), sources)


def nothing_to_do(results: Sequence[Row], sources: Sources) -> bool:
    """Whether a passage from outside the run shows it, and nothing else was judged."""
    about = {"check": None, "about": "sources"}
    return [result["label"] for result in results] == ["N1"] and proven(results[0], about, sources)


def step_passes(step: Step) -> bool:
    attempt = attempt_of(step)
    if attempt is None or not attempt.output:
        return False
    wanted = "not_applicable" if attempt.output.status == "not_applicable" else "passed"
    return step.status == wanted and attempt_passes(attempt)


def attempt_of(step: Step) -> Attempt | None:
    return step.reused_from or step.attempts.order_by("-number").first()


def best_outcome(run: Run) -> str:
    """The best that the rows allow to say of a run that has ended."""
    plan = run.plans.order_by("-version").first()
    steps = list(plan.steps.all()) if plan else []
    settled = [step.status in {"passed", "accepted", "not_applicable"} for step in steps]
    if run.failure or plan is None or not (any(settled) if run.ended else settled and all(settled)):
        return "failed"
    if not any(step.status == "passed" or kept_by_person(step) for step in steps):
        return "failed"
    if run.ended or asks_less(run) or unread(run, plan) or unmet_requests(run) or misleads(run):
        return "partial"
    if not grounded(run, plan):
        return "partial"
    sources = final_sources(run)
    met = all_hold(raw(run.final.results if run.final else []), raw(plan.header.success_criteria), sources)
    return "succeeded" if met and run.answer.strip() and all(map(step_passes, steps)) else "partial"


def grounded(run: Run, plan: Plan) -> bool:
    """T9: whether a criterion that was met rests on more than the run's own words, or nobody wants that."""
    return not run.policy.sources_needed or any(
        proven(result, criterion, sources) and any(outside(e, criterion, sources) for e in true_ones(result))
        for result, criterion, sources in judged(run, plan)
        if result["passed"] and criterion
    )


def judged(run: Run, plan: Plan) -> Iterator[tuple[Row, Row | None, Sources]]:
    """Each result of the steps that passed and of the final verdict, with its criterion."""
    for step in plan.steps.filter(status="passed"):
        attempt = attempt_of(step)
        if attempt:
            criteria = raw(attempt.step.spec.acceptance_criteria)
            for result in raw(attempt.verdict.results):
                yield result, criterion_of(result, criteria), sources_of(attempt)
    for result in raw(run.final.results if run.final else []):
        yield result, criterion_of(result, raw(plan.header.success_criteria)), final_sources(run)


def unread(run: Run, plan: Plan) -> list[str]:
    """T6: files that are no text, and those that the plan gives its steps of which nobody was shown a line."""
    seen, found = lines_shown(run), []
    patterns = [step.spec.inputs for step in plan.steps.all()]
    for path, digest in files_in(run.inputs).items():
        if any(means(pattern, path) for pattern in run.excluded or ()):
            continue
        text = decoded(blob(digest))
        meant = not all(patterns) or any(means(pattern, path) for each in patterns for pattern in each)
        if text is None or (text and meant and run.policy.sources_needed and digest not in seen):
            found.append(path)
    return found


def means(pattern: str, path: str) -> bool:
    folder = f"{pattern.rstrip('/')}/"
    return path == pattern or path.startswith(folder) or fnmatch.fnmatchcase(path, pattern)


def misleads(run: Run) -> list[str]:
    """T8: the broken citations of what is delivered: of the answer, and of the Markdown files that the run wrote."""
    sources = final_sources(run)
    wrote = {path for path, digest in sources.files.items() if sources.given.get(path) != digest}
    texts = [run.answer, *(sources.text(f"@result/{path}") or "" for path in wrote if path.endswith(".md"))]
    return [quote for text in texts for quote in broken_citations(text, sources)]


def unmet_requests(run: Run) -> list[str]:
    """T7: what people asked for when they rejected a result, and neither got in words that are not their own nor saw
    at a later gate.
    """
    found = []
    for gate in run.gates.filter(request__isnull=False, step__isnull=False).select_related("step"):
        again = Attempt.objects.filter(step__plan__run=run, pk__gt=gate.attempt_id)
        last = again.filter(step__key=gate.step and gate.step.key).last()
        judged_ones = raw(last.verdict.requests) if last and hasattr(last, "verdict") else []
        result = next((one for one in judged_ones if one["number"] == gate.request), None)
        status = "not_met" if result is None or echoes(result, gate.reason) else result["status"]
        if status == "not_met" or (status != "met" and not seen_after(gate)):
            found.append(gate.reason)
    return found


def seen_after(gate: Gate) -> bool:
    later = gate.run.gates.filter(kind="step", status="approved", pk__gt=gate.pk)
    return later.filter(decided_how__in=["person", "terminal"]).exists()


def echoes(result: Row, request: str) -> bool:
    """Whether all that proves that a request is met are its own words."""
    quotes = [evidence["quote"] for evidence in result["evidence"] if evidence["verified"]]
    asked = set(re.findall(r"\w+", request.casefold()))
    return bool(quotes) and all(set(re.findall(r"\w+", quote.casefold())) <= asked for quote in quotes)


def kept_by_person(step: Step) -> bool:
    """Whether somebody accepted it at its gate, with a file that the plan had asked for."""
    attempt = attempt_of(step)
    if attempt is None or step.status != "accepted":
        return False
    accepted = attempt.gates.filter(kind="exhausted", status="approved", decided_how__in=["person", "terminal"])
    return accepted.exists() and any(attempt.overlay.get(path) for path in step.spec.outputs)


def asks_less(run: Run) -> bool:
    """Whether the newest version lacks a criterion of the one that was agreed to, or asks no more that it be true of
    the sources, and no person said yes to that.
    """
    approved = list(run.plans.exclude(approved_how="").order_by("version"))
    if not approved or approved[-1].approved_how == "person":
        return False
    agreed = next((plan for plan in reversed(approved) if plan.approved_how == "person"), approved[0])
    passed = Step.objects.filter(plan__run=run, status="passed")
    return not wordings(agreed) <= wordings(approved[-1]).union(*(wordings_of(step) for step in passed))


def wordings(plan: Plan) -> set[str]:
    asked = {wording(criterion) for criterion in raw(plan.header.success_criteria)}
    return asked.union(*(wordings_of(step) for step in plan.steps.all()))


def wordings_of(step: Step) -> set[str]:
    return {wording(criterion) for criterion in raw(step.spec.acceptance_criteria)}


def wording(criterion: Row) -> str:
    return f"{folded(criterion['text'])} (about the {topic_of(criterion)})"


def false_evidence(run: Run) -> list[Row]:
    """Every piece that is marked as verified and is not, in any verdict of any version and in the final one."""
    found: list[Row] = []
    for attempt in Attempt.objects.filter(step__plan__run=run, verdict__isnull=False, output__isnull=False):
        found += _false(raw(attempt.verdict.results), raw(attempt.step.spec.acceptance_criteria), sources_of(attempt))
    plan = run.plans.order_by("-version").first()
    if plan and run.final:
        found += _false(raw(run.final.results), raw(plan.header.success_criteria), final_sources(run))
    return found


def criterion_of(result: Row, criteria: Sequence[Row]) -> Row | None:
    label = result["label"]
    return criteria[int(label[1:]) - 1] if label[0] == "C" else None


def true_ones(result: Row) -> list[Row]:
    return [evidence for evidence in result["evidence"] if evidence["verified"]]


def _false(results: Sequence[Row], criteria: Sequence[Row], sources: Sources) -> list[Row]:
    found = []
    for result in results:
        criterion = criterion_of(result, criteria)
        found += [evidence for evidence in true_ones(result) if not _true(evidence, criterion, sources)]
        if result["passed"] and not (proven(result, criterion, sources) if criterion else true_ones(result)):
            found.append(result)
    return found


def searched(evidence: Row, sources: Sources) -> bool:
    """Whether the words that code has searched for stand in no given file, or what was found makes it doubtful."""
    words = re.findall("“([^”]+)”", evidence["sentence"].partition(" searched for in ")[0])
    given = [name for name in sources.given if evidence["weak"] == ""]
    return not any(
        word.casefold() in f"{name}\n{sources.text(name) or ''}".casefold() for word in words for name in given
    )


def _true(evidence: Row, criterion: Row | None, sources: Sources) -> bool:
    if evidence["kind"] == "quote":
        return stands(evidence, sources)
    if criterion is None:
        return searched(evidence, sources)
    return criterion is not None and bool(criterion["check"]) and holds(criterion["check"], sources)
