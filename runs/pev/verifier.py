"""Verification: checks first, then a model that must quote, then the judgement that code computes."""

from collections.abc import Iterator, Mapping, Sequence, Set

from runs.enums import About, Action, Provenance, Role, Severity
from runs.errors import ContractBroken, NoVerdict, TimeUsedUp, Unusable
from runs.pev import prompts
from runs.pev.answer_schemas import schema_for
from runs.pev.contracts import RESULT, Criterion, CriterionAnswer, VerifierAnswer
from runs.pev.conversation.asking import CUT_OFF, ask_for, user, with_blocks
from runs.pev.conversation.examples import form_of
from runs.pev.conversation.generous import Read
from runs.pev.delimiters import NOTES_CHARS, begun, delimited
from runs.pev.documents.marked import marked
from runs.pev.evidence.results import CriterionResult, Evidence, Judgement, RequestResult, all_pass, not_traced
from runs.pev.files.paths import document_of, text_of
from runs.pev.ports import Ask, Model
from runs.pev.texts.wording import quoted
from runs.pev.verification import requests
from runs.pev.verification.case import Case
from runs.pev.verification.earlier import earlier_shown
from runs.pev.verification.grounding import NOT_OUTSIDE, supports
from runs.pev.verification.prechecks import decided_by_code, in_order, undecided
from runs.pev.verification.requests import Change
from runs.pev.verification.sampling import looked_at
from runs.pev.verification.search import Search

SHOWN_CHARS = 60_000
SHOWN_IN_ALL = 240_000
SHOWN_OF_TOOL = 8_000
"""Characters of a document, of all documents, and of one tool result that are put before a verifier."""
UNTRACED = 50
"""Figures without a source that are named to a verifier, and to the next attempt."""
ANSWER_TOKENS = 16_000
TOKENS_FOR_EACH = 120
"""Of an answer: for each criterion and request a quote and a sentence, where they are so many that these do not fit."""
_MISSING = "is missing from criteria_results."
_TWICE = "is judged twice."
_BARE = "passed without any evidence; quote what proves it."
_SILENT = "failed without feedback; say what is missing."
_NO_ADVICE = "feedback_for_executor is empty although something failed."
_NO_FORM = "It does not have the form that was asked for."
_WRONG = {
    _MISSING: "It does not judge every criterion.",
    _TWICE: "It judges a criterion twice.",
    _BARE: "It passes a criterion without evidence.",
    _SILENT: "It fails a criterion without a reason.",
    _NO_ADVICE: "It does not say what is to be done better.",
    CUT_OFF: f"{CUT_OFF}.",
}
"""What the verifier is told of its answer, and what people are (T13)."""
REVIEW = Criterion(
    text="The result does what the step is to do, and nothing in it contradicts the documents it rests on.",
    about=About.OUTPUT,
)
"""What a model is asked about a step whose criteria are all decided by checks: those see only what they look for."""


def judge(model: Model, case: Case, again: Sequence[Model] = ()) -> Judgement:
    """The judgement of a case. A model is asked only when no check failed and a criterion is left (T2). `again`: those
    that are asked from the beginning, one after the other, where it gives no usable answer.

    Raises NoVerdict when the verifier gives no usable answer, ModelError when it gives none, TimeUsedUp.
    """
    judgement = _judgement(model, case, again)
    feedback = judgement.feedback
    if not judgement.passed and case.untraced:
        feedback = f"{feedback}\n{not_traced(case.untraced, UNTRACED)}"
    return judgement.model_copy(update={"untraced": list(case.untraced), "feedback": feedback})


def _judgement(model: Model, case: Case, again: Sequence[Model]) -> Judgement:
    labels = case.labelled
    decided = decided_by_code(case, labels)
    if not all(result.passed for result in decided):
        return _from_checks(in_order([*decided, *undecided(labels)]))
    asked = "\n".join(request.words for request in case.requests)
    changes = [Change(request, case.files, case.output, asked) for request in case.requests]
    if pasted := requests.pasted(changes):
        return _from_checks(in_order([*decided, *undecided(labels)]), pasted)
    to_judge = {label: criterion for label, criterion in labels.items() if not criterion.check}
    if case.review and not to_judge:
        to_judge = {"M1": REVIEW}
    if not to_judge and not changes:
        return _from_checks(decided)
    for following in again:
        try:
            return _with_model(model, case, decided, to_judge, changes)
        except NoVerdict:
            model = following
    return _with_model(model, case, decided, to_judge, changes)


def _with_model(
    model: Model,
    case: Case,
    checked: list[CriterionResult],
    labels: Mapping[str, Criterion],
    changes: Sequence[Change],
) -> Judgement:
    ask = _ask(case, labels, changes)
    expected = [*labels, *(change.request.label for change in changes)]
    answer, read_as = _verdict(model, ask, expected)
    results, answers = _judged(answer, case, labels), _answered(answer, case, changes)
    notes = list(read_as)
    if doubts := _doubts(results, answers):
        answer, read_as = _verdict(model, _ask_again(ask, answer, doubts), expected)
        results = [_settled(*both) for both in zip(results, _judged(answer, case, labels), strict=True)]
        answers = [requests.settled(*both) for both in zip(answers, _answered(answer, case, changes), strict=True)]
        notes += read_as
        notes.append("Some evidence did not prove what it was to prove; the verifier was asked for it once more.")
    return _computed(answer, in_order([*checked, *results]), answers, notes)


def _verdict(model: Model, ask: Ask, labels: Sequence[str]) -> Read[VerifierAnswer]:
    try:
        return ask_for(model, ask, VerifierAnswer, lambda given: _problems_in(given, labels))
    except TimeUsedUp:
        raise
    except Unusable as broken:
        raise NoVerdict(f"{broken} {_for_people(broken.errors)}", broken.errors) from broken
    except ContractBroken as broken:
        raise NoVerdict(" ".join([str(broken), *(f"({item})" for item in broken.errors)]), broken.errors) from broken


def _for_people(errors: Sequence[str]) -> str:
    """What is wrong with a verdict, without the names that its form has: each reason once."""
    reasons = [next((words for end, words in _WRONG.items() if end in error), _NO_FORM) for error in errors]
    return " ".join(dict.fromkeys(reasons))


def _doubts(results: Sequence[CriterionResult], answers: Sequence[RequestResult]) -> dict[str, str]:
    """By label of what is said to have passed, what is wrong with its evidence, or may be."""
    doubted: list[CriterionResult | RequestResult] = [
        *(one for one in results if one.claimed and (not one.supported or one.weak)),
        *(one for one in answers if one.unproved),
    ]
    return {one.label: " ".join([one.feedback, *(_doubt(item) for item in one.evidence)]).strip() for one in doubted}


def _doubt(evidence: Evidence) -> str:
    return f"{evidence.sentence}, but {evidence.weak}." if evidence.weak else f"{evidence.sentence}."


def _settled(first: CriterionResult, second: CriterionResult) -> CriterionResult:
    """Asked again, a verifier may bring better evidence or take a pass back; it cannot turn a failure round."""
    if not first.claimed:
        return first
    better = not first.supported or (first.weak and second.supported and not second.weak)
    return second if better or not second.claimed else first


def _computed(
    answer: VerifierAnswer, results: list[CriterionResult], answers: list[RequestResult], notes: list[str]
) -> Judgement:
    """T3: the pass is computed; a model that says otherwise is overruled, and that is noted."""
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
    """Every criterion is met, and no request of a person is known not to be (T7)."""
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
    """The judgement of an attempt that never came as far as being judged, or had been, with the same `requests`."""
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


def _judged(answer: VerifierAnswer, case: Case, labels: Mapping[str, Criterion]) -> list[CriterionResult]:
    by_label = _by_label(answer)
    return [_one(label, criterion, by_label[label], case) for label, criterion in labels.items()]


def _answered(answer: VerifierAnswer, case: Case, changes: Sequence[Change]) -> list[RequestResult]:
    by_label, wanted = _by_label(answer), case.min_verifier_confidence
    return [requests.judged(change, by_label[change.request.label], wanted) for change in changes]


def _by_label(answer: VerifierAnswer) -> dict[str, CriterionAnswer]:
    return {given.criterion.split(":")[0].strip().upper(): given for given in answer.criteria_results}


def _one(label: str, criterion: Criterion, given: CriterionAnswer, case: Case) -> CriterionResult:
    topic = REVIEW if case.nothing_to_do else criterion  # that nothing was found supports no words of a result
    evidence = case.examiner.examined_for(topic, given.evidence)
    supported = given.passed and supports(criterion, evidence)
    if case.searched and supported:
        evidence = _searched(case.searched, evidence)
    seen, of = looked_at(criterion, evidence, case)
    sure = given.confidence >= case.min_verifier_confidence
    feedback = given.feedback
    if given.passed and not supported:
        nothing = "Unsupported: no passage that was quoted for it stands in its source."
        feedback = NOT_OUTSIDE if any(item.verified for item in evidence) else nothing
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
        looked_at=seen,
        out_of=of,
    )


def _searched(search: Search, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence that a step does not apply, with the server's own search. What that has found makes all of it
    doubtful: somebody has to say whether it is what the step is about (T10).
    """
    own = Evidence(
        kind="check", source="", verified=True, sentence=search.sentence, provenance=Provenance.GIVEN, weak=search.doubt
    )
    return [*(one.model_copy(update={"weak": one.weak or search.doubt}) for one in evidence), own]


def _problems_in(answer: VerifierAnswer, labels: Sequence[str]) -> list[str]:
    given = [item.criterion.split(":")[0].strip().upper() for item in answer.criteria_results]
    problems = [f"{label} {_MISSING}" for label in labels if label not in given]
    problems += [f"{label} {_TWICE}" for label in sorted({g for g in given if given.count(g) > 1})]
    for item in answer.criteria_results:
        if item.passed and not item.evidence:
            problems.append(f"{item.criterion} {_BARE}")
        if not item.passed and not item.feedback.strip():
            problems.append(f"{item.criterion} {_SILENT}")
    if any(not item.passed for item in answer.criteria_results) and not answer.feedback_for_executor.strip():
        problems.append(_NO_ADVICE)
    return problems


def _feedback(results: Sequence[CriterionResult], answers: Sequence[RequestResult], overall: str) -> str:
    failed = [
        (result.label, result.text, result.feedback + result.printed)
        for result in results
        if not result.passed and result.decided_by != "nobody"
    ]
    failed += [(one.label, quoted(one.text), one.feedback) for one in answers if one.status == "not_met"]
    lines = [f"- {label} ({text}): {said}" for label, text, said in failed if said.strip() not in overall]
    return "\n".join(([overall.strip()] if overall.strip() else []) + lines)


def _ask(case: Case, labels: Mapping[str, Criterion], changes: Sequence[Change]) -> Ask:
    schema = schema_for(VerifierAnswer)
    criteria = [f"{label}: {criterion.text}" for label, criterion in labels.items()]
    criteria += [requests.asked(change) for change in changes]
    topics = "\n".join(f"{label}: {criterion.topic}" for label, criterion in labels.items())
    given, made = _artefacts(case)
    asked = user(
        delimited("request", case.request),
        *given,
        delimited("subject", case.subject),
        *made,
        delimited("output", case.output, "@output"),
        *_notes(case),
        *_tool_results(case, frozenset([*given, *made])),
        *earlier_shown(case),
        *_untraced(case),
        *_hits(case),
        *requests.shown(case.persons, changes),
        delimited("criteria", "\n".join(criteria)),
        delimited("about", topics),
    )
    return Ask(
        role=Role.VERIFIER,
        model=case.model,
        effort=case.effort,
        system=f"{prompts.instructions(Role.VERIFIER)}\n{form_of(VerifierAnswer)}",
        messages=(with_blocks(asked, case.pages),),
        schema_name="verdict",
        schema=schema,
        max_tokens=max(ANSWER_TOKENS, TOKENS_FOR_EACH * (len(labels) + len(changes))),
        stable=(0, 1 + len(given)),
    )


def _ask_again(ask: Ask, answer: VerifierAnswer, doubts: Mapping[str, str]) -> Ask:
    lines = [f"- {label}: {doubt}" for label, doubt in doubts.items()]
    errors = (
        "These criteria have no evidence that stands up, or none that has plainly to do with them:\n"
        + delimited("unsupported", "\n".join(lines))
        + "\nQuote verbatim from the sources given, or say that a criterion did not pass. Answer for all of them again."
    )
    earlier = {"role": "assistant", "content": [{"type": "text", "text": answer.model_dump_json()}]}
    return Ask(**{**vars(ask), "messages": (*ask.messages, earlier, user(errors))})


def _untraced(case: Case) -> list[str]:
    lines = [f"{one.source}, line {one.line}: {one.text}" for one in case.untraced[:UNTRACED]]
    if len(case.untraced) > UNTRACED:
        lines.append(f"and {len(case.untraced) - UNTRACED} more")
    return [delimited("untraced", "\n".join(lines))] if lines else []


def _hits(case: Case) -> list[str]:
    if not (case.searched and case.searched.hits):
        return []
    return [delimited("hits", "\n".join(map(str, case.searched.hits)), "of the words of the step in the given files")]


def _notes(case: Case) -> list[str]:
    text = begun(case.notes.strip(), NOTES_CHARS)
    return [delimited("notes", text, "of the executor; its own words, no source for a quote")] if text else []


def _tool_results(case: Case, documents: Set[str]) -> Iterator[str]:
    for number, tool in enumerate(case.tools, 1):
        yield delimited("tool", _cut(_not_twice(tool.result, case, documents)), f"@tool-{number}")


def _not_twice(result: str, case: Case, documents: Set[str]) -> str:
    """A page that was read of a document which is put before the verifier whole is only named."""
    head, _, body = result.partition("\n")
    page, more, _ = body.rpartition("\n[more follows; ")
    path = head.rpartition(", lines ")[0]
    for name in (path, RESULT + path):
        text = _text(case, name, SHOWN_CHARS) if name in case.sources else None
        if text and (page if more else body) in text and delimited("document", text, name) in documents:
            return f"{head}\n(as in the document {name})"
    return result


def _cut(result: str) -> str:
    return result if len(result) <= SHOWN_OF_TOOL else f"{result[:SHOWN_OF_TOOL]}\n(cut here; the result goes on)"


def _artefacts(case: Case) -> tuple[list[str], list[str]]:
    """The documents given and those made. What is made comes first in the budget; what it leaves is rounded down,
    so that the same documents are cut at the same place whatever an attempt has written.
    """
    made = _documents(case, case.shown, SHOWN_IN_ALL)
    left = SHOWN_IN_ALL - sum(map(len, made))
    return _documents(case, case.given, left - left % SHOWN_CHARS), made


def _documents(case: Case, names: Sequence[str], left: int) -> list[str]:
    """The documents put before the verifier, cut to a budget, with a note where something was cut."""
    parts: list[str] = []
    for number, name in enumerate(names):
        if left <= 0:
            parts.append(f"({len(names) - number} more documents are not shown: there are too many.)")
            break
        budget = min(SHOWN_CHARS, left)
        text = _text(case, name, budget + 1) if name in case.sources else None
        if text is None:
            continue
        label = name if len(text) <= budget else f"{name} (only the first {budget} characters)"
        parts.append(delimited("document", text[:budget], label))
        left -= len(parts[-1])
    return parts


def _text(case: Case, name: str, limit: int) -> str | None:
    """The text of a source; of a document so much of its beginning, with the names and numbers of its places."""
    data = case.sources[name]
    document = document_of(data)
    return marked(document, limit) if document else text_of(data)
