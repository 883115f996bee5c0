"""`manage.py evaluate` as a CI starts it: a changed prompt is caught, replies are replayed, a budget is kept."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runs.evaluation.results import JudgedRun, StoredEvaluation, SuiteResult
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step
from tests.installation import ROOT, Installation, environ

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

TASK = """\
request: How many of the notes are about rent? Write one.md, and give the number.
policy: {plan_approval: never, step_approval: none, sources_needed: off, min_document_bytes: 0}
expect:
  outcome: [succeeded, partial]
  words:
    in_answer: [three notes]
  files:
    made: [one.md]
"""
RULE = "- Begin with the answer itself."


@dataclass
class Evaluator:
    """A suite with one task, a checkout whose prompts can be changed, and the fake service that answers."""

    folder: Path
    installation: Installation
    api: FakeAnthropic
    checkout: Path = ROOT

    def __post_init__(self) -> None:
        task = self.folder / "suite" / "rent"
        (task / "files").mkdir(parents=True)
        (task / "task.yaml").write_text(TASK, encoding="utf-8")
        (task / "files" / "notes.md").write_text("Rent.\nRent.\nRent.\n")
        self.data = self.installation.copy(self.folder / "data")

    def run(self, *options: str, **variables: str) -> tuple[int, str, SuiteResult]:
        """The exit status, what was printed, and the result."""
        saved = self.folder / "result.json"
        saved.unlink(missing_ok=True)
        command = [sys.executable, "manage.py", "evaluate", str(self.folder / "suite"), "--save", str(saved)]
        known = environ(self.data) | {"ANTHROPIC_BASE_URL": self.api.url, "ANTHROPIC_API_KEY": "secret-key"}
        done = subprocess.run(
            [*command, "--data-dir", str(self.data), *options],
            cwd=self.checkout,
            env=known | variables,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert saved.exists(), done.stdout + done.stderr
        return done.returncode, done.stdout, SuiteResult.model_validate_json(saved.read_bytes())

    def worsen_the_prompt(self) -> None:
        """From now on a checkout is run whose synthesizer has no instruction to begin with the answer."""
        self.checkout = self.folder / "checkout"
        self.checkout.mkdir()
        for name in ("pevsite", "runs", "templates", "static"):
            ignored = shutil.ignore_patterns("node_modules", "__pycache__")
            shutil.copytree(ROOT / name, self.checkout / name, ignore=ignored)
        for name in ("manage.py", "pyproject.toml"):
            shutil.copy(ROOT / name, self.checkout / name)
        prompt = self.checkout / "runs" / "pev" / "prompts" / "synthesizer.md"
        prompt.write_text(prompt.read_text("utf-8").replace(RULE, "- Write at length."), encoding="utf-8")


def synthesizer(request: Request, right: Answer) -> Answer:
    """It does what it is told."""
    answer = "There are three notes about rent." if RULE in request.system else "Rent is a wide subject."
    return Say(json.dumps({"answer": answer}))


@pytest.fixture
def evaluator(tmp_path: Path, installation: Installation, api: FakeAnthropic) -> Evaluator:
    api.script(Team(plan=plan(step("one")), synthesizer=synthesizer))
    return Evaluator(tmp_path, installation, api)


def properties(judged: JudgedRun) -> dict[str, bool]:
    return {one.name: one.held for one in judged.properties}


def asked_by_role(api: FakeAnthropic) -> set[str]:
    return {request.system.splitlines()[0].removeprefix("# Your role: ") for request in api.requests}


@pytest.mark.slow(every_case=True)
def test_a_worsened_prompt_is_caught_and_only_what_it_changes_is_asked_again(evaluator: Evaluator) -> None:
    replies, baseline = evaluator.folder / "replies", evaluator.folder / "baseline.json"
    status, _, first = evaluator.run("--replies", str(replies))
    assert status == 0
    assert all(properties(first.runs[0]).values())
    assert (first.asked, first.replayed) == (len(evaluator.api.requests), 0)
    baseline.write_text(first.model_dump_json())

    evaluator.api.requests.clear()
    recorded = ["--replies", str(replies), "--only-replies", "--baseline", str(baseline)]
    empty = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": ""}  # as a CI sets them if secrets are missing
    status, _, again = evaluator.run(*recorded, **empty)
    assert status == 0
    assert evaluator.api.requests == []
    assert (again.asked, again.replayed, again.missing) == (0, first.asked, 0)
    assert again.spent_usd == 0
    assert again.runs[0].cost_usd == first.runs[0].cost_usd > 0
    assert properties(again.runs[0]) == properties(first.runs[0])

    evaluator.worsen_the_prompt()
    status, _, missing = evaluator.run(*recorded)
    assert (status, missing.missing) == (1, 1)
    assert evaluator.api.requests == []

    status, printed, worse = evaluator.run("--replies", str(replies), "--baseline", str(baseline))
    assert status == 1
    assert "worse than the baseline: words in the answer: three notes: no, before yes. Found: not in the" in printed
    assert f"The prompts have changed since the baseline ({first.prompts} before, {worse.prompts} now)." in printed
    assert "synthesizer" in asked_by_role(evaluator.api)
    assert asked_by_role(evaluator.api) <= {"synthesizer", "verifier"}  # who judges what the synthesizer has written
    assert worse.replayed == first.asked - worse.asked > 0


def test_a_result_that_cannot_be_saved_is_stored_first(evaluator: Evaluator) -> None:
    def in_the_way(request: Request, right: Answer) -> Answer:
        (evaluator.folder / "result.json").mkdir(exist_ok=True)
        return synthesizer(request, right)

    evaluator.api.script(Team(plan=plan(step("one")), synthesizer=in_the_way))
    with pytest.raises(IsADirectoryError):
        evaluator.run()
    stored = (evaluator.data / "evaluations" / "1.json").read_bytes()
    assert StoredEvaluation.model_validate_json(stored).result.spent_usd > 0


def test_repetitions_have_rates_and_what_may_be_chance_can_be_ignored(evaluator: Evaluator) -> None:
    """Every third answer is worse. The baseline has none of them."""
    status, _, good = evaluator.run("--repeat", "3", "--parallel", "3")
    assert (status, len(good.runs)) == (0, 3)
    baseline = evaluator.folder / "baseline.json"
    baseline.write_text(good.model_dump_json())
    answers = iter(["There are three notes.", "It depends.", "There are three notes."] * 2)
    evaluator.api.script(
        Team(plan=plan(step("one")), synthesizer=lambda *_: Say(json.dumps({"answer": next(answers)})))
    )
    status, printed, _ = evaluator.run("--repeat", "3", "--baseline", str(baseline))
    assert status == 1
    line = "lower than the baseline, which may be chance: words in the answer: three notes: 2 of 3 (21–94 %), before 3"
    assert line in printed
    status, _, _ = evaluator.run("--repeat", "3", "--baseline", str(baseline), "--ignore-chance")
    assert status == 0


def test_what_a_budget_does_not_pay_for_is_not_started_and_no_success(evaluator: Evaluator) -> None:
    """Each run may spend the whole budget, so the others wait; then too little is left for them."""
    text = TASK.replace("policy: {", "policy: {budget: 0.5, ")
    (evaluator.folder / "suite" / "rent" / "task.yaml").write_text(text, encoding="utf-8")
    status, printed, result = evaluator.run("--repeat", "3", "--parallel", "3", "--budget", "0.5")
    assert status == 3
    assert 0 < result.spent_usd <= 0.5
    assert [bool(judged.why_not) for judged in result.runs] == [False, True, True]
    assert "of the budget of $0.5 is left for it." in printed


def test_a_run_gets_its_share_of_the_budget_and_ends_at_it(evaluator: Evaluator) -> None:
    """The task has no budget of its own. What is asked for at the limit is refused, as no person looks."""
    evaluator.api.script(Team(plan=plan(*(step(f"s{number}") for number in range(1, 9)))))
    _, _, whole = evaluator.run()
    status, _, result = evaluator.run("--budget", "0.1")  # little more than the first question may cost
    assert whole.spent_usd > result.spent_usd
    assert result.spent_usd <= 0.1
    assert status == 1
    assert result.runs[0].outcome != whole.runs[0].outcome


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["nowhere"], "“nowhere” is not a folder. A suite is a folder of folders with a task.yaml each."),
        (["reference", "--task", "none"], "There is no task “none” in this suite; there are: "),
        (["reference", "--baseline", "none.json"], "“none.json” cannot be read: No such file or directory."),
        (["reference", "--save", "nowhere/result.json"], "nowhere” is not a folder in which files can be written."),
        (["reference", "--save", "tests"], "“tests” is not a file. Name a file for the result."),
        (["reference", "--only-replies"], "--only-replies needs the folder of recorded replies: --replies FOLDER."),
    ],
)
def test_wrong_use_is_said_before_anything_is_run(
    tmp_path: Path, installation: Installation, options: list[str], why: str
) -> None:
    command = [sys.executable, "manage.py", "evaluate", *options, "--data-dir", str(tmp_path / "data")]
    done = subprocess.run(
        command, cwd=ROOT, env=environ(tmp_path / "data"), capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 2
    assert why in done.stderr


def test_an_installation_with_runs_of_people_is_left_alone(tmp_path: Path, finished: Any) -> None:
    data = finished.copy(tmp_path / "data")
    command = [sys.executable, "manage.py", "evaluate", "reference", "--data-dir", str(data)]
    done = subprocess.run(
        command, cwd=ROOT, env=environ(data), capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 2
    assert "has runs that are no evaluations. Name a folder of its own with --data-dir." in done.stderr


def test_the_settings_of_an_installation_of_people_lead_nowhere(tmp_path: Path) -> None:
    """Its database, its queue and its bucket are not those of the evaluation, which has a folder of its own."""
    known = environ(tmp_path / "data") | {
        "PEV_DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "PEV_REDIS_URL": "redis://127.0.0.1:1",
        "ANTHROPIC_API_KEY": "",
    }
    command = [sys.executable, "manage.py", "evaluate", "reference", "--task", "density"]
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 3  # nothing was judged
    assert "Left out: the task needs a model, and offline rules answer here." in done.stdout
    assert (tmp_path / "data" / "evaluation" / "evaluations" / "1.json").exists()


def test_one_evaluation_at_a_time_works_in_a_folder_and_stops_its_runs_when_it_is_interrupted(
    tmp_path: Path, installation: Installation
) -> None:
    data = installation.copy(tmp_path / "data")
    command = [sys.executable, "manage.py", "evaluate", "reference", "--data-dir", str(data)]
    known = environ(data) | {"ANTHROPIC_API_KEY": "", "PEV_REHEARSAL_DELAY": "60"}
    with subprocess.Popen(command, cwd=ROOT, env=known, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert any("run 1 has begun" in line for line in first.stdout)
        second = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=240, check=False)
        assert second.returncode == 2
        assert f"/{first.pid} works in “{data}”. End it, or name another folder with --data-dir." in second.stderr
        first.send_signal(signal.SIGINT)
        assert "Left. The runs under way were stopped, and there is no result." in first.stdout.read()
    assert first.returncode == 3


def test_a_result_that_cannot_be_stored_is_no_worse_result(tmp_path: Path, installation: Installation) -> None:
    data = installation.copy(tmp_path / "data")
    (data / "evaluations").mkdir()
    (data / "evaluations" / f"{'9' * 250}.json").touch()  # the name of the next file is too long for the disk
    command = [sys.executable, "manage.py", "evaluate", "reference", "--task", "density", "--data-dir", str(data)]
    known = environ(data) | {"ANTHROPIC_API_KEY": ""}
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 3
    assert "The evaluation ended early." in done.stderr
    assert "File name too long" in done.stderr


def test_the_suite_that_ships_passes_with_offline_rules_and_names_what_they_cannot_do(
    tmp_path: Path, installation: Installation
) -> None:
    data, saved = installation.copy(tmp_path / "data"), tmp_path / "result.json"
    command = [sys.executable, "manage.py", "evaluate", "reference", "--data-dir", str(data), "--save", str(saved)]
    known = environ(data) | {"ANTHROPIC_API_KEY": "", "PEV_REHEARSAL_DELAY": "0"}
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout
    result = SuiteResult.model_validate_json(saved.read_bytes())
    judged = {one.task for one in result.runs if not one.why_not}
    assert judged == {"document-review"}
    assert {one.task for one in result.runs if one.left_out} == set(result.tasks) - judged
    assert len(result.tasks) == 7
