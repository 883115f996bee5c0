"""The way in: what is refused changes nothing, what is sent twice is one run, nobody's path leaves the tree."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import pytest
from django.db import connection

from runs.accounting.past_estimates import estimate_for
from runs.enums import ApprovalPolicy, EventKind, GateKind, PlanStatus, RunStatus, StepApproval, WorkKind
from runs.errors import InvalidInput, NotVisible, PlanRefused
from runs.lifecycle import deletion
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.toolset import tool_names
from runs.models import Event, Plan, Run, Tree, WorkItem
from runs.pev.contracts import Criterion, PlannedAction
from runs.store import trees
from runs.submission.submit import again, submit, title_of
from tests import factories as made
from tests.integration.lifecycle.submitting import refused, submission, upload

pytestmark = pytest.mark.django_db

TOKEN = uuid.UUID("12345678-1234-5678-1234-567812345678")


# ---- the second person --------------------------------------------------------------------------------------------


def test_the_owner_is_no_second_person() -> None:
    given = submission(policy=made.policy(second_person=True), approvers=[made.alice()])
    assert refused(given) == "A second person has to approve, but no one else may decide. Name someone who may."


@pytest.mark.parametrize("nobody", [{"plan_approval": ApprovalPolicy.NEVER}, {"step_approval": StepApproval.NONE}])
def test_a_policy_under_which_no_second_person_would_be_asked_is_refused(nobody: dict[str, Any]) -> None:
    given = submission(policy=made.policy(second_person=True, **nobody), approvers=[made.bob()])
    assert refused(given).startswith("A second person has to approve, but no ")


def test_a_run_from_before_whose_second_person_is_never_asked_can_be_read_and_not_be_run_again() -> None:
    run = made.finished_succeeded()
    run.policy = run.policy.changed(second_person=True, plan_approval=ApprovalPolicy.NEVER)
    run.save()
    made.share(run, made.bob())
    stored = Run.objects.get(pk=run.pk)
    assert stored.policy.second_person is True
    with pytest.raises(InvalidInput, match="no plan would wait for one"):
        again(stored, made.alice(), TOKEN)


def test_a_run_that_was_deleted_a_moment_ago_is_not_run_again() -> None:
    run = Run.objects.select_related("inputs").get(pk=made.finished_succeeded().pk)
    deletion.delete(run.pk, made.alice())
    with pytest.raises(NotVisible, match=f"Run {run.pk} was deleted a moment ago, so it cannot be run again."):
        again(run, made.alice(), TOKEN)
    assert not Run.objects.exists()


# ---- the request --------------------------------------------------------------------------------------------------


def test_a_request_becomes_a_run_that_is_being_planned() -> None:
    run = submit(made.alice(), submission("  Write a poem. About rain. ", approvers=[made.bob()]))
    assert (run.request, run.title, run.status) == ("Write a poem. About rain.", "Write a poem", RunStatus.PLANNING)
    assert (run.owner, made.shared_with(run)) == (made.alice(), [made.bob()])
    assert list(WorkItem.objects.filter(run=run).values_list("kind", flat=True)) == [WorkKind.PLAN]
    assert list(Event.objects.filter(run=run).values_list("seq", "kind")) == [
        (1, EventKind.SUBMITTED),
        (2, EventKind.PLANNING),
    ]


@pytest.mark.parametrize("request_", ["", "   ", "\n\t \u2003"])
def test_an_empty_request_is_refused(request_: str) -> None:
    assert refused(submission(request_)) == "Describe the task: the request is empty."


def test_a_request_may_have_20000_characters_and_no_more() -> None:
    assert refused(submission("x" * 20_001)) == (
        "The request is too long by 1 character; 20,000 fit. Put long texts into a file."
    )
    assert submit(made.alice(), submission(" " + "x" * 20_000 + " ")).request == "x" * 20_000


@pytest.mark.parametrize(
    ("request_", "mention"),
    [
        ("Review these contracts.", "these contracts"),
        ("REVIEW THESE THREE CONTRACTS", "THESE THREE CONTRACTS"),
        ("Summarise the attached documents", "attached documents"),
        ("Analyse my code", "my code"),
        ("Turn our recorded interviews into a report", "our recorded interviews"),
        ("Prüfe diese drei Verträge", "diese drei Verträge"),
        ("Fasse die beigefügten Dokumente zusammen", "beigefügten Dokumente"),
        ("Résume ces trois contrats", "ces trois contrats"),
        ("Lis les documents ci-joints", "documents ci-joints"),
        ("Resume estos documentos", "estos documentos"),
        ("Riassumi questi contratti", "questi contratti"),
        ("Resuma estes contratos", "estes contratos"),
        ("Vat deze contracten samen", "deze contracten"),
    ],
)
def test_a_request_that_speaks_of_files_needs_some_or_a_word_that_there_are_none(request_: str, mention: str) -> None:
    assert refused(submission(request_)) == f"You speak of “{mention}”, but no file is attached."
    assert submit(made.alice(), submission(request_, no_files=True)).inputs.file_count == 0
    assert submit(made.alice(), submission(request_, upload("a.md"))).inputs.file_count == 1


@pytest.mark.parametrize(
    "request_", ["Write a poem.", "Explain contracts.", "What is a project?", "List files that Unix has"]
)
def test_a_request_that_speaks_of_no_files_needs_none(request_: str) -> None:
    assert submit(made.alice(), submission(request_)).inputs.file_count == 0


@pytest.mark.parametrize(
    ("request_", "title"),
    [
        ("Review it. Then write.", "Review it"),
        ("Review it:\n- all", "Review it"),
        ("v1.2 is out", "v1.2 is out"),
        ("x" * 91, "x" * 89 + "…"),
        ("first\nsecond", "first"),
    ],
)
def test_a_title_is_the_first_sentence_cut_to_90_characters(request_: str, title: str) -> None:
    assert title_of(request_) == title


# ---- twice --------------------------------------------------------------------------------------------------------


def test_a_form_that_is_sent_twice_is_one_run_also_if_it_was_changed_in_between() -> None:
    first = submit(made.alice(), submission("One.", token=TOKEN))
    second = submit(made.alice(), submission("Two.", upload("../x"), token=TOKEN))
    assert (first.pk, second.request, Run.objects.count()) == (second.pk, "One.", 1)
    assert WorkItem.objects.count() == 1


def test_a_token_of_somebody_else_opens_no_door_and_is_refused_in_words() -> None:
    submit(made.alice(), submission("One.", token=TOKEN))
    with pytest.raises(InvalidInput, match=r"^This form has been used already; reload the page\.$"):
        submit(made.charlie(), submission("Two.", token=TOKEN))
    assert list(Run.objects.values_list("owner__username", "request")) == [("alice", "One.")]


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_from_several_tabs_at_the_same_moment_is_one_run() -> None:
    alice = made.alice()
    found: list[int] = []
    barrier = threading.Barrier(4)

    def post() -> None:
        barrier.wait()
        try:
            found.append(submit(alice, submission("One.", upload("a.md"), token=TOKEN)).pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=post) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(found)), Run.objects.count(), WorkItem.objects.count()) == (4, 1, 1, 1)


# ---- a plan that is brought ---------------------------------------------------------------------------------------


def test_a_plan_that_is_imported_is_version_1_and_waits_for_a_person_without_any_work_for_a_planner() -> None:
    run = submit(made.alice(), submission(plan=made.plan(), plan_from="Imported from “plan.json”."))
    plan = Plan.objects.get(run=run)
    assert (plan.version, plan.status, plan.reason) == (1, PlanStatus.PROPOSED, "Imported from “plan.json”.")
    assert fingerprint.contract_of(plan) == made.plan()
    assert plan.estimate == estimate_for(run, made.plan())
    gate = made.open_gate(run, GateKind.PLAN)
    assert gate.digest == fingerprint.digest_of(fingerprint.fingerprint_of(run, plan))
    assert (Run.objects.get().status, WorkItem.objects.count()) == (RunStatus.AWAITING_APPROVAL, 0)
    assert list(Event.objects.filter(run=run).values_list("kind", flat=True)) == [
        EventKind.SUBMITTED,
        EventKind.PLAN_PROPOSED,
        EventKind.GATE_OPENED,
    ]


def test_a_policy_that_asks_for_no_plan_lets_it_begin() -> None:
    run = submit(made.alice(), submission(plan=made.plan(), policy=made.policy(plan_approval=ApprovalPolicy.NEVER)))
    assert Plan.objects.get(run=run).approved_how == "policy"
    assert list(WorkItem.objects.values_list("kind", flat=True)) == [WorkKind.ATTEMPT]


def test_a_plan_that_would_compare_the_result_with_itself_is_refused() -> None:
    terms = [{"path": "other.md", "of": "lines"}]
    check = {"kind": "count", "path": "one.md", "figure": r"(\d+)", "terms": terms}
    criterion = Criterion.model_validate({"text": "All lines are counted", "about": "sources", "check": check})
    plan = made.plan(made.plan_step("one", "One", acceptance_criteria=[criterion]))
    with pytest.raises(PlanRefused) as caught:
        submit(made.alice(), submission("Go.", upload("a.md"), plan=plan))
    assert [problem.partition("but ")[2][:30] for problem in caught.value.problems] == [
        "no given file is other.md, so "
    ]
    assert Run.objects.count() == 0
    assert submit(made.alice(), submission("Go.", upload("other.md"), plan=plan)).plans.get().version == 1


def test_a_plan_that_cannot_be_run_is_refused_with_everything_that_is_wrong() -> None:
    analyse = [PlannedAction(tool="analyze", purpose="Look at it.")]
    plan = made.plan(made.plan_step("one", "One", actions=analyse), made.plan_step("two", "Two", dependencies=["zero"]))
    with pytest.raises(PlanRefused) as caught:
        submit(made.alice(), submission("Go.", upload("a.md"), plan=plan, policy=made.policy(max_steps=1)))
    assert caught.value.problems == (
        "The plan has 2 steps; this run allows 1.",
        "Step “one” plans the tool “analyze”, which does not exist. "
        f"There are: {', '.join(sorted(tool_names(made.policy())))}.",
        "Step “two” depends on “zero”, which is no step of this plan.",
    )
    assert (Run.objects.count(), Tree.objects.count(), Event.objects.count()) == (0, 0, 0)


def test_a_imported_plan_that_is_sent_twice_is_one_run() -> None:
    runs = [submit(made.alice(), submission(plan=made.plan(), token=TOKEN)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert Plan.objects.count() == 1


# ---- what is excluded ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("excluded", "sentence"),
    [
        (["b.md"], "“b.md” excludes no file: none of the files attached has such a path."),
        (["a.md", "*.pdf"], "“*.pdf” excludes no file: none of the files attached has such a path."),
        (["*"], "All files are excluded, so that none is left to work on. Do not attach them, or exclude less."),
        (["a.md"] * 51, "51 patterns exclude files; 50 may. Name folders instead."),
        (["*?" * 9], "There may be 50 patterns with wildcards, and 8 wildcards in each; name folders."),
    ],
)
def test_what_excludes_nothing_or_everything_is_refused(excluded: list[str], sentence: str) -> None:
    assert refused(submission("Do it", upload("a.md"), upload("c/d.md"), excluded=excluded)) == sentence


def test_what_is_excluded_is_kept_with_the_run_and_in_the_next_one() -> None:
    run = submit(made.alice(), submission("Do it", upload("a.md"), upload("c/d.md"), excluded=["c/"]))
    Run.objects.update(status=RunStatus.FINISHED, outcome="failed", finished_at=run.created_at)
    assert (list(run.excluded or ()), sorted(trees.files_of(run.inputs))) == (["c/"], ["a.md", "c/d.md"])
    assert again(Run.objects.get(), made.alice(), uuid.uuid4()).excluded == ("c/",)
