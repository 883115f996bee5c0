"""Templates: plans that ship with pevsite, and those that people have saved from finished runs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files
from itertools import islice

from django.db import IntegrityError, transaction

from runs.enums import AuditKind, RunStatus
from runs.errors import FromLaterVersion, InvalidInput
from runs.lifecycle.approval import fingerprint
from runs.models import Plan, Run, Template, Tree, User
from runs.models.runs import OwnLetterhead
from runs.people.permissions import visible_templates
from runs.pev.contracts import PlanContract, PlannedAction
from runs.pev.imports.imported import plan_in
from runs.pev.plans.commented import REVIEWED, is_word, with_copies
from runs.pev.tools.fetch_page import FetchPage
from runs.pev.tools.service_tools import WebFetch, WebSearch
from runs.store import audit_trail, trees
from runs.store.renditions import of_format
from runs.text.numbers import key as row_key
from runs.text.paths import selected
from runs.text.text_limits import too_long

REVIEW = "document-review"
LOOK_UP = "look-up"
MAX_NAME = 120
"""Characters of a name: one line of a list, and the length of the column."""
MAX_DESCRIPTION = 400
NO_PLAN_TO_KEEP = "Only an approved plan of a finished run can be saved as a template."
MAX_SEARCHED = 500_000
"""Characters of a plan that are searched for file names, and file names that are searched for: a page waits for it."""
MAX_FILES_SEARCHED = 2_000  # for names that a template would carry over


@dataclass(frozen=True)
class Shipped:
    """A template that comes with pevsite. Its plan is `plan_templates/KEY.json`.

    Without `sources_needed` it is for creative work.
    """

    name: str
    description: str
    sources_needed: bool = True


SHIPPED: Mapping[str, Shipped] = {
    REVIEW: Shipped(
        "Document review", "List the documents, collect parties, dates and amounts, find weak points, draft notices."
    ),
    "legal-review": Shipped(
        "Legal review",
        "Categorise the documents, review each category in depth, draft notices, summarise it all.",
    ),
    "idea-workflow": Shipped(
        "Idea workflow",
        "Validate an idea with scores, expand it, connect it with others in your files, plan what to do first.",
        sources_needed=False,
    ),
    "project-analysis": Shipped(
        "Project analysis", "Scan the files, describe the architecture, detect workflows, recommend what to fix."
    ),
    "file-comparison": Shipped("File comparison", "How large the files are and which is the largest, with evidence."),
    LOOK_UP: Shipped(
        "Look-up and calculation",
        "Find the figures that a question needs, in files or on the web (with fetch_page or web_search), with sources, "
        "and work out the answer.",
    ),
}
_SERVICE_PURPOSES: Mapping[str, str] = {
    WebSearch.name: "Search the web for the facts, and cite the passages that have them.",
    WebFetch.name: "Read pages of the web that have them.",
}
"""Tools of the model's service that can replace fetch_page, with their purposes."""


@dataclass(frozen=True)
class Chosen:
    """A chosen plan, a sentence about its origin, and whether its results rest on sources.

    `template` is its name; empty for a plan that was imported. `letterhead`: None if it has none of its own.
    """

    plan: PlanContract
    reason: str
    sources_needed: bool = True
    template: str = ""
    letterhead: OwnLetterhead | None = None


@cache
def shipped_plan(key: str) -> PlanContract:
    return plan_in(package_files("runs").joinpath("plan_templates", f"{key}.json").read_bytes())


def fitted(plan: PlanContract, given: Tree, max_steps: int, excluded: Collection[str] = ()) -> PlanContract:
    """The plan for these files.

    The shipped document review gets a step for Word documents, which makes copies with the findings as comments. Other
    plans, and a plan that may have no further step, stay as they are.
    """
    if plan != shipped_plan(REVIEW) or len(plan.steps) >= max_steps:
        return plan
    files = trees.files_of(given)
    kept_out = frozenset(selected(excluded, files))
    known = of_format("docx", {info.sha256 for path, info in files.items() if is_word(path)})
    word = (
        path
        for path, info in files.items()
        if is_word(path) and path not in kept_out and REVIEWED + path not in files and info.sha256 in known
    )
    return with_copies(plan, word)


def with_web_tools(plan: PlanContract, there: Collection[str]) -> PlanContract:
    """The plan for a run that has these tools.

    The shipped look-up also names tools of the model's service, each of which is enough. Other plans stay as they are,
    and so does every plan for a run without these tools.
    """
    others = [name for name in _SERVICE_PURPOSES if name in there]
    if not others or plan != shipped_plan(LOOK_UP):
        return plan
    # fetch_page stays a tool of the step, but the first of the others is planned instead of it. Only one is planned,
    # because a planned tool that was not used is reported as a deviation.
    planned = PlannedAction(tool=others[0], purpose=_SERVICE_PURPOSES[others[0]])
    steps = []
    for step in plan.steps:
        actions = [planned if action.tool == FetchPage.name else action for action in step.actions]
        steps.append(step.model_copy(update={"actions": actions, "tools": sorted({*step.tools, *others})}))
    return plan.model_copy(update={"steps": steps})


def own_templates(user: User) -> Sequence[Template]:
    """The saved templates of a person by name, without their plans."""
    return list(visible_templates(user).defer("plan").order_by("name"))


def own_template(user: User, key: str) -> Template | None:
    """The saved template with this id as text, without its plan; None if there is none, or if the text is no number."""
    try:
        return visible_templates(user).defer("plan").filter(pk=row_key(key)).first()
    except ValueError:
        return None


def creative(user: User) -> frozenset[str]:
    """The keys of templates that need no sources."""
    own = visible_templates(user).filter(sources_needed=False).values_list("pk", flat=True)
    return frozenset([*(key for key, one in SHIPPED.items() if not one.sources_needed), *map(str, own)])


class UnknownTemplate(InvalidInput):
    """There is no template with this key that the person may see."""

    def __init__(self) -> None:
        super().__init__("There is no such template. Choose another one.")


def chosen(user: User, key: str) -> Chosen:
    """The template with this key: the name of a shipped one, or the id of a saved one.

    Raises UnknownTemplate, and InvalidInput for a saved one whose plan can no longer be read.
    """
    if key in SHIPPED:
        shipped = SHIPPED[key]
        return Chosen(shipped_plan(key), _reason(shipped.name), shipped.sources_needed, shipped.name)
    template = own_template(user, key)
    if template is None:
        raise UnknownTemplate
    return _own(template)


def called(user: User, name: str) -> Chosen:
    """The template with this name, a saved one first. Raises InvalidInput with the existing names."""
    template = visible_templates(user).defer("plan").filter(name=name).first()
    if template:
        return _own(template)
    for key, shipped in SHIPPED.items():
        if name.casefold() in (key, shipped.name.casefold()):
            return chosen(user, key)
    names = [*SHIPPED, *(template.name for template in own_templates(user))]
    raise InvalidInput(f"There is no template “{name}”; there are: {', '.join(names)}.")


def _own(template: Template) -> Chosen:
    """A saved template with its plan. The plan is read separately, so that an invalid one does not break the list."""
    try:
        reason = _reason(template.name)
        return Chosen(template.plan, reason, template.sources_needed, template.name, template.letterhead)
    except FromLaterVersion as error:
        raise InvalidInput(
            f"The template “{template.name}” can no longer be used: its plan was changed by hand, or written by a "
            "later version of pevsite. If an upgrade is under way, wait for its end; else delete the template."
        ) from error


def _reason(name: str) -> str:
    return f"From the template “{name}”."


def plan_worth_keeping(run: Run) -> Plan | None:
    """The newest approved version of the plan of a finished run, or None."""
    if run.status != RunStatus.FINISHED:
        return None
    return run.plans.filter(approval_fingerprint__isnull=False).order_by("-version").first()


def file_names_in(plan: Plan, run: Run) -> list[str]:
    """The names of files of the run that occur in its plan, sorted. A template of the plan would contain them.

    Only the beginning of very long plans and lists of files is searched.
    """
    text = fingerprint.contract_of(plan).model_dump_json()[:MAX_SEARCHED]
    names = {path.rsplit("/", 1)[-1] for path in islice(trees.files_of(run.inputs), MAX_FILES_SEARCHED)}
    return sorted(name for name in names if name in text)


def rename(template: Template, name: str) -> str:
    """Give a template another name, and return it as it is stored. Raises InvalidInput."""
    name = _checked_name(name)
    try:
        with transaction.atomic():
            Template.objects.filter(pk=template.pk).update(name=name)
            record(AuditKind.TEMPLATE_CHANGED, template, "name")
    except IntegrityError as error:
        raise InvalidInput(f"You have a template “{name}” already; choose another name.") from error
    return name


def record(kind: AuditKind, template: Template, what: str = "") -> None:
    """A line of the audit trail, with the digest of the plan: the names are words of people, which can be deleted."""
    audit_trail.record(
        kind,
        by=template.owner,
        run_id=template.from_run_id,
        subject=f"template {template.pk}",
        digest=template.digest,
        name=what,
    )


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise InvalidInput("Give the template a name.")
    if len(name) > MAX_NAME:
        raise InvalidInput(f"The name has {len(name):,} characters; {MAX_NAME} are allowed.")
    return name


def save(user: User, run: Run, name: str, description: str = "") -> Template:
    """Save the plan of a finished run under a name. Raises InvalidInput with a sentence for the person.

    Without a description it gets the beginning of the plan's goal.
    """
    name, description = _checked_name(name), " ".join(description.split())
    if problem := too_long(description, MAX_DESCRIPTION, "The description"):
        raise InvalidInput(problem)
    plan = plan_worth_keeping(run)
    if plan is None:
        raise InvalidInput(NO_PLAN_TO_KEEP)
    contract = fingerprint.contract_of(plan).for_another_run()
    try:
        with transaction.atomic():
            template = Template.objects.create(
                owner=user,
                name=name,
                description=description or contract.goal[:MAX_DESCRIPTION],
                plan=contract,
                digest=plan.digest,
                sources_needed=run.policy.sources_needed,
                letterhead=run.letterhead,
                from_run=run,
            )
            record(AuditKind.TEMPLATE_SAVED, template)
            return template
    except IntegrityError as error:
        raise InvalidInput(f"You have a template “{name}” already; choose another name.") from error
