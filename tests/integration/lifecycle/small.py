"""Small runs: plans of one or two steps, brought where a test wants them with few rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runs.enums import Action, StepApproval, WorkKind
from runs.evidence.results import CriterionResult
from runs.lifecycle import outcomes
from runs.models import Run
from runs.pev.verifier import failed
from tests import factories as made


def started(*keys: str, **policy: Any) -> Run:
    """Steps without order, all under way; no step waits for a person, or has to read, unless the policy says so."""
    contract = made.plan(*(made.plan_step(key, key.upper()) for key in keys))
    return made.executing(contract, **{"step_approval": StepApproval.NONE, "sources_needed": False, **policy})


def done(run: Run, key: str, files: dict[str, str]) -> None:
    """The step has written these files and passes."""
    with made.working(run, WorkKind.ATTEMPT, key) as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, made.output(f"{key} is done."), made.overlay(files))
        result = made.result("C1", "Done.", [made.quote(mine.attempt, "@output", f"{key} is done.")])
        outcomes.judged(mine.attempt, made.judgement([result]))


def undone(run: Run, key: str, action: Action = Action.RETRY, results: Sequence[CriterionResult] = ()) -> None:
    """The step has written a draft and does not pass."""
    with made.working(run, WorkKind.ATTEMPT, key) as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, made.output("Not yet."), made.overlay({f"{key}.draft": "draft"}))
        judgement = failed("It is missing.", action=action)
        outcomes.judged(mine.attempt, judgement.model_copy(update={"results": list(results)}))


def waiting() -> Run:
    """The only step passed, wrote a.md and waits at its gate."""
    run = started("a", step_approval=StepApproval.ALL)
    done(run, "a", {"a.md": "A"})
    return Run.objects.get(pk=run.pk)


def exhausted() -> Run:
    """The only step failed, and a person is asked whether to go on with the gap."""
    run = started("a", attempts=1, replans=0)
    undone(run, "a")
    return Run.objects.get(pk=run.pk)
