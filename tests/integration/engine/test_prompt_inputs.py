"""What models are told: a planner of every failure and of people's words, an executor of what steps before it found."""

from __future__ import annotations

import json

import pytest

from runs.engine.perform import perform
from runs.engine.prompt_inputs import MAX_PREVIEWS, PREVIEW_CHARS, previews_of
from runs.enums import ApprovalPolicy, StepApproval, Verb, WorkStatus
from runs.models import Tree, User, Verdict
from runs.store import blobs, input_examination, trees
from tests.factories import Submit, answer, drain, finish, reused
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, plan, report, step, told, verdict

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.mark.slow
def test_a_planner_is_told_everything_in_order(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def verifier(request: Request, right: Answer) -> Answer:
        if "two says what was found" not in json.dumps(request.messages):
            return right
        number = len(team.seen["planner"])
        failed = verdict(labels_of(request), "", "", passed=False, action="replan")
        return Say(json.dumps(failed | {"feedback_for_executor": f"Not like in plan {number}."}))

    team = Team(plan=plan(step("one"), step("two", "one")), verifier=verifier)
    api.script(team)
    run = submitted(replans=2)
    drain(run)
    answer(run, alice, Verb.REJECT, "Two steps, please.")
    for _ in range(3):
        drain(run)
        answer(run, alice)
    drain(run)
    last = told(team.seen["planner"][3])
    heard = [(part.kind, part.name, part.text.splitlines()[0]) for part in last if part.kind in {"person", "lesson"}]
    assert heard == [
        ("person", "request 1: alice rejected version 1", "Two steps, please."),
        ("lesson", "Version 2, step two, attempt 1", "Not like in plan 2."),
        ("lesson", "Version 3, step two, attempt 1", "Not like in plan 3."),
    ]
    assert [(part.name, part.text) for part in last if part.kind == "result"] == [("one", "Found by one.")]
    reasons = list(run.plans.order_by("version").values_list("reason", flat=True))
    assert reasons[1] == "alice requested changes to version 1."
    again = "“Do two” cannot go on as planned, so it is planned again. Attempt 1: Not like in plan"
    assert reasons[2].startswith(f"{again} 2.")
    assert reasons[3].startswith(f"{again} 3.")


@pytest.mark.slow
def test_an_executor_is_told_what_the_steps_before_it_found_at_last(api: FakeAnthropic, submitted: Submit) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        if isinstance(right, Say):
            number = len(team.seen["executor"])
            return Say(json.dumps(report(f"Found by call {number}.") | {"notes": f"Doubts of call {number}."}))
        return right

    def verifier(request: Request, right: Answer) -> Answer:
        failed = verdict(labels_of(request), "", "", passed=False) | {"feedback_for_executor": "Look again."}
        return Say(json.dumps(failed)) if len(team.seen["verifier"]) == 1 else right

    team = Team(plan=plan(step("one"), step("two", "one")), executor=executor, verifier=verifier)
    api.script(team)
    run = submitted(plan_approval=ApprovalPolicy.NEVER, step_approval=StepApproval.NONE)
    for _ in range(3):  # the plan, and step one twice
        perform(run.work.get(status=WorkStatus.READY).pk)
    perform(run.work.get(status=WorkStatus.READY).pk)
    heard = [(part.name, part.text) for part in told(team.seen["executor"][-1]) if part.kind in {"result", "notes"}]
    assert heard == [("one", "Found by call 4."), ("one", "Doubts of call 4.")]


def test_the_context_of_the_plan_reaches_every_executor_and_notes_reach_who_goes_on(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        return (
            Say(json.dumps(report("Found.") | {"notes": "Page 3 was not legible."})) if request.tool_results else right
        )

    team = Team(plan=plan(step("one"), step("two", "one")), executor=executor)
    api.script(team)
    finish(submitted(), alice)
    contexts = [[part.text for part in told(asked) if part.kind == "context"] for asked in team.seen["executor"]]
    assert contexts == [["source: the files"]] * 4
    places = [[part.name for part in told(asked) if part.kind == "step"] for asked in team.seen["executor"]]
    assert places == [["step 1 of 2"]] * 2 + [["step 2 of 2"]] * 2
    notes = {
        role: [(part.name, part.text) for asked in team.seen[role] for part in told(asked) if part.kind == "notes"]
        for role in ("verifier", "synthesizer")
    }
    own = ("of the executor; its own words, no source for a quote", "Page 3 was not legible.")
    assert notes == {
        "verifier": [own, own],
        "synthesizer": [("one", "Page 3 was not legible."), ("two", "Page 3 was not legible.")],
    }


@pytest.mark.slow
@pytest.mark.exhaustive
def test_notes_of_a_reused_result_reach_who_goes_on(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        return (
            Say(json.dumps(report("Found.") | {"notes": "Page 3 was not legible."})) if request.tool_results else right
        )

    team = Team(plan=plan(step("one"), step("two", "one")), executor=executor)
    api.script(team)
    finish(submitted(), alice)
    team.seen.clear()
    run = finish(submitted(without_reuse=("two",)), alice)
    assert reused(run) == ["one"]
    notes = [(part.name, part.text) for part in told(team.seen["executor"][0]) if part.kind == "notes"]
    assert notes == [("one", "Page 3 was not legible.")]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_new_notes_alone_do_not_answer_a_critique(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        if not request.tool_results:
            return UseTools(ToolUse("write_file", {"path": "one.md", "content": "The same.\n"}))
        return Say(json.dumps(report("Found.") | {"notes": f"Try {len(team.seen['executor'])}."}))

    def verifier(request: Request, right: Answer) -> Answer:
        return Say(json.dumps(verdict(labels_of(request), "", "", passed=False)))

    team = Team(plan=plan(step("one")), executor=executor, verifier=verifier)
    api.script(team)
    run = submitted(plan_approval=ApprovalPolicy.NEVER, attempts=2)
    drain(run)
    feedback = list(
        Verdict.objects.filter(attempt__step__plan__run=run).order_by("id").values_list("feedback", flat=True)
    )
    assert feedback[1] == "This attempt repeats the one before: the critique was not addressed."


# ---- What a planner is shown of files before it plans ----------------------------------------------------------------


def tree_of(contents: dict[str, bytes]) -> Tree:
    files = {path: blobs.put(content) for path, content in contents.items()}
    input_examination.examine(files)
    return trees.make_tree(files)


def test_only_what_can_be_read_is_shown_and_as_it_is_read() -> None:
    contents = {
        "a.txt": "Größe".encode("cp1252"),
        "b.md": "\ufeffÜber".encode(),
        "blank.md": b" \n",
        "late.md": b"x" * 100_000 + b"\0",
        "scan.pdf": b"%PDF-1.7\n\xe2\xe3\0",
    }
    assert previews_of(tree_of(contents)) == {"a.txt": "Größe", "b.md": "Über"}


def test_so_many_files_are_begun() -> None:
    shown = previews_of(tree_of({f"{n:02}.md": f"{n} {'ü' * 5_000}".encode() for n in range(20)}))
    assert list(shown) == [f"{n:02}.md" for n in range(MAX_PREVIEWS)]
    assert {len(text) for text in shown.values()} == {PREVIEW_CHARS}


def test_of_files_that_were_never_examined_text_is_shown() -> None:
    files = {path: blobs.put(content) for path, content in {"a.md": b"One.", "x.bin": b"\xff\0"}.items()}
    assert previews_of(trees.make_tree(files)) == {"a.md": "One."}
