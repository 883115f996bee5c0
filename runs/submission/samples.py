"""The samples that ship with pevsite: a request with files, and the template that knows the job."""

import uuid
from collections.abc import Iterator, Mapping
from importlib.resources import files as package_files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from django.conf import settings
from django.core.files.base import ContentFile

from runs.errors import InvalidInput
from runs.models import User
from runs.pev.policy import Policy
from runs.rehearsal.job import SAMPLE, SAMPLE_REQUEST
from runs.submission.intake import Upload
from runs.submission.policy_defaults import default_policy
from runs.submission.run_templates import chosen
from runs.submission.submit import Submission


class Sample(NamedTuple):
    """`label`: what it is, on a button. `folder`: of its files in `runs/samples/`, none for a question alone. Without
    a `template` a planner writes the plan.
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
        "mend first.",
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
"""By name. The first needs no model: the offline rules know it."""


def named(name: str) -> Sample:
    """Raises InvalidInput for an unknown one."""
    if name not in SAMPLES:
        raise InvalidInput(f"There is no sample “{name}”; there are: {', '.join(SAMPLES)}.")
    return SAMPLES[name]


def more_samples() -> list[tuple[str, Sample]]:
    """Those that need a model, each with its name."""
    return [(name, sample) for name, sample in SAMPLES.items() if sample.template]


def uploads_of(sample: Sample) -> list[Upload]:
    """Its files, each below the name of its folder."""
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
    """The policy; for a question that has to be looked up with the sites of the installation, unless it names some."""
    return policy if sample.folder or policy.web else policy.changed(web=settings.WEB)


def submission_of(owner: User, name: str, token: uuid.UUID) -> Submission:
    """A run of the sample under the policy of this installation. Raises InvalidInput for an unknown one."""
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
