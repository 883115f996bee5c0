"""The samples that ship with pevsite: requests with files, each with the template for its job."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from importlib.resources import files as package_files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from django.conf import settings
from django.core.files.base import ContentFile

from runs.enums import ApprovalPolicy, Exhausted, StepApproval
from runs.errors import InvalidInput
from runs.llm.model_servers import REHEARSAL
from runs.models import Run, User
from runs.models.gates import guards_high_risk
from runs.pev.policy import Policy, RoleModel
from runs.rehearsal.job import SAMPLE, SAMPLE_REQUEST
from runs.submission.intake import Upload
from runs.submission.policy_presets import default_policy
from runs.submission.run_templates import chosen
from runs.submission.submit import Submission, submit


class Sample(NamedTuple):
    """A request with files. `label`: the text of its button. `folder`: its files in `runs/samples/`, "" for none.
    `template`: the template that it uses; without one a planner writes the plan.
    """

    label: str
    request: str
    folder: str
    template: str = ""


SAMPLES: Mapping[str, Sample] = {
    SAMPLE: Sample("three sample contracts", SAMPLE_REQUEST, SAMPLE),
    "legal-review": Sample(
        "a legal review of the contracts",
        "Review these contracts for the Client and the Tenant: sort them, review each kind in depth, draft the notices "
        "to the other parties, and sum up what must not stand as it is.",
        SAMPLE,
        "legal-review",
    ),
    "ideas": Sample(
        "an idea and what is known of others",
        "Test the idea of a library of tools, widen it, connect it with our other ideas and projects, and say what to "
        "do first.",
        "ideas",
        "idea-workflow",
    ),
    "project": Sample(
        "a small project with a workflow",
        "Analyse this project: what it consists of, how its parts fit together, which workflows it has, and what to "
        "fix first.",
        "project",
        "project-analysis",
    ),
    "three-files": Sample(
        "three files to compare",
        "How large are these three files, and which is the largest? Give evidence for each.",
        "three-files",
        "file-comparison",
    ),
    "density": Sample(
        "a figure to look up and work out",
        "What is the population density of Singapore? Look up its population and its area, and show the calculation.",
        "",
        "look-up",
    ),
}
"""By name. The offline rules can do the first; the others need a model."""
FINISHED_TITLE = "Sample: review three contracts"
_NAMESPACE = uuid.UUID("6f4d3b86-93d5-4c0e-9d0c-0a3c2c1b7e52")
"""Of the submission tokens of finished samples."""


def named(name: str) -> Sample:
    """Raises InvalidInput for an unknown name."""
    if name not in SAMPLES:
        raise InvalidInput(f"There is no sample “{name}”; there are: {', '.join(SAMPLES)}.")
    return SAMPLES[name]


def more_samples() -> list[tuple[str, Sample]]:
    """The samples that need a model, by name."""
    return [(name, sample) for name, sample in SAMPLES.items() if sample.template]


def uploads_of(sample: Sample) -> list[Upload]:
    """The files of a sample; their paths begin with its folder."""
    if not sample.folder:
        return []
    folder = package_files("runs").joinpath("samples", sample.folder)
    return [Upload(path, ContentFile(item.read_bytes())) for path, item in sorted(_files(folder, sample.folder))]


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for item in folder.iterdir():
        if item.is_file():
            yield f"{path}/{item.name}", item
        else:
            yield from _files(item, f"{path}/{item.name}")


def allowing(sample: Sample, policy: Policy) -> Policy:
    """The policy; a sample without files may read the sites of the installation unless the policy names some."""
    return policy if sample.folder or policy.web else policy.changed(web=settings.WEB)


def submission_of(owner: User, name: str, token: uuid.UUID) -> Submission:
    """A submission of the sample under the default policy. Raises InvalidInput for an unknown name."""
    sample = named(name)
    policy = allowing(sample, default_policy())
    template = chosen(owner, sample.template) if sample.template else None
    if template and not template.sources_needed:
        policy = policy.changed(sources_needed=False)
    return Submission(
        sample.request,
        uploads_of(sample),
        policy,
        token,
        no_files=not sample.folder,
        plan=template.plan if template else None,
        plan_from=template.reason if template else "",
        template=template.template if template else "",
    )


def why_no_finished_sample() -> str:
    """Why this installation makes no finished sample; empty if it does."""
    if not guards_high_risk():
        return ""
    return (
        "There is no finished sample here: one of its steps has a high risk, and a second person has to approve such "
        "steps in this installation."
    )


def finished_sample(owner: User) -> Run:
    """The sample of this person, carried out by the offline rules to show what a run looks like; made if missing.

    It is a run like any other, never waits for a person, asks no model even if one is connected, and can be deleted.
    Raises InvalidInput or UploadRefused, e.g. if the disk is full.
    """
    if why := why_no_finished_sample():
        raise InvalidInput(why)
    sample = named(SAMPLE)
    policy = Policy(
        models={role: RoleModel(model=model) for role, model in REHEARSAL.items()},
        plan_approval=ApprovalPolicy.NEVER,
        step_approval=StepApproval.NONE,
        exhausted=Exhausted.ACCEPT,
        reuse=False,  # it is there to show how the work is done
    )
    return submit(owner, Submission(sample.request, uploads_of(sample), policy, _token(owner.pk), title=FINISHED_TITLE))


def is_finished_sample(run: Run) -> bool:
    """Whether the run is such a sample, even if its owner has renamed it."""
    return run.submission == _token(run.owner_id)


def _token(owner_id: int) -> uuid.UUID:
    """The same for each call, so that a second click leads to the same run."""
    return uuid.uuid5(_NAMESPACE, str(owner_id))
