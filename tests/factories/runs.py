"""Runs in every state, made through lifecycle functions only; no model is asked.

Each function returns a run that a newcomer could have brought there by hand. Needs a database and the blob store.
"""

import base64
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from decimal import Decimal
from typing import Any

from runs.contracts.base import JsonObject
from runs.contracts.ports import Usage
from runs.engine import claim
from runs.enums import (
    About,
    Action,
    Exhausted,
    GateKind,
    Role,
    StepApproval,
    StepMoment,
    Verb,
    WorkKind,
)
from runs.errors import ApprovalAwaited, ModelError
from runs.lifecycle import gate_decisions, outcomes
from runs.lifecycle.gates.budget_gate import ask as ask_about_limit
from runs.lifecycle.gates.error_gate import ask as ask_about_error
from runs.lifecycle.gates.question_gate import ask as ask_question
from runs.lifecycle.gates.tool_gate import ask as ask_about_call
from runs.mcp_client.server_config import CallTerms
from runs.models import Gate, Run
from runs.pev.contracts import PlanContract, PlannedAction
from runs.pev.verifier import failed
from runs.store import journal
from runs.text.plural import pluralize, word_for
from tests.factories.attempts import fail_review, final_answer, pass_inventory, pass_notices, pass_review
from tests.factories.cast import alice, bob
from tests.factories.driving import read_ahead, submit_as
from tests.factories.parts import (
    DATA,
    LEASE,
    called,
    committing,
    decide,
    inventory_step,
    judgement,
    notices_step,
    open_gate,
    open_work,
    output,
    overlay,
    plan,
    plan_step,
    propose,
    quote,
    result,
    review_step,
    submitted,
    tool,
    working,
)

KINDS = {
    "table.csv": b"item;sum\npaint;3\n=SUM(A1);4\n",
    "data.json": b'{"people": [{"name": "Anna", "tasks": ["paint", "roof"]}], "open": true}',
    "picture.png": base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    ),
    "notes.md": b"# Notes\n\n* One\n* Two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n",
    "script.py": b"def f():\n    return 1\n" * 40,
    "latin.bin": b"\0\1\2",
}


LAWS = ("German law", "French law")
FORBIDDEN = "The service refuses this request (403): its policy does not allow contracts/Service agreement.md."
"""An error that trying again does not heal."""


def _fresh(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def planning(**changes: Any) -> Run:
    """Submitted; the planner has not answered yet."""
    return _fresh(submitted(**changes))


def awaiting_plan(contract: PlanContract | None = None, **changes: Any) -> Run:
    """The plan gate is open."""
    run = submitted(**changes)
    propose(run, contract)
    return _fresh(run)


def awaiting_second_plan() -> Run:
    """Alice rejected version 1; version 2 has a step more, one less, one changed."""
    run = awaiting_plan()
    decide(run, GateKind.PLAN, Verb.REJECT, "Check the deadlines too, and leave the notices to me.")
    deadlines = plan_step("deadlines", "List the deadlines", dependencies=["inventory"])
    changed = review_step().model_copy(
        update={"description": "Find vague terms, missing dates and amounts, and every deadline."}
    )
    propose(run, plan(inventory_step(), changed, deadlines), "alice requested changes to version 1")
    return _fresh(run)


def executing(contract: PlanContract | None = None, **changes: Any) -> Run:
    """The plan is approved; the first step runs."""
    run = awaiting_plan(contract, **changes)
    decide(run, GateKind.PLAN, Verb.APPROVE)
    return _fresh(run)


def failed_attempt(**changes: Any) -> Run:
    """The review failed once, with an unsupported quote and a critique; its second attempt runs."""
    run = executing(**changes)
    pass_inventory(run)
    fail_review(run)
    return _fresh(run)


def start_gate(**changes: Any) -> Run:
    """The inventory passed; a person is asked whether the review may start, which counts as high in complexity."""
    run = executing(**{"step_moment": StepMoment.BEFORE, **changes})
    pass_inventory(run)
    return _fresh(run)


def step_gate(**changes: Any) -> Run:
    """The review passed at its second attempt and waits for a person."""
    run = failed_attempt(**changes)
    pass_review(run)
    return _fresh(run)


def sampled() -> Run:
    """A step gate at a result whose criteria rest on one quote, and one of which has evidence for 6 of 23 points."""
    run = step_gate()
    attempt = open_gate(run, GateKind.STEP).attempt
    assert attempt is not None
    verdict = attempt.verdict
    first, *_ = verdict.results
    alike = [
        first.model_copy(update={"label": f"C{number}", "text": text, "about": About.SOURCES})
        for number, text in enumerate(
            ["The notice period is named.", "The fee is named.", "The end is named."], start=1
        )
    ]
    each = {"label": "C4", "text": "Each point quotes its clause.", "each": True, "looked_at": 6, "out_of": 23}
    verdict.results = [*alike, first.model_copy(update={**each, "unit": "points"})]
    verdict.save()
    return _fresh(run)


def reporting(report: str, run: Run | None = None, **files: str) -> Run:
    """A step gate at a result whose report is this text, and which wrote these files too: `rows_csv` is rows.csv."""
    run = run or step_gate()
    gate = open_gate(run, GateKind.STEP)
    assert gate.attempt is not None
    assert gate.attempt.output is not None
    gate.attempt.output = gate.attempt.output.model_copy(update={"findings": report})
    gate.attempt.overlay = {**gate.attempt.overlay, **overlay({n.replace("_", "."): t for n, t in files.items()})}
    gate.attempt.save()
    Gate.objects.filter(pk=gate.pk).update(digest=gate_decisions.current_digest(gate))
    return _fresh(run)


def points(count: int) -> str:
    """A report with so many points."""
    numbers = range(1, count + 1)
    found = [f"- F{number} (contracts/lease.md, line {number}): clause {number} names no date" for number in numbers]
    return "\n".join(
        [f"{pluralize(count, 'point')} {word_for(count, 'needs', 'need')} attention in 3 documents.", "", *found]
    )


def rows(count: int) -> str:
    """A report with a table of so many points."""
    found = [f"| F{number} | no date | {'high' if number % 2 else 'low'} |" for number in range(1, count + 1)]
    return "\n".join([f"{count} points need attention.", "", "| Point | Kind | Severity |", "|---|---|---|", *found])


def cited() -> str:
    """A report with points of all kinds: with a citation that is found, one that is not, and none."""
    return f"""Three points.

- F1 ({LEASE}, line 23): **Placeholder:** TBD [“parking spaces TBD”](<{LEASE}#L23>)
- F2 ({LEASE}, line 41): **Missing amount:** a fee [“no such words”](<{LEASE}#L41>)
- F3: **Vague term:** see {DATA}, line 7, and more ({LEASE}, line 50-52; {DATA}, line 9). <i>
"""


def large_step_gate(steps: int) -> Run:
    """The gate of the second step of so many; the others come after it."""
    rest = [plan_step(f"s{n}", f"Step {n}", dependencies=["review"]) for n in range(3, steps + 1)]
    run = executing(plan(inventory_step(), review_step(), *rest), max_steps=500)
    pass_inventory(run)
    pass_review(run)
    return _fresh(run)


def exhausted_gate() -> Run:
    """Two attempts at the review failed, and no more are allowed."""
    run = executing(attempts=2, replans=0, exhausted=Exhausted.ASK)
    pass_inventory(run)
    fail_review(run)
    fail_review(run, "Still two findings.")
    return _fresh(run)


def replanned() -> Run:
    """The review failed for good and was planned again; the inventory is kept. The second plan gate is open."""
    run = executing(attempts=1, replans=1)
    pass_inventory(run)
    fail_review(run)
    smaller = review_step("review-service").model_copy(update={"name": "Review the service agreement"})
    propose(run, plan(inventory_step(), smaller), "step review, attempt 1")
    return _fresh(run)


def error_gate() -> Run:
    """The model's service refused; the planner's work waits for a person."""
    run = submitted()
    lease = claim.claim(open_work(run, WorkKind.PLAN).pk)
    assert lease is not None
    with committing(lease) as mine:
        refused = "The model's service (api.anthropic.com) refused the API key (401). Check ANTHROPIC_API_KEY."
        ask_about_error(mine, refused, reset=False, cause="authentication_error")
    return _fresh(run)


def step_error(**changes: Any) -> Run:
    """The inventory passed; the review read a file, and after that its model gave no answer, eight times in a row."""
    run = executing(**changes)
    pass_inventory(run)
    lease = claim.claim(open_work(run, WorkKind.ATTEMPT, "review").pk)
    assert lease is not None
    with committing(lease) as mine:
        called(mine, Role.EXECUTOR, 9_000, 400)
        model = mine.run.policy.model_for(Role.EXECUTOR).model
        for _ in range(8):
            question = journal.JournalQuestion(Role.EXECUTOR, model, "2")
            forbidden = ModelError(FORBIDDEN, kind="permission_error", retriable=False)
            journal.write_failure(mine, journal.CallPlace(0, 2), question, forbidden, Usage(), Decimal(0), 900)
        ask_about_error(mine, FORBIDDEN, reset=False)
    return _fresh(run)


def budget_gate() -> Run:
    """The review may cost more than is left; somebody has to raise the budget, or end the run."""
    return _at_limit(
        "$0.13 of the budget of $0.15 is spent; the next call may cost up to $0.03.",
        budget=Decimal("0.15"),
    )


def tool_gate(
    name: str, arguments: JsonObject, terms: CallTerms | None = None, *, purpose: str = "", why: str = ""
) -> Run:
    """The inventory passed; the review waits until a person approves a call that acts outside.

    `terms`: what an administrator said about it; `purpose`: what the plan says that the tool is for, empty if it does
    not name it; `why`: the reason that the model gives.
    """
    review = review_step()
    if purpose:
        actions = [*review.actions, PlannedAction(tool=name, purpose=purpose)]
        review = review.model_copy(update={"actions": actions})
    run = executing(plan(inventory_step(), review, notices_step()))
    pass_inventory(run)
    lease = claim.claim(open_work(run, WorkKind.ATTEMPT, "review").pk)
    assert lease is not None
    with committing(lease) as mine:
        ask_about_call(mine, ApprovalAwaited(name, arguments, "0" * 64))
    gate = run.gates.get(kind=GateKind.TOOL)
    said = {**(gate.call or {}), "terms": asdict(terms)} if terms else gate.call
    Gate.objects.filter(pk=gate.pk).update(call=said, why=why)
    return _fresh(run)


def question_gate(
    question: str = "Which law applies to the notices?", choices: Sequence[str] = LAWS, why: str = ""
) -> Run:
    """The inventory passed; the review cannot go on without an answer. `why`: the reason that the model gives."""
    run = executing()
    pass_inventory(run)
    lease = claim.claim(open_work(run, WorkKind.ATTEMPT, "review").pk)
    assert lease is not None
    with committing(lease) as mine:
        ask_question(mine, question, choices, why)
    return _fresh(run)


def time_gate() -> Run:
    """The run has worked for as long as it may."""
    run = _at_limit("The run has worked for 31 minutes; its limit is 30 minutes.", time_limit=30 * 60)
    Run.objects.filter(pk=run.pk).update(created_at=run.gates.open().get().opened_at - timedelta(minutes=31))
    return _fresh(run)


def _at_limit(sentence: str, **limits: Any) -> Run:
    """The inventory passed; the review cannot ask its next question."""
    run = executing(**limits)
    pass_inventory(run)
    lease = claim.claim(open_work(run, WorkKind.ATTEMPT, "review").pk)
    assert lease is not None
    with committing(lease) as mine:
        ask_about_limit(mine, sentence)
    return _fresh(run)


def files_of_all_kinds() -> Run:
    """A table, data, a picture, Markdown, code and what is no text; the plan gate is open."""
    read_ahead(KINDS)
    run = submit_as(alice(), files=KINDS)
    propose(run)
    return _fresh(run)


def blocked() -> Run:
    """The review was reported as blocked, and there are no replans: a person is asked."""
    run = executing(replans=0)
    pass_inventory(run)
    with working(run, WorkKind.ATTEMPT, "review") as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, output("The schedules are missing.", blocked=True), {})
        outcomes.judged(
            mine.attempt,
            failed("Reported as blocked: the schedules are missing.", action=Action.REPLAN),
            blocked=True,
        )
    return _fresh(run)


def finished_succeeded() -> Run:
    """Every step passed, every success criterion has evidence."""
    run = step_gate()
    decide(run, GateKind.STEP, Verb.APPROVE, by=bob())
    pass_notices(run)
    final_answer(run)
    return _fresh(run)


def finished_partial() -> Run:
    """Alice accepted the review with its gap."""
    run = exhausted_gate()
    decide(run, GateKind.EXHAUSTED, Verb.APPROVE, "Good enough for now.")
    pass_notices(run)
    final_answer(run, met=False)
    return _fresh(run)


def stopped() -> Run:
    """Bob stopped it while the first step ran."""
    run = executing()
    gate_decisions.cancel(run.pk, bob(), "Wrong folder.")
    return _fresh(run)


def many_steps(count: int) -> Run:
    """A plan of `count` small steps in two levels, all passed at once but the last, which runs."""
    first = plan_step("s1", "Step 1")
    rest = [plan_step(f"s{n}", f"Step {n}", dependencies=["s1"]) for n in range(2, count + 1)]
    run = executing(plan(first, *rest), parallel=1, step_approval=StepApproval.NONE, max_steps=500)
    for number in range(1, count):
        with working(run, WorkKind.ATTEMPT, f"s{number}") as mine:
            assert mine.attempt is not None
            attempt = mine.attempt
            path = f"out/{number}.md"
            tool(mine, 1, "write_file", {"path": path, "content": "Done."}, "Written.")
            called(mine, Role.EXECUTOR, 1_000, 100)
            outcomes.executed(attempt, output(f"Step {number} is done."), overlay({path: f"Done {number}."}))
            outcomes.judged(
                attempt,
                judgement([result("C1", "Done.", [quote(attempt, "@output", f"Step {number} is done")])]),
            )
    return _fresh(run)


def keeping(count: int) -> Run:
    """A second version of the plan waits, which keeps the results of `count` steps."""
    run = many_steps(count + 1)
    with working(run, WorkKind.ATTEMPT, f"s{count + 1}") as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, output("Not possible."), {})
        outcomes.judged(mine.attempt, failed("Not possible.", action=Action.REPLAN))
    specs = [step.spec for step in run.plans.get().steps.order_by("position")]
    why = f"“Step {count + 1}” cannot go on as planned, so it is planned again. Critique of attempt 1: Not possible."
    propose(run, plan(*specs[:-1], plan_step("other", "Another way")), why)
    return _fresh(run)
