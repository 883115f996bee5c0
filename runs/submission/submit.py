"""The way in: files become a tree, a request becomes a run. What is refused changes nothing."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING
from functools import partial

from django.conf import settings
from django.core.files.base import File
from django.db import IntegrityError
from django.utils import timezone

from runs.accounting.past_estimates import estimate_for
from runs.accounting.prices import price_of
from runs.contracts.ports import FileInfo
from runs.enums import ApprovalPolicy, Executor, Role, StepApproval
from runs.errors import FilesMissing, InvalidInput, PlanRefused
from runs.events import kinds as events
from runs.lifecycle import outcomes
from runs.lifecycle.advance import advance
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.available_agents import agent_roster
from runs.lifecycle.coverage import known_unread
from runs.lifecycle.run_limits import least_budget
from runs.lifecycle.toolset import commands_allowed, tool_names
from runs.models import Draft, Run, Tree, User
from runs.models.revisions import Revision
from runs.pev.contracts import PlanContract
from runs.pev.conversation.served import WEB_FETCH, WEB_SEARCH
from runs.pev.imports.problems import shortened
from runs.pev.policy import Policy
from runs.pev.soundness import compared_with_itself, problems_in, without_sources
from runs.store import blobs, event_log, trees
from runs.submission import input_replacement, submission_drafts
from runs.submission.intake import Upload, check_excluded, check_space, intake, listed, without_secrets
from runs.submission.mentions import mention_in
from runs.submission.offline_rules import Contents, check_can_be_answered
from runs.submission.run_revisions import revision_of
from runs.submission.run_templates import fitted, plan_worth_keeping, with_web_tools
from runs.submission.unpacking import note_problems, unpacked
from runs.text.domains import sites
from runs.text.plural import pluralize
from runs.text.sentences import first_sentence
from runs.text.truncate import truncate

MAX_REQUEST = 20_000
"""About ten pages. What is longer is material and belongs into a file, where it can be quoted."""


@dataclass(frozen=True)
class Submission:
    """What a person submits. `token` makes a form that is sent twice one run. `no_files`: none are missing.
    `from_draft`: the files of the draft with this token are the run's, beside the uploads.

    `left_out`: what the sender has not sent, since it may hold secrets. `remarks`: sentences about files that were
    given and are not among the files, doubtful names, and encodings that were chosen. `excluded`: patterns of files
    that are kept, but that no step has to deal with (`pev.files.inputs`).
    With a `plan` no planner is asked for version 1; `plan_from` says in a sentence where it comes from, `template` the
    name of the template that it is from. Without a `title` the request has one. `before`: what is run again.
    `access_token`: the name of the one with which a program of the person submits it over MCP.
    """

    request: str
    uploads: Sequence[Upload]
    policy: Policy
    token: uuid.UUID
    approvers: Sequence[User] = ()
    no_files: bool = False
    left_out: Sequence[str] = ()
    remarks: Sequence[str] = ()
    excluded: Sequence[str] = ()
    plan: PlanContract | None = None
    plan_from: str = ""
    from_draft: bool = False
    template: str = ""
    title: str = ""
    before: Run | None = None
    access_token: str = ""


def submit(owner: User, submission: Submission) -> Run:
    """The run of this submission, planning already under way; the same run when it was submitted before.

    Raises InvalidInput, UploadRefused or PlanRefused with the sentences for the person.
    """
    existing = submitted(owner, submission.token)
    if existing:
        return existing
    draft = submission_drafts.found(owner, submission.token) if submission.from_draft else None
    drafted = submission_drafts.files_of(draft) if draft else {}
    if draft:
        input_replacement.check_answered(draft)
    request = checked_request(submission, has_files=bool(drafted or submission.uploads))
    check_policy(submission.policy, owner, submission.approvers)
    submission = _with_topics(_with_web_tools(submission))
    uploads, held_back, remarks = _unpacked(submission.uploads, drafted)
    remarks += submission_drafts.remarks_on(draft, owner.get_username()) if draft else []
    submission = replace(submission, remarks=[*submission.remarks, *remarks])
    left_out = [*submission.left_out, *(draft.left_out if draft else ()), *held_back]
    check_excluded(submission.excluded, {**drafted, **uploads})
    check_space(sum(upload.content.size or 0 for upload in uploads.values()))
    contents: Contents = {path: partial(_chunks, info.sha256) for path, info in drafted.items()} | {
        path: upload.content.chunks for path, upload in uploads.items()
    }
    check_can_be_answered(submission.policy, request, submission.plan, contents)
    check_budget(submission, request, contents)
    check_plan(submission)
    check_sources(submission.plan, contents)
    stored = drafted | {path: blobs.put_file(upload.content) for path, upload in uploads.items()}
    note_problems((stored[path], upload) for path, upload in uploads.items())
    trees.examine(stored)
    tree = partial(trees.make_tree, dict(sorted(stored.items())))
    return _made(owner, submission, request, tree, left_out, taken=(draft, drafted) if draft else None)


def _with_web_tools(submission: Submission) -> Submission:
    if submission.plan is None:
        return submission
    return replace(submission, plan=with_web_tools(submission.plan, tool_names(submission.policy)))


def _unpacked(
    uploads: Sequence[Upload], drafted: Mapping[str, FileInfo]
) -> tuple[dict[str, Upload], list[str], list[str]]:
    """The files by their paths, those of archives too; what was left out; and sentences on files that were not taken
    and on doubtful names.
    """
    chosen, held_back = without_secrets(uploads)
    intake(chosen, drafted)  # what is too much is refused before any of it is read
    check_space(sum(upload.content.size or 0 for upload in chosen))
    sent, refused = unpacked(chosen)
    kept, more = without_secrets(sent)
    files = intake(kept, drafted)
    doubtful = [f"{path}: {upload.caution}" for path, upload in files.items() if upload.caution]
    return files, [*held_back, *more], [*(f"{one.path} was not taken. {one.why}" for one in refused), *doubtful]


def submitted(owner: User, token: uuid.UUID) -> Run | None:
    """The run that this form was made into, if it was."""
    return Run.objects.filter(submission=token, owner=owner).first()


def again(run: Run, user: User, token: uuid.UUID, *, reuse: bool = True, redo: Sequence[str] = ()) -> Run:
    """A new run of the same request, files, policy and plan; results of the old one are taken over where they can be.

    Nothing is taken over without `reuse`, nor for the steps that `redo` names. No planner is asked if a plan had
    been approved. Raises InvalidInput or PlanRefused.
    """
    before = plan_worth_keeping(run)
    submission = Submission(
        request=run.request,
        uploads=(),
        policy=run.policy.changed(reuse=reuse, without_reuse=sorted(redo)),
        token=token,
        excluded=run.excluded or (),
        approvers=[one for one in (run.owner, *run.approvers.all()) if one != user],
        plan=fingerprint.contract_of(before) if before else None,
        plan_from=f"Version {before.version} of run {run.pk}, once more." if before else "",
        template=run.template if before else "",
        before=run,
    )
    check_policy(submission.policy, user, submission.approvers)
    check_plan(submission)
    check_space(0)
    contents: Contents = {path: partial(_chunks, info.sha256) for path, info in trees.files_of(run.inputs).items()}
    check_sources(submission.plan, contents)
    check_can_be_answered(submission.policy, run.request, submission.plan, contents)
    check_budget(submission, run.request, contents)
    trees.examine(trees.files_of(run.inputs))
    return _made(user, submission, run.request, lambda: run.inputs)


def _chunks(sha256: str) -> Iterator[bytes]:
    with blobs.opened(sha256) as blob:
        yield from iter(lambda: blob.read(File.DEFAULT_CHUNK_SIZE), b"")


def _made(
    owner: User,
    submission: Submission,
    request: str,
    tree: Callable[[], Tree],
    left_out: Sequence[str] = (),
    taken: tuple[Draft, Mapping[str, FileInfo]] | None = None,
) -> Run:
    """`tree` is made in the transaction of the run: an equal one goes with the last run that has it (`deletion`)."""
    try:
        with event_log.writing():
            if taken:
                submission_drafts.take(*taken)
            run = _create(owner, submission, request, tree(), left_out)
            advance(run.pk)
    except (IntegrityError, InvalidInput) as error:
        existing = submitted(owner, submission.token)  # the other click was first
        if existing is None and isinstance(error, InvalidInput):
            raise
        if existing is None:
            raise InvalidInput("This form has been used already; load the page again.") from error
        return existing
    return run


def checked_request(submission: Submission, *, has_files: bool) -> str:
    """The request without surrounding space. Raises InvalidInput when there is nothing to work on, FilesMissing when it
    speaks of files and there are none.
    """
    request = submission.request.strip()
    if not request:
        raise InvalidInput("Write what is to be done; the request is empty.")
    if len(request) > MAX_REQUEST:
        raise InvalidInput(
            f"The request has {len(request):,} characters; {MAX_REQUEST:,} are allowed. Put long texts into a file."
        )
    if not has_files and not submission.no_files and (mention := mention_in(request)):
        raise FilesMissing(f"You speak of “{mention}”, but no file is attached.")
    return request


def check_has_sources(request: str, *, has_files: bool, no_files: bool) -> None:
    """Raises FilesMissing where a run without files would be meant to rest on sources, until that is answered."""
    if has_files or no_files:
        return
    mention = mention_in(request)
    raise FilesMissing(
        f"You speak of “{mention}”, but no file is attached."
        if mention
        else "No file is attached. Without files nothing can be checked against sources, so the run can end as "
        "partial at best."
    )


def check_policy(policy: Policy, owner: User, approvers: Sequence[User]) -> None:
    """Raises InvalidInput for a policy that a run could not keep to."""
    if policy.second_person:
        _check_second_person(policy, owner, approvers)
    if policy.same_model and not policy.same_model_verifier:
        raise InvalidInput(
            f"{policy.model_for(Role.EXECUTOR).model} would judge its own work: executor and verifier are the same "
            "model and share their blind spots. Choose another verifier, or allow it in the policy."
        )
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


def check_budget(submission: Submission, request: str, files: Iterable[str]) -> None:
    """Raises InvalidInput for a budget that does not pay for a plan."""
    budget = submission.policy.budget
    if budget is None or submission.plan is not None:
        return
    least = least_budget(submission.policy, request, files)
    if least is not None and budget < least:
        cents = (100 * least).to_integral_value(ROUND_CEILING) / 100
        raise InvalidInput(
            f"The budget of ${budget} does not pay for a plan: the first question to the planner may cost up to "
            f"${cents:.2f}. Give the run ${cents:.2f} or more, better ten times as much, or leave the budget empty."
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


def _check_second_person(policy: Policy, owner: User, approvers: Sequence[User]) -> None:
    """A policy that asks no one would make the second person one in name only."""
    if not any(one.is_active and one.pk != owner.pk for one in approvers):
        raise InvalidInput("A second person has to approve, but no one else may decide. Name somebody who may.")
    if policy.plan_approval is ApprovalPolicy.NEVER:
        raise InvalidInput(
            "A second person has to approve, but no plan would wait for one. Let the first plan or every plan wait, "
            "or do without a second person."
        )
    if policy.step_approval is StepApproval.NONE:
        raise InvalidInput(
            "A second person has to approve, but no result would wait for one. Let high-risk steps wait at "
            "least, or do without a second person."
        )


def check_plan(submission: Submission) -> None:
    """Raises PlanRefused with everything that keeps the imported plan from being run under this policy."""
    if submission.plan is None:
        return
    policy, plan = submission.policy, submission.plan.for_another_run()
    needed = policy.sources_needed
    commands, steps = commands_allowed(policy), policy.max_steps
    problems = problems_in(
        plan,
        tool_names(policy),
        commands=commands,
        agents=agent_roster(policy, plan),
        max_steps=steps,
        sources_needed=needed,
    )
    if problems:
        raise PlanRefused(shortened(problems))


def check_sources(plan: PlanContract | None, given: Mapping[str, object]) -> None:
    """Raises PlanRefused for an imported plan that would compare the result with itself, not with these files."""
    problems = compared_with_itself(plan, given) if plan else []
    if problems:
        raise PlanRefused(shortened(problems))


def _with_topics(submission: Submission) -> Submission:
    """Where no sources are needed, criteria of a plan from elsewhere that say nothing else are about the output."""
    if submission.plan is None or submission.policy.sources_needed:
        return submission
    plan, unsaid = without_sources(submission.plan)
    if not unsaid:
        return submission
    what = pluralize(unsaid, "criterion does not say what it is", "criteria do not say what they are")
    said = f"{submission.plan_from} {what} about: the output, since no sources are needed."
    return replace(submission, plan=plan, plan_from=said)


def _create(owner: User, submission: Submission, request: str, tree: Tree, left_out: Sequence[str]) -> Run:
    run = Run.objects.create(
        owner=owner,
        submission=submission.token,
        title=submission.title or title_of(request),
        request=request,
        policy=submission.policy,
        inputs=tree,
        head=tree,
        excluded=tuple(submission.excluded),
        template=submission.template,
        before=submission.before,
        revision=_revision(submission, request, tree),
    )
    event_log.trust(run)
    run.approvers.add(*submission.approvers)
    event = events.Submitted(
        by=owner.get_username(),
        files=tree.file_count,
        bytes=tree.total_size,
        left_out=tuple(listed(left_out)),
        not_read=(*listed(submission.remarks), *known_unread(run)),
        token=submission.access_token,
    )
    event_log.record(run.pk, event)
    if submission.plan:
        plan = fitted(submission.plan.for_another_run(), tree, submission.policy.max_steps, submission.excluded)
        estimate = estimate_for(run, plan)
        outcomes.propose_plan(run, plan, reason=submission.plan_from, estimate=estimate)
    return run


def _revision(submission: Submission, request: str, tree: Tree) -> Revision | None:
    if submission.before is None:
        return None
    files = trees.files_of(tree)
    return revision_of(submission.before, request, submission.policy, submission.excluded, files)


def title_of(request: str) -> str:
    """The first sentence of the request, cut to 90 characters."""
    return truncate(first_sentence(request).rstrip(".:"), 90)
