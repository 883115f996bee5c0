"""The input of a verification: the criteria, the files and answer to judge, and the sources to compare them with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from runs.contracts.base import RESULT, JsonObject
from runs.contracts.ports import ToolResult
from runs.enums import About
from runs.evidence.results import UntracedFigure
from runs.evidence.sources import GivenFiles, Sources, ToolText
from runs.pev.checks.base import Check
from runs.pev.checks.material import CheckInput
from runs.pev.contracts import Criterion
from runs.pev.read_set import ReadTracker
from runs.pev.verification.grounding import EvidenceResolver
from runs.pev.verification.requests import PersonRequest
from runs.pev.verification.search import Search, search, terms_of
from runs.text.dates import Day

NOTHING_TO_DO = Criterion(
    text="The files that were given have nothing that this step is to deal with, so there is nothing for it to do.",
    about=About.SOURCES,
)


@dataclass(frozen=True)
class VerificationInput:
    """What is judged. `files` is the whole tree, read lazily, and `inputs` the files as they were given. `shown` names
    the sources that were made and are judged, `given` those they rest on, in an order that the cases of a run have in
    common.

    `notes`: what the executor wrote in addition to its findings; the verifier sees it, and no quote may name it.
    `finished`: paths of which the plan says that they must not carry citations. `whole`: the whole
    task is judged by its answer, and broken citations fail nothing any more.
    `undeclared`: paths that were written although no step of the plan declared them. `own_confidence`: the
    executor's, 0 to 1, of which the run asks for `min_confidence`; of the verifier it asks for
    `min_verifier_confidence`, and of each written document `min_document_bytes`, where none of the plan's `size_checks`
    says how long it is to be. `review`: a model looks at the result even where checks decide every criterion.
    `read_whole`: the given files of which executors were shown every line; `meant`: those that the step deals with.
    `command` runs one by its name for a check. `pages`: blocks that show, as it looks, what the executor has read.
    `nothing_to_do`: the executor says that the step does not apply, which is judged instead of the criteria.
    `simple`: the verifier is asked in the simple form, about one criterion after the other.
    `terms`: the words of that step, for which the given files are searched then.
    `earlier`: by their names as sources, tool calls of steps that were settled before. `days`: those on which the run
    took place. `untraced`: figures of the result that come from nowhere.
    `persons`: what people asked for, by the number of the request; `requests`: those of them that are judged here.
    """

    subject: str
    request: str
    criteria: Sequence[Criterion]
    expected_outputs: Sequence[str]
    files: Mapping[str, bytes]
    shown: Sequence[str]
    output: str
    tools: Sequence[ToolText]
    model: str
    effort: str
    inputs: GivenFiles = field(default_factory=GivenFiles)
    given: Sequence[str] = ()
    notes: str = ""
    undeclared: Sequence[str] = ()
    finished: Collection[str] = ()
    whole: bool = False
    own_confidence: float = 1.0
    min_confidence: float = 0.0
    min_verifier_confidence: float = 0.0
    min_document_bytes: int = 0
    size_checks: Sequence[Check] = ()
    review: bool = False
    read_whole: Set[str] = frozenset()
    persons: Mapping[int, str] = field(default_factory=dict)
    earlier: Mapping[str, ToolText] = field(default_factory=dict)
    days: Collection[Day] = ()
    untraced: Sequence[UntracedFigure] = ()
    requests: Sequence[PersonRequest] = ()
    meant: Sequence[str] = ()
    pages: Sequence[JsonObject] = ()
    command: Callable[[str], ToolResult] | None = None
    nothing_to_do: bool = False
    simple: bool = False
    terms: Sequence[str] = ()

    def watched(self, looks: ReadTracker) -> VerificationInput:
        """The same input, with a tracker that records which files are read."""
        infos = looks.over(self.inputs.infos, contents=False)  # no one learns from it what is in a file
        inputs = GivenFiles(looks.over(self.inputs.files), infos)
        return replace(self, files=looks.over(self.files), inputs=inputs)

    def with_nothing_to_do(self) -> VerificationInput:
        """The same input for the question whether the step does not apply, instead of whether it was done."""
        name, _, description = self.subject.partition(": ")
        sentences = [description, *(criterion.text for criterion in self.criteria)]
        terms = terms_of(name, sentences, self.expected_outputs)
        return replace(self, nothing_to_do=True, terms=terms, expected_outputs=(), review=False)

    @cached_property
    def searched(self) -> Search | None:
        """The search for the words of a step that is said not to apply."""
        return search(self.terms, self.inputs.infos, self.inputs.files) if self.nothing_to_do else None

    @property
    def labelled(self) -> Mapping[str, Criterion]:
        """The criteria to judge, by label."""
        if self.nothing_to_do:
            return {"N1": NOTHING_TO_DO}
        return {f"C{number}": criterion for number, criterion in enumerate(self.criteria, 1)}

    @property
    def material(self) -> CheckInput:
        """The input of the checks."""
        return CheckInput(self.files, self.inputs.files, self.read_whole, self.command, self.sources)

    @property
    def judged_files(self) -> list[str]:
        """The paths of the files to judge."""
        return [name.removeprefix(RESULT) for name in self.shown]

    @cached_property
    def sources(self) -> Sources:
        """Every source that a quote may name."""
        made = self.judged_files
        return Sources(
            self.files,
            self.inputs,
            made=made,
            output=self.output,
            tools=self.tools,
            earlier=self.earlier,
            persons=self.persons,
            task=self.request,
        )

    @cached_property
    def examiner(self) -> EvidenceResolver:
        """Looks up the quotes of a verifier."""
        return EvidenceResolver(self.sources, ["@output", *self.shown])
