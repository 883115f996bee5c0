"""What models would deliver and what workers do with it: the parts of which attempts and runs are made."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.files.base import ContentFile

from runs.accounting.past_estimates import estimate_for
from runs.accounting.prices import cost_of
from runs.contracts.base import QuotedEvidence
from runs.contracts.ports import Changes, Reply, Shown, ToolResult, ToolUse, Usage
from runs.engine import claim
from runs.engine.claim import Lease
from runs.enums import (
    About,
    Action,
    Complexity,
    GateKind,
    GateStatus,
    Role,
    Severity,
    StepApproval,
    Verb,
    WorkKind,
    WorkStatus,
)
from runs.events.kinds import EventData
from runs.evidence.results import CriterionResult, Evidence, Judgement, all_pass
from runs.evidence.sources import GivenFiles, Sources, ToolText
from runs.lifecycle import gate_decisions, outcomes
from runs.lifecycle.advance import advance
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Attempt, Gate, Run, User, WorkItem
from runs.pev.checks.deciding import run_check
from runs.pev.checks.file_exists import FileExists
from runs.pev.checks.material import CheckInput
from runs.pev.checks.no_placeholders import NoPlaceholders
from runs.pev.contracts import ContextItem, Criterion, CriterionMet, PlanContract, PlannedAction, PlanStep, StepOutput
from runs.pev.policy import Policy, RoleModel
from runs.pev.verification.grounding import EvidenceResolver
from runs.store import blobs, event_log, journal, trees
from runs.store.trees import Overlay
from runs.submission.intake import Upload
from runs.submission.samples import named
from runs.submission.submit import Submission, submit
from tests.documents.samples import texts
from tests.factories.cast import alice, bob

SERVICE = "contracts/Service agreement.md"
LEASE = "contracts/Büro lease.md"
DATA = "contracts/data-processing-agreement.md"
REVIEW = "review/findings.md"
NOTICE = "notices/kestrel-systems.md"
INVENTORY = "review/inventory.md"
CRITIQUE = (
    "Finding 2 names a problem and stops there: say what the Client should ask for instead of "
    "“an amount to be agreed”, with a figure or a formula."
)


# ---- what models would deliver ------------------------------------------------------------------------------------


def policy(**changes: Any) -> Policy:
    models = {
        Role.PLANNER: RoleModel(model="claude-opus-5-5", effort="high"),
        Role.EXECUTOR: RoleModel(model="claude-sonnet-5-5", effort="medium"),
        Role.VERIFIER: RoleModel(model="claude-haiku-5-5", effort="low"),
    }
    given = {"models": models, "step_approval": StepApproval.HIGH, "reuse": False, **changes}
    return Policy.model_validate(given)  # without reuse: two runs of one test do not know of each other


def criterion(text: str, check: Any = None, about: About = About.OUTPUT) -> Criterion:
    return Criterion(text=text, check=check, about=about)


def plan_step(key: str, name: str, **changes: Any) -> PlanStep:
    """A step with one criterion that is judged with quotes."""
    values: dict[str, Any] = {
        "step_id": key,
        "name": name,
        "description": f"{name}, for every file in the folder.",
        "actions": [PlannedAction(tool="read_file", purpose="Read what is to be reviewed.")],
        "acceptance_criteria": [criterion(f"“{name}” is done for all three contracts.")],
        "expected_outputs": [],
        "dependencies": [],
        "estimated_complexity": Complexity.LOW,
    }
    return PlanStep.model_validate({**values, **changes})


def inventory_step() -> PlanStep:
    return plan_step(
        "inventory",
        "List the contracts and their parties",
        description="Read each contract and note its parties, its date and its subject in one table.",
        acceptance_criteria=[
            criterion("The inventory exists", FileExists(kind="file_exists", path=INVENTORY)),
            criterion("Every contract is listed with both parties."),
        ],
        actions=[
            PlannedAction(tool="list_files", purpose="See what there is."),
            PlannedAction(tool="read_file", purpose="Read each contract."),
            PlannedAction(tool="write_file", purpose="Write the table."),
        ],
        expected_outputs=[INVENTORY],
    )


def review_step(key: str = "review", after: str = "inventory") -> PlanStep:
    return plan_step(
        key,
        "Review the clauses",
        description="Find vague terms, missing dates, amounts and parties, and placeholders. "
        "Quote each with its line and recommend what to do.",
        acceptance_criteria=[
            criterion("Each finding quotes the clause it is about."),
            criterion("Each finding recommends what to do."),
            criterion("The review has no placeholders", NoPlaceholders(kind="no_placeholders", path=REVIEW)),
        ],
        actions=[
            PlannedAction(tool="read_file", purpose="Read the clauses."),
            PlannedAction(tool="search_files", purpose="Find placeholders."),
            PlannedAction(tool="write_file", purpose="Write the findings."),
        ],
        expected_outputs=[REVIEW],
        dependencies=[after] if after else [],
        estimated_complexity=Complexity.HIGH,
    )


def notices_step() -> PlanStep:
    return plan_step(
        "notices",
        "Draft the notices",
        description="Draft one notice to Kestrel Systems that asks for the missing dates and amounts.",
        acceptance_criteria=[criterion("The notice names the clause and asks for one thing each.")],
        actions=[PlannedAction(tool="write_file", purpose="Write the notice.")],
        expected_outputs=[NOTICE],
        dependencies=["review"],
        estimated_complexity=Complexity.MEDIUM,
    )


def plan(*steps: PlanStep) -> PlanContract:
    """The plan of the contract review; with `steps`, of those steps only."""
    return PlanContract(
        goal="A review of the three contracts that a lawyer can check clause by clause, "
        "and the notices that follow from it.",
        context=[
            ContextItem(name="Client", value="Halvorsen & Pryce Logistics Ltd, for the service agreement"),
            ContextItem(name="Language", value="English; the lease is governed by Swiss law"),
        ],
        steps=list(steps) or [inventory_step(), review_step(), notices_step()],
        success_criteria=[
            criterion("Every open point of the three contracts is named with its clause."),
            criterion("The review exists", FileExists(kind="file_exists", path=REVIEW)),
        ],
        rollback_strategy="The contracts themselves are never changed; everything new lies in review/ and notices/.",
    )


# ---- what workers do ----------------------------------------------------------------------------------------------


def submitted(owner: User | None = None, approvers: Sequence[User] = (), **changes: Any) -> Run:
    """The three sample contracts as texts, planning under way. Bob may approve."""
    request = named("contracts").request
    uploads = [Upload(f"contracts/{name}", ContentFile(data)) for name, data in texts().items()]
    return submit(
        owner or alice(),
        Submission(request, uploads, policy(**changes), uuid.uuid4(), approvers=approvers or [bob()]),
    )


@contextmanager
def working(run: Run, kind: WorkKind, key: str = "") -> Iterator[WorkItem]:
    """Do the run's open work of this kind (for the step `key`) as a worker would: leased, fenced, done, moved on."""
    item = open_work(run, kind, key)
    lease = claim.claim(item.pk)
    assert lease is not None
    with committing(lease) as mine:
        yield mine
        claim.finish(mine)
        advance(mine.run_id)


@contextmanager
def committing(lease: Lease) -> Iterator[WorkItem]:
    """One transaction under the lease, as `work.commit` makes it for a function. Raises LeaseLost or Outdated."""
    lease.check()
    with event_log.writing(lease.item.run):
        yield lease.item


def recorded(run_id: int, event: EventData) -> int:
    """An event of its own, by its number."""
    event_log.record(run_id, event)
    return Run.objects.values_list("event_count", flat=True).get(pk=run_id)


def open_work(run: Run, kind: WorkKind, key: str = "") -> WorkItem:
    found = run.work.filter(kind=kind, status=WorkStatus.READY)
    return (found.filter(attempt__step__key=key) if key else found).get()


def propose(run: Run, contract: PlanContract | None = None, reason: str = "The first plan for this request.") -> None:
    contract = contract or plan()
    cost = estimate_for(run, contract)
    with working(run, WorkKind.PLAN) as mine:
        called(mine, Role.PLANNER, 9_000, 2_400)
        outcomes.propose_plan(mine.run, contract, reason=reason, estimate=cost)


def called(item: WorkItem, role: Role, prompt: int, written: int, ordinal: int = 1) -> None:
    """A model call of this many tokens in the journal."""
    model = Policy.model_validate(item.run.policy).model_for(role).model
    usage = Usage(input=prompt, output=written)
    reply = Reply(({"type": "text", "text": "…"},), "end_turn", model, usage, f"req_{item.pk}_{ordinal}")
    question = journal.JournalQuestion(role, model, f"{item.pk}-{ordinal}")
    cost = cost_of(model, usage, item.run.created_at.date())
    journal.write_reply(
        item, journal.CallPlace(0, ordinal), question, reply, cost, 2_300 + 410 * (ordinal % 7), live_=True
    )


def tool(
    item: WorkItem, ordinal: int, name: str, arguments: Mapping[str, Any], text: str, *, error: bool = False
) -> None:
    """A tool call in the journal; its result is what `@tool-N` quotes. A given file that it reads it shows whole."""
    use = ToolUse(f"toolu_{item.pk}_{ordinal}", name, dict(arguments))
    path, lines = str(arguments.get("path")), max(1, len(text.splitlines()))
    given = trees.files_of(item.run.inputs).get(path) if name == "read_file" and not error else None
    shown = (Shown(path, given.sha256, 0, len(text), 1, lines, lines),) if given else ()
    journal.write_result(
        item, journal.CallPlace(0, ordinal), use, ToolResult(text, error, shown), {}, 12 + 31 * ordinal
    )


def overlay(files: Mapping[str, str]) -> Changes:
    return {path: blobs.put(text.encode()) for path, text in files.items()}


def output(findings: str, *, confidence: float = 0.86, blocked: bool = False, **changes: Any) -> StepOutput:
    values = {
        "status": "blocked" if blocked else "done",
        "reasoning": "I read the three contracts clause by clause and noted what a court could read in two ways.",
        "findings": findings,
        "criteria_met": [CriterionMet(criterion="C1", met=True, how="Each finding carries its quote.")],
        "confidence": confidence,
        "notes": "",
    }
    return StepOutput.model_validate({**values, **changes})


def quote(attempt: Attempt, source: str, text: str) -> Evidence:
    """Looked up by the real resolver in the files of the task, the attempt's own, its findings and its tool calls."""
    inputs = attempt.step.plan.run.inputs
    files = Overlay(attempt.base, attempt.overlay, max_files=100, max_bytes=10_000_000).contents()
    said = attempt.output.findings if attempt.output else ""
    tools = [ToolText(call.result, call.shown) for call in attempt.tool_calls.order_by("ordinal")]
    given = GivenFiles(trees.contents_of(inputs), trees.files_of(inputs))
    sources = Sources(files, given, output=said, tools=tools)
    return EvidenceResolver(sources, ()).examined(QuotedEvidence(source=source, quote=text))


def checked(attempt: Attempt, check: Any) -> Evidence:
    files = Overlay(attempt.base, attempt.overlay, max_files=100, max_bytes=10_000_000).contents()
    return run_check(check, CheckInput(files))


def result(
    label: str, text: str, evidence: Sequence[Evidence], *, claimed: bool = True, feedback: str = ""
) -> CriterionResult:
    """As the verifier computes it: supported only by evidence that stands up."""
    decided_by = "check" if any(item.kind == "check" for item in evidence) else "model"
    supported = claimed and any(item.verified for item in evidence)
    if claimed and not supported:
        feedback = "Unsupported: no passage that was quoted for it is in its source."
    return CriterionResult.model_validate(
        {
            "label": label,
            "text": text,
            "decided_by": decided_by,
            "claimed": claimed,
            "supported": supported,
            "passed": supported,
            "confidence": 1.0 if decided_by == "check" else 0.9,
            "feedback": feedback,
            "evidence": [item.model_dump() for item in evidence],
        }
    )


def judgement(results: Sequence[CriterionResult], *, feedback: str = "", notes: Sequence[str] = ()) -> Judgement:
    passed = all_pass(results)
    return Judgement(
        stage="model",
        results=list(results),
        passed=passed,
        action=Action.PASS if passed else Action.RETRY,
        severity=Severity.MINOR if passed else Severity.MAJOR,
        feedback="" if passed else feedback,
        notes=list(notes),
    )


def decide(run: Run, kind: GateKind, verb: Verb, reason: str = "", by: User | None = None) -> Gate:
    """Answer the open gate of this kind as a person would."""
    gate = open_gate(run, kind)
    gate_decisions.decide(gate.pk, by or alice(), Decision(verb, gate.digest, reason))
    return gate


def open_gate(run: Run, kind: GateKind | None = None) -> Gate:
    """The only open gate; with `kind`, of that kind."""
    found = run.gates.filter(status=GateStatus.OPEN)
    return (found.filter(kind=kind) if kind else found).get()
