"""Canaries: a copy of a result with a planted fault is judged as well, and nothing else of the run notices."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from runs.accounting.costs import totals_of_canaries
from runs.accounting.usage import spent_usd
from runs.calibration.canaries import canary_rates, is_due
from runs.engine.perform import OF_SINGLE_VERDICTS, VERDICTS, VERIFYING
from runs.enums import AttemptStatus, CaseOutcome, EventKind, Outcome, RunStatus, Verb, WorkStatus
from runs.errors import DecisionRefused
from runs.models import Attempt, Canary, ModelCall, Run, Step, User, Verdict
from runs.readmodel.run_view import reading_of
from runs.reports.json_report import as_json
from runs.store import broadcast, trees
from runs.store.journal import CANARIES
from runs.web.templatetags.pev import usd
from tests.factories import MODELS, Submit, answer, drain, leave_budget
from tests.fakes.anthropic_answers import Answer, Fail, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, documents, labels_of, plan, report, step, step_of, told, verdict

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
LEASE = b"Lease of a shop in Hamburg\nThe rent is 1,250 EUR a month.\nNotice has to be given in writing.\n"
FILES = {"lease.md": LEASE}
RESULT = "The rent comes to 1,250 EUR.\n"
HANDS_OFF = {"plan_approval": "never", "step_approval": "none", "files": FILES}


def writing(text: str) -> Player:
    """An executor that writes this text, and reports what it says."""

    def play(request: Request, right: Answer) -> Answer:
        wanted = step_of(request)
        again = "Checked again.\n" if any(part.kind in {"critique", "person"} for part in told(request)) else ""
        if not request.tool_results:
            path = wanted["expected_outputs"][0]["path"]
            return UseTools(
                ToolUse("read_file", {"path": "lease.md"}),
                ToolUse("write_file", {"path": path, "content": text + again}),
            )
        return Say(json.dumps(report(text.strip())))

    return play


def judged_texts(request: Request) -> str:
    """The results that a verifier is shown."""
    parts = told(request)
    subject = next(number for number, part in enumerate(parts) if part.kind == "subject")
    return "\n".join(text for _, text in documents(parts[subject:]))


def is_copy(request: Request, result: str = RESULT) -> bool:
    """Whether a verifier is asked about a changed result. The whole task has no documents behind its subject."""
    return "Write the results of" in str(request.messages) and result.strip() not in judged_texts(request)


def on_copy(act: Callable[[Request], Answer], result: str = RESULT) -> Player:
    """A verifier that does this with a copy, and judges everything else as the team does."""

    def play(request: Request, right: Answer) -> Answer:
        return act(request) if is_copy(request, result) else right

    return play


def refuse(request: Request) -> Answer:
    return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="retry")))


def team_with(verifier: Player | None = None, result: str = RESULT, steps: int = 1) -> Team:
    parts = [step(f"s{number}") for number in range(steps)]
    return Team(plan=plan(*parts), executor=writing(result), verifier=verifier)


def carried_out(api: FakeAnthropic, submitted: Submit, team: Team, **policy: Any) -> Run:
    api.script(team)
    run = submitted(**{**HANDS_OFF, "canary_every": 1, **policy})
    drain(run)
    return run


def asked_about_copies(run: Run) -> list[ModelCall]:
    return list(ModelCall.objects.filter(run=run, ordinal__gte=CANARIES))


def traces(run: Run) -> dict[str, Any]:
    """What people and later steps get of a run, without ids and times."""
    attempts = Attempt.objects.filter(step__plan__run=run).order_by("pk")
    columns = ("number", "status", "overlay", "fingerprint", "reuse_key", "reads", "tree__digest")
    verdicts = Verdict.objects.filter(attempt__in=attempts).order_by("attempt_id")
    return {
        "run": (run.status, run.outcome, run.answer, run.head.digest),
        "attempts": list(attempts.values_list(*columns)),
        "verdicts": list(verdicts.values_list("passed", "results", "feedback")),
        "steps": list(
            Step.objects.filter(plan__run=run).order_by("pk").values_list("key", "status", "tries", "failures")
        ),
        "gates": list(run.gates.order_by("pk").values_list("kind", "status")),
        "tools": list(run.tool_calls.order_by("pk").values_list("name", "arguments", "result")),
        "work": list(run.work.order_by("pk").values_list("kind", "status", "reserved_usd", "tries", "error")),
    }


def test_a_caught_canary_leaves_its_row_its_event_and_its_cost(
    api: FakeAnthropic, submitted: Submit, client: Client, alice: User
) -> None:
    run = carried_out(api, submitted, team_with(on_copy(refuse)))
    canary = Canary.objects.get()
    assert (run.status, run.outcome) == (RunStatus.FINISHED, Outcome.SUCCEEDED)
    assert (canary.outcome, canary.why, canary.model) == (CaseOutcome.REFUSED, "", "claude-haiku-5-5")
    assert (canary.step_key, canary.attempt.number) == ("s0", 1)
    assert (canary.fault, canary.was, canary.place) == ("wrong_figure", "1,250", "s0.md, line 1")
    assert canary.planted != canary.was
    (call,) = asked_about_copies(run)
    assert spent_usd(run) > (call.cost_usd or 0) > 0
    kinds = list(run.events.order_by("seq").values_list("kind", flat=True))
    assert kinds.index(EventKind.VERDICT) + 1 == kinds.index(EventKind.CANARY)
    event = run.events.get(kind=EventKind.CANARY)
    assert event.data == {"step": "s0", "attempt": 1, "fault": "wrong figure", "outcome": "refused"}
    assert Verdict.objects.get().notes == []
    assert "did not refuse a planted fault" not in str(as_json(reading_of(run)))


def test_nothing_else_of_the_run_is_touched(api: FakeAnthropic, submitted: Submit) -> None:
    caught, missed = team_with(on_copy(refuse), steps=2), team_with(steps=2)
    runs = [
        carried_out(api, submitted, team_with(steps=2), canary_every=None, reuse=False),
        carried_out(api, submitted, caught, reuse=False),
        carried_out(api, submitted, missed, reuse=False),
    ]
    assert Canary.objects.count() == 4
    without, *with_canaries = [traces(run) for run in runs]
    for found in with_canaries:
        assert found == without
    assert trees.contents_of(runs[1].head)["s0.md"].decode() == RESULT
    asked = [request for role in ("executor", "synthesizer") for request in caught.seen[role] + missed.seen[role]]
    for canary in Canary.objects.all():
        assert canary.planted not in str([request.messages for request in asked])


def test_a_canary_that_was_let_through_is_said_at_the_verdict_and_in_the_report(
    api: FakeAnthropic, submitted: Submit, client: Client, alice: User
) -> None:
    run = carried_out(api, submitted, team_with())
    canary = Canary.objects.get()
    assert canary.outcome == CaseOutcome.MARKED, "the planted figure is in no source, and people would see that"
    sentence = (
        "To test the verifier, a fault was planted in a copy of this result (wrong figure in s0.md, line 1: "
        f"“{canary.planted}” instead of “1,250”), and claude-haiku-5-5 passed the copy, though with a mark that people "
        f"would see ({canary.planted} EUR is in no source). It may have missed real faults too, so check the result "
        "yourself. The copy was discarded, and the result itself was not changed."
    )
    assert (canary.sentence, Verdict.objects.get().notes) == (sentence, [sentence])
    assert run.outcome == Outcome.SUCCEEDED
    client.force_login(alice)
    step_page = client.get(f"/runs/{run.pk}/steps/{canary.attempt.step_id}/").text
    assert sentence in step_page
    report_page = client.get(f"/runs/{run.pk}/report/").text
    assert "The verifier did not refuse a planted fault." in report_page
    assert f"“Do s0”: {sentence}" in report_page


def test_who_decides_about_the_result_reads_it_at_the_gate(
    api: FakeAnthropic, submitted: Submit, client: Client, alice: User
) -> None:
    run = carried_out(api, submitted, team_with(), step_approval="all")
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    canary = Canary.objects.get()
    assert f"<strong>Verifier passed a planted fault, with a mark</strong> {canary.sentence}" in page
    assert "but see the warnings above" in page


def test_a_canary_without_any_mark_is_missed(
    api: FakeAnthropic, submitted: Submit, client: Client, alice: User
) -> None:
    cited = "Notice is in writing: [“Notice has to be given in writing.”](lease.md#L3).\n"
    run = carried_out(api, submitted, team_with(result=cited), step_approval="all")
    canary = Canary.objects.get()
    assert (canary.fault, canary.outcome, canary.why) == ("irrelevant_quote", CaseOutcome.PASSED, "")
    assert canary.was == "[“Notice has to be given in writing.”](lease.md#L3)"
    assert Verdict.objects.get().notes == [canary.sentence]
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    assert "<strong>Verifier missed a planted fault</strong>" in page


def test_pages_and_exports_do_not_show_the_copy_as_the_result(
    api: FakeAnthropic, submitted: Submit, client: Client, alice: User
) -> None:
    run = carried_out(api, submitted, team_with(on_copy(refuse)))
    planted = Canary.objects.get().planted
    client.force_login(alice)
    step_id = Step.objects.get(plan__run=run).pk
    pages = [
        f"/runs/{run.pk}/",
        f"/runs/{run.pk}/steps/{step_id}/",
        f"/runs/{run.pk}/report/",
        f"/runs/{run.pk}/files/",
    ]
    for page in pages:
        text = client.get(page).text
        assert planted not in text, page
    archive = b"".join(client.get(f"/runs/{run.pk}/files.zip").streaming_content)  # type: ignore[attr-defined]
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        for name in packed.namelist():
            assert planted.encode() not in packed.read(name), name
        journal = next(name for name in packed.namelist() if name.endswith(".jsonl"))
        lines = [json.loads(line) for line in packed.read(journal).splitlines()]
    assert [line["role"] for line in lines if line.get("canary")] == ["verifier"]
    history = client.get(f"/runs/{run.pk}/history/").text
    assert "A copy of the result with a planted fault (wrong figure) was refused" in history


@pytest.mark.parametrize(
    ("fail", "why"),
    [
        (lambda _: Fail(400, "invalid_request_error", "Prompt is odd."), "odd"),
        (lambda _: Fail(529, "overloaded_error", "Overloaded"), "verloaded"),
    ],
)
def test_a_verifier_that_fails_at_the_copy_harms_nothing(
    api: FakeAnthropic, submitted: Submit, fail: Callable[[Request], Answer], why: str
) -> None:
    run = carried_out(api, submitted, team_with(on_copy(fail)))
    canary = Canary.objects.get()
    assert (run.outcome, run.gates.count()) == (Outcome.SUCCEEDED, 0)
    assert (canary.outcome, canary.fault) == ("", "wrong_figure")
    assert why in canary.why
    assert not run.events.filter(kind=EventKind.WAITING_FOR_MODEL).exists()
    assert set(run.work.values_list("status", "reserved_usd")) == {(WorkStatus.DONE, Decimal(0))}


def test_an_unusable_verdict_on_the_copy_is_no_verdict(api: FakeAnthropic, submitted: Submit) -> None:
    run = carried_out(api, submitted, team_with(on_copy(lambda _: Say("I do not know."))))
    canary = Canary.objects.get()
    assert (canary.outcome, run.outcome, run.gates.count()) == (CaseOutcome.NO_VERDICT, Outcome.SUCCEEDED, 0)
    assert len(asked_about_copies(run)) > 1
    assert Verdict.objects.get().notes == []


@pytest.mark.parametrize(("left", "outcome"), [("5.00", CaseOutcome.REFUSED), ("0.10", "")])
def test_a_canary_that_the_budget_does_not_spare_is_skipped(
    api: FakeAnthropic, submitted: Submit, alice: User, left: str, outcome: str
) -> None:
    api.script(team_with(on_copy(refuse)))
    run = submitted(**{**HANDS_OFF, "plan_approval": "always"}, canary_every=1, budget=Decimal("9.00"))
    drain(run)
    leave_budget(run, left)
    with pytest.raises(DecisionRefused):  # the policy has changed (G1)
        answer(run, alice)
    answer(run, alice)
    drain(run)
    canary = Canary.objects.get()
    assert (canary.outcome, len(asked_about_copies(run))) == (outcome, 1 if outcome else 0)
    assert canary.why == ("" if outcome else "It could have cost more than a tenth of what is left of the budget.")
    assert (run.outcome, run.gates.open().count()) == (Outcome.SUCCEEDED, 0)


def test_a_tenth_of_the_budget_is_for_all_questions_about_a_copy(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    api.script(team_with(on_copy(lambda _: Say("I do not know."))))
    run = submitted(**{**HANDS_OFF, "plan_approval": "always"}, canary_every=1, budget=Decimal("9.00"))
    drain(run)
    leave_budget(run, "0.40")
    with pytest.raises(DecisionRefused):  # the policy has changed (G1)
        answer(run, alice)
    answer(run, alice)
    drain(run)
    why = "It could have cost more than a tenth of what is left of the budget."
    assert (len(asked_about_copies(run)), Canary.objects.get().why) == (4, why), "three questions for each verdict"


def test_questions_about_results_stay_below_those_about_copies() -> None:
    tries = 100  # that a person has asked for, with a fallback verifier as well, each asked about single criteria
    assert VERIFYING + tries * (VERDICTS + 1) * OF_SINGLE_VERDICTS < CANARIES


def test_a_canary_for_which_the_time_is_short_is_skipped(api: FakeAnthropic, submitted: Submit) -> None:
    run = carried_out(api, submitted, team_with(on_copy(refuse)), time_limit=1_100)
    assert Canary.objects.get().why == "It could have taken more than a tenth of the time that the run has left."
    assert run.outcome == Outcome.SUCCEEDED


def test_a_result_without_room_for_a_fault_is_noted(api: FakeAnthropic, submitted: Submit) -> None:
    run = carried_out(api, submitted, team_with(result="All is well.\n"))
    canary = Canary.objects.get()
    assert (canary.outcome, canary.fault, asked_about_copies(run)) == ("", "", [])
    assert canary.why.startswith("The result has nothing in which a fault can be planted")
    assert run.outcome == Outcome.SUCCEEDED


@pytest.mark.parametrize("policy", [{"canary_every": None}, {"model_review": "none"}])
def test_without_a_review_by_a_model_there_is_none(
    api: FakeAnthropic, submitted: Submit, policy: dict[str, Any]
) -> None:
    team = team_with()
    if "model_review" in policy:  # checks decide all criteria
        team.plan["steps"][0]["acceptance_criteria"].pop()
    run = carried_out(api, submitted, team, **policy)
    assert (run.outcome, Canary.objects.count()) == (Outcome.SUCCEEDED, 0)


def test_a_failed_result_has_none_and_the_step_has_one_in_all(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    seen: list[Request] = []

    def verifier(request: Request, right: Answer) -> Answer:
        if "Write the results of" not in str(request.messages):
            return right
        seen.append(request)
        return refuse(request) if len(seen) == 1 or is_copy(request) else right

    run = carried_out(api, submitted, team_with(verifier))
    assert run.outcome == Outcome.SUCCEEDED
    assert list(Attempt.objects.order_by("number").values_list("number", "status")) == [
        (1, AttemptStatus.FAILED),
        (2, AttemptStatus.PASSED),
    ]
    assert Canary.objects.get().attempt.number == 2


def test_another_result_of_a_tested_step_is_not_tested_again(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    run = carried_out(api, submitted, team_with(), step_approval="all")
    first = Canary.objects.get()
    answer(run, alice, Verb.REJECT, "Say it again.")
    drain(run)
    assert Attempt.objects.filter(number=2).get().verdict.passed
    assert Canary.objects.get() == first
    answer(run, alice)
    drain(run)
    assert run.outcome == Outcome.SUCCEEDED


def test_no_one_sees_how_the_review_of_a_copy_is_written(
    api: FakeAnthropic, submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(broadcast, "_send", lambda _, message: sent.append(message))
    team = team_with(on_copy(refuse))
    api.script(team)
    run = submitted(**HANDS_OFF, canary_every=1)
    broadcast.follow(run.pk)
    drain(run)
    broadcast.unfollow(run.pk)
    updates = [json.loads(message["text"])["writing"] for message in sent if message["type"] == "model.writing"]
    ended = [update["role"] for update in updates if update.get("done")]
    assert (ended.count("verifier"), len(team.seen["verifier"])) == (2, 3)
    assert Canary.objects.get().planted not in str(updates)


def test_which_steps_are_tested_is_a_matter_of_run_step_and_secret(submitted: Submit, settings: Any) -> None:
    run = submitted(canary_every=4)
    keys = [f"step-{number}" for number in range(400)]
    chosen = {key for key in keys if is_due(run, key)}
    assert 70 <= len(chosen) <= 130
    assert {key for key in keys if is_due(run, key)} == chosen
    settings.SECRET_KEY = "another secret of another installation"
    assert {key for key in keys if is_due(run, key)} != chosen


def test_offline_rules_are_not_tested(submitted: Submit) -> None:
    run = submitted(canary_every=1)
    run.policy = run.policy.changed(models={role: {"model": "offline-rules"} for role in MODELS})
    assert not is_due(run, "one")


def test_figures_of_each_verifier_are_apart_from_calibrations(
    api: FakeAnthropic, submitted: Submit, client: Client, alice: User
) -> None:
    carried_out(api, submitted, team_with(on_copy(refuse), steps=3), reuse=False)
    carried_out(api, submitted, team_with(steps=2), reuse=False)
    carried_out(api, submitted, team_with(result="All is well.\n"), reuse=False)
    (rate,) = canary_rates(Run.objects.all())
    assert (rate.model, rate.caught.count, rate.caught.total, rate.skipped) == ("claude-haiku-5-5", 3, 5, 1)
    assert (rate.missed.count + rate.marked, rate.no_verdict) == (2, 0)
    assert (round(rate.caught.low, 2), round(rate.caught.high, 2)) == (0.23, 0.88)
    client.force_login(alice)
    page = client.get("/metrics/").text
    card = page.partition("<h3>Verifiers, tested in these runs</h3>")[2].partition("</section>")[0]
    assert "60 %" in card
    assert "(23 % to 88 %)" in card
    spent = totals_of_canaries(Run.objects.all())
    asked = [call for run in Run.objects.all() for call in asked_about_copies(run)]
    assert (spent.calls, spent.cost) == (len(asked), sum(call.cost_usd or 0 for call in asked))
    assert 0 < spent.cost < sum(spent_usd(run) for run in Run.objects.all())
    assert f"Judging the copies cost {usd(spent.cost)} in all." in " ".join(card.split())
    assert "No verifier was calibrated with all kinds of faults yet." in page
