"""Submits runs over MCP by the rules of the form. Their plans always wait for a person."""

from __future__ import annotations

import binascii
import uuid
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from django.core.files.base import ContentFile

from runs.enums import ApprovalPolicy, EventKind
from runs.errors import InvalidInput
from runs.events.kinds import Submitted as SubmittedEvent
from runs.events.kinds import read
from runs.models import Run, User
from runs.people import accounts
from runs.people.permissions import possible_deciders
from runs.pev.policy import Policy
from runs.submission import run_templates, submission_checks, submit
from runs.submission.intake import Upload
from runs.submission.policy_presets import preset_policy
from runs.submission.submission_checks import templates_that_need_a_model
from runs.submission.submit import Submission
from runs.text.truncate import quoted
from runs.web.mcp.tool_answers import SubmittedRun, TemplateLine, Templates
from runs.web.mcp.tool_arguments import Caller, GivenFile, ListTemplates, SubmitRun, SubmittedTask


def list_templates(caller: Caller, _arguments: ListTemplates) -> Templates:
    unusable, creative = templates_that_need_a_model(caller.person), run_templates.creative(caller.person)
    shipped = [(key, one.name, one.description) for key, one in run_templates.SHIPPED.items()]
    own = [(str(one.pk), one.name, one.description) for one in run_templates.own_templates(caller.person)]
    return Templates(
        templates=[
            TemplateLine(
                key=key, name=name, description=description, needs_a_model=key in unusable, creative=key in creative
            )
            for key, name, description in [*shipped, *own]
        ]
    )


def submit_run(caller: Caller, arguments: SubmitRun) -> SubmittedRun:
    uploads = (Upload(one.path, ContentFile(_content(one)), named=False) for one in arguments.files)
    return submit_task(caller, arguments, uploads, arguments.submission_id or uuid.uuid4())


def submit_task(
    caller: Caller, task: SubmittedTask, uploads: Iterable[Upload], token: uuid.UUID, *, from_draft: bool = False
) -> SubmittedRun:
    """Submits a run, or returns the one that was submitted with the same token before. With `from_draft`, the files of
    the draft with this token belong to it in addition to the uploads.

    Raises InvalidInput, UploadRefused or PlanRefused, like the form.
    """
    run = submit.submitted(caller.person, token)
    return answer_for(caller, run or _submit_new(caller, task, list(uploads), token, from_draft=from_draft))


def check_task(caller: Caller, task: SubmittedTask, *, has_files: bool) -> str:
    """Returns who would have to decide what, and changes nothing.

    Raises as `submit_task` does for what is wrong with a task whatever is in its files.
    """
    submission = _submission(caller, task, (), uuid.uuid4(), has_files=has_files)
    submit.check(caller.person, submission, has_files=has_files)
    return _approval(submission.policy)


def answer_for(caller: Caller, run: Run) -> SubmittedRun:
    """What a program learns of a run that it has just submitted."""
    row = run.events.filter(kind=EventKind.SUBMITTED).order_by("seq").first()
    event = read(row.kind, row.data) if row else None
    submitted = event if isinstance(event, SubmittedEvent) else None
    return SubmittedRun(
        run=run.pk,
        title=run.title,
        address=caller.reader.address("run", run.pk),
        left_out=list(submitted.left_out) if submitted else [],
        remarks=list(submitted.not_read) if submitted else [],
        approval=_approval(run.policy),
    )


def _approval(policy: Policy) -> str:
    first = "Every plan" if policy.plan_approval is ApprovalPolicy.ALWAYS else "The first plan"
    return f"{first} waits for a person."


def _submit_new(
    caller: Caller, task: SubmittedTask, uploads: Sequence[Upload], token: uuid.UUID, *, from_draft: bool
) -> Run:
    submission = _submission(caller, task, uploads, token, has_files=from_draft or bool(uploads))
    return submit.submit(caller.person, replace(submission, from_draft=from_draft))


def _submission(
    caller: Caller, task: SubmittedTask, uploads: Sequence[Upload], token: uuid.UUID, *, has_files: bool
) -> Submission:
    submission_checks.check_has_sources(task.request, has_files=has_files, no_files=task.no_files)
    chosen = run_templates.chosen(caller.person, task.template) if task.template else None
    return Submission(
        request=task.request,
        uploads=uploads,
        policy=policy_of(task),
        token=token,
        approvers=list(_approvers(caller.person, task.approvers)),
        no_files=task.no_files,
        plan=chosen.plan if chosen else None,
        plan_from=chosen.reason if chosen else "",
        template=chosen.template if chosen else "",
        letterhead=chosen.letterhead if chosen else None,
        access_token=caller.token.name,
    )


def policy_of(task: SubmittedTask) -> Policy:
    """Returns the preset's policy with the requested limits, none of them looser than the preset's.

    At least the first plan waits for a person, even if the installation does not require it: a person who fills in the
    form sees what will run, but a person who has given a token to a program has not seen anything yet. Raises
    InvalidInput for a looser limit.
    """
    policy = preset_policy(task.preset)
    budget, minutes = task.budget_usd, task.time_limit_minutes
    seconds = None if minutes is None else minutes * 60
    if budget is not None and policy.budget is not None and budget > policy.budget:
        raise InvalidInput(
            f"A program may ask for a budget of ${policy.budget:,.2f} here at most. A person may raise it."
        )
    if seconds is not None and policy.time_limit is not None and seconds > policy.time_limit:
        longest = policy.time_limit // 60
        raise InvalidInput(
            f"A program may ask for {longest:,} minutes here at most. A person may raise the time limit."
        )
    never = policy.plan_approval is ApprovalPolicy.NEVER
    return policy.changed(
        plan_approval=ApprovalPolicy.FIRST if never else policy.plan_approval,
        budget=policy.budget if budget is None else budget,
        time_limit=policy.time_limit if seconds is None else seconds,
    )


def _content(file: GivenFile) -> bytes:
    if (file.text is None) == (file.base64 is None):
        raise InvalidInput(f"{quoted(file.path)} needs either text or base64. Nothing was stored.")
    if file.text is not None:
        return file.text.encode(errors="replace")
    try:
        return b64decode(file.base64 or "", validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(
            f"{quoted(file.path)} is no base64 as it came. Nothing was stored; send it again."
        ) from error


def _approvers(owner: User, names: tuple[str, ...]) -> Iterator[User]:
    """Returns the requested users. An error repeats only names from the request, so a program cannot learn others."""
    for name in dict.fromkeys(names):
        person = accounts.find_person(name)
        if person is None or not possible_deciders().filter(pk=person.pk).exists():
            raise InvalidInput(
                f"There is no user {quoted(name, 100)} who can decide. Check the spelling, or leave “approvers” empty: "
                "the run can be shared on its page."
            )
        if person.pk != owner.pk:
            yield person
