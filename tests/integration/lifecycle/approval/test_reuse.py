"""A run again with other files takes over exactly the results that do not rest on what is otherwise now."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.enums import Verb
from runs.lifecycle.approval import reuse
from runs.lifecycle.approval.fingerprint import contract_of
from runs.lifecycle.approval.reuse import PreviewInputs, preview_reuse
from runs.lifecycle.overruling import overrule
from runs.models import Attempt, Run, User
from runs.store import blobs, trees
from runs.submission.run_templates import plan_worth_keeping
from tests.factories import Submit, answer, drain, finish, reused
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.team import (
    Team,
    also,
    block,
    labels_of,
    looking,
    output_criterion,
    plan,
    reads,
    step,
    step_of,
    told,
    verdict,
)

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
FILES = {"notes.md": b"Some notes.\n", "rates.csv": b"item,rate\npaint,3\n", "sales.csv": b"item,sum\npaint,3\n"}
OTHER_SALES = {**FILES, "sales.csv": b"item,sum\npaint,4\nnails,1\n"}


def inputs_of(*patterns: str) -> dict[str, Any]:
    return {"inputs": list(patterns)}


def foretold(before: Run, files: dict[str, bytes], owner: User) -> dict[str, str]:
    """What the page would say of a run again with these files: why each step is carried out, or nothing."""
    found = plan_worth_keeping(before)
    assert found is not None
    infos = {path: blobs.put(content) for path, content in sorted(files.items())}
    given = PreviewInputs(owner, before.request, before.policy, infos)
    return {one.key: one.why for one in preview_reuse(contract_of(found), given, before)}


@pytest.mark.slow
def test_a_changed_file_voids_the_steps_that_read_it_and_no_other(team: Team, submitted: Submit, alice: User) -> None:
    team.plan = plan(step("facts"), step("figures"), step("prices"), step("report", "facts", "prices"))
    team.executor = looking(
        facts=[reads("notes.md")],
        figures=[reads("sales.csv")],
        prices=[reads("rates.csv")],
        report=[reads("facts.md"), reads("prices.md")],
    )
    before = finish(submitted(files=FILES), alice)
    assert foretold(before, OTHER_SALES, alice) == {
        "facts": "",
        "figures": "sales.csv changed",
        "prices": "",
        "report": "",
    }
    assert reused(finish(submitted(files=OTHER_SALES), alice)) == ["facts", "prices", "report"]


@pytest.mark.slow
def test_the_outputs_of_a_step_are_read_like_any_other_file(team: Team, submitted: Submit, alice: User) -> None:
    """Who read a file that comes out otherwise is done again, although what it rests on was found in the same words."""
    text = "As it was.\n"

    def writes(request: Request, right: Answer) -> Answer:
        if isinstance(right, UseTools) and step_of(request)["step_id"] == "one":
            return UseTools(reads("sales.csv"), ToolUse("write_file", {"path": "one.md", "content": text}))
        return looking(three=[reads("one.md")])(request, right)

    team.plan = plan(step("one"), step("two", "one"), step("three", "two"), step("four", "two"))
    team.executor = writes
    finish(submitted(files=FILES), alice)
    text = "It is otherwise.\n"
    before = finish(submitted(files=OTHER_SALES), alice)
    assert reused(before) == ["four"], "what two found is the same"
    assert reused(finish(submitted(files=OTHER_SALES), alice)) == ["four", "one", "three", "two"]


USES = {
    "lists": ToolUse("list_files", {"prefix": ""}),
    "lists_part": ToolUse("list_files", {"prefix": "no"}),
    "searches": ToolUse("search_files", {"pattern": "nails"}),
    "searches_part": ToolUse("search_files", {"pattern": "nails", "prefix": "./notes"}),
    "reads": ToolUse("read_file", {"path": "sales.csv"}),
    "reads_absent": ToolUse("read_file", {"path": "z.txt"}),
    "reads_outside": ToolUse("read_file", {"path": "../z.txt"}),
    "edits": ToolUse("edit_file", {"path": "notes.md", "old": "nowhere", "new": ""}),
}
"""By step: the tool that it uses before it writes its result."""
REFUSED = ("reads_absent", "edits")
"""Their answers are refusals, which may name other files, so they rest on which files there are."""
CHANGES: dict[str, tuple[dict[str, bytes], set[str]]] = {
    "a figure": ({"sales.csv": b"item,sum\npaint,4\n"}, {"searches", "reads"}),
    "a size": ({"sales.csv": b"longer than it was before\n"}, {"lists", "searches", "reads"}),
    "a file that is empty now": ({"sales.csv": b""}, {"lists", "searches", "reads"}),
    "a new file": ({"z.txt": b"new"}, {"lists", "searches", *REFUSED}),
    "a new file of the part": ({"nothing.md": b"new"}, {"lists", "lists_part", "searches", *REFUSED}),
    "other notes": ({"notes.md": b"Same notes.\n"}, {"searches", "searches_part", "edits"}),
    "other words": ({"notes.md": b"nowhere"}, {"lists", "lists_part", "searches", "searches_part", "edits"}),
}
"""What changes, and the steps that have to be carried out again."""


@pytest.mark.slow
def test_each_tool_rests_on_what_it_shows(team: Team, submitted: Submit, alice: User) -> None:
    team.plan = plan(*(step(key) | inputs_of("notes.md") for key in USES))
    team.executor = looking(**{key: [use] for key, use in USES.items()})
    before = finish(submitted(files=FILES, parallel=len(USES)), alice)
    found = {name: foretold(before, FILES | change, alice) for name, (change, _) in CHANGES.items()}
    again = {name: {key for key, why in steps.items() if why} for name, steps in found.items()}
    assert again == {name: steps for name, (_, steps) in CHANGES.items()}
    for name in ("a size", "a new file of the part"):
        change, steps = CHANGES[name]
        assert reused(finish(submitted(files=FILES | change, parallel=len(USES)), alice)) == sorted(set(USES) - steps)


CONTRACTS = {"notes.md": b"Some notes.\n", "contracts/a.md": b"One of two.\n", "contracts/empty.md": b""}


@pytest.mark.slow
def test_a_file_that_a_step_is_to_deal_with_counts_although_it_read_none(
    team: Team, submitted: Submit, alice: User
) -> None:
    """Its question lists them: which there are, and in which there is something to read."""
    team.plan = plan(step("all"), step("part") | inputs_of("contracts"))
    before = finish(submitted(files=CONTRACTS), alice)

    def why(path: str, content: bytes) -> dict[str, str]:
        return foretold(before, CONTRACTS | {path: content}, alice)

    new, filled = "contracts/b.md is new", "contracts/empty.md changed"
    assert why("z.txt", b"new") == {"all": "z.txt is new", "part": ""}
    assert why("contracts/b.md", b"B") == {"all": new, "part": new}
    assert why("contracts/empty.md", b"no more") == {"all": filled, "part": filled}
    assert why("contracts/a.md", b"other") == {"all": "", "part": ""}
    assert reused(finish(submitted(files=CONTRACTS | {"z.txt": b"new"}), alice)) == ["part"]
    assert reused(finish(submitted(files=CONTRACTS | {"contracts/empty.md": b"no more"}), alice)) == []


@pytest.mark.slow
def test_what_checks_look_at_counts_as_well(team: Team, submitted: Submit, alice: User) -> None:
    check = {"kind": "covers", "path": "one.md", "source": "rates.csv", "column": "item"}
    one = step("one") | inputs_of("notes.md")
    one["acceptance_criteria"].append(output_criterion("All items are named", check))
    team.plan = plan(one)
    team.executor = lambda request, right: (
        UseTools(ToolUse("write_file", {"path": "one.md", "content": "paint is dealt with\n"}))
        if isinstance(right, UseTools)
        else right
    )
    before = finish(submitted(files=FILES), alice)
    changed = FILES | {"rates.csv": b"item,rate\npaint,4\n"}
    assert foretold(before, changed, alice) == {"one": "rates.csv changed"}
    assert foretold(before, OTHER_SALES, alice) == {"one": ""}
    assert reused(finish(submitted(files=changed), alice)) == []


def test_what_a_verifier_quotes_counts_as_well(team: Team, submitted: Submit, alice: User) -> None:
    def quotes(request: Request, right: Answer) -> Answer:
        done = block(told(request), "output")
        return Say(json.dumps(also(verdict(labels_of(request), "rates.csv", "paint,3"), "@output", done)))

    team.plan, team.verifier = plan(step("one") | inputs_of("notes.md")), quotes
    before = finish(submitted(files=FILES), alice)
    changed = FILES | {"rates.csv": b"item,rate\npaint,3\nnails,1\n"}
    assert foretold(before, changed, alice) == {"one": "rates.csv changed"}
    assert reused(finish(submitted(files=OTHER_SALES), alice)) == ["one"]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_steps_side_by_side_are_reused_however_they_met(team: Team, submitted: Submit, alice: User) -> None:
    """One after the other or at once: each lists what there is, and finds files of the other or not."""
    lists = [ToolUse("list_files", {"prefix": ""}), ToolUse("search_files", {"pattern": "paint"})]
    team.plan = plan(step("one"), step("two"), step("both", "one", "two"))
    team.executor = looking(one=lists, two=lists, both=lists)
    finish(submitted(files=FILES, parallel=1), alice)
    assert reused(finish(submitted(files=FILES, parallel=3), alice)) == ["both", "one", "two"]
    finish(submitted(files=FILES, parallel=3, reuse=False), alice)
    assert reused(finish(submitted(files=FILES, parallel=1), alice)) == ["both", "one", "two"]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_file_of_a_step_side_by_side_that_was_read_has_to_be_there(
    team: Team, submitted: Submit, alice: User
) -> None:
    team.plan = plan(step("one"), step("two"))
    team.executor = looking(two=[ToolUse("search_files", {"pattern": "Found by one"})])
    finish(submitted(files=FILES, parallel=1), alice)
    assert reused(finish(submitted(files=FILES, parallel=2), alice)) == ["one"]


@pytest.mark.slow
def test_a_retry_rests_on_what_the_attempt_before_it_looked_at(team: Team, submitted: Submit, alice: User) -> None:
    """It was told the critique of that attempt."""
    criticised: list[Request] = []

    def strict(request: Request, right: Answer) -> Answer:
        if "one says what was found" not in json.dumps(request.messages) or criticised:
            return right
        criticised.append(request)
        return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="retry")))

    def reads_once(request: Request, right: Answer) -> Answer:
        first = not any(part.kind == "critique" for part in told(request))
        return looking(one=[reads("sales.csv")] if first else [])(request, right)

    team.plan, team.verifier, team.executor = plan(step("one") | inputs_of("notes.md")), strict, reads_once
    before = finish(submitted(files=FILES), alice)
    assert before.plans.get().steps.get().tries == 2
    assert foretold(before, OTHER_SALES, alice) == {"one": "sales.csv changed"}
    assert reused(finish(submitted(files=FILES), alice)) == ["one"]


@pytest.mark.slow
def test_a_result_that_cannot_lie_beside_the_new_files_is_not_reused(
    team: Team, submitted: Submit, alice: User
) -> None:
    team.plan = plan(step("one") | inputs_of("notes.md"))
    finish(submitted(files=FILES), alice)
    assert reused(finish(submitted(files=FILES | {"ONE.md": b"In the way."}), alice)) == []


@pytest.mark.slow
def test_an_attempt_without_a_record_is_not_reused(team: Team, submitted: Submit, alice: User) -> None:
    before = finish(submitted(files=FILES), alice)
    Attempt.objects.update(reads=None)
    assert foretold(before, OTHER_SALES, alice)["one"] == "sales.csv changed"
    assert reused(finish(submitted(files=FILES), alice)) == []


@pytest.mark.slow
def test_of_several_results_the_one_that_fits_is_found(team: Team, submitted: Submit, alice: User) -> None:
    team.plan, team.executor = plan(step("one")), looking(one=[reads("sales.csv")])
    before = finish(submitted(files=FILES), alice)
    finish(submitted(files=OTHER_SALES), alice)
    again = finish(submitted(files=FILES), alice)
    assert Attempt.objects.get(step__plan__run=again).reused_from == Attempt.objects.get(step__plan__run=before)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_of_very_many_results_only_the_newest_are_compared(
    team: Team, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reuse, "MAX_CANDIDATES", 1)
    team.plan, team.executor = plan(step("one")), looking(one=[reads("sales.csv")])
    finish(submitted(files=FILES), alice)
    finish(submitted(files=OTHER_SALES), alice)
    assert reused(finish(submitted(files=FILES), alice)) == []


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_newer_result_that_does_not_fit_hides_no_older_one(team: Team, submitted: Submit, alice: User) -> None:
    """It wrote a file that only its own plan declared, by another step."""
    team.plan = plan(step("one"))
    before = finish(submitted(files=FILES), alice)
    team.plan = plan(step("one"), step("two", "one", outputs=("more.md",)))
    team.executor = looking(one=[ToolUse("write_file", {"path": "more.md", "content": "More than was asked.\n"})])
    finish(submitted(files=FILES, reuse=False), alice)
    team.plan = plan(step("one"))
    again = finish(submitted(files=FILES), alice)
    assert Attempt.objects.get(step__plan__run=again).reused_from == Attempt.objects.get(step__plan__run=before)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_what_a_plan_says_elsewhere_of_how_long_a_file_is_to_be_counts(
    team: Team, submitted: Submit, alice: User
) -> None:
    """By itself the document is too short: that it passed rests on a success criterion."""
    team.plan = plan(step("one"))
    team.executor = lambda request, right: (
        UseTools(ToolUse("write_file", {"path": "one.md", "content": "Short.\n"}))
        if isinstance(right, UseTools)
        else right
    )
    sure = team.plan["success_criteria"][0]
    check = {"kind": "min_bytes", "path": "one.md", "min": 5}
    agreed = team.plan | {"success_criteria": [sure, output_criterion("It is as long as that", check)]}
    team.plan = agreed
    finish(submitted(files=FILES), alice)
    assert reused(finish(submitted(files=FILES), alice)) == ["one"]
    team.plan = agreed | {"success_criteria": [sure]}
    again = submitted(files=FILES, exhausted="fail")
    drain(again)
    answer(again, alice)
    drain(again)
    assert reused(again) == []


@pytest.mark.slow
@pytest.mark.exhaustive
def test_that_nothing_was_found_rests_on_who_read_the_files(team: Team, submitted: Submit, alice: User) -> None:
    """The check asks for files that any step of its run was shown whole; the second step has looked at none."""
    check = {"kind": "absent", "path": "notes.md", "terms": ["nails"]}
    two = step("two") | inputs_of("notes.md")
    two["acceptance_criteria"].append(output_criterion("No nails are named", check))
    team.plan = plan(step("one") | inputs_of("notes.md"), two)
    team.executor = looking(one=[reads("notes.md")])
    before = finish(submitted(files=FILES, parallel=1), alice)
    assert foretold(before, FILES, alice) == {"one": "", "two": ""}
    assert reused(finish(submitted(files=FILES, parallel=1), alice)) == ["one", "two"]
    assert reused(finish(submitted(files=FILES, parallel=1, without_reuse=("one",)), alice)) == ["two"]
    team.plan = plan(two)
    again = submitted(files=FILES)
    drain(again)
    answer(again, alice)
    drain(again)
    assert reused(again) == []


@pytest.mark.slow
def test_what_a_person_said_proves_nothing_where_nobody_said_it(team: Team, submitted: Submit, alice: User) -> None:
    def quotes(request: Request, right: Answer) -> Answer:
        if any(part.kind == "person" for part in told(request)):
            done = block(told(request), "output")
            return Say(json.dumps(also(verdict(labels_of(request), "@person-1", "paint it green"), "@output", done)))
        return right

    team.plan, team.verifier = plan(step("one"), step("two")), quotes
    run = submitted(files=FILES)
    drain(run)
    answer(run, alice, Verb.REJECT, "You are to paint it green.")
    before = finish(run, alice)
    assert before.plans.count() == 2
    assert foretold(before, FILES, alice)["two"] == "no passed result fits it any longer"


@pytest.mark.slow
@pytest.mark.exhaustive
def test_what_was_found_in_a_small_context_window_is_not_reused_in_another(
    team: Team, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.plan = plan(step("one"))
    monkeypatch.setenv("PEV_CONTEXT_TOKENS_EXECUTOR", "20000")
    small = finish(submitted(files=FILES), alice)
    assert foretold(small, FILES, alice) == {"one": ""}
    monkeypatch.setenv("PEV_CONTEXT_TOKENS_EXECUTOR", "1000000")
    assert foretold(small, FILES, alice) == {"one": "no passed result fits it any longer"}
    finish(submitted(files=FILES), alice)
    monkeypatch.setenv("PEV_CONTEXT_TOKENS_EXECUTOR", "128000")
    assert foretold(small, FILES, alice) == {"one": ""}, "nothing is cut in either"


def test_what_one_executor_did_is_not_taken_for_what_the_other_would(
    team: Team, submitted: Submit, alice: User
) -> None:
    """Who lets both work on a task to compare them wants it done twice."""
    team.plan = plan(step("one"))
    own = finish(submitted(files=FILES), alice)
    given = PreviewInputs(alice, own.request, own.policy.changed(executor="agent-sdk"), trees.files_of(own.inputs))
    found = plan_worth_keeping(own)
    assert found is not None
    (foreseen,) = preview_reuse(contract_of(found), given, own)
    assert foreseen.why == "the policy changed: executor"
    assert foretold(own, FILES, alice) == {"one": ""}


@pytest.mark.slow
def test_a_result_that_a_person_rejects_is_not_reused(team: Team, submitted: Submit, alice: User) -> None:
    team.plan = plan(step("facts"), step("prices"))
    team.executor = looking(facts=[reads("notes.md")], prices=[reads("rates.csv")])
    before = finish(submitted(files=FILES), alice)
    facts = Attempt.objects.of_run(before).get(step__key="facts")
    overrule(facts.pk, alice, facts.verdict.results[0].label, met=False, reason="It is wrong.", seen=0)
    assert foretold(before, FILES, alice) == {"facts": "a person rejects its result", "prices": ""}
    assert reused(finish(submitted(files=FILES), alice)) == ["prices"]
    overrule(
        facts.pk,
        alice,
        facts.verdict.results[0].label,
        met=True,
        reason="No, I was wrong.",
        seen=facts.overrulings.get().pk,
    )
    assert foretold(before, FILES, alice) == {"facts": "", "prices": ""}
