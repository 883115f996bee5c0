"""Computes the outcome of a run, and its open points, from the ledger. No model can set it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runs.enums import SETTLED_STEPS, WHOLE_STEPS, AttemptStatus, Missing, Outcome, Severity, StepStatus
from runs.evidence.results import CriterionResult, accepted_by
from runs.text.plural import list_with_and, pluralize, word_for
from runs.text.truncate import truncate_line

MAX_TEXT = 200
MAX_FOUND = 300
MAX_CRITIQUE = 600
MAX_SENTENCE = 1_200
MAX_NAMED = 3
MAX_BROKEN = 5
"""Lengths in characters: of a criterion, of what was found for it, of what was said about an attempt, and of a whole
sentence; then the numbers of criteria and of broken citations that a sentence names. The verdict has the full text.
"""


@dataclass(frozen=True)
class Unmet:
    """A criterion that does not count as met. `status` is that of its result, or “rejected” by a person; `found`: what
    was found for it, or what that person says.
    """

    text: str
    status: str
    found: str

    @property
    def sentence(self) -> str:
        found = self.found.rstrip(".")
        return f"“{self.text}”{f' ({found})' if found else ''}"


@dataclass(frozen=True)
class Review:
    """How an attempt ended, and what was said about it. `by`: the person who said it, or empty for a verdict.

    `repeats`: it had the same files and findings as the attempt before, which had been criticised.
    """

    attempt: int
    status: AttemptStatus
    said: str
    by: str = ""
    repeats: bool = False


@dataclass(frozen=True)
class OpenPoint:
    """One thing that keeps a result from being complete, with its cause. `about`: the step or success criterion.

    `sentence` describes it to people, within `MAX_SENTENCE`. `unmet`: the criteria that the kept result does not meet.
    `reviews`: what was said about each attempt. `severity`: that of the last verdict. `accepted_by`: the people on
    whose word alone nothing is missing (T15).
    """

    kind: Missing
    sentence: str
    about: str = ""
    unmet: tuple[Unmet, ...] = ()
    reviews: tuple[Review, ...] = ()
    severity: Severity | None = None
    accepted_by: str = ""


@dataclass(frozen=True)
class Rejection:
    """A criterion that its verdict found met, and that a person rejects. `after_end`: only after the run had ended."""

    text: str
    by: str
    reason: str
    after_end: bool = False

    def sentence_on(self, step: str) -> str:
        text, said = _clause(self.text, MAX_TEXT), _clause(self.reason, MAX_FOUND)
        sentence = f"Step “{step}”: {self.by} rejects “{text}”, which its verdict found met: “{said}”."
        return truncate_line(sentence, MAX_SENTENCE)


@dataclass(frozen=True)
class AttemptEntry:
    """One attempt at a step, as its verdict and people judged it. `results` is empty if its
    criteria were not judged.
    """

    number: int
    status: AttemptStatus
    results: Sequence[CriterionResult] = ()
    feedback: str = ""
    severity: Severity | None = None
    repeats: bool = False
    rejections: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class StepEntry:
    """One step in the ledger, with its attempts in order.

    `kept_by_person`: a person, not the policy, accepted it, and it has written an expected file. `accepted_by`: who
    accepted it with open points. `rejections`: what people reject of a result that passed.
    """

    name: str
    status: StepStatus
    tried: Sequence[AttemptEntry] = ()
    kept_by_person: bool = False
    accepted_by: str = ""
    rejections: Sequence[Rejection] = ()

    @property
    def kept(self) -> Sequence[CriterionResult]:
        """The results of the last judged attempt, which people see."""
        return next((one.results for one in reversed(self.tried) if one.results), ())

    @property
    def counts(self) -> bool:
        """Whether it has a usable result."""
        return self.status is StepStatus.PASSED or (self.status is StepStatus.ACCEPTED and self.kept_by_person)


@dataclass(frozen=True)
class Ledger:
    """Everything that the outcome depends on.

    * `answered`: there is a final answer.
    * `relaxed`: what the plan no longer asks for although no person agreed to that.
    * `requests`: what people asked for and did not get.
    * `ended`: why a person finished the run early.
    * `failure`: why the run could not continue.
    * `unread`: sentences on given files that could not be read, or that no step was shown (T6).
    * `grounded`: something rests on more than the run's own words, or nothing has to (T9).
    * `broken_citations`: a sentence for each broken citation in the result (T8).
    * `untraced`: a sentence on the figures without a source (T11).
    * `doubts`: a sentence for each criterion that is supported only by doubtful evidence and that no person has
      accepted (T1b).
    """

    steps: Sequence[StepEntry]
    criteria: Sequence[CriterionResult]
    answered: bool
    cancelled: bool = False
    failure: str = ""
    relaxed: Sequence[str] = ()
    ended: str = ""
    unread: Sequence[str] = ()
    requests: Sequence[str] = ()
    grounded: bool = True
    broken_citations: Sequence[str] = ()
    untraced: str = ""
    doubts: Sequence[str] = ()


def outcome_of(ledger: Ledger) -> Outcome:
    """Returns the outcome.

    It is `succeeded` only if every step passed or had nothing to do, every success criterion is supported, there is an
    answer, and no point is open. It is `failed` if no step passed, and no person accepted a step that wrote an expected
    file.
    """
    if ledger.cancelled:
        return Outcome.CANCELLED
    settled = [step.status in SETTLED_STEPS for step in ledger.steps]
    enough = bool(ledger.ended) or all(settled)
    if ledger.failure or not enough or not any(step.counts for step in ledger.steps):
        return Outcome.FAILED
    return Outcome.PARTIAL if gaps_in(ledger) else Outcome.SUCCEEDED


def gaps_in(ledger: Ledger) -> list[OpenPoint]:
    """Returns everything that was not achieved, with its cause. The list is empty only if nothing is missing.

    What a stopped run left undone was left on purpose. Its open points are about the steps that it came to the end of.
    """
    if ledger.cancelled:
        return [point_of(step) for step in ledger.steps if step.status in (StepStatus.FAILED, StepStatus.ACCEPTED)]
    of_judgements = (_grounds, _criteria, _requests, _citations, _untraced, _doubts)
    kinds = (_endings, _steps, _rejections, *of_judgements, _relaxed, _inputs, _answer)
    return [point for kind in kinds for point in kind(ledger)]


def _endings(ledger: Ledger) -> Iterator[OpenPoint]:
    if ledger.failure:
        yield OpenPoint(Missing.FAILURE, ledger.failure)
    if ledger.ended:
        yield OpenPoint(Missing.ENDED, ledger.ended)


def _steps(ledger: Ledger) -> Iterator[OpenPoint]:
    accepted = any(step.status is StepStatus.ACCEPTED for step in ledger.steps)
    if not ledger.steps:
        yield OpenPoint(Missing.RESULT, "No step was carried out.")
    elif accepted and not any(step.counts for step in ledger.steps):
        yield OpenPoint(Missing.RESULT, "No step passed, and no person accepted one that wrote an expected file.")
    elif all(step.status is StepStatus.NOT_APPLICABLE for step in ledger.steps):
        yield OpenPoint(Missing.RESULT, "No step applied: what was given has nothing for any of them to do.")
    for step in ledger.steps:
        if step.status not in WHOLE_STEPS:
            yield point_of(step)


def _rejections(ledger: Ledger) -> Iterator[OpenPoint]:
    """What people rejected while the run went on. Later on that changes no outcome."""
    for step in ledger.steps:
        for one in step.rejections:
            if not one.after_end:
                yield OpenPoint(Missing.REJECTED, one.sentence_on(step.name), step.name)


def said_by_people(ledger: Ledger) -> list[str]:
    """A sentence for each way in which people judged steps otherwise than their verdicts: what they accepted is not
    verified, whatever the outcome is. What they rejected after the run had ended is no open point, and is named here.
    """
    kept = [[one for one in step.kept if one.is_accepted] for step in ledger.steps]
    accepted = [one.overruled.by for results in kept for one in results if one.overruled]
    rejected = [[one.by for one in step.rejections] for step in ledger.steps]
    by = [name for names in rejected for name in names]
    open_points = [step.accepted_by for step in ledger.steps if step.accepted_by and not accepted_by(step.kept)]
    found = []
    if accepted:
        found.append(f"{_counted(accepted, sum(map(bool, kept)))} accepted by {_names(accepted)}, not verified.")
    if open_points:
        were = f"{pluralize(len(open_points), 'step')} {word_for(len(open_points), 'was', 'were')}"
        found.append(f"{were} accepted with open points by {_names(open_points)}.")
    if by:
        found.append(f"{_counted(by, sum(map(bool, rejected)))} rejected by {_names(by)}, against the verdict.")
    late = [one.sentence_on(step.name) for step in ledger.steps for one in step.rejections if one.after_end]
    return [*found, *late]


def _counted(criteria: Sequence[str], steps: int) -> str:
    count = pluralize(len(criteria), "criterion", "criteria")
    return f"{count} of {pluralize(steps, 'step')} {word_for(len(criteria), 'was', 'were')}"


def _names(people: Sequence[str]) -> str:
    return list_with_and(sorted(set(people))) if people else ""


def _grounds(ledger: Ledger) -> Iterator[OpenPoint]:
    if not ledger.grounded and any(step.counts for step in ledger.steps):
        yield OpenPoint(
            Missing.GROUNDS,
            "Nothing here is supported by anything but what this run wrote itself: no criterion that was met rests on "
            "your files, on what a tool showed of them, or on the words of a person.",
        )


def _criteria(ledger: Ledger) -> Iterator[OpenPoint]:
    if not ledger.criteria:
        yield OpenPoint(Missing.JUDGEMENT, "The success criteria were not judged.")
    for result in ledger.criteria:
        if not result.met:
            unmet = _unmet(result)
            sentence = f"Success criterion not met: {unmet.text.rstrip('.')}. {unmet.found}".strip()
            yield OpenPoint(Missing.CRITERION, sentence, result.text, (unmet,))


def _requests(ledger: Ledger) -> Iterator[OpenPoint]:
    for sentence in ledger.requests:
        yield OpenPoint(Missing.REQUEST, truncate_line(sentence, MAX_SENTENCE))


def _citations(ledger: Ledger) -> Iterator[OpenPoint]:
    sentences = ledger.broken_citations
    if sentences:
        count = len(sentences)
        what = pluralize(count, "citation leads", "citations lead")
        more = f" And {count - MAX_BROKEN} more." if count > MAX_BROKEN else ""
        named = " ".join(truncate_line(sentence, MAX_FOUND) for sentence in sentences[:MAX_BROKEN])
        yield OpenPoint(Missing.CITATION, truncate_line(f"{what} nowhere. {named}{more}", MAX_SENTENCE))


def _untraced(ledger: Ledger) -> Iterator[OpenPoint]:
    if ledger.untraced:
        yield OpenPoint(Missing.UNTRACED, truncate_line(ledger.untraced, MAX_SENTENCE))


def _doubts(ledger: Ledger) -> Iterator[OpenPoint]:
    for sentence in ledger.doubts:
        yield OpenPoint(Missing.DOUBT, truncate_line(sentence, MAX_SENTENCE))


def _relaxed(ledger: Ledger) -> Iterator[OpenPoint]:
    for sentence in ledger.relaxed:
        yield OpenPoint(Missing.RELAXED, f"A requirement was relaxed, and no one agreed to it: {sentence}")


def _inputs(ledger: Ledger) -> Iterator[OpenPoint]:
    for sentence in ledger.unread:
        yield OpenPoint(Missing.INPUT, sentence)


def _answer(ledger: Ledger) -> Iterator[OpenPoint]:
    if not ledger.answered:
        yield OpenPoint(Missing.ANSWER, "There is no final answer.")


def point_of(step: StepEntry) -> OpenPoint:
    """Returns why a step has not passed: the criteria that are not met, and then how later attempts ended."""
    unmet, after = _unmet_of_kept(step.tried)
    people = _names(accepted_by(step.kept)) if step.status is StepStatus.ACCEPTED else ""
    return OpenPoint(
        kind=Missing.STEP,
        sentence=truncate_line(" ".join(filter(None, _sentences(step, unmet, after, people))), MAX_SENTENCE),
        about=step.name,
        unmet=unmet,
        reviews=tuple(review for one in step.tried for review in _reviews(one)),
        severity=next((one.severity for one in reversed(step.tried) if one.severity), None),
        accepted_by=people,
    )


_STANDS = {
    StepStatus.ACCEPTED: "was accepted with open points",
    StepStatus.FAILED: "failed",
    StepStatus.DROPPED: "was skipped",
    StepStatus.JUDGED: "has not passed",
    StepStatus.WAITING: "has not passed",
}


def _unmet_of_kept(tried: Sequence[AttemptEntry]) -> tuple[tuple[Unmet, ...], Sequence[AttemptEntry]]:
    """Returns what the kept result (that of the last judged attempt) does not meet, and the attempts after it.

    If its verdict found every criterion met, all attempts from the kept one on are returned. A fault of an earlier
    attempt only is left out, because the result that people see does not have it.
    """
    judged = next((place for place in range(len(tried), 0, -1) if tried[place - 1].results), 0)
    if not judged:
        return (), tried
    results = tried[judged - 1].results
    unmet = tuple(_unmet(result) for result in results if not result.holds)
    return unmet, tried[judged - 1 if all(result.met for result in results) else judged :]


def _sentences(step: StepEntry, unmet: Sequence[Unmet], after: Sequence[AttemptEntry], people: str) -> Iterator[str]:
    stands = _STANDS.get(step.status, f"was not done ({step.status})")
    if people:
        stands = f"was accepted by {people}, not verified,"
    elif step.status is StepStatus.ACCEPTED and step.accepted_by:
        stands += f" by {step.accepted_by}"
    attempts = f" after {len(step.tried)} attempts" if len(step.tried) > 1 else ""
    yield f"Step “{step.name}” {stands}{attempts}".removesuffix(",") + "."
    missed = [one for one in unmet if one.status != "not judged"]
    left = [one for one in unmet if one.status == "not judged"]
    if missed:
        yield f"Not met: {_several([one.sentence for one in missed])}."
    if left:
        yield f"Not judged: {_several([f'“{one.text}”' for one in left])}."
    said: dict[tuple[str, str], list[str]] = {}
    for overruled, text in [(one.overruled, one.text) for one in step.kept if one.is_accepted]:
        if overruled:
            said.setdefault((overruled.by, overruled.reason), []).append(f"“{_clause(text, MAX_TEXT)}”")
    for (person, reason), texts in said.items():
        yield f"Against the verdict, {person} accepts {_several(texts)}: “{_clause(reason, MAX_FOUND)}”."
    for one in after:
        became = _became(one)
        yield f"Attempt {one.number}: {became}" if became and len(step.tried) > 1 else became
    for one in step.tried:
        yield from (f"{person} said of attempt {one.number}: “{words}”." for person, words in one.rejections)


def _clause(text: str, limit: int) -> str:
    """Words to quote within a sentence."""
    return truncate_line(text, limit).rstrip(".")


def _several(sentences: Sequence[str]) -> str:
    more = f"; and {len(sentences) - MAX_NAMED} more" if len(sentences) > MAX_NAMED else ""
    return f"{'; '.join(sentences[:MAX_NAMED])}{more}"


def _became(one: AttemptEntry) -> str:
    """Returns how an attempt ended that met its criteria or was not judged."""
    if one.repeats:
        return "It repeats the one before; what had been criticised was not addressed."
    match one.status:
        case AttemptStatus.CONFLICT:
            return "It met its criteria, but another step had changed the same file."
        case AttemptStatus.PASSED:
            return "It met its criteria."
        case AttemptStatus.CANCELLED:
            return "It was cut off."
        case _:
            return truncate_line(one.feedback, MAX_FOUND)


def _reviews(one: AttemptEntry) -> Iterator[Review]:
    said = "Another step had changed the same file." if one.status is AttemptStatus.CONFLICT else one.feedback
    if said or not one.rejections:
        yield Review(one.number, one.status, truncate_line(said, MAX_CRITIQUE), repeats=one.repeats)
    for person, words in one.rejections:
        yield Review(one.number, one.status, truncate_line(words, MAX_CRITIQUE), by=person)


def _unmet(result: CriterionResult) -> Unmet:
    if result.met and result.overruled:
        found = f"{result.overruled.words}: {result.overruled.reason}"
        return Unmet(truncate_line(result.text, MAX_TEXT), "rejected", truncate_line(found, MAX_FOUND))
    found = result.feedback or " ".join(evidence.sentence for evidence in result.evidence)
    return Unmet(truncate_line(result.text, MAX_TEXT), result.status, truncate_line(found, MAX_FOUND))
