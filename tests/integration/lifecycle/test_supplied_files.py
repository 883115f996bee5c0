"""Files that a person gives at a gate: what they change, what stays, and what is refused."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import override_settings

from pevsite.setting_values import quotas
from runs.engine.prompt_inputs import critiques_of
from runs.enums import (
    Action,
    EventKind,
    GateKind,
    GateStatus,
    PlanStatus,
    RunStatus,
    StepApproval,
    StepMoment,
    StepStatus,
    Verb,
    WorkKind,
)
from runs.errors import InvalidInput, NotAllowed, PevError
from runs.events import kinds as events
from runs.lifecycle import outcomes, plan_edits
from runs.lifecycle import state as states
from runs.lifecycle.approval import fingerprint, reuse
from runs.lifecycle.deletion import delete, freed
from runs.lifecycle.gate_decisions import cancel
from runs.lifecycle.gates.plan_gate import waits_again
from runs.lifecycle.supplied_files import PlanAgain, missing_at, plan_again, supply
from runs.models import Attempt, Discarded, Event, Gate, Run, Step, Tree, User
from runs.pev.verifier import failed
from runs.store import blobs, trees
from runs.submission.intake import Upload
from runs.submission.submit import again
from runs.submission.supplied_uploads import GivenUploads, give_files
from tests import factories as made
from tests.documents.archives import zipped
from tests.integration.lifecycle.deciding import fresh, refused, say, state
from tests.integration.lifecycle.small import done, started

pytestmark = pytest.mark.django_db
ANNEX = b"Annex B. The fee is 40 euros.\n"


def block(run: Run, key: str, said: str = "The annex is missing.") -> None:
    """The step is reported as blocked."""
    with made.working(run, WorkKind.ATTEMPT, key) as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, made.output(said, blocked=True), {})
        judgement = failed(f"Reported as blocked. {said}", action=Action.REPLAN)
        outcomes.judged(mine.attempt, judgement, blocked=True)


def planned(*steps: tuple[str, Mapping[str, Any]], **policy: Any) -> Run:
    """All of these steps are under way, or wait for each other."""
    contract = made.plan(*(made.plan_step(key, key.upper(), **changes) for key, changes in steps))
    return made.executing(contract, **{"step_approval": StepApproval.NONE, "sources_needed": False} | policy)


def blocked(*steps: tuple[str, Mapping[str, Any]], said: str = "The annex is missing.", **policy: Any) -> Run:
    """The first step, by default the only one, is blocked."""
    run = planned(*(steps or [("a", {})]), replans=0, **policy)
    block(run, "a", said)
    return fresh(run)


def gate_of(run: Run, kind: GateKind = GateKind.EXHAUSTED) -> Gate:
    return made.open_gate(run, kind)


def upload(path: str, content: bytes = ANNEX) -> Upload:
    return Upload(path, ContentFile(content))


def give(run: Run, *uploads: Upload, by: User | None = None, kind: GateKind = GateKind.EXHAUSTED) -> GivenUploads:
    return give_files(gate_of(run, kind), by or made.alice(), uploads or [upload("annex-b.md")])


def no_thanks(gate: Gate, *uploads: Upload, by: User | None = None) -> str:
    """The sentence of the refusal; nothing has changed."""
    before = [*state(gate.run_id), Run.objects.get(pk=gate.run_id).inputs_id]
    with pytest.raises(PevError) as caught:
        give_files(Gate.objects.get(pk=gate.pk), by or made.alice(), uploads or [upload("annex-b.md")])
    assert [*state(gate.run_id), Run.objects.get(pk=gate.run_id).inputs_id] == before
    return str(caught.value)


def statuses(run: Run) -> dict[str, str]:
    return dict(run.plans.latest("version").steps.values_list("key", "status"))


def history(run: Run, kind: EventKind = EventKind.GATE_DECIDED) -> list[str]:
    rows = Event.objects.filter(run=run, kind=kind).order_by("seq")
    return [events.read(row.kind, row.data).sentence({"a": "Compare"}) for row in rows]


# ---- at a blocked step --------------------------------------------------------------------------------------------


def test_a_given_file_is_an_input_and_the_blocked_step_is_tried_again() -> None:
    run = blocked()
    gate = gate_of(run)
    before = set(trees.files_of(run.inputs))
    assert give(run) == GivenUploads(("annex-b.md",), (), [])
    run = fresh(run)
    assert set(trees.files_of(run.inputs)) == {*before, "annex-b.md"}
    assert blobs.read(trees.files_of(run.head)["annex-b.md"].sha256) == ANNEX
    assert (run.status, statuses(run)) == (RunStatus.EXECUTING, {"a": StepStatus.RUNNING})
    attempt = Attempt.objects.get(step__plan__run=run, number=2)
    assert "annex-b.md" in trees.files_of(attempt.base)
    gate.refresh_from_db()
    assert (gate.status, gate.decided_by, gate.decided_how, gate.supplied) == (
        GateStatus.SUPPLIED,
        made.alice(),
        "person",
        ["annex-b.md"],
    )
    assert history(run)[-1] == "alice gave annex-b.md; “Compare” is tried again."


def test_the_next_attempt_is_told_who_gave_which_file() -> None:
    run = blocked()
    give(run, by=made.bob())
    critiques = critiques_of(Step.objects.get(plan__run=run, key="a"))
    said = [(one.label, one.text) for one in critiques]
    assert [one.from_person for one in critiques] == [False, False], "an archive may have named the files"
    assert said == [
        ("attempt 1", "Reported as blocked. The annex is missing."),
        ("bob after attempt 1", "These files were missing, and are now among the input files: annex-b.md."),
    ]


def test_a_step_out_of_attempts_takes_a_file_too() -> None:
    run = started("a", attempts=1, replans=0)
    with made.working(run, WorkKind.ATTEMPT, "a") as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, made.output("Not yet."), {})
        outcomes.judged(mine.attempt, failed("It lacks the fee.", action=Action.RETRY))
    give(run)
    assert statuses(run) == {"a": StepStatus.RUNNING}


def test_what_was_accepted_and_what_is_under_way_stay_as_they_are() -> None:
    run = planned(("a", {}), ("b", {}), ("c", {}), replans=0)
    done(run, "b", {"b.md": "B"})
    block(run, "a")
    running = Attempt.objects.get(step__key="c", step__plan__run=run)
    step = Step.objects.get(plan__run=run, key="b")
    give(run)
    run = fresh(run)
    kept = Step.objects.get(pk=step.pk)
    assert (kept.status, kept.fingerprint) == (StepStatus.PASSED, step.fingerprint)
    assert {"b.md", "annex-b.md"} <= set(trees.files_of(run.head))
    running.refresh_from_db()
    assert (running.status, "annex-b.md" in trees.files_of(running.given)) == ("executing", False)
    done(run, "c", {"c.md": "C"})
    assert {"b.md", "c.md", "annex-b.md"} <= set(trees.files_of(fresh(run).head))


# ---- the approval -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "asked"),
    [
        ({"inputs": [made.SERVICE]}, False),
        ({"inputs": [made.SERVICE, "annex-b.md"]}, False),
        ({"inputs": []}, True),
        ({"inputs": ["*.md"]}, True),
        ({"inputs": [], "tools": ["list_files"]}, False),
    ],
    ids=["names others", "names it", "all files", "by a pattern", "reads none"],
)
def test_the_plan_is_asked_about_again_where_another_step_would_read_the_file_unnamed(
    other: dict[str, Any], asked: bool
) -> None:
    run = blocked(("a", {}), ("z", {"dependencies": ["a"], **other}))
    plan = run.plans.get()
    give(run)
    run = fresh(run)
    plan.refresh_from_db()
    if asked:
        question = gate_of(run, GateKind.PLAN).question
        assert question == ("Since version 1 was approved, something has changed (input files). Approve it again?")
        assert (plan.status, statuses(run)["a"]) == (PlanStatus.PROPOSED, StepStatus.PENDING)
        made.decide(run, GateKind.PLAN, Verb.APPROVE)
    else:
        assert (plan.status, plan.approved_by, plan.approved_how) == (PlanStatus.APPROVED, made.alice(), "person")
        assert fingerprint.differences(plan, run) == []
    assert statuses(run)["a"] == StepStatus.RUNNING


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"inputs": [made.SERVICE]}, PlanAgain()),
        ({"inputs": []}, PlanAgain(readers=("Z",))),
        ({"inputs": ["*.md"]}, PlanAgain(by_pattern=("Z",))),
    ],
    ids=["names others", "all files", "by a pattern"],
)
def test_which_files_end_the_approval(other: dict[str, Any], expected: PlanAgain) -> None:
    run = blocked(("a", {}), ("z", {"dependencies": ["a"], **other}))
    assert plan_again(gate_of(run)) == expected


def test_files_of_the_owner_end_the_approval_where_a_second_person_decides() -> None:
    run = made.awaiting_plan(made.plan(made.plan_step("a", "A")), second_person=True, replans=0)
    made.decide(run, GateKind.PLAN, Verb.APPROVE, by=made.bob())
    block(run, "a")
    assert plan_again(gate_of(fresh(run))) == PlanAgain(if_first_person=True)


def test_the_history_says_whose_approval_also_holds_with_the_new_files() -> None:
    run = blocked()
    give(run, by=made.bob())
    assert history(run, EventKind.NOTE) == [
        "alice approved version 1 of the plan before. This approval also holds with the new files."
    ]


def test_a_step_that_has_passed_reads_nothing_any_more() -> None:
    run = planned(("a", {}), ("b", {"inputs": []}), replans=0)
    done(run, "b", {"b.md": "B"})
    block(run, "a")
    give(run)
    assert run.plans.get().status == PlanStatus.APPROVED


def test_an_owner_who_needs_a_second_person_does_not_change_what_that_one_approved() -> None:
    for person, status in ((made.alice(), PlanStatus.PROPOSED), (made.bob(), PlanStatus.APPROVED)):
        contract = made.plan(made.plan_step("a", "A"))
        run = made.awaiting_plan(contract, second_person=True, replans=0)
        made.decide(run, GateKind.PLAN, Verb.APPROVE, by=made.bob())
        block(run, "a")
        give(run, by=person)
        assert run.plans.get().status == status


def test_who_edited_the_plan_does_not_change_what_a_second_person_approved() -> None:
    run = made.awaiting_plan(made.plan(made.plan_step("a", "A")), second_person=True, replans=0)
    made.share(run, made.charlie())
    gate = gate_of(run, GateKind.PLAN)
    assert gate.plan is not None
    edited = fingerprint.contract_of(gate.plan).model_copy(update={"goal": "Another goal."})
    plan_edits.edit(gate.pk, made.bob(), gate.digest, edited)
    made.decide(run, GateKind.PLAN, Verb.APPROVE, by=made.charlie())
    block(run, "a")
    give(run, by=made.bob())
    assert run.plans.get(version=2).status == PlanStatus.PROPOSED


def test_files_beyond_the_storage_of_the_owner_are_refused_whoever_gives_them(settings: Any) -> None:
    run = blocked()
    settings.QUOTAS = quotas(f"person alice gigabytes={Decimal(run.head.total_size + len(ANNEX) - 1) / 10**9:f}")
    for person in (made.alice(), made.bob()):
        assert "left in your quota" in no_thanks(gate_of(run), by=person)
    settings.QUOTAS = quotas(f"person alice gigabytes={Decimal(run.head.total_size + len(ANNEX)) / 10**9:f}")
    assert list(give(run).added) == ["annex-b.md"]


def test_an_approval_that_one_file_ended_is_not_revived_by_the_next() -> None:
    run = planned(("a", {}), ("b", {"inputs": [made.SERVICE]}), ("z", {"dependencies": ["a"]}), replans=0)
    block(run, "a")
    block(run, "b")
    first, second = run.gates.open().order_by("pk")
    give_files(first, made.alice(), [upload("annex-b.md")])
    give_files(Gate.objects.get(pk=second.pk), made.alice(), [upload("annex-c.md")])
    assert gate_of(fresh(run), GateKind.PLAN).question.startswith("Since version 1 was approved")


def test_a_start_that_was_bound_to_the_files_is_asked_about_again() -> None:
    before = {"step_approval": StepApproval.ALL, "step_moment": StepMoment.BEFORE}
    run = planned(("a", {}), ("b", {"inputs": [made.SERVICE]}), replans=0, **before)
    start = run.gates.open().get(step__key="a")
    say(start, Verb.APPROVE)
    block(run, "a")
    old = run.gates.open().get(kind=GateKind.START)
    give(run)
    new = run.gates.open().get(kind=GateKind.START)
    old.refresh_from_db()
    assert (old.status, new.step_id == old.step_id, new.digest == old.digest) == (GateStatus.WITHDRAWN, True, False)
    say(new, Verb.APPROVE)
    assert statuses(run)["b"] == StepStatus.RUNNING


# ---- twice, too late, at once -------------------------------------------------------------------------------------


def test_one_file_lets_every_step_go_on_that_lacked_it() -> None:
    run = planned(("a", {}), ("b", {}), replans=0)
    block(run, "a")
    block(run, "b")
    first, second = run.gates.open().order_by("pk")
    give_files(first, made.alice(), [upload("annex-b.md")])
    give_files(Gate.objects.get(pk=second.pk), made.alice(), [upload("annex-b.md")])
    second.refresh_from_db()
    assert (second.status, second.supplied) == (GateStatus.SUPPLIED, ["annex-b.md"])
    assert {"a", "b"}.isdisjoint(run.gates.open().values_list("step__key", flat=True))


def test_nothing_is_left_of_a_refused_file() -> None:
    run = blocked()
    no_thanks(gate_of(run), upload(made.SERVICE, b"Another content."))
    assert Discarded.objects.filter(sha256=hashlib.sha256(b"Another content.").hexdigest()).exists()


def test_a_planned_result_keeps_its_name_in_any_spelling() -> None:
    run = blocked(("a", {"expected_outputs": ["planned.md"]}))
    assert "cannot lie in one folder" in no_thanks(gate_of(run), upload("Planned.md"))


def test_a_name_that_is_not_missing_any_more_is_not_dropped_in_silence() -> None:
    run = blocked()
    with pytest.raises(InvalidInput, match=r"^“annex-x\.md” is no longer missing\. Reload the page\.$"):
        give_files(gate_of(run), made.alice(), [upload("signed.md")], name_as="annex-x.md")


@pytest.mark.parametrize("inputs", [[], [made.SERVICE]], ids=["all files", "names others"])
def test_a_step_that_runs_commands_is_asked_about_again(inputs: list[str]) -> None:
    command = {"inputs": inputs, "tools": ["run_command"], "actions": [{"tool": "run_command", "purpose": "test"}]}
    run = blocked(("a", {}), ("z", {"dependencies": ["a"], **command}))
    give(run)
    assert gate_of(fresh(run), GateKind.PLAN).question.startswith("Since version 1 was approved")


def test_an_attempt_in_progress_is_not_recorded_with_a_file_that_it_did_not_see() -> None:
    run = planned(("a", {}), ("c", {}), replans=0)
    block(run, "a")
    attempt = Attempt.objects.get(step__key="c", step__plan__run=run)
    give(run)
    attempt.refresh_from_db()
    seen = reuse.view_of(attempt.given, attempt.base, states.specs_of(attempt.step.plan), "c")
    assert "annex-b.md" not in seen.given
    assert "annex-b.md" in reuse.view_of(fresh(run).inputs, attempt.base, states.specs_of(attempt.step.plan), "c").given


def test_sending_the_same_twice_changes_nothing_more() -> None:
    run = blocked()
    gate = gate_of(run)
    give_files(gate, made.alice(), [upload("annex-b.md")])
    before = state(run.pk)
    again_ = give_files(Gate.objects.get(pk=gate.pk), made.alice(), [upload("annex-b.md")])
    assert again_ == GivenUploads((), ("annex-b.md",), [])
    assert state(run.pk) == before


def test_a_file_that_is_there_already_is_no_change_and_the_question_stays() -> None:
    run = blocked()
    gate = gate_of(run)
    same = blobs.read(trees.files_of(run.inputs)[made.SERVICE].sha256)
    before = state(run.pk)
    assert give(run, upload(made.SERVICE, same)) == GivenUploads((), (made.SERVICE,), [])
    assert (state(run.pk), gate_of(run)) == (before, gate)


def test_the_name_of_another_content_is_refused() -> None:
    assert no_thanks(gate_of(blocked()), upload(made.SERVICE, b"Another.")) == (
        f"The run has a file “{made.SERVICE}” with another content. A file that steps may have read is not replaced: "
        "give this one another name, or stop the run and choose “Run again” with the new file."
    )


def test_the_name_of_a_result_is_refused() -> None:
    run = blocked(("a", {"expected_outputs": ["planned.md"]}), ("b", {}))
    done(run, "b", {"made.md": "B"})
    sentence = "“{}” is the name of a result of this run. Give the file another name."
    assert no_thanks(gate_of(run), upload("planned.md")) == sentence.format("planned.md")
    assert no_thanks(gate_of(run), upload("made.md")) == sentence.format("made.md")


def test_names_that_cannot_lie_in_one_folder_are_refused() -> None:
    gate = gate_of(blocked())
    first = min(trees.files_of(gate.run.inputs))
    sentence = f"“contracts” and “{first}” cannot lie in one folder; rename the one that you give."
    assert no_thanks(gate, upload("contracts")) == sentence


def test_a_gate_that_somebody_decided_takes_no_file() -> None:
    run = blocked()
    gate = gate_of(run)
    made.decide(run, GateKind.EXHAUSTED, Verb.REJECT, "Do without.", by=made.bob())
    assert no_thanks(gate).startswith("Already decided: bob requested changes at ")


def test_the_second_of_two_people_is_told_what_the_first_gave() -> None:
    run = blocked()
    gate = gate_of(run)
    give_files(gate, made.bob(), [upload("annex-b.md")])
    assert no_thanks(gate, upload("annex-c.md")).startswith("Already decided: bob gave annex-b.md at ")
    assert refused(Gate.objects.get(pk=gate.pk), Verb.APPROVE).startswith("Already decided: bob gave annex-b.md at ")


def test_a_run_that_has_ended_takes_no_file() -> None:
    run = blocked()
    gate = gate_of(run)
    cancel(run.pk, made.alice())
    assert no_thanks(gate) == ("This run has ended and takes no more files. “Run again” takes its files and new ones.")


def test_other_questions_take_no_file() -> None:
    gate = made.open_gate(made.question_gate(), GateKind.QUESTION)
    assert no_thanks(gate) == "Files are given where a step did not pass, or with a plan; this question takes none."


def test_charlie_gives_nothing_and_nothing_of_it_is_stored() -> None:
    run = blocked()
    with pytest.raises(NotAllowed):
        give(run, by=made.charlie())
    assert no_thanks(gate_of(run), by=made.charlie()) == "You may not decide anything in this run."
    with pytest.raises(NotAllowed):
        supply(gate_of(run).pk, made.charlie(), {})


# ---- hostile and large uploads ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["../annex.md", "/etc/passwd", "C:/annex.md", "a//b.md", ""])
def test_hostile_names_are_refused(path: str) -> None:
    assert no_thanks(gate_of(blocked()), upload(path))


def test_of_an_archive_the_files_with_usable_names_are_taken() -> None:
    run = blocked()
    given = give(run, upload("annexes.zip", zipped({"annexes/b.md": ANNEX, "../../evil.md": b"x"})))
    assert given.added == ("annexes/annexes/b.md",)
    (remark,) = given.remarks
    assert remark.startswith("annexes.zip/../../evil.md was not taken.")
    assert history(run, EventKind.NOTE)[:-1] == list(given.remarks)


def test_of_an_archive_with_nothing_usable_nothing_is_taken() -> None:
    run = blocked()
    given = give(run, upload("evil.zip", zipped({"../../evil.md": b"x"})))
    assert given.added == ("evil.zip",)
    assert trees.problems_of(fresh(run).inputs)["evil.zip"] == "is an archive without a file that can be taken"


def test_too_much_is_refused() -> None:
    gate = gate_of(blocked())
    with override_settings(FILE_BYTES=10):
        assert no_thanks(gate) == "“annex-b.md” has 0.0 MB; one file may have 0.0 MB."
    with override_settings(UPLOAD_FILES=len(trees.files_of(gate.run.inputs))):
        count = len(trees.files_of(gate.run.inputs))
        assert no_thanks(gate) == f"{count + 1} files are more than the {count} that a run may have."
    with override_settings(UPLOAD_BYTES=gate.run.inputs.total_size + 5):
        assert no_thanks(gate).startswith("The files have ")


def test_two_gates_together_do_not_pass_the_limit() -> None:
    """The limit is checked under the lock, where what the other one gave is known."""
    gate = gate_of(blocked())
    info = blobs.put(ANNEX)
    with override_settings(UPLOAD_FILES=len(trees.files_of(gate.run.inputs))), pytest.raises(InvalidInput):
        supply(gate.pk, made.alice(), {"annex-b.md": info})


def test_a_file_that_no_step_would_read_is_refused() -> None:
    run = blocked()
    Run.objects.filter(pk=run.pk).update(excluded=("annex*",))
    assert no_thanks(gate_of(fresh(run))) == (
        "“annex-b.md” is among the files that were excluded when the task was submitted (annex*), so no step would "
        "read it. Give it another name."
    )


def test_without_a_file_nothing_is_given() -> None:
    with pytest.raises(InvalidInput, match=r"^Choose the file first\.$"):
        give_files(gate_of(blocked()), made.alice(), [])


# ---- what is missing ----------------------------------------------------------------------------------------------


def test_the_missing_file_is_known_from_the_plan_and_from_the_words_of_the_executor() -> None:
    run = blocked(("a", {"inputs": ["contracts/annex-b.pdf", made.SERVICE]}), said="I found no “Annex C.docx”.")
    assert missing_at(gate_of(run)) == ["contracts/annex-b.pdf", "Annex C.docx"]


def test_a_file_of_the_missing_name_takes_its_place() -> None:
    run = blocked(("a", {"inputs": ["contracts/annex-b.md"]}))
    assert give(run, upload("Annex-B.md")).added == ("contracts/annex-b.md",)


def test_a_file_of_another_name_can_take_that_of_the_missing_one() -> None:
    run = blocked(("a", {"inputs": ["contracts/annex-b.md"]}))
    gate = gate_of(run)
    with pytest.raises(InvalidInput, match=r"^“scan\.pdf” does not end in \.md, so it cannot be named"):
        give_files(gate, made.alice(), [upload("scan.pdf")], name_as="contracts/annex-b.md")
    with pytest.raises(InvalidInput, match=r"^Choose one file that takes the name"):
        give_files(gate, made.alice(), [upload("a.md"), upload("b.md")], name_as="contracts/annex-b.md")
    given = give_files(gate, made.alice(), [upload("signed.md")], name_as="contracts/annex-b.md")
    assert given.added == ("contracts/annex-b.md",)


# ---- at the gate of a plan ----------------------------------------------------------------------------------------


def asking(**policy: Any) -> Run:
    step = made.plan_step("a", "A", inputs=["annex-b.md"])
    return made.awaiting_plan(made.plan(step), step_approval=StepApproval.NONE, **policy)


def test_the_plan_is_asked_about_again_with_the_file() -> None:
    run = asking()
    old = gate_of(run, GateKind.PLAN)
    assert missing_at(old) == ["annex-b.md"]
    give(run, kind=GateKind.PLAN)
    run = fresh(run)
    new = gate_of(run, GateKind.PLAN)
    assert (new.pk > old.pk, new.digest != old.digest, missing_at(new)) == (True, True, [])
    assert (run.status, run.plans.get().status) == (RunStatus.AWAITING_APPROVAL, PlanStatus.PROPOSED)
    assert history(run)[-1] == "alice gave annex-b.md; the plan is asked about again."
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    assert statuses(run) == {"a": StepStatus.RUNNING}


def test_files_given_with_one_version_ask_about_no_later_one() -> None:
    run = asking()
    give(run, kind=GateKind.PLAN)
    first = fresh(run).plans.get()
    gate = gate_of(fresh(run), GateKind.PLAN)
    edited = made.plan(made.plan_step("a", "Edited", inputs=["annex-b.md"]))
    second = plan_edits.edit(gate.pk, made.alice(), gate.digest, edited)
    assert (waits_again(first), waits_again(second)) == (True, False)


def test_an_approval_from_the_page_before_is_refused() -> None:
    run = asking()
    old = gate_of(run, GateKind.PLAN)
    give(run, kind=GateKind.PLAN)
    sentence = "What would run has changed since this page was loaded. Read it again, then decide."
    assert refused(Gate.objects.get(pk=old.pk)) == sentence


def test_the_estimate_counts_the_new_file() -> None:
    run = asking()
    before = run.plans.get().estimate
    give(run, upload("annex-b.md", b"The fee is 40 euros a month.\n" * 20_000), kind=GateKind.PLAN)
    after = run.plans.get().estimate
    assert before is not None
    assert after is not None
    assert after.high > before.high


def test_no_policy_approves_a_plan_that_a_person_was_asked_about() -> None:
    run = asking()
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(plan_approval="never"))
    give(run, kind=GateKind.PLAN)
    assert fresh(run).status == RunStatus.AWAITING_APPROVAL


# ---- afterwards ---------------------------------------------------------------------------------------------------


def test_a_run_again_begins_with_the_given_file() -> None:
    run = blocked()
    give(run)
    cancel(run.pk, made.alice())
    following = again(fresh(run), made.alice(), uuid.uuid4())
    assert "annex-b.md" in trees.files_of(following.inputs)


def test_nothing_of_a_deleted_run_is_left() -> None:
    run = asking()
    give(run, *(upload(f"more/{number}.md", b"%d" % number) for number in range(70)), kind=GateKind.PLAN)
    give(fresh(run), kind=GateKind.PLAN)
    cancel(run.pk, made.alice())
    assert freed([run.pk])[0] == len({info.sha256 for info in trees.files_of(fresh(run).inputs).values()})
    delete(run.pk, made.alice())
    assert not Tree.objects.exists()
