"""What stories need written to the data folder of their site; each function is called by its name, by `Site.write`."""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from runs.enums import CalibrationStatus, Complexity, GateStatus, NoticeChannel, NoticeKind
from runs.events.kinds import Note
from runs.lifecycle import gate_decisions, owner_actions
from runs.lifecycle.gate_decisions import cancel, pause
from runs.lifecycle.gates.tool_gate import call_of
from runs.lifecycle.overruling import overrule
from runs.llm.model_servers import REHEARSAL
from runs.mcp_client.server_config import CallTerms
from runs.models import Agent, Attempt, Gate, Run, Step
from runs.models.people import DEFAULT_SCOPES
from runs.notices.channels.webhook_channel import new_secret
from runs.notices.choices import send_test
from runs.people import access_tokens, accounts, outbox
from runs.pev.contracts import PlanStep
from runs.rehearsal.job import SAMPLE
from runs.store.event_log import record
from runs.submission import submission_drafts
from runs.submission.policy_presets import default_policy
from runs.submission.run_templates import save
from runs.submission.samples import finished_sample, submission_of
from runs.submission.submit import submit
from runs.web.people.sign_in_pages import link_for
from tests import factories as made
from tests.documents import pdfs, word, workbooks
from tests.factories import agents
from tests.factories import crowd as crowds
from tests.factories.agents import WRITER
from tests.factories.calibrations import stored_calibration
from tests.factories.evaluations import stored_evaluation
from tests.integration.notices.receiver import want

MAX_WAIT = 120.0
"""Seconds until a run of the sample has to ask something."""
LEDGER = "Document,Clause,Amount,Due\n" + "".join(
    f'contracts/lease.md,{n}.1,"{n},200 EUR",2026-0{1 + n % 9}-01\n' for n in range(1, 61)
)

HEADED = """# Review

## Summary

Three clauses of the service agreement need work before it is signed. The fee of clause 7.2 has **no currency**.

- clause 3.3: name the date
- clause 7.2: name the currency
"""
"""A report that begins with two headings."""

LONG_CALL: dict[str, Any] = {
    "to": "bob@ex\u0430mple.com",
    "subject": "Invoice \u202e05",
    "body": "\n".join(f"Line {number} of the letter." for number in range(1, 401)),
    "copy_to": ["שלום@example.com", "ann@example.com"],
    "note": "می\u200cخواهم \U0001f469\u200d\U0001f4bb",
}
"""400 lines in the middle of short arguments, with what is hidden and what only looks so."""


MAIL: dict[str, Any] = {
    "to": ["bob@example.com"],
    "cc": ["ann@example.com", "carol@example.com"],
    "subject": "Reminder: invoice 5",
    "body": "Dear Bob,\n\nour invoice 5 of 3 March 2026 over 1,200 EUR is not paid yet. Please pay it.\n\n"
    "Kind regards\nAlice",
    "attachments": [{"filename": "invoice-5.pdf", "media_type": "application/pdf"}, "contracts/Service agreement.md"],
    "importance": "high",
}
MAIL_TERMS = CallTerms("office@example.com", "Sends the e-mail to everyone named, from the office mailbox.", False)
REMINDING = "Remind the other party of what is due."
LATE = (
    "Clause 6 of the lease lets us terminate after a reminder. Invoice 5 is three months late, and no one was reminded."
)
LAW_DECIDES = (
    "No contract names a law for notices: the lease is silent, and clause 14 of the service agreement only "
    "names a court. The law decides how long before its end a notice has to arrive."
)
EVENT: dict[str, Any] = {
    "summary": "Review of the lease",
    "start": {"dateTime": "2026-12-01T09:00:00", "timeZone": "Europe/Berlin"},
    "end": "2026-12-01T10:00:00",
    "attendees": [{"email": "bob@example.com", "optional": False}, {"email": "ann@example.com", "optional": True}],
    "description": "We go through the clauses that need attention.",
}
TICKET: dict[str, Any] = {
    "title": "The notice of the lease is missing",
    "projectKey": "LEGAL",
    "priority": "High",
    "labels": ["lease", "notice"],
    "assignee": "carol@example.com",
    "description": "Clause 4 of the lease asks for a notice of three months.\n\nNone is on file.",
}
REQUEST: dict[str, Any] = {
    "method": "POST",
    "url": "https://crm.example.com/api/contacts?source=review",
    "headers": {"Content-Type": "application/json"},
    "body": {"name": "Bob Miller", "tags": ["landlord", "2026"]},
}
FILE: dict[str, Any] = {"path": "/shared/notices/lease.md", "content": "# Notice\n\nDear Bob,\n\nwe give notice."}
MESSAGE: dict[str, Any] = {"channel": "#contracts", "text": "The review of the lease is finished: 23 points."}
TRANSFER: dict[str, Any] = {
    "iban": "DE02 1203 0000 0000 2020 51",
    "amount": 1200.5,
    "urgent": False,
    "purpose": "",
    "schedule": {"first_day": "2026-12-01", "every": "month", "limits": {"times": 12, "per_day": [100, 200, 300]}},
}
CALIBRATION: dict[str, Any] = {
    "device": "Scale 3",
    "weights": [100, 200, 500],
    "until_stable": True,
    "note": "",
    "limits": {"drift": 0.02, "per_weight": {"seconds": 30}},
}


def account(name: str, administrator: bool) -> str:
    """Somebody signed in, by the button of a link: the key of the session."""
    client = Client(SERVER_NAME="127.0.0.1")
    client.post(link_for(made.person(name, is_superuser=administrator, is_staff=administrator)))
    return client.cookies["sessionid"].value


def runs(owner: str, *names: str) -> list[int]:
    """The numbers of runs in these states, which take long to reach in a browser.

    Each is there all at once: a worker of the server would take up the work of one that is half made.
    """
    person, states = made.person(owner), _states()
    if "files of all kinds" in names:
        made.read_ahead(made.KINDS)
    numbers = []
    for name in names:
        with transaction.atomic():
            run = states[name]()
            Run.objects.filter(pk=run.pk).update(owner=person)
        numbers.append(run.pk)
    return numbers


def diagrams(owner: str) -> int:
    """The number of a run with Mermaid diagrams: small, wide, tall and broken ones."""
    chart = "gantt\n title Plan\n dateFormat YYYY-MM-DD\n section S\n One :a, 2024-01-01, 30d\n Two :after a, 20d"
    flow = "flowchart LR\n  web[Website] --> api{Is it there?}\n  api -- yes --> cache[(Cache)]\n  api -- no --> db"
    talk = "sequenceDiagram\n  Anna->>Ben: Hello\n  Note over Anna,Ben: A long note\n  Ben-->>Anna: Hi"
    text = "# Architecture\n\n" + "\n".join(
        f"What it is.\n\n```mermaid\n{one}\n```\n" for one in (flow, chart, talk, "flowchart LR\n  a[Open --> b")
    )
    return made.submit_as(made.person(owner), "Draw it", {"parts.md": text.encode(), "flow.mmd": flow.encode()}).pk


def long_documents(owner: str) -> int:
    """The number of a run with documents whose cited places are far from their beginnings."""
    table = [[f"Column {column}" for column in range(1, 27)]]
    table += [[f"{row}.{column}" for column in range(1, 27)] for row in range(1, 81)]
    story = "".join(word.paragraph(f"The parties agreed on point {number}. " * 3) for number in range(120))
    note = {"comments": f'<w:comment w:id="7" w:author="Ann">{word.paragraph("Is that still so?")}</w:comment>'}
    files = {
        "report.pdf": pdfs.pages_of([pdfs.line("At the top.") + pdfs.line("The keys were handed over.", y=40)]),
        "book.xlsx": workbooks.workbook({"Rents": workbooks.rows(*table)}),
        "lease.docx": word.word(story + word.paragraph(word.commented("The deposit is due.", 7)), note),
        "ledger.csv": "".join(f"{number},{number} EUR\n" for number in range(400)).encode(),
        "notes.txt": "".join(f"Line {number} of the notes.\n" for number in range(1, 400)).encode(),
    }
    return made.submit_as(made.person(owner), "Read them", files).pk


def sample(owner: str) -> int:
    """The number of the finished sample run of this person, carried out as ever: here, and by the server."""
    run = finished_sample(made.person(owner))
    while run.finished_at is None:
        made.drain(run)
        time.sleep(0.05)  # the server has work of this run
        run.refresh_from_db()
    return run.pk


def sample_at(owner: str, kind: str) -> int:
    """The number of a new sample run as the button starts it, once a gate of this kind is open: of its plan, or of
    its last step.
    """
    person = made.person(owner)
    policy = default_policy()
    models = {role: one.model_copy(update={"model": REHEARSAL[role]}) for role, one in policy.models.items()}
    submission = submission_of(person, SAMPLE, uuid.uuid4())
    run = submit(person, replace(submission, policy=policy.model_copy(update={"models": models})))
    _wait(run)
    if kind == "step":
        made.answer(run, person)
        _wait(run)
    assert run.gates.filter(kind=kind, status=GateStatus.OPEN).exists()
    return run.pk


def _wait(run: Run) -> None:
    """Until it needs a person; work of it is done here, and by the server."""
    ends = time.monotonic() + MAX_WAIT
    while not run.gates.filter(status=GateStatus.OPEN).exists():
        made.drain(run)
        run.refresh_from_db()
        if run.finished_at or time.monotonic() > ends:
            raise AssertionError(f"run {run.pk} is {run.status} and asks nothing")
        time.sleep(0.02)


def _states() -> dict[str, Callable[[], Run]]:
    steps = [made.plan_step(f"s{number}", f"Step {number}") for number in range(1, 41)]
    middle = [_noting(number) for number in range(2, 40)]
    last = made.plan_step("s40", "Step 40", dependencies=[step.step_id for step in middle])
    return {
        "plan of 4": lambda: made.awaiting_plan(made.plan(*steps[:4])),
        "plan of 40": lambda: made.awaiting_plan(made.plan(steps[0], *middle, last), max_steps=500),
        "plan without a file": _plan_without_a_file,
        "plan with an agent": _plan_with_an_agent,
        "plan with a changed agent": _plan_with_a_changed_agent,
        "second person": lambda: made.awaiting_plan(second_person=True),
        "second plan": made.awaiting_second_plan,
        "start": made.start_gate,
        "result of 4": lambda: made.reporting(made.points(1), made.large_step_gate(4)),
        "easy result": _easy_result,
        "sampled": made.sampled,
        "headed": lambda: made.reporting(HEADED),
        "result of 40": lambda: made.reporting(made.points(200), made.large_step_gate(40)),
        "rows": lambda: made.reporting(made.rows(3), made.large_step_gate(4), rows_csv=LEDGER),
        "cited": lambda: made.reporting(made.cited(), made.large_step_gate(4)),
        "exhausted": made.exhausted_gate,
        "budget": made.budget_gate,
        "question": lambda: made.question_gate(why=LAW_DECIDES),
        "time limit": made.time_gate,
        "long call": lambda: made.tool_gate("mail__send", LONG_CALL),
        "mail": lambda: made.tool_gate("mail__send", MAIL, MAIL_TERMS, purpose=REMINDING, why=LATE),
        "event": lambda: made.tool_gate("calendar__add_event", EVENT),
        "ticket": lambda: made.tool_gate("tracker__create_issue", TICKET),
        "request": lambda: made.tool_gate("web__fetch", REQUEST),
        "file": lambda: made.tool_gate("drive__write_file", FILE),
        "message": lambda: made.tool_gate("chat__post_message", MESSAGE),
        "payment": lambda: made.tool_gate("bank__transfer", TRANSFER),
        "other call": lambda: made.tool_gate("lab__calibrate", CALIBRATION),
        "error": made.error_gate,
        "step error": made.step_error,
        "blocked": made.blocked,
        "kept": lambda: made.keeping(9),
        "succeeded": made.finished_succeeded,
        "partial": made.finished_partial,
        "stopped": made.stopped,
        "files of all kinds": made.files_of_all_kinds,
    }


def asked_at(runs: list[str]) -> list[str]:
    """The kind of the newest gate of each of these runs."""
    return [Run.objects.get(pk=run).gates.latest("pk").kind for run in runs]


def shape_of_call(run: str) -> str:
    """The name of the shape of the call that needs a decision in a run; empty if its shape is not known."""
    return call_of(Run.objects.get(pk=run).gates.latest("pk")).shape


def _easy_result() -> Run:
    """The gate of a result whose step is not of high risk."""
    run = made.step_gate()
    Step.objects.filter(plan__run=run).update(complexity=Complexity.MEDIUM)
    gate_decisions.ask_again(run.gates.select_related("run", "step", "attempt").get(status=GateStatus.OPEN))
    return run


def _noting(number: int) -> PlanStep:
    """A step that writes a file, after the first one."""
    changes = {"dependencies": ["s1"], "expected_outputs": [f"notes/{number}.md"]}
    return made.plan_step(f"s{number}", f"Step {number}", **changes)


def _plan_without_a_file() -> Run:
    said = {"description": "Compare the annex with the lease.", "inputs": ["annex-b.md"]}
    return made.awaiting_plan(made.plan(made.plan_step("s1", "Compare the annex", **said)))


def _plan_with_an_agent(name: str = WRITER) -> Run:
    agent(name)
    steps = [made.plan_step(f"s{number}", f"Step {number}") for number in range(1, 4)]
    return made.awaiting_plan(made.plan(steps[0].model_copy(update={"agent": name}), *steps[1:]))


def _plan_with_a_changed_agent() -> Run:
    """It was approved while the run was paused, so that no step has begun with the agent as it was."""
    run = _plan_with_an_agent("letter-writer")
    pause(run.pk, run.owner, paused=True)
    made.answer(run, run.owner)
    changes = {"instructions": "Write in plain words. Give the date in full.", "model": "", "tools": ("write_file",)}
    agents.change(Agent.objects.get(name="letter-writer"), **changes)
    pause(run.pk, run.owner, paused=False)
    return run


def agent(name: str) -> None:
    """Unless it is there already."""
    if not Agent.objects.filter(name=name).exists():
        agents.agent(name, model="claude-opus-5-5", effort="high", tools=("read_file", "write_file"))


def crowd(owner: str, count: int, open_gates: int, running: int) -> int:
    """See the factory: rows for lists, which no worker takes up. The number of the newest run that is carried out."""
    with transaction.atomic():
        crowds.crowd(made.person(owner), count, open_gates=open_gates, running=running)
    newest = Run.objects.filter(owner__username=owner, status="executing").first()
    return newest.pk if newest else 0


def stop(run: int) -> None:
    """By the owner."""
    cancel(run, Run.objects.get(pk=run).owner)


def halt(run: int) -> None:
    """Pause it, by the owner, so that it stays in its state."""
    pause(run, Run.objects.get(pk=run).owner, paused=True)


def rename(run: int, title: str) -> None:
    """By the owner."""
    owner_actions.rename(run, Run.objects.get(pk=run).owner, title)


def title_of(run: int) -> str:
    return Run.objects.get(pk=run).title


def note(run: int, text: str) -> None:
    """A line in the history of a run."""
    record(run, Note(text=text))


def template(owner: str, run: int, name: str) -> int:
    """The number of a template of one's own."""
    return save(made.person(owner), Run.objects.get(pk=run), name).pk


def step(run: int, key: str) -> int:
    """The number of a step of the newest plan."""
    return Step.objects.filter(plan__run=run, key=key).latest("plan__version").pk


def token(owner: str, name: str, *scopes: str) -> str:
    """An access token of this person, with the usual scopes unless others are named."""
    return access_tokens.issue(made.person(owner), name, 7, scopes or DEFAULT_SCOPES)


def webhook(name: str, address: str) -> None:
    """Have all notices of a person posted to this address."""
    want(made.person(name), NoticeChannel.WEBHOOK, webhook_address=address, webhook_secret=new_secret())


def notice_to_test(name: str) -> None:
    send_test(made.person(name))


def remind(gate: int) -> None:
    """Tell the owner of the run that an hour is left for this decision."""
    row = Gate.objects.get(pk=gate)
    outbox.announce(NoticeKind.DECISION_DUE, [row.run.owner], row.run, row, due_at=timezone.now() + timedelta(hours=1))


def deactivate(name: str) -> None:
    accounts.deactivate(made.person(name))


def discard_drafts(name: str) -> None:
    """All that this person has not submitted."""
    for draft in submission_drafts.of(made.person(name)):
        submission_drafts.discard(draft)


def manage(*arguments: str) -> str:
    """What a management command prints."""
    printed = io.StringIO()
    call_command(*arguments, stdout=printed)
    return printed.getvalue()


def calibration() -> int:
    """The id of a calibration that was stopped, so that the page has everything that it can show."""
    stored_calibration("claude-haiku-4-5", missed=3)
    return stored_calibration(judged=15, status=CalibrationStatus.STOPPED).pk


def overruling(run_id: int) -> int:
    """The id of what the owner of the run says of a criterion that a verifier did not find met."""
    run = Run.objects.get(pk=run_id)
    attempt = Attempt.objects.of_run(run).filter(verdict__passed=False).latest("pk")
    label = next(one.label for one in attempt.verdict.results if one.decided_by == "model" and not one.met)
    return overrule(attempt.pk, run.owner, label, met=True, reason="It is on page 2.", seen=0).pk


def evaluation(run_id: int) -> int:
    """The number of an evaluation whose runs now and before are both this run, so that the page has links."""
    submission = Run.objects.get(pk=run_id).submission
    return stored_evaluation(submission, submission)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        account,
        agent,
        runs,
        asked_at,
        shape_of_call,
        sample,
        sample_at,
        diagrams,
        long_documents,
        crowd,
        rename,
        stop,
        halt,
        note,
        calibration,
        overruling,
        evaluation,
        template,
        title_of,
        step,
        token,
        webhook,
        notice_to_test,
        remind,
        deactivate,
        discard_drafts,
        manage,
    )
}
