"""Getting a verdict out of a verifier: about all criteria at once, or about one after the other."""

from collections.abc import Callable, Mapping, Sequence

from runs.contracts.base import Contract, QuotedEvidence
from runs.contracts.ports import Ask, Model
from runs.enums import Action, Severity
from runs.errors import ContractBroken, NoVerdict, TimeUsedUp, Unusable
from runs.pev.contracts import Criterion, CriterionAnswer, SimpleVerdict, VerifierAnswer
from runs.pev.conversation.asking import CUT_OFF, ask_for
from runs.pev.conversation.generous import Read
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.questions import single, single_again, whole, whole_again
from runs.pev.verification.requests import ResultChange

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
"""Errors in an answer of the verifier: the sentence for the model, and the one for people (T13)."""
_NOT_SAID = "The verifier does not say why."


class AtOnce:
    """A verifier that is asked about everything in one question."""

    def __init__(
        self, model: Model, case: VerificationInput, labels: Mapping[str, Criterion], changes: Sequence[ResultChange]
    ) -> None:
        self._model = model
        self._ask = whole(case, labels, changes)
        self._labels = [*labels, *(change.request.label for change in changes)]
        self._answer: VerifierAnswer | None = None

    def verdict(self) -> Read[VerifierAnswer]:
        """Raises NoVerdict, ModelError, TimeUsedUp."""
        given = _usable(self._model, self._ask, VerifierAnswer, lambda answer: _problems_in(answer, self._labels))
        self._answer = given.answer
        return given

    def verdict_again(self, doubts: Mapping[str, str]) -> Read[VerifierAnswer]:
        """The same after the verifier was asked again, with what is wrong with its evidence by label."""
        assert self._answer is not None
        self._ask = whole_again(self._ask, self._answer, doubts)
        return self.verdict()


class OneByOne:
    """A verifier that is asked one short question for each criterion, in the simple form."""

    def __init__(
        self, model: Model, case: VerificationInput, labels: Mapping[str, Criterion], changes: Sequence[ResultChange]
    ) -> None:
        self._model = model
        self._case = case
        self._about: dict[str, Criterion | ResultChange] = {**labels}
        self._about |= {change.request.label: change for change in changes}
        self._asks: dict[str, Ask] = {}
        self._given: dict[str, Read[SimpleVerdict]] = {}

    def verdict(self) -> Read[VerifierAnswer]:
        """As of AtOnce."""
        return self._verdict_on(list(self._about))

    def verdict_again(self, doubts: Mapping[str, str]) -> Read[VerifierAnswer]:
        """As of AtOnce: asks again only about what is in doubt."""
        for label, doubt in doubts.items():
            self._asks[label] = single_again(self._asks[label], self._given[label].answer, doubt)
        return self._verdict_on(list(doubts))

    def _verdict_on(self, labels: Sequence[str]) -> Read[VerifierAnswer]:
        for label in labels:
            if label not in self._asks:
                self._asks[label] = single(self._case, label, self._about[label])
            self._given[label] = _usable(self._model, self._asks[label], SimpleVerdict, _problems_in_one)
        results = [_criterion_answer(label, given.answer) for label, given in self._given.items()]
        passed = all(result.passed for result in results)
        answer = VerifierAnswer(
            criteria_results=results,
            overall_pass=passed,
            action=Action.PASS if passed else Action.RETRY,
            severity=Severity.MINOR if passed else Severity.MAJOR,
            feedback_for_executor="",  # what is said of each criterion is all
        )
        return Read(answer, tuple(dict.fromkeys(note for label in labels for note in self._given[label].notes)))


def _criterion_answer(label: str, given: SimpleVerdict) -> CriterionAnswer:
    quotes = given.passed and given.quote and given.source
    evidence = (
        QuotedEvidence(source=given.source, quote=given.quote, statement=given.statement or None) if quotes else None
    )
    return CriterionAnswer(
        criterion=label,
        passed=given.passed,
        evidence=[evidence] if evidence else [],
        confidence=given.confidence,
        feedback="" if given.passed else given.why.strip() or _NOT_SAID,
    )


def _problems_in_one(given: SimpleVerdict) -> list[str]:
    return [f"`quote` or `source` is empty: it {_BARE}"] if given.passed and not (given.quote and given.source) else []


def by_label_of(answer: VerifierAnswer) -> dict[str, CriterionAnswer]:
    """What is said of each criterion, by its label: small models write some words behind it."""
    return {_label_of(given): given for given in answer.criteria_results}


def _label_of(given: CriterionAnswer) -> str:
    return given.criterion.split(":")[0].strip().upper()


def _usable[Answer: Contract](
    model: Model, ask: Ask, contract: type[Answer], problems_with: Callable[[Answer], list[str]]
) -> Read[Answer]:
    """An answer without problems. Raises NoVerdict where there is none, with what is wrong in words for people."""
    try:
        return ask_for(model, ask, contract, problems_with)
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


def _problems_in(answer: VerifierAnswer, labels: Sequence[str]) -> list[str]:
    given = [_label_of(item) for item in answer.criteria_results]
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
