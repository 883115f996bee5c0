"""What becomes of a job under a verifier: judged in memory by the code that judges runs, with the rules or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runs.contracts.base import STEP
from runs.contracts.ports import FileInfo, Model, ToolUse
from runs.documents.content import digest_of
from runs.documents.made_files import make
from runs.enums import About, CitationStatus, Outcome, StepStatus
from runs.evidence.citations.citing import Delivered
from runs.evidence.citations.lookup import citations_in
from runs.evidence.results import CriterionResult, Judgement, doubts_in, not_traced
from runs.evidence.sources import GivenFiles, ToolText
from runs.pev.contracts import Criterion, PlanContract
from runs.pev.delimiters import delimited
from runs.pev.input_coverage import Inputs, coverage, read_whole, unread_in
from runs.pev.outcome import Ledger, StepEntry, outcome_of
from runs.pev.soundness import problems_in
from runs.pev.tools.registry import TOOL_NAMES, calculation_in
from runs.pev.tools.tool import ToolLimits
from runs.pev.tools.toolbox import RunTools
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.untraced import untraced_in
from runs.pev.verifier import judge
from runs.planted_faults.claims import Job
from runs.planted_faults.stored_contracts import AS_USUAL, VerifierSettings

RULES_VERSION = "288ef7c1a4f73ff6"
"""A fingerprint of how the rules judge generated cases, so that figures measured under other rules are known to be old.
A test computes it and says when it has to be replaced.
"""


@dataclass(frozen=True)
class Ending:
    """`passed`: the run would have succeeded, without an open point. `marks`: what a person would see of it anyway.
    `judged`: the verdict on the step, and the one on the whole task if there was one.
    """

    passed: bool
    marks: Sequence[str] = ()
    judged: Sequence[Judgement] = ()

    @property
    def let_through(self) -> bool:
        return self.passed and not self.marks


class Memory:
    """A workspace in memory."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.contents = {path: text.encode() for path, text in files.items()}

    def files(self) -> dict[str, FileInfo]:
        return {path: FileInfo(digest_of(data), len(data)) for path, data in sorted(self.contents.items())}

    def read(self, path: str) -> bytes:
        return self.contents[path]

    def problem(self, path: str) -> str:
        return ""

    def notes(self, path: str) -> Sequence[str]:
        return ()

    def extent(self, path: str) -> str:
        return ""

    def is_given(self, path: str) -> bool:
        return True

    def make(self, form: str, data: bytes) -> bytes:
        return make(form, data)

    def comment(self, path: str, place: tuple[int, int], words: str) -> bytes:
        raise NotImplementedError

    def write(self, path: str, content: bytes) -> None:
        self.contents[path] = content


def tried(job: Job, verifier: Model, *, rules: bool, asked: VerifierSettings = AS_USUAL) -> Ending:
    """Execute the job, judge it, answer, judge the answer, and compute the outcome; one attempt.

    Without `rules`: any verified quote is enough for any criterion, the verifier decides what checks that compare with
    sources decide otherwise, no citation is looked up, and neither sizes nor what was read count.

    Raises NoVerdict when the verifier gives no usable verdict, and ModelError when it gives no answer.
    """
    plan = PlanContract.model_validate(job.plan)
    if rules and (problems := problems_in(plan, TOOL_NAMES, max_steps=40)):
        raise AssertionError(f"the plan is refused: {problems}")
    given = Memory(job.files)
    inputs = GivenFiles(given.contents, given.files())
    work, tools = executed(job)
    case = case_for(job, plan, inputs, work, tools, asked, rules=rules)
    again = [(verifier, asked.model)]
    judged = judge(verifier, case, again)
    if not judged.passed:
        return Ending(False, judged=[judged])
    at_the_end = replace(
        case,
        subject="The whole task. @output is the final answer.",
        criteria=criteria_of(plan.success_criteria, rules=rules),
        expected_outputs=(),
        given=list(job.files),
        output=job.answer,
        tools=(),
        earlier={f"{STEP}work/tool-{number}": tool for number, tool in enumerate(tools, 1)},
        whole=True,
        min_document_bytes=0,
    )
    if rules:
        at_the_end = replace(at_the_end, untraced=untraced_in(at_the_end))
    final = judge(verifier, at_the_end, again)
    ledger = ledger_of(job, plan, case, [judged, final], rules=rules)
    if outcome_of(ledger) is not Outcome.SUCCEEDED:
        return Ending(False, judged=[judged, final])
    seen = marks(job, case, [*judged.results, *final.results]) if rules else ()
    return Ending(True, seen, judged=[judged, final])


def executed(job: Job) -> tuple[Memory, list[ToolText]]:
    """The files after the tool calls, and their results."""
    work = Memory(job.files)
    box = RunTools(work, ToolLimits())
    calls = [looked_up(name, job.pages[name]) for name in job.reads if job.pages]
    uses = [] if job.pages else [("read_file", {"path": path}) for path in job.reads]
    uses += [("calculate", {"expression": job.computes, "decimals": "2"})] if job.computes else []
    uses += [("write_file", {"path": path, "content": text}) for path, text in job.writes.items()]
    for number, (name, arguments) in enumerate(uses, 1):
        result = box.run(ToolUse(str(number), name, dict(arguments)))
        assert not result.is_error, result.text
        sent = "\n".join([name, *arguments.values()])
        calls.append(ToolText(result.text, result.shown, sent, calculation_in(name, {**arguments})))
    return work, calls


def looked_up(name: str, text: str) -> ToolText:
    """What `fetch_page` returns of the page with this address, or an MCP server for a name that is no address."""
    head = f"{name}, found 2026-11-26 10:00 UTC, lines 1-{text.count('\n')} of {text.count('\n')}"
    tool = "fetch_page" if name.startswith("https:") else "rents__find"
    return ToolText(f"{head}\n{delimited('page', text, name)}", sent=f"{tool}\n{name}", is_outside=True)


def case_for(
    job: Job,
    plan: PlanContract,
    inputs: GivenFiles,
    work: Memory,
    tools: Sequence[ToolText],
    asked: VerifierSettings,
    *,
    rules: bool,
) -> VerificationInput:
    (step,) = plan.steps
    shown = [part for tool in tools for part in tool.shown]
    return VerificationInput(
        subject=f"{step.name}: {step.description}",
        request=job.request,
        criteria=criteria_of(step.acceptance_criteria, rules=rules),
        expected_outputs=step.outputs,
        files=work.contents,
        shown=step.outputs,
        output=job.findings,
        tools=tools,
        model=asked.model,
        effort=asked.effort,
        simple=asked.simple,
        inputs=inputs,
        given=[] if job.pages else sorted(job.reads),
        finished={output.path for output in step.expected_outputs if not output.cited},
        whole=not rules,
        min_verifier_confidence=asked.min_confidence if rules else 0.0,
        min_document_bytes=asked.min_document_bytes if rules else 0,
        read_whole=read_whole(inputs.infos, shown),
        meant=list(job.files),
    )


def criteria_of(criteria: Sequence[Criterion], *, rules: bool) -> list[Criterion]:
    if rules:
        return list(criteria)
    return [
        one.model_copy(update={"about": About.OUTPUT, "check": None if one.check and one.check.compares else one.check})
        for one in criteria
    ]


def ledger_of(
    job: Job, plan: PlanContract, case: VerificationInput, judged: Sequence[Judgement], *, rules: bool
) -> Ledger:
    final = judged[-1]
    steps = [StepEntry(plan.steps[0].name, StepStatus.PASSED)]
    if not rules:
        return Ledger(steps, final.results, answered=True)
    earlier = {f"{STEP}work/tool-{number}": tool for number, tool in enumerate(case.tools, 1)}
    delivered = Delivered(list(job.writes), case.files, case.inputs, case.finished, earlier)
    shown = [part for tool in case.tools for part in tool.shown]
    return Ledger(
        steps,
        final.results,
        answered=True,
        broken_citations=delivered.broken(job.answer),
        unread=unread_in(coverage(Inputs(case.inputs.infos), shown), list(job.files)),
        grounded=any(result.grounded for one in judged for result in one.results),
        untraced=not_traced(final.untraced),
        doubts=[doubt for one in judged for doubt in doubts_in(one.results, "the whole task")],
    )


def marks(job: Job, case: VerificationInput, results: Sequence[CriterionResult]) -> list[str]:
    """What pages and reports show next to a result that has passed."""
    found = [f"{one.text}: {one.sample}" for one in results if one.looked_at < one.out_of]
    texts = {"The answer": job.answer, **{path: job.writes[path] for path in job.writes if path.endswith(".md")}}
    for name, text in texts.items():
        found += [
            f"{name}: {link.weak or link.sentence}"
            for link in citations_in(text, case.sources).citations
            if link.weak or link.status is CitationStatus.CORRECTED
        ]
    return found
