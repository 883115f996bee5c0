"""Owns the verdict by rules: known criteria are checked, any other needs a line that has its words."""

import re
from collections.abc import Sequence

from runs.enums import Action, Severity
from runs.llm.offline.exhibits import Exhibits, exhibits
from runs.llm.offline.questions import BadRequest, Question
from runs.llm.offline.rulings import Ruling, ruling_on
from runs.llm.offline.texts import word_set
from runs.llm.offline.wire import Answer
from runs.pev.contracts import CriterionAnswer, QuotedEvidence, VerifierAnswer

OVERLAP = 0.7
_BEYOND = re.compile(
    r"\b(?:no|not|none|never|nothing|without|every|each|all|only|any|\w+n['’]t|kein\w*|nicht|ohne|jede\w*|alle\w*|nur)\b",
    re.IGNORECASE,
)
_STOP = word_set(
    "the and for are that this with each every from have has its not but one all any which into than must shall should"
)


def answer(question: Question) -> Answer:
    """A verdict on every criterion asked for. What documents say of approval has no effect."""
    criteria = _criteria(question.one("criteria"))
    if not criteria:
        raise BadRequest("The offline rules found no criteria in the first message.")
    shown = exhibits(question)
    rulings = [(label, ruling_on(text, shown) or _by_words(text, shown)) for label, text in criteria]
    failed = [(label, ruling) for label, ruling in rulings if not ruling.passed]
    verdict = VerifierAnswer(
        criteria_results=[_result(label, ruling) for label, ruling in rulings],
        overall_pass=not failed,
        action=Action.RETRY if failed else Action.PASS,
        severity=Severity.MAJOR if failed else Severity.MINOR,
        feedback_for_executor="\n".join(f"{label}: {ruling.feedback}" for label, ruling in failed),
    )
    return Answer(verdict.model_dump_json())


def _criteria(text: str) -> list[tuple[str, str]]:
    """Criteria may run over several lines; a label at the beginning of a line opens the next one."""
    found = re.split(r"^(C\d+): ", text, flags=re.MULTILINE)[1:]
    return [(label, words.strip()) for label, words in zip(found[::2], found[1::2], strict=True)]


def _result(label: str, ruling: Ruling) -> CriterionAnswer:
    return CriterionAnswer(
        criterion=label,
        passed=ruling.passed,
        evidence=[QuotedEvidence(source=source, quote=quote) for source, quote in ruling.evidence],
        confidence=ruling.confidence,
        feedback=ruling.feedback,
    )


def _by_words(criterion: str, shown: Exhibits) -> Ruling:
    """A line with most of the words and all figures is weak evidence; the confidence says so."""
    if _BEYOND.search(criterion):
        return _cannot("it speaks of every, no or only, and no single line proves that")
    wanted, figures = _content_words(criterion), _figures(criterion)
    best: tuple[float, str, str] = (0.0, "", "")
    for source, text in _own_work(shown):
        for line in text.split("\n"):
            share = len(wanted & _content_words(line)) / len(wanted) if wanted else 0.0
            if share > best[0] and figures <= _figures(line):
                best = (share, source, line.strip()[:400].strip())
    if best[0] < OVERLAP:
        return _cannot("no line of the artefacts has most of its words")
    return Ruling([(best[1], best[2])], confidence=0.5)


def _cannot(reason: str) -> Ruling:
    return Ruling(complaints=[f"The offline rules cannot judge this: {reason}."], confidence=0.5)


def _own_work(shown: Exhibits) -> Sequence[tuple[str, str]]:
    return [(source, text) for source, text in shown.sources if not source.startswith("@tool-")]


def _figures(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


def _content_words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W_]{3,}", text.casefold()) if word not in _STOP}
