"""`manage.py calibrate`: the estimate, the table, JSON, exit statuses, and going on after a kill."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from runs.calibration import calibrations
from runs.calibration.calibrations import Wanted
from runs.engine.labelled_cases import content_to_keep, digest_of, keep
from runs.enums import CalibrationStatus, FaultKind, Language
from runs.lifecycle.overruling import overrule
from runs.models import Attempt, Calibration
from runs.planted_faults.stored_contracts import VerifierSettings
from tests import factories as made
from tests.databases import rows
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.known_verifiers import catching, scripted_verifier
from tests.fakes.team import verdict
from tests.installation import ROOT, Installation, unmeasured

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.allow_hosts(["127.0.0.1"])]
MODEL = "claude-haiku-5-5"
KINDS = [FaultKind.STUB, FaultKind.IRRELEVANT_QUOTE]
OPTIONS = ("--kinds", "irrelevant-quote,stub", "--languages", "de", "--verifier", MODEL)


def calibrate(*options: str) -> str:
    printed = StringIO()
    call_command("calibrate", *options, stdout=printed)
    return printed.getvalue()


def refused(*options: str) -> tuple[str, str, int]:
    """What was printed, the sentence at the end, and the exit status."""
    printed = StringIO()
    with pytest.raises(CommandError) as error:
        call_command("calibrate", *options, stdout=printed)
    return printed.getvalue(), str(error.value), error.value.returncode


def wanted(size: int) -> Wanted:
    return Wanted(VerifierSettings(model=MODEL), "", size, KINDS, [Language.GERMAN])


def test_the_table_says_what_is_caught_with_the_rules_and_without_them(api: FakeAnthropic) -> None:
    api.script(scripted_verifier(wanted(8), catching(0.0, "lazy")))
    text = calibrate("--size", "8", *OPTIONS)
    assert f"Verifier: {MODEL} at {api.url}" in text
    assert "Estimate: 16 cases, 27 to 128 questions, $0.0" in text
    assert "16 of 16 cases" in text
    table = [" ".join(line.split()) for line in text.splitlines()]
    assert "Stub 100% (51%–100%) of 4 25% (5%–70%) of 4 0 0 0" in table, "code finds some without comparing"
    assert "Irrelevant quote 0% (0%–49%) of 4 0% (0%–49%) of 4 4 0 0" in table
    assert "All faults 50% (22%–78%) of 8 12% (2%–47%) of 8 4 0 0" in table
    assert "Sound results refused: 0% (0%–32%) of 8, without the rules 0% (0%–32%) of 8" in table
    assert "Stated confidence: expected calibration error 0.37 over 15 verdicts" in table


def test_json_has_the_same_figures_and_nothing_else(api: FakeAnthropic) -> None:
    api.script(scripted_verifier(wanted(2), catching(1.0, "perfect")))
    found = json.loads(calibrate("--size", "2", "--json", *OPTIONS))
    assert (found["verifier"], found["status"], found["judged"], found["cases"]) == (MODEL, "finished", 4, 4)
    assert {one["kind"]: one["caught_without_rules"]["count"] for one in found["faults"]} == {
        "irrelevant_quote": 1,
        "stub": 1,
        "all": 2,
    }
    assert found["sound_refused"]["count"] == 0
    assert found["agreement"] == []


def test_two_verifiers_are_compared_on_the_same_cases(api: FakeAnthropic) -> None:
    api.script(scripted_verifier(wanted(2), catching(1.0, "perfect")))
    calibrate("--size", "2", *OPTIONS)
    api.script(scripted_verifier(wanted(2), catching(0.0, "lazy")))
    text = calibrate("--size", "2", *OPTIONS, "--verifier", "claude-haiku-4-5")
    assert f"Agreement with {MODEL}: 75% (30%–95%) of 4, kappa 0.50" in text


def test_corrections_of_people_are_judged_if_they_are_asked_for_and_listed_apart(api: FakeAnthropic) -> None:
    run = made.finished_partial()
    attempt = Attempt.objects.of_run(run).filter(verdict__passed=False).latest("pk")
    row = overrule(attempt.pk, run.owner, "C1", met=True, reason="It is on page 2.", seen=0)
    keep(row, run.owner, digest_of(content_to_keep(row)))
    generated = scripted_verifier(wanted(1), catching(1.0, "perfect"))
    refusal = {**verdict(["C1"], "", "", passed=False), "action": "retry"}

    def answer(request: Request) -> Answer:
        return Say(json.dumps(refusal)) if "Kestrel" in str(request.body) else generated(request)

    api.script(answer)
    assert "corrections" not in calibrate("--size", "1", *OPTIONS)
    table = [" ".join(line.split()) for line in calibrate("--size", "1", "--corrections", *OPTIONS).splitlines()]
    assert "3 of 3 cases" in table
    assert table[table.index("From people's corrections") + 1] == "Rejected by people – – 0 0 0"
    assert "Accepted by people, refused: 100% (21%–100%) of 1, without the rules 100% (21%–100%) of 1" in table
    assert "Sound results refused: 0% (0%–79%) of 1, without the rules 0% (0%–79%) of 1" in table


def test_an_estimate_asks_nothing(api: FakeAnthropic) -> None:
    assert "Estimate: 200 cases" in calibrate("--estimate")
    assert (api.requests, Calibration.objects.count()) == ([], 0)


def test_at_the_budget_it_stops_with_status_3_and_resumes(api: FakeAnthropic) -> None:
    api.script(scripted_verifier(wanted(6), catching(1.0, "perfect")))
    _, sentence, status = refused("--size", "6", "--budget", "0.01", *OPTIONS)
    assert (status, sentence.partition(" of ")[2]) == (
        3,
        "12 cases. The budget does not allow another call. Go on with --resume.",
    )
    text = calibrate("--resume", "--budget", "1")
    assert "12 of 12 cases" in text
    assert Calibration.objects.get().status == CalibrationStatus.FINISHED


def test_after_a_kill_the_budget_of_resume_is_checked_and_kept(api: FakeAnthropic) -> None:
    api.script(scripted_verifier(wanted(6), catching(1.0, "perfect")))
    job = wanted(6)._replace(address=calibrations.address_of(MODEL), budget=Decimal(5))
    killed = calibrations.claim(calibrations.start(job).pk, "killed/1")
    assert killed
    Calibration.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert refused("--resume", "--budget", "10001")[2] == 2
    assert api.requests == []
    _, sentence, status = refused("--resume", "--budget", "0.01")
    row = Calibration.objects.get()
    assert (status, row.why, row.budget) == (3, "The budget does not allow another call.", Decimal("0.01"))
    assert "The budget does not allow another call." in sentence
    assert row.spent_usd <= Decimal("0.01")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--size", "0"), "The size has to be from 1 to 5,000."),
        (("--seed", "-1"), "The seed has to be from 0 to 1,000,000,000."),
        (("--seed", str(2**63)), "The seed has to be from 0 to 1,000,000,000."),
        (("--verifier", "m" * 121), "The name of a model has at most 120 characters."),
        (("--budget", "0.009"), "The budget has to be more than 0 and at most 10,000 USD."),
        (("--resume",), "No calibration has stopped, so there is nothing to go on with."),
        (
            ("--resume", "--corrections"),
            "--resume goes on with a calibration as it began. Leave out --corrections.",
        ),
        (("--resume", "--estimate"), "--resume goes on with a calibration as it began. Leave out --estimate."),
        (
            ("--resume", "--seed", "0", *OPTIONS, "--size", "2"),
            "Leave out --verifier, --size, --kinds, --languages, --seed.",
        ),
        (("--verifier", "qwen3-4b", "--budget", "1"), "has no known price, so a budget cannot be kept."),
    ],
)
def test_wrong_use_ends_with_status_2(options: tuple[str, ...], sentence: str) -> None:
    _, said, status = refused(*options)
    assert sentence in said
    assert (status, Calibration.objects.count()) == (2, 0)


def test_a_budget_is_never_rounded_up(api: FakeAnthropic) -> None:
    api.script(scripted_verifier(wanted(1), catching(1.0, "perfect")))
    calibrate("--size", "1", "--budget", "1.999", *OPTIONS)
    assert Calibration.objects.get().budget == Decimal("1.99")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--kinds", "typo"), "“typo” is unknown; there are: wrong_figure, "),
        (("--budget", "much"), "an amount such as 5 or 2.50"),
        (("--budget", "nan"), "an amount such as 5 or 2.50"),
        (("--budget", "inf"), "an amount such as 5 or 2.50"),
    ],
)
def test_options_that_cannot_be_read_are_named(options: tuple[str, ...], sentence: str) -> None:
    assert sentence in refused(*options)[1]


def test_without_a_key_it_says_that_offline_rules_are_measured(no_model: None) -> None:
    text = calibrate("--size", "1", "--kinds", "omitted_item")
    assert "No model is asked. The offline rules judge only the document review" in text
    assert "Verifier: offline-verifier" in text


def test_while_one_runs_another_is_refused() -> None:
    calibrations.start(wanted(1))
    assert refused("--size", "1")[1:] == (
        f"A calibration of “{MODEL}” is running. Wait until it has ended, or stop it.",
        2,
    )


@pytest.mark.slow
def test_after_a_kill_the_rest_is_judged_and_no_case_counts_twice(
    tmp_path: Path, installation: Installation, api: FakeAnthropic
) -> None:
    data, size = installation.copy(tmp_path / "data"), 10
    verifier = scripted_verifier(wanted(size), catching(1.0, "perfect"))
    running: list[subprocess.Popen[Any]] = []

    def killing(request: Request) -> Answer:
        if request.number in {7, 19}:
            running[-1].send_signal(signal.SIGKILL)
        return verifier(request)

    api.script(killing)
    environ = unmeasured(
        data, ANTHROPIC_BASE_URL=api.url, ANTHROPIC_API_KEY="test-key-of-nobody", PEV_LEASE_SECONDS="1"
    )
    command = [sys.executable, "manage.py", "calibrate"]
    statuses = []
    for more in (["--size", str(size), *OPTIONS], ["--resume"], ["--resume"]):
        process = subprocess.Popen([*command, *more], cwd=ROOT, env=environ)
        running.append(process)
        statuses.append(process.wait(120))
    assert statuses == [-9, -9, 0]
    numbers = rows(data, "SELECT number FROM runs_calibrationcase ORDER BY number")
    assert [number for (number,) in numbers] == list(range(2 * size))
    ((status, spent, reserved),) = rows(data, "SELECT status, spent_usd, reserved_usd FROM runs_calibration")
    ((cases,),) = rows(data, "SELECT SUM(cost_usd) FROM runs_calibrationcase")
    assert (status, float(reserved)) == ("finished", 0)
    assert float(spent) > float(cases), "what the killed processes asked for counts as well"
