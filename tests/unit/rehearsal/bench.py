"""A whole run in memory, rehearsed: plan, steps, verdicts, retries, answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask, FileInfo, Original, Reply, ToolResult, ToolSpec, ToolUse
from runs.documents.content import Converted, digest_of
from runs.documents.formats.docx import docx_reader as docx
from runs.documents.formats.pdf import pdf_reader as pdf
from runs.documents.made_files import add_comment, make
from runs.documents.places.document import Document
from runs.enums import About, Role
from runs.evidence.results import Judgement
from runs.evidence.sources import GivenFiles, ToolText, source_of
from runs.llm.model_servers import REHEARSAL
from runs.pev.contracts import Criterion, PlanContract, PlanStep, StepOutput, SynthesizedAnswer
from runs.pev.executor import execute
from runs.pev.planner import Lesson, PlanBrief, make_plan
from runs.pev.step_brief import Critique, StepBrief
from runs.pev.synthesizer import AnswerBrief, synthesize
from runs.pev.tools.toolbox import RunTools
from runs.pev.verification.case import VerificationInput
from runs.pev.verifier import judge
from runs.rehearsal.job import SAMPLE_REQUEST
from runs.rehearsal.model import Rehearsal

ATTEMPTS = 3
PLANNER, EXECUTOR, VERIFIER = (REHEARSAL[role] for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER))
AS_GIVEN: dict[str, bytes] = {}
NOTES: dict[str, Sequence[str]] = {}
"""The bytes of what was read as a document, by their hash."""
READERS = {".docx": docx.make, ".pdf": pdf.make}


def as_read(name: str, data: bytes) -> bytes:
    """A content as tools get it: of a document its text, which knows its places."""
    reader = READERS.get(Path(name).suffix)
    if reader is None:
        return data
    made = reader(data)
    AS_GIVEN[digest_of(data)] = data
    NOTES[digest_of(data)] = made.rendered.notes
    return Converted(made.text.encode(), digest_of(data), lambda: Document(made.text, made.rendered.layout))


CONTRACTS = {
    f"contracts/{item.name}": as_read(item.name, item.read_bytes())
    for item in files("runs").joinpath("samples", "contracts").iterdir()
}


class RecordedRehearsal(Rehearsal):
    """Every question is kept. `answers`: the final answer by role that is given instead of its own."""

    def __init__(self) -> None:
        self.asked: list[Ask] = []
        self.answers: dict[str, str] = {}

    def ask(self, ask: Ask) -> Reply:
        self.asked.append(ask)
        if answer := self.answers.get(ask.role):
            text = SynthesizedAnswer(answer=answer).model_dump_json()
            return Reply(({"type": "text", "text": text},), "end_turn", ask.model)
        return super().ask(ask)


class Memory:
    """A workspace in memory: a base tree and the changes of one attempt."""

    def __init__(self, base: Mapping[str, bytes]) -> None:
        self.tree = dict(base)
        self.written: set[str] = set()

    def files(self) -> Mapping[str, FileInfo]:
        return {path: FileInfo(digest_of(data), len(data)) for path, data in sorted(self.tree.items())}

    def read(self, path: str) -> bytes:
        return self.tree[path]

    def problem(self, path: str) -> str:
        return ""

    def notes(self, path: str) -> Sequence[str]:
        return NOTES.get(digest_of(self.tree[path]), ())

    def extent(self, path: str) -> str:
        return ""

    def is_given(self, path: str) -> bool:
        return path not in self.written

    def make(self, form: str, data: bytes) -> bytes:
        return make(form, data)

    def comment(self, path: str, place: tuple[int, int], words: str) -> bytes:
        return add_comment(AS_GIVEN[digest_of(self.tree[path])], place, words, None)

    def write(self, path: str, content: bytes) -> None:
        self.tree[path] = as_read(path, content)
        self.written.add(path)


class Recorded:
    """A toolbox that remembers what it answered."""

    def __init__(self, memory: Memory) -> None:
        self._tools = RunTools(memory)
        self.results: list[str] = []
        self.uses: list[ToolUse] = []

    @property
    def read(self) -> list[str]:
        return [str(use.input["path"]) for use in self.uses if use.name == "read_file"]

    def specs(self) -> list[ToolSpec]:
        return list(self._tools.specs())

    def originals(self, use: ToolUse, result: ToolResult) -> Sequence[Original]:
        return self._tools.originals(use, result)

    def read_pdf(self, address: str, data: bytes) -> str:
        raise AssertionError("the rehearsal has no service that reads pages")

    def serve(self, use: ToolUse, result: ToolResult) -> ToolResult:
        raise AssertionError("no service stands behind the rehearsal")

    def note(self, use: ToolUse, result: ToolResult) -> ToolResult:
        raise AssertionError("the rehearsal hands nothing on")

    def run(self, use: ToolUse) -> ToolResult:
        result = self._tools.run(use)
        self.uses.append(use)
        self.results.append(result.text)
        return result


@dataclass
class Attempt:
    step: PlanStep
    output: StepOutput
    judgement: Judgement | None
    tree: dict[str, bytes]
    uses: list[ToolUse]
    turns: int

    @property
    def passed(self) -> bool:
        return self.judgement is not None and self.judgement.passed


@dataclass
class Bench:
    """The run of one request over some files. Steps run in the order of their dependencies, one by one."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(CONTRACTS))
    request: str = SAMPLE_REQUEST
    lessons: tuple[Lesson, ...] = ()
    model: RecordedRehearsal = field(default_factory=RecordedRehearsal)
    attempts: list[Attempt] = field(default_factory=list)
    answer: str = ""

    def __post_init__(self) -> None:
        self.tree = dict(self.files)

    def plan(self, **changes: Any) -> PlanContract:
        previews = {p: d.decode()[:500] for p, d in sorted(self.files.items()) if _is_text(d)}
        brief = PlanBrief(
            request=self.request,
            files=Memory(self.tree).files(),
            previews=dict(list(previews.items())[:20]),
            tools=tuple(RunTools(Memory({})).specs()),
            model=PLANNER,
            effort="medium",
            max_steps=changes.pop("max_steps", 20),
            lessons=self.lessons,
            **changes,
        )
        return make_plan(self.model, brief).plan

    def run(self, plan: PlanContract) -> Judgement:
        results: dict[str, str] = {}
        for step in _ordered(plan):
            for attempt in self.tries(plan, step, results):
                if attempt.passed:
                    self.tree = attempt.tree
                    results[step.step_id] = attempt.output.findings
        return self.finish(plan, results)

    def tries(self, plan: PlanContract, step: PlanStep, results: Mapping[str, str]) -> Iterator[Attempt]:
        critiques: tuple[Critique, ...] = ()
        for number in range(1, ATTEMPTS + 1):
            attempt = self.attempt(plan, step, results, critiques)
            self.attempts.append(attempt)
            yield attempt
            if attempt.passed or attempt.judgement is None:
                return
            critiques = (*critiques, Critique(f"attempt {number}", attempt.judgement.feedback))

    def attempt(
        self,
        plan: PlanContract,
        step: PlanStep,
        results: Mapping[str, str],
        critiques: tuple[Critique, ...] = (),
        rounds: int = 12,
    ) -> Attempt:
        memory, asked = Memory(self.tree), len(self.model.asked)
        tools = Recorded(memory)
        files, now = Memory(self.files).files(), memory.files()
        made = {path: info for path, info in now.items() if files.get(path) != info}
        brief = StepBrief(self.request, plan.goal, step, files, results, EXECUTOR, "medium", rounds, critiques, made)
        output = execute(self.model, tools, brief)
        turns = len(self.model.asked) - asked
        judgement = None
        if output.status == "done":
            case = self.case(step.name, step, memory, output.findings, tools.results, tools.read)
            judgement = judge(self.model, case)
        return Attempt(step, output, judgement, memory.tree, tools.uses, turns)

    def case(
        self, subject: str, step: PlanStep, memory: Memory, output: str, results: list[str], read: list[str]
    ) -> VerificationInput:
        """As the engine makes it: what was written and what was read is shown."""
        written = dict.fromkeys([*sorted(memory.written), *step.outputs])
        return VerificationInput(
            subject=subject,
            request=self.request,
            criteria=step.acceptance_criteria,
            expected_outputs=step.outputs,
            files=memory.tree,
            inputs=self.given(),
            shown=[source_of(path, self.given().infos) for path in written],
            given=sorted(set(read) - written.keys(), key=lambda path: (path not in self.files, path)),
            output=output,
            tools=[ToolText(result) for result in results],
            model=VERIFIER,
            effort="low",
        )

    def given(self) -> GivenFiles:
        return GivenFiles(self.files, Memory(self.files).files())

    def finish(self, plan: PlanContract, results: Mapping[str, str], gaps: tuple[str, ...] = ()) -> Judgement:
        written = sorted(path for path in self.tree if path not in self.files or path.startswith("review/"))
        self.answer = synthesize(
            self.model, AnswerBrief(self.request, plan.goal, results, written, gaps, EXECUTOR, "medium")
        )
        case = VerificationInput(
            subject=plan.goal,
            request=self.request,
            criteria=plan.success_criteria,
            expected_outputs=(),
            files=self.tree,
            inputs=self.given(),
            shown=[source_of(path, self.given().infos) for path in written],
            output=self.answer,
            tools=(),
            model=VERIFIER,
            effort="low",
        )
        return judge(self.model, case)

    def judged(self, path: str, content: str, *criteria: str, **others: str) -> Judgement:
        """The verdict on a file that somebody has written, beside the files of the task and `others`."""
        memory = Memory(
            {**self.files, **{name: text.encode() for name, text in others.items()}, path: content.encode()}
        )
        tools = Recorded(memory)
        for number, name in enumerate(["", *memory.files()]):
            given: JsonObject = {"path": name} if name else {"prefix": ""}
            tools.run(ToolUse(f"use_{number}", "read_file" if name else "list_files", given))
        case = VerificationInput(
            subject=path,
            request=self.request,
            criteria=[Criterion(text=text, about=About.OUTPUT) for text in criteria],
            expected_outputs=(),
            files=memory.tree,
            inputs=self.given(),
            shown=[source_of(path, self.given().infos)],
            given=[name for name in memory.tree if name != path],
            output=content,
            tools=[ToolText(result) for result in tools.results],
            model=VERIFIER,
            effort="low",
        )
        return judge(self.model, case)

    def of(self, step_id: str) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.step.step_id == step_id]


def _ordered(plan: PlanContract) -> list[PlanStep]:
    done: set[str] = set()
    order: list[PlanStep] = []
    while len(order) < len(plan.steps):
        ready = [s for s in plan.steps if s.step_id not in done and set(s.dependencies) <= done]
        order += ready
        done |= {step.step_id for step in ready}
    return order


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False
