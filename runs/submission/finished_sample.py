"""A run to look at before one trusts the product with a task: the sample, carried out by the offline rules.

It asks nobody. It is a run like any other, made when somebody asks for it, and can be deleted like any other.
"""

from __future__ import annotations

import uuid

from runs.enums import ApprovalPolicy, Exhausted, StepApproval
from runs.llm.provider import REHEARSAL
from runs.models import Run, User
from runs.pev.policy import Policy, RoleModel
from runs.rehearsal.job import SAMPLE
from runs.submission.samples import named, uploads_of
from runs.submission.submit import Submission, submit

TITLE = "Sample: review three contracts"
_NAMESPACE = uuid.UUID("6f4d3b86-93d5-4c0e-9d0c-0a3c2c1b7e52")


def finished_sample(owner: User) -> Run:
    """The owner's sample, under way or finished; made if there is none. No model is asked, whatever is connected.

    Raises InvalidInput or UploadRefused, such as for want of space.
    """
    sample = named(SAMPLE)
    policy = Policy(
        models={role: RoleModel(model=model) for role, model in REHEARSAL.items()},
        plan_approval=ApprovalPolicy.NEVER,
        step_approval=StepApproval.NONE,
        exhausted=Exhausted.ACCEPT,
        reuse=False,  # what is looked at is how the work was done
    )
    return submit(owner, Submission(sample.request, uploads_of(sample), policy, _token(owner.pk), title=TITLE))


def is_finished_sample(run: Run) -> bool:
    """Whether the run was made to be looked at, whatever its owner calls it now."""
    return run.submission == _token(run.owner_id)


def _token(owner_id: int) -> uuid.UUID:
    """One for each person, so that a second click leads to the same run."""
    return uuid.uuid5(_NAMESPACE, str(owner_id))
