"""Verifiers of generated jobs whose quality is known: they are given the truth, and err as often as they should."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from runs.calibration.calibrations import Wanted
from runs.contracts.ports import Ask, Reply
from runs.enums import FaultKind
from runs.pev.delimiters import DelimitedBlock, find
from runs.planted_faults.cases import Case, case_of
from runs.planted_faults.claims import Job
from tests.bench.catching.judges import proofs_in, seen_in
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.team import block, documents, told, verdict

type Opinion = Callable[[Case], tuple[bool, float]]
"""Whether a verifier passes a case, and how sure it says it is."""


class KnownVerifier:
    """A model that judges one case by an opinion, the same in every question about it."""

    def __init__(self, case: Case, opinion: Opinion) -> None:
        self._case = case
        self._passes, self._confidence = opinion(case)

    def ask(self, ask: Ask) -> Reply:
        content: Any = ask.messages[0]["content"]
        parts = [part for block in content for part in find(block["text"])]
        answer = answer_to(parts, self._case.job, passes=self._passes, confidence=self._confidence)
        return Reply(({"type": "text", "text": json.dumps(answer)},), "end_turn", ask.model)


def answer_to(parts: Sequence[DelimitedBlock], job: Job, *, passes: bool, confidence: float = 0.9) -> dict[str, Any]:
    """A verdict that passes or fails everything. Where it passes, it quotes what proves a true statement of the job."""
    seen = seen_in(list(parts))
    topics = dict(line.split(": ", 1) for line in block(list(parts), "about").splitlines())
    at_the_end = block(list(parts), "subject").startswith("The whole task")
    texts = [job.answer] if at_the_end else [text for name, text in job.writes.items() if name.endswith(".md")]
    results = []
    output = job.answer if at_the_end else job.findings
    for label, topic in topics.items():
        if not passes:
            (one,) = verdict([label], "", "", passed=False)["criteria_results"]
        elif topic == "sources":
            stated = [claim for claim in job.claims if claim.says and any(claim.statement in text for text in texts)]
            true = [(claim.file, claim.quote, claim.statement) for claim in stated if claim.file in job.files]
            source, quote, statement = next(iter(true or proofs_in(seen)), ("@output", output, None))
            (one,) = verdict([label], source, quote, statement or "")["criteria_results"]
        else:
            (one,) = verdict([label], "@output", output)["criteria_results"]
        results.append({**one, "confidence": confidence})
    action = "pass" if passes else "retry"
    return {**verdict([], "", "", passed=passes, action=action), "criteria_results": results}


def case_shown(parts: Sequence[DelimitedBlock], cases: Sequence[Case]) -> Case:
    """The case that a question is about, by the documents in it: how a verifier over the network knows the truth."""
    at = next(number for number, part in enumerate(parts) if part.kind == "subject")
    given, made = documents(list(parts[:at])), dict(documents(list(parts[at:])))
    (found,) = {
        case.number: case
        for case in cases
        if all(case.job.files.get(name, "").strip() == text for name, text in given)
        and all(made.get(name) == text.strip() for name, text in case.job.writes.items())
    }.values()
    return found


def scripted_verifier(wanted: Wanted, opinion: Opinion) -> Callable[[Request], Answer]:
    """A verifier of known quality behind the fake API, for the cases of one calibration."""
    cases = [case_of(number, wanted.kinds, wanted.languages, wanted.seed) for number in range(wanted.cases)]

    def answer(request: Request) -> Answer:
        parts = told(request)
        case = case_shown(parts, cases)
        passes, confidence = opinion(case)
        return Say(json.dumps(answer_to(parts, case.job, passes=passes, confidence=confidence)))

    return answer


def catching(
    share: float,
    seed: str,
    *,
    by_kind: dict[FaultKind, float] | None = None,
    false_refusals: float = 0.0,
    confidence: float = 0.9,
) -> Opinion:
    """Notices this share of the faults, of some kinds another share, and refuses this share of sound results."""

    def opinion(case: Case) -> tuple[bool, float]:
        drawn = Random(f"{seed} {case.number}").random()
        refuses = false_refusals if case.kind is None else (by_kind or {}).get(case.kind, share)
        return drawn >= refuses, confidence

    return opinion
