"""The same jobs through the engine: submitted, planned, executed, judged and answered by scripted models."""

from __future__ import annotations

import json
from collections.abc import Iterable

from runs.enums import Outcome
from runs.models import Run, User, Verdict
from runs.planted_faults.claims import Job
from runs.planted_faults.stored_contracts import MIN_BYTES
from runs.planted_faults.trial import Ending, tried
from runs.readmodel.shown_citations import citations_of
from tests.bench.catching.judges import Judge, Judging, plausible
from tests.bench.catching.numbered_jobs import faulty, sound
from tests.bench.scripted import answering
from tests.bench.site import fresh_database
from tests.factories import alice, drain, submit_as
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.team import Team, report, told

POLICY = {
    "plan_approval": "never",
    "attempts": 1,
    "replans": 0,
    "exhausted": "fail",
    "reuse": False,
    "sources_needed": True,
    "min_document_bytes": MIN_BYTES,
    "step_approval": "none",
}


def disagreements(numbers: Iterable[int]) -> list[str]:
    """The jobs, with a fault and without, that end otherwise in the engine than judged in memory."""
    fresh_database()
    owner = alice()
    found = []
    for number in numbers:
        for job in of_files(number):
            ended, expected = through_engine(job, plausible, owner), tried(job, Judging(plausible), rules=True)
            if (ended.passed, bool(ended.marks)) != (expected.passed, bool(expected.marks)):
                found.append(f"{job.domain}, {job.fault or 'no fault'} {job.variant}: {ended}, but {expected}")
    return found


def of_files(number: int) -> list[Job]:
    """The two jobs, unless they read the web: that is tried with a server of pages, by `test_reference_jobs`."""
    return [job for job in (faulty(number), sound(number)) if not job.pages]


def through_engine(job: Job, verifier: Judge, owner: User) -> Ending:
    with answering(team_for(job, verifier)):
        run = submit_as(owner, job.request, {path: text.encode() for path, text in job.files.items()}, **POLICY)
        drain(run)
    return Ending(run.outcome == Outcome.SUCCEEDED, marks_of(run))


def marks_of(run: Run) -> list[str]:
    if run.outcome != Outcome.SUCCEEDED or run.final is None:
        return []
    cited = citations_of(run)
    verdicts = Verdict.objects.filter(attempt__step__plan__run=run)
    results = [*run.final.results, *(one for verdict in verdicts for one in verdict.results)]
    doubtful = [one.text for one in results if one.weak or one.looked_at < one.out_of]
    return [*cited.corrected, *(one.weak for one in cited.all if one.weak), *doubtful]


def team_for(job: Job, verifier: Judge) -> Team:
    """Models that do this job and judge it so."""

    def executor(request: Request, right: Answer) -> Answer:
        if request.tool_results:
            return Say(json.dumps(report(job.findings)))
        reads = [ToolUse("read_file", {"path": path}) for path in job.reads]
        return UseTools(*reads, *(ToolUse("write_file", {"path": p, "content": t}) for p, t in job.writes.items()))

    return Team(
        plan=job.plan,
        executor=executor,
        verifier=lambda request, right: Say(json.dumps(verifier(told(request)))),
        synthesizer=lambda request, right: Say(json.dumps({"answer": job.answer})),
    )
