"""What may be submitted while no model is connected, and the sentence for everything else."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from runs.enums import GateKind, Outcome, Role, RunStatus, Verb
from runs.errors import InvalidInput
from runs.lifecycle import plan_edits
from runs.lifecycle.approval.fingerprint import contract_of
from runs.models import Run, Tree
from runs.pev.policy import Policy, RoleModel
from runs.readmodel.run_view import reading_of
from runs.store import blobs, trees
from runs.submission.intake import Upload
from runs.submission.policy_presets import default_policy
from runs.submission.run_templates import SHIPPED, save, shipped_plan
from runs.submission.samples import named, uploads_of
from runs.submission.submission_checks import templates_that_need_a_model
from runs.submission.submit import Submission, again, submit
from tests import factories as made
from tests.documents.samples import documents
from tests.documents.word import note, paragraph, word
from tests.factories import MODELS, answer, drain, finish, open_gate
from tests.factories.agents import agent
from tests.integration.source import without_layout

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_model")]

HOW = (
    "; without a model only the sample contracts and the template “Document review” on texts and documents can be run, "
    "so ask your administrator to connect one."
)
REVIEW = shipped_plan("document-review")
LEASE = {"lease.md": b"The Tenant shall pay a fee.\n"}


def submission(request: str, files: dict[str, bytes], **changes: Any) -> Submission:
    uploads = [Upload(path, ContentFile(content)) for path, content in files.items()]
    values: dict[str, Any] = {"policy": default_policy(), "token": uuid.uuid4(), "no_files": True}
    return Submission(request, uploads, **(values | changes))


def refused(given: Submission) -> str:
    with pytest.raises(InvalidInput) as caught:
        submit(made.alice(), given)
    assert (Run.objects.count(), Tree.objects.count()) == (0, 0)
    return str(caught.value)


def sampled(**changes: Any) -> Submission:
    sample = named("contracts")
    request, uploads = sample.request, uploads_of(sample)
    return Submission(request, [*uploads, *changes.pop("more", [])], default_policy(), uuid.uuid4(), **changes)


def test_the_sample_is_taken() -> None:
    assert submit(made.alice(), sampled()).status == RunStatus.PLANNING


def test_the_template_is_taken_for_any_text() -> None:
    files = {"lease.md": "Der Mieter zahlt zeitnah.".encode("utf-8-sig"), "empty.txt": b""}
    files |= {"kira.txt": "Kiracı aylık kirayı öder.".encode("cp1254"), "wide.txt": "The rent".encode("utf-16")}
    assert submit(made.alice(), submission("Go.", files, plan=REVIEW)).plans.get().version == 1


def test_the_template_is_taken_for_documents_that_wait_to_be_read() -> None:
    files = {**documents(), "mail.eml": b"From: a@b.example\nMessage-ID: <1>\n\nThe rent is due.\n"}
    assert submit(made.alice(), submission("Go.", files, plan=REVIEW)).status == RunStatus.PLANNING


@pytest.mark.parametrize(
    ("files", "plan", "problem"),
    [
        (LEASE, None, "This task needs a model"),
        ({}, None, "This task needs a model"),
        (LEASE, shipped_plan("idea-workflow"), "This plan needs a model"),
        (LEASE, shipped_plan("project-analysis"), "This plan needs a model"),
        (LEASE, made.plan(), "This plan needs a model"),
        ({}, REVIEW, "There are no files to review"),
        (
            LEASE | {"photo.png": b"\x89PNG\0"},
            REVIEW,
            "“photo.png” is neither a text nor a document",
        ),
        (LEASE | {"zero.md": b"a\0b"}, REVIEW, "“zero.md” is neither a text nor a document"),
        (
            LEASE | {"cut.md": "Größer und länger: ü".encode()[:-1]},
            REVIEW,
            "“cut.md” is neither a text nor a document",
        ),
    ],
)
def test_everything_else_is_refused_in_one_sentence_and_changes_nothing(
    files: dict[str, bytes], plan: Any, problem: str
) -> None:
    assert refused(submission("Report the largest of three files.", files, plan=plan)) == problem + HOW


def test_the_sample_with_other_files_is_another_task() -> None:
    more = [Upload("contracts/more.md", ContentFile(b"More."))]
    assert refused(sampled(more=more)) == "This task needs a model" + HOW
    assert refused(submission(sampled().request, LEASE)) == "This task needs a model" + HOW


def test_models_that_nobody_plays_are_refused_too() -> None:
    given = submission("Go.", LEASE, plan=REVIEW, policy=Policy(models=MODELS))
    names = "claude-haiku-5-5, claude-opus-5-5, claude-sonnet-5-5"
    assert refused(given) == f"No model is connected, so there is no {names}" + HOW


def test_with_a_model_the_rehearsal_is_not_given_another_job(monkeypatch: pytest.MonkeyPatch) -> None:
    rehearsal = default_policy()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")
    assert refused(submission("Go.", LEASE, policy=rehearsal)) == (
        "This task needs a model; offline-executor, offline-planner, offline-verifier can do only the sample contracts "
        "and the template “Document review” on texts and documents, so name other models in the policy."
    )
    mixed = rehearsal.model_copy(update={"models": MODELS | {Role.VERIFIER: RoleModel(model="offline-verifier")}})
    assert "This task needs a model; offline-verifier can do" in refused(submission("Go.", LEASE, policy=mixed))
    assert submit(made.alice(), submission("Go.", LEASE, policy=Policy(models=MODELS))).pk


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_what_was_rehearsed_is_run_again_and_what_was_not_is_not() -> None:
    alice = made.alice()
    first = finish(submit(alice, sampled()), alice)
    assert first.outcome == "succeeded"
    binary = trees.make_tree({"a.bin": blobs.put_file(ContentFile(b"\0"))})
    assert again(first, alice, uuid.uuid4()).plans.get().version == 1
    Run.objects.filter(pk=first.pk).update(inputs=binary)
    with pytest.raises(InvalidInput, match=r"“a\.bin” is neither a text nor a document; without a model"):
        again(Run.objects.get(pk=first.pk), alice, uuid.uuid4())


def test_templates_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    alice, done = made.alice(), made.finished_succeeded
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")
    mine = save(alice, done(), "Mine")
    assert templates_that_need_a_model(alice) == frozenset()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert templates_that_need_a_model(alice) == {*SHIPPED, str(mine.pk)} - {"document-review"}


def test_what_a_person_asks_for_at_a_plan_reads_as_not_done_first_among_the_lines(client: Client) -> None:
    """The planner's note says that nothing was done about it: that is no answer."""
    alice = made.alice()
    run = submit(alice, sampled())
    drain(run)
    answer(run, alice, Verb.REJECT, "Name the severity of each point")
    drain(run)
    (request,) = reading_of(Run.objects.get(pk=run.pk)).requests
    assert (request.status, request.state, request.planned) == (
        "not_met",
        "not done: offline rules cannot read it",
        [],
    )
    client.force_login(alice)
    page = without_layout(client.get(f"/runs/{run.pk}/").text)
    lines = page[page.index('<ul class="gate-lines">') :]
    assert lines.startswith(
        '<ul class="gate-lines"><li data-mark="bad"><strong>alice asked</strong> “Name the severity of each point” '
        '<span class="gate-answer">not done: offline rules cannot read it</span></li>'
    )


@pytest.mark.slow
@pytest.mark.parametrize("words", ["Name the severity of each point", "No"])
@pytest.mark.exhaustive
def test_what_a_person_asks_for_at_a_result_comes_back_to_them(client: Client, words: str) -> None:
    """No rule understands it: it is never said to be met, and fails nothing."""
    alice = made.alice()
    run = submit(alice, sampled())
    drain(run)
    answer(run, alice)
    drain(run)
    assert open_gate(run).kind == GateKind.STEP
    answer(run, alice, Verb.REJECT, words)
    drain(run)
    (request,) = reading_of(Run.objects.get(pk=run.pk)).requests
    assert (open_gate(run).kind, request.state) == (GateKind.STEP, "not provable: nothing that changed shows it")
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    assert "The offline rules cannot judge this; look for yourself." in page
    assert finish(run, alice).outcome == Outcome.SUCCEEDED


def test_an_edited_plan_that_the_rehearsal_would_refuse_later_is_not_saved() -> None:
    run = submit(made.alice(), sampled())
    drain(run)
    row = run.plans.newest()
    assert row is not None
    plan = contract_of(row)
    first = plan.steps[0].model_copy(update={"name": "List them all"})
    second = plan.steps[1].model_copy(update={"description": "Collect the dates."})
    last = plan.success_criteria[0].model_copy(update={"text": "It is good.", "check": None})
    steps = [first, second, *plan.steps[2:]]
    assert list(plan_edits.problems_with(run, plan.model_copy(update={"steps": [first, *plan.steps[1:]]}))) == []
    found = plan_edits.problems_with(run, plan.model_copy(update={"steps": steps, "success_criteria": [last]}))
    assert [(one.step_id, one.criterion, one.sentence) for one in found] == [
        (
            "key-facts",
            0,
            "Step “Collect parties, dates and amounts”: The offline rules cannot carry this step out: its description, "
            "its outputs and its criteria for an AI review have to stay as the planner wrote them; its name, inputs "
            "and automatic checks may change.",
        ),
        (
            "",
            1,
            "Success criterion 1: The offline rules cannot judge this: a success criterion for an AI review has to "
            "stay as the planner wrote it.",
        ),
    ]


def test_a_step_with_an_agent_needs_a_model() -> None:
    agent("other")
    steps = [REVIEW.steps[0].model_copy(update={"agent": "other"}), *REVIEW.steps[1:]]
    plan = REVIEW.model_copy(update={"steps": steps})
    assert refused(sampled(plan=plan, plan_from="By hand.")) == f"This plan needs a model{HOW}"


def test_a_plan_that_offline_rules_carry_out_is_not_edited_to_name_an_agent() -> None:
    agent("other")
    run = submit(made.alice(), sampled(plan=REVIEW, plan_from="By hand."))
    drain(run)
    plan = contract_of(run.plans.get())
    edited = plan.model_copy(update={"steps": [plan.steps[0].model_copy(update={"agent": "other"}), *plan.steps[1:]]})
    assert [problem.sentence for problem in plan_edits.problems_with(run, edited)] == [
        f"Step “{plan.steps[0].step_id}” names the agent “other”, which this run cannot have: offline-executor, the "
        "executor of this run, follows no instructions."
    ]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("files", "gaps"),
    [
        (
            {"a.md": b"The Tenant shall pay a fee.\n", "long.md": b"It is due promptly.\n" * 60_000},
            ["long.md: not reviewed: too long for the offline rules."],
        ),
        (
            {"a.md": b"The Tenant shall pay a fee.\n" + b"word " * 20_000 + b"\nIt is due promptly.\n"},
            ["a.md: not reviewed: it has a line that is too long for the offline rules."],
        ),
        (
            {
                "a.docx": word(
                    paragraph("The Tenant shall pay a fee.", note("footnote", 1)),
                    {"footnotes": f'<w:footnote w:id="1">{paragraph("The deposit is TBD.")}</w:footnote>'},
                )
            },
            ["reviewed/a.docx: there can be no comment at the place of F3."],
        ),
        ({"a.md": b"The Tenant shall pay a fee.\n" + b"Rent is due on 1 May 2026.\n" * 4_000}, []),
    ],
    ids=["too long", "a very long line", "no place for a comment", "long"],
)
@pytest.mark.exhaustive
def test_what_the_rules_did_not_look_at_is_an_open_point_named_once(files: dict[str, bytes], gaps: list[str]) -> None:
    alice = made.alice()
    run = finish(submit(alice, submission("Go.", files, plan=shipped_plan("document-review"))), alice)
    reading = reading_of(Run.objects.get(pk=run.pk))
    assert reading.gaps == gaps
    assert run.outcome == (Outcome.PARTIAL if gaps else Outcome.SUCCEEDED)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_a_long_word_document_is_reviewed_to_its_end_and_its_copy_says_so() -> None:
    alice = made.alice()
    filler = "".join(paragraph("The parties met and agreed on all of it. " * 5) for _ in range(400))
    long = word(filler + paragraph("The fee is TBD."))
    run = finish(submit(alice, submission("Go.", {"long.docx": long}, plan=shipped_plan("document-review"))), alice)
    reading = reading_of(Run.objects.get(pk=run.pk))
    assert (run.outcome, reading.gaps) == (Outcome.SUCCEEDED, [])
    assert "1 point needs attention in 1 document: 1 placeholder." in reading.answer
