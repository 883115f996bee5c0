"""Templates: which plan of which run can be kept, under which name, and how it is found again."""

import uuid

import pytest
from django.db.models import JSONField, Value

from runs.enums import Action, GateKind, Verb, WorkKind
from runs.errors import InvalidInput
from runs.lifecycle import gate_decisions, outcomes
from runs.lifecycle.approval import fingerprint
from runs.models import Run, Template
from runs.pev.verifier import failed
from runs.store import blobs, input_examination, trees
from runs.submission import run_templates
from runs.submission.run_templates import called, chosen, fitted, plan_worth_keeping, save, shipped_plan
from runs.submission.submit import again
from tests import factories as made
from tests.documents.compound import compound
from tests.documents.word import paragraph, word

pytestmark = pytest.mark.django_db


def refused(run: Run, name: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        save(made.alice(), run, name)
    return str(caught.value)


def test_the_plan_of_a_finished_run_is_kept_whole_and_found_by_number_and_name() -> None:
    run = made.finished_succeeded()
    template = save(made.alice(), run, "  Three   contracts ")
    assert (template.name, template.from_run, template.digest) == ("Three contracts", run, run.plans.get().digest)
    assert template.description.startswith("A review of the three contracts")
    for found in (chosen(made.alice(), str(template.pk)), called(made.alice(), "Three contracts")):
        assert found.plan == fingerprint.contract_of(run.plans.get())
        assert found.reason == "From the template “Three contracts”."


def test_names_of_files_that_a_plan_takes_along_are_told() -> None:
    run = made.finished_succeeded()
    assert run_templates.file_names_in(run.plans.get(), run) == []
    step = made.plan_step("one", "Review Service agreement.md")
    named = made.awaiting_plan(made.plan(step))
    assert run_templates.file_names_in(named.plans.get(), named) == ["Service agreement.md"]


def fitted_outputs(files: dict[str, bytes], *excluded: str, max_steps: int = 20) -> list[str]:
    """The copies that the document review makes of these files."""
    stored = {path: blobs.put(content) for path, content in files.items()}
    input_examination.examine(stored)
    plan = fitted(shipped_plan("document-review"), trees.make_tree(stored), max_steps, excluded)
    return [path for step in plan.steps if step.step_id == "word-copies" for path in step.outputs]


def test_the_document_review_makes_a_copy_of_each_word_document_that_it_may_read() -> None:
    lease = word(paragraph("Rent is due promptly."))
    files = {
        "a/lease.docx": lease,
        "b.docx": b"No Word file.",
        "c.md": b"Text.",
        "d.docx": compound({"EncryptedPackage": b"x"}),
    }
    assert fitted_outputs(files) == ["reviewed/a/lease.docx"]
    assert fitted_outputs(files, "a/*") == []
    assert fitted_outputs(files, max_steps=4) == []
    assert fitted_outputs({"lease.docx": lease, "reviewed/lease.docx": lease}) == ["reviewed/reviewed/lease.docx"]


def test_other_plans_make_no_copies() -> None:
    tree = trees.make_tree({"a.docx": blobs.put(word(paragraph("Rent.")))})
    plan = shipped_plan("project-analysis")
    assert fitted(plan, tree, 20) is plan


def test_a_template_outlives_its_run_and_not_its_owner() -> None:
    run = made.finished_succeeded()
    save(made.bob(), run, "Bob's")
    Run.objects.filter(pk=run.pk).delete()
    assert Template.objects.get().from_run is None
    made.bob().delete()
    assert not Template.objects.exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (" \n ", "Give the template a name."),
        ("x" * 121, "The name has 121 characters; 120 are allowed."),
        ("Taken", "You have a template “Taken” already; choose another name."),
    ],
)
def test_a_name_that_cannot_be_used_is_a_sentence(name: str, sentence: str) -> None:
    run = made.finished_succeeded()
    save(made.alice(), run, "Taken")
    save(made.bob(), run, "Taken")
    assert refused(run, name) == sentence
    assert Template.objects.count() == 2


def test_a_plan_that_nobody_approved_or_that_still_runs_is_not_kept() -> None:
    waiting = made.awaiting_plan()
    made.decide(waiting, GateKind.PLAN, Verb.STOP)
    for run in (made.executing(), Run.objects.get(pk=waiting.pk)):
        assert plan_worth_keeping(run) is None
        assert refused(run, "Mine").startswith("Only an approved plan of a finished run can be saved")


def test_of_several_approved_versions_the_last_is_kept() -> None:
    run = made.executing(replans=1)
    with made.working(run, WorkKind.ATTEMPT, "inventory") as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, made.output("Nothing to read.", blocked=True), {})
        outcomes.judged(mine.attempt, failed("Nothing to read.", action=Action.REPLAN), blocked=True)
    made.propose(run, reason="step inventory")
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    gate_decisions.cancel(run.pk, made.alice())
    versions = run.plans.filter(approval_fingerprint__isnull=False).values_list("version", flat=True)
    kept = plan_worth_keeping(Run.objects.get(pk=run.pk))
    assert (sorted(versions), kept and kept.version) == ([1, 2], 2)


@pytest.mark.parametrize(
    "key", ["999", "document-review.json", "../plan_templates/document-review", "", "9" * 400, "²", "-1"]
)
def test_a_template_that_is_not_there_is_a_sentence(key: str) -> None:
    with pytest.raises(InvalidInput, match=r"^There is no such template\. Choose another one\.$"):
        chosen(made.alice(), key)


def test_templates_of_others_are_not_there() -> None:
    template = save(made.bob(), made.finished_succeeded(), "Bob's")
    with pytest.raises(InvalidInput):
        chosen(made.alice(), str(template.pk))
    with pytest.raises(InvalidInput, match=r"There is no template “Bob's”; there are: document-review, .*, look-up\.$"):
        called(made.alice(), "Bob's")


@pytest.mark.parametrize("name", ["document-review", "Document review", "DOCUMENT REVIEW"])
def test_a_shipped_one_is_called_by_name_unless_there_is_an_own_one(name: str) -> None:
    found = called(made.alice(), name)
    assert (found.plan, found.reason) == (shipped_plan("document-review"), "From the template “Document review”.")
    save(made.alice(), made.finished_succeeded(), name)
    assert called(made.alice(), name).plan == made.plan()


def test_a_stored_plan_that_no_longer_fits_is_refused_in_words() -> None:
    template = save(made.alice(), made.finished_succeeded(), "Old")
    stored = {**template.plan.model_dump(mode="json"), "priority": 1}
    Template.objects.update(plan=Value(stored, JSONField()))
    with pytest.raises(InvalidInput, match="“Old” can no longer be used"):
        chosen(made.alice(), str(template.pk))


def test_the_own_ones_are_listed_by_name() -> None:
    run = made.finished_succeeded()
    for name in ("b", "a"):
        save(made.alice(), run, name)
    save(made.bob(), run, "c")
    assert [template.name for template in run_templates.own_templates(made.alice())] == ["a", "b"]


def test_a_run_that_is_run_again_is_from_the_same_template() -> None:
    run = made.finished_succeeded()
    Run.objects.filter(pk=run.pk).update(template="Clauses")
    assert again(Run.objects.get(pk=run.pk), made.alice(), uuid.uuid4()).template == "Clauses"
