"""Checks of a submission. Each problem is raised as one sentence for the person, before anything changes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_CEILING
from functools import cache
from importlib.resources import files

from django.conf import settings
from django.utils import timezone

from runs.accounting.prices import price_of
from runs.calibration.minimum_catch_rate import problem_with_verifiers
from runs.enums import ApprovalPolicy, Effect, Executor, Provider, Role, StepApproval
from runs.errors import FilesMissing, InvalidInput, PlanRefused
from runs.lifecycle.available_agents import agent_roster
from runs.lifecycle.run_limits import least_budget
from runs.lifecycle.toolset import commands_allowed, tool_names
from runs.llm.model_servers import HOW_TO_CONNECT
from runs.models import User
from runs.models.gates import guards_high_risk
from runs.people.permissions import is_administrator
from runs.pev.contracts import PlanContract
from runs.pev.conversation.served import WEB_FETCH, WEB_SEARCH
from runs.pev.imports.notes import shortened
from runs.pev.policy import Policy
from runs.pev.soundness import compared_with_itself, problems_in
from runs.pev.tools.registry import effect_of
from runs.rehearsal.job import SAMPLE, SAMPLE_REQUEST, can_carry_out
from runs.rehearsal.model import MODELS
from runs.store.input_examination import is_legible
from runs.submission import run_templates
from runs.submission.policy_presets import current_service
from runs.text.domains import sites
from runs.text.text_limits import too_long

MAX_REQUEST = 20_000
"""About ten pages. A longer text belongs in a file, where it can be quoted."""
MAX_MENTION = 60
"""Characters of a request that are quoted back."""
_THINGS = {
    ("these", "this", "attached", "enclosed", "uploaded", "following", "my", "our"): (
        r"files?|documents?|contracts?|agreements?|leases?|invoices?|papers?|pdfs?|folders?|project|code|codebase"
        r"|repository|interviews?|transcripts?|spreadsheets?|tables?"
    ),
    (r"diese[rsnm]?", r"(?:beigefügt|angehängt|beiliegend|folgend)e[rsnm]?", r"(?:mein|unser)e?[rsnm]?"): (
        r"dateien|datei|dokumente?n?|verträgen?|vertrags?|unterlagen|rechnungen|projekte?s?|ordner|codes?|tabellen?"
        r"|interviews?|protokollen?"
    ),
    ("ces", "cet", "cette", "ce", "mes", "nos", "notre", "mon"): (
        r"fichiers?|documents?|contrats?|factures?|dossiers?|projet|code|entretiens?|tableaux?"
    ),
    (r"est[eoa]s?", "mis?", r"nuestr[oa]s?"): (
        r"archivos?|ficheros?|documentos?|contratos?|facturas?|carpetas?|proyecto|código|entrevistas?"
    ),
    (r"quest[eoia]", "i miei", "i nostri", "il mio", "il nostro"): (
        r"file|documenti?|contratt[oi]|fatture|cartell[ae]|progetto|codice|interviste"
    ),
    (r"est[ea]s?", r"ess[ea]s?", r"meus?", r"noss[oa]s?"): (
        r"arquivos?|ficheiros?|documentos?|contratos?|faturas?|pastas?|projeto|código|entrevistas?"
    ),
    ("deze", "dit", "bijgevoegde", "mijn", "onze"): (
        r"bestand(?:en)?|document(?:en)?|contract(?:en)?|facturen|map(?:pen)?|project|code|interviews?"
    ),
}
"""Words that point at something, and words for what they may point at, one entry per language."""
_ATTACHED = r"(?:documents?|fichiers?|contrats?|documentos?|archivos?|contratos?|documenti?|contratti)\s+" + (
    r"(?:ci-)?(?:joints?|adjunt[oa]s?|allegati?|anexad[oa]s?|em anexo)"
)
_MENTION = re.compile(
    "|".join(
        [
            *(rf"\b(?:{'|'.join(words)})\s+(?:[\w-]+\s+){{0,2}}(?:{things})\b" for words, things in _THINGS.items()),
            rf"\b{_ATTACHED}\b",
        ]
    ),
    re.IGNORECASE,
)


def mention_in(request: str) -> str:
    """The first words of a request that point at files, e.g. “these three contracts”; "" without any.

    It is a guess, and is only used to ask whether files are missing.
    """
    found = _MENTION.search(request)
    return " ".join(found[0].split())[:MAX_MENTION] if found else ""


def checked_request(request: str, *, has_files: bool, no_files: bool) -> str:
    """The request without surrounding space. `no_files`: the person has confirmed that no files are missing.

    Raises InvalidInput for an empty or too long request, FilesMissing when it mentions files and there are none.
    """
    request = request.strip()
    if not request:
        raise InvalidInput("Describe the task: the request is empty.")
    if problem := too_long(request, MAX_REQUEST, "The request"):
        raise InvalidInput(f"{problem} Put long texts into a file.")
    if not has_files and not no_files and (mention := mention_in(request)):
        raise FilesMissing(_no_file_for(mention))
    return request


def check_has_sources(request: str, *, has_files: bool, no_files: bool) -> None:
    """Raises FilesMissing for a run without files, until the person has confirmed that none are missing."""
    if has_files or no_files:
        return
    if mention := mention_in(request):
        raise FilesMissing(_no_file_for(mention))
    raise FilesMissing(
        "No file is attached. Without files nothing can be checked against sources, so the run can end as partial at "
        "best."
    )


def _no_file_for(mention: str) -> str:
    return f"You speak of “{mention}”, but no file is attached."


def check_policy(policy: Policy, owner: User, approvers: Sequence[User]) -> None:
    """Raises InvalidInput for a policy that this installation cannot follow."""
    if policy.second_person or guards_high_risk():
        _check_second_person(policy, owner, approvers)
    if policy.same_model and not policy.same_model_verifier:
        raise InvalidInput(
            f"{policy.model_for(Role.EXECUTOR).model} would judge its own work: executor and verifier are the same "
            "model and share their blind spots. Choose another verifier, or allow it in the policy."
        )
    if problem := problem_with_verifiers(policy):
        raise InvalidInput(f"{problem} {_advice_on_verifier(policy, owner)}")
    if beyond := sites(policy.web).beyond(sites(settings.WEB)):
        there = f"reads {words} alone" if (words := sites(settings.WEB).words) else "reads no pages of the web"
        raise InvalidInput(f"This installation {there}, so not {beyond[0]}. Change the sites of the policy.")
    if absent := sorted(set(policy.service_tools) - settings.SERVICE_TOOLS):
        there = ", ".join(sorted(settings.SERVICE_TOOLS)) or "none"
        raise InvalidInput(f"This installation does not allow {absent[0]}. Of the service's tools it allows: {there}.")
    web_tools = {WEB_FETCH, WEB_SEARCH}.intersection(policy.service_tools)
    if web_tools and sites(policy.web).within(sites(settings.WEB)).is_mixed:
        raise InvalidInput(
            f"{min(web_tools)} takes sites, or all sites but some, not both. Leave out the exceptions, or the tool."
        )
    if unknown := sorted(set(policy.servers) - settings.MCP.keys()):
        there = f"There are: {', '.join(sorted(settings.MCP))}." if settings.MCP else "It has none."
        raise InvalidInput(f"This installation has no MCP server “{unknown[0][:40]}”. {there}")
    if policy.subagents:
        _check_subagents(policy)
    if policy.executor is Executor.AGENT_SDK:
        _check_agent_sdk(policy)
    today = timezone.now().date()
    models = {*(policy.model_for(role).model for role in Role), *policy.verifiers}
    unpriced = sorted(model for model in models if price_of(model, 1, today) is None)
    if policy.budget is not None and unpriced:
        raise InvalidInput(
            f"The budget cannot be kept: no price is known for {', '.join(unpriced)}. Leave the budget empty."
        )


def _advice_on_verifier(policy: Policy, person: User) -> str:
    """What this person can do about a verifier without the catch rate that the policy asks for."""
    if policy.by_rules:
        return "Choose a model as the verifier, or leave the minimum catch rate empty."
    if is_administrator(person):
        calibrate = "Calibrate it on the page Calibrations"
    else:
        calibrate = "Ask an administrator to calibrate it"
    return f"{calibrate}, choose another verifier, or lower the minimum catch rate or leave it empty."


def _check_second_person(policy: Policy, owner: User, approvers: Sequence[User]) -> None:
    """Raises InvalidInput for a policy that would never ask a second person. Where the installation alone demands one,
    for high risk, no one has to be named yet: the plan may have no such steps, and the run can be shared later.
    """
    without = "as this installation demands" if guards_high_risk() else "or do without a second person"
    has_named = any(one.may_decide and one.pk != owner.pk for one in approvers)  # inactive people hold nothing
    if policy.second_person and not has_named:
        raise InvalidInput("A second person has to approve, but no one else may decide. Name someone who may.")
    if policy.plan_approval is ApprovalPolicy.NEVER:
        raise InvalidInput(
            "A second person has to approve, but no plan would wait for one. Let the first plan or every plan wait, "
            f"{without}."
        )
    if policy.step_approval is StepApproval.NONE:
        raise InvalidInput(
            "A second person has to approve, but no result would wait for one. Let high-risk steps wait at "
            f"least, {without}."
        )


def _check_subagents(policy: Policy) -> None:
    there = agent_roster(policy)
    for name in policy.subagents:
        if why := there.missing(name):
            raise InvalidInput(f"The policy names the subagent “{name}”, {why} Leave it out, or name another.")


def _check_agent_sdk(policy: Policy) -> None:
    if not settings.AGENT_SDK:
        raise InvalidInput(
            "The Agent SDK is not installed here, so it cannot plan or carry out attempts. Let pevsite do so, or have "
            "the administrator run uv sync --extra agent-sdk."
        )
    if policy.service_tools:
        raise InvalidInput(
            "The Agent SDK does not use the tools of the model's service. Leave them out of the policy, or let pevsite "
            "carry out attempts."
        )
    if policy.by_rules:
        raise InvalidInput("The Agent SDK needs a model, and offline rules are none. Let pevsite carry out attempts.")


def check_budget(policy: Policy, request: str, files: Iterable[str]) -> None:
    """Raises InvalidInput for a budget that does not pay for a plan. `files`: the paths that the planner is shown."""
    if (budget := policy.budget) is None:
        return
    least = least_budget(policy, request, files)
    if least is not None and budget < least:
        cents = (100 * least).to_integral_value(ROUND_CEILING) / 100
        raise InvalidInput(
            f"The budget of ${budget} does not pay for a plan: the first question to the planner may cost up to "
            f"${cents:.2f}. Give the run ${cents:.2f} or more, better ten times as much, or leave the budget empty."
        )


def check_plan(plan: PlanContract, policy: Policy) -> None:
    """Raises PlanRefused with every problem that keeps an imported plan from being run under this policy."""
    plan = plan.for_another_run()
    problems = problems_in(
        plan,
        tool_names(policy),
        commands=commands_allowed(policy),
        agents=agent_roster(policy, plan),
        max_steps=policy.max_steps,
        sources_needed=policy.sources_needed,
    )
    if problems:
        raise PlanRefused(shortened(problems))


def check_sources(plan: PlanContract, given: Mapping[str, object]) -> None:
    """Raises PlanRefused for an imported plan that would compare the result with itself instead of the given files."""
    if problems := compared_with_itself(plan, given):
        raise PlanRefused(shortened(problems))


type Contents = Mapping[str, Callable[[], Iterable[bytes]]]
"""Path to a function that reads the file, in chunks."""
_KNOWN = "only the sample contracts and the template “Document review” on texts and documents"
_WEB = " that looks things up on the web, with fetch_page or web_search"


def is_connected() -> bool:
    """Whether new runs are answered by a model."""
    return current_service().provider is not Provider.OFFLINE


def check_can_be_answered(
    policy: Policy, owner: User, request: str, plan: PlanContract | None, contents: Contents | None
) -> None:
    """Raises InvalidInput if no model would answer `owner`, or only the rehearsal, which cannot do this job.

    `contents` is None while the files are not known.

    The rehearsal can do the sample, which is recognised by its request and its files, and plans that consist only of
    steps of its template, wherever they come from.
    """
    models = {policy.model_for(role).model for role in Role}
    if is_connected():
        rehearsed = ", ".join(sorted(models & MODELS))
        if rehearsed and (problem := _problem_offline(request, plan, contents)):
            raise InvalidInput(f"{problem}; {rehearsed} can do {_KNOWN}, so name other models in the policy.")
        return
    strange = ", ".join(sorted(models - MODELS))
    problem = (
        f"No model is connected, so there is no {strange}" if strange else _problem_offline(request, plan, contents)
    )
    if problem:
        raise InvalidInput(f"{problem}; without a model {_KNOWN} can be run, so {_advice(owner)}.")


def _advice(person: User) -> str:
    """How this person gets a model connected. Variables of the environment are for those who can set them."""
    return f"connect one: {HOW_TO_CONNECT}" if is_administrator(person) else "ask your administrator to connect one"


def usual_template(user: User) -> str:
    """The key of the template that a new form begins with: without a model, the first that works; with one, none."""
    unavailable = templates_that_need_a_model(user)
    return "" if is_connected() else next((key for key in run_templates.SHIPPED if key not in unavailable), "")


def templates_that_need_a_model(user: User) -> frozenset[str]:
    """The keys of the templates that cannot be chosen now; none while a model is connected."""
    if is_connected():
        return frozenset()
    keys = [*run_templates.SHIPPED, *(str(template.pk) for template in run_templates.own_templates(user))]
    return frozenset(key for key in keys if not can_carry_out(run_templates.chosen(user, key).plan))


def _problem_offline(request: str, plan: PlanContract | None, contents: Contents | None) -> str:
    """Why the rehearsal cannot do this, or nothing. `contents` is None while the files are not known."""
    if plan is not None and not can_carry_out(plan):
        web = any(effect_of(name) is Effect.READS_WEB for step in plan.steps for name in step.tools)
        return f"This plan needs a model{_WEB if web else ''}"
    if plan is None and not (request == SAMPLE_REQUEST and (contents is None or _are_sample(contents))):
        return "This task needs a model"
    if contents is None:
        return ""
    if not contents:
        return "There are no files to review"
    strange = next((path for path, read in contents.items() if not is_legible(read)), None)
    return f"“{strange}” is neither a text nor a document" if strange else ""


def _are_sample(contents: Contents) -> bool:
    sample = _sample()
    return contents.keys() == sample.keys() and all(_digest(read()) == sample[path] for path, read in contents.items())


@cache
def _sample() -> dict[str, str]:
    folder = files("runs").joinpath("samples", SAMPLE)
    return {f"{SAMPLE}/{item.name}": _digest([item.read_bytes()]) for item in folder.iterdir() if item.is_file()}


def _digest(chunks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()
