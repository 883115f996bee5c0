"""Verification: first the checks, then a model that must quote, then the judgement, which code computes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runs.contracts.base import MAX_EVIDENCE
from runs.contracts.ports import Model
from runs.enums import About, Action, Provenance, Severity
from runs.errors import NoVerdict
from runs.evidence.results import (
    CriterionResult,
    Evidence,
    Judgement,
    RequestResult,
    all_pass,
    critique_head,
    not_traced,
)
from runs.pev.contracts import Criterion, CriterionAnswer, VerifierAnswer
from runs.pev.verification import requests
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.grounding import NO_STATEMENT, NOT_OF_OUTPUT, NOT_OUTSIDE, supports
from runs.pev.verification.prechecks import decided_by_code, in_order, undecided
from runs.pev.verification.questions import UNTRACED
from runs.pev.verification.requests import ResultChange
from runs.pev.verification.sampling import sample_of
from runs.pev.verification.search import Search
from runs.pev.verification.verdicts import AtOnce, OneByOne, by_label_of
from runs.text.truncate import quoted

REVIEW = Criterion(
    text="The result does what the step is to do, and nothing in it contradicts the documents it rests on.",
    about=About.OUTPUT,
)
"""The instruction for a step whose criteria are all decided by checks, which see only what they look for."""


_QUOTE_EACH = "quote something for each of them."
_REST = "look at these places. If one of them lacks what the criterion asks for, the criterion has not passed."
"""The instruction to a verifier about units without evidence."""


def judge(model: Model, case: VerificationInput, again: Sequence[tuple[Model, str]] = ()) -> Judgement:
    """The judgement of a case. A model is asked only when no check failed and a criterion is left (T2). `again`: the
    conversations in which it is asked from the beginning, in this order, while there is no usable answer, each with the
    name of the model.

    Raises NoVerdict when the verifier gives no usable answer, ModelError when it gives none, TimeUsedUp.
    """
    judgement = _judgement(model, case, again)
    feedback = judgement.feedback
    if not judgement.passed and (sentence := not_traced(case.untraced, UNTRACED)):
        feedback = f"{feedback}\n{sentence}"
    return judgement.model_copy(update={"untraced": list(case.untraced), "feedback": feedback})


def _judgement(model: Model, case: VerificationInput, again: Sequence[tuple[Model, str]]) -> Judgement:
    labels = case.labelled
    decided = decided_by_code(case, labels)
    if not all(result.passed for result in decided):
        return _from_checks(in_order([*decided, *undecided(labels)]))
    asked = "\n".join(request.words for request in case.requests)
    changes = [ResultChange(request, case.files, case.output, asked) for request in case.requests]
    if pasted := requests.pasted(changes):
        return _from_checks(in_order([*decided, *undecided(labels)]), pasted)
    to_judge = {label: criterion for label, criterion in labels.items() if not criterion.check}
    if case.review and not to_judge:
        to_judge = {"M1": REVIEW}
    if not to_judge and not changes:
        return _from_checks(decided)
    for following, name in again:
        try:
            return _with_model(model, case, decided, to_judge, changes)
        except NoVerdict:
            model, case = following, replace(case, model=name)
    return _with_model(model, case, decided, to_judge, changes)


def _with_model(
    model: Model,
    case: VerificationInput,
    checked: list[CriterionResult],
    labels: Mapping[str, Criterion],
    changes: Sequence[ResultChange],
) -> Judgement:
    verifier = (OneByOne if case.simple else AtOnce)(model, case, labels, changes)
    answer, read_as = verifier.verdict()
    results, answers = _judge_criteria(answer, case, labels), _judge_requests(answer, case, changes)
    notes = list(read_as)
    if doubts := _doubts(results, answers, most=1 if case.simple else MAX_EVIDENCE):
        answer, read_as = verifier.verdict_again(doubts)
        results = [_better_of(*both) for both in zip(results, _judge_criteria(answer, case, labels), strict=True)]
        answers = [
            requests.settled(*both) for both in zip(answers, _judge_requests(answer, case, changes), strict=True)
        ]
        notes += read_as
        notes.append("Some evidence did not prove what it should prove; the verifier was asked for it once more.")
    return _compute_verdict(answer, in_order([*checked, *results]), answers, notes)


def _doubts(results: Sequence[CriterionResult], answers: Sequence[RequestResult], *, most: int) -> dict[str, str]:
    """What is wrong, or may be, with the evidence of what is said to have passed, by its label. For a criterion about
    each of several things, the evidence that is missing is asked for if `most` quotes have room for it.
    """
    doubted: list[CriterionResult | RequestResult] = [
        *(one for one in results if one.claimed and (not one.supported or one.weak or _unstated(one))),
        *(one for one in answers if one.unproved),
    ]
    found = {one.label: " ".join([one.feedback, *(_doubt(item) for item in one.evidence)]).strip() for one in doubted}
    few = [one for one in results if one.uncounted and (one.lacking or 0 < one.out_of <= most)]
    return {one.label: f"{one.sample}; {_REST if one.lacking else _QUOTE_EACH}" for one in few} | found


def _unstated(result: CriterionResult) -> int:
    """How many pieces of its evidence do not name the statement that they support, so that the answer goes back
    (T1b).
    """
    return sum(1 for item in result.evidence if item.weak == NO_STATEMENT)


def _doubt(evidence: Evidence) -> str:
    return f"{evidence.sentence}, but {evidence.weak}." if evidence.weak else f"{evidence.sentence}."


def _better_of(first: CriterionResult, second: CriterionResult) -> CriterionResult:
    """When asked again, a verifier may give better evidence or withdraw a pass. It cannot turn a failure into a
    pass.
    """
    if not first.claimed:
        return first
    sound = second.supported and not second.weak
    better = not first.supported or (first.weak and sound)
    more = sound and second.looked_at > first.looked_at
    stated = sound and second.looked_at == first.looked_at and _unstated(second) < _unstated(first)
    return second if better or more or stated or not second.claimed else first


def _compute_verdict(
    answer: VerifierAnswer, results: list[CriterionResult], answers: list[RequestResult], notes: list[str]
) -> Judgement:
    """T3: the pass is computed. If a model says otherwise, it is overruled, and that is recorded."""
    passed = _passed(results, answers)
    if answer.overall_pass and not passed:
        notes.append("The verifier said that everything passed; its own results or their evidence say otherwise.")
    if not answer.overall_pass and passed:
        notes.append("The verifier said that it failed, yet every criterion passed with verified evidence.")
    action = Action.PASS if passed else (Action.RETRY if answer.action is Action.PASS else answer.action)
    return Judgement(
        stage="model",
        results=results,
        passed=passed,
        action=action,
        severity=Severity.MINOR if passed else answer.severity,
        feedback="" if passed else _feedback(results, answers, answer.feedback_for_executor),
        notes=notes,
        requests=answers,
    )


def _passed(results: Sequence[CriterionResult], answers: Sequence[RequestResult]) -> bool:
    """Whether every criterion is met and no request of a person is known to be unmet (T7)."""
    return all_pass(results) and all(answer.status != "not_met" for answer in answers)


def _from_checks(results: list[CriterionResult], answers: Sequence[RequestResult] = ()) -> Judgement:
    passed = _passed(results, answers)
    return Judgement(
        stage="checks",
        results=results,
        passed=passed,
        action=Action.PASS if passed else Action.RETRY,
        severity=Severity.MINOR if passed else Severity.MAJOR,
        feedback="" if passed else _feedback(results, answers, ""),
        notes=[],
        requests=list(answers),
    )


def failed(
    sentence: str,
    *,
    action: Action = Action.RETRY,
    notes: Sequence[str] = (),
    requests: Sequence[RequestResult] = (),
) -> Judgement:
    """The judgement of an attempt that failed before it was judged, or was judged before, with the same `requests`."""
    return Judgement(
        stage="checks",
        results=[],
        passed=False,
        action=action,
        severity=Severity.MAJOR,
        feedback=sentence,
        notes=list(notes),
        requests=list(requests),
    )


def _judge_criteria(
    answer: VerifierAnswer, case: VerificationInput, labels: Mapping[str, Criterion]
) -> list[CriterionResult]:
    by_label = by_label_of(answer)
    return [_judge_criterion(label, criterion, by_label[label], case) for label, criterion in labels.items()]


def _judge_requests(
    answer: VerifierAnswer, case: VerificationInput, changes: Sequence[ResultChange]
) -> list[RequestResult]:
    by_label, wanted = by_label_of(answer), case.min_verifier_confidence
    return [requests.judged(change, by_label[change.request.label], wanted) for change in changes]


def _judge_criterion(
    label: str, criterion: Criterion, given: CriterionAnswer, case: VerificationInput
) -> CriterionResult:
    topic = REVIEW if case.nothing_to_do else criterion  # that nothing was found supports no words of a result
    evidence = case.examiner.examined_for(topic, given.evidence)
    supported = given.passed and supports(criterion, evidence)
    if case.searched and supported:
        evidence = _with_search(case.searched, evidence)
    sample = sample_of(criterion, evidence, case) if supported else None
    sure = given.confidence >= case.min_verifier_confidence
    feedback = given.feedback
    if given.passed and not supported:
        nothing = "Unsupported: no passage that was quoted for it is in its source."
        elsewhere = NOT_OF_OUTPUT if criterion.topic is About.OUTPUT else NOT_OUTSIDE
        feedback = elsewhere if any(item.verified for item in evidence) else nothing
    elif supported and not sure:
        wanted = f"{case.min_verifier_confidence:.0%}"
        feedback = f"The verifier was only {given.confidence:.0%} sure; this run asks for {wanted}."
    return CriterionResult(
        label=label,
        text=criterion.text,
        decided_by="model",
        claimed=given.passed,
        supported=supported,
        passed=supported and sure,
        confidence=given.confidence,
        feedback=feedback,
        evidence=evidence,
        about=criterion.topic,
        each=sample is not None,
        looked_at=sample.seen if sample else 0,
        out_of=sample.of if sample else 0,
        unit=sample.unit if sample else "",
        lacking=sample.lacking if sample else "",
    )


def _with_search(search: Search, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence that a step does not apply, with the server's own search. What that has found makes all of it
    doubtful: someone has to say whether it is what the step is about (T10).
    """
    own = Evidence(
        kind="check", source="", verified=True, sentence=search.sentence, provenance=Provenance.GIVEN, weak=search.doubt
    )
    return [*(one.model_copy(update={"weak": one.weak or search.doubt}) for one in evidence), own]


def _feedback(results: Sequence[CriterionResult], answers: Sequence[RequestResult], overall: str) -> str:
    failed = [
        (result.label, result.text, result.feedback + result.printed)
        for result in results
        if not result.passed and result.decided_by != "nobody"
    ]
    failed += [(one.label, quoted(one.text), one.feedback) for one in answers if one.status == "not_met"]
    lines = [f"{critique_head(label, text)}{said}" for label, text, said in failed if said.strip() not in overall]
    return "\n".join(([overall.strip()] if overall.strip() else []) + lines)
