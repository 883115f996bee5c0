"""The judged results: criteria with evidence that the server resolved. Stored as JSON, read by pages."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from runs.contracts.base import COMMAND, DIFF, OUTPUT, PERSON, RESULT, STEP, TOOL, Contract
from runs.enums import About, Action, Provenance, Severity
from runs.evidence.sources import OUTSIDE
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted


class Evidence(Contract):
    """A quote that was looked up, or the result of a check.

    `source` is a name of `sources.Sources`; `sha256` is of the file's own bytes, or of the text that a tool or a model
    gave. `start` and `end` are character offsets in the decoded text, `line` counts from 1; of a document `anchor` and
    `place` say where that is, for citations and for people (`p23`, "clause 4.2(b)"). `sentence` is for people.
    Without `verified` it supports nothing and is shown as such. `provenance`: whose words these are, or, of a check,
    what it compared the result with; None for what is not verified. `quote`: of a check by a command, the end of what
    it printed. `cites`: where a citation in a passage that the run wrote leads outside. `statement`: the words of the
    result that are supported, and where they are.
    `weak`: why the quote may have nothing to do with them; a person has to look.
    """

    kind: Literal["quote", "check"]
    source: str
    verified: bool
    sentence: str
    quote: str = ""
    sha256: str = ""
    start: int = 0
    end: int = 0
    line: int = 0
    anchor: str = ""
    place: str = ""
    provenance: Provenance | None = None
    cites: str = ""
    statement: str = ""
    statement_in: str = ""
    statement_line: int = 0
    statement_start: int = 0
    statement_end: int = 0
    weak: str = ""

    @property
    def outside(self) -> bool:
        """Whether its words are not from a model of the run (T1a)."""
        return self.verified and (self.provenance in OUTSIDE or bool(self.cites))

    @property
    def rests_on(self) -> str:
        """Where its words come from, for people; empty if that is unknown."""
        if self.provenance is None:
            return ""
        if self.kind == "check":
            return _CHECKED.get(self.provenance, "checked in the result")
        if self.provenance is Provenance.MADE and self.cites:
            return f"from the result, which cites {self.cites}"
        return _RESTS_ON[self.provenance]

    @property
    def where(self) -> str:
        """Source and place for people."""
        name = named(self.source)
        if self.place:
            return f"{name}, {self.place}"
        return f"{name}, line {self.line}" if self.line else name

    @property
    def message(self) -> str:
        """The sentence, with the name of the source that people use."""
        own = self.source.startswith("@")
        return self.sentence.replace(f" {self.source}", f" {named(self.source)}") if own else self.sentence

    @property
    def statement_where(self) -> str:
        return f"{named(self.statement_in)}, line {self.statement_line}" if self.statement_in else ""


_CHECKED = {
    Provenance.GIVEN: "checked against your files",
    Provenance.OBSERVED: "checked against what tools showed",
}
_RESTS_ON = {
    Provenance.GIVEN: "from your files",
    Provenance.OBSERVED: "from a tool",
    Provenance.PERSON: "from a person",
    Provenance.MADE: "from the result itself",
}


def named(source: str) -> str:
    """The name of a source for people."""
    for prefix, words in ((TOOL, "result of tool call "), (PERSON, "request ")):
        if source.startswith(prefix):
            return words + source.removeprefix(prefix)
    if source.startswith(STEP):
        step, _, call = source.removeprefix(STEP).partition(f"/{TOOL.removeprefix('@')}")
        return f"result of tool call {call} of step {step}"
    if source.startswith(COMMAND):
        return f"the command {source.removeprefix(COMMAND)}"
    return {OUTPUT: "the result", DIFF: "what changed"}.get(source, source.removeprefix(RESULT))


class Overruled(Contract):
    """What a person judges otherwise than the verdict on a criterion, and why."""

    by: str
    met: bool
    reason: str
    at: datetime

    @property
    def words(self) -> str:
        """“accepted by alice” or “rejected by alice”."""
        return f"{'accepted' if self.met else 'rejected'} by {self.by}"


class CriterionResult(Contract):
    """The judgement of one criterion. `passed` implies `supported`: code sees to it, not a model. `each`: it says
    something of each of several things, and `looked_at` of `out_of` of them, files, points or rows of the result as
    `unit` says, have verified evidence; 0 of 0 where code cannot count them. `lacking`: which have none, if code has
    decided it for each of them. `overruled`: what a person judges otherwise (T15). It is no part of the verdict, and is
    not stored with it.
    """

    label: str
    text: str
    decided_by: Literal["check", "model", "rules", "nobody"]
    claimed: bool
    supported: bool
    passed: bool
    confidence: float
    feedback: str
    evidence: list[Evidence] = []
    about: About | None = None
    each: bool = False
    looked_at: int = 0
    out_of: int = 0
    unit: str = ""
    lacking: str = ""
    overruled: Overruled | None = Field(default=None, exclude=True)

    @property
    def sample(self) -> str:
        """For how many of its things there is evidence, such as “6 of 23 points have evidence”; empty if unknown."""
        if not self.out_of:
            return ""
        lacking = f" ({self.lacking})" if self.lacking else ""
        return f"{self.looked_at} of {self.out_of} {self.unit} have evidence{lacking}"

    @property
    def uncounted(self) -> str:
        """Why a criterion about each of something was met by a sample alone, as the end of a sentence; empty where code
        has counted evidence for all of them.
        """
        if not (self.each and self.met and self.decided_by == "model") or 0 < self.out_of == self.looked_at:
            return ""
        return f"of which {self.sample}" if self.out_of else "which code cannot count, and a verifier looks at a sample"

    @property
    def printed(self) -> str:
        """What commands that decided it printed at the end, as a continuation of the feedback."""
        quotes = [item.quote for item in self.evidence if item.kind == "check" and item.quote]
        return "".join(f"\nIt printed at the end:\n{quote}" for quote in quotes)

    @property
    def decided(self) -> str:
        """Who or what decided, for people. If only a part was looked at, that is said instead of the verifier's
        confidence.
        """
        match self.decided_by:
            case "check":
                return "automatic check"
            case "model":
                return f"AI review, {self.sample or f'{self.confidence * 100:.0f} % confident'}"
            case "rules":
                return "offline rules"
            case "nobody":
                return "not judged"

    def judged_by(self, *, rules: bool) -> "CriterionResult":
        """The result for people: `rules` instead of the model, if offline rules played the role."""
        return self.model_copy(update={"decided_by": "rules"}) if rules and self.decided_by == "model" else self

    @property
    def grounded(self) -> bool:
        """Whether it was met by more than the words of the run."""
        return self.met and any(item.outside for item in self.evidence)

    @property
    def weak(self) -> bool:
        """Whether all of its evidence may be unrelated to it."""
        needed = [item for item in self.evidence if item.verified]
        if self.about is About.SOURCES:
            needed = [item for item in needed if item.outside]
        return self.met and bool(needed) and all(item.weak for item in needed)

    @property
    def failing_place(self) -> Evidence | None:
        """Where one sees why it is not met: first a quote that was not found, then what a check looked at."""
        return min(self.evidence, key=lambda one: (one.verified, one.kind != "check"), default=None)

    @property
    def doubt(self) -> str:
        """The first doubtful piece of evidence and the reason; empty if there is none."""
        return next((f"“{item.quote}”, {item.weak}" for item in self.evidence if item.quote and item.weak), "")

    @property
    def rests_on(self) -> list[str]:
        """The kinds of sources of its evidence, for people, each once."""
        return list(dict.fromkeys(words for item in self.evidence if item.verified and (words := item.rests_on)))

    @property
    def met(self) -> bool:
        """Whether the verdict says so. What a person accepts is not met: no one has verified it."""
        return self.passed and self.supported

    @property
    def is_accepted(self) -> bool:
        """Whether it counts as met on the word of a person alone."""
        return self.overruled is not None and self.overruled.met

    @property
    def holds(self) -> bool:
        """Whether it counts as met, by its verdict or by the person who overruled that."""
        return self.met if self.overruled is None else self.overruled.met

    @property
    def status(self) -> Literal["passed", "not judged", "unsupported", "failed"]:
        """`unsupported`: the verifier said that it passed. Without evidence that does not count (T1)."""
        if self.met:
            return "passed"
        if self.decided_by == "nobody":
            return "not judged"
        return "unsupported" if self.claimed and not self.supported else "failed"


class RequestResult(Contract):
    """Whether a result meets request `number` of a person (T7). Requests are not counted among the criteria."""

    number: int
    text: str
    status: Literal["met", "not_met", "not_provable"]
    evidence: list[Evidence] = []
    feedback: str = ""

    @property
    def label(self) -> str:
        return f"R{self.number}"

    @property
    def proof(self) -> Evidence | None:
        """The evidence that it is met, if there is any; first the evidence that is clearly related."""
        found = [item for item in self.evidence if item.verified] if self.status == "met" else []
        return min(found, key=lambda item: bool(item.weak), default=None)

    @property
    def weak(self) -> str:
        """Why all of the evidence may be unrelated; empty if it is proved, or not met."""
        return self.proof.weak if self.proof else ""

    @property
    def unproved(self) -> bool:
        """Whether a person has to look."""
        return self.status == "not_provable" or bool(self.weak)


class UntracedFigure(Contract):
    """A figure, or a name, of a result that comes from nowhere (T11): `text` as it is written in `source`, a name of
    `sources.Sources`, from the character `start` to before `end`; `line` counts from 1. `place`: where that is in a
    document, for people; empty in a text, which has lines.
    """

    source: str
    kind: Literal["number", "date", "address", "name"]
    text: str
    line: int
    start: int
    end: int
    place: str = ""

    @property
    def where(self) -> str:
        """For people."""
        return f"{named(self.source)}, {self.place or f'line {self.line}'}"


def distinct(figures: Iterable[UntracedFigure], *, names: bool = False) -> list[UntracedFigure]:
    """Each figure once, at its first place, or each name. A name is guessed, so it is no open point."""
    found = dict[str, UntracedFigure]()
    for figure in figures:
        if (figure.kind == "name") == names:
            found.setdefault(figure.text, figure)
    return list(found.values())


def not_traced(figures: Iterable[UntracedFigure], limit: int = 5) -> str:
    """One sentence for people that names up to this many; empty if there are none."""
    found = distinct(figures)
    if not found:
        return ""
    listed = "; ".join(f"{one.text} ({one.where})" for one in found[:limit])
    more = f"; and {len(found) - limit:,} more" if len(found) > limit else ""
    what = f"{pluralize(len(found), 'figure')} {word_for(len(found), 'is', 'are')}"
    return f"{what} not traced to anything that was given, read, observed, calculated or said: {listed}{more}."


class Judgement(Contract):
    """Everything known about an attempt after verification; `passed` is computed from the results.

    `broken_citations`: of a final one, a sentence for each citation that leads nowhere in what the run delivers.
    `untraced`: the figures that come from nowhere. `uncalibrated`: why not every verifier of the policy
    has the catch rate that it asks for, as a sentence; empty if all have it, or if none is asked for.
    """

    stage: Literal["checks", "model"]
    results: list[CriterionResult]
    passed: bool
    action: Action
    severity: Severity
    feedback: str
    notes: list[str] = []
    broken_citations: list[str] = []
    requests: list[RequestResult] = []
    untraced: list[UntracedFigure] = []
    uncalibrated: Annotated[str, Field(exclude_if=lambda sentence: not sentence)] = ""

    def needs_person(self, *, asks: bool) -> bool:
        """Whether a person has to see it although it passed; `asks`: the run asks people about results of steps."""
        return bool(self.uncalibrated) or needs_person(self.results, self.requests, asks=asks)

    @property
    def unsupported(self) -> int:
        return sum(1 for result in self.results if result.claimed and not result.supported)


def needs_person(results: Iterable[CriterionResult], requests: Iterable[RequestResult], *, asks: bool) -> bool:
    """Whether a person has to see a result that passed: no one can prove that it is what they asked for, all that
    supports a criterion may have nothing to do with it (T1b), or a sample is all that supports one about each of
    something (T1c).
    """
    doubtful = any(result.weak or result.uncounted for result in results)
    return any(request.unproved for request in requests) or (asks and doubtful)


def shared_quotes(results: Iterable[CriterionResult]) -> list[tuple[str, list[CriterionResult]]]:
    """Each quote that is the only evidence of several criteria about the sources, with these criteria."""
    found = dict[str, list[CriterionResult]]()
    for result in results:
        quotes = {item.quote for item in result.evidence if item.outside and item.quote}
        if result.met and result.about is About.SOURCES and len(quotes) == 1:
            found.setdefault(quotes.pop(), []).append(result)
    return [(quote, carried) for quote, carried in found.items() if len(carried) > 1]


def doubts_in(results: Iterable[CriterionResult], where: str) -> list[str]:
    """A sentence for people on each criterion that was met by doubtful evidence, or by a sample, alone."""
    doubtful = [
        f"“{result.text}” ({where}) rests on evidence that may have nothing to do with it: {result.doubt}."
        for result in results
        if result.weak
    ]
    uncounted = [
        f"“{result.text}” ({where}) speaks of each of several things, {result.uncounted}."
        for result in results
        if not result.weak and result.uncounted
    ]
    return doubtful + uncounted


def critique_head(label: str, text: str) -> str:
    """The beginning of a line of a critique about one criterion or request, as models get it."""
    return f"- {label} ({text}): "


def in_plain_words(critique: str, results: Iterable[CriterionResult], requests: Iterable[RequestResult]) -> str:
    """A critique for people, who do not know the labels that models get (T13)."""
    for label, text in [
        *((one.label, one.text) for one in results),
        *((one.label, quoted(one.text)) for one in requests),
    ]:
        critique = critique.replace(critique_head(label, text), f"- {text}: ")
    return critique


def accepted_by(results: Iterable[CriterionResult]) -> list[str]:
    """Who accepts a result that its verdict did not: the people on whose word all of its criteria are met. Empty if it
    is verified, or if a criterion is not met whatever people say.
    """
    listed = list(results)
    accepted = {one.overruled.by for one in listed if one.overruled and one.overruled.met}
    return sorted(accepted) if all(one.holds for one in listed) else []


def rejected_by(results: Iterable[CriterionResult]) -> list[str]:
    """Who rejects a criterion that its verdict found met."""
    return sorted({one.overruled.by for one in results if one.overruled and not one.overruled.met})


def all_pass(results: Iterable[CriterionResult]) -> bool:
    """T3: the only place that computes an overall pass. An empty list of results is not a pass."""
    listed = list(results)
    return bool(listed) and all(result.met for result in listed)
