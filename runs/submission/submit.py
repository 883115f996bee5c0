"""Submitting: the files become a tree, the request becomes a run. A refused submission changes nothing."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from django.contrib.auth.models import Group
from django.core.files.base import File
from django.db import IntegrityError, transaction

from runs.accounting.past_estimates import estimate_for
from runs.contracts.ports import FileInfo
from runs.enums import AuditKind, ShareLevel
from runs.errors import InvalidInput, NotVisible
from runs.events import kinds as events
from runs.lifecycle import outcomes, quotas, sharing
from runs.lifecycle.advance import advance
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.coverage import known_unread
from runs.lifecycle.owner_actions import ReportNames
from runs.lifecycle.toolset import tool_names
from runs.models import Draft, Run, Tree, User
from runs.models.runs import FileNames, OwnLetterhead, Revision
from runs.people import idempotency_keys
from runs.people.permissions import as_of_now, check_can_submit
from runs.pev.contracts import PlanContract
from runs.pev.policy import Policy
from runs.pev.soundness import without_sources
from runs.store import audit_trail, blobs, event_log, input_examination, trees
from runs.submission import input_replacement, submission_drafts
from runs.submission.intake import Upload, check_excluded, check_space, listed
from runs.submission.run_templates import fitted, plan_worth_keeping, with_web_tools
from runs.submission.submission_checks import (
    Contents,
    check_budget,
    check_can_be_answered,
    check_plan,
    check_policy,
    check_sources,
    checked_request,
)
from runs.submission.unpacking import note_problems, unpack_uploads
from runs.text.plural import pluralize
from runs.text.sentences import first_sentence
from runs.text.truncate import truncate

MAX_NAMED = 5
"""Files of each kind that a revision names. Others are counted."""
_REUSE_SETTINGS = {"reuse", "without_reuse"}
"""Settings that concern running again itself. They are not shown as differences."""


@dataclass(frozen=True)
class Submission:
    """What a person submits.

    * `token`: identifies the form, so that sending it twice makes one run.
    * `no_files`: the person has confirmed that no files are missing.
    * `from_draft`: the files of the draft with this token belong to the run, in addition to the uploads.
    * `left_out`: paths that the sender kept back because they may hold secrets.
    * `remarks`: sentences about files that were not taken, doubtful names and chosen encodings.
    * `excluded`: patterns of files that are kept but that no step has to read (`text.paths.selected`).
    * `plan`: version 1 of the plan, so that no planner is asked; `plan_from` is a sentence about its origin, `template`
      the name of its template.
    * `letterhead`: that of its template; by default that of the run that is run again.
    * `title`: by default the first sentence of the request.
    * `names`: what the report names; by default what that of the run that is run again names.
    * `before`: the run that is run again.
    * `access_token`: the name of the token of a program that submits.
    * `approvers`, `groups`: with whom it is shared from the beginning, to look and decide or only to look (`level`).
    """

    request: str
    uploads: Sequence[Upload]
    policy: Policy
    token: uuid.UUID
    approvers: Sequence[User] = ()
    groups: Sequence[Group] = ()
    level: ShareLevel = ShareLevel.DECIDE
    open_to_all: bool = False
    no_files: bool = False
    left_out: Sequence[str] = ()
    remarks: Sequence[str] = ()
    excluded: Sequence[str] = ()
    plan: PlanContract | None = None
    plan_from: str = ""
    from_draft: bool = False
    template: str = ""
    letterhead: OwnLetterhead | None = None
    title: str = ""
    names: ReportNames | None = None
    before: Run | None = None
    access_token: str = ""


def check(owner: User, submission: Submission, *, has_files: bool) -> None:
    """Raises as `submit` does for what is wrong with a submission whatever is in its files. Changes nothing.

    `has_files`: files will come with it. They are not part of `submission` yet.
    """
    check_can_submit(owner)
    request, submission = _checked(owner, submission, has_files=has_files)
    policy, plan = submission.policy, submission.plan
    check_can_be_answered(policy, owner, request, plan, None if has_files else {})
    if plan is None:
        check_budget(policy, request, ())
    else:
        check_plan(plan, policy)
    with transaction.atomic():
        quotas.check_submission(owner, policy, 0)


def submit(owner: User, submission: Submission) -> Run:
    """Make a run of this submission and start planning. Returns the existing run if it was submitted before.

    Raises InvalidInput, UploadRefused or PlanRefused with the sentences for the person.
    """
    check_can_submit(owner)
    existing = submitted(owner, submission.token)
    if existing:
        return existing
    if submission.names:
        submission = replace(submission, names=submission.names.checked())
    draft = submission_drafts.found(owner, submission.token) if submission.from_draft else None
    drafted = submission_drafts.files_of(draft) if draft else {}
    if draft:
        input_replacement.check_answered(draft)
    request, submission = _checked(owner, submission, has_files=bool(drafted or submission.uploads))
    uploads, held_back, remarks = unpack_uploads(submission.uploads, drafted)
    remarks += submission_drafts.remarks_on(draft, owner.get_username()) if draft else []
    submission = replace(submission, remarks=[*submission.remarks, *remarks])
    left_out = [*submission.left_out, *(draft.left_out if draft else ()), *held_back]
    check_excluded(submission.excluded, {**drafted, **uploads})
    check_space(sum(upload.content.size or 0 for upload in uploads.values()))
    contents: Contents = {path: partial(_chunks, info.sha256) for path, info in drafted.items()} | {
        path: upload.content.chunks for path, upload in uploads.items()
    }
    check_can_be_answered(submission.policy, owner, request, submission.plan, contents)
    _check_plan_or_budget(submission, request, contents)
    stored = drafted | {path: blobs.put_file(upload.content) for path, upload in uploads.items()}
    note_problems((stored[path], upload) for path, upload in uploads.items())
    input_examination.examine(stored)
    tree = partial(trees.make_tree, dict(sorted(stored.items())))
    return _make_run(owner, submission, request, tree, left_out, taken=(draft, drafted) if draft else None)


def _checked(owner: User, submission: Submission, *, has_files: bool) -> tuple[str, Submission]:
    """The request without surrounding space, and the submission with its plan adapted to the policy."""
    request = checked_request(submission.request, has_files=has_files, no_files=submission.no_files)
    check_policy(submission.policy, owner, _deciders(submission))
    return request, _with_adapted_plan(submission)


def _deciders(submission: Submission) -> list[User]:
    """The people with whom the run would be shared to decide, by name or in a group."""
    if submission.level is not ShareLevel.DECIDE:
        return []
    return [*submission.approvers, *User.objects.filter(groups__in=submission.groups, is_active=True)]


def _check_plan_or_budget(submission: Submission, request: str, files: Mapping[str, object]) -> None:
    """Check that an imported plan fits policy and files or, without one, that the budget pays for a planner."""
    if submission.plan is None:
        check_budget(submission.policy, request, files)
    else:
        check_plan(submission.plan, submission.policy)
        check_sources(submission.plan, files)


def _with_adapted_plan(submission: Submission) -> Submission:
    """The submission with its plan adapted to the policy: the tools of the web that the run has, and topics.

    If no sources are needed, criteria of an imported plan are about the output unless they say something else.
    """
    if submission.plan is None:
        return submission
    plan = with_web_tools(submission.plan, tool_names(submission.policy))
    if submission.policy.sources_needed:
        return replace(submission, plan=plan)
    plan, unsaid = without_sources(plan)
    if not unsaid:
        return replace(submission, plan=plan)
    what = pluralize(unsaid, "criterion does not say what it is", "criteria do not say what they are")
    origin = f"{submission.plan_from} {what} about: the output, since no sources are needed."
    return replace(submission, plan=plan, plan_from=origin)


def submitted(owner: User, token: uuid.UUID) -> Run | None:
    """The run that was submitted with this form, if there is one."""
    return Run.objects.filter(submission=token, owner=owner).first()


def again(run: Run, user: User, token: uuid.UUID, *, reuse: bool = True, redo: Sequence[str] = ()) -> Run:
    """Start a new run with the same request, files, policy and plan. Results of the old one are reused where possible.

    Nothing is taken over without `reuse`, nor for the steps that `redo` names. No planner is asked if a plan had
    been approved. Returns the existing run if it was submitted before. Raises InvalidInput or PlanRefused.
    """
    check_can_submit(user)
    existing = submitted(user, token)
    if existing:
        return existing
    before = plan_worth_keeping(run)
    submission = Submission(
        request=run.request,
        uploads=(),
        policy=run.policy.changed(reuse=reuse, without_reuse=sorted(redo)),
        token=token,
        excluded=run.excluded,
        approvers=[one for one in sharing.deciders_by_name(run) if one != user],
        groups=sharing.deciding_groups(run),
        plan=fingerprint.contract_of(before) if before else None,
        plan_from=f"Version {before.version} of run {run.pk}, once more." if before else "",
        template=run.template if before else "",
        before=run,
    )
    check_policy(submission.policy, user, _deciders(submission))
    check_space(0)
    contents: Contents = {path: partial(_chunks, info.sha256) for path, info in trees.files_of(run.inputs).items()}
    check_can_be_answered(submission.policy, user, run.request, submission.plan, contents)
    _check_plan_or_budget(submission, run.request, contents)
    input_examination.examine(trees.files_of(run.inputs))
    return _make_run(user, submission, run.request, lambda: run.inputs)


def _chunks(sha256: str) -> Iterator[bytes]:
    with blobs.opened(sha256) as blob:
        yield from iter(lambda: blob.read(File.DEFAULT_CHUNK_SIZE), b"")


def _make_run(
    owner: User,
    submission: Submission,
    request: str,
    tree: Callable[[], Tree],
    left_out: Sequence[str] = (),
    taken: tuple[Draft, Mapping[str, FileInfo]] | None = None,
) -> Run:
    """Make the run in one transaction. `tree` is called within it: an equal tree that exists already could otherwise be
    deleted with the last run that uses it (`deletion`).
    """
    try:
        with event_log.writing():
            if taken:
                submission_drafts.take(*taken)
            run = _create(owner, submission, request, tree(), left_out)
            if taken:
                idempotency_keys.upload_became(run)
            advance(run.pk)
    except (IntegrityError, InvalidInput) as error:
        existing = submitted(owner, submission.token)  # the other click was first
        if existing is None and isinstance(error, InvalidInput):
            raise
        if existing is None:
            raise InvalidInput("This form has been used already; reload the page.") from error
        return existing
    return run


def _create(owner: User, submission: Submission, request: str, tree: Tree, left_out: Sequence[str]) -> Run:
    before = submission.before
    if before:
        _lock_before(before)
    check_can_submit(as_of_now(owner))  # again: an upload may have taken minutes
    quotas.check_submission(owner, submission.policy, tree.total_size)
    kept = ReportNames.of(before) if before else ReportNames()
    run = Run.objects.create(
        owner=owner,
        submission=submission.token,
        title=submission.title or title_of(request),
        request=request,
        policy=submission.policy,
        inputs=tree,
        head=tree,
        excluded=tuple(submission.excluded),
        open_to_all=submission.open_to_all,
        template=submission.template,
        letterhead=submission.letterhead or (before.letterhead if before else None),
        **asdict(submission.names or kept),
        before=before,
        revision=_revision(submission, request, tree),
    )
    event_log.trust(run)
    sharing.begin(run, [*submission.approvers, *submission.groups], submission.level)
    event = events.Submitted(
        by=owner.get_username(),
        files=tree.file_count,
        bytes=tree.total_size,
        left_out=tuple(listed(left_out)),
        not_read=(*listed(submission.remarks), *known_unread(run)),
        token=submission.access_token,
    )
    event_log.record(run.pk, event)
    _record_submission(run)
    if submission.plan:
        plan = fitted(submission.plan.for_another_run(), tree, submission.policy.max_steps, submission.excluded)
        estimate = estimate_for(run, plan)
        outcomes.propose_plan(run, plan, reason=submission.plan_from, estimate=estimate)
    return run


def _lock_before(run: Run) -> None:
    """Lock the run that is run again, so that no one changes or deletes it meanwhile."""
    try:
        event_log.locked(run.pk)
    except Run.DoesNotExist as error:
        raise NotVisible(f"Run {run.pk} was deleted a moment ago, so it cannot be run again.") from error


def _record_submission(run: Run) -> None:
    """The lines of the audit trail for a new run: with which files it began, and with whom it is shared."""
    audit_trail.record(
        AuditKind.SUBMITTED, by=run.owner, run_id=run.pk, digest=run.inputs.digest, count=run.inputs.file_count
    )
    sharing.record_beginning(run)


def _revision(submission: Submission, request: str, tree: Tree) -> Revision | None:
    """The differences from the run that is run again; None for a new run."""
    before = submission.before
    if before is None:
        return None
    then, now = trees.files_of(before.inputs), trees.files_of(tree)
    policy = submission.policy
    differing = (name for name in Policy.model_fields if getattr(policy, name) != getattr(before.policy, name))
    return Revision(
        changed=_file_names(path for path in now if path in then and now[path].sha256 != then[path].sha256),
        added=_file_names(now.keys() - then.keys()),
        removed=_file_names(then.keys() - now.keys()),
        request=request != before.request,
        excluded=tuple(submission.excluded) != tuple(before.excluded),
        policy=tuple(name.replace("_", " ") for name in differing if name not in _REUSE_SETTINGS),
    )


def _file_names(paths: Iterable[str]) -> FileNames:
    found = sorted(paths)
    return FileNames(count=len(found), named=tuple(found[:MAX_NAMED]))


def title_of(request: str) -> str:
    """The first sentence of the request, at most 90 characters."""
    return truncate(first_sentence(request).rstrip(".:"), 90)
